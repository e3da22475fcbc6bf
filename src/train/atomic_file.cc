// See atomic_file.h.
#include "src/train/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "sindri/core/error.h"
#include "src/core/descriptor.h"

namespace sindri::train {

int (*atomic_file_fault)(const char* call) = nullptr;

namespace {

// Returns true if a test makes this call fail; errno is set then.
bool injected(const char* call) {
  if (atomic_file_fault == nullptr) return false;
  errno = atomic_file_fault(call);
  return errno != 0;
}

const char* fix_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return "free some space on that disk, or choose another folder";
    case EACCES:
    case EPERM: return "change its permissions, or choose a folder you may write to";
    case EROFS: return "choose a folder on a disk that is not read-only";
    case EFBIG: return "raise the limit of file sizes (ulimit -f), or choose a disk that takes larger files";
    case ENOENT: return "check the path";
    case EISDIR: return "name a file in that folder";
    case EIO: return "check the disk (dmesg)";
    case ESTALE: return "check the network file system, or mount it again";
    case EMFILE:
    case ENFILE: return "raise the limit of open files (ulimit -n), or close other programs";
    case ENOMEM: return "close other programs, or raise the limit of memory";
    default: return "check the path and the disk";
  }
}

}  // namespace

void throw_io_error(const std::string& action, const std::string& what, const std::string& path, int error) {
  throw IoError(fmt::format("cannot {} {}: {}", action, what, std::strerror(error)), path, fix_for(error));
}

AtomicFile::AtomicFile(std::string path, std::string what) : path_(std::move(path)), what_(std::move(what)) {
  const size_t slash = path_.rfind('/');
  folder_ = slash == std::string::npos ? "." : slash == 0 ? "/" : path_.substr(0, slash);
  temporary_ = fmt::format("{}.tmp.{}", path_, getpid());
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  fd_ = injected("open") ? -1 : open_file(temporary_, kFlags, 0600);
  if (fd_ < 0 && errno == EEXIST) {  // left by a killed process that had the same process ID
    unlink(temporary_.c_str());
    fd_ = open_file(temporary_, kFlags, 0600);
  }
  if (fd_ < 0) throw_io_error("create", what_, path_, errno);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (fd_ < 0) return;
  close(fd_);
  fd_ = -1;
  unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* action, int error) {
  discard();
  struct stat old {};
  const bool kept = stat(path_.c_str(), &old) == 0;
  throw IoError(fmt::format("cannot {} {}: {}{}", action, what_, std::strerror(error), kept ? "; the previous file is kept" : ""), path_, fix_for(error));
}

void AtomicFile::write(const void* data, int64_t bytes) {
  if (fd_ < 0) throw InternalError("write to a file that failed or was committed", path_);
  const char* p = static_cast<const char*>(data);
  while (bytes > 0) {
    constexpr int64_t kChunk = 64 << 20;  // one write() accepts at most 2 GiB
    const ssize_t n = injected("write") ? -1 : ::write(fd_, p, static_cast<size_t>(std::min(bytes, kChunk)));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("write", n < 0 ? errno : EIO);
    p += n;
    bytes -= n;
    written_ += n;
  }
}

void AtomicFile::commit(unsigned mode) {
  if (fd_ < 0) throw InternalError("commit of a file that failed or was committed", path_);
  if (fchmod(fd_, mode) != 0) fail("set the permissions of", errno);
  if (injected("fsync") || fsync(fd_) != 0) fail("sync", errno);
  struct stat now {};
  if (fstat(fd_, &now) != 0) fail("check", errno);
  if (now.st_size != written_) fail("write all of", EIO);
  if (injected("rename") || rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename", errno);
  close(fd_);
  fd_ = -1;
  // Without this, a power cut may lose the new name.
  const int folder = open_file(folder_, O_RDONLY | O_DIRECTORY);
  const bool synced = folder >= 0 && !injected("fsync_folder") && fsync(folder) == 0;
  const int error = errno;
  if (folder >= 0) close(folder);
  if (!synced) throw_io_error("sync the folder of", what_, path_, error);
}

void remove_leftovers(const std::string& folder) {
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return;  // code that needs the folder reports the error
  constexpr std::string_view kMark = ".tmp.";
  while (const dirent* entry = readdir(dir)) {
    const std::string_view name = entry->d_name;
    const size_t mark = name.rfind(kMark);
    if (mark == std::string_view::npos || mark == 0) continue;
    const std::string_view number = name.substr(mark + kMark.size());
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), pid);
    if (error != std::errc{} || end != number.data() + number.size() || pid <= 0) continue;
    if (kill(pid, 0) == 0 || errno != ESRCH) continue;
    struct stat file {};
    if (fstatat(dirfd(dir), entry->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0 && (S_ISREG(file.st_mode) || S_ISLNK(file.st_mode)))
      unlinkat(dirfd(dir), entry->d_name, 0);
  }
  closedir(dir);
}

bool file_exists(const std::string& path, const std::string& what) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) return true;
  if (errno != ENOENT && errno != ENOTDIR) throw_io_error("look at", what, path, errno);
  return false;
}

std::vector<std::string> names_in_folder(const std::string& path, const std::string& what) {
  std::vector<std::string> names;
  DIR* dir = opendir(path.c_str());
  if (dir == nullptr && errno == ENOENT) return names;
  if (dir == nullptr) throw_io_error("open", what, path, errno);
  errno = 0;
  while (const dirent* entry = readdir(dir)) names.emplace_back(entry->d_name);
  const int error = errno;
  closedir(dir);
  if (error != 0) throw_io_error("list", what, path, error);
  return names;
}

void write_file_atomically(const std::string& path, std::string_view content, const std::string& what) {
  AtomicFile file(path, what);
  file.write(content);
  file.commit();
}

std::string read_small_file(const std::string& path, int64_t max_bytes, const std::string& what) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // opening a FIFO must not block
  if (fd < 0) throw_io_error("open", what, path, errno);
  struct stat info {};
  const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (!regular) {
    close(fd);
    throw IoError(fmt::format("the {} is not a regular file", what), path, "check the path");
  }
  std::string content(static_cast<size_t>(std::min<int64_t>(info.st_size, max_bytes)), '\0');
  size_t have = 0;
  while (have < content.size()) {
    const ssize_t n = read(fd, content.data() + have, content.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      close(fd);
      throw_io_error("read", what, path, error);
    }
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  close(fd);
  content.resize(have);
  return content;
}

}  // namespace sindri::train
