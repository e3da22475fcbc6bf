// Failures of real processes: killed, stopped, stuck, hanging in user code. Each job is this test program started once per rank (DISABLED_Rank below). Its
// collective call is a barrier of the store, so that only the watch is tested and no backend.
#include "src/comm/watch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "sindri/core/error.h"
#include "src/comm/identity.h"
#include "src/comm/socket.h"

namespace sindri::comm {
namespace watch_test {

using ::testing::HasSubstr;

std::string variable(const char* name, const std::string& otherwise = "") {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

// A call that all ranks make: the last one to arrive opens the gate.
void call(Session& session, StoreClient& store, int64_t step) {
  CallRecord& record = session.enter("all_reduce", {"gradient bucket", 1}, 89400000);
  if (variable("SINDRI_TEST_WATCH") == "clock") record.entered -= 1e6;  // as if the clock had been set forward
  const std::string gate = "gate/" + std::to_string(step);
  try {
    if (store.add(gate + "/count", 1) == session.identity.size) store.set(gate, "");
    store.get(gate, 1000);
  } catch (const CommError& error) {
    session.fail(session.judge(error));
    session.check();
  }
  session.leave(record);
}

void run_rank() {
  const std::string mode = variable("SINDRI_TEST_WATCH");
  Options options;
  options.init_timeout = 30;
  options.op_warn = 1;
  options.op_timeout = mode == "stuck" ? 3 : 600;
  if (mode == "clock") options.heartbeat = 0.05;
  Identity identity = find_identity(process_environment(), options);
  if (identity.scheduler) return run_scheduler(identity, options);
  Meeting meeting = meet(&identity, options);
  auto session = std::make_shared<Session>();
  session->identity = identity;
  session->options = options;
  StoreClient& store = *meeting.client;
  Watch watch(session, std::move(meeting));
  arm_exit_guard();
  const bool mine = identity.rank == 1;
  for (int64_t step = 1; (mode != "ends" && mode != "clock") || step <= 10; ++step) {
    session->step = step;
    session->phase = "forward";
    if (step == 6 && mine && mode == "stuck") std::this_thread::sleep_for(std::chrono::hours(1));
    if (step == 6 && mine && mode == "data") {
      session->fail(CommError(ErrorCode::kRankData, "rank 1 ends the job: images/7.jpg cannot be read", "epoch 2"));
      std::exit(3);
    }
    if (step == 6 && mine && mode == "early") return;
    if (step == 6 && mine && mode == "clock") std::this_thread::sleep_for(std::chrono::milliseconds(400));
    if (step == 2 && mine && mode == "fork" && fork() == 0) {  // a worker that outlives the rank
      alarm(10);
      pause();
      _exit(0);
    }
    try {
      call(*session, store, step);
    } catch (const Error&) {
      if (mode == "hang" && mine) std::this_thread::sleep_for(std::chrono::hours(1));
      throw;
    }
    printf("step %ld\n", static_cast<long>(step));
    fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST(WatchRank, DISABLED_Rank) {
  int code = 0;
  try {
    run_rank();
  } catch (const Error& e) {
    fprintf(stderr, "error[E%d] %s\n", static_cast<int>(e.code()), e.what());
    code = e.exit_code();
  }
  fflush(nullptr);
  _exit(code);
}

int free_port() {
  Socket s;
  EXPECT_FALSE(listen_at("127.0.0.1", 0, &s));
  return local_end(s.get()).second;
}

// A job of processes, in a separate folder; processes that still run at its end are killed.
class Job {
 public:
  Job(int size, const std::string& mode, bool scheduler = false) {
    static std::atomic<int> count{0};
    folder = ::testing::TempDir() + "watch_" + std::to_string(getpid()) + "_" + std::to_string(count++);
    std::filesystem::create_directories(folder);
    const int port = free_port();
    address = "127.0.0.1:" + std::to_string(port);
    for (int r = scheduler ? -1 : 0; r < size; ++r) {
      std::vector<std::string> environment = {"SINDRI_TEST_WATCH=" + mode, "SINDRI_COMM_LOG_DIR=" + folder, "PATH=/usr/bin:/bin"};
      if (scheduler) {
        environment.insert(environment.end(),
                           {"MS_WORKER_NUM=" + std::to_string(size), "MS_SCHED_HOST=127.0.0.1", "MS_SCHED_PORT=" + std::to_string(port),
                            std::string("MS_ROLE=") + (r < 0 ? "MS_SCHED" : "MS_WORKER"), "MS_NODE_ID=" + std::to_string(std::max(r, 0))});
      } else {
        environment.insert(environment.end(), {"SINDRI_RANK=" + std::to_string(r), "SINDRI_WORLD_SIZE=" + std::to_string(size), "SINDRI_MASTER=" + address});
      }
      start(r, environment);
    }
  }
  ~Job() {
    for (const auto& [rank, pid] : pids)
      if (!ends.contains(rank)) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
      }
    std::filesystem::remove_all(folder);
  }
  std::string text(int rank, const char* kind) const {
    std::ifstream in(folder + "/" + std::to_string(rank) + kind);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string error(int rank) const { return text(rank, ".err"); }
  // Waits until every rank has made this step.
  bool reach(int step) {
    const double end = now_seconds() + 40;
    while (now_seconds() < end) {
      bool all = true;
      for (const auto& [rank, pid] : pids) all = all && (rank < 0 || text(rank, ".out").find("step " + std::to_string(step) + "\n") != std::string::npos);
      if (all) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    for (const auto& [rank, pid] : pids) ADD_FAILURE() << "rank " << rank << " did not reach step " << step << ": " << error(rank);
    return false;
  }
  void send(int rank, int signal) { kill(pids.at(rank), signal); }
  // Waits for the end of all but one; returns the seconds it took.
  double wait_others(int but, double limit) {
    const double began = now_seconds();
    for (bool left = true; left && now_seconds() - began < limit;) {
      left = false;
      for (const auto& [rank, pid] : pids) {
        if (rank == but || ends.contains(rank)) continue;
        int status = 0;
        if (waitpid(pid, &status, WNOHANG) == pid) {
          ends[rank] = status;
        } else {
          left = true;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return now_seconds() - began;
  }
  // Exit code; 128 + signal; -1: still running.
  int code(int rank) const {
    const auto it = ends.find(rank);
    if (it == ends.end()) return -1;
    return WIFEXITED(it->second) ? WEXITSTATUS(it->second) : 128 + WTERMSIG(it->second);
  }
  std::string folder, address;
  std::map<int, pid_t> pids;
  std::map<int, int> ends;

 private:
  void start(int rank, std::vector<std::string> environment) {
    const std::string out = folder + "/" + std::to_string(rank) + ".out", err = folder + "/" + std::to_string(rank) + ".err";
    std::vector<std::string> words = {"comm_tests", "--gtest_filter=WatchRank.DISABLED_Rank", "--gtest_also_run_disabled_tests"};
    std::vector<char*> argv, envp;
    for (std::string& w : words) argv.push_back(w.data());
    for (std::string& e : environment) envp.push_back(e.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
      dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
      alarm(120);  // ends the rank if the test fails to
      execve("/proc/self/exe", argv.data(), envp.data());
      _exit(99);
    }
    pids[rank] = pid;
  }
};

// Runs the case in several jobs in parallel, `times` in all; at most three at a time.
template <class F> void repeat(int times, F one) {
  for (int done = 0; done < times; done += 3) {
    std::vector<std::thread> threads;
    for (int i = done; i < std::min(times, done + 3); ++i) threads.emplace_back([&, i] { one(i); });
    for (std::thread& t : threads) t.join();
  }
}

void kill_one(int run) {
  const int victim = 1 + run % 2;
  Job job(3, "run");
  ASSERT_TRUE(job.reach(3 + run % 5));
  std::this_thread::sleep_for(std::chrono::milliseconds(17 * run % 50));
  job.send(victim, SIGKILL);
  EXPECT_LE(job.wait_others(-2, 10), 2.0);
  for (const int r : {0, 3 - victim}) {
    EXPECT_EQ(job.code(r), 7);
    EXPECT_THAT(job.error(r), HasSubstr("error[E7001] rank " + std::to_string(victim) + " ("));
    EXPECT_THAT(job.error(r), HasSubstr("pid " + std::to_string(job.pids.at(victim)) + ") died"));
    EXPECT_THAT(job.error(r), HasSubstr("all_reduce \"gradient bucket 1\" (89.4 MB)"));
  }
}

void kill_zero(int run) {
  Job job(3, "run");
  ASSERT_TRUE(job.reach(3 + run % 5));
  job.send(0, SIGKILL);
  const double took = job.wait_others(-2, 10);
  EXPECT_GE(took, 0.4);  // the others wait, so that a launcher that blames the first rank to exit sees rank 0 first
  EXPECT_LE(took, 2.0);
  for (const int r : {1, 2}) {
    EXPECT_EQ(job.code(r), 7);
    EXPECT_THAT(job.error(r), HasSubstr("error[E7001] rank 0 ("));
    EXPECT_THAT(job.error(r), HasSubstr("pid " + std::to_string(job.pids.at(0)) + ") died"));
  }
}

void stop_one(int run) {
  Job job(3, "run");
  ASSERT_TRUE(job.reach(3 + run % 5));
  job.send(2, SIGSTOP);
  EXPECT_LE(job.wait_others(2, 20), 15.0);
  for (const int r : {0, 1}) {
    EXPECT_EQ(job.code(r), 7) << job.error(r);
    EXPECT_THAT(job.error(r), HasSubstr("error[E7001] rank 2 ("));
    EXPECT_THAT(job.error(r), HasSubstr("gave no sign of life for"));
    EXPECT_THAT(job.error(r), HasSubstr("stopped or hanging, as its host still answers"));
  }
  // Awake again, it learns the verdict.
  job.send(2, SIGCONT);
  EXPECT_LE(job.wait_others(-2, 10), 4.0);
  EXPECT_EQ(job.code(2), 7) << job.error(2);
}

void stop_zero(int run) {
  Job job(3, "run");
  ASSERT_TRUE(job.reach(3 + run % 5));
  job.send(0, SIGSTOP);
  EXPECT_LE(job.wait_others(0, 20), 15.0);
  for (const int r : {1, 2}) {
    EXPECT_EQ(job.code(r), 7) << job.error(r);
    EXPECT_THAT(job.error(r), HasSubstr("lost contact with rank 0 (" + job.address + "): no sign of life for"));
  }
  job.send(0, SIGCONT);
  EXPECT_LE(job.wait_others(-2, 10), 4.0);
  EXPECT_EQ(job.code(0), 7) << job.error(0);
  EXPECT_THAT(job.error(0), HasSubstr("did not run for"));
}

// SINDRI_TEST_FAULTS: the number of runs, for the long suite.
int times() { return std::atoi(variable("SINDRI_TEST_FAULTS", "3").c_str()); }

TEST(WatchProcesses, KilledRank) { repeat(times(), kill_one); }
TEST(WatchProcesses, KilledRankZero) { repeat(times(), kill_zero); }
TEST(WatchProcesses, StoppedRanks) {
  repeat(times(), [](int run) { run % 3 == 2 ? stop_zero(run) : stop_one(run); });
}

TEST(WatchProcesses, OrderlyEndIsNoFailure) {
  Job job(3, "ends");
  job.wait_others(-2, 30);
  for (int r = 0; r < 3; ++r) {
    EXPECT_EQ(job.code(r), 0) << job.error(r);
    EXPECT_EQ(job.error(r), "");
  }
  EXPECT_FALSE(std::filesystem::exists(job.folder + "/comm_0.json"));
}

TEST(WatchProcesses, ARankThatHangsInItsOwnCodeIsEnded) {
  Job job(3, "hang");
  ASSERT_TRUE(job.reach(3));
  job.send(2, SIGKILL);
  const double took = job.wait_others(-2, 15);
  EXPECT_GT(took, 5);
  EXPECT_LE(took, 8);
  EXPECT_EQ(job.code(1), 7);
  EXPECT_THAT(job.error(1), HasSubstr("error[E7001] the process still runs 5 s after this, and is terminated: rank 2 ("));
  EXPECT_EQ(job.code(0), 7);
}

// A worker process of the dead rank must not keep its connection alive.
TEST(WatchProcesses, KilledRankWithAChild) {
  Job job(3, "fork");
  ASSERT_TRUE(job.reach(3));
  job.send(1, SIGKILL);
  EXPECT_LE(job.wait_others(-2, 10), 2.0);
  EXPECT_THAT(job.error(0), HasSubstr("error[E7001] rank 1 ("));
}

TEST(WatchProcesses, ARanksOwnErrorIsTheVerdict) {
  Job job(3, "data");
  EXPECT_LE(job.wait_others(-2, 20), 15);
  EXPECT_EQ(job.code(1), 3);
  for (const int r : {0, 2}) {
    EXPECT_EQ(job.code(r), 7);
    EXPECT_THAT(job.error(r), HasSubstr("error[E7005] rank 1 ("));
    EXPECT_THAT(job.error(r), HasSubstr("ends the job: images/7.jpg cannot be read"));
  }
  // The ranks' call logs show which one did not arrive.
  const std::string report = trace_report(job.folder);
  EXPECT_THAT(report, HasSubstr("call logs of 3 of 3 ranks"));
  EXPECT_THAT(report, HasSubstr("the first call that some rank did not enter: call 6 all_reduce \"gradient bucket 1\" (89.4 MB) of 'world'"));
  EXPECT_THAT(report, HasSubstr("entered by rank 0"));
  EXPECT_THAT(report, HasSubstr("not entered: rank 1 ("));
  EXPECT_THAT(report, HasSubstr("is after call 5"));
}

TEST(WatchProcesses, AStuckRankIsWarnedOfAndEndsTheJob) {
  Job job(3, "stuck");
  job.wait_others(-2, 20);
  for (const int r : {0, 2}) {
    EXPECT_EQ(job.code(r), 7);
    EXPECT_THAT(job.error(r), HasSubstr("error[E7002] rank 1 ("));
    EXPECT_THAT(job.error(r), HasSubstr("did not enter call 6 all_reduce \"gradient bucket 1\" (89.4 MB) within 3 s"));
  }
  EXPECT_THAT(job.error(0), HasSubstr("call 6 all_reduce \"gradient bucket 1\" (89.4 MB) has waited for rank 1 ("));
  EXPECT_EQ(job.code(1), 7);  // the exit guard
}

TEST(WatchProcesses, ARankThatEndsTooEarly) {
  Job job(3, "early");
  job.wait_others(-2, 20);
  EXPECT_EQ(job.code(1), 0);
  for (const int r : {0, 2}) {
    EXPECT_EQ(job.code(r), 7);
    EXPECT_THAT(job.error(r), HasSubstr("error[E7001] rank 1 ("));
    EXPECT_THAT(job.error(r), HasSubstr("ended, while rank"));
  }
}

// The wall clock is set while a rank waits, as on a machine that finds its time server late: waiting time is measured with another clock.
TEST(WatchProcesses, AClockThatIsSetForwardEndsNoCall) {
  Job job(2, "clock");
  job.wait_others(-2, 30);
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(job.code(r), 0) << job.error(r);
    EXPECT_EQ(job.error(r), "");
  }
}

TEST(WatchProcesses, TheSchedulerKeepsTheStore) {
  Job good(2, "ends", true);
  good.wait_others(-2, 30);
  for (int r = -1; r < 2; ++r) EXPECT_EQ(good.code(r), 0) << good.error(r);
  Job bad(2, "run", true);
  ASSERT_TRUE(bad.reach(3));
  bad.send(0, SIGKILL);
  EXPECT_LE(bad.wait_others(-2, 10), 2.0);
  EXPECT_EQ(bad.code(1), 7);
  EXPECT_EQ(bad.code(-1), 7);
  EXPECT_THAT(bad.error(1), HasSubstr("error[E7001] rank 0 ("));
  Job gone(2, "run", true);
  ASSERT_TRUE(gone.reach(3));
  gone.send(-1, SIGKILL);
  EXPECT_LE(gone.wait_others(-2, 10), 2.0);
  EXPECT_THAT(gone.error(0), HasSubstr("error[E7001] the scheduler died"));
}

TEST(WatchProcesses, SignalWritesTheCallLog) {
  Job job(2, "run");
  ASSERT_TRUE(job.reach(3));
  for (const int r : {0, 1}) job.send(r, SIGUSR2);
  const double end = now_seconds() + 5;
  while (now_seconds() < end && !(std::filesystem::exists(job.folder + "/comm_0.json") && std::filesystem::exists(job.folder + "/comm_1.json")))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_THAT(trace_report(job.folder), HasSubstr("call logs of 2 of 2 ranks"));
  EXPECT_EQ(job.code(0), -1);
}

TEST(Trace, GroupsDifferencesAndDamagedLogs) {
  const std::string folder = ::testing::TempDir() + "trace_" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  setenv("SINDRI_COMM_LOG_DIR", folder.c_str(), 1);
  const auto write = [&](int rank, const std::vector<std::pair<std::string, std::string>>& calls, bool waits) {
    Session s;
    s.identity.rank = rank;
    s.identity.size = 3;
    s.host_of = {0, 0, 0};
    CallRecord* last = nullptr;
    for (const auto& [what, group] : calls) {
      CallRecord& r = s.enter("all_reduce", {what.c_str(), 0}, 4);
      r.group = group;
      if (group == "pair") r.members = {0, 2};
      s.leave(r);
      last = &r;
    }
    if (waits) last->left = 0;
    EXPECT_EQ(write_call_log(s, "job"), folder + "/comm_" + std::to_string(rank) + ".json");
  };
  EXPECT_THROW(trace_report(folder), IoError);
  EXPECT_THROW(trace_report(folder + "/none"), IoError);
  write(0, {{"a", "world"}, {"b", "pair"}, {"c", "world"}}, false);
  write(1, {{"a", "world"}, {"c", "world"}}, false);
  write(2, {{"a", "world"}, {"b", "pair"}, {"c", "world"}}, false);
  EXPECT_THAT(trace_report(folder), HasSubstr("these ranks entered the same calls"));
  write(2, {{"a", "world"}, {"c", "world"}}, true);
  EXPECT_THAT(trace_report(folder), HasSubstr("did not enter: call 2 all_reduce \"b\" (4 bytes) of 'pair'"));
  EXPECT_THAT(trace_report(folder), HasSubstr("not entered: rank 2"));
  EXPECT_THAT(trace_report(folder), HasSubstr("is in call 2 all_reduce \"c\""));
  write(1, {{"a", "world"}, {"x", "world"}}, false);
  write(2, {{"a", "world"}, {"b", "pair"}, {"c", "world"}}, false);
  EXPECT_THAT(trace_report(folder), HasSubstr("of 'world' differs: rank 0 made all_reduce \"c\" (4 bytes), rank 1 made all_reduce \"x\" (4 bytes)"));
  Session later;
  later.identity.rank = 1;
  later.identity.size = 3;
  write_call_log(later, "another job");
  EXPECT_THAT(trace_report(folder),
              HasSubstr("call logs of 1 of 3 ranks\ncomm_0.json belongs to another job; it is skipped\ncomm_2.json belongs to another job"));
  write(1, {{"a", "world"}, {"c", "world"}}, false);
  std::ofstream(folder + "/comm_1.json") << "{\"rank\": 1";
  EXPECT_THAT(trace_report(folder), HasSubstr("comm_1.json is not a complete call log"));
  EXPECT_THAT(trace_report(folder), HasSubstr("no log of rank 1"));
  unsetenv("SINDRI_COMM_LOG_DIR");
  std::filesystem::remove_all(folder);
}

TEST(Deadline, WarnsOrEndsTheProcess) {
  testing::internal::CaptureStderr();
  int calls = 0;
  run_with_deadline(5, "not this time", [&] { ++calls; });
  EXPECT_THROW(run_with_deadline(5, "nor this", [] { throw CommError(ErrorCode::kCommLibrary, "the library said no"); }), CommError);
  run_with_deadline(0.05, "somebody was lost", [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ++calls;
  });
  EXPECT_EQ(calls, 2) << "a library does not end processes";
  const std::string err = testing::internal::GetCapturedStderr();
  EXPECT_THAT(err, HasSubstr("somebody was lost"));
  EXPECT_THAT(err, ::testing::Not(HasSubstr("this")));
  const pid_t pid = fork();
  if (pid == 0) {
    arm_exit_guard();
    run_with_deadline(0.05, "", [] { std::this_thread::sleep_for(std::chrono::seconds(20)); });
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace watch_test
}  // namespace sindri::comm
