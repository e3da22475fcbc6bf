// Libraries of backends that stand beside libsindri and are opened when they are asked for.
#pragma once

#include <string>

namespace sindri::comm {

/// The address of `symbol` in `file` ("libsindri_gloo.so"), looked for beside libsindri (or the program it is linked into) and one folder above. Throws
/// CommError kCommLibrary: what was looked for where, what the loader said, and `fix`. `global`: its own libraries look for symbols in each other.
void* open_plugin(const char* file, const char* symbol, bool global, const std::string& fix);

}  // namespace sindri::comm
