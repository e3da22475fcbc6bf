// sindri benchmark: interleaved runs, results, peers that fail and peers that are missing. The peers here are scripts that speak the peers' protocol and answer
// with fixed results, so that ratios are known; the real ones run if SINDRI_PEERS_PYTHON names them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sindri/app/app.h"
#include "src/measure/benchmark_report.h"
#include "tests/app/program.h"

namespace sindri::measure {
namespace {

using namespace app;

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json read_json(const std::string& path) {
  std::ifstream f(path);
  return json::parse(f, nullptr, false);
}

// Parameters of the network, as `sindri summary` counts them: a peer with another count does not have the same network.
std::string parameters_of(const std::string& net) {
  std::istringstream out(run({"summary", net}).out);
  for (std::string line; std::getline(out, line);) {
    if (!line.starts_with("parameters: ")) continue;
    std::string digits;
    for (char c : line.substr(0, line.find(" ("))) digits += std::isdigit(static_cast<unsigned char>(c)) != 0 ? std::string(1, c) : "";
    return digits;
  }
  return "";
}

class FakePeers : public testing::Test {
 protected:
  // A "Python" that gets the peer's program and its task, and answers each command with one step of `seconds`. `cases` is shell code that may change parameters
  // or seconds, or exit, by $mode.
  std::string fake(const std::string& cases = "") {
    const std::string path = temp_.file("python");
    std::ofstream(path) << "#!/bin/bash\nparameters=" << parameters_of("digits") << " seconds=0.5\n"
                        << "mode=$(sed 's/.*\"mode\":\"\\([a-z_]*\\)\".*/\\1/' <<<\"$2\")\n"
                        << "case $mode in channels_last) seconds=0.25 ;; esac\n"
                        << cases << "\n"
                        << "[[ -s $1 ]] || exit 9\n"
                        << "[[ -z ${PYTHONPATH+set} ]] || exit 8\n"  // a path to Sindri's package `mindspore` must not reach a peer
                        << "echo '{\"ready\": true, \"version\": \"9.9\", \"parameters\": '$parameters', \"build_s\": 0.125}'\n"
                        << "while read -r verb steps length; do\n"
                        << "  echo \"$mode\" >>" << shell_word(temp_.file("turns")) << "\n"
                        << "  echo '{\"median_s\": '$seconds', \"steps\": 3, \"peak_memory_mb\": 512}'\ndone\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  Result benchmark(std::vector<std::string> more, const std::string& python) {
    std::vector<std::string> arguments = {"benchmark", "digits", "--batch", "4", "--seconds", "0.02", "--threads", "1", "--json", temp_.file("out.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, {.environment = {{"SINDRI_PEERS_PYTHON", python}, {"SINDRI_PEERS_PYTHON_MINDSPORE", ""}, {"PYTHONPATH", "python"}}});
  }
  json ok(const std::vector<std::string>& more, const std::string& python) {
    const Result r = benchmark(more, python);
    EXPECT_EQ(r.code, 0) << "repeat: " << r.command << "\n" << r.out << r.err;
    table_ = r.out;
    return read_json(temp_.file("out.json"));
  }
  static std::vector<std::string> modes(const json& j, const std::string& framework) {
    std::vector<std::string> out;
    for (const json& r : j.at("runs")) {
      if (r.at("framework") == framework) out.push_back(r.at("mode"));
    }
    return out;
  }
  std::vector<std::string> turns() const {
    std::ifstream f(temp_.file("turns"));
    std::vector<std::string> out;
    for (std::string line; std::getline(f, line);) out.push_back(line);
    return out;
  }

  TempFolder temp_;
  std::string table_;
};

TEST_F(FakePeers, JsonHoldsRunsRatiosAndMachine) {
  const json j = ok({"--compare", "pytorch,mindspore,convolutions", "--quick", "--rounds", "2"}, fake());
  EXPECT_THAT(j.at("command").get<std::string>(), HasSubstr("benchmark digits --batch 4"));
  EXPECT_THAT(j.at("date").get<std::string>(), testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z"));
  EXPECT_EQ(j.at("machine").at("threads"), 1);
  for (const char* field : {"cpu", "instruction_set"}) EXPECT_FALSE(j.at("machine").at(field).get<std::string>().empty()) << field;
  for (const json& r : j.at("runs")) {
    SCOPED_TRACE(r.dump());
    for (const char* field : {"ms_per_step", "samples_per_second", "first_step_s", "peak_memory_mb"}) EXPECT_GT(r.at(field).get<double>(), 0) << field;
    EXPECT_GE(r.at("spread").get<double>(), 0);
    EXPECT_FALSE(r.at("version").get<std::string>().empty());
    EXPECT_EQ(r.at("blocks_ms").size(), 2u);
    EXPECT_NEAR(r.at("samples_per_second").get<double>(), 4e3 / r.at("ms_per_step").get<double>(), 1e-2 * r.at("samples_per_second").get<double>());
  }
  EXPECT_THAT(modes(j, "sindri"), ElementsAre("graph", "convolutions"));
  EXPECT_THAT(modes(j, "pytorch"), ElementsAre("eager", "channels_last"));
  EXPECT_THAT(modes(j, "mindspore"), ElementsAre("graph", "pynative"));
  const double ours = j.at("runs")[0].at("samples_per_second"), convolutions = j.at("runs")[1].at("samples_per_second");
  EXPECT_NEAR(j.at("ratios").at("best_pytorch").get<double>(), ours / 16, 1e-4 + 1e-4 * ours / 16);  // 4 samples in 0.25 s
  EXPECT_NEAR(j.at("ratios").at("best_mindspore").get<double>(), ours / 8, 1e-4 + 1e-4 * ours / 8);
  EXPECT_NEAR(j.at("ratios").at("convolutions_limit").get<double>(), ours / convolutions, 1e-3);
  EXPECT_THAT(table_, HasSubstr("best_pytorch"));
  EXPECT_THAT(table_, HasSubstr("without torch.compile"));
}

TEST_F(FakePeers, ContestantsTakeTurns) {
  ok({"--compare", "pytorch", "--quick", "--rounds", "3"}, fake());
  const std::vector<std::string> all = turns();
  ASSERT_GE(all.size(), 6u);  // the first steps and the warm-up come before
  EXPECT_THAT(std::vector<std::string>(all.end() - 6, all.end()), ElementsAre("eager", "channels_last", "eager", "channels_last", "eager", "channels_last"));
}

TEST_F(FakePeers, CompileModesBelongToGraphModeWithoutQuick) {
  EXPECT_THAT(modes(ok({"--compare", "pytorch", "--rounds", "1"}, fake()), "pytorch"),
              ElementsAre("eager", "channels_last", "compile", "compile_channels_last"));
  const json pynative = ok({"--compare", "pytorch,mindspore", "--rounds", "1", "--mode", "pynative"}, fake());
  EXPECT_THAT(modes(pynative, "pytorch"), ElementsAre("eager", "channels_last"));
  EXPECT_THAT(modes(pynative, "mindspore"), ElementsAre("pynative"));
  EXPECT_THAT(table_, HasSubstr("eager modes only"));
}

TEST_F(FakePeers, AModeThatFailsIsLeftOutAndNamed) {
  const json j = ok({"--compare", "pytorch", "--quick", "--rounds", "1"},
                    fake("case $mode in channels_last) echo '{\"error\": \"no such layout\", \"kind\": \"run\"}'; exit 1 ;; esac"));
  EXPECT_THAT(modes(j, "pytorch"), ElementsAre("eager"));
  ASSERT_EQ(j.at("skipped").size(), 1u);
  EXPECT_EQ(j.at("skipped")[0].at("mode"), "channels_last");
  EXPECT_THAT(j.at("skipped")[0].at("reason").get<std::string>(), HasSubstr("no such layout"));
  EXPECT_THAT(table_, HasSubstr("skipped: pytorch channels_last: no such layout"));
}

TEST_F(FakePeers, APeerThatDiesIsLeftOutWithWhatItSaid) {
  const json j = ok({"--compare", "pytorch", "--quick", "--rounds", "1"}, fake("[[ $mode == eager ]] && { echo 'killed by a test' >&2; exit 3; }"));
  EXPECT_THAT(modes(j, "pytorch"), ElementsAre("channels_last"));
  EXPECT_THAT(j.at("skipped")[0].at("reason").get<std::string>(), testing::AllOf(HasSubstr("ended early"), HasSubstr("killed by a test")));
}

TEST_F(FakePeers, AnotherNetIsNotComparedWith) {
  const json j = ok({"--compare", "pytorch", "--quick", "--rounds", "1"}, fake("[[ $mode == eager ]] && parameters=7"));
  EXPECT_THAT(modes(j, "pytorch"), ElementsAre("channels_last"));
  EXPECT_THAT(j.at("skipped")[0].at("reason").get<std::string>(), HasSubstr("7 there"));
}

TEST_F(FakePeers, AFrameworkThatIsNotInstalledIsAnError) {
  const std::string python = fake("echo '{\"error\": \"ModuleNotFoundError: No module named torch\", \"kind\": \"import\"}'; exit 1");
  expect_error(benchmark({"--compare", "pytorch", "--quick"}, python), 2, "E2020", {"No module named torch", "scripts/peers.sh", "SINDRI_PEERS_PYTHON"});
  EXPECT_FALSE(fs::exists(temp_.file("out.json"))) << "a failed benchmark leaves no result";
}

TEST_F(FakePeers, MissingPeersAreNamedWithTheFix) {
  expect_error(benchmark({"--compare", "pytorch"}, ""), 2, "E2020", {"SINDRI_PEERS_PYTHON is not set", "scripts/peers.sh"});
  expect_error(benchmark({"--compare", "mindspore"}, ""), 2, "E2020", {"SINDRI_PEERS_PYTHON is not set", "SINDRI_PEERS_PYTHON_MINDSPORE"});
  expect_error(benchmark({"--compare", "pytorch"}, temp_.file("nowhere")), 2, "E2020", {"cannot be run", "scripts/peers.sh"});
}

TEST_F(FakePeers, BadArgumentsAreRefusedBeforeAnythingStarts) {
  expect_error(benchmark({"--compare", "pytorhc"}, fake()), 2, "E2020", {"pytorhc", "pytorch"});
  expect_error(benchmark({"--compare", "pytorch,pytorch"}, fake()), 2, "E2020", {"twice"});
  expect_error(benchmark({"--precision", "f64"}, fake()), 2, "E2020", {"f32, bf16, f16"});
  expect_error(benchmark({"--task", "test"}, fake()), 2, "E2020", {"train, infer"});
  expect_error(benchmark({"--mode", "lazy"}, fake()), 2, "E2020", {"graph, pynative"});
  for (const char* seconds : {"nan", "-nan", "inf", "-inf", "-1", "601", "1e400"})
    expect_error(benchmark({"--seconds=" + std::string(seconds)}, fake()), 2, "E2020", {"--seconds"});
  expect_error(run({"benchmark", "resnet5"}), 2, "E2003", {"resnet5"});
  expect_error(run({"benchmark", "digits", "--batch", "0"}), 2, "E2020", {"1 .. 65536, got 0"});
  expect_error(run({"benchmark", "digits", "--batch", "4,x"}), 2, "E2020", {"--batch"});
  expect_error(run({"benchmark", "digits", "--json", temp_.file("no/folder.json")}), 5, "E5001", {"folder.json"});
  EXPECT_TRUE(turns().empty());
}

TEST_F(FakePeers, FurtherBatchesAndThreadsAreOurs) {
  const json j = ok({"--batch", "8,16", "--threads", "2", "--compare", "pytorch", "--rounds", "1", "--quick", "--task", "infer"}, fake());
  EXPECT_EQ(j.at("runs").size(), 6u);  // batches 4, 8, 16, threads 2, two modes of the peer
  EXPECT_TRUE(j.at("growth").contains("b_ms_per_sample"));
  ASSERT_EQ(j.at("scaling").size(), 1u);
  EXPECT_EQ(j.at("scaling")[0].at("threads"), json({1, 2}));
}

// A report from known results: the runs between which ratios are computed, and the fits.
TEST(BenchmarkReport, FiguresAreDerivedFromTheRunsOfTheWorkload) {
  const auto made = [](const char* framework, const char* mode, int64_t batch, int threads, double ms) {
    return BenchmarkRun{.framework = framework,
                        .version = "1",
                        .mode = mode,
                        .batch = batch,
                        .threads = threads,
                        .ms_per_step = ms,
                        .samples_per_second = static_cast<double>(batch) * 1e3 / ms,
                        .blocks_ms = {ms, 2 * ms}};
  };
  const BenchmarkOutcome outcome{.runs = {made("sindri", "graph", 10, 2, 50), made("sindri", "convolutions", 10, 2, 40), made("pytorch", "eager", 10, 2, 100),
                                          made("pytorch", "compile", 10, 2, 80), made("sindri", "graph", 10, 1, 90), made("sindri", "convolutions", 10, 1, 60),
                                          made("sindri", "graph", 20, 2, 90), made("sindri", "graph", 40, 2, 170)},
                                 .skipped = {{"mindspore", "graph", "why"}},
                                 .rounds = 2,
                                 .block_seconds = 1};
  const BenchmarkReport report = make_report({.workload = {.net = "digits", .batch = 10}}, outcome);
  const json j = json::parse(report.json);
  EXPECT_DOUBLE_EQ(report.ratios.at("best_pytorch"), 1.6);
  EXPECT_DOUBLE_EQ(report.ratios.at("convolutions_limit"), 0.8);
  EXPECT_FALSE(report.ratios.contains("best_mindspore"));
  EXPECT_EQ(j.at("ratio_ranges").at("best_pytorch"), json({1.6, 1.6}));
  EXPECT_NEAR(j.at("growth").at("a_ms").get<double>(), 10, 1e-3);
  EXPECT_NEAR(j.at("growth").at("b_ms_per_sample").get<double>(), 4, 1e-4);
  EXPECT_NEAR(j.at("growth").at("worst_relative_error").get<double>(), 0, 1e-4);
  EXPECT_NEAR(j.at("scaling")[0].at("speed_ratio").get<double>(), 1.8, 1e-4);
  EXPECT_NEAR(j.at("scaling")[1].at("speed_ratio").get<double>(), 1.5, 1e-4);
  EXPECT_EQ(j.at("skipped")[0].at("reason"), "why");
}

// The programs embedded in Sindri against the real frameworks, if available.
TEST(BenchmarkPeers, RealPeersBuildTheSameNets) {
  if (std::getenv("SINDRI_PEERS_PYTHON") == nullptr) GTEST_SKIP() << "SINDRI_PEERS_PYTHON is not set (scripts/peers.sh)";
  TempFolder temp;
  const Result r = run({"benchmark", "digits", "--batch", "4", "--quick", "--rounds", "1", "--compare", "pytorch", "--json", temp.file("out.json")});
  ASSERT_EQ(r.code, 0) << r.command << "\n" << r.err;
  const json j = read_json(temp.file("out.json"));
  EXPECT_TRUE(j.at("skipped").empty()) << j.at("skipped").dump();
  EXPECT_GT(j.at("ratios").at("best_pytorch").get<double>(), 0);
}

}  // namespace
}  // namespace sindri::measure
