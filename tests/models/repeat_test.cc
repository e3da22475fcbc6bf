// Training is bitwise reproducible: with the same seed and threads, and in strict mode with any number of threads.
#include <gtest/gtest.h>

#include <cstring>

#include "sindri/core/context.h"
#include "sindri/core/rng.h"
#include "sindri/models/models.h"
#include "sindri/nn/loss.h"
#include "sindri/ops/random.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/train_step.h"

namespace sindri::test {
namespace {

class NetAndLoss : public nn::Cell {
 public:
  explicit NetAndLoss(const std::string& name)
      : Cell("NetAndLoss"),
        net_(child("net", models::create(name))),
        loss_(child("loss", nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}))) {}
  nn::Value construct_values(Span<const nn::Value> in) override {
    const nn::Value pair[] = {net_->call(in.first(1)), in[1]};
    return loss_->call(pair);
  }

 private:
  nn::CellPtr net_, loss_;
};

std::vector<float> losses(const std::string& name, int64_t batch, int steps) {
  set_seed(11);
  ops::reset_rng(11);
  NetAndLoss net(name);
  net.set_train();
  optim::Momentum optimizer(net.trainable_params(), optim::MomentumOptions{.learning_rate = 0.02, .momentum = 0.9});
  train::TrainStep step = train::make_train_step(net, optimizer);
  train::StepRunner run(step);
  const Shape image = models::input_shape(name);
  std::vector<float> out;
  for (int i = 0; i < steps; ++i) {
    const Tensor x = ops::random_normal({batch, image[0], image[1], image[2]});
    std::vector<int32_t> labels(static_cast<size_t>(batch));
    for (size_t n = 0; n < labels.size(); ++n) labels[n] = static_cast<int32_t>((n + static_cast<size_t>(i)) % 10);
    out.push_back(static_cast<float>(run({x, Tensor::from_vector<int32_t>({batch}, labels)}, i).loss.item()));
  }
  return out;
}

void expect_equal_bits(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(0, std::memcmp(&a[i], &b[i], sizeof(float))) << "loss of step " << i << ": " << a[i] << " and " << b[i];
}

class Repeat : public ::testing::TestWithParam<const char*> {
 protected:
  void TearDown() override {
    set_strict(false);
    set_num_threads(threads_);
  }
  const int threads_ = num_threads();
};

TEST_P(Repeat, SlowSameSeedAndThreadsGiveTheSameBits) { expect_equal_bits(losses(GetParam(), 8, 200), losses(GetParam(), 8, 200)); }

TEST_P(Repeat, SlowStrictModeGivesTheSameBitsForAnyThreads) {
  set_strict(true);
  set_num_threads(1);
  const std::vector<float> one = losses(GetParam(), 8, 200);
  set_num_threads(2);
  expect_equal_bits(one, losses(GetParam(), 8, 200));
  EXPECT_NE(one.front(), one.back());
}

INSTANTIATE_TEST_SUITE_P(Nets, Repeat, ::testing::Values("lenet", "resnet20"), [](const auto& net) { return std::string(net.param); });

}  // namespace
}  // namespace sindri::test
