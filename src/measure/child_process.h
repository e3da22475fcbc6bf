// A child program driven over pipes, one line at a time: the contestants of a benchmark.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace sindri::measure {

struct ChildOptions {
  std::vector<std::string> argv;
  std::map<std::string, std::string> set_environment = {};
  std::vector<std::string> unset_environment = {};
  std::string directory = {};  // working directory
  std::string error_file = {};  // takes what the child writes to stderr
  int cpus = 0;  // may use that many of the processors this process may use; 0: all
};

/// A started child. It dies with this object, and with this process.
class ChildProcess {
 public:
  /// Throws IoError when it cannot be started.
  explicit ChildProcess(const ChildOptions& options);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Stops every thread of the child (and of its own children) until resume(): what waits takes no processor from what runs.
  void pause();
  void resume();
  void send(const std::string& line);
  /// The next line it prints. Throws IoError when it ends first (with the end of its stderr) or stays silent for `seconds`.
  std::string read_line(double seconds);

 private:
  [[noreturn]] void fail(const std::string& what);
  std::string name_, error_file_, buffer_;
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;  // our ends of its stdin and stdout
};

}  // namespace sindri::measure
