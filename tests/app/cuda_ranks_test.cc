// Ranks on the CUDA backend's host run, one device each, joined by its stand-in for NCCL (tests/cuda_host/nccl.cc). The tests cover runs of two ranks as
// `sindri run` starts them, the device that each rank uses, and the effect of a rank that dies or a communicator that fails.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <iterator>

#include "tests/app/cuda_host.h"

namespace sindri::app::cuda_ranks_tests {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class CudaRanks : public Cuda {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    if (!std::filesystem::exists(std::filesystem::path(program_path()).parent_path() / "libsindri_gloo.so") &&
        !std::filesystem::exists(std::filesystem::path(program_path()).parent_path() / "../lib/libsindri_gloo.so"))
      GTEST_SKIP() << "no libsindri_gloo.so: it is built if Gloo is installed";
  }
  static RunOptions environment(Variables more = {}) {
    more.insert({{"SINDRI_NCCL_LIBRARY", plugin()}, {"SINDRI_NUM_THREADS", "1"}, {"SINDRI_DATA__WORKERS", "1"}});
    return with(std::move(more));
  }
  // sindri run -n RANKS -- sindri train …
  std::vector<std::string> job(int ranks, const std::string& run_dir, const std::string& device, const std::vector<std::string>& settings, int steps) const {
    std::vector<std::string> words = {"run", "-n", std::to_string(ranks), "--log-dir", temp_.file("logs"), "--", program_path()};
    for (const std::string& w : training(run_dir, device, settings, steps)) words.push_back(w);
    for (const char* s : {"train.batch_size=4", "dist.replica_check_steps=4"}) words.insert(words.end(), {"--set", s});
    return words;
  }
  std::map<int64_t, std::vector<std::string>> train(const std::string& name, const std::string& device, const std::vector<std::string>& settings,
                                                    const Variables& more = {}) const {
    const Result r = run(job(2, temp_.file(name), device, settings, kSteps), environment(more));
    EXPECT_EQ(r.code, 0) << r.command << "\n" << r.out << r.err;
    EXPECT_THAT(r.out + r.err, Not(HasSubstr("while graphs refer to it"))) << "NCCL waits for graphs that still exist";
    if (device == "cuda") { EXPECT_THAT(r.out, ContainsRegex("; cuda:0, batch size 4[^\n]*\n[^\n]*2 ranks on 1 host \\(nccl\\)")); }
    return step_losses(temp_.file(name));
  }
  static constexpr int kSteps = 12;
  TempFolder temp_;
};

struct Training {
  const char* name;
  std::vector<std::string> settings;
  double tolerance = 1e-3;
};
class CudaRanksTraining : public CudaRanks, public ::testing::WithParamInterface<Training> {};

// Gradients are reduced in small buckets, which are sent during the backward pass. The ranks compare their parameters every four steps.
TEST_P(CudaRanksTraining, FollowsTheCpuAndIsTheSameCapturedAndPlain) {
  const std::vector<std::string>& settings = GetParam().settings;
  const auto cpu = train("cpu", "cpu", settings), captured = train("captured", "cuda", settings, {{"SINDRI_CUDA_HOST", "seed=3,delay=200"}}),
             plain = train("plain", "cuda", settings, {{"SINDRI_CUDA_GRAPH", "0"}, {"SINDRI_CUDA_HOST", "seed=4,delay=200"}});
  EXPECT_EQ(captured, plain) << "bitwise";
  expect_same_weights(temp_.file("captured"), temp_.file("plain"));
  expect_close(captured, cpu, GetParam().tolerance);
  EXPECT_THAT(text_of(temp_.file("captured/log_1.txt")), HasSubstr("; cuda:1, batch size 4"));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, CudaRanksTraining,
    ::testing::Values(Training{"momentum", {"dist.bucket_mb=0.01"}}, Training{"adasum", {"boost.adasum.enabled=true", "boost.adasum.group=rank"}},
                      Training{"float16", {"train.amp_level=O2", "train.amp_dtype=f16", "loss_scale.type=dynamic", "dist.bucket_mb=0.01"}}),
    [](const ::testing::TestParamInfo<Training>& p) { return std::string(p.param.name); });

// Checks that the test above detects a missing wait between computation and communication, on either side.
TEST_F(CudaRanks, AMissingWaitChangesTheTraining) {
  const std::vector<std::string> settings = {"dist.bucket_mb=0.01"};
  const auto whole = train("whole", "cuda", settings);
  for (const char* fault : {"drop_comm=2,compute=300", "drop_compute=1,comm=3000"}) {
    const std::string run_dir = temp_.file(fault);
    const Result r = run(job(2, run_dir, "cuda", settings, kSteps), environment({{"SINDRI_CUDA_HOST", fault}}));
    EXPECT_TRUE(r.code != 0 || step_losses(run_dir) != whole) << fault;
  }
}

TEST_F(CudaRanks, MoreRanksThanDevices) {
  const Result r = run(job(3, temp_.file("run"), "cuda", {}, 4), environment());
  EXPECT_EQ(r.code, 7) << r.command << "\n" << r.err;
  EXPECT_THAT(r.out + r.err, ContainsRegex("rank 2( \\(.*\\))? is assigned GPU 2, but sees 2 GPUs"));
  EXPECT_THAT(r.out + r.err, HasSubstr("start at most as many ranks on a host as it has GPUs"));
}

TEST_F(CudaRanks, TwoRanksThatAreToldTheSameDevice) {
  const Result r = run(job(2, temp_.file("run"), "cuda:1", {}, 4), environment());
  EXPECT_EQ(r.code, 7) << r.command << "\n" << r.err;
  EXPECT_THAT(r.out + r.err, HasSubstr("ranks 0 and 1 are on one host and both have GPU 1"));
}

TEST_F(CudaRanks, ARankTableNamesTheDevices) {
  const std::string table = temp_.file("table.json");
  const auto device = [](int id, int rank) { return fmt::format(R"({{"device_id": "{}", "device_ip": "127.0.0.1", "rank_id": "{}"}})", id, rank); };
  std::ofstream(table) << fmt::format(
      R"({{"version": "1.0", "server_count": "1", "server_list": [{{"server_id": "127.0.0.1", "device": [{}, {}]}}], "status": "completed"}})", device(3, 0),
      device(1, 1));
  std::vector<std::string> words = job(2, temp_.file("run"), "cuda", {}, 4);
  words.erase(words.begin() + 1, words.begin() + 3);  // -n 2
  words.insert(words.begin() + 1, {"--rank-table", table});
  const Result r = run(words, environment({{"SINDRI_CUDA_HOST", "devices=4"}}));
  EXPECT_EQ(r.code, 0) << r.command << "\n" << r.out << r.err;
  EXPECT_THAT(text_of(temp_.file("logs/rank_0.log")) + r.out, HasSubstr("; cuda:3, batch size 4"));
  EXPECT_THAT(text_of(temp_.file("run/log_1.txt")), HasSubstr("; cuda:1, batch size 4"));
}

TEST_F(CudaRanks, ARankThatIsToldToUseTheCpuDoes) {
  train("run", "cpu", {"dist.backend=nccl"});
  EXPECT_THAT(text_of(temp_.file("run/log_1.txt")), HasSubstr("; cpu ("));
}

// The process of a rank of the job that writes to this folder.
pid_t process_of(int rank, const std::string& run_dir) {
  const std::string wanted = std::string(1, '\0') + "SINDRI_RANK=" + std::to_string(rank) + '\0';
  for (const auto& entry : std::filesystem::directory_iterator("/proc", std::filesystem::directory_options::skip_permission_denied)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (text_of(entry.path().string() + "/environ").find(wanted) == std::string::npos) continue;
    if (text_of(entry.path().string() + "/cmdline").find(run_dir) != std::string::npos) return std::stoi(name);
  }
  return -1;
}

// The other ranks are in the middle of a replayed step whose calls never return: the watch aborts them and names the missing rank. A resumed job has the losses
// and weights of an uninterrupted one.
TEST_F(CudaRanks, OneThatIsKilledTakesTheOthersWithItAndTheJobCanBeResumed) {
  const std::string run_dir = temp_.file("run");
  const std::vector<std::string> settings = {"checkpoint.save_every_steps=2", "train.epochs=100", "lr.total_steps=12"};
  const auto whole = train("whole", "cuda", settings);
  std::vector<std::string> words = job(2, run_dir, "cuda", settings, 400);
  Program p(words, environment());
  ASSERT_TRUE(p.wait_until([&] { return std::filesystem::exists(run_dir + "/metrics.jsonl") && last_step(run_dir) >= 6; }));
  const pid_t second = process_of(1, run_dir);
  ASSERT_GT(second, 0);
  kill(second, SIGKILL);
  const Result r = p.wait(60);
  EXPECT_EQ(r.code, 137) << "of the rank that ended first\n" << r.out << r.err;
  const std::string log = text_of(temp_.file("logs/rank_0.log")) + r.out + r.err;
  EXPECT_THAT(log, ContainsRegex("error\\[E7001\\].*rank 1"));
  EXPECT_THAT(log, HasSubstr("config.resolved.yaml --resume"));
  ASSERT_GT(expect_good_checkpoints(run_dir), 0U);
  words = job(2, run_dir, "cuda", settings, kSteps);
  words.emplace_back("--resume");
  const Result again = run(words, environment());
  EXPECT_EQ(again.code, 0) << again.command << "\n" << again.out << again.err;
  const auto own = step_losses(run_dir);
  for (const auto& [step, seen] : whole)
    for (const std::string& loss : own.at(step)) EXPECT_EQ(loss, seen.at(0)) << "step " << step;
  expect_same_weights(run_dir, temp_.file("whole"));
}

TEST_F(CudaRanks, AnErrorOfNcclEndsAllRanks) {
  const auto begin = std::chrono::steady_clock::now();
  const Result r = run(job(2, temp_.file("run"), "cuda", {"checkpoint.save_every_steps=2"}, 40), environment({{"SINDRI_CUDA_HOST", "nccl_async=30"}}));
  EXPECT_EQ(r.code, 7) << r.command << "\n" << r.out << r.err;
  EXPECT_THAT(text_of(temp_.file("logs/rank_0.log")) + r.out + r.err, HasSubstr("unhandled system error"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
}

}  // namespace
}  // namespace sindri::app::cuda_ranks_tests
