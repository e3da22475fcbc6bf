// See rank_processes.h.
#include "src/app/rank_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "sindri/comm/trace.h"
#include "sindri/core/error.h"

extern char** environ;

namespace sindri::app {

namespace {

namespace fs = std::filesystem;

constexpr double kHearTime = 5;  // seconds that the other ranks have to detect a failure and report it
constexpr int kQuoted = 20;  // lines of a log

double steady_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double wall_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

void write_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // a full disk must not end the ranks; only log lines are lost
    data += n;
    size -= static_cast<size_t>(n);
  }
}

void say(const std::string& text) { write_all(STDERR_FILENO, text.data(), text.size()); }

// One stream of a shown rank: copied to the log immediately, and to the terminal as fast as that accepts it.
struct Stream {
  int from = -1, to = -1;
  bool whole_lines = false;  // several ranks are shown: their lines must not mix
  std::string pending;  // for the terminal
  void close_source() {
    if (from >= 0) close(from);
    from = -1;
  }
  // At most PIPE_BUF bytes, which are written atomically, so that a write never blocks once POLLOUT is reported.
  size_t showable() const {
    const size_t most = std::min<size_t>(pending.size(), 4096);
    if (!whole_lines || from < 0) return most;
    const size_t newline = most == 0 ? std::string::npos : pending.rfind('\n', most - 1);
    return newline != std::string::npos ? newline + 1 : most == 4096 ? most : 0;
  }
  void show() {
    const ssize_t n = write(to, pending.data(), showable());
    if (n > 0) pending.erase(0, static_cast<size_t>(n));
    if (n < 0 && errno != EINTR && errno != EAGAIN) {  // no reader is left; the log is complete
      to = -1;
      pending.clear();
    }
  }
};

// A rank whose output is shown.
struct Shown {
  size_t index = 0;  // index of the rank in the plan
  int log = -1;
  Stream out, err;
};

std::vector<std::string> environment_of(const PlannedRank& rank) {
  std::vector<std::string> out;
  for (char** p = environ; p != nullptr && *p != nullptr; ++p) {
    const std::string v = *p;
    if (!rank.environment.contains(v.substr(0, v.find('=')))) out.push_back(v);
  }
  for (const auto& [name, value] : rank.environment) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

int open_log(const std::string& path, bool append) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (append ? 0 : O_TRUNC), 0644);
  if (fd < 0) throw IoError(fmt::format("cannot write a rank's log: {}", std::strerror(errno)), path, "set --log-dir to a folder you may write to");
  return fd;
}

// Writes a rank's environment in a form that a shell can read, without the job's secret.
void write_env_file(const std::string& path, std::vector<std::string> environment) {
  std::sort(environment.begin(), environment.end());
  std::string text;
  for (const std::string& v : environment) {
    if (!v.starts_with("SINDRI_JOB_TOKEN=")) text += v + "\n";
  }
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) throw IoError(fmt::format("cannot write a rank's environment: {}", std::strerror(errno)), path, "make the folder writable");
  write_all(fd, text.data(), text.size());
  close(fd);
}

// Returns the code that the program left there, if any (comm::leave_code).
int take_code(const std::string& file) {
  if (file.empty()) return 0;
  int code = 0;
  std::ifstream(file) >> code;
  std::error_code ignored;
  fs::remove(file, ignored);
  return code;
}

class Job {
 public:
  Job(const LaunchPlan& plan, const JobOptions& options) : plan_(plan), options_(options) {}
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  JobEnd run();

 private:
  void hold_signals();
  void start_keeper();
  void start(const PlannedRank& rank, bool shown);
  [[noreturn]] void become(const PlannedRank& rank, const std::vector<char*>& argv, const std::vector<char*>& envp, int out, int err, int complaint);
  void pump(double wait);
  static void read_stream(Stream* stream, int log);
  static void drain(Shown* shown);
  void show_rest(int patience_ms);
  void take_signals();
  void pass_on(int signal);
  void reap();
  void tell_job(size_t index);
  void on_failure(size_t index);
  void enforce_deadlines();
  void kill_group();
  bool all_ended() const;
  bool only_stopped_are_left() const;

  const LaunchPlan& plan_;
  JobOptions options_;
  JobEnd end_;
  sigset_t old_mask_{};
  struct sigaction old_pipe_ {};
  bool holding_ = false;
  int signal_fd_ = -1, keeper_pipe_ = -1;
  pid_t keeper_ = -1, launcher_ = getpid(), parent_ = getppid();
  std::deque<Shown> shown_;
  double kill_at_ = 0, timeout_at_ = 0;  // 0: never
  std::vector<std::thread> tellers_;
};

void Job::hold_signals() {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}) {
    struct sigaction now {};
    sigaction(s, nullptr, &now);
    if (s == SIGCHLD || now.sa_handler != SIG_IGN) sigaddset(&mask, s);  // respects nohup, and shells that run it in the background
  }
  sigprocmask(SIG_BLOCK, &mask, &old_mask_);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &old_pipe_);
  holding_ = true;
  signal_fd_ = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signal_fd_ < 0) throw IoError(fmt::format("cannot watch signals: {}", std::strerror(errno)), "sindri run", "close open files");
}

void Job::start_keeper() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw IoError(fmt::format("cannot make a pipe: {}", std::strerror(errno)), "sindri run", "close open files");
  keeper_ = fork();
  if (keeper_ < 0) throw IoError(fmt::format("cannot start a process: {}", std::strerror(errno)), "sindri run", "end other processes, or raise ulimit -u");
  if (keeper_ == 0) {
    setpgid(0, 0);
    close(ends[1]);
    if (signal_fd_ >= 0) close(signal_fd_);
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE}) signal(s, SIG_IGN);
    const int null = open("/dev/null", O_RDWR);  // a reader of the launcher's output must get its end of file
    for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
    char byte;
    while (read(ends[0], &byte, 1) < 0 && errno == EINTR) {}
    kill(0, SIGKILL);  // the group, including itself
    _exit(0);
  }
  setpgid(keeper_, keeper_);
  close(ends[0]);
  keeper_pipe_ = ends[1];
}

// In the child: only calls that are safe after fork.
void Job::become(const PlannedRank& rank, const std::vector<char*>& argv, const std::vector<char*>& envp, int out, int err, int complaint) {
  setpgid(0, keeper_);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher_) _exit(127);  // the launcher died before it could be watched
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &standard, nullptr);
  sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
  const int null = open("/dev/null", O_RDONLY);
  if (null >= 0) dup2(null, 0);
  dup2(out, 1);
  dup2(err, 2);
  if (!rank.cores.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int c : rank.cores) CPU_SET(c, &set);
    sched_setaffinity(0, sizeof set, &set);
  }
  int error = 0;
  if (!rank.directory.empty() && chdir(rank.directory.c_str()) != 0) error = errno;
  if (error == 0) {
    execvpe(argv[0], argv.data(), envp.data());
    error = errno;
  }
  [[maybe_unused]] const ssize_t told = write(complaint, &error, sizeof error);
  _exit(127);
}

void Job::start(const PlannedRank& rank, bool shown) {
  if (!rank.directory.empty()) {
    std::error_code error;
    fs::create_directories(rank.directory, error);
    if (error)
      throw IoError(fmt::format("cannot make the folder of rank {}: {}", rank.rank, error.message()), rank.directory, "start in a folder you may write to");
  }
  std::error_code ignored;
  if (!rank.result.empty()) fs::remove(rank.result, ignored);
  std::vector<std::string> words = plan_.command, environment = environment_of(rank);
  if (!rank.env_file.empty()) write_env_file(rank.env_file, environment);
  const std::vector<char*> argv = pointers(words), envp = pointers(environment);
  RankEnd end{.rank = rank.rank, .host = host_name(), .log = rank.log};
  const int log = open_log(rank.log, options_.append_logs);
  struct stat s {};
  if (fstat(log, &s) == 0) end.log_start = s.st_size;
  int out[2] = {-1, log}, err[2] = {-1, log}, complaint[2];
  if (pipe2(complaint, O_CLOEXEC) != 0 || (shown && (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0))) {
    close(log);
    throw IoError(fmt::format("cannot make a pipe: {}", std::strerror(errno)), "sindri run", "close open files, or raise ulimit -n");
  }
  const pid_t pid = fork();
  if (pid == 0) become(rank, argv, envp, out[1], err[1], complaint[1]);
  close(complaint[1]);
  if (shown) {
    close(out[1]);
    close(err[1]);
    const bool several = plan_.shown.size() > 1;
    shown_.push_back({.index = end_.ranks.size(),
                      .log = log,
                      .out = {.from = out[0], .to = STDOUT_FILENO, .whole_lines = several, .pending = {}},
                      .err = {.from = err[0], .to = STDERR_FILENO, .whole_lines = several, .pending = {}}});
    for (const int fd : {out[0], err[0]}) fcntl(fd, F_SETFL, O_NONBLOCK);
  } else {
    close(log);
  }
  if (pid < 0) {
    close(complaint[0]);
    throw IoError(fmt::format("cannot start rank {}: {}", rank.rank, std::strerror(errno)), "sindri run", "end other processes, or raise ulimit -u");
  }
  setpgid(pid, keeper_);  // in both processes, since either may run first
  end.pid = pid;
  end_.ranks.push_back(end);
  int error = 0;
  ssize_t got;
  while ((got = read(complaint[0], &error, sizeof error)) < 0 && errno == EINTR) {}
  close(complaint[0]);
  if (got == static_cast<ssize_t>(sizeof error))
    throw SettingsError(ErrorCode::kUsage, fmt::format("cannot start {}: {}", words[0], std::strerror(error)), fmt::format("rank {}", rank.rank),
                        "name a program in PATH, or its path, after --");
}

void Job::kill_group() {
  for (RankEnd& r : end_.ranks) {
    if (!r.ended) r.killed_by_us = true;
  }
  if (keeper_ > 0) kill(-keeper_, SIGKILL);
}

Job::~Job() {
  if (keeper_ > 0) kill(-keeper_, SIGKILL);  // ranks after an error, their leftover processes, and the keeper
  for (const RankEnd& r : end_.ranks) {
    if (!r.ended && r.pid > 0) {
      kill(r.pid, SIGKILL);
      waitpid(r.pid, nullptr, 0);
    }
  }
  if (keeper_ > 0) waitpid(keeper_, nullptr, 0);
  for (std::thread& t : tellers_) t.join();
  if (keeper_pipe_ >= 0) close(keeper_pipe_);
  for (Shown& s : shown_) {
    s.out.close_source();
    s.err.close_source();
    close(s.log);
  }
  if (signal_fd_ >= 0) close(signal_fd_);
  if (holding_) {
    sigaction(SIGPIPE, &old_pipe_, nullptr);
    sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
  }
}

// Reads the available output, unless too much of it is already waiting for the terminal.
void Job::read_stream(Stream* stream, int log) {
  char buffer[16384];
  while (stream->from >= 0 && stream->pending.size() < 65536) {
    const ssize_t n = read(stream->from, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return stream->close_source();
    write_all(log, buffer, static_cast<size_t>(n));
    if (stream->to >= 0) stream->pending.append(buffer, static_cast<size_t>(n));
  }
}

// Reads the rest of the output of a shown rank that has ended. Grandchildren may hold the pipes open, so this does not wait for their end.
void Job::drain(Shown* shown) {
  for (Stream* s : {&shown->out, &shown->err}) {
    if (s->from < 0) continue;
    std::string keep = std::move(s->pending);
    s->pending.clear();
    read_stream(s, shown->log);
    s->pending.insert(0, keep);
  }
}

// Writes the pending output. A slow reader receives it; one that reads nothing for `patience_ms` does not block the launcher.
void Job::show_rest(int patience_ms) {
  for (Shown& shown : shown_) {
    for (Stream* s : {&shown.out, &shown.err}) {
      for (pollfd p{s->to, POLLOUT, 0}; s->showable() > 0 && poll(&p, 1, patience_ms) == 1;) s->show();
    }
  }
}

void Job::pump(double wait) {
  struct Waiting {
    Stream* stream;
    int log;
  };
  std::vector<pollfd> fds = {{signal_fd_, POLLIN, 0}};
  std::vector<Waiting> of = {{nullptr, -1}};
  for (Shown& shown : shown_) {
    for (Stream* s : {&shown.out, &shown.err}) {
      if (s->showable() > 0) {
        fds.push_back({s->to, POLLOUT, 0});
        of.push_back({s, shown.log});
      }
      if (s->from >= 0 && s->pending.size() < 65536) {
        fds.push_back({s->from, POLLIN, 0});
        of.push_back({s, shown.log});
      }
    }
  }
  if (poll(fds.data(), fds.size(), static_cast<int>(std::max(0.0, wait) * 1000) + (wait > 0 ? 1 : 0)) <= 0) return;
  for (size_t i = 1; i < fds.size(); ++i) {
    if (fds[i].revents == 0) continue;
    if (fds[i].events != POLLOUT) {
      read_stream(of[i].stream, of[i].log);
      continue;
    }
    // Another stream may have filled the terminal's buffer since.
    pollfd now{fds[i].fd, POLLOUT, 0};
    if (of[i].stream->showable() > 0 && poll(&now, 1, 0) == 1) of[i].stream->show();
  }
}

void Job::pass_on(int signal) {
  if (options_.first_stop_as != 0 && end_.stop_signal == 0 && (signal == SIGINT || signal == SIGTERM)) signal = options_.first_stop_as;
  for (const RankEnd& r : end_.ranks) {
    if (!r.ended) kill(r.pid, signal);
  }
}

void Job::take_signals() {
  signalfd_siginfo info{};
  while (read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int s = static_cast<int>(info.ssi_signo);
    if (s == SIGCHLD) continue;
    pass_on(s);
    if (s == SIGUSR1 || s == SIGUSR2) continue;
    const bool again = end_.stop_signal != 0;
    if (!again) end_.stop_signal = s;
    // The second signal ends the ranks at once; the launcher does not wait for a third.
    const double until = steady_now() + (again ? kHearTime : options_.term_grace + kHearTime);
    if (kill_at_ == 0 || until < kill_at_) kill_at_ = until;
  }
}

void Job::on_failure(size_t index) {
  RankEnd& r = end_.ranks[index];
  if (r.killed_by_us || end_.stop_signal != 0 || end_.timed_out) return;
  // If a rank was asked to stop, the others stop after the same step; they may still be saving.
  const bool orderly = was_stopped(r);
  const double until = steady_now() + kHearTime + (orderly ? options_.term_grace : 0);
  if (kill_at_ == 0 || until < kill_at_) kill_at_ = until;
  if (orderly || end_.told >= 0 || !options_.says_why) return;
  end_.told = static_cast<int>(index);
  show_rest(100);  // earlier output comes first, as far as the terminal accepts it
  say(failure_text(r));
  if (!all_ended()) say(fmt::format("sindri run: the other ranks have {:.0f} s to exit\n", kHearTime));
}

void Job::reap() {
  for (size_t i = 0; i < end_.ranks.size(); ++i) {
    RankEnd& r = end_.ranks[i];
    int status = 0;
    if (r.ended || waitpid(r.pid, &status, WNOHANG) != r.pid) continue;
    r.ended = true;
    r.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    r.code = WIFSIGNALED(status) ? 128 + r.signal : WEXITSTATUS(status);
    if (r.signal != SIGKILL) r.killed_by_us = false;
    r.when = wall_now();
    r.error = take_code(plan_.ranks[i].result);
    for (Shown& s : shown_) {
      if (s.index == i) drain(&s);
    }
    if (r.failed()) {
      tell_job(i);
      on_failure(i);
    }
  }
}

// The other ranks see that one is gone, but only its parent knows how it ended. Sent from a thread, as the loop must not wait.
void Job::tell_job(size_t index) {
  const RankEnd& r = end_.ranks[index];
  if (r.code == 7 || r.killed_by_us || end_.stop_signal != 0 || end_.timed_out || all_ended()) return;
  std::map<std::string, std::string> environment;
  for (const std::string& v : environment_of(plan_.ranks[index])) environment.emplace(v.substr(0, v.find('=')), v.substr(v.find('=') + 1));
  tellers_.emplace_back([environment = std::move(environment), how = r.signal != 0 ? fmt::format("signal {}", r.signal) : fmt::format("exit code {}", r.code)] {
    comm::report_rank_end(environment, how);
  });
}

void Job::enforce_deadlines() {
  const double now = steady_now();
  if (options_.ends_with_parent && getppid() != parent_) kill_group();
  if (timeout_at_ > 0 && now >= timeout_at_) {
    timeout_at_ = 0;
    end_.timed_out = true;
    say(fmt::format("sindri run: the job has run for {:g} s (--timeout); stopping the ranks\n", options_.timeout));
    pass_on(SIGTERM);
    if (kill_at_ == 0) kill_at_ = now + options_.term_grace + kHearTime;
  }
  if (kill_at_ > now && end_.stop_signal == 0 && only_stopped_are_left()) kill_at_ = now;  // stopped processes receive no messages
  if (kill_at_ > 0 && now >= kill_at_) {
    kill_at_ = now + 1;  // again, in case a process was started meanwhile
    std::string left;
    for (const RankEnd& r : end_.ranks) {
      if (!r.ended) left += (left.empty() ? "" : ", ") + std::to_string(r.rank);
    }
    if (!left.empty() && options_.says_why)
      say(fmt::format("sindri run: rank{} {} did not end: killed\n", left.find(',') == std::string::npos ? "" : "s", left));
    kill_group();
  }
}

bool Job::only_stopped_are_left() const {
  return std::all_of(end_.ranks.begin(), end_.ranks.end(), [](const RankEnd& r) {
    if (r.ended) return true;
    std::ifstream in(fmt::format("/proc/{}/stat", r.pid));  // pid (name) state …
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const size_t at = text.rfind(") ");
    return at != std::string::npos && text.substr(at + 2, 1) == "T";
  });
}

bool Job::all_ended() const {
  return std::all_of(end_.ranks.begin(), end_.ranks.end(), [](const RankEnd& r) { return r.ended; });
}

JobEnd Job::run() {
  hold_signals();
  start_keeper();
  for (size_t i = 0; i < plan_.ranks.size(); ++i)
    start(plan_.ranks[i], std::find(plan_.shown.begin(), plan_.shown.end(), static_cast<int>(i)) != plan_.shown.end());
  if (options_.timeout > 0) timeout_at_ = steady_now() + options_.timeout;
  while (!all_ended()) {
    double until = steady_now() + 1;  // SIGCHLD wakes the loop; a merged one is seen a second later
    for (const double deadline : {kill_at_, timeout_at_}) {
      if (deadline > 0) until = std::min(until, deadline);
    }
    pump(until - steady_now());
    take_signals();
    reap();
    enforce_deadlines();
  }
  if (keeper_ > 0) kill(-keeper_, SIGKILL);  // leftover processes of ranks
  for (Shown& s : shown_) {
    drain(&s);
    for (Stream* stream : {&s.out, &s.err}) stream->close_source();  // a last line without an end is shown, too
  }
  show_rest(2000);
  end_.cause = root_cause(end_.ranks);
  return end_;
}

}  // namespace

JobEnd run_rank_processes(const LaunchPlan& plan, const JobOptions& options) { return Job(plan, options).run(); }

int root_cause(const std::vector<RankEnd>& ranks) {
  int best = -1, best_class = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankEnd& r = ranks[i];
    if (!r.failed()) continue;
    const int kind = r.killed_by_us ? 1 : r.code == 7 ? 2 : 3;
    if (kind > best_class || (kind == best_class && r.when < ranks[static_cast<size_t>(best)].when)) {
      best = static_cast<int>(i);
      best_class = kind;
    }
  }
  return best;
}

std::string failure_text(const RankEnd& end) {
  const std::string how =
      end.signal != 0 ? fmt::format("was ended by signal {} ({})", end.signal, strsignal(end.signal)) : fmt::format("ended with exit code {}", end.code);
  std::string out = fmt::format("sindri run: rank {} ({}, pid {}) {}", end.rank, end.host, end.pid, how);
  std::deque<std::string> lines;
  const int fd = open(end.log.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    struct stat s {};
    fstat(fd, &s);
    constexpr int64_t kTail = 64 << 10;
    const int64_t start = std::max(end.log_start, static_cast<int64_t>(s.st_size) - kTail);
    std::string text(static_cast<size_t>(std::max<int64_t>(0, s.st_size - start)), '\0');
    const ssize_t got = pread(fd, text.data(), text.size(), start);
    close(fd);
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    for (size_t at = 0; at < text.size();) {
      const size_t newline = std::min(text.find('\n', at), text.size());
      std::string line = text.substr(at, newline - at);
      if (const size_t redrawn = line.find_last_of('\r'); redrawn != std::string::npos && redrawn + 1 < line.size()) line = line.substr(redrawn + 1);
      std::replace_if(
          line.begin(), line.end(), [](unsigned char c) { return c < 0x20 && c != '\t'; }, '?');
      lines.push_back(std::move(line));
      if (lines.size() > kQuoted) lines.pop_front();
      at = newline + 1;
    }
  }
  out += lines.empty() ? fmt::format("; its log {} is empty\n", end.log) : fmt::format("; the end of {}:\n", end.log);
  for (const std::string& line : lines) out += "  | " + line + "\n";
  return out;
}

bool was_stopped(const RankEnd& end) { return end.signal == 0 && (end.code == 128 + SIGHUP || end.code == 128 + SIGINT || end.code == 128 + SIGTERM); }

bool would_come_again(const RankEnd& end) {
  if (end.code != 7) return false;
  const auto is = [&](ErrorCode code) { return end.error == static_cast<int>(code); };
  return is(ErrorCode::kCommMismatch) || is(ErrorCode::kRankData) || is(ErrorCode::kLaunchedAlone) || is(ErrorCode::kLayout);
}

bool worth_restarting(const RankEnd& end) {
  if (end.signal != 0) return true;
  if (would_come_again(end)) return false;
  return end.code == 7 || (end.code > 128 && end.code <= 128 + 64 && !was_stopped(end));  // a shell between the launcher and the rank returns 128 + s
}

}  // namespace sindri::app
