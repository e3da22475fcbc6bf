// Reads weight files for their parsers: at any offset, never past the end. Errors name the file and byte of the damage.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "sindri/core/error.h"
#include "src/train/atomic_file.h"

namespace sindri::train {

// Random access to a regular file, through a small buffer for the short fields.
class FileReader {
 public:
  FileReader(std::string path, const std::string& name) : path_(std::move(path)), name_(name.empty() ? path_ : name) {
    fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ < 0) throw_io_error("open", "checkpoint", name_, errno);
    struct stat info {};
    if (fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
      close(fd_);
      throw IoError("the checkpoint is not a regular file", name_, "check the path");
    }
    size_ = info.st_size;
  }
  ~FileReader() { close(fd_); }
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }

  void read_at(int64_t offset, void* out, int64_t bytes) const {
    char* p = static_cast<char*>(out);
    while (bytes > 0) {
      const ssize_t n = pread(fd_, p, static_cast<size_t>(std::min<int64_t>(bytes, 64 << 20)), offset);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw_io_error("read", "checkpoint", name_, errno);
      if (n == 0) damaged(offset, "the file became shorter while it was read");
      p += n;
      offset += n;
      bytes -= n;
    }
  }
  uint8_t byte_at(int64_t offset) {
    if (offset < buffer_start_ || offset >= buffer_start_ + buffered_) {
      buffer_start_ = offset;
      buffered_ = std::min<int64_t>(sizeof buffer_, size_ - offset);
      read_at(offset, buffer_, buffered_);
    }
    return buffer_[offset - buffer_start_];
  }
  [[noreturn]] void damaged(int64_t offset, const std::string& what) const {
    throw CheckpointError(ErrorCode::kCheckpointCorrupt, "the checkpoint is damaged: " + what, fmt::format("{}, byte {}", name_, offset),
                          "use an older checkpoint of the run, or copy the file again");
  }

 private:
  std::string path_, name_;
  int fd_ = -1;
  int64_t size_ = 0, buffer_start_ = 0, buffered_ = 0;
  uint8_t buffer_[4096] = {};
};

}  // namespace sindri::train
