// See library_search.h.
#include "src/device/cuda/library_search.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace sindri::cuda {

namespace {

namespace fs = std::filesystem;

constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;

std::vector<std::string> asked_folders() {
  const char* const text = std::getenv("SINDRI_CUDA_LIBRARY_PATH");
  std::vector<std::string> all;
  std::istringstream parts(text != nullptr ? text : "");
  for (std::string folder; std::getline(parts, folder, ':');)
    if (!folder.empty()) all.push_back(folder);
  return all;
}

void add_packages(const fs::path& site, std::vector<std::string>* all) {
  std::error_code error;
  for (const fs::directory_entry& package : fs::directory_iterator(site / "nvidia", error)) {
    const fs::path lib = package.path() / "lib";
    if (fs::is_directory(lib, error)) all->push_back(lib.string());
  }
}

// Returns the paths of the shared object that contains this function, and of the program.
std::vector<std::string> own_files() {
  std::vector<std::string> files;
  std::error_code error;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&python_library_folders), &info) != 0 && info.dli_fname != nullptr) {
    const fs::path module = fs::canonical(info.dli_fname, error);
    if (!error) files.push_back(module.string());
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) files.push_back(program.string());
  // A virtual environment's bin/python is a link to the system's; the environment's scripts set this variable.
  if (const char* const environment = std::getenv("VIRTUAL_ENV")) files.push_back((fs::path(environment) / "bin" / "python").string());
  return files;
}

std::string path_of(void* handle, const std::string& otherwise) {
  const link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr || *map->l_name == 0) return otherwise;
  std::error_code error;
  const fs::path real = fs::absolute(map->l_name, error);
  return error ? map->l_name : real.string();
}

class Search {
 public:
  explicit Search(const std::vector<std::string>& files) : files_(files) {}

  FoundLibrary run() {
    for (const std::string& file : files_)
      if (open(file, RTLD_NOLOAD)) return found_;
    for (const std::string& folder : asked_folders())
      if (in_folder(folder)) return found_;
    for (const std::string& file : files_)
      if (open(file, 0)) return found_;
    note_loader_error();
    std::vector<std::string> folders;
    for (const std::string& own : own_files())
      for (std::string& folder : python_library_folders(own))
        if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(std::move(folder));
    for (const std::string& folder : folders)
      if (in_folder(folder)) return found_;
    return failure(folders);
  }

 private:
  bool open(const std::string& name, int more) {
    found_.handle = dlopen(name.c_str(), kFlags | more);
    if (found_.handle == nullptr) return false;
    found_.path = path_of(found_.handle, name);
    return true;
  }
  bool in_folder(const std::string& folder) {
    std::error_code error;
    for (const std::string& file : files_) {
      const fs::path path = fs::path(folder) / file;
      if (!fs::exists(path, error)) continue;
      if (open(path.string(), 0)) return true;
      note_loader_error();
    }
    return false;
  }
  // A file that exists but does not open is more informative than one that does not exist.
  void note_loader_error() {
    const char* const text = dlerror();
    if (text == nullptr) return;
    if (std::string(text).find("cannot open shared object file: No such file or directory") != std::string::npos &&
        std::string(text).starts_with(files_.back() + ":"))
      return;
    loader_messages_ += fmt::format("; the loader said: {}", text);
  }
  FoundLibrary failure(const std::vector<std::string>& packages) const {
    const std::vector<std::string> asked = asked_folders();
    return {nullptr, "",
            fmt::format("{} was not found in SINDRI_CUDA_LIBRARY_PATH ({}), in the linker's folders, or in NVIDIA's Python packages ({}){}",
                        fmt::join(files_, " or "), asked.empty() ? "not set" : fmt::format("{}", fmt::join(asked, ":")),
                        packages.empty() ? "none next to Sindri" : fmt::format("{}", fmt::join(packages, ", ")), loader_messages_)};
  }

  const std::vector<std::string>& files_;
  FoundLibrary found_;
  std::string loader_messages_;
};

}  // namespace

std::vector<std::string> python_library_folders(const std::string& file) {
  std::vector<std::string> all;
  std::error_code error;
  for (fs::path folder = fs::path(file).parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    const std::string name = folder.filename().string();
    if (name == "site-packages" || name == "dist-packages") add_packages(folder, &all);
    if (name == "bin" || name == "lib") {
      for (const fs::directory_entry& entry : fs::directory_iterator(folder.parent_path() / "lib", error)) {
        if (!entry.path().filename().string().starts_with("python3")) continue;
        add_packages(entry.path() / "site-packages", &all);
        add_packages(entry.path() / "dist-packages", &all);
      }
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

FoundLibrary find_library(const std::vector<std::string>& files) { return Search(files).run(); }

}  // namespace sindri::cuda
