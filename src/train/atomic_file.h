// Files that are either whole or absent: written under a temporary name, synced, renamed. Also a reader for small files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sindri::train {

/// Writes NAME.tmp.PID next to NAME (O_EXCL). commit() renames it to NAME: fsync file, check size, rename, fsync folder. Until then, and after any failure, a
/// previous NAME is untouched. A failed write or fsync is final: the temporary file is removed and every later call throws. (The kernel may mark a page clean
/// that it could not write, so a second fsync that succeeds proves nothing.)
class AtomicFile {
 public:
  /// `what` names the file in errors ("checkpoint"). Throws IoError.
  AtomicFile(std::string path, std::string what);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(const void* data, int64_t bytes);
  void write(std::string_view text) { write(text.data(), static_cast<int64_t>(text.size())); }
  int64_t bytes_written() const { return written_; }
  /// `mode`: permissions of the finished file. Returns once the file and its name are on disk.
  void commit(unsigned mode = 0644);

 private:
  [[noreturn]] void fail(const char* action, int error);
  void discard() noexcept;
  std::string path_, temporary_, folder_, what_;
  int fd_ = -1;
  int64_t written_ = 0;
};

/// Removes temporary files of killed processes from `folder`: plain files and symbolic links named NAME.tmp.PID whose process is gone. AtomicFile and
/// atomically replaced links leave them.
void remove_leftovers(const std::string& folder);

/// Writes the whole content in one atomic step.
void write_file_atomically(const std::string& path, std::string_view content, const std::string& what);

/// Returns the content of a regular file, at most the first `max_bytes` bytes. Throws IoError, naming the file as `what`.
std::string read_small_file(const std::string& path, int64_t max_bytes, const std::string& what);

/// Returns false only if nothing has that name. Throws IoError when the system cannot tell: a file that cannot be checked may be the only copy of a run.
bool file_exists(const std::string& path, const std::string& what);

/// Returns the names in a folder, in no particular order; none if the folder does not exist. Throws IoError, naming it as `what`, if it cannot be read
/// completely.
std::vector<std::string> names_in_folder(const std::string& path, const std::string& what);

/// Throws IoError for a failed system call: "cannot <action> <what> <path>: <reason>", with a fix chosen by errno.
[[noreturn]] void throw_io_error(const std::string& action, const std::string& what, const std::string& path, int error);

/// For tests: called before each system call of AtomicFile with its name (open, write, fsync, rename, fsync_folder). A nonzero return value makes the call fail
/// with that errno. Null in normal use.
extern int (*atomic_file_fault)(const char* call);

}  // namespace sindri::train
