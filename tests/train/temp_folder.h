// A folder that lives as long as the object.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace sindri {

class TempFolder {
 public:
  // kMemory: on a memory file system if there is one, for tests that rewrite a file thousands of times.
  enum Place { kDisk, kMemory };
  explicit TempFolder(Place place = kDisk) {
    const std::filesystem::path shm = "/dev/shm";
    const bool in_memory = place == kMemory && access(shm.c_str(), W_OK) == 0;
    std::string pattern = ((in_memory ? shm : std::filesystem::temp_directory_path()) / "sindri-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace sindri
