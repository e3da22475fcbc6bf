// See child_process.h.
#include "src/measure/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "sindri/core/error.h"
#include "src/core/clock.h"
#include "src/core/descriptor.h"

extern char** environ;

namespace sindri::measure {

namespace {

std::vector<std::string> child_environment(const ChildOptions& o) {
  std::map<std::string, std::string> merged;
  for (char** p = environ; p != nullptr && *p != nullptr; ++p) {
    const std::string v = *p;
    merged[v.substr(0, v.find('='))] = v.find('=') == std::string::npos ? "" : v.substr(v.find('=') + 1);
  }
  for (const std::string& name : o.unset_environment) merged.erase(name);
  for (const auto& [name, value] : o.set_environment) merged[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : merged) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

// The first `count` processors that this process may use.
cpu_set_t first_cpus(int count) {
  cpu_set_t allowed, wanted;
  CPU_ZERO(&wanted);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_ZERO(&allowed);
  for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&wanted) < count; ++c) {
    if (CPU_ISSET(c, &allowed)) CPU_SET(c, &wanted);
  }
  return wanted;
}

// The last lines of a file, at most `bytes`.
std::string tail(const std::string& path, std::streamoff bytes) {
  std::ifstream f(path, std::ios::binary | std::ios::ate);
  if (!f) return "";
  const std::streamoff size = f.tellg();
  f.seekg(std::max<std::streamoff>(0, size - bytes));
  std::string text(std::istreambuf_iterator<char>(f), {});
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

ChildProcess::ChildProcess(const ChildOptions& o) : name_(o.argv.at(0)), error_file_(o.error_file) {
  // A socket as its stdin: send() to a dead child then fails instead of raising SIGPIPE in this process.
  int to_child[2], from_child[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to_child) != 0) throw IoError(fmt::format("cannot make a socket: {}", std::strerror(errno)), name_);
  if (pipe2(from_child, O_CLOEXEC) != 0) {
    const int e = errno;
    close(to_child[0]);
    close(to_child[1]);
    throw IoError(fmt::format("cannot make a pipe: {}", std::strerror(e)), name_);
  }
  for (int* fd : {&to_child[0], &to_child[1], &from_child[0], &from_child[1]}) *fd = above_standard_streams(*fd);  // the child has its own there
  std::vector<std::string> arguments = o.argv, environment = child_environment(o);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  const cpu_set_t cpus = first_cpus(o.cpus > 0 ? o.cpus : CPU_SETSIZE);
  pid_ = fork();
  if (pid_ == 0) {  // only async-signal-safe calls from here on
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);  // a separate group, so that helpers it starts are paused and ended with it
    if (CPU_COUNT(&cpus) > 0) sched_setaffinity(0, sizeof cpus, &cpus);
    const int errors = open_file(o.error_file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (dup2(to_child[1], 0) < 0 || dup2(from_child[1], 1) < 0 || dup2(errors, 2) < 0 || chdir(o.directory.c_str()) != 0) _exit(127);
    execvpe(argv[0], argv.data(), envp.data());
    static const char message[] = "the program cannot be started\n";
    if (write(2, message, sizeof message - 1) < 0) _exit(126);
    _exit(127);
  }
  const int fork_error = errno;
  close(to_child[1]);
  close(from_child[1]);
  in_ = to_child[0];
  out_ = from_child[0];
  if (pid_ > 0) {
    setpgid(pid_, pid_);  // in both processes, since either may run first
    return;
  }
  close(in_);
  close(out_);
  throw IoError(fmt::format("cannot start a process: {}", std::strerror(fork_error)), name_);
}

ChildProcess::~ChildProcess() {
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  close(in_);
  close(out_);
}

void ChildProcess::pause() { kill(-pid_, SIGSTOP); }
void ChildProcess::resume() { kill(-pid_, SIGCONT); }

void ChildProcess::send(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::send(in_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("ended early");
    sent += static_cast<size_t>(n);
  }
}

std::string ChildProcess::read_line(double seconds) {
  const double end = now_seconds() + seconds;
  for (;;) {
    if (const size_t newline = buffer_.find('\n'); newline != std::string::npos) {
      const std::string line = buffer_.substr(0, newline);
      buffer_.erase(0, newline + 1);
      return line;
    }
    pollfd p{out_, POLLIN, 0};
    const double left = end - now_seconds();
    const int ready = left <= 0 ? 0 : poll(&p, 1, static_cast<int>(std::min(left * 1000 + 1, 1e9)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) fail(fmt::format("gave no answer within {:.0f} s", seconds));
    char chunk[4096];
    const ssize_t n = read(out_, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("ended early");
    buffer_.append(chunk, static_cast<size_t>(n));
  }
}

void ChildProcess::fail(const std::string& what) {
  const std::string errors = tail(error_file_, 600);
  throw IoError(fmt::format("{} {}{}", name_, what, errors.empty() ? "" : ": " + errors));
}

}  // namespace sindri::measure
