// Libraries that stand beside libsindri and are opened when they are wanted.
#pragma once

#include <string>

namespace sindri {

struct Plugin {
  void* library = nullptr;  ///< dlopen's handle, never closed: the library may run threads
  std::string path;  ///< the file that was opened
  std::string problem;  ///< where library is null: what was looked for where, or what the loader said
  bool found = false;  ///< whether there is such a file
  void* symbol(const char* name) const;  ///< null if it has none
};

/// Opens `file` ("libsindri_gloo.so"), which is looked for beside libsindri (or the program it is linked into), in the folder `sindri` there, one folder above,
/// and for a wheel in the folder of the plugin's own wheel (site-packages/sindri_cuda); a path is taken as it is. `global`: its own libraries look for symbols in each other.
Plugin open_library_beside(const std::string& file, bool global);

}  // namespace sindri
