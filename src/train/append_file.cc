// See append_file.h.
#include "src/train/append_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sindri/core/log.h"
#include "src/core/descriptor.h"
#include "src/train/atomic_file.h"

namespace sindri::train {

namespace {
constexpr size_t kMaxPending = 64 << 20;  // log lines of days of training; more would be a leak
}

AppendFile::AppendFile(std::string path, std::string what, int flags) : path_(std::move(path)), what_(std::move(what)) {
  fd_ = open_file(path_, O_RDWR | O_CREAT | O_APPEND | flags, 0644);
  if (fd_ < 0) throw_io_error("open", what_, path_, errno);
}

AppendFile::~AppendFile() {
  if (!pending_.empty()) write_pending();
  close(fd_);
}

void AppendFile::append(std::string_view bytes) {
  if (pending_.size() + bytes.size() > kMaxPending) {
    lost_ = true;
    return;
  }
  pending_.append(bytes);
  write_pending();
}

void AppendFile::write_pending() {
  size_t done = 0;
  int error = 0;
  while (done < pending_.size() && error == 0) {
    const ssize_t n = write(fd_, pending_.data() + done, pending_.size() - done);
    if (n > 0) done += static_cast<size_t>(n);
    else if (n == 0 || errno != EINTR) error = n == 0 ? EIO : errno;
  }
  pending_.erase(0, done);
  if (error != 0) {
    error_ = std::strerror(error);
    if (!failing_) log::warn("train", fmt::format("cannot write {} {}: {}; training continues, and Sindri will try again", what_, path_, error_));
  }
  failing_ = error != 0;
}

std::string AppendFile::missing() {
  if (!pending_.empty()) write_pending();
  return pending_.empty() && !lost_ ? "" : fmt::format("{} {}: {}", what_, path_, error_);
}

void AppendFile::truncate(int64_t bytes) {
  if (ftruncate(fd_, bytes) != 0) throw_io_error("shorten", what_, path_, errno);
}

void AppendFile::sync() {
  if (fsync(fd_) != 0) throw_io_error("sync", what_, path_, errno);
}

int64_t end_of_last_line(int fd, const std::string& path, const std::string& what, const std::function<bool(std::string_view line)>& keep) {
  const auto fail = [&] { throw_io_error("read", what, path, errno); };
  int64_t base = lseek(fd, 0, SEEK_END);
  if (base < 0) fail();
  std::string tail;  // the file's bytes from `base` to the end of the last line not checked yet
  const auto read_more = [&] {
    const int64_t from = std::max<int64_t>(0, base - (1 << 16));
    std::string block(static_cast<size_t>(base - from), '\0');
    for (size_t have = 0; have < block.size();) {
      const ssize_t n = pread(fd, block.data() + have, block.size() - have, from + static_cast<int64_t>(have));
      if (n < 0 && errno == EINTR) continue;
      if (n == 0) errno = EIO;
      if (n <= 0) fail();
      have += static_cast<size_t>(n);
    }
    tail.insert(0, block);
    base = from;
  };
  bool whole = false;  // false until the incomplete line after the last newline has been cut off
  while (true) {
    size_t newline = tail.rfind('\n');
    while (newline == std::string::npos && base > 0) {
      read_more();
      newline = tail.rfind('\n');
    }
    const size_t begin = newline == std::string::npos ? 0 : newline + 1;
    if (whole && keep(std::string_view(tail).substr(begin))) return base + static_cast<int64_t>(tail.size()) + 1;
    if (newline == std::string::npos) return 0;
    tail.resize(newline);  // ends at the next line to check
    whole = true;
  }
}

}  // namespace sindri::train
