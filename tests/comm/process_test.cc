// Ranks that are processes: this program starts itself again with the environment of a rank, and each runs DISABLED_Rank.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "sindri/core/error.h"
#include "src/comm/session.h"
#include "tests/comm/collectives.h"

namespace sindri::comm {
namespace {

// Exit codes with which a rank reports its observation to the parent; others are the program's.
constexpr int kSawRight = 42;

TEST(CommProcesses, DISABLED_Rank) {
  const char* const part = std::getenv("SINDRI_TEST_PART");
  ASSERT_NE(part, nullptr);
  Options options;
  options.init_timeout = 20;
  options.backend = "gloo";
  Communicator& w = init(options);
  EXPECT_STREQ(w.backend(), "gloo");
  EXPECT_EQ(w.local_size(), w.size());
  if (std::string(part) == "matrix") {
    check_collectives(w, {DType::kFloat32, DType::kFloat16}, {0, 1, 1023, 16385});
    check_random_calls(w, 5, 20);
    finalize();
    EXPECT_EQ(world().size(), 1);
    if (!testing::Test::HasFailure()) std::_Exit(kSawRight);
    return;
  }
  w.barrier({"start"});
  if (std::string(part) == "kill" && w.rank() == 1) std::raise(SIGKILL);
  if (std::string(part) == "abort" && w.rank() == 1) abort("no space left on device", ErrorCode::kRankData);
  try {
    for (;;) w.barrier({"turn"});
  } catch (const CommError& e) {
    const std::string text = e.what();
    const bool right = std::string(part) == "kill" ? e.code() == ErrorCode::kPeerLost && text.find("rank 1") != std::string::npos
                                                   : e.code() == ErrorCode::kRankData && text.find("no space left on device") != std::string::npos;
    if (!right) std::fprintf(stderr, "rank %d: %s\n", w.rank(), text.c_str());
    std::_Exit(right ? kSawRight : 1);
  }
}

int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(fd);
  return ntohs(address.sin_port);
}

// Exit statuses of the ranks from waitpid; all have ended when it returns.
std::vector<int> run_processes(int size, const std::string& part, double limit) {
  const std::string master = "SINDRI_MASTER=127.0.0.1:" + std::to_string(free_port());
  std::vector<pid_t> children;
  for (int r = 0; r < size; ++r) {
    std::vector<std::string> variables = {master,
                                          "SINDRI_RANK=" + std::to_string(r),
                                          "SINDRI_WORLD_SIZE=" + std::to_string(size),
                                          "SINDRI_LOCAL_RANK=" + std::to_string(r),
                                          "SINDRI_LOCAL_SIZE=" + std::to_string(size),
                                          "SINDRI_TEST_PART=" + part};
    for (char** v = environ; *v != nullptr; ++v) {
      const std::string variable = *v;
      if (variable.rfind("GTEST_", 0) != 0 && variable.rfind("SINDRI_", 0) != 0) variables.push_back(variable);
    }
    std::vector<std::string> arguments = {"/proc/self/exe", "--gtest_filter=CommProcesses.DISABLED_Rank", "--gtest_also_run_disabled_tests", "--gtest_brief=1"};
    std::vector<char*> argv, envp;
    for (std::string& a : arguments) argv.push_back(a.data());
    for (std::string& v : variables) envp.push_back(v.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    pid_t pid = -1;
    EXPECT_EQ(posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(), envp.data()), 0);
    children.push_back(pid);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit);
  std::vector<int> statuses(children.size(), -1);
  for (size_t open = children.size(); open > 0;) {
    for (size_t i = 0; i < children.size(); ++i) {
      if (children[i] < 0 || waitpid(children[i], &statuses[i], WNOHANG) == 0) continue;
      children[i] = -1;
      --open;
    }
    if (std::chrono::steady_clock::now() > end) {
      for (const pid_t pid : children)
        if (pid >= 0) kill(pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return statuses;
}

TEST(CommProcesses, EveryCall) {
  for (const int status : run_processes(3, "matrix", 40)) EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kSawRight) << status;
}

TEST(CommProcesses, AKilledRankIsSaidByAll) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<int> statuses = run_processes(3, "kill", 30);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
  EXPECT_TRUE(WIFSIGNALED(statuses[1]) && WTERMSIG(statuses[1]) == SIGKILL);
  for (const int r : {0, 2})
    EXPECT_TRUE(WIFEXITED(statuses[static_cast<size_t>(r)]) && WEXITSTATUS(statuses[static_cast<size_t>(r)]) == kSawRight)
        << r << " status " << statuses[static_cast<size_t>(r)];
}

TEST(CommProcesses, AnAbortIsSaidByAll) {
  for (const int status : run_processes(3, "abort", 30)) EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kSawRight) << status;
}

}  // namespace
}  // namespace sindri::comm
