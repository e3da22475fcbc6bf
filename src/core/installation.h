// Finds the files that come with the library: in its installation (share/sindri), or in the sources.
#pragma once

#include <string>

namespace sindri {

/// Returns the first of these that exists: `in_sources` in the working directory; `in_share` in the share/sindri folder
/// of this library's installation; `in_sources` in the sources that contain the build. Empty if none does.
std::string find_installed(const std::string& in_sources, const std::string& in_share);

}  // namespace sindri
