// See plugin.h.
#include "src/core/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

namespace sindri {

namespace {

// Returns the folders in which `file` (libX.so) is searched.
std::vector<std::string> folders(const std::string& file_name) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&open_library_next_to), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
  if (error) file = std::filesystem::canonical("/proc/self/exe", error);  // a program that was started by its bare name
  if (error) return {};
  const std::filesystem::path folder = file.parent_path();
  // The library's folder: in a wheel or a build. Its subfolder `sindri`: in an installation. Its parent: for a build's tests.
  std::vector<std::string> all = {folder.string(), (folder / "sindri").string(), folder.parent_path().string()};
  // A plugin with a separate wheel (scripts/package/wheel.py): site-packages/X next to site-packages/sindri/lib.
  if (folder.filename() == "lib" && folder.parent_path().filename() == "sindri" && file_name.starts_with("lib"))
    all.push_back((folder.parent_path().parent_path() / file_name.substr(3, file_name.find('.') - 3)).string());
  return all;
}

}  // namespace

void* Plugin::symbol(const char* name) const { return library != nullptr ? dlsym(library, name) : nullptr; }

Plugin open_library_next_to(const std::string& file, bool global) {
  Plugin p;
  const bool is_path = file.find('/') != std::string::npos;
  const std::vector<std::string> places = is_path ? std::vector<std::string>{} : folders(file);
  std::vector<std::string> candidates;
  if (is_path) candidates.push_back(file);
  for (const std::string& folder : places) candidates.push_back(folder + "/" + file);
  for (const std::string& path : candidates) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    p.found = true;
    p.library = dlopen(path.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    p.path = path;
    if (p.library != nullptr) return p;
    const char* const text = dlerror();
    p.problem = text != nullptr ? text : path;
  }
  if (p.problem.empty()) p.problem = is_path ? fmt::format("there is no file {}", file) : fmt::format("{} is not in {}", file, fmt::join(places, " or "));
  return p;
}

}  // namespace sindri
