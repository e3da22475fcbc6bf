// Elementwise ops beyond the common suite: special values, integer corner cases, type rules, bad arguments.
#include "sindri/ops/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sindri/autograd/grad.h"
#include "sindri/core/error.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri {
namespace {

TEST(Elementwise, Basics) {
  const Tensor a = Tensor::from_values({2, 2}, {1, -2, 3, 4}), b = Tensor::from_values({2}, {10, 20});
  EXPECT_EQ((a * b + 1.0).to_vector<double>(), (std::vector<double>{11, -39, 31, 81}));
  EXPECT_EQ(ops::mean(ops::relu(a)).item(), 2.0);
  const auto g = grad([](Span<const Tensor> in) { return TensorList{ops::sum(ops::relu(in[0]) * in[1])}; })(TensorList{a, b});
  EXPECT_EQ(g[0].to_vector<double>(), (std::vector<double>{10, 0, 10, 20}));
  EXPECT_EQ(g[1].to_vector<double>(), (std::vector<double>{4, 4}));
}

}  // namespace
}  // namespace sindri
