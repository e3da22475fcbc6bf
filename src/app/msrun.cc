// See msrun.h.
#include "sindri/app/msrun.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "sindri/app/app.h"
#include "sindri/core/error.h"
#include "src/app/launch_plan.h"
#include "src/comm/host_address.h"

namespace sindri::app {

namespace {

namespace fs = std::filesystem;

// Runs a Python file with Python; anything else (`pytest`, `sindri`) is a program.
std::vector<std::string> command_of(std::vector<std::string> words) {
  const std::string& first = words.front();
  if (!first.ends_with(".py")) return words;
  if (!fs::is_regular_file(first))
    throw refuse(fmt::format("there is no script '{}'", first), "msrun", "check the path; the script comes after msrun's own arguments");
  words.insert(words.begin(), python_interpreter());
  return words;
}

void check_counts(const MsrunRequest& r) {
  if (r.worker_num < 1 || r.local_worker_num < 1)
    throw refuse(fmt::format("--worker_num={} --local_worker_num={}: at least one worker", r.worker_num, r.local_worker_num), "msrun",
                 "both are numbers of workers from 1; there is no separate scheduler to start");
  if (r.local_worker_num > r.worker_num)
    throw refuse(fmt::format("--local_worker_num={} of --worker_num={}", r.local_worker_num, r.worker_num), "msrun",
                 fmt::format("give both: --worker_num={0} --local_worker_num={0} for {0} workers on this host", r.worker_num));
  if (r.local_worker_num < r.worker_num && r.node_rank < 0)
    throw refuse(fmt::format("{} of {} workers are on this host, but --node_rank is missing", r.local_worker_num, r.worker_num), "msrun",
                 "number the hosts: --node_rank=0 on the one with --master_addr, 1 on the next");
  if (r.node_rank > 0 && (r.node_rank + 1) * int64_t{r.local_worker_num} > r.worker_num)
    throw refuse(fmt::format("--node_rank={}: its workers would be ranks {} to {} of {}", r.node_rank, int64_t{r.node_rank} * r.local_worker_num,
                             (r.node_rank + 1) * int64_t{r.local_worker_num} - 1, r.worker_num),
                 "msrun", "hosts are numbered from 0, each with --local_worker_num workers");
}

// "-1", or "0,2" as positions among the local workers.
std::vector<int> shown_of(const MsrunRequest& r) {
  std::vector<int> out;
  if (r.tail_worker_log == "-1") {
    for (int i = 0; i < r.local_worker_num; ++i) out.push_back(i);
    return out;
  }
  std::istringstream in(r.tail_worker_log);
  for (std::string part; std::getline(in, part, ',');) {
    int n = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), n);
    if (error != std::errc() || end != part.data() + part.size() || n < 0 || n >= r.local_worker_num)
      throw refuse(fmt::format("--tail_worker_log={}: '{}' is not a worker of this host", r.tail_worker_log, part), "msrun",
                   fmt::format("name workers from 0 to {} as in --tail_worker_log=0,1; -1 shows all", r.local_worker_num - 1));
    out.push_back(n);
  }
  return out;
}

std::string log_pattern(const MsrunRequest& r) {
  std::string name = r.worker_log_name;
  const std::pair<std::string, std::string> parts[] = {{"{ip}", comm::default_route_address()}, {"{hostname}", host_name()}};
  for (const auto& [mark, value] : parts) {
    for (size_t at; (at = name.find(mark)) != std::string::npos;) name.replace(at, mark.size(), value);
  }
  return (fs::path(r.log_dir) / (name + "_{rank}.log")).string();
}

std::string log_of(const LaunchRequest& l, int rank) {
  std::string name = l.log_file;
  name.replace(name.find("{rank}"), 6, std::to_string(rank));
  return name;
}

std::string start_lines(const LaunchRequest& l) {
  std::string command, out;
  for (const std::string& w : l.command) command += (command.empty() ? "" : " ") + shell_word(w);
  for (int i = 0; i < l.ranks; ++i) {
    const int rank = l.first_rank + i;
    out += fmt::format("Start worker process with rank id:{0}, log file:{1}. Environment variable [RANK_ID={0}] is exported. Execute command: {2}\n", rank,
                       log_of(l, rank), command);
  }
  return out;
}

int open_scheduler_log(const MsrunRequest& r) {
  const fs::path file = fs::path(r.log_dir) / "scheduler.log";
  std::error_code ignored;
  if (!r.log_dir.empty()) fs::create_directories(r.log_dir, ignored);
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) throw IoError(fmt::format("cannot write the launcher's log: {}", std::strerror(errno)), file.string(), "give a --log_dir that you may write to");
  const std::string text = "msrun: rank 0 keeps the list of workers, so there is no scheduler process; this is the launcher's log\n";
  if (write(fd, text.data(), text.size()) < 0) errno = 0;  // a full disk shows in the workers' logs, too
  return fd;
}

}  // namespace

std::string python_interpreter() {
  const char* chosen = std::getenv("SINDRI_PYTHON");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return in_path("python") ? "python" : "python3";
}

LaunchRequest msrun_launch(const MsrunRequest& r) {
  if (r.command.empty()) throw refuse("no script to run", "msrun", "msrun --worker_num=2 --local_worker_num=2 --join=True train.py");
  check_counts(r);
  LaunchRequest out;
  out.ranks = r.local_worker_num;
  out.rank_table = r.rank_table_file;
  if (r.local_worker_num < r.worker_num) {
    out.world = r.worker_num;
    out.first_rank = r.node_rank * r.local_worker_num;
    const bool numeric6 = r.master_addr.find(':') != std::string::npos;
    out.master = (numeric6 ? "[" + r.master_addr + "]" : r.master_addr) + ":" + std::to_string(r.master_port);
  }
  out.log_dir = r.log_dir.empty() ? "." : r.log_dir;
  out.log_file = log_pattern(r);
  out.shown = r.join ? shown_of(r) : std::vector<int>();
  if (r.bind_core) out.bind = "core";
  out.command = command_of(r.command);
  out.launcher = r.launcher;
  return out;
}

int msrun(const MsrunRequest& r) {
  const LaunchRequest l = msrun_launch(r);
  const int log = open_scheduler_log(r);
  // A value set by the user has priority.
  setenv("SINDRI_DIST_INIT_TIMEOUT", r.cluster_time_out < 0 ? "86400" : std::to_string(std::clamp(r.cluster_time_out, 1, 86400)).c_str(), 0);
  std::fputs(start_lines(l).c_str(), stdout);
  std::fflush(stdout);
  if (r.join) {
    const int code = launch(l);
    const std::string text = fmt::format("msrun: the job ended with exit code {}\n", code);
    if (write(log, text.data(), text.size()) < 0) errno = 0;
    close(log);
    return code;
  }
  const pid_t pid = fork();
  if (pid < 0) throw IoError(fmt::format("cannot start a process: {}", std::strerror(errno)), "msrun", "end other processes, or raise ulimit -u");
  if (pid > 0) {
    close(log);
    std::fputs(fmt::format("msrun: process {} watches the workers; stop them with: kill {}\n", pid, pid).c_str(), stdout);
    return 0;
  }
  setsid();
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  // No process waits for this one: an error is a line of scheduler.log.
  try {
    const int code = launch(l);
    std::fputs(fmt::format("msrun: the job ended with exit code {}\n", code).c_str(), stdout);
    std::fflush(stdout);
    _exit(code);
  } catch (const Error& e) {
    std::fputs(fmt::format("{}\n", e.what()).c_str(), stderr);
    _exit(e.exit_code());
  }
}

}  // namespace sindri::app
