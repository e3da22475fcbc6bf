// Derives the installation from the library's own path: lib/libsindri.so or lib/<architecture>/libsindri.so next to
// share/, or build/<preset>/libsindri.so in the sources.
#include "src/core/installation.h"

#include <dlfcn.h>
#include <sys/stat.h>

namespace sindri {

std::string find_installed(const std::string& in_sources, const std::string& in_share) {
  struct stat info {};
  Dl_info library{};
  if (!in_sources.empty() && stat(in_sources.c_str(), &info) == 0) return in_sources;
  if (dladdr(reinterpret_cast<const void*>(&find_installed), &library) == 0 || library.dli_fname == nullptr) return "";
  std::string folder = library.dli_fname;
  const size_t slash = folder.rfind('/');
  folder = slash == std::string::npos ? "." : folder.substr(0, slash);
  for (const char* up : {"/..", "/../.."}) {
    for (const std::string& inside : {"share/sindri/" + in_share, in_sources}) {
      const std::string file = folder + up + "/" + inside;
      if (!inside.empty() && stat(file.c_str(), &info) == 0) return file;
    }
  }
  return "";
}

}  // namespace sindri
