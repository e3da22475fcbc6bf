// `sindri plan`: its output, from built-in and from measured constants, and refused requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/app/program.h"

namespace sindri::app::plan_verb_test {
namespace {

using testing::HasSubstr;

std::string plan_ok(const std::vector<std::string>& flags, const RunOptions& options = {}) {
  std::vector<std::string> arguments = {"plan"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const Result r = run(arguments, options);
  EXPECT_EQ(r.code, 0) << "repeat: " << r.command << "\n" << r.out << r.err;
  return r.out;
}

// The values in the row that starts with `label`.
std::vector<double> row(const std::string& text, const std::string& label) {
  const size_t at = text.find("\n" + label);
  EXPECT_NE(at, std::string::npos) << label << "\n" << text;
  if (at == std::string::npos) return {};
  std::istringstream in(text.substr(at + 1 + label.size(), text.find('\n', at + 1) - at - 1 - label.size()));
  std::vector<double> out;
  for (double x = 0; in >> x;) out.push_back(x);
  return out;
}

TEST(Plan, ScaleOfResNet50IsThePublishedTable) {
  const std::string out = plan_ok({"--net", "resnet50", "--scale"});
  const std::map<std::string, std::vector<double>> table = {
      {"batch 256, 25 Gbit/s", {93, 89, 82, 81, 81}}, {"batch 256, 100 Gbit/s", {96, 94, 94, 93, 93}}, {"batch 32, 100 Gbit/s", {77, 51, 47, 46, 46}}};
  EXPECT_EQ(row(out, "    "), (std::vector<double>{16, 64, 256, 1024, 4096}));
  for (const auto& [label, percent] : table) {
    const std::vector<double> got = row(out, label);
    ASSERT_EQ(got.size(), percent.size()) << out;
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], percent[i], 1.0) << label;
  }
}

TEST(Plan, PrintsBucketsWithAndWithoutARate) {
  const std::string bare = plan_ok({"--net", "lenet", "--fusion", "3,7"});
  EXPECT_THAT(bare, HasSubstr("times need --rate"));
  EXPECT_THAT(bare, HasSubstr("0-3"));
  const std::string timed = plan_ok({"--net", "resnet50", "--ranks", "8", "--batch", "32", "--suggest-fusion"});
  EXPECT_THAT(timed, HasSubstr("161 gradients"));
  EXPECT_THAT(timed, HasSubstr("8 ranks, 8 in a host"));
  EXPECT_THAT(timed, HasSubstr("all_reduce_fusion_config: ["));
  EXPECT_THAT(timed, HasSubstr("of the reduction is hidden"));
}

TEST(Plan, HalfTheBytesTravelAsBf16) {
  const auto efficiency = [](const std::string& type) {
    const std::vector<double> r =
        row(plan_ok({"--net", "resnet50", "--scale", "--batch", "32", "--network", "100", "--ranks", "64", "--compression", type}), "batch 32, 100 Gbit/s");
    return r.empty() ? std::nan("") : r[0];
  };
  EXPECT_GT(efficiency("bf16"), efficiency("none") + 10);
}

TEST(Plan, TakesMeasuredConstants) {
  const TempFolder cache;
  const RunOptions here = {.environment = {{"SINDRI_CACHE_DIR", cache.path()}}};
  const std::vector<std::string> flags = {"plan", "--net", "resnet50", "--measured"};
  const Result missing = run(flags, here);
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("comm-bench"));
  std::ofstream(cache.path() + "/comm_constants.json") << R"({"a_i": 1e-6, "b_i": 1e10, "a_e": 1e-4, "b_e": 1e8})";
  const Result slow = run(flags, here);
  EXPECT_EQ(slow.code, 0) << slow.err;
  EXPECT_THAT(slow.out, HasSubstr("the measured network"));
  std::ofstream(cache.path() + "/comm_constants.json") << R"({"a_i": 1e-6})";
  EXPECT_EQ(run(flags, here).code, 2);
  // Without a cache folder nothing is read, whatever files the working directory holds.
  std::ofstream(cache.path() + "/comm_constants.json") << R"({"a_i": 1e-6, "b_i": 1e10, "a_e": 1e-4, "b_e": 1e8})";
  const Result nowhere = run(flags, {.environment = {{"SINDRI_CACHE_DIR", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", ""}}, .directory = cache.path()});
  EXPECT_EQ(nowhere.code, 2) << nowhere.out;
  EXPECT_THAT(nowhere.err, HasSubstr("no HOME"));
}

TEST(Plan, RefusesWhatCannotBe) {
  const std::map<std::string, std::vector<std::string>> wrong = {
      {"did you mean 'resnet", {"plan", "--net", "resnet05"}},
      {"--rate", {"plan", "--net", "lenet", "--scale"}},
      {"all_reduce_fusion_config[1]=200: must be greater than 85", {"plan", "--net", "resnet50", "--fusion", "85,200"}},
      {"--batch must be positive", {"plan", "--net", "resnet50", "--batch", "0"}},
      {"--compression must be", {"plan", "--net", "resnet50", "--compression", "fp8"}},
      {"--net", {"plan", "--scale"}},
  };
  for (const auto& [part, arguments] : wrong) {
    const Result r = run(arguments);
    EXPECT_NE(r.code, 0) << r.command;
    EXPECT_THAT(r.err, HasSubstr(part)) << r.command;
  }
}

}  // namespace
}  // namespace sindri::app::plan_verb_test
