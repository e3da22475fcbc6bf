// A child program driven over pipes, one line at a time: a benchmark's contestant.
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
  std::string error_file = {};  // receives the child's stderr
  int cpus = 0;  // number of this process's processors that the child may use; 0: all
};

/// A started child process. It ends with this object, and with this process.
class ChildProcess {
 public:
  /// Throws IoError if it cannot be started.
  explicit ChildProcess(const ChildOptions& options);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Stops every thread of the child (and of its child processes) until resume(), so that waiting contestants use no processor time.
  void pause();
  void resume();
  void send(const std::string& line);
  /// Returns the next line it prints. Throws IoError if it ends first (with the end of its stderr) or prints nothing for `seconds`.
  std::string read_line(double seconds);

 private:
  [[noreturn]] void fail(const std::string& what);
  std::string name_, error_file_, buffer_;
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;  // our ends of its stdin and stdout
};

}  // namespace sindri::measure
