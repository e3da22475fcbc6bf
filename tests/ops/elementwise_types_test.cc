// Every elementwise op without required attributes, with one and with two inputs, over the types: half types against float64, and all kernels at the limits of
// the integers and at infinities and NaN. The ops come from the table, so a new one is tested as well.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"
#include "sindri/op/tensor_fn.h"

namespace sindri::elementwise_types_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

// The number of inputs of one type that the op accepts in this type; 0 if it refuses the type.
std::optional<size_t> inputs_of(const OpDef& op, DType t) {
  for (const size_t count : {size_t{1}, size_t{2}}) {
    try {
      const std::vector<TensorMeta> in(count, TensorMeta{Shape{1}, t, Layout::kContiguous, {}});
      if (op.infer(op.attrs.make({}), in).size() == 1) return count;
    } catch (const Error&) {}
  }
  return std::nullopt;
}

// All pairs of the values for two inputs; the values themselves for one.
TensorList operands(const std::vector<double>& values, size_t count, DType t) {
  std::vector<double> a, b;
  for (const double x : values)
    for (const double y : count == 2 ? values : std::vector<double>{0}) a.push_back(x), b.push_back(y);
  const Shape shape{static_cast<int64_t>(a.size())};
  TensorList out{Tensor::from_values(shape, a, t)};
  if (count == 2) out.push_back(Tensor::from_values(shape, b, t));
  return out;
}

Tensor run(const OpDef& op, const TensorList& in) { return sindri::bind(op, op.attrs.make({}), in)[0]; }

// The distance between neighbouring values of the type at this magnitude.
double spacing(double v, DType t) {
  const int digits = t == DType::kBFloat16 ? 8 : 11, least = t == DType::kBFloat16 ? -126 : -14;
  return std::ldexp(1.0, std::max(v == 0 ? least : std::ilogb(v), least) - digits + 1);
}

TEST(ElementwiseTypes, HalfTypesAreComputedInFloat32AndRoundedOnce) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back((i % 2 == 0 ? 1 : -1) * 0.037 * std::pow(1.21, i));  // up to 60
  for (const double v : {0.0, 0.25, 1.0, 3.0, 10.0}) values.push_back(v);
  size_t asked = 0;
  for (const OpDef* op : all_ops()) {
    for (const DType t : {DType::kBFloat16, DType::kFloat16}) {
      const std::optional<size_t> count = op->traits.elementwise ? inputs_of(*op, t) : std::nullopt;
      if (!count) continue;
      const TensorList in = operands(values, *count, t);
      TensorList exact_in;
      for (const Tensor& x : in) exact_in.push_back(Tensor::from_values(x.shape(), x.to_vector<double>(), DType::kFloat64));
      const Tensor half = run(*op, in), exact = run(*op, exact_in);
      if (half.dtype() != t) continue;  // a predicate
      ++asked;
      const std::vector<double> h = half.to_vector<double>(), e = exact.to_vector<double>(), a = in[0].to_vector<double>();
      const double most = t == DType::kBFloat16 ? 3.3895313892515355e38 : 65504;
      for (size_t i = 0; i < h.size(); ++i) {
        if (std::isnan(e[i]) && std::isnan(h[i])) continue;
        if (h[i] == e[i] || (std::abs(e[i]) > most && std::abs(h[i]) >= most)) continue;
        ASSERT_LE(std::abs(h[i] - e[i]), spacing(e[i], t)) << op->name << " of " << dtype_name(t) << ' ' << a[i] << ": " << h[i] << ", in float64 " << e[i];
      }
    }
  }
  EXPECT_GT(asked, 60u);
}

void expect_kernels_agree(const OpDef& op, const TensorList& in) {
  const auto with = [&](const char* kernel) {
    const ForceKernel force(kernel);
    return run(op, in).to_vector<double>();
  };
  const std::vector<double> expected = with("reference"), a = in[0].to_vector<double>(), b = in.back().to_vector<double>();
  for (const KernelDef* k : kernels_of(op.name)) {
    if (std::string_view(k->name) == "reference") continue;
    std::vector<double> got;
    try {
      got = with(k->name);
    } catch (const DeviceError&) {
      continue;  // it was rejected
    }
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(got[i]) && std::isnan(expected[i])) continue;
      // Both are correct to a few roundings of float32, and infinite where that type overflows.
      const bool near = got[i] == expected[i] || std::abs(got[i] - expected[i]) <= 2e-6 * std::abs(expected[i]) || std::abs(got[i] - expected[i]) < 2e-38;
      ASSERT_TRUE(near) << op.name << ", kernel " << k->name << ", " << dtype_name(in[0].dtype()) << " at " << a[i] << ", " << b[i] << ": " << got[i]
                        << ", reference " << expected[i];
    }
  }
}

TEST(ElementwiseTypes, KernelsAgreeAtTheEndsOfTheTypes) {
  const double low64 = -0x1p63, high64 = 0x1.fffffffffffffp62;  // the largest double below 2^63
  size_t asked = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->traits.elementwise) continue;
    for (const DType t : {DType::kUInt8, DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64}) {
      const std::optional<size_t> count = inputs_of(*op, t);
      if (!count) continue;
      std::vector<double> values;
      if (t == DType::kUInt8) values = {0, 1, 2, 127, 128, 254, 255};
      else if (t == DType::kInt32) values = {-2147483648.0, -2147483647.0, -7, -1, 0, 1, 2, 63, 2147483646.0, 2147483647.0};
      else if (t == DType::kInt64) values = {low64, -0x1p53, -7, -1, 0, 1, 2, 63, 0x1p53, high64};
      else if (std::string_view(op->name).ends_with("_grad")) values = {-50, -1, -1e-30, -0.0, 0.0, 1e-30, 0.5, 1, 3, 50};  // possible outputs
      else values = {-kInf, -3.4e38, -50, -1, -1e-30, -0.0, 0.0, 1e-30, 0.5, 1, 3, 50, 3.4e38, kInf, kNan};
      ++asked;
      expect_kernels_agree(*op, operands(values, *count, t));
    }
  }
  EXPECT_GT(asked, 150u);
}

}  // namespace
}  // namespace sindri::elementwise_types_test
