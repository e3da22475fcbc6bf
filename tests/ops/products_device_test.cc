// Products and convolutions on a CUDA device beyond the samples: large depths, which are summed in parts, many tiles, biases wider than the operands. Compares
// each kernel with the CPU's reference. Skipped if the current device is another.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "sindri/autograd/grad.h"
#include "sindri/core/error.h"
#include "sindri/device/device.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "tests/ops/compare.h"
#include "tests/ops/samples.h"

namespace sindri::test::products_device_test {
namespace {

class DeviceProducts : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (current_device().kind != Device::kCuda) GTEST_SKIP() << "needs SINDRI_TEST_DEVICE=cuda";
  }
  // Integers below 4, so that sums are exact in every order; on the host.
  static Tensor whole(const Shape& shape, int64_t step) {
    std::vector<double> v(static_cast<size_t>(shape.numel()));
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(static_cast<int64_t>(i) * step % 7 - 3);
    const DeviceScope host(Device{});
    return Tensor::from_values(shape, v, GetParam());
  }
  // Computes f of host operands by the reference, and of the same operands on the device by each kernel of `op` that accepts them.
  template <class F> void expect_equal(const char* op, const TensorList& in, F&& f) {
    Tensor expected;
    {
      const DeviceScope host(Device{});
      const ForceKernel reference("reference");
      expected = f(in);
    }
    TensorList there;
    for (const Tensor& t : in) there.push_back(t.to(current_device()));
    int ran = 0;
    for (const KernelDef* k : kernels_of(op, Device::kCuda)) {
      const ForceKernel force(k->name);
      Tensor actual;
      try {
        actual = f(there);
      } catch (const DeviceError& e) {
        if (std::string(e.what()).find("no kernel can compute it") == std::string::npos) throw;
        continue;  // rejected
      }
      ++ran;
      EXPECT_TRUE(same_bits(actual, expected)) << k->name << ", " << in[0].meta().str() << ", " << in[1].meta().str();
    }
    EXPECT_GE(ran, 1);
  }
};

// 2000 and more terms per sum: several parts, the last one shorter. Sizes at and around the edges of tiles, more than one in each direction.
TEST_P(DeviceProducts, GreatDepths) {
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{3, 5, 2000}, {64, 64, 1024}, {65, 63, 1541}, {1, 130, 3000}, {130, 70, 40}})
    for (int i = 0; i < 4; ++i) {
      const bool ta = (i & 1) != 0, tb = (i & 2) != 0;
      const TensorList in = {whole(ta ? Shape{k, m} : Shape{m, k}, 3), whole(tb ? Shape{n, k} : Shape{k, n}, 5)};
      expect_equal("matmul", in, [&](const TensorList& x) { return ops::matmul(x[0], x[1], ta, tb); });
    }
}
TEST_P(DeviceProducts, BatchesOfGreatDepth) {
  const TensorList in = {whole({2, 1, 4, 1100}, 3), whole({3, 1100, 6}, 5)};
  expect_equal("batch_matmul", in, [](const TensorList& x) { return ops::batch_matmul(x[0], x[1], false, false); });
}
// 4800 pixels per sum, in groups.
TEST_P(DeviceProducts, WeightGradientsOfManyPixels) {
  for (const int64_t groups : {1, 2}) {
    const ops::Conv2dAttrs attrs{.pad = {1, 1, 1, 1}, .groups = groups};
    const TensorList in = {whole({3, 6, 40, 40}, 3), whole({3, 4, 40, 40}, 5)};
    expect_equal("conv2d_weight_grad", in, [&](const TensorList& x) { return ops::conv2d_weight_grad(x[0], x[1], {6, 4 / groups, 3, 3}, attrs); });
  }
}
// 1152 inputs per pixel in few tiles: bias, residual and relu are applied to the sum of the parts.
TEST_P(DeviceProducts, BiasOfTheSameAndOfTheWiderType) {
  const OpDef& op = find_op("conv2d_bias_act");
  const Attrs attrs = op.attrs.make({{"pad", std::vector<int64_t>{1, 1, 1, 1}}, {"relu", true}});
  for (const bool wide : {false, true})
    for (const bool residual : {false, true}) {
      if (wide && !is_half(GetParam())) continue;
      TensorList in = {whole({1, 128, 5, 5}, 3), whole({9, 128, 3, 3}, 5), whole({9}, 4)};
      if (wide) {
        const DeviceScope host(Device{});
        in[2] = ops::cast(in[2], DType::kFloat32);
      }
      if (residual) in.push_back(whole({1, 9, 5, 5}, 2));
      expect_equal("conv2d_bias_act", in, [&](const TensorList& x) { return sindri::bind(op, attrs, x)[0]; });
    }
}

INSTANTIATE_TEST_SUITE_P(Types, DeviceProducts, ::testing::Values(DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64),
                         [](const auto& type) { return std::string(dtype_name(type.param)); });

}  // namespace
}  // namespace sindri::test::products_device_test
