// Files that a run appends to while it trains: metrics, log, TensorBoard events. A temporarily full disk must not end the run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sindri::train {

/// Keeps data that the system did not accept, in order, and retries it with the next write. Logs only the first of consecutive failures.
class AppendFile {
 public:
  /// Opens `path` for appending, with additional open() flags. Throws IoError; errors and warnings call the file `what`.
  AppendFile(std::string path, std::string what, int flags = 0);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void append(std::string_view bytes);
  /// Retries pending writes. Returns why data is missing in the file; empty when the file is complete.
  std::string missing();
  /// Removes everything after `bytes`. Throws IoError.
  void truncate(int64_t bytes);
  /// Writes the data from the kernel's cache to the disk. Throws IoError.
  void sync();
  const std::string& path() const { return path_; }
  int fd() const { return fd_; }

 private:
  void write_pending();
  std::string path_, what_;
  int fd_ = -1;
  std::string pending_;
  bool failing_ = false, lost_ = false;
  std::string error_;  // the last failure
};

/// Returns the length in bytes of a file of lines up to the end of the last whole line for which keep(line) holds; 0 if none does. Reads from the end, so the
/// cost depends only on the size of the rest. Throws IoError.
int64_t end_of_last_line(int fd, const std::string& path, const std::string& what, const std::function<bool(std::string_view line)>& keep);

}  // namespace sindri::train
