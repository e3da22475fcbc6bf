// Backend libraries that lie next to libsindri and are opened on request.
#pragma once

#include <string>

namespace sindri::comm {

/// Returns the address of `symbol` in `file` ("libsindri_gloo.so"), searched next to libsindri (or the program it is
/// linked into) and one folder above. Throws CommError kCommLibrary with the paths that were tried, the loader's
/// message, and `fix`. `global`: the library's own dependencies resolve symbols in each other.
void* open_plugin(const char* file, const char* symbol, bool global, const std::string& fix);

}  // namespace sindri::comm
