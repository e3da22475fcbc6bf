// ResNet-18 trained on the simulated accelerator: every loss and the whole state are bitwise identical to a run on the CPU, in strict mode.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sindri/core/context.h"
#include "sindri/core/rng.h"
#include "sindri/dataset/dataset.h"
#include "sindri/device/device.h"
#include "sindri/models/models.h"
#include "sindri/nn/loss.h"
#include "sindri/op/kernel_choice.h"
#include "sindri/ops/random.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/model.h"
#include "tests/device/simulator.h"

namespace sindri::test::device_training {
namespace {

using sim::kDevice;
using sim::Simulator;

constexpr int64_t kEpochs = 5, kRows = 20, kBatch = 2, kSide = 32, kSteps = kEpochs * kRows / kBatch;
static_assert(kSteps == 50);

// Images with a wave whose frequency depends on the class.
dataset::Dataset::Ptr images() {
  dataset::GeneratorDataset::Options o;
  o.column_names = {"image", "label"};
  o.size = kRows;
  o.shuffle = true;
  o.row = [](int64_t row) {
    const auto label = static_cast<double>(row % 10);
    std::vector<float> v(3 * kSide * kSide);
    for (size_t i = 0; i < v.size(); ++i) {
      const double noise = static_cast<double>(mix64(static_cast<uint64_t>(row) << 32 | i) >> 40) * 0x1p-24;
      v[i] = static_cast<float>(std::sin(0.1 * (label + 1) * static_cast<double>(i % kSide)) + noise);
    }
    return dataset::GeneratorDataset::Row{Tensor::from_vector({3, kSide, kSide}, v), Tensor::scalar(label, DType::kInt32)};
  };
  return dataset::GeneratorDataset::make(o)->batch(kBatch, {.drop_remainder = true});
}

struct Outcome {
  std::vector<double> losses;
  std::vector<std::pair<std::string, Tensor>> state;  // weights, moving statistics, momenta, on the host
};

Outcome train_on(Device device, Mode mode) {
  const DeviceScope here(device);
  set_seed(5);
  ops::reset_rng(5);
  set_mode(mode);
  const nn::CellPtr net = models::create("resnet18", {.num_classes = 10});
  const auto optimizer =
      std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.002, .momentum = 0.9, .weight_decay = 1e-4});
  train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer);
  TensorList losses;
  const auto note = std::make_shared<train::LambdaCallback>([&](train::TrainState& s) { losses.push_back(s.net_outputs); });
  model.train(kEpochs, images(), {note}, {.dataset_sink_mode = false});
  Outcome out;
  for (const Tensor& loss : losses) EXPECT_EQ(loss.device(), device);
  out.losses = read_values(losses);
  for (const auto& [name, p] : net->parameters_and_names()) out.state.emplace_back(name, p->stored().to({}));
  for (const Parameter* p : optimizer->state()) out.state.emplace_back(p->name(), p->stored().to({}));
  return out;
}

class DeviceTraining : public ::testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    Simulator::get().repair();
    set_strict(true);
  }
  void TearDown() override {
    Simulator::get().set_delays(0, 0);
    set_strict(false);
    set_mode(Mode::kGraph);
  }
};

TEST_P(DeviceTraining, ResNet18HasTheBitsOfTheCpu) {
  const Outcome cpu = train_on({}, GetParam());
  ASSERT_EQ(cpu.losses.size(), static_cast<size_t>(kSteps));
  EXPECT_GT(std::set<double>(cpu.losses.begin(), cpu.losses.end()).size(), 45u) << "it trains";
  for (const double loss : cpu.losses) EXPECT_TRUE(std::isfinite(loss));
  Simulator::get().set_delays(GetParam() == Mode::kGraph ? 1 : 2, 100, 0.1);
  const Outcome sim = train_on(kDevice, GetParam());
  EXPECT_EQ(sim.losses, cpu.losses);
  ASSERT_EQ(sim.state.size(), cpu.state.size());
  for (size_t i = 0; i < cpu.state.size(); ++i) {
    EXPECT_EQ(sim.state[i].first, cpu.state[i].first);
    EXPECT_EQ(sim.state[i].second.to_vector<double>(), cpu.state[i].second.to_vector<double>()) << cpu.state[i].first;
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, DeviceTraining, ::testing::Values(Mode::kGraph, Mode::kPynative),
                         [](const auto& mode) { return mode.param == Mode::kGraph ? "Graph" : "Pynative"; });

}  // namespace
}  // namespace sindri::test::device_training
