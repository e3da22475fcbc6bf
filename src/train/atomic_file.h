// Files that are either whole or absent: written under a temporary name, synced, renamed. Also the small-file reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sindri::train {

/// Writes NAME.tmp.PID beside NAME (O_EXCL), and commit() makes it NAME: fsync file, check size, rename, fsync folder. Until then,
/// and after any failure, a previous NAME is untouched. A failed write or fsync is final: the temporary file is removed and every
/// later call throws. (A page the kernel could not write may be marked clean, so a second fsync that succeeds proves nothing.)
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

/// Removes what AtomicFile, or a link that is replaced in one step, left in `folder` when its process was killed: plain files and symbolic links
/// NAME.tmp.PID of processes that are gone.
void remove_leftovers(const std::string& folder);

/// Whole content in one atomic step.
void write_file_atomically(const std::string& path, std::string_view content, const std::string& what);

/// Content of a regular file of at most `max_bytes`. Throws IoError, naming it as `what`; larger files: the first max_bytes bytes.
std::string read_small_file(const std::string& path, int64_t max_bytes, const std::string& what);

/// False only where nothing has that name; throws IoError when the system cannot tell (a file that cannot be looked at may be the only one
/// that holds a training).
bool file_exists(const std::string& path, const std::string& what);

/// Names in a folder, in no order; none where there is no folder. Throws IoError, naming it as `what`, when it cannot be read to its end.
std::vector<std::string> names_in_folder(const std::string& path, const std::string& what);

/// IoError for a failed system call: "cannot <action> <what> <path>: <reason>", with a fix that fits errno.
[[noreturn]] void throw_io_error(const std::string& action, const std::string& what, const std::string& path, int error);

/// For tests: called before each system call of AtomicFile with its name (open, write, fsync, rename, fsync_folder); a value other
/// than 0 makes the call fail with that errno. Null in normal use.
extern int (*atomic_file_fault)(const char* call);

}  // namespace sindri::train
