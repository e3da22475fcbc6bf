// One training run, written in C++ and as settings of `sindri train`: accumulation, averages, sharpness-aware minimisation, clipping, decay by groups, a
// schedule and a dynamic loss scale, at two levels of precision and in both modes. All losses and the averages must be bitwise identical.
// tests/python/test_same_training.py does the same from Python.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "sindri/amp/policy.h"
#include "sindri/app/app.h"
#include "sindri/app/run_folder.h"
#include "sindri/core/context.h"
#include "sindri/core/rng.h"
#include "sindri/dataset/transforms.h"
#include "sindri/dataset/vision.h"
#include "sindri/models/models.h"
#include "sindri/nn/loss.h"
#include "sindri/ops/random.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/model.h"
#include "tests/train/temp_folder.h"

namespace sindri {
namespace {

constexpr int64_t kRows = 40, kBatch = 4, kEpochs = 5, kEvery = 4;

// CIFAR-10's format: a label and 3·32·32 bytes per row.
void write_cifar(const std::string& path, int64_t rows) {
  std::ofstream out(path, std::ios::binary);
  uint32_t state = static_cast<uint32_t>(rows);
  for (int64_t i = 0; i < rows; ++i) {
    out.put(static_cast<char>(i % 10));
    for (int j = 0; j < 3072; ++j) {
      state = state * 1664525u + 1013904223u;
      out.put(static_cast<char>((state >> 24) % 128 + 12 * (i % 10)));
    }
  }
}

struct Case {
  Mode mode;
  std::string level;
  DType half = DType::kBFloat16;
  int64_t scale = 1024;  // initial loss scale
  std::string name() const { return level + (half == DType::kFloat16 ? "Float16" : "") + (mode == Mode::kGraph ? "Graph" : "Pynative"); }
};

class SameTraining : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    for (const char* part : {"1", "2", "3", "4", "5"}) write_cifar(folder_.file(std::string("data_batch_") + part + ".bin"), kRows / 5);
    write_cifar(folder_.file("test_batch.bin"), 10);
  }
  void TearDown() override { set_mode(Mode::kGraph); }

  struct Outcome {
    std::string losses;  // hash of their bytes
    double scale = 0;  // final loss scale
    std::vector<float> averages;
  };

  Outcome by_settings() {
    app::Settings s;
    s.load_yaml_text(R"(
model: {name: resnet20}
data: {kind: cifar10, augment: false, workers: 1}
train: {epochs: 5, batch_size: 4, seed: 3, eval_interval: 0, eval_weights: average}
optimizer: {name: momentum, momentum: 0.9, weight_decay: 0.0001, clip_global_norm: 1.5}
loss_scale: {type: dynamic, window: 3}
lr: {schedule: cosine, max: 0.05, warmup_epochs: 1}
boost:
  grad_accumulation: {enabled: true, step: 4}
  average: {enabled: true, decay: 0.9}
  sam: {enabled: true, rho: 0.02}
)",
                     "same.yaml");
    s.set("data.path=" + folder_.path());
    s.set("train.run_dir=" + folder_.file("run"));
    s.set("train.amp_level=" + GetParam().level);
    s.set(std::string("train.amp_dtype=") + (GetParam().half == DType::kFloat16 ? "f16" : "bf16"));
    s.set(fmt::format("loss_scale.init={}", GetParam().scale));
    s.set(std::string("train.mode=") + (GetParam().mode == Mode::kGraph ? "graph" : "pynative"));
    s.validate();
    app::TrainRequest request;
    request.quiet = true;
    const app::TrainReport r = app::train(s, request);
    Outcome out;
    out.losses = nlohmann::json::parse(std::ifstream(folder_.file("run/repro.json"))).at("loss_bits_hash");
    for (const train::CheckpointEntry& e : train::load_checkpoint(r.checkpoint).entries) {
      if (e.name == "scale_sense") out.scale = e.tensor.item();
      if (!e.name.starts_with("average.")) continue;
      for (const float v : e.tensor.to_vector<float>()) out.averages.push_back(v);
    }
    return out;
  }

  Outcome by_hand() {
    set_seed(3);
    ops::reset_rng(3);
    set_mode(GetParam().mode);
    const std::vector<double> mean = {0.4914 * 255, 0.4822 * 255, 0.4465 * 255}, std = {0.2470 * 255, 0.2435 * 255, 0.2616 * 255};
    const auto data = dataset::Cifar10Dataset::make({.dataset_dir = folder_.path(), .usage = "train", .shuffle = true})
                          ->map({dataset::vision::Normalize(mean, std), dataset::vision::HWC2CHW()}, {.input_columns = {"image"}})
                          ->map({dataset::transforms::TypeCast(DType::kInt32)}, {.input_columns = {"label"}})
                          ->batch(kBatch, {.drop_remainder = true});
    const nn::CellPtr net = models::create("resnet20", {.num_classes = 10});
    // Twelve updates of four steps; one epoch of warm-up is two and a half updates, rounded to three.
    std::vector<float> rates;
    constexpr int kUpdates = 12, kWarmup = 3;
    for (int i = 0; i < kUpdates; ++i) {
      const double f = static_cast<double>(i - kWarmup) / (kUpdates - kWarmup);
      rates.push_back(static_cast<float>(i < kWarmup ? 0.05 * (i + 1) / kWarmup : 0.05 * 0.5 * (1 + std::cos(std::numbers::pi * f))));
    }
    optim::ParamGroup decayed, others, order;
    for (Parameter* p : net->trainable_params()) {
      const bool norm = p->name().find("gamma") != std::string::npos || p->name().find("beta") != std::string::npos;
      (norm ? others : decayed).params.push_back(p);
      order.order_params.push_back(p);
    }
    decayed.weight_decay = 0.0001;
    const auto optimizer =
        std::make_shared<optim::Momentum>(std::vector<optim::ParamGroup>{decayed, others, order},
                                          optim::MomentumOptions{.learning_rate = rates, .momentum = 0.9, .grad_clip = {.global_norm = 1.5}});
    train::ModelOptions o;
    o.amp = amp::find_policy(GetParam().level, amp::Casts::kOps).options(GetParam().half);
    o.loss_scale_manager = std::make_shared<train::DynamicLossScaleManager>(GetParam().scale, 2, 3);
    o.algorithms = {train::boosts().make("average", {{"decay", 0.9}}), train::boosts().make("grad_accumulation", {{"step", 4}}),
                    train::boosts().make("sam", {{"rho", 0.02}})};
    train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer, o);
    app::LossHash hash;
    int64_t steps = 0;
    const auto note = std::make_shared<train::LambdaCallback>([&](train::TrainState& state) {
      hash.add(static_cast<float>(state.loss()));
      steps = state.cur_step_num;
    });
    model.train(kEpochs, data, {note}, {.dataset_sink_mode = false});
    EXPECT_EQ(steps, kEpochs * kRows / kBatch);
    Outcome out{hash.hex(), model.loss_scale_manager()->get_loss_scale(), {}};
    for (const auto& [of, average] : model.algorithm("average")->other_weights()) {
      for (const float v : average->stored().to_vector<float>()) out.averages.push_back(v);
    }
    return out;
  }

  TempFolder folder_;
};

TEST_P(SameTraining, BySettingsAndByHandBitForBit) {
  const Outcome a = by_settings(), b = by_hand();
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.scale, b.scale);
  if (GetParam().half == DType::kFloat16) EXPECT_LT(b.scale, static_cast<double>(GetParam().scale)) << "gradients overflow and updates are skipped";
  else EXPECT_EQ(b.scale, 1024 * 16) << "twelve updates, one factor for every three";
  ASSERT_GT(a.averages.size(), 100000u);
  EXPECT_EQ(a.averages, b.averages);
}

INSTANTIATE_TEST_SUITE_P(Cases, SameTraining,
                         testing::Values(Case{Mode::kGraph, "O0"}, Case{Mode::kPynative, "O0"}, Case{Mode::kGraph, "O2"}, Case{Mode::kPynative, "O2"},
                                         Case{Mode::kGraph, "O2", DType::kFloat16, 1 << 22}, Case{Mode::kPynative, "O2", DType::kFloat16, 1 << 22},
                                         Case{Mode::kGraph, "cells_O1"}, Case{Mode::kGraph, "cells_O2"}, Case{Mode::kPynative, "cells_O2"},
                                         Case{Mode::kGraph, "cells_O3"}),
                         [](const testing::TestParamInfo<Case>& c) { return c.param.name(); });

}  // namespace
}  // namespace sindri
