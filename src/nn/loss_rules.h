// Helpers shared by the rules of losses.
#pragma once
#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/nn/registry.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/loss.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"

namespace sindri::nn {

using Tensors = Span<const Tensor>;

inline void check_same_shape(const char* who, const Tensor& logits, const Tensor& labels) {
  if (logits.shape() != labels.shape())
    throw ShapeError(fmt::format("{}: expected one shape, got {} and {}", who, logits.meta().str(), labels.meta().str()), "",
                     "reshape or broadcast one of them first");
}

/// Converts two tensors of different floating types to the type that can hold both: computing in the narrower one would lose digits.
inline void to_common_type(Tensor* a, Tensor* b) {
  if (a->dtype() == b->dtype() || !is_floating(a->dtype()) || !is_floating(b->dtype())) return;
  const DType both = promote_types(a->dtype(), b->dtype());
  *a = ops::cast(*a, both);
  *b = ops::cast(*b, both);
}

/// Half types can hold neither the sum nor the count of many rows.
inline Tensor wide(const Tensor& x) { return is_half(x.dtype()) ? ops::cast(x, DType::kFloat32) : x; }

/// [N, C, d...] -> [N·d..., C], so that each row is one distribution.
Tensor classes_last(const Tensor& x);

inline Tensor minimum(const Tensor& x, double most) { return ops::minimum(x, ops::scalar_like(x, most)); }
inline Tensor maximum(const Tensor& x, double least) { return ops::maximum(x, ops::scalar_like(x, least)); }
/// Returns a where x equals `number`, b elsewhere.
inline Tensor where_equal(const Tensor& x, double number, const Tensor& a, const Tensor& b) {
  return ops::where(ops::equal(x, ops::scalar_like(x, number)), a, b);
}

inline SettingSpec number_setting(const char* name, const char* fallback, const char* doc, double min = -std::numeric_limits<double>::infinity()) {
  return {.name = name, .type = SettingType::kFloat, .fallback = fallback, .doc = doc, .min = min};
}
inline SettingSpec bool_setting(const char* name, const char* fallback, const char* doc) {
  return {.name = name, .type = SettingType::kBool, .fallback = fallback, .doc = doc};
}
inline SettingSpec int_setting(const char* name, const char* fallback, const char* doc) {
  return {.name = name, .type = SettingType::kInt, .fallback = fallback, .doc = doc};
}

/// Lower bound for values that must be above 0.
inline constexpr double kAboveZero = 1e-30;

}  // namespace sindri::nn
