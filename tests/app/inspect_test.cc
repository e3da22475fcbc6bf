// summary and doctor: what they count and check, as text and as JSON.
#include "sindri/app/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/app/program.h"

namespace sindri::app::inspect_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

nlohmann::json json_of(const Result& r) {
  EXPECT_EQ(r.code, 0) << r.command << "\n" << r.err;
  return nlohmann::json::parse(r.out, nullptr, false);
}

// The published values: torchvision's documentation of its weights (GFLOPS there are multiply-adds).
TEST(Summary, MultiplyAddsAreThoseOfTheNets) {
  struct Net {
    const char* name;
    double giga;
  };
  for (const Net& net : {Net{"resnet18", 1.814}, Net{"resnet50", 4.089}}) {
    const nlohmann::json j = json_of(run({"summary", net.name, "--json", "-"}));
    ASSERT_TRUE(j.is_object());
    EXPECT_NEAR(j.at("multiply_adds").get<double>() * 1e-9, net.giga, 0.02 * net.giga) << net.name;
    int64_t of_layers = 0;
    for (const auto& cell : j.at("cells")) {
      const std::string name = cell.at("name");
      if (!name.empty() && name.find('.') == std::string::npos) of_layers += cell.at("multiply_adds").get<int64_t>();
    }
    EXPECT_EQ(of_layers, j.at("multiply_adds")) << "the outer Cells sum to the whole";
  }
}

TEST(Summary, LayersByHand) {
  const TempFolder temp;
  const Result r = run({"summary", "lenet", "--json", temp.file("lenet.json")});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, ContainsRegex("conv1 \\(Conv2d\\) +\\[[0-9, ]+\\] +[0-9]+ +117,600\n")) << "28 * 28 * 6 positions of 25 weights";
  EXPECT_THAT(r.out, ContainsRegex("fc2 \\(Dense\\) +\\[[0-9, ]+\\] +10,164 +10,080\n"));
  EXPECT_THAT(r.out, HasSubstr("multiply-adds: 416,520 (")) << "117600 + 240000 + 48000 + 10080 + 840";
  const nlohmann::json j = nlohmann::json::parse(std::ifstream(temp.file("lenet.json")));
  EXPECT_EQ(j.at("multiply_adds"), 416520);
  EXPECT_EQ(j.at("cells")[0].at("name"), "");
  const Result none = run({"summary", "--json", "-"});
  expect_error(none, 2, "E2010", {"--json needs a net"});
}

TEST(Doctor, JudgesAndSaysWhatToDo) {
  const Result plain = run({"doctor"});
  EXPECT_EQ(plain.code, 0) << plain.out;
  EXPECT_THAT(plain.out, HasSubstr("\nOK    cpu: "));
  EXPECT_THAT(plain.out, HasSubstr("OK    quickstart data: 1797 digits\n"));
  EXPECT_THAT(plain.out, ContainsRegex("\n(OK|WARN): [0-9]+ checks are OK, [0-9]+ warn, 0 fail\n$"));
  // A scalar instruction set, more threads than cores, a cache folder that cannot be written: warnings, each with its fix.
  const Result slow = run({"doctor"}, {.environment = {{"SINDRI_CPU_ISA", "scalar"}, {"SINDRI_NUM_THREADS", "1000"}, {"SINDRI_CACHE_DIR", "/dev/null/none"}}});
  EXPECT_EQ(slow.code, 0);
  EXPECT_THAT(slow.out, HasSubstr("WARN  instruction set in use: scalar\n      fix: unset SINDRI_CPU_ISA"));
  EXPECT_THAT(slow.out,
              ContainsRegex("WARN  cores: [0-9]+ \\(threads used by kernels: 1000\\), of which this process may use [0-9]+\n      fix: SINDRI_NUM_THREADS="));
  EXPECT_THAT(slow.out, HasSubstr("WARN  kernel cache: /dev/null/none/kernels.json cannot be written\n      fix: set SINDRI_CACHE_DIR"));
  EXPECT_THAT(slow.out, HasSubstr("\nWARN: "));
  // A setting that every training run on this machine would refuse fails.
  const Result missing = run({"doctor"}, {.environment = {{"SINDRI_DEVICE_TARGET", "Ascend"}}});
  EXPECT_EQ(missing.code, 5);
  EXPECT_THAT(missing.out, HasSubstr("FAIL  SINDRI_DEVICE_TARGET: "));
  EXPECT_THAT(missing.out, HasSubstr("\nFAIL: "));
}

TEST(Doctor, AsJson) {
  const Result r = run({"doctor", "--json", "-"}, {.environment = {{"SINDRI_CPU_ISA", "scalar"}}});
  const nlohmann::json j = json_of(r);
  ASSERT_TRUE(j.is_object());
  EXPECT_EQ(j.at("verdict"), "WARN");
  bool found = false;
  for (const auto& f : j.at("findings")) {
    EXPECT_TRUE(f.at("verdict") == "OK" || f.at("verdict") == "WARN" || f.at("verdict") == "fact") << f;
    EXPECT_EQ(f.contains("fix"), f.at("verdict") == "WARN") << f;
    if (f.at("name") != "instruction set in use") continue;
    found = true;
    EXPECT_EQ(f.at("text"), "scalar");
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace sindri::app::inspect_test
