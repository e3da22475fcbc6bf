// The mpi backend: mpirun jobs whose ranks run the cases of mpi_ranks_test.cc. One machine; SINDRI_TEST_HOSTS divides its ranks into hosts.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "tests/train/temp_folder.h"

namespace sindri::comm::mpi_test {
namespace {

using Environment = std::map<std::string, std::string>;

struct Job {
  int code = -1;
  double seconds = 0;
  std::string output;
};

bool mpirun_is_there() {
  std::istringstream path(getenv("PATH") != nullptr ? getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');)
    if (access((folder + "/mpirun").c_str(), X_OK) == 0) return true;
  return false;
}

// Processes whose environment has this mark: ranks of this test's jobs.
std::vector<pid_t> marked(const std::string& mark) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "environ", std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    if (text.str().find(mark) != std::string::npos && std::stoi(name) != getpid()) found.push_back(std::stoi(name));
  }
  return found;
}

// The mpirun command of docs/guide/distributed.md with this test program's `cases`.
Job run_ranks_by_mpirun(int ranks, const std::string& cases, const Environment& environment = {}, double limit = 60) {
  static int number = 0;
  const TempFolder folder, memory(TempFolder::kMemory);  // memory: where Open MPI keeps memory shared between ranks, by default /dev/shm itself
  const std::string mark = "SINDRI_TEST_JOB=" + std::to_string(getpid()) + "." + std::to_string(++number) + ".";
  const std::string program = std::filesystem::canonical("/proc/self/exe");
  const std::string filter = "--gtest_filter=" + cases, output = folder.file("output"), number_of_ranks = std::to_string(ranks);
  std::vector<std::string> words = {"mpirun",
                                    "-np",
                                    number_of_ranks,
                                    "--oversubscribe",
                                    "--allow-run-as-root",
                                    "--bind-to",
                                    "none",
                                    "--mca",
                                    "pml",
                                    "ob1",
                                    "--mca",
                                    "btl",
                                    "self,vader,tcp",
                                    "--mca",
                                    "oob_tcp_keepalive_time",
                                    "3",
                                    "--mca",
                                    "oob_tcp_keepalive_intvl",
                                    "1",
                                    "--mca",
                                    "oob_tcp_keepalive_probes",
                                    "3",
                                    program,
                                    "--gtest_also_run_disabled_tests",
                                    filter};
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const pid_t pid = fork();
  if (pid == 0) {
    const int out = open(output.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    dup2(out, 1);
    dup2(out, 2);
    for (const char* const name : {"GTEST_OUTPUT", "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_FILTER"}) unsetenv(name);
    putenv(const_cast<char*>(mark.c_str()));
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("OMPI_MCA_btl_vader_backing_directory", memory.path().c_str(), 1);
    setenv("OMPI_MCA_osc_sm_backing_directory", memory.path().c_str(), 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // Open MPI itself leaks
    setenv("SINDRI_COMM_LOG_DIR", folder.path().c_str(), 1);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    execvp("mpirun", arguments.data());
    _exit(127);
  }
  Job job;
  int status = 0;
  bool stopped = false;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (seconds() > limit && !stopped) {
      stopped = true;
      kill(pid, SIGTERM);  // which ends the ranks
    }
    if (seconds() > limit + 5) kill(pid, SIGKILL);
  }
  job.seconds = seconds();
  job.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::stringstream text;
  text << std::ifstream(output).rdbuf();
  job.output = text.str();
  EXPECT_FALSE(stopped) << "stopped after " << limit << " s\n" << job.output;
  const std::vector<pid_t> left = marked(mark);
  EXPECT_TRUE(left.empty()) << left.size() << " processes remain";
  for (const pid_t p : left) kill(p, SIGKILL);
  EXPECT_TRUE(std::filesystem::is_empty(memory.path())) << "shared memory remains: " << std::filesystem::directory_iterator(memory.path())->path();
  return job;
}

size_t count(const std::string& text, const std::string& word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

void expect_passed(const Job& job, int ranks) {
  EXPECT_EQ(job.code, 0) << job.output;
  EXPECT_EQ(count(job.output, "[  PASSED  ]"), static_cast<size_t>(ranks)) << job.output;
}

class MpiTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!mpirun_is_there()) GTEST_SKIP() << "no mpirun on this machine (Debian: openmpi-bin)";
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "MPI's libraries are not built for ThreadSanitizer";
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
    GTEST_SKIP() << "MPI's libraries are not built for ThreadSanitizer";
#endif
#endif
  }
};

constexpr const char* kAll = "DISABLED_MpiRanks.*-*OtherCall:*LateRank:*Killed:*WholeMatrix:*TwoHundredRandomSequences";
// Without the cases that do not depend on the number of ranks.
constexpr const char* kCalls = "DISABLED_MpiRanks.*-*OtherCall:*LateRank:*Killed:*WholeMatrix:*TwoHundredRandomSequences:*Benchmark";

struct Layout {
  int ranks;
  std::string hosts;  // SINDRI_TEST_HOSTS
  int host_count;
};

class MpiLayout : public MpiTest, public testing::WithParamInterface<Layout> {};

TEST_P(MpiLayout, AllCalls) {
  const Layout& layout = GetParam();
  Environment environment = {{"SINDRI_TEST_HOST_COUNT", std::to_string(layout.host_count)}};
  if (!layout.hosts.empty()) environment["SINDRI_TEST_HOSTS"] = layout.hosts;
  expect_passed(run_ranks_by_mpirun(layout.ranks, layout.ranks == 4 ? kAll : kCalls, environment), layout.ranks);
}

INSTANTIATE_TEST_SUITE_P(OneHost, MpiLayout,
                         testing::Values(Layout{1, "", 1}, Layout{2, "", 1}, Layout{3, "", 1}, Layout{4, "", 1}, Layout{7, "", 1}, Layout{8, "", 1}),
                         [](const auto& layout) { return std::to_string(layout.param.ranks); });
// Equal powers of two, one rank per host, other numbers, interleaved ranks.
INSTANTIATE_TEST_SUITE_P(SeveralHosts, MpiLayout,
                         testing::Values(Layout{4, "0,0,1,1", 2}, Layout{8, "0,0,1,1,2,2,3,3", 4}, Layout{8, "0,0,0,0,1,1,1,1", 2}, Layout{3, "0,1,2", 3},
                                         Layout{8, "0,1,2,3,4,5,6,7", 8}, Layout{4, "0,0,0,1", 2}, Layout{4, "0,1,0,1", 2}),
                         [](const auto& layout) {
                           std::string name = layout.param.hosts;
                           std::erase(name, ',');
                           return "of" + name;
                         });

// Disabled: takes minutes on two cores; docs/benchmarks.md has the command and the result.
class MpiMatrix : public MpiLayout {};

TEST_P(MpiMatrix, DISABLED_AllCalls) {
  const Layout& layout = GetParam();
  Environment environment = {{"SINDRI_TEST_HOST_COUNT", std::to_string(layout.host_count)}};
  if (!layout.hosts.empty()) environment["SINDRI_TEST_HOSTS"] = layout.hosts;
  expect_passed(run_ranks_by_mpirun(layout.ranks, "DISABLED_MpiRanks.WholeMatrix", environment, 300), layout.ranks);
}

// Shared memory; a host for each rank; 2x2, 4x2 and 2x4 ranks, and 16 on 2 and 4 hosts.
INSTANTIATE_TEST_SUITE_P(OneHost, MpiMatrix,
                         testing::Values(Layout{1, "", 1}, Layout{2, "", 1}, Layout{3, "", 1}, Layout{4, "", 1}, Layout{7, "", 1}, Layout{8, "", 1},
                                         Layout{16, "", 1}),
                         [](const auto& layout) { return std::to_string(layout.param.ranks); });
INSTANTIATE_TEST_SUITE_P(SeveralHosts, MpiMatrix,
                         testing::Values(Layout{2, "0,1", 2}, Layout{3, "0,1,2", 3}, Layout{4, "0,1,2,3", 4}, Layout{7, "0,1,2,3,4,5,6", 7},
                                         Layout{8, "0,1,2,3,4,5,6,7", 8}, Layout{16, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", 16}, Layout{4, "0,0,1,1", 2},
                                         Layout{8, "0,0,1,1,2,2,3,3", 4}, Layout{8, "0,0,0,0,1,1,1,1", 2}, Layout{16, "0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1", 2},
                                         Layout{16, "0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3", 4}),
                         [](const auto& layout) { return std::to_string(layout.param.ranks) + "on" + std::to_string(layout.param.host_count); });

TEST_F(MpiTest, DISABLED_TwoHundredRandomSequences) {
  for (const auto& [ranks, hosts] : std::vector<std::pair<int, std::string>>{{4, ""}, {6, "0,0,1,1,2,2"}, {16, "0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1"}}) {
    Environment environment = {{"SINDRI_TEST_HOSTS", hosts}};
    if (hosts.empty()) environment.clear();
    expect_passed(run_ranks_by_mpirun(ranks, "DISABLED_MpiRanks.TwoHundredRandomSequences", environment, 300), ranks);
  }
}

TEST_F(MpiTest, OtherCallsEndTheJobOnAllRanks) {
  const Job job = run_ranks_by_mpirun(3, "*MpiRanks.OtherCall", {}, 20);
  EXPECT_EQ(count(job.output, "heard 7003"), 3U) << job.output;
  EXPECT_EQ(count(job.output, "Failure"), 0U) << job.output;
}

TEST_F(MpiTest, ARankThatDoesNotComeIsNamed) {
  const Job job = run_ranks_by_mpirun(2, "*MpiRanks.LateRank", {{"SINDRI_TEST_OP_TIMEOUT", "1"}}, 20);
  EXPECT_EQ(count(job.output, "heard 7002"), 1U) << job.output;
  EXPECT_EQ(count(job.output, "Failure"), 0U) << job.output;
  EXPECT_LT(job.seconds, 10);
}

// Within a host and between hosts: the job ends within two seconds after the rank does, with the launcher's code for the signal, and nothing remains.
TEST_F(MpiTest, AKilledRankEndsTheJob) {
  for (const std::string hosts : {"", "0,0,1,1"}) {
    Environment environment = {{"SINDRI_TEST_VICTIM", hosts.empty() ? "1" : "2"}};
    if (!hosts.empty()) environment["SINDRI_TEST_HOSTS"] = hosts;
    const Job job = run_ranks_by_mpirun(4, "*MpiRanks.Killed", environment, 20);
    EXPECT_NE(job.code, 0);
    EXPECT_NE(job.output.find("the victim dies"), std::string::npos) << job.output;
    EXPECT_EQ(count(job.output, "Failure"), 0U) << job.output;
    EXPECT_LT(job.seconds, 8) << job.output;
  }
}

}  // namespace
}  // namespace sindri::comm::mpi_test
