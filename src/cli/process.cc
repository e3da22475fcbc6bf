// See process.h.
#include "src/cli/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "sindri/app/error_report.h"
#include "sindri/core/error.h"

namespace {

bool g_outlives_reader = false;
int g_output_error = 0;  // errno of the first write that failed here

// A pipe whose other end is closed, or a terminal that no longer exists.
bool reader_is_gone() {
  pollfd p{STDOUT_FILENO, POLLOUT, 0};
  return poll(&p, 1, 0) == 1 && (p.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

namespace {

// Checks the size limit of the main thread's stack: if the stack overflows, the process ends without a message.
void check_stack() {
  constexpr rlim_t kLeast = rlim_t{256} << 10, kUsual = rlim_t{8} << 20;
  rlimit stack{};
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= kLeast) return;
  const rlim_t found = stack.rlim_cur;
  stack.rlim_cur = std::min(stack.rlim_max, kUsual);
  if (stack.rlim_cur >= kLeast && setrlimit(RLIMIT_STACK, &stack) == 0) return;
  print_error(sindri::Error(sindri::ErrorCode::kUsage, fmt::format("the limit of the stack is {} KiB, and at least {} are needed", found >> 10, kLeast >> 10),
                            "ulimit -s", "ulimit -s 8192"));
  _exit(2);
}

}  // namespace

void prepare_process() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // open returns the lowest free descriptor, which is this one.
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0) _exit(5);  // no stream is open for a message
  }
  std::signal(SIGXFSZ, SIG_IGN);
  check_stack();
}

void outlive_reader() {
  g_outlives_reader = true;
  std::signal(SIGPIPE, SIG_IGN);
}

void print_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && g_output_error == 0) g_output_error = errno;
}

void print_err(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void print_error(const sindri::Error& e) {
  winsize w{};
  const bool terminal = isatty(STDERR_FILENO) == 1 && ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0;
  print_err(sindri::app::format_error_report(e, terminal && w.ws_col > 20 ? w.ws_col - 1u : 0) + "\n");
}

int finish_output(int code) {
  if (std::fflush(stdout) != 0 && g_output_error == 0) g_output_error = errno;
  const bool failed = g_output_error != 0 || std::ferror(stdout) != 0;
  if (!failed || code != 0 || (g_outlives_reader && reader_is_gone())) return code;
  const sindri::IoError e(
      fmt::format("cannot write to the standard output{}{}", g_output_error != 0 ? ": " : "", g_output_error != 0 ? std::strerror(g_output_error) : ""),
      "standard output", "free space there, or redirect the output; the work is done, only the last lines of output are missing");
  print_error(e);
  return e.exit_code();
}
