// The revision that these binaries were built from.
#pragma once
#include <string>

namespace sindri {

/// Returns "0.1.0+g1a2b3c4d5e6f", the version with the commit of the configured checkout; "0.1.0" if it was built from anything else.
std::string revision();

}  // namespace sindri
