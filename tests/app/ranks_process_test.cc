// Ranks as separate processes, joined by the gloo backend: the effect of signals, failures and evaluation.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tests/app/program.h"

namespace sindri::app {
namespace {

// A port that is free now.
int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof a;
  const bool bound = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&a), size) == 0 && getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size) == 0;
  close(fd);
  if (!bound) throw std::runtime_error("no port");
  return ntohs(a.sin_port);
}

class RankProcesses : public testing::Test {
 protected:
  static constexpr double kLimit = 60;  // seconds

  void SetUp() override {
    const auto beside = std::filesystem::path(program_path()).parent_path();
    for (const char* folder : {"", "../lib"}) {
      if (std::filesystem::exists(beside / folder / "libsindri_gloo.so")) return;
    }
    GTEST_SKIP() << "no libsindri_gloo.so next to " << program_path() << ": it is built if Gloo is installed";
  }
  // Starts all ranks of a job and ends them with this object.
  void start(int ranks, const std::vector<std::string>& arguments, const std::map<std::string, std::string>& more = {},
             const std::function<void()>& in_child = nullptr) {
    const std::string master = fmt::format("127.0.0.1:{}", free_port());
    programs_.clear();
    for (int r = 0; r < ranks; ++r) {
      std::map<std::string, std::string> environment = {{"SINDRI_RANK", std::to_string(r)},
                                                        {"SINDRI_WORLD_SIZE", std::to_string(ranks)},
                                                        {"SINDRI_LOCAL_RANK", std::to_string(r)},
                                                        {"SINDRI_LOCAL_SIZE", std::to_string(ranks)},
                                                        {"SINDRI_MASTER", master},
                                                        {"SINDRI_DIST_BACKEND", "gloo"},
                                                        {"SINDRI_STRICT", "1"},
                                                        {"SINDRI_NUM_THREADS", "1"},
                                                        {"SINDRI_DATA__WORKERS", "1"}};
      for (const auto& [name, value] : more) environment[name] = value;
      programs_.push_back(std::make_unique<Program>(arguments, RunOptions{.environment = environment, .in_child = in_child}));
    }
  }
  std::vector<Result> wait() {
    std::vector<Result> results;
    for (const auto& p : programs_) results.push_back(p->wait(kLimit));
    return results;
  }
  std::vector<std::string> train(const std::vector<std::string>& sets, bool resume = false) const {
    std::vector<std::string> a = {
        "train", "--quiet", "--config", "configs/digits.yaml", "--set", "train.run_dir=" + run_dir(), "--set", "checkpoint.prefix=net"};
    for (const std::string& s : sets) a.insert(a.end(), {"--set", s});
    if (resume) a.emplace_back("--resume");
    return a;
  }
  std::string run_dir() const { return temp_.file("run"); }

  TempFolder temp_;
  std::vector<std::unique_ptr<Program>> programs_;
};

TEST_F(RankProcesses, SigtermToOneOfEightStopsAllBehindTheSameStep) {
  start(8, train({"train.batch_size=4", "train.epochs=500", "train.eval_interval=0"}));
  const std::string metrics = run_dir() + "/metrics.jsonl";
  ASSERT_TRUE(programs_[0]->wait_until([&] { return std::filesystem::exists(metrics) && last_step(run_dir()) >= 5; }));
  programs_[3]->signal(SIGTERM);
  const std::vector<Result> results = wait();
  for (const Result& r : results) {
    EXPECT_EQ(r.code, 143) << r.command << "\n" << r.err;
    EXPECT_FALSE(r.signalled) << r.command;
  }
  const int64_t step = last_step(run_dir());
  EXPECT_NE(results[0].out.find("resume with: "), std::string::npos) << results[0].out;
  EXPECT_EQ(results[1].out, "") << "only rank 0 shows progress";
  std::ifstream in(run_dir() + "/resume.json");
  const nlohmann::json j = nlohmann::json::parse(in);
  EXPECT_EQ(j["step"], step);
  EXPECT_EQ(std::filesystem::path(j["checkpoint"]).filename(), fmt::format("net-{}_{}.ckpt", (step - 1) / 45 + 1, (step - 1) % 45 + 1));
  EXPECT_EQ(expect_good_checkpoints(run_dir()), checkpoints(run_dir()).size());
  for (int r = 1; r < 8; ++r) {  // each logs its last step
    std::ifstream log(fmt::format("{}/log_{}.txt", run_dir(), r));
    const std::string text((std::istreambuf_iterator<char>(log)), {});
    EXPECT_NE(text.find(fmt::format("step {}: loss", (step - 1) % 45 + 1)), std::string::npos) << text;
  }
  // The printed command resumes, here on another number of ranks.
  std::vector<std::string> again = words(j["command"].get<std::string>());
  again.erase(again.begin());
  again.insert(again.end(), {"--quiet", "--set", fmt::format("train.max_steps={}", step + 3)});
  start(2, again);
  for (const Result& r : wait()) EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
  EXPECT_EQ(last_step(run_dir()), step + 3);
  EXPECT_FALSE(std::filesystem::exists(run_dir() + "/resume.json"));
}

// Batch systems send SIGUSR1 ahead of time, to one rank or to all; an interrupt has a separate exit code.
TEST_F(RankProcesses, OtherSignalsAndSignalsToAll) {
  const std::vector<std::string> sets = {"train.batch_size=8", "train.epochs=500", "train.eval_interval=0"};
  for (const auto& [number, to_all, code] : {std::tuple{SIGUSR1, false, 143}, {SIGINT, false, 130}, {SIGTERM, true, 143}}) {
    SCOPED_TRACE(fmt::format("signal {}", number));
    const int64_t before = std::filesystem::exists(run_dir()) ? last_step(run_dir()) : 0;
    start(2, train(sets, before > 0));
    ASSERT_TRUE(programs_[0]->wait_until([&] { return std::filesystem::exists(run_dir() + "/metrics.jsonl") && last_step(run_dir()) >= before + 3; }));
    if (to_all) programs_[0]->signal(number);
    programs_[1]->signal(number);
    for (const Result& r : wait()) EXPECT_EQ(r.code, code) << r.command << "\n" << r.err;
    std::ifstream in(run_dir() + "/resume.json");
    EXPECT_EQ(nlohmann::json::parse(in)["step"], last_step(run_dir()));
  }
}

TEST_F(RankProcesses, DryRunWritesNothing) {
  std::vector<std::string> arguments = train({"train.batch_size=8"});
  arguments.emplace_back("--dry-run");
  start(2, arguments);
  const std::vector<Result> results = wait();
  for (const Result& r : results) EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
  EXPECT_NE(results[0].out.find("further steps"), std::string::npos) << results[0].out;
  EXPECT_EQ(results[1].out, "");
  EXPECT_FALSE(std::filesystem::exists(run_dir()));
}

// A run that is not resumed leaves neither ranks' logs nor call logs in the folder.
TEST_F(RankProcesses, ARefusedResumeChangesNothing) {
  const std::map<std::string, std::string> temporary = {{"TMPDIR", temp_.path()}};
  start(2, train({"train.epochs=2", "train.max_steps=30"}), temporary);
  for (const Result& r : wait()) ASSERT_EQ(r.code, 0) << r.err;
  for (const char* name : {"log_1.txt", "comm_0.json", "comm_1.json"}) std::filesystem::remove(run_dir() + "/" + name);
  const std::string before = folder_snapshot(run_dir());
  for (const char* other : {"train.seed=7", "model.name=lenet"}) {
    start(2, train({"train.epochs=2", other}, true), temporary);
    for (const Result& r : wait()) EXPECT_NE(r.code, 0) << other;
    EXPECT_TRUE(folder_snapshot(run_dir()) == before) << other;
  }
}

TEST_F(RankProcesses, TheSameLossesAsOneRankAndEvaluatedTogether) {
  const std::vector<std::string> sets = {"train.batch_size=8", "train.epochs=1", "dist.virtual_ranks=4"};
  start(1, train(sets));
  EXPECT_EQ(wait()[0].code, 0);
  const auto whole = step_losses(run_dir());
  std::filesystem::rename(run_dir(), temp_.file("whole"));
  start(4, train(sets));
  for (const Result& r : wait()) EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
  EXPECT_EQ(step_losses(run_dir()), whole);
  const std::vector<std::string> eval = {"eval", "--checkpoint", run_dir() + "/checkpoints/latest"};
  start(1, eval);
  const std::string plain = wait()[0].out;
  EXPECT_NE(plain.find("accuracy"), std::string::npos);
  start(3, eval, {{"SINDRI_DIST_STRICT_ORDER", "false"}, {"SINDRI_DIST_VIRTUAL_RANKS", "0"}});
  const std::vector<Result> results = wait();
  EXPECT_EQ(results[0].out, plain);
  EXPECT_EQ(results[1].out, "");
  for (const Result& r : results) EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
}

// A file that only one rank reads is damaged: that rank keeps its exit code, the others name the rank whose data failed.
TEST_F(RankProcesses, ARankWhoseDataFailsKeepsItsExitCode) {
  make_jpeg_data(temp_.file("data"), 3, 16, 4);
  std::filesystem::resize_file(temp_.file("data/train/class_1/105.jpg"), 50);
  std::vector<std::string> arguments = {"train", "--quiet"};
  for (const std::string& s : {std::string("model.name=resnet20"), std::string("train.batch_size=2"), std::string("train.epochs=1"),
                               "data.path=" + temp_.file("data"), "train.run_dir=" + run_dir()})
    arguments.insert(arguments.end(), {"--set", s});
  start(4, arguments);
  int three = 0, seven = 0, named = 0;
  for (const Result& r : wait()) {
    three += r.code == 3 ? 1 : 0;
    seven += r.code == 7 ? 1 : 0;
    named += r.err.find("error[E7005]") != std::string::npos && r.err.find("105.jpg") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(three, 1);
  EXPECT_EQ(seven, 3);
  EXPECT_EQ(named, 3) << "the others' error names the file";
}

TEST_F(RankProcesses, OneThatIsKilledTakesTheOthersWithIt) {
  start(3, train({"train.batch_size=4", "train.epochs=500", "train.eval_interval=0", "dist.strict_order=false", "checkpoint.save_every_steps=2"}));
  ASSERT_TRUE(programs_[0]->wait_until([&] { return std::filesystem::exists(run_dir() + "/metrics.jsonl") && last_step(run_dir()) >= 3; }));
  programs_[1]->signal(SIGKILL);
  const std::vector<Result> results = wait();
  for (const int r : {0, 2}) {
    EXPECT_EQ(results[static_cast<size_t>(r)].code, 7) << results[static_cast<size_t>(r)].err;
    EXPECT_NE(results[static_cast<size_t>(r)].err.find("rank 1"), std::string::npos) << results[static_cast<size_t>(r)].err;
    EXPECT_NE(results[static_cast<size_t>(r)].err.find("config.resolved.yaml --resume"), std::string::npos) << "how to resume\n"
                                                                                                            << results[static_cast<size_t>(r)].err;
  }
}

// A disk that accepts no checkpoint disturbs no step; at the end every rank reports what is missing.
TEST_F(RankProcesses, AFailedSaveIsKnownOnAll) {
  const std::vector<std::string> sets = {"train.batch_size=16", "train.epochs=2", "checkpoint.save_every_steps=20"};
  start(2, train(sets), {}, [] {
    const rlimit both = {64 << 10, 64 << 10};
    setrlimit(RLIMIT_FSIZE, &both);
  });
  for (const Result& r : wait()) {
    EXPECT_EQ(r.code, 5) << r.command << "\n" << r.err;
    EXPECT_NE(r.err.find("the last checkpoint was not saved"), std::string::npos) << r.err;
    EXPECT_NE(r.err.find("not saved: "), r.err.rfind("not saved: ")) << "retried at the next interval\n" << r.err;
  }
  EXPECT_EQ(last_step(run_dir()), 88);
  EXPECT_TRUE(checkpoints(run_dir()).empty());
}

// A step that takes longer than dist.term_grace: no checkpoint, the same exit code.
TEST_F(RankProcesses, TermGraceEndsARankWhoseStepDoesNotEnd) {
  start(2, train({"train.batch_size=4", "train.epochs=500", "train.eval_interval=0", "dist.term_grace=1", "dist.lost_after=30"}));
  ASSERT_TRUE(programs_[0]->wait_until([&] { return std::filesystem::exists(run_dir() + "/metrics.jsonl") && last_step(run_dir()) >= 3; }));
  programs_[1]->signal(SIGSTOP);  // rank 0 waits for it within a step
  programs_[0]->signal(SIGTERM);
  const Result r = programs_[0]->wait(kLimit);
  EXPECT_EQ(r.code, 143) << r.err;
  EXPECT_NE(r.err.find("dist.term_grace"), std::string::npos) << r.err;
  EXPECT_FALSE(std::filesystem::exists(run_dir() + "/resume.json"));
  programs_[1]->signal(SIGKILL);
}

}  // namespace
}  // namespace sindri::app
