// What these binaries were built from.
#pragma once
#include <string>

namespace sindri {

/// "0.1.0+g1a2b3c4d5e6f", the version with the commit of the checkout it was configured in; "0.1.0" when it was built from anything else.
std::string revision();

}  // namespace sindri
