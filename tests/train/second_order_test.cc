// A second-order optimizer in a training step: uses reach precondition with the documented scaling; each variant has a separate graph; a skipped step leaves
// the curvature unchanged. The expected weights are plain loops over doubles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "sindri/core/context.h"
#include "sindri/nn/cell.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "sindri/train/train_step.h"

namespace sindri::train {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kDamping = 0.2, kRate = 0.1;
constexpr int64_t kSamples = 4;

// mean((x Wᵀ - t)²) with W [1, 2].
class LeastSquares final : public nn::Cell {
 public:
  LeastSquares() : Cell("LeastSquares"), weight_(param("weight", Tensor::from_values({1, 2}, {1, -1}, DType::kFloat64))) {}
  nn::Value construct_values(Span<const nn::Value> in) override {
    const Tensor y = ops::matmul(in[0].tensor(), weight_.value(), false, true);
    return ops::mean(ops::square(y - in[1].tensor()));
  }
  Parameter& weight() { return weight_; }

 private:
  Parameter& weight_;
};

// W -= rate·dW·(aᵀa/N + damping)⁻¹·(gᵀg·N + damping)⁻¹; variant 0 computes the inverses, variant 1 reuses them.
class Kfac final : public optim::Optimizer {
 public:
  explicit Kfac(std::vector<Parameter*> params) : Optimizer("Kfac", std::move(params), {.learning_rate = kRate}) { init_state(); }
  bool wants_uses() const override { return true; }
  int variant(int64_t step) const override { return step % 2 == 0 ? 0 : 1; }
  Gradients precondition(Gradients g) override {
    variants.push_back(g.variant);
    if (g.variant == 0) {
      const Tensor a = g.uses.at(0).input(), dy = g.uses.at(0).unscaled_output_grad();
      const double n = static_cast<double>(kSamples);
      refresh(a_inverse, ops::inverse(ops::matmul(a, a, true, false) / n + eye(2)), g.skip);
      refresh(g_inverse, ops::reciprocal(ops::matmul(dy, dy, true, false) * n + eye(1)), g.skip);
    }
    g.of_params[0] = ops::matmul(g_inverse.value(), ops::matmul(g.of_params[0], a_inverse.value()));
    return g;
  }

  std::vector<int> variants;  // variants of the calls
  Parameter a_inverse{Tensor::zeros({2, 2}, DType::kFloat64), "a_inverse", false}, g_inverse{Tensor::zeros({1, 1}, DType::kFloat64), "g_inverse", false};

 protected:
  std::vector<Slot> slots() const override { return {}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double, const optim::UpdateControl& c, const std::vector<Parameter*>&) override {
    Tensor g = grad * c.grad_scale;
    if (c.inv_scale.defined()) g = g * ops::cast(c.inv_scale, g.dtype());
    const Tensor next = p.value() - ops::cast(lr, g.dtype()) * g;
    return c.skip.defined() ? ops::where(c.skip, p.value(), next) : next;
  }

 private:
  static Tensor eye(int64_t n) {
    std::vector<double> v(static_cast<size_t>(n * n), 0);
    for (int64_t i = 0; i < n; ++i) v[static_cast<size_t>(i * (n + 1))] = kDamping;
    return Tensor::from_values({n, n}, v, DType::kFloat64);
  }
  static void refresh(Parameter& p, const Tensor& v, const Tensor& skip) { p.assign(skip.defined() ? ops::where(skip, p.value(), v) : v); }
};

struct Sample {
  std::array<double, kSamples * 2> x;
  std::array<double, kSamples> t;
};

Sample sample(int step) {
  Sample s{};
  for (size_t i = 0; i < s.x.size(); ++i) s.x[i] = std::sin(static_cast<double>(i) * 1.7 + step);
  for (size_t i = 0; i < s.t.size(); ++i) s.t[i] = std::cos(static_cast<double>(i) + 0.3 * step);
  return s;
}

TrainStep::Batch batch_of(const Sample& s) {
  return {Tensor::from_values({kSamples, 2}, {s.x.begin(), s.x.end()}, DType::kFloat64),
          Tensor::from_values({kSamples, 1}, {s.t.begin(), s.t.end()}, DType::kFloat64)};
}

// The same in loops; a step with samples that are not finite is skipped.
struct Expected {
  std::array<double, 2> w{1, -1};
  std::array<double, 4> a_inverse{};
  double g_inverse = 0;

  void step(const Sample& s, bool refresh) {
    if (!std::isfinite(s.t[0])) return;
    std::array<double, 2> dw{};
    std::array<double, 4> a{kDamping, 0, 0, kDamping};
    double gg = 0;
    for (size_t n = 0; n < s.t.size(); ++n) {
      const double x0 = s.x[2 * n], x1 = s.x[2 * n + 1], g = 2 * (x0 * w[0] + x1 * w[1] - s.t[n]) / kSamples;
      dw[0] += g * x0, dw[1] += g * x1, gg += g * g;
      a[0] += x0 * x0 / kSamples, a[1] += x0 * x1 / kSamples, a[2] += x0 * x1 / kSamples, a[3] += x1 * x1 / kSamples;
    }
    if (refresh) {
      const double det = a[0] * a[3] - a[1] * a[2];
      a_inverse = {a[3] / det, -a[1] / det, -a[2] / det, a[0] / det};
      g_inverse = 1 / (gg * kSamples + kDamping);
    }
    const std::array<double, 2> u{g_inverse * (dw[0] * a_inverse[0] + dw[1] * a_inverse[2]), g_inverse * (dw[0] * a_inverse[1] + dw[1] * a_inverse[3])};
    for (size_t i = 0; i < 2; ++i) w[i] -= kRate * u[i];
  }
};

class SecondOrderStep : public ::testing::TestWithParam<Mode> {
 protected:
  void SetUp() override { set_mode(GetParam()); }
  void TearDown() override { set_mode(Mode::kGraph); }
};
INSTANTIATE_TEST_SUITE_P(Modes, SecondOrderStep, ::testing::Values(Mode::kPynative, Mode::kGraph),
                         [](const auto& mode) { return mode.param == Mode::kGraph ? "graph" : "pynative"; });

void train(const TrainStepOptions& options, int broken_step) {
  LeastSquares net;
  Kfac optimizer(net.trainable_params());
  TrainStep step = make_train_step(net, optimizer, options);
  StepRunner runner(step);
  Expected want;
  for (int i = 0; i < 6; ++i) {
    Sample s = sample(i);
    if (i == broken_step) s.t[0] = std::numeric_limits<double>::infinity();
    runner(batch_of(s), i);
    want.step(s, i % 2 == 0);
    EXPECT_THAT(net.weight().stored().to_vector<double>(), ElementsAre(DoubleNear(want.w[0], 1e-12), DoubleNear(want.w[1], 1e-12))) << "step " << i;
  }
  if (context().mode == Mode::kGraph) EXPECT_THAT(optimizer.variants, ElementsAre(0, 1)) << "one trace per variant";
  else EXPECT_THAT(optimizer.variants, ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST_P(SecondOrderStep, PreconditionsWithTheUsesOfItsVariant) { train({}, -1); }

TEST_P(SecondOrderStep, IsFreeOfTheLossScale) {
  train({.loss_scale_manager = std::make_shared<FixedLossScaleManager>(1024, true)}, -1);
  train({.loss_scale_manager = std::make_shared<DynamicLossScaleManager>(4096, 2, 2)}, -1);
}

TEST_P(SecondOrderStep, LeftOutLeavesCurvatureAlone) { train({.loss_scale_manager = std::make_shared<FixedLossScaleManager>(1024, true)}, 2); }

}  // namespace
}  // namespace sindri::train
