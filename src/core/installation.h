// Where the files lie that come with the library: in its installation (share/sindri), or in the sources.
#pragma once

#include <string>

namespace sindri {

/// The file or folder `in_sources` of the working directory; else `in_share` of the share/sindri folder of the installation that this library belongs
/// to; else `in_sources` of the sources that hold the build. Empty when none has it.
std::string find_installed(const std::string& in_sources, const std::string& in_share);

}  // namespace sindri
