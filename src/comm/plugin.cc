// See plugin.h.
#include "src/comm/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "sindri/core/error.h"

namespace sindri::comm {

namespace {

std::vector<std::string> folders() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&open_plugin), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
  if (error) file = std::filesystem::canonical("/proc/self/exe", error);  // a program that was started by its bare name
  if (error) return {};
  // Beside the library: of a wheel or a build; in a folder of its own: of an installation; above it: of a build's tests.
  return {file.parent_path().string(), (file.parent_path() / "sindri").string(), file.parent_path().parent_path().string()};
}

}  // namespace

void* open_plugin(const char* file, const char* symbol, bool global, const std::string& fix) {
  const std::vector<std::string> places = folders();
  std::string said;
  for (const std::string& folder : places) {
    const std::string path = folder + "/" + file;
    if (!std::filesystem::exists(path)) continue;
    // Never closed: it may have threads of its own.
    void* const library = dlopen(path.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (library == nullptr) {
      const char* const text = dlerror();
      said = text != nullptr ? text : path;
      continue;
    }
    if (void* const found = dlsym(library, symbol)) return found;
    said = fmt::format("{} has no {}", path, symbol);
  }
  if (said.empty()) said = fmt::format("{} is not in {}", file, fmt::join(places, " or "));
  throw CommError(ErrorCode::kCommLibrary, said, "comm::init", fix);
}

}  // namespace sindri::comm
