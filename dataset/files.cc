// Files and folders for the sources. Every error names the path and the system's message.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "dataset/source.h"
#include "src/core/descriptor.h"

namespace sindri::dataset {

namespace {
struct Descriptor {
  explicit Descriptor(int f) : fd(f) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd;
};
}  // namespace

Value read_file(const std::string& path, Scratch& scratch) {
  const Descriptor d(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO must not block
  if (d.fd < 0) throw IoError(fmt::format("cannot open {}: {}", path, std::strerror(errno)), "", "check that the file exists and may be read");
  // No stat: the file is read to its end into a scratch buffer of the size of the largest file so far.
  int64_t capacity = scratch.file_bytes, n = 0;
  uint8_t* data = scratch.arena.allocate(capacity);
  while (true) {
    const ssize_t got = ::read(d.fd, data + n, static_cast<size_t>(capacity - n));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw IoError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    if (got == 0) break;
    n += got;
    if (n < capacity) continue;
    uint8_t* larger = scratch.arena.allocate(2 * capacity);
    std::memcpy(larger, data, static_cast<size_t>(n));
    data = larger;
    capacity *= 2;
    scratch.file_bytes = capacity;
  }
  scratch.counters.bytes_read += n;
  return {data, DType::kUInt8, {n}};
}

namespace {

[[noreturn]] void throw_file_error(const char* action, const std::string& path, int error, const std::string& who, const char* otherwise) {
  const char* fix = otherwise;
  switch (error) {
    case ENOSPC:
    case EDQUOT: fix = "free some space on that disk, or choose another folder"; break;
    case EACCES:
    case EPERM: fix = "change its permissions, or choose another folder"; break;
    case EROFS: fix = "choose a folder on a disk that is not read-only"; break;
    case ENAMETOOLONG: fix = "choose a shorter name"; break;
    default: break;
  }
  throw IoError(fmt::format("cannot {} {}: {}", action, path, std::strerror(error)), who, fix);
}

// A file being written; it is removed unless it gets its final name.
class Partial {
 public:
  Partial(std::string path, std::string who) : path_(std::move(path)), who_(std::move(who)) {
    static std::atomic<uint64_t> count{0};
    name_ = fmt::format("{}.tmp.{}.{}", path_, ::getpid(), count.fetch_add(1));
    fd_ = open_file(name_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd_ < 0) throw_file_error("create", path_, errno, who_, "check that its folder exists");
  }
  ~Partial() {
    if (fd_ >= 0) ::close(fd_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;

  void write(const uint8_t* data, int64_t bytes) {
    while (bytes > 0) {
      const ssize_t n = ::write(fd_, data, static_cast<size_t>(std::min<int64_t>(bytes, 64 << 20)));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail("write", n < 0 ? errno : EIO);
      data += n;
      bytes -= n;
    }
  }
  void set_mode(mode_t mode) {
    if (::fchmod(fd_, mode) != 0) fail("set the permissions of", errno);
  }
  void finish() {
    const int closed = ::close(fd_);  // network file systems may report failed writes here
    fd_ = -1;
    if (closed != 0) fail("write", errno);
    if (::rename(name_.c_str(), path_.c_str()) != 0) fail("rename", errno);
    name_.clear();
  }

 private:
  [[noreturn]] void fail(const char* action, int error) const { throw_file_error(action, path_, error, who_, "check the disk"); }
  std::string path_, who_, name_;
  int fd_ = -1;
};

// The file that symbolic links lead to, even if it does not exist yet.
std::string follow_links(const std::string& path, const std::string& who) {
  std::filesystem::path at = path;
  std::error_code error;
  for (int i = 0; std::filesystem::is_symlink(at, error); ++i) {
    if (i == 40) throw_file_error("follow", path, ELOOP, who, "check the symbolic links");
    at = at.parent_path() / std::filesystem::read_symlink(at, error);
  }
  return at.string();
}

}  // namespace

std::vector<uint8_t> read_plain_file(const std::string& path, const std::string& who) {
  const Descriptor d(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO must not block
  if (d.fd < 0) throw_file_error("open", path, errno, who, "check that the file exists and may be read");
  struct stat st {};
  if (::fstat(d.fd, &st) != 0) throw_file_error("stat", path, errno, who, "check the disk");
  if (!S_ISREG(st.st_mode)) throw IoError(fmt::format("{} is not a regular file", path), who, "name a file");
  // Reading one byte more than the size detects the end; files in /proc have size 0.
  std::vector<uint8_t> out(static_cast<size_t>(st.st_size) + 1);
  size_t n = 0;
  while (true) {
    const ssize_t got = ::read(d.fd, out.data() + n, out.size() - n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_file_error("read", path, errno, who, "check the disk");
    if (got == 0) break;
    n += static_cast<size_t>(got);
    if (n == out.size()) out.resize(std::max<size_t>(2 * n, 4096));
  }
  out.resize(n);
  return out;
}

void write_plain_file(const std::string& path, const uint8_t* data, int64_t bytes, const std::string& who) {
  if (path.empty()) throw IoError("the name of the file is empty", who, "name a file");
  struct stat old {};
  const bool there = ::stat(path.c_str(), &old) == 0;
  if (there && !S_ISREG(old.st_mode)) throw IoError(fmt::format("{} is not a regular file", path), who, "name a file");
  if (there && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) throw_file_error("write", path, errno, who, "check the disk");
  Partial partial(follow_links(path, who), who);
  partial.write(data, bytes);
  if (there) partial.set_mode(old.st_mode & 07777);
  partial.finish();
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor d(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO must not block
  if (d.fd < 0) throw IoError(fmt::format("cannot open {}: {}", path, std::strerror(errno)), path, "check that the file exists and may be read");
  struct stat st {};
  if (::fstat(d.fd, &st) != 0) throw IoError(fmt::format("cannot stat {}: {}", path, std::strerror(errno)), path);
  if (!S_ISREG(st.st_mode)) throw IoError(fmt::format("{} is not a regular file", path), path);
  bytes_ = st.st_size;
  if (bytes_ == 0) return;
  void* p = ::mmap(nullptr, static_cast<size_t>(bytes_), PROT_READ, MAP_PRIVATE, d.fd, 0);
  if (p == MAP_FAILED) throw IoError(fmt::format("cannot map {}: {}", path, std::strerror(errno)), path);
  data_ = static_cast<const uint8_t*>(p);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<uint8_t*>(data_), static_cast<size_t>(bytes_));
}

uint64_t MappedFile::content_hash(uint64_t seed) const {
  return data_ == nullptr ? hash_combine(seed, 0) : XXH3_64bits_withSeed(data_, static_cast<size_t>(bytes_), seed);
}

bool is_folder(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0) return S_ISDIR(st.st_mode);
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return false;
  throw IoError(fmt::format("cannot stat {}: {}", path, std::strerror(errno)), path, "check its permissions and the disk");
}

std::vector<DirEntry> list_folder(const std::string& dir, const char* who) {
  if (dir.empty()) throw ValueError(fmt::format("{}: dataset_dir is empty", who), "", "give the folder of the dataset");
  DIR* handle = ::opendir(dir.c_str());
  if (handle == nullptr) {
    const int e = errno;
    if (e == ENOENT) throw DataError(ErrorCode::kDataMissing, fmt::format("{}: folder {} does not exist", who, dir), dir, "check the path");
    if (e == ENOTDIR) throw IoError(fmt::format("{}: {} is a file", who, dir), dir, "did you mean its folder?");
    throw IoError(fmt::format("{}: cannot open folder {}: {}", who, dir, std::strerror(e)), dir, "check its permissions");
  }
  std::vector<DirEntry> entries;
  errno = 0;
  while (const dirent* e = ::readdir(handle)) {
    const std::string name = e->d_name;
    if (name != "." && name != "..") entries.push_back({name, e->d_type});
  }
  const int e = errno;
  ::closedir(handle);
  if (e != 0) throw IoError(fmt::format("{}: cannot list folder {}: {}", who, dir, std::strerror(e)), dir);
  std::sort(entries.begin(), entries.end(), [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace sindri::dataset
