// See launch.h. The engine local runs ranks itself. mpirun and srun are started like any program, and each of their ranks runs launch_inside.
#include "sindri/app/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "sindri/core/error.h"
#include "src/app/rank_processes.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace {

namespace fs = std::filesystem;

void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

std::string end_file(const std::string& log_dir, int rank) { return log_dir + fmt::format("/rank_{}.end", rank); }

// Folders that launchers create for Open MPI, `SOMEWHERE/sindri-mpi.PID`: this launcher's, and those of launchers that were killed.
class Scratch {
 public:
  explicit Scratch(const std::vector<std::string>& folders) : folders_(folders) {
    for (const std::string& folder : folders_) {
      remove_orphans(fs::path(folder).parent_path());
      std::error_code ignored;
      fs::remove_all(folder, ignored);  // left by an earlier process with the same ID
      if (mkdir(folder.c_str(), 0700) != 0)
        throw IoError(fmt::format("cannot make a folder for Open MPI: {}", std::strerror(errno)), folder, "check the permissions of its parent folder");
    }
  }
  ~Scratch() {
    std::error_code ignored;
    for (const std::string& folder : folders_) fs::remove_all(folder, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

 private:
  static void remove_orphans(const fs::path& above) {
    constexpr std::string_view kName = "sindri-mpi.";
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(above, error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(kName)) continue;
      pid_t pid = 0;
      const auto [end, bad] = std::from_chars(name.data() + kName.size(), name.data() + name.size(), pid);
      if (bad != std::errc{} || end != name.data() + name.size() || pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH) continue;
      std::error_code ignored;
      fs::remove_all(entry.path(), ignored);  // another user's stays
    }
  }
  const std::vector<std::string>& folders_;
};

// Runs mpirun or srun as if it were a rank, and reads from the log folder how its ranks ended.
JobEnd run_external(const LaunchPlan& plan, const JobOptions& options) {
  const Scratch scratch(plan.scratch);
  std::error_code ignored;
  fs::create_directories(plan.log_dir, ignored);
  for (int r = 0; r < plan.size; ++r) fs::remove(end_file(plan.log_dir, r), ignored);
  LaunchPlan outer = plan;
  outer.ranks = {{.rank = 0,
                  .local = 0,
                  .device = 0,
                  .directory = {},
                  .log = plan.log_dir + "/" + plan.engine + ".log",
                  .env_file = {},
                  .result = {},
                  .environment = plan.environment,
                  .cores = {}}};
  JobOptions quiet = options;
  quiet.says_why = false;
  if (plan.engine == "mpi") quiet.first_stop_as = SIGUSR1;
  JobEnd end = run_rank_processes(outer, quiet);
  RankEnd engine = end.ranks.at(0);
  end.ranks.clear();
  for (int r = 0; r < plan.size; ++r) {
    const std::string file = end_file(plan.log_dir, r);
    if (!fs::exists(file, ignored)) continue;  // on another host without this folder, or killed before it could report
    const auto j = nlohmann::json::parse(train::read_small_file(file, 1 << 16, "end of a rank"), nullptr, false);
    fs::remove(file, ignored);
    if (!j.is_object()) continue;
    end.ranks.push_back({.rank = r,
                         .pid = j.value("pid", -1),
                         .host = j.value("host", ""),
                         .log = j.value("log", ""),
                         .ended = true,
                         .killed_by_us = j.value("stopped", false),
                         .code = j.value("code", 0),
                         .signal = j.value("signal", 0),
                         .error = j.value("error", 0),
                         .when = j.value("when", 0.0),
                         .log_start = j.value("log_start", int64_t{0})});
  }
  end.cause = root_cause(end.ranks);
  if (engine.code != 0 && end.cause < 0) {  // the engine's exit code is the only information
    engine.log = outer.ranks[0].log;
    end.ranks.push_back(engine);
    end.cause = static_cast<int>(end.ranks.size()) - 1;
  }
  if (end.cause >= 0 && end.stop_signal == 0 && !end.timed_out && !was_stopped(end.ranks[static_cast<size_t>(end.cause)]))
    say(failure_text(end.ranks[static_cast<size_t>(end.cause)]));
  return end;
}

int code_of(const JobEnd& end) {
  if (end.timed_out) return 124;
  if (end.cause < 0) return 0;
  const RankEnd& cause = end.ranks[static_cast<size_t>(end.cause)];
  if (end.stop_signal != 0 && (cause.killed_by_us || cause.signal != 0 || cause.code == 128 + SIGTERM)) return 128 + end.stop_signal;
  return cause.code;
}

}  // namespace

int launch(const LaunchRequest& request) {
  for (int attempt = 0;; ++attempt) {
    const LaunchPlan plan = plan_launch(request, attempt);
    if (request.dry_run) {
      std::fputs(describe(plan).c_str(), stdout);
      return 0;
    }
    for (const std::string& note : plan.notes) say("sindri run: " + note + "\n");
    const JobOptions options{.timeout = request.timeout,
                             .term_grace = request.term_grace,
                             .append_logs = attempt > 0,
                             .says_why = true,
                             .first_stop_as = 0,
                             .ends_with_parent = request.with_parent};
    const JobEnd end = plan.engine == "local" ? run_rank_processes(plan, options) : run_external(plan, options);
    const int code = code_of(end);
    if (end.cause < 0 || end.timed_out || end.stop_signal != 0) return code;
    const RankEnd& cause = end.ranks[static_cast<size_t>(end.cause)];
    if (was_stopped(cause)) return code;
    if (plan.engine == "local" && end.told != end.cause) say(failure_text(cause));  // the first rank to end was not the cause
    say(fmt::format("sindri run: the job ends with {} because of rank {} ({})\n", code, cause.rank, cause.log));
    if (attempt >= request.max_restarts) return code;
    if (would_come_again(cause)) say(fmt::format("sindri run: not restarted: E{} would occur again\n", cause.error));
    if (!worth_restarting(cause)) return code;
    say(fmt::format("sindri run: restart {} of {}\n", attempt + 1, request.max_restarts));
  }
}

namespace {

// On hosts other than the launcher's, no other process creates the folder for shared memory. After its rank has ended, this process removes the rank's files;
// the last one removes the folder.
class SharedMemory {
 public:
  SharedMemory() {
    if (const char* const folder = std::getenv("OMPI_MCA_btl_vader_backing_directory"); folder != nullptr && std::strstr(folder, "/sindri-mpi.") != nullptr)
      folder_ = folder;
    if (!folder_.empty()) mkdir(folder_.c_str(), 0700);
    if (const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK"); rank != nullptr) ending_ = std::string(".") + rank;
  }
  ~SharedMemory() {
    if (folder_.empty()) return;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_, error))
      if (entry.path().filename().string().ends_with(ending_)) unlink(entry.path().c_str());
    rmdir(folder_.c_str());
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

 private:
  std::string folder_, ending_ = ".";
};

}  // namespace

int launch_inside(const LaunchRequest& request) {
  const LaunchPlan plan = plan_inside(request);
  const SharedMemory memory;
  const JobEnd end = run_rank_processes(plan,
                                        {.timeout = 0,
                                         .term_grace = request.term_grace,
                                         .append_logs = !std::string(std::getenv("SINDRI_RESTARTS") != nullptr ? std::getenv("SINDRI_RESTARTS") : "").empty(),
                                         .says_why = false,
                                         .first_stop_as = 0,
                                         .ends_with_parent = true});
  const RankEnd& r = end.ranks.at(0);
  const nlohmann::json j = {{"pid", r.pid},   {"host", r.host},           {"log", r.log},
                            {"code", r.code}, {"signal", r.signal},       {"error", r.error},
                            {"when", r.when}, {"log_start", r.log_start}, {"stopped", r.code != 0 && (r.killed_by_us || end.stop_signal != 0)}};
  // Written to the launcher's log folder. If the launcher's host cannot access that folder, the launcher uses mpirun's exit code.
  std::error_code ignored;
  fs::create_directories(plan.log_dir, ignored);
  train::write_file_atomically(end_file(plan.log_dir, r.rank), j.dump(), "end of a rank");
  // mpirun uses the first exit code that it receives, and then kills the other ranks. A rank with code 7 waits, so that the rank that caused its failure ends
  // first.
  if (r.code == 7 && end.stop_signal == 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  return end.stop_signal != 0 && r.killed_by_us ? 128 + end.stop_signal : r.code;
}

}  // namespace sindri::app
