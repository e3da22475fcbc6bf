// See output_file.h.
#include "src/train/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "sindri/core/error.h"
#include "src/core/descriptor.h"
#include "src/core/replaceable.h"

namespace sindri::train {

namespace {

bool is_standard_stream(const struct stat& file) {
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat stream {};
    if (fstat(fd, &stream) == 0 && stream.st_dev == file.st_dev && stream.st_ino == file.st_ino) return true;
  }
  return false;
}

// Returns the final target of a symbolic link.
std::string resolved(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  const std::string out = real != nullptr ? real : path;
  std::free(real);
  return out;
}

}  // namespace

OutputFile::OutputFile(const std::string& path, std::string what) : path_(path), what_(std::move(what)) {
  check_replaceable(path, FileKind::kJson, what_);
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) {
    const int error = errno;
    struct stat link {};
    if (error != ENOENT || lstat(path.c_str(), &link) != 0) atomic_ = std::make_unique<AtomicFile>(path, what_);  // reports the error
    else open_through(path, O_CREAT);  // a link to a file that does not exist yet
  } else if (S_ISDIR(file.st_mode)) {
    throw_io_error("write", what_, path, EISDIR);
  } else if (!S_ISREG(file.st_mode)) {
    open_through(path, 0);
  } else if (is_standard_stream(file)) {
    open_through(path, O_APPEND);
  } else if (file.st_nlink > 1) {
    open_through(path, 0);
    truncate_ = true;
  } else {
    atomic_ = std::make_unique<AtomicFile>(resolved(path), what_);
  }
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
}

void OutputFile::open_through(const std::string& path, int more_flags) {
  fd_ = open_file(path, O_WRONLY | O_NOCTTY | more_flags, 0666);
  if (fd_ < 0) throw_io_error("write", what_, path, errno);
}

void OutputFile::write(std::string_view content) {
  if (atomic_ != nullptr) {
    atomic_->write(content);
    atomic_->commit();
    return;
  }
  if (truncate_ && ftruncate(fd_, 0) != 0) throw_io_error("write", what_, path_, errno);
  for (size_t done = 0; done < content.size();) {
    const ssize_t n = ::write(fd_, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_io_error("write", what_, path_, n < 0 ? errno : EIO);
    done += static_cast<size_t>(n);
  }
}

}  // namespace sindri::train
