// See mpi_library.h.
#include "src/comm/mpi_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "sindri/core/error.h"

namespace sindri::comm {

namespace {

constexpr const char* kFile = "libsindri_mpi.so";

// Folders that may hold it: that of the file this code is in (libsindri, or a program that has it linked in), and the one above (programs of a build
// tree's folders).
std::vector<std::string> folders() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&check_mpi), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
  if (error) file = std::filesystem::canonical("/proc/self/exe", error);
  if (error) return {};
  return {file.parent_path().string(), file.parent_path().parent_path().string()};
}

const MpiTable* open_table() {
  std::string said;
  const std::vector<std::string> places = folders();
  for (const std::string& folder : places) {
    const std::string path = folder + "/" + kFile;
    if (!std::filesystem::exists(path)) continue;
    // Global: Open MPI's components look for its symbols there. Never closed: it keeps threads and handlers of its own.
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      const char* const text = dlerror();
      said = text != nullptr ? text : path;
      continue;
    }
    const auto function = reinterpret_cast<MpiTableFunction>(dlsym(library, kMpiTableSymbol));
    const MpiTable* const table = function != nullptr ? function() : nullptr;
    if (table != nullptr && table->version == MpiTable::kVersion) return table;
    said = fmt::format("{} is of another version of Sindri", path);
  }
  if (said.empty()) said = fmt::format("{} is not in {}", kFile, fmt::join(places, " or "));
  throw CommError(ErrorCode::kCommLibrary, "the mpi backend cannot be used: " + said, "comm::init",
                  "install the MPI library it was built with (Debian: libopenmpi3), build with SINDRI_MPI_PLUGIN=ON, or choose dist.backend=gloo");
}

}  // namespace

const MpiTable& mpi_library() {
  static const MpiTable* const table = open_table();
  return *table;
}

void check_mpi(int code, const char* what) {
  if (code == 0) return;
  std::array<char, 512> text{};
  mpi_library().error_text(code, text.data(), static_cast<int>(text.size()));
  throw CommError(ErrorCode::kCommLibrary, fmt::format("{}: {}", what, text.data()), "", fmt::format("the library is {}", mpi_library().library()));
}

}  // namespace sindri::comm
