// The CUDA backend's plan of a step, and a check that the rewrites of its graphs are bitwise identical. Uses the host run (tests/cuda_host) as plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/program.h"

namespace sindri::app::cuda_plan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string plugin() { return std::filesystem::path(program_path()).parent_path().string() + "/tests/cuda_host/libsindri_cuda_host.so"; }

class CudaPlan : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(plugin())) GTEST_SKIP() << "the host run needs the CUDA toolkit's headers: " << plugin() << " was not built";
  }
  static RunOptions with(std::map<std::string, std::string> more = {}) {
    more["SINDRI_CUDA_PLUGIN"] = plugin();
    more.insert({"SINDRI_TUNE", "off"});  // tuning the stand-ins takes seconds
    return {.environment = std::move(more)};
  }
  static nlohmann::json plan(const std::string& net, const std::string& batch, const std::string& precision) {
    const TempFolder temp;
    const Result r = run({"profile", net, "--batch", batch, "--precision", precision, "--device", "cuda", "--plan", "--json", temp.file("plan.json")}, with());
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("one training step as planned"));
    std::ifstream in(temp.file("plan.json"));
    return nlohmann::json::parse(in, nullptr, false);
  }
};

struct Golden {
  const char *net, *precision;
  int64_t batch, launches, bytes, arena;
};

// Rewrites, kernels or layouts that move more bytes, launch more kernels or keep more memory than before fail here. Record an improvement; a regression needs a
// reason. docs/design/cuda.md has the table by op.
TEST_F(CudaPlan, KeepsItsGoldenValues) {
  for (const Golden& g : {Golden{"resnet50", "f16", 256, 288, 87909489201, 10709403136}, Golden{"seresnet50", "f16", 256, 587, 119382311633, 13436610048},
                          Golden{"resnet20", "f16", 128, 128, 813555277, 103373760}}) {
    const nlohmann::json p = plan(g.net, std::to_string(g.batch), g.precision);
    ASSERT_TRUE(p.is_object()) << g.net;
    EXPECT_EQ(p["launches"], g.launches) << g.net << " " << g.precision;
    EXPECT_EQ(p["bytes"], g.bytes) << g.net << " " << g.precision;
    EXPECT_EQ(p["arena_bytes"], g.arena) << g.net << " " << g.precision;
  }
}

TEST_F(CudaPlan, OfResNet50IsWithinItsBounds) {
  const nlohmann::json p = plan("resnet50", "256", "f16");
  ASSERT_TRUE(p.is_object());
  EXPECT_LE(p["bytes"].get<double>() / 256, 380e6);
  EXPECT_LE(p["launches"].get<int64_t>(), 290);
}

TEST_F(CudaPlan, IsOfATrainingStepInGraphMode) {
  const Result infer = run({"profile", "lenet", "--task", "infer", "--plan"}, with());
  EXPECT_EQ(infer.code, 2);
  EXPECT_THAT(infer.err, HasSubstr("works for training in mode graph only"));
}

// Losses of a residual network in float16 with and without the rewrites. Every kernel that declares its launches must launch exactly those.
TEST_F(CudaPlan, RewritesKeepEveryBit) {
  const TempFolder temp;
  const std::filesystem::path images = std::filesystem::path(temp.file("images"));
  std::filesystem::create_directories(images);
  std::string rows;  // CIFAR-10's binary form: a label, then 3x32x32 bytes
  for (int i = 0; i < 16; ++i) {
    rows += static_cast<char>(i % 10);
    for (int k = 0; k < 3072; ++k) rows += static_cast<char>((i * 131 + k * (i + 3) % 251) % 256);
  }
  for (const char* const name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"})
    std::ofstream(images / name, std::ios::binary) << rows;
  const auto losses = [&](const std::string& folder, const std::string& disabled) {
    std::vector<std::string> words = {"train", "--quiet", "--config", "configs/resnet20_cifar10.yaml", "--device", "cuda"};
    for (const std::string& s :
         {"train.run_dir=" + temp.file(folder), "data.path=" + images.string(), std::string("train.max_steps=2"), std::string("train.eval_interval=-1"),
          std::string("train.batch_size=2"), std::string("train.amp_level=O2"), std::string("train.amp_dtype=f16"), std::string("loss_scale.type=dynamic")})
      words.insert(words.end(), {"--set", s});
    const Result r = run(words, with({{"SINDRI_DISABLE_PASSES", disabled}, {"SINDRI_LOG", "launches=debug"}}));
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_THAT(r.err, Not(HasSubstr("were planned")));
    return step_losses(temp.file(folder));
  };
  const auto rewritten = losses("rewritten", "");
  EXPECT_EQ(rewritten.size(), 2U);
  EXPECT_EQ(rewritten, losses("plain", "turn_layouts,group_elementwise,group_updates,fuse_norm_act,fuse_elementwise"));
}

}  // namespace
}  // namespace sindri::app::cuda_plan
