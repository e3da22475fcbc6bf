// Files and folders for the sources: every error names the path and what the system said.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "dataset/source.h"

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
  // No stat: the file is read to its end into scratch of the size of the largest file so far.
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
  throw IoError(fmt::format("cannot look at {}: {}", path, std::strerror(errno)), path, "check its permissions and the disk");
}

std::vector<DirEntry> list_folder(const std::string& dir, const char* who) {
  if (dir.empty()) throw ValueError(fmt::format("{}: dataset_dir is empty", who), "", "give the folder of the data set");
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
