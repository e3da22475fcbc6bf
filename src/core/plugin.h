// Libraries that lie next to libsindri and are opened on demand.
#pragma once

#include <string>

namespace sindri {

struct Plugin {
  void* library = nullptr;  ///< dlopen's handle, never closed: the library may run threads
  std::string path;  ///< the file that was opened
  std::string problem;  ///< if library is null: the paths that were tried, or the loader's message
  bool found = false;  ///< whether the file exists
  void* symbol(const char* name) const;  ///< null if the library has no such symbol
};

/// Opens `file` ("libsindri_gloo.so"). Searches next to libsindri (or the program it is linked into), in the folder
/// `sindri` there, one folder above, and for a wheel in the folder of the plugin's own wheel
/// (site-packages/sindri_cuda). If `file` is a path, opens exactly that file. `global`: the library's own dependencies
/// resolve symbols in each other.
Plugin open_library_next_to(const std::string& file, bool global);

}  // namespace sindri
