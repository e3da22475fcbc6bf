// sindri profile: its tables add up, the trace is valid JSON, and the memory plan's peak is explained to the byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "src/measure/measure.h"
#include "tests/app/program.h"

namespace sindri::measure::profile_test {
namespace {

using namespace app;

using nlohmann::json;
using testing::HasSubstr;

json read_json(const std::string& path) {
  std::ifstream f(path);
  return json::parse(f, nullptr, false);
}

struct Profiled {
  Result result;
  json report, trace;
};

Profiled profiled(const std::vector<std::string>& more) {
  TempFolder temp;
  std::vector<std::string> arguments = {"profile", "digits", "--batch", "4", "--steps", "2", "--json", temp.file("p.json"), "--trace", temp.file("t.json")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Profiled p{.result = run(arguments), .report = {}, .trace = {}};
  EXPECT_EQ(p.result.code, 0) << "repeat: " << p.result.command << "\n" << p.result.err;
  p.report = read_json(temp.file("p.json"));
  p.trace = read_json(temp.file("t.json"));
  return p;
}

TEST(Profile, TableNamesOpsKernelsAndLimits) {
  const std::string text = profiled({}).result.out;
  for (const char* piece : {"conv2d [", "conv2d_weight_grad [", "group_update [", "over limit", "limits measured here: matmul", "arena at its peak", "gaps"})
    EXPECT_THAT(text, HasSubstr(piece));
}

TEST(Profile, FiguresAddUp) {
  const json j = profiled({"--threads", "1"}).report;
  double ms = 0, instruction_ms = 0, calls = 0, instruction_calls = 0;
  for (const json& op : j.at("ops")) ms += op.at("ms").get<double>(), calls += op.at("calls").get<double>();
  for (const json& i : j.at("instructions")) {
    SCOPED_TRACE(i.dump());
    instruction_ms += i.at("ms").get<double>(), instruction_calls += i.at("calls").get<double>();
    EXPECT_GT(i.at("limit_ms").get<double>(), 0);
    EXPECT_GE(i.at("bytes").get<int64_t>(), 0);
    EXPECT_NEAR(i.at("over_limit").get<double>(), i.at("ms").get<double>() / i.at("limit_ms").get<double>(), 1e-6 * i.at("over_limit").get<double>());
  }
  EXPECT_NEAR(ms, instruction_ms, 1e-9 * ms);
  EXPECT_NEAR(ms, j.at("kernels_ms").get<double>(), 1e-6 * ms);
  EXPECT_LE(ms, j.at("step_ms").get<double>());
  EXPECT_EQ(calls, instruction_calls);
  EXPECT_EQ(calls, j.at("memory").at("instructions").get<double>()) << "every instruction of the graph was seen once per step";
  EXPECT_GT(j.at("machine").at("matmul_gflop_per_s").get<double>(), 0);
  for (const json& c : j.at("machine").at("copy")) EXPECT_GT(c.at("gb_per_s").get<double>(), 0);
  EXPECT_NEAR(j.at("outside_matrix_share").get<double>(), 1 - j.at("matrix_ms").get<double>() / j.at("step_ms").get<double>(), 1e-9);
}

// digits: 3x3 convolutions 1 -> 16 and 16 -> 32 on 8x8, 32 -> 64 on 4x4; two operations for each multiply-add.
TEST(Profile, OperationsOfConvolutionsAreCounted) {
  const json j = profiled({}).report;
  const int64_t forward = 4 * 2 * 9 * (64 * 16 * 1 + 64 * 32 * 16 + 16 * 64 * 32), first = 4 * 2 * 9 * 64 * 16;
  std::map<std::string, int64_t> flops;
  for (const json& op : j.at("ops")) {
    if (!op.at("flops").is_null()) flops[op.at("op")] += op.at("flops").get<int64_t>();
  }
  EXPECT_EQ(flops["conv2d"], forward);
  EXPECT_EQ(flops["conv2d_weight_grad"], forward);
  EXPECT_EQ(flops["conv2d_input_grad"], forward - first);  // the images need no gradient
}

TEST(Profile, TraceHoldsEveryKernelOfEveryStep) {
  const Profiled p = profiled({});
  double calls = 0;
  for (const json& op : p.report.at("ops")) calls += op.at("calls").get<double>();
  double kernels = 0, steps = 0;
  bool in_a_cell = false;
  for (const json& e : p.trace.at("traceEvents")) {
    EXPECT_EQ(e.at("ph"), "X");
    EXPECT_GE(e.at("dur").get<double>(), 0);
    if (e.at("cat") == "span") {
      ++steps;
      continue;
    }
    ++kernels;
    in_a_cell = in_a_cell || e.at("args").at("cell").get<std::string>().ends_with("backbone.conv1");
  }
  EXPECT_EQ(kernels, 2 * calls);
  EXPECT_EQ(steps, 2);
  EXPECT_TRUE(in_a_cell);
}

TEST(Profile, PeakOfTheMemoryPlanIsExplainedToTheByte) {
  for (const char* task : {"train", "infer"}) {
    SCOPED_TRACE(task);
    const json m = profiled({"--task", task}).report.at("memory");
    int64_t by_cell = 0, by_value = 0;
    for (const json& c : m.at("by_cell")) by_cell += c.at("bytes").get<int64_t>();
    for (const json& v : m.at("values")) by_value += v.at("bytes").get<int64_t>();
    EXPECT_EQ(by_cell, m.at("live_bytes").get<int64_t>());
    EXPECT_EQ(by_value, m.at("live_bytes").get<int64_t>());
    EXPECT_EQ(by_cell + m.at("gap_bytes").get<int64_t>(), m.at("arena_bytes").get<int64_t>());
    EXPECT_GE(m.at("gap_bytes").get<int64_t>(), 0) << "two values alive at once overlap in memory";
    EXPECT_GT(m.at("live_bytes").get<int64_t>(), 0);
  }
}

TEST(Profile, HalfPrecisionReachesTheConvolutions) {
  for (const char* half : {"bf16", "f16"}) {
    const json j = profiled({"--precision", half}).report;
    int convolutions = 0;
    for (const json& i : j.at("instructions")) {
      if (i.at("op") != "conv2d") continue;
      ++convolutions;
      EXPECT_THAT(i.at("operands").get<std::string>(), testing::StartsWith(std::string(half) + "[4, "));
    }
    EXPECT_EQ(convolutions, 3) << half;
    EXPECT_EQ(j.at("workload").at("precision"), half);
  }
}

TEST(Profile, PynativeHasOpsButNoPlan) {
  const json j = profiled({"--mode", "pynative"}).report;
  EXPECT_GT(j.at("ops").size(), 5u);
  EXPECT_FALSE(j.contains("memory"));
  int gradients = 0;
  for (const json& i : j.at("instructions")) {
    if (i.at("op") != "conv2d_weight_grad") continue;
    ++gradients;
    EXPECT_THAT(i.at("cell").get<std::string>(), testing::MatchesRegex("grad/.*conv.*"));
  }
  EXPECT_EQ(gradients, 3);
}

TEST(Profile, BadArguments) {
  expect_error(run({"profile", "digist"}), 2, "E2003", {"digits"});
  expect_error(run({"profile", "digits", "--steps", "0"}), 2, "E2020", {"--steps"});
  expect_error(run({"profile", "digits", "--batch", "4,8"}), 2, "E2020", {"--batch"});
  expect_error(run({"profile", "digits", "--batch", "4", "--trace", "/nowhere/t.json"}), 5, "E5001", {"/nowhere/t.json"});
}

TEST(Timeline, EnvironmentVariableWritesOneForAnyRun) {
  TempFolder temp;
  const Result r = run({"train", "--config", "configs/digits.yaml", "--dry-run"}, {.environment = {{"SINDRI_TIMELINE", temp.file("t.json")}}});
  ASSERT_EQ(r.code, 0) << r.command << "\n" << r.err;
  std::set<std::string> names;
  const json trace = read_json(temp.file("t.json"));
  for (const json& e : trace.at("traceEvents")) names.insert(e.at("name"));
  EXPECT_THAT(names, testing::IsSupersetOf({"conv2d", "conv2d_weight_grad", "group_update"}));
}

}  // namespace
}  // namespace sindri::measure::profile_test
