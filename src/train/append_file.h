// Files a run appends to while it trains: metrics, log, TensorBoard events. A disk that is full for a while must not end the training.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sindri::train {

/// What the system does not take is kept, in order, and tried again with the next piece; the first failure of a row of them is logged.
class AppendFile {
 public:
  /// Opens `path` for appending with these further open() flags. Throws IoError; `what` names the file there and in warnings.
  AppendFile(std::string path, std::string what, int flags = 0);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  void append(std::string_view bytes);
  /// Tries again what is left. Why something is missing in the file; empty when all of it is there.
  std::string missing();
  /// Cuts everything off behind `bytes`. Throws IoError.
  void truncate(int64_t bytes);
  /// On disk, not only with the kernel. Throws IoError.
  void sync();
  const std::string& path() const { return path_; }
  int fd() const { return fd_; }

 private:
  void write_pending();
  std::string path_, what_;
  int fd_ = -1;
  std::string pending_;
  bool failing_ = false, lost_ = false;
  std::string error_;  // of the last failure
};

/// Bytes of a file of lines up to the end of the last whole line for which keep(line) holds; 0 when none does. Reads from the end, so that
/// the cost is that of what is not kept. Throws IoError.
int64_t end_of_last_line(int fd, const std::string& path, const std::string& what, const std::function<bool(std::string_view line)>& keep);

}  // namespace sindri::train
