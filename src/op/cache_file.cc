// See cache_file.h.
#include "src/op/cache_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "src/core/descriptor.h"

namespace sindri {

namespace fs = std::filesystem;

std::string cache_file(const std::string& name) {
  const auto variable = [](const char* of) {
    const char* v = std::getenv(of);
    return std::string(v != nullptr ? v : "");
  };
  if (const std::string dir = variable("SINDRI_CACHE_DIR"); !dir.empty()) return dir + "/" + name;
  if (const std::string dir = variable("XDG_CACHE_HOME"); !dir.empty()) return dir + "/sindri/" + name;
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/sindri/" + name;
}

CacheLock::CacheLock(const std::string& file) {
  std::error_code ignored;
  fs::create_directories(fs::path(file).parent_path(), ignored);
  fd_ = open_file(file + ".lock", O_RDWR | O_CREAT, 0644);
  if (fd_ >= 0) wait();
}
CacheLock::~CacheLock() {
  if (fd_ < 0) return;
  flock(fd_, LOCK_UN);  // a process forked meanwhile also holds the file open
  close(fd_);
}
void CacheLock::wait() const {
  static std::atomic<bool> held_for_ever{false};
  for (int i = 0; flock(fd_, LOCK_EX | LOCK_NB) != 0; ++i) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || held_for_ever) return;
    if (i == 5000) held_for_ever = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::string replace_cache_file(const std::string& file, const std::string& text) {
  const std::string part = fmt::format("{}.{}", file, ::getpid());
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  error.assign(write_text_file(part, text), std::generic_category());
  if (!error) fs::rename(part, file, error);
  if (!error) return "";
  std::error_code ignored;
  fs::remove(part, ignored);
  return error.message();
}

}  // namespace sindri
