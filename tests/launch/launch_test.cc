// `sindri run` with shell programs for ranks: identity, logs, exit codes, signals, restarts, and that no process remains.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sindri/comm/rank_table.h"
#include "tests/app/program.h"

namespace sindri::app::launch_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A folder in which a job runs, and a mark in every rank's environment that identifies its processes.
class Launch : public testing::Test {
 protected:
  Launch() : mark_("SINDRI_TEST_JOB=" + std::to_string(getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    for (const char* name : {"RANK_TABLE_FILE", "MINDSPORE_HCCL_CONFIG_PATH", "SERVER_ID", "RANK_SIZE", "RANK_ID", "DEVICE_NUM", "DEVICE_ID", "SLURM_JOB_ID",
                             "SINDRI_MASTER_PORT", "SINDRI_JOB_TOKEN", "SINDRI_RESTARTS", "OMP_NUM_THREADS"})
      unsetenv(name);  // variables of the tests' own environment
  }
  ~Launch() override {
    for (const pid_t p : left()) kill(p, SIGKILL);  // left by a test that failed
  }
  RunOptions options(std::map<std::string, std::string> more = {}) const {
    more["SINDRI_TEST_JOB"] = mark_.substr(mark_.find('=') + 1);
    return {.environment = std::move(more), .directory = temp_.path()};
  }
  // sindri run FLAGS -- sh -c SCRIPT
  static std::vector<std::string> shell(std::vector<std::string> flags, const std::string& script) {
    flags.insert(flags.begin(), "run");
    flags.insert(flags.end(), {"--", "sh", "-c", script});
    return flags;
  }
  Result job(const std::vector<std::string>& flags, const std::string& script, std::map<std::string, std::string> environment = {}) const {
    return run(shell(flags, script), options(std::move(environment)));
  }
  std::string log(int rank) const { return read_text(temp_.file("rank_logs/rank_" + std::to_string(rank) + ".log")); }
  bool exists(const std::string& name) const { return fs::exists(temp_.file(name)); }
  std::string table(int servers, int each, const std::string& first = "127.0.0.1") const {
    comm::RankTable t;
    for (int s = 0; s < servers; ++s) {
      t.servers.push_back({.server_id = s == 0 ? first : "10.99.0." + std::to_string(s), .devices = {}});
      for (int d = 0; d < each; ++d) t.servers.back().devices.push_back({.rank = s * each + d, .device_id = d + 4, .device_ip = "127.0.0.1"});
    }
    const std::string path = temp_.file("table.json");
    std::ofstream(path) << comm::rank_table_text(t);
    return path;
  }
  // Processes that have the mark, without zombies.
  std::vector<pid_t> left() const {
    std::vector<pid_t> out;
    for (const auto& entry : fs::directory_iterator("/proc", fs::directory_options::skip_permission_denied)) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (read_text(entry.path().string() + "/environ").find(mark_ + '\0') != std::string::npos) out.push_back(std::stoi(name));
    }
    return out;
  }
  // Expects no process to remain after at most `seconds`.
  void expect_nothing_left(double seconds = 2) const {
    const double end = now() + seconds;
    while (!left().empty() && now() < end) usleep(2000);
    EXPECT_THAT(left(), testing::IsEmpty());
  }
  const TempFolder temp_;
  const std::string mark_;
};

TEST_F(Launch, GivesRanksTheirIdentity) {
  const Result r = job({"-n", "3"}, "env; echo; pwd");
  EXPECT_EQ(r.code, 0) << r.err;
  std::set<std::string> tokens, masters;
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i), text = "\n" + log(i);
    for (const std::string& v : {"SINDRI_RANK=" + n, std::string("SINDRI_WORLD_SIZE=3"), "SINDRI_LOCAL_RANK=" + n, std::string("SINDRI_LOCAL_SIZE=3"),
                                 "RANK_ID=" + n, std::string("RANK_SIZE=3"), "DEVICE_ID=" + n})
      EXPECT_THAT(text, HasSubstr("\n" + v + "\n"));
    EXPECT_THAT(text, HasSubstr("\n" + fs::canonical(temp_.path()).string() + "\n"));
    EXPECT_THAT(text, HasSubstr("\nOMP_NUM_THREADS="));
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("SINDRI_JOB_TOKEN=")) tokens.insert(line);
      if (line.starts_with("SINDRI_MASTER=")) masters.insert(line);
    }
  }
  EXPECT_EQ(tokens.size(), 1u);
  EXPECT_EQ(tokens.begin()->size(), std::string("SINDRI_JOB_TOKEN=").size() + 32);
  ASSERT_EQ(masters.size(), 1u);
  EXPECT_THAT(*masters.begin(), StartsWith("SINDRI_MASTER=127.0.0.1:"));
  EXPECT_EQ(r.out, log(0)) << "only rank 0 is shown";
  const Result again = job({"-n", "1"}, "echo $SINDRI_JOB_TOKEN");
  EXPECT_EQ(tokens.count("SINDRI_JOB_TOKEN=" + again.out.substr(0, 32)), 0u) << "each job has its own secret";
}

TEST_F(Launch, KeepsTheUsersThreadsTokenAndPort) {
  const Result r = job({"-n", "2"}, "echo $OMP_NUM_THREADS $SINDRI_JOB_TOKEN $SINDRI_MASTER",
                       {{"OMP_NUM_THREADS", "5"}, {"SINDRI_JOB_TOKEN", "mine"}, {"SINDRI_MASTER_PORT", "12345"}});
  EXPECT_EQ(r.out, "5 mine 127.0.0.1:12345\n");
}

TEST_F(Launch, ShowsRankZeroOnBothStreamsAndLogsAll) {
  const Result r = job({"-n", "2", "--log-dir", "logs"}, "echo out $SINDRI_RANK; echo err $SINDRI_RANK >&2");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out, "out 0\n");
  EXPECT_EQ(r.err, "err 0\n");
  EXPECT_THAT(read_text(temp_.file("logs/rank_0.log")), testing::AllOf(HasSubstr("out 0\n"), HasSubstr("err 0\n")));
  EXPECT_EQ(read_text(temp_.file("logs/rank_1.log")), "out 1\nerr 1\n");
}

TEST_F(Launch, ShowsEverythingOfALongOutput) {
  const Result r = job({"-n", "2"}, "seq 200000");
  EXPECT_EQ(r.code, 0);
  EXPECT_EQ(r.out.size(), 1288895u);
  EXPECT_EQ(r.out, log(0));
  EXPECT_EQ(log(1), log(0));
}

TEST_F(Launch, GoesOnWithoutAReader) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  RunOptions o = options();
  o.in_child = [&] { dup2(ends[1], 1); };
  Program p(shell({"-n", "2"}, "seq 50000; echo done > done_$SINDRI_RANK"), o);
  close(ends[1]);
  close(ends[0]);
  EXPECT_EQ(p.wait(30).code, 0);
  EXPECT_TRUE(exists("done_0") && exists("done_1"));
  EXPECT_THAT(log(0), HasSubstr("\n50000\n"));
}

TEST_F(Launch, ExitCodeIsTheCauses) {
  // The 7s end first: these ranks learned of the failure.
  Result r = job({"-n", "4"}, "if [ $SINDRI_RANK = 2 ]; then sleep 0.3; seq 40; echo corrupt >&2; exit 3; fi; exit 7");
  EXPECT_EQ(r.code, 3);
  EXPECT_THAT(r.err, HasSubstr("rank 2 ("));
  EXPECT_THAT(r.err, HasSubstr("ended with exit code 3; the end of "));
  EXPECT_THAT(r.err, HasSubstr("rank_2.log:\n  | 22\n"));
  EXPECT_THAT(r.err, HasSubstr("  | 40\n  | corrupt\n"));
  EXPECT_THAT(r.err, Not(HasSubstr("  | 21\n"))) << "the last 20 lines";
  EXPECT_THAT(r.err, HasSubstr("the job ends with 3 because of rank 2"));
  EXPECT_EQ(job({"-n", "3"}, "exit 7").code, 7);
  EXPECT_EQ(job({"-n", "3"}, "if [ $SINDRI_RANK = 1 ]; then kill -9 $$; fi; sleep 0.3; exit 7").code, 137);
  EXPECT_EQ(job({"-n", "3"}, "if [ $SINDRI_RANK = 1 ]; then kill -SEGV $$; fi; exit 0").code, 139);
  EXPECT_EQ(job({"-n", "2"}, "exit $((4 * SINDRI_RANK))").code, 4);
  expect_nothing_left();
}

// A stopped rank does not learn of a failure: once it is the only one left, it is killed.
TEST_F(Launch, KillsAtOnceWhoIsStopped) {
  const double start = now();
  const Result r = job({"-n", "3"}, "[ $SINDRI_RANK = 1 ] && kill -STOP $$; sleep 0.5; exit 7");
  EXPECT_EQ(r.code, 7);
  EXPECT_LE(now() - start, 4);
  EXPECT_THAT(r.err, HasSubstr("rank 1 did not end: killed"));
  expect_nothing_left();
}

TEST_F(Launch, KillsTheOthersFiveSecondsBehindAFailure) {
  const double start = now();
  const Result r = job({"-n", "3"}, "[ $SINDRI_RANK = 1 ] && exit 3; trap '' TERM INT; while :; do sleep 60; done");
  EXPECT_EQ(r.code, 3);
  EXPECT_GE(now() - start, 4.9) << "they have time to learn of it";
  EXPECT_LE(now() - start, 10);
  EXPECT_THAT(r.err, HasSubstr("ranks 0, 2 did not end: killed"));
  expect_nothing_left(0.5);  // the sleeps too, which are not the launcher's children
}

TEST_F(Launch, PassesSignalsOn) {
  for (const int s : {SIGTERM, SIGINT}) {
    for (const char* name : {"ready_0", "ready_1"}) fs::remove(temp_.file(name));
    const std::string script = "trap 'echo got INT; exit 130' INT; trap 'echo got TERM; exit 143' TERM; : > ready_$SINDRI_RANK; while :; do sleep 0.05; done";
    Program p(shell({"-n", "2"}, script), options());
    ASSERT_TRUE(p.wait_until([&] { return exists("ready_0") && exists("ready_1"); }));
    p.signal(s);
    const Result r = p.wait(20);
    EXPECT_EQ(r.code, 128 + s) << r.err;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(log(i), s == SIGINT ? "got INT\n" : "got TERM\n");
    EXPECT_EQ(r.err, "") << "a requested stop is not a failure";
    expect_nothing_left();
  }
}

TEST_F(Launch, KillsRanksThatOutliveTheGrace) {
  Program p(shell({"-n", "2", "--term-grace", "0"}, "trap '' TERM; : > ready_$SINDRI_RANK; while :; do sleep 60; done"), options());
  ASSERT_TRUE(p.wait_until([&] { return exists("ready_0") && exists("ready_1"); }));
  p.signal(SIGTERM);
  EXPECT_EQ(p.wait(20).code, 143);
  expect_nothing_left();
}

TEST_F(Launch, KilledItselfLeavesNothing) {
  // Ranks that ignore every signal they can, with children that the kernel would not end.
  Program p(shell({"-n", "3"}, "trap '' TERM INT HUP; sleep 600 & : > ready_$SINDRI_RANK; while :; do sleep 300; done"), options());
  ASSERT_TRUE(p.wait_until([&] { return exists("ready_0") && exists("ready_1") && exists("ready_2"); }));
  EXPECT_GE(left().size(), 10u);  // launcher, keeper, ranks, their sleeps
  p.signal(SIGKILL);
  p.wait(5);
  expect_nothing_left();
}

TEST_F(Launch, NothingOutlivesASuccessEither) {
  EXPECT_EQ(job({"-n", "2"}, "sleep 600 > /dev/null 2>&1 & exit 0").code, 0);
  expect_nothing_left();
  EXPECT_EQ(job({"-n", "2"}, "sleep 600 & exit 0").code, 0) << "a child that holds the output open";
  expect_nothing_left();
}

TEST_F(Launch, StopsAtItsTimeout) {
  const Result r = job({"-n", "2", "--timeout", "0.5"}, "trap 'exit 143' TERM; while :; do sleep 0.05; done");
  EXPECT_EQ(r.code, 124);
  EXPECT_THAT(r.err, HasSubstr("has run for 0.5 s"));
  expect_nothing_left();
}

TEST_F(Launch, RestartsBehindSevenAndSignals) {
  const std::string script = "echo start ${SINDRI_RESTARTS:-0}; n=${SINDRI_RESTARTS:-0}; [ $n = 0 ] && exit 7; [ $n = 1 ] && kill -9 $$; exit 0";
  const Result r = job({"-n", "2", "--max-restarts", "3"}, script);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(log(1), "start 0\nstart 1\nstart 2\n");
  EXPECT_THAT(r.err, HasSubstr("restart 2 of 3"));
  EXPECT_EQ(job({"-n", "2", "--max-restarts", "1"}, "exit 7").code, 7);
  for (const char* code : {"2", "3", "4", "6", "143"}) {
    const Result once = job({"-n", "2", "--max-restarts", "3"}, std::string("echo once; exit ") + code);
    EXPECT_EQ(once.code, std::stoi(code));
    EXPECT_EQ(log(0), "once\n") << code;
  }
}

TEST_F(Launch, DoesNotRestartWhatWouldComeAgain) {
  for (const char* code : {"7003", "7005", "7008", "7009"}) {
    const Result once = job({"-n", "2", "--max-restarts", "3"}, std::string("echo once; echo ") + code + " > $SINDRI_RESULT_FILE; exit 7");
    EXPECT_EQ(once.code, 7);
    EXPECT_EQ(log(1), "once\n") << code;
    EXPECT_THAT(once.err, HasSubstr(std::string("not restarted: E") + code + " would occur again"));
    EXPECT_FALSE(exists("rank_logs/rank_0.log.code"));
  }
  for (const char* code : {"7001", "7002", "7006", "what"}) {
    const Result again =
        job({"-n", "1", "--max-restarts", "1"}, std::string("[ -n \"$SINDRI_RESTARTS\" ] && exit 0; echo ") + code + " > $SINDRI_RESULT_FILE; exit 7");
    EXPECT_EQ(again.code, 0) << code << again.err;
  }
  // The result code counts only for the attempt that wrote it, and only with exit code 7.
  const std::string script = "case ${SINDRI_RESTARTS-0} in 0) echo 7003 > $SINDRI_RESULT_FILE; kill -9 $$;; 1) exit 7;; *) exit 0;; esac";
  EXPECT_EQ(job({"-n", "1", "--max-restarts", "2"}, script).code, 0);
}

TEST_F(Launch, TheProgramSaysWhatWouldComeAgain) {
  const Result r = run({"run", "-n", "2", "--max-restarts", "2", "--", "sh", "-c",
                        "echo start; exec " + program_path() + " train --set dist.backend=gloo --set train.epochs=$((SINDRI_RANK + 1))"},
                       options());
  if (r.err.find("libsindri_gloo") != std::string::npos) GTEST_SKIP() << "no libsindri_gloo.so next to the program: it is built if Gloo is installed";
  EXPECT_EQ(r.code, 7) << r.err;
  EXPECT_THAT(r.err, HasSubstr("not restarted: E7003 would occur again"));
  EXPECT_THAT(r.err, Not(HasSubstr("restart 1")));
}

TEST_F(Launch, ARestartedTrainingResumes) {
  Result r = run({"run", "-n", "1", "--max-restarts", "1", "--", "sindri", "train"}, options());
  expect_error(r, 2, "E2020", {"--max-restarts needs a named run folder", "train.run_dir"});
  r = run({"run", "-n", "1", "--max-restarts", "1", "--", "sindri", "train", "--config", "no.yaml"}, options());
  EXPECT_EQ(r.code, 2);
  EXPECT_THAT(r.err, HasSubstr("error[E2010] the settings file does not exist")) << "the training program reports this";
  // A program named sindri that prints its arguments.
  std::ofstream(temp_.file("sindri")) << "#!/bin/sh\necho \"$@\"\n[ -n \"$SINDRI_RESTARTS\" ] || exit 7\n";
  fs::permissions(temp_.file("sindri"), fs::perms::owner_all);
  r = run({"run", "-n", "2", "--max-restarts", "1", "--", "./sindri", "train", "--set", "train.run_dir=a b"}, options());
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "train --set train.run_dir=a b\ntrain --set train.run_dir=a b --resume\n");
  EXPECT_EQ(log(1), r.out);
}

TEST_F(Launch, GivesEachRankItsFolder) {
  const Result r = job({"-n", "2", "--work-dir", "train_parallel{local}", "--log-file", "log.txt", "--env-file", "env.log"}, "pwd; : > mine");
  EXPECT_EQ(r.code, 0) << r.err;
  for (int i = 0; i < 2; ++i) {
    const std::string folder = "train_parallel" + std::to_string(i);
    EXPECT_EQ(read_text(temp_.file(folder + "/log.txt")), fs::canonical(temp_.file(folder)).string() + "\n");
    EXPECT_TRUE(exists(folder + "/mine"));
    const std::string environment = read_text(temp_.file(folder + "/env.log"));
    EXPECT_THAT(environment, HasSubstr("SINDRI_RANK=" + std::to_string(i) + "\n"));
    EXPECT_THAT(environment, Not(HasSubstr("SINDRI_JOB_TOKEN"))) << "a secret must not be written to a file";
  }
  expect_error(job({"-n", "2", "--log-file", "log.txt"}, "true"), 2, "E2020", {"would write to one log file"});
}

TEST_F(Launch, StartsTheShareOfATable) {
  const std::string file = table(2, 2);
  const Result r =
      job({"--rank-table", file}, "echo $SINDRI_RANK $SINDRI_WORLD_SIZE $SINDRI_LOCAL_RANK $SINDRI_LOCAL_SIZE $SINDRI_MASTER $DEVICE_ID $RANK_TABLE_FILE");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(log(0), "0 4 0 2 127.0.0.1:29560 4 " + file + "\n");
  EXPECT_EQ(log(1), "1 4 1 2 127.0.0.1:29560 5 " + file + "\n");
  EXPECT_FALSE(exists("rank_logs/rank_2.log"));
  const Result second = job({}, "echo $SINDRI_RANK $SINDRI_LOCAL_RANK $SINDRI_MASTER ${SINDRI_JOB_TOKEN-none}",
                            {{"RANK_TABLE_FILE", file}, {"SERVER_ID", "1"}, {"DEVICE_NUM", "2"}});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(log(3), "3 1 127.0.0.1:29560 none\n") << "hosts that are started separately have no common random secret";
  EXPECT_EQ(second.out, log(2)) << "the first rank of the host is shown";
}

TEST_F(Launch, ServersMayHaveIPv6Addresses) {
  const Result r = job({"--rank-table", table(2, 1, "::1")}, "echo $SINDRI_MASTER", {{"SERVER_ID", "0"}});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "[::1]:29560\n");
}

TEST_F(Launch, RefusesOtherNumbersThanTheTables) {
  const std::string four = table(1, 4);
  expect_error(job({"-n", "8", "--rank-table", four}, "true"), 2, "E2212", {"RT12 -n 8 but the table has 4 devices", four});
  expect_error(job({"-n", "8"}, "true", {{"RANK_TABLE_FILE", four}}), 2, "E2212", {"RT12 -n 8 but the table has 4 devices"});
  expect_error(job({}, "true", {{"RANK_TABLE_FILE", four}, {"RANK_SIZE", "8"}}), 2, "E2212", {"RT12 RANK_SIZE=8 but the table has 4 devices"});
  expect_error(job({}, "true", {{"RANK_TABLE_FILE", four}, {"DEVICE_NUM", "8"}}), 2, "E2212", {"RT12 DEVICE_NUM=8 but the table has 4 devices on server 0"});
  expect_error(job({}, "true", {{"RANK_TABLE_FILE", four}, {"SERVER_ID", "1"}}), 2, "E2213", {"RT13 SERVER_ID=1 not in the table (0..0)"});
  expect_error(job({"--rank-table", table(2, 2, "10.98.0.1")}, "true"), 2, "E2213",
               {"RT13 this host has none of the addresses 10.98.0.1, 10.99.0.1", "SERVER_ID"});
  expect_error(job({"--rank-table", "/no/table.json"}, "true"), 2, "E2010", {"/no/table.json"});
  EXPECT_FALSE(exists("rank_logs")) << "before anything starts";
}

TEST_F(Launch, WarnsOfASingleServerThatIsElsewhere) {
  const Result r = job({"--rank-table", table(1, 2, "10.98.0.1")}, "echo $SINDRI_MASTER");
  EXPECT_EQ(r.code, 0);
  EXPECT_THAT(r.err, HasSubstr("warning: RT13 this host does not have the address 10.98.0.1"));
  EXPECT_THAT(r.out, StartsWith("127.0.0.1:"));
}

TEST_F(Launch, RefusesBadRequests) {
  const auto refused = [&](std::vector<std::string> arguments, const std::string& number, const std::string& text) {
    arguments.insert(arguments.begin(), "run");
    expect_error(run(arguments, options()), 2, number, {text});
  };
  refused({"-n", "2"}, "E2020", "no program to run");
  refused({"-n", "2", "--", "no-such-program"}, "E2020", "cannot start no-such-program: No such file or directory");
  refused({"-n", "0", "--", "true"}, "E2020", "-n");
  refused({"-n", "2", "sindri", "train", "--config", "a.yaml"}, "E2020", "the program to run must follow --");
  refused({"-n", "2", "--work-dir", "part{rnk}", "--", "true"}, "E2020", "{rnk} is not a placeholder");
  refused({"-n", "2", "--engine", "ray", "--", "true"}, "E2020", "--engine");
  refused({"-n", "2", "--engine", "slurm", "--", "true"}, "E2020", "not inside a Slurm allocation");
  refused({"-n", "2", "--engine", "local", "--hosts", "a:2", "--", "true"}, "E2020", "this host only");
  refused({"-n", "3", "--hosts", "a:2,b:2", "--", "true"}, "E2020", "-n asks for 3 ranks, but the hosts have 4 slots");
  refused({"--hosts", "a:2,b:x", "--", "true"}, "E2020", "\"b:x\" is not HOST or HOST:SLOTS");
  refused({"--hosts", "a:2,a:2", "--", "true"}, "E2020", "a is named twice");
  refused({"--hosts", "a:2", "--rank-table", table(1, 2), "--", "true"}, "E2020", "hosts are given twice");
  refused({"--engine", "mpi", "--rank-table", table(1, 2), "--", "true"}, "E2020", "cannot be used with --engine mpi");
  expect_nothing_left();
}

TEST_F(Launch, DryRunPrintsTheCommandsAndStartsNothing) {
  const Result r = job({"-n", "2", "--dry-run", "--work-dir", "d{local}", "--log-file", "log.txt"}, "echo $SINDRI_RANK > ran");
  EXPECT_EQ(r.code, 0);
  EXPECT_THAT(r.out, HasSubstr("# rank 1 of 2, log "));
  EXPECT_THAT(r.out, HasSubstr("/d1 && "));
  EXPECT_THAT(r.out, HasSubstr("/d1/log.txt.code SINDRI_WORLD_SIZE=2 sh -c 'echo $SINDRI_RANK > ran'\n"));
  EXPECT_THAT(r.out, HasSubstr(" SINDRI_RANK=1 SINDRI_RESULT_FILE=/"));
  EXPECT_THAT(r.out, HasSubstr("SINDRI_JOB_TOKEN=(secret)"));
  EXPECT_FALSE(exists("d0"));
  EXPECT_FALSE(exists("rank_logs"));
}

TEST_F(Launch, BindsToCoresWhereThereAreEnough) {
  const int cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const Result fits = job({"-n", std::to_string(std::min(cores, 2)), "--bind", "core"}, "grep Cpus_allowed_list /proc/self/status");
  EXPECT_EQ(fits.code, 0);
  if (cores >= 2) { EXPECT_NE(log(0), log(1)); }
  const Result crowded = job({"-n", std::to_string(cores + 1), "--bind", "core"}, "grep Cpus_allowed_list /proc/self/status");
  EXPECT_THAT(crowded.err, HasSubstr("ranks are not bound to cores"));
  EXPECT_EQ(log(0), log(cores));
}

// --- with real training runs

std::vector<std::string> training(const std::string& config, const std::string& run_dir, int epochs) {
  return {"--",       "sindri",
          "train",    "--quiet",
          "--config", std::string(SINDRI_SOURCE_DIR) + "/configs/" + config,
          "--set",    "train.epochs=" + std::to_string(epochs),
          "--set",    "train.run_dir=" + run_dir};
}

class Training : public Launch {
 protected:
  Program start(std::vector<std::string> flags, int epochs) const {
    flags.insert(flags.begin(), "run");
    for (const std::string& word : training("digits.yaml", temp_.file("run"), epochs)) flags.push_back(word);
    return Program(flags, options({{"SINDRI_TUNE", "0"}}));
  }
  // The process of a rank.
  pid_t rank(int r) const {
    for (const pid_t p : left()) {
      if (read_text("/proc/" + std::to_string(p) + "/environ").find(std::string(1, '\0') + "SINDRI_RANK=" + std::to_string(r) + '\0') != std::string::npos)
        return p;
    }
    ADD_FAILURE() << "no rank " << r;
    return -1;
  }
  // Waits until steps are trained and, if `checkpoints` is set, at least that many checkpoints exist.
  bool is_training(size_t checkpoints) const {
    if (!exists("run/metrics.jsonl") || last_step(temp_.file("run")) < 2) return false;
    size_t n = 0;
    for (const auto& entry : fs::directory_iterator(temp_.file("run/checkpoints"))) n += entry.path().extension() == ".ckpt" && !entry.is_symlink() ? 1 : 0;
    return n >= checkpoints;
  }
};

TEST_F(Training, SigtermToOneRankStopsAllAndSaves) {
  Program p = start({"-n", "4"}, 100000);
  ASSERT_TRUE(p.wait_until([&] { return is_training(0); }));
  kill(rank(2), SIGTERM);
  const Result r = p.wait(40);
  EXPECT_EQ(r.code, 143) << r.err;
  EXPECT_THAT(r.out, HasSubstr("resume with: "));
  EXPECT_TRUE(exists("run/resume.json"));
  EXPECT_THAT(r.err, Not(HasSubstr("sindri run: "))) << "a stop is not a failure";
  EXPECT_GE(checkpoints(temp_.file("run")).size(), 1u);
  expect_nothing_left();
}

TEST_F(Training, GoesOnFromItsCheckpointWhenARankIsKilled) {
  Program p = start({"-n", "4", "--max-restarts", "1"}, 12);
  ASSERT_TRUE(p.wait_until([&] { return is_training(2); }));
  kill(rank(1), SIGKILL);
  const Result r = p.wait(60);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("was ended by signal 9 (Killed)"));
  EXPECT_THAT(r.err, HasSubstr("restart 1 of 1"));
  EXPECT_THAT(r.out, HasSubstr("resuming from "));
  EXPECT_THAT(r.out, HasSubstr("epoch 12/12: "));
  expect_nothing_left();
}

TEST_F(Training, ARankKilledEndsAllWithItsCode) {
  Program p = start({"-n", "4"}, 100000);
  ASSERT_TRUE(p.wait_until([&] { return is_training(0); }));
  kill(rank(1), SIGKILL);
  const double start = now();
  const Result r = p.wait(40);
  EXPECT_LE(now() - start, 8);
  EXPECT_EQ(r.code, 137) << r.err;
  EXPECT_THAT(r.err, HasSubstr("sindri run: rank 1 ("));
  EXPECT_THAT(log(2), HasSubstr("E7001")) << "the others report why they end";
  expect_nothing_left();
}

TEST_F(Training, BadDataOfOneRankIsTheJobsCode) {
  // A relative path that leads to data only from one rank's folder.
  make_jpeg_data(temp_.file("d0/data"));
  std::vector<std::string> words = {"run", "-n", "2", "--work-dir", "d{rank}", "--log-file", "log.txt"};
  for (const std::string& word : training("resnet20_cifar10.yaml", temp_.file("run"), 1)) words.push_back(word);
  words.insert(words.end(), {"--set", "data.path=data", "--set", "train.batch_size=4"});
  const Result r = run(words, options());
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_THAT(r.err, HasSubstr("the job ends with 3 because of rank 1"));
  EXPECT_FALSE(exists("run"));
  expect_nothing_left();
}

TEST_F(Training, WrongLaunchesEndBeforeTheFirstStep) {
  const auto train = [&](std::map<std::string, std::string> environment) {
    std::vector<std::string> words = training("digits.yaml", temp_.file("run"), 1);
    words.erase(words.begin(), words.begin() + 2);
    return run(words, options(std::move(environment)));
  };
  const std::string eight = table(1, 8);
  expect_error(train({{"RANK_TABLE_FILE", eight}, {"RANK_ID", "0"}, {"RANK_SIZE", "4"}}), 2, "E2212", {"RT12 RANK_SIZE=4 but the table has 8 devices"});
  expect_error(train({{"RANK_TABLE_FILE", eight}, {"RANK_ID", "0"}, {"DEVICE_NUM", "4"}}), 2, "E2212", {"RT12 DEVICE_NUM=4 but the table has 8 devices"});
  expect_error(train({{"RANK_TABLE_FILE", eight}, {"RANK_ID", "9"}}), 2, "E2213", {"RT13 RANK_ID=9 not in the table (0..7)"});
  expect_error(train({{"RANK_TABLE_FILE", eight}, {"RANK_ID", "3"}, {"DEVICE_ID", "4"}}), 2, "E2214",
               {"RT14 DEVICE_ID=4 does not belong to rank 3 (table: 7)"});
  expect_error(train({{"RANK_TABLE_FILE", eight}}), 7, "E7008", {"RANK_ID"});
  expect_error(train({{"RANK_TABLE_FILE", eight}, {"RANK_ID", "1"}, {"RANK", "2"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "127.0.0.1"}}), 2, "E2010",
               {"RANK_ID=1", "RANK=2"});
  EXPECT_FALSE(exists("run"));
}

// --- mpirun

bool have_mpirun() { return std::system("command -v mpirun > /dev/null 2>&1") == 0; }

TEST_F(Launch, MpirunLine) {
  if (!have_mpirun()) GTEST_SKIP() << "no mpirun";
  const Result r = job({"--hosts", "a:4,b:4", "--interface", "10.0.0.0/24", "--dry-run"}, "true");
  EXPECT_EQ(r.code, 0) << r.err;
  for (const char* part : {"mpirun -np 8 --host a:4,b:4 --oversubscribe --bind-to none --mca pml ob1 --mca btl self,vader,tcp ",
                           "--mca oob_tcp_keepalive_time 3 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 3 ",
                           "--mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24 ", "-x SINDRI_JOB_TOKEN"})
    EXPECT_THAT(r.out, HasSubstr(part));
  EXPECT_EQ(r.out.find("--allow-run-as-root") != std::string::npos, geteuid() == 0);
}

TEST_F(Launch, RunsRanksByMpirun) {
  if (!have_mpirun()) GTEST_SKIP() << "no mpirun";
  Result r = job({"-n", "2", "--engine", "mpi"}, "echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "rank 0 of 2\n");
  EXPECT_EQ(log(1), "rank 1 of 2\n");
  // The rank that caused the failure ends last.
  r = job({"-n", "3", "--engine", "mpi"}, "[ $OMPI_COMM_WORLD_RANK = 1 ] || exit 7; sleep 0.3; echo corrupt; exit 3");
  EXPECT_EQ(r.code, 3) << r.err;
  EXPECT_THAT(r.err, HasSubstr("  | corrupt\n"));
  r = job({"-n", "2", "--engine", "mpi"}, "[ $OMPI_COMM_WORLD_RANK = 1 ] && kill -9 $$; sleep 60");
  EXPECT_EQ(r.code, 137) << r.err;
  expect_nothing_left();
}

TEST_F(Training, TrainsByMpirun) {
  if (!have_mpirun()) GTEST_SKIP() << "no mpirun";
  Program p = start({"-n", "2", "--engine", "mpi"}, 1);
  const Result r = p.wait(60);
  EXPECT_EQ(r.code, 0) << r.err << r.out;
  EXPECT_THAT(r.out, HasSubstr("2 ranks on 1 host (mpi)"));
  EXPECT_EQ(checkpoints(temp_.file("run")).size(), 1u);
  expect_nothing_left();
}

TEST_F(Launch, MpirunKilledWithTheLauncherLeavesNothing) {
  if (!have_mpirun()) GTEST_SKIP() << "no mpirun";
  Program p(shell({"-n", "2", "--engine", "mpi"}, "trap '' TERM; : > ready_$OMPI_COMM_WORLD_RANK; while :; do sleep 300; done"), options());
  ASSERT_TRUE(p.wait_until([&] { return exists("ready_0") && exists("ready_1"); }));
  p.signal(SIGKILL);
  p.wait(5);
  expect_nothing_left(4);
}

// Open MPI's shared memory and session folder, after mpirun or the launcher is killed.
TEST_F(Training, AKilledMpirunLeavesNoSharedMemory) {
  if (!have_mpirun()) GTEST_SKIP() << "no mpirun";
  const auto folders = [](pid_t launcher) {
    std::vector<std::string> found;
    for (const std::string& above : {std::string("/dev/shm"), fs::temp_directory_path().string()}) {
      const std::string folder = above + "/sindri-mpi." + std::to_string(launcher);
      if (fs::exists(folder)) found.push_back(folder);
    }
    return found;
  };
  for (const bool launcher_too : {false, true}) {
    SCOPED_TRACE(launcher_too);
    fs::remove_all(temp_.file("run"));
    Program p = start({"-n", "2", "--engine", "mpi"}, 100000);
    const pid_t launcher = p.pid();
    ASSERT_TRUE(p.wait_until([&] { return is_training(0); }));
    const std::vector<std::string> used = folders(launcher);
    ASSERT_EQ(used.size(), 2u);
    for (const std::string& folder : used) EXPECT_FALSE(fs::is_empty(folder)) << folder;
    if (launcher_too) {
      p.signal(SIGKILL);
    } else {
      std::istringstream children(read_text("/proc/" + std::to_string(launcher) + "/task/" + std::to_string(launcher) + "/children"));
      bool killed = false;
      for (pid_t child = 0; children >> child;)  // mpirun cleans up if the launcher is killed, so only mpirun is killed here
        if (read_text("/proc/" + std::to_string(child) + "/comm") == "mpirun\n") killed = kill(child, SIGKILL) == 0;
      ASSERT_TRUE(killed);
    }
    EXPECT_NE(p.wait(30).code, 0);
    expect_nothing_left(6);
    if (launcher_too) {
      EXPECT_EQ(job({"-n", "1", "--engine", "mpi"}, "true").code, 0);  // the next launcher removes them
    }
    EXPECT_THAT(folders(launcher), testing::IsEmpty());
  }
}

TEST_F(Launch, MpirunRanksHaveTimeToSave) {
  if (!have_mpirun()) GTEST_SKIP() << "no mpirun";
  // mpirun itself would kill them a second after SIGTERM.
  Program p(shell({"-n", "2", "--engine", "mpi"}, "trap 'sleep 2; echo saved; exit 143' USR1; : > ready_$OMPI_COMM_WORLD_RANK; while :; do sleep 0.05; done"),
            options());
  ASSERT_TRUE(p.wait_until([&] { return exists("ready_0") && exists("ready_1"); }));
  p.signal(SIGTERM);
  const Result r = p.wait(30);
  EXPECT_EQ(r.code, 143) << r.err;
  EXPECT_EQ(log(0), "saved\n");
  EXPECT_EQ(log(1), "saved\n");
  expect_nothing_left();
}

// The signal, which only the launcher knows, appears in the other ranks' messages.
TEST_F(Launch, ASignalIsToldToTheOtherRanks) {
  const std::string script = "[ $SINDRI_RANK = 1 ] && { (sleep 3; kill -9 $$) & }; exec " + program_path() +
      " comm-bench --set dist.backend=gloo --ops all_reduce --sizes 1k --rounds 100000 --no-store";
  const Result r = job({"-n", "3"}, script, {{"SINDRI_COMM_LOG_DIR", temp_.path()}});
  EXPECT_EQ(r.code, 137) << r.err;
  for (const int rank : {0, 2}) {
    EXPECT_THAT(log(rank), HasSubstr("error[E7001] rank 1 ("));
    EXPECT_THAT(log(rank), HasSubstr(") died, signal 9\n"));
  }
  EXPECT_TRUE(left().empty());
  const Result trace = run({"comm-trace", temp_.path()}, options());
  EXPECT_EQ(trace.code, 0) << trace.err;
  EXPECT_THAT(trace.out, HasSubstr("call logs of 2 of 3 ranks"));
  EXPECT_THAT(trace.out, HasSubstr("no log of rank 1"));
  const Result none = run({"comm-trace", temp_.path() + "/nothing"}, options());
  EXPECT_EQ(none.code, 5);
  EXPECT_THAT(none.err, HasSubstr("error[E5001] the folder"));
}

}  // namespace
}  // namespace sindri::app::launch_test
