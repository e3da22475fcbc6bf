// Optimizer updates over 50 steps against plain float64 loops, in place, with extreme settings, and with bad arguments.
#include "sindri/ops/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sindri/autograd/grad.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "src/core/tensor_impl.h"
#include "src/op/plan.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri {
namespace {

constexpr int kSteps = 50;
constexpr size_t kSize = 37;

std::vector<double> start() {
  return test::make_inputs({.op = "optimizer_test", .name = "start", .args = {{{kSize}}}}, DType::kFloat64)[0].to_vector<double>();
}
// A gradient that depends on the parameter, so that errors would feed back.
double gradient(double p, int step, size_t i) { return 0.3 * p + 0.5 * std::sin(static_cast<double>(step) + static_cast<double>(i)); }
double rate(int step) { return 0.05 / (1 + 0.1 * step); }

Tensor gradients(const Tensor& p, int step, double scale) {
  std::vector<double> g = p.to_vector<double>();
  for (size_t i = 0; i < g.size(); ++i) g[i] = gradient(g[i], step, i) / scale;
  return Tensor::from_values(p.shape(), g, p.dtype());
}
Tensor scalar(double v, DType t) { return Tensor::scalar(v, t); }

void expect_close(const Tensor& actual, const std::vector<double>& expected, const char* what) {
  const double tolerance = actual.dtype() == DType::kFloat64 ? 1e-12 : 1e-5;
  const std::vector<double> a = actual.to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << what << ", element " << i << ", " << dtype_name(actual.dtype());
}

class OptimizerSteps : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Types, OptimizerSteps, ::testing::Values(DType::kFloat32, DType::kFloat64),
                         [](const auto& type) { return std::string(dtype_name(type.param)); });

TEST_P(OptimizerSteps, Momentum) {
  const DType t = GetParam();
  const double m = 0.9, decay = 1e-2, scale = 1.0 / 64;
  for (const bool nesterov : {false, true}) {
    std::vector<double> p = start(), v(kSize);
    Tensor tp = Tensor::from_values({kSize}, p, t), tv = Tensor::zeros({kSize}, t);
    for (int step = 0; step < kSteps; ++step) {
      for (size_t i = 0; i < kSize; ++i) {
        const double g = gradient(p[i], step, i) + decay * p[i];
        v[i] = m * v[i] + g;
        p[i] -= rate(step) * (nesterov ? g + m * v[i] : v[i]);
      }
      const std::vector<Tensor> o = ops::momentum_update(tp, tv, gradients(tp, step, scale), scalar(rate(step), t), scalar(m, t), decay, scale, nesterov);
      tp = o[0];
      tv = o[1];
    }
    expect_close(tp, p, "param");
    expect_close(tv, v, "velocity");
  }
}

TEST_P(OptimizerSteps, Sgd) {
  const DType t = GetParam();
  struct Case {
    double momentum, dampening;
    bool nesterov;
  };
  for (const Case& c : {Case{0, 0, false}, Case{0.9, 0, false}, Case{0.9, 0.3, false}, Case{0.9, 0, true}}) {
    const double decay = 1e-2, scale = 0.25;
    std::vector<double> p = start(), v(kSize);
    Tensor tp = Tensor::from_values({kSize}, p, t), tv = Tensor::zeros({kSize}, t), stat = scalar(1, t);
    for (int step = 0; step < kSteps; ++step) {
      for (size_t i = 0; i < kSize; ++i) {
        double d = gradient(p[i], step, i) + decay * p[i];
        if (c.momentum != 0) {
          v[i] = step == 0 ? d : c.momentum * v[i] + (1 - c.dampening) * d;
          d = c.nesterov ? d + c.momentum * v[i] : v[i];
        }
        p[i] -= rate(step) * d;
      }
      const std::vector<Tensor> o =
          ops::sgd_update(tp, tv, stat, gradients(tp, step, scale), scalar(rate(step), t), c.momentum, c.dampening, decay, scale, c.nesterov);
      tp = o[0];
      tv = o[1];
      stat = o[2];
    }
    expect_close(tp, p, "param");
    expect_close(tv, v, "velocity");
    EXPECT_EQ(stat.item(), c.momentum == 0 ? 1 : 0);
  }
}

TEST_P(OptimizerSteps, Adam) {
  const DType t = GetParam();
  const double b1 = 0.9, b2 = 0.99, eps = 1e-8, decay = 1e-2, scale = 0.5;
  for (const bool nesterov : {false, true}) {
    std::vector<double> p = start(), m(kSize), v(kSize);
    Tensor tp = Tensor::from_values({kSize}, p, t), tm = Tensor::zeros({kSize}, t), tv = Tensor::zeros({kSize}, t);
    for (int step = 0; step < kSteps; ++step) {
      const double p1 = std::pow(b1, step + 1), p2 = std::pow(b2, step + 1);
      for (size_t i = 0; i < kSize; ++i) {
        const double g = gradient(p[i], step, i) + decay * p[i];
        m[i] = b1 * m[i] + (1 - b1) * g;
        v[i] = b2 * v[i] + (1 - b2) * g * g;
        const double direction = nesterov ? b1 * m[i] + (1 - b1) * g : m[i];
        p[i] -= rate(step) * std::sqrt(1 - p2) / (1 - p1) * direction / (std::sqrt(v[i]) + eps);
      }
      const std::vector<Tensor> o =
          ops::adam_update(tp, tm, tv, gradients(tp, step, scale), scalar(rate(step), t), scalar(p1, t), scalar(p2, t), b1, b2, eps, decay, scale, nesterov);
      tp = o[0];
      tm = o[1];
      tv = o[2];
    }
    expect_close(tp, p, "param");
    expect_close(tm, m, "m");
    expect_close(tv, v, "v");
  }
}

TEST_P(OptimizerSteps, AdamWeightDecay) {
  const DType t = GetParam();
  const double b1 = 0.9, b2 = 0.999, eps = 1e-6, decay = 0.1, scale = 0.5;
  std::vector<double> p = start(), m(kSize), v(kSize);
  Tensor tp = Tensor::from_values({kSize}, p, t), tm = Tensor::zeros({kSize}, t), tv = Tensor::zeros({kSize}, t);
  for (int step = 0; step < kSteps; ++step) {
    for (size_t i = 0; i < kSize; ++i) {
      const double g = gradient(p[i], step, i);
      m[i] = b1 * m[i] + (1 - b1) * g;
      v[i] = b2 * v[i] + (1 - b2) * g * g;
      p[i] -= rate(step) * (m[i] / (std::sqrt(v[i]) + eps) + decay * p[i]);
    }
    const std::vector<Tensor> o = ops::adam_weight_decay_update(tp, tm, tv, gradients(tp, step, scale), scalar(rate(step), t), b1, b2, eps, decay, scale);
    tp = o[0];
    tm = o[1];
    tv = o[2];
  }
  expect_close(tp, p, "param");
  expect_close(tm, m, "m");
  expect_close(tv, v, "v");
}

// Graphs donate states: every kernel must give a bitwise identical result if output i uses the memory of the state it replaces.
TEST(OptimizerUpdate, InPlace) {
  int checked = 0;
  for (const test::Sample& s : test::all_samples()) {
    const OpDef& op = find_op(s.op);
    if (op.traits.update_inputs == 0) continue;
    const Attrs attrs = op.attrs.make(s.attrs);
    for (const KernelDef* k : kernels_of(s.op)) {
      const ForceKernel force(k->name);
      const TensorList in = test::make_inputs(s, DType::kFloat32);
      const TensorList expected = sindri::bind(op, attrs, in);
      TensorList memory;
      std::vector<TensorMeta> metas;
      for (const Tensor& t : in) {
        memory.push_back(t.clone());
        metas.push_back(t.meta());
      }
      const auto plan = plan_op(op, attrs, metas);
      std::vector<Buffer> ins, outs;
      for (size_t i = 0; i < memory.size(); ++i) ins.push_back({memory[i].impl()->storage->data(), &plan->in[i]});
      for (size_t i = 0; i < plan->out.size(); ++i) outs.push_back({memory[i].impl()->storage->data(), &plan->out[i]});
      const Device device = current_device();
      run_plan(*plan, ins, outs, {nullptr, device.is_cpu() ? nullptr : &current_stream(device)});
      for (size_t i = 0; i < outs.size(); ++i)
        EXPECT_TRUE(test::same_bits(memory[i], expected[i])) << s.op << "/" << s.name << ", kernel " << k->name << ", output " << i;
      ++checked;
    }
  }
  EXPECT_GT(checked, 100);
}

TEST(OptimizerUpdate, InfiniteGradient) {
  const Tensor p = Tensor::from_values({2}, {1, 2}), v = Tensor::zeros({2}), g = Tensor::from_values({2}, {HUGE_VAL, 1});
  const std::vector<double> moved = ops::momentum_update(p, v, g, Tensor::scalar(0.5), Tensor::scalar(0.9))[0].to_vector<double>();
  EXPECT_EQ(moved, (std::vector<double>{-HUGE_VAL, 1.5}));
}

TEST(OptimizerUpdate, BadArguments) {
  const Tensor p = Tensor::zeros({3}), other = Tensor::zeros({4}), one = Tensor::scalar(1);
  EXPECT_THROW(ops::momentum_update(p, other, p, one, one), ShapeError);
  EXPECT_THROW(ops::momentum_update(p, p, other, one, one), ShapeError);
  EXPECT_THROW(ops::momentum_update(p, p, p, p, one), ShapeError);
  EXPECT_THROW(ops::momentum_update(p, p, p, one, one, -0.1), ValueError);
  EXPECT_THROW(ops::momentum_update(Tensor::zeros({3}, DType::kFloat16), p, p, one, one), DTypeError);
  EXPECT_THROW(ops::momentum_update(p, Tensor::zeros({3}, DType::kFloat64), p, one, one), DTypeError);
  EXPECT_THROW(ops::momentum_update(p, p, Tensor::zeros({3}, DType::kInt32), one, one), DTypeError);
  EXPECT_THROW(ops::sgd_update(p, p, one, p, one, -0.9), ValueError);
  EXPECT_THROW(ops::sgd_update(p, p, one, p, one, 0, 0, 0, 1, true), ValueError);
  EXPECT_THROW(ops::sgd_update(p, p, one, p, one, 0.9, 0.1, 0, 1, true), ValueError);
  EXPECT_THROW(ops::sgd_update(p, p, other, p, one, 0.9), ShapeError);
  EXPECT_THROW(ops::adam_update(p, p, other, p, one, one, one), ShapeError);
  EXPECT_THROW(ops::adam_update(p, p, p, p, one, one, one, 1.0), ValueError);
  EXPECT_THROW(ops::adam_update(p, p, p, p, one, one, one, 0.9, 0.999, -1), ValueError);
  EXPECT_THROW(ops::adam_weight_decay_update(p, p, p, p, one, 0.9, -0.1), ValueError);
  EXPECT_THROW(ops::adagrad_update(p, other, p, one), ShapeError);
  EXPECT_THROW(ops::adagrad_update(p, p, p, one, true, -1), ValueError);
  EXPECT_THROW(ops::adagrad_update(Tensor::zeros({3}, DType::kBFloat16), p, p, one), DTypeError);
  EXPECT_THROW(ops::adadelta_update(p, p, p, p, one, 1.1), ValueError);
  EXPECT_THROW(ops::rmsprop_update(p, p, p, other, one), ShapeError);
  EXPECT_THROW(ops::rmsprop_centered_update(p, p, p, p, p, one, -0.1), ValueError);
  EXPECT_THROW(ops::ftrl_update(p, p, p, p, one, 0.5), ValueError);
  EXPECT_THROW(ops::ftrl_update(p, p, p, p, one, -0.5, -1), ValueError);
  EXPECT_THROW(ops::adamax_update(p, p, p, p, one, p), ShapeError);
  EXPECT_THROW(ops::amsgrad_update(p, p, p, p, p, one, one, one, 1.0), ValueError);
  EXPECT_THROW(ops::lamb_direction(p, p, p, p, one, one, 0.9, 0.999, -1), ValueError);
}

// m/(1 - 0.9) = sqrt(v/(1 - 0.999)) = 1e-8, as large as the eps.
TEST(LambDirection, TheDefaultsOfTheFunctionAreThoseOfTheOp) {
  const Tensor zero = Tensor::full({1}, 0, DType::kFloat64), grad = Tensor::full({1}, 1e-8, DType::kFloat64);
  const Tensor power1 = Tensor::full({}, 0.9, DType::kFloat64), power2 = Tensor::full({}, 0.999, DType::kFloat64);
  EXPECT_NEAR(ops::lamb_direction(zero, zero, zero, grad, power1, power2)[0].item(), 0.5, 1e-9);
  const OpDef& op = find_op("lamb_direction");
  const std::vector<Tensor> in = {zero, zero, zero, grad, power1, power2};
  EXPECT_NEAR(sindri::bind(op, op.attrs.make({}), Span<const Tensor>(in))[0].item(), 0.5, 1e-9);
}

TEST(GroupUpdate, BadArguments) {
  const Tensor p = Tensor::full({4}, 1), lr = scalar(0.1, DType::kFloat32);
  const OpDef& op = find_op("group_update");
  const auto call = [&](const std::string& update, int64_t tensors, const std::vector<Tensor>& in) {
    return sindri::bind(op, op.attrs.make({{"update", update}, {"tensors", tensors}}), Span<const Tensor>(in));
  };
  const std::vector<Tensor> one = {p, p, p, lr, lr};
  EXPECT_EQ(call("momentum_update {nesterov=true}", 1, one).size(), 2u);
  EXPECT_THROW(call("relu", 1, {p}), ValueError);
  EXPECT_THROW(call("momentum", 1, one), ValueError);
  EXPECT_THROW(call("", 1, one), ValueError);
  EXPECT_THROW(call("momentum_update {nesterov=true", 1, one), ValueError);
  EXPECT_THROW(call("momentum_update {decay=0.1}", 1, one), ValueError);
  EXPECT_THROW(call("momentum_update {} momentum_update", 1, one), ValueError);
  EXPECT_THROW(call("momentum_update", 0, one), ValueError);
  EXPECT_THROW(call("momentum_update", -1, one), ValueError);
  EXPECT_THROW(call("momentum_update", 2, one), ValueError);
  EXPECT_THROW(call("momentum_update", int64_t{1} << 62, one), ValueError);
  EXPECT_THROW(call("momentum_update", 1, {p, p, Tensor::full({5}, 1), lr, lr}), ShapeError);
  EXPECT_THROW(call("momentum_update", 1, {p, p, p, p, lr}), ShapeError);  // lr must be a scalar
  const Tensor image = Tensor::full({1, 2, 3, 4}, 1), moved = convert_layout(image, Layout::kChannelsLast);
  EXPECT_THROW(call("momentum_update", 1, {image, moved, image, lr, lr}), ValueError);
  EXPECT_EQ(call("momentum_update", 1, {moved, moved, moved, lr, lr})[0].layout(), Layout::kChannelsLast);
}

// Without an epsilon, the root of a state that has seen only zero gradients is 0: 0/0 makes no step instead of a NaN. The other element moves.
TEST_P(OptimizerSteps, AWeightWithoutGradientStaysWithoutEpsilon) {
  const DType t = GetParam();
  struct Case {
    const char* op;
    int states;
    std::vector<double> scalars;
    AttrFields attrs = {{"eps", 0.0}};
  };
  const std::vector<Case> cases = {
      {"adagrad_update", 1, {0.1}, {}},      {"adadelta_update", 2, {0.1}},          {"rmsprop_update", 2, {0.1}},     {"rmsprop_centered_update", 3, {0.1}},
      {"adam_update", 2, {0.1, 0.9, 0.999}}, {"adam_weight_decay_update", 2, {0.1}}, {"adamax_update", 2, {0.1, 0.9}}, {"amsgrad_update", 3, {0.1, 0.9, 0.999}},
      {"lamb_direction", 2, {0.9, 0.999}}};
  for (const Case& c : cases) {
    TensorList in{Tensor::from_values({2}, {1, 2}, t)};
    for (int i = 0; i < c.states; ++i) in.push_back(Tensor::zeros({2}, t));
    in.push_back(Tensor::from_values({2}, {0, 1}, t));
    for (const double v : c.scalars) in.push_back(scalar(v, t));
    const OpDef& op = find_op(c.op);
    for (const KernelDef* kernel : kernels_of(c.op)) {
      const ForceKernel force(kernel->name);
      const std::vector<double> p = sindri::bind(op, op.attrs.make(c.attrs), in)[0].to_vector<double>();
      EXPECT_EQ(p[0], std::string_view(c.op) == "lamb_direction" ? 0 : 1) << c.op << ", kernel " << kernel->name;
      EXPECT_TRUE(std::isfinite(p[1]) || std::string_view(c.op) == "adadelta_update") << c.op << ", kernel " << kernel->name << ": " << p[1];
    }
  }
}

// s - c² of RMSProp is a variance; rounding makes it negative if all gradients are alike.
TEST_P(OptimizerSteps, CenteredRmsPropOfConstantGradientsStaysFinite) {
  const DType t = GetParam();
  const OpDef& op = find_op("rmsprop_centered_update");
  for (const KernelDef* kernel : kernels_of(op.name)) {
    const ForceKernel force(kernel->name);
    TensorList state{Tensor::zeros({kSize}, t), Tensor::zeros({kSize}, t), Tensor::zeros({kSize}, t), Tensor::zeros({kSize}, t)};
    std::vector<double> g;
    for (size_t i = 0; i < kSize; ++i) g.push_back(0.1 + 0.37 * static_cast<double>(i));
    for (int step = 0; step < 300; ++step) {
      TensorList in = state;
      in.push_back(Tensor::from_values({kSize}, g, t));
      in.push_back(scalar(0.01, t));
      state = sindri::bind(op, op.attrs.make({{"decay", 0.9}, {"eps", 1e-30}}), in);
    }
    for (const double p : state[0].to_vector<double>()) ASSERT_FALSE(std::isnan(p)) << kernel->name;
  }
}

}  // namespace
}  // namespace sindri
