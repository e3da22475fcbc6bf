// Clipping of values and gradients against values computed by hand.
#include "sindri/optim/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sindri/core/error.h"

namespace sindri::optim {
namespace clip_samples {

void expect_near(const Tensor& got, const std::vector<double>& want, double tolerance) {
  const std::vector<double> values = got.to_vector<double>();
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], tolerance) << i;
}

TEST(Clip, ByValueNormAndGlobalNorm) {
  const Tensor x = Tensor::from_values({2}, {3, 4}), y = Tensor::from_values({1}, {12});
  EXPECT_EQ(clip_by_value(x, -1, 3.5).to_vector<double>(), (std::vector<double>{3, 3.5}));
  expect_near(clip_by_norm(x, 1), {0.6, 0.8}, 1e-7);
  expect_near(clip_by_norm(x, 10), {3, 4}, 0);
  // The norm of half values exceeds their range; that of float64 has more digits than float32.
  const Tensor half = clip_by_norm(Tensor::from_values({2}, {45000, 60000}, DType::kFloat16), 5);
  EXPECT_EQ(half.dtype(), DType::kFloat16);
  expect_near(half, {3, 4}, 4e-3);
  const Tensor wide = clip_by_norm(Tensor::from_values({2}, {0.1, 0.1}, DType::kFloat64), 0.1);
  expect_near(wide, {0.1 / std::sqrt(2.0), 0.1 / std::sqrt(2.0)}, 1e-16);
  EXPECT_NEAR(global_norm({x, y}).item(), 13, 1e-6);
  const TensorList clipped = clip_by_global_norm({x, y}, 6.5);
  expect_near(clipped[0], {1.5, 2}, 1e-6);
  expect_near(clipped[1], {6}, 1e-6);
  expect_near(clip_by_global_norm({x}, 5)[0], {3, 4}, 0);
  EXPECT_THROW(clip_by_value(x, 2, 1), ValueError);
  EXPECT_THROW(clip_by_norm(x, 0), ValueError);
  EXPECT_THROW(clip_by_global_norm({}, 1), ValueError);
  EXPECT_THROW(total_norm({x}, 0), ValueError);
}

TEST(Clip, LimitsMayBeTensors) {
  const Tensor x = Tensor::from_values({2}, {3, 4}), y = Tensor::from_values({1}, {12});
  expect_near(clip_by_norm(x, Tensor::scalar(1)), {0.6, 0.8}, 1e-7);
  expect_near(clip_by_global_norm({x, y}, Tensor::scalar(6.5))[0], {1.5, 2}, 1e-6);
  expect_near(clip_by_global_norm({x}, Tensor::scalar(5), Tensor::scalar(50))[0], {0.3, 0.4}, 1e-7);
}

// 3, 4 and 12: sums of |x|^p by hand.
TEST(Clip, ByTheNormOfAnyOrder) {
  const Tensor x = Tensor::from_values({2}, {3, -4}), y = Tensor::from_values({1}, {12});
  EXPECT_NEAR(total_norm({x, y}, 1).item(), 19, 1e-5);
  EXPECT_NEAR(total_norm({x, y}, 2).item(), 13, 1e-5);
  EXPECT_EQ(total_norm({x, y}, std::numeric_limits<double>::infinity()).item(), 12);
  const TensorList clipped = clip_by_total_norm({x, y}, 1.9, total_norm({x, y}, 1));
  expect_near(clipped[0], {0.3, -0.4}, 1e-6);
  expect_near(clipped[1], {1.2}, 1e-6);
  expect_near(clip_by_total_norm({x}, 50, total_norm({x}, 2))[0], {3, -4}, 0);
  // One float64 among them: the norm has float64's digits, and each gradient keeps its type.
  const TensorList mixed = clip_by_global_norm({Tensor::from_values({1}, {3}), Tensor::from_values({1}, {4}, DType::kFloat64)}, 1);
  EXPECT_EQ(mixed[0].dtype(), DType::kFloat32);
  EXPECT_EQ(mixed[1].item(), 0.8);
}

}  // namespace clip_samples
}  // namespace sindri::optim
