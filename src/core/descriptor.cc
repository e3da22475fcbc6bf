// See descriptor.h.
#include "src/core/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace sindri {

namespace {

constexpr int kFirst = STDERR_FILENO + 1;

// Occupies the free descriptors below kFirst while a file is opened. If the file were opened at one of them and moved
// afterwards, other threads could write into it in the meantime.
class Placeholders {
 public:
  Placeholders() {
    if (fcntl(STDIN_FILENO, F_GETFD) >= 0 && fcntl(STDOUT_FILENO, F_GETFD) >= 0 && fcntl(STDERR_FILENO, F_GETFD) >= 0) return;
    while (count_ < kFirst) {
      const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
      if (fd < 0) return;
      if (fd >= kFirst) {
        close(fd);
        return;
      }
      held_[count_++] = fd;
    }
  }
  ~Placeholders() {
    const int error = errno;
    while (count_ > 0) close(held_[--count_]);
    errno = error;
  }
  Placeholders(const Placeholders&) = delete;
  Placeholders& operator=(const Placeholders&) = delete;

 private:
  int held_[kFirst] = {};
  int count_ = 0;
};

}  // namespace

int above_standard_streams(int fd) noexcept {
  if (fd < 0 || fd >= kFirst) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, kFirst), error = errno;
  close(fd);
  errno = error;
  return moved;
}

int open_file(const std::string& path, int flags, unsigned mode) noexcept {
  const Placeholders placeholders;
  return above_standard_streams(open(path.c_str(), flags | O_CLOEXEC, mode));
}

int write_text_file(const std::string& path, std::string_view text) noexcept {
  const int fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (fd < 0) return errno;
  int error = 0;
  while (!text.empty() && error == 0) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n > 0) text.remove_prefix(static_cast<size_t>(n));
    else if (n == 0 || errno != EINTR) error = n == 0 ? EIO : errno;
  }
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace sindri
