// Shared by the tests of Thor: small layers with values computed by hand, and one step's gradients.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "sindri/optim/thor.h"

namespace sindri::optim::thor_samples {

using Values = std::vector<double>;

inline Tensor tensor(const Shape& shape, const Values& values) { return Tensor::from_values(shape, values); }

inline Tensor drawn(const Shape& shape, uint32_t seed, double scale = 1) {
  std::mt19937 draw(seed);
  std::normal_distribution<double> normal(0, scale);
  Values v(static_cast<size_t>(shape.numel()));
  for (double& x : v) x = normal(draw);
  return tensor(shape, v);
}

inline void expect_near(const Tensor& got, const Values& want, double tolerance = 1e-5) {
  const Values values = got.to_vector<double>();
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], tolerance * std::max(1.0, std::abs(want[i]))) << i;
}

/// One step's gradients: of `result` = f(), whose gradient is `dout`.
inline Gradients gradients(const std::function<Tensor()>& f, const Tensor& dout, const std::vector<Parameter*>& params, int64_t samples, double scale = 1) {
  Tape tape({.uses = true});
  Tensor result;
  {
    const TraceScope scope(tape);
    result = f();
  }
  Gradients g = tape.backward({result}, {ops::mul(dout, scale)}, {}, params);
  for (ParamUse& use : g.uses) use.loss_scale = Tensor::scalar(scale);
  g.samples = samples;
  return g;
}

inline Tensor state(Thor& thor, const std::string& name) {
  for (const Parameter* p : thor.state())
    if (p->name() == name) return p->value();
  throw InternalError("no state " + name);
}

inline ThorOptions options(double damping, int64_t block = 0) {
  ThorOptions o;
  o.damping = damping;
  o.block_size = block;
  o.learning_rate = 0.1;
  return o;
}

// The dense layer of four samples that the values below belong to: λ = 0.04.
struct DenseCase {
  Parameter w{tensor({1, 2}, {1, -1}), "weight"};
  Tensor x = tensor({4, 2}, {1, 0, 0, 2, 1, 1, 0, 0}), dout = tensor({4, 1}, {0.25, -0.125, 0.125, 0.25});
  Gradients step(double scale = 1) {
    return gradients([&] { return ops::matmul(x, w.value(), false, true); }, dout, {&w}, 4, scale);
  }
};
inline const Values kDenseStep = {0.73172672, -0.23065299};

}  // namespace sindri::optim::thor_samples
