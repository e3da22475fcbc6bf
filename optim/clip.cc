// Clipping; see the header for the formulas.
#include "sindri/optim/clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/power.h"
#include "sindri/ops/shape.h"

namespace sindri::optim {

namespace {

void check_clip_norm(const char* who, double clip_norm) {
  if (!(clip_norm > 0)) throw ValueError(fmt::format("{}: clip_norm must be positive, got {}", who, clip_norm));
}

Tensor in_type(const Tensor& x, DType dtype) { return x.dtype() == dtype ? x : ops::cast(x, dtype); }

// Norms of half types overflow easily.
Tensor wide(const Tensor& x) { return is_half(x.dtype()) || !is_floating(x.dtype()) ? ops::cast(x, DType::kFloat32) : x; }

// The type of the norm over all tensors: float64 if one of them is, so that no precision is lost.
DType widest(const char* who, const TensorList& xs) {
  if (xs.empty()) throw ValueError(fmt::format("{}: no tensors are given", who));
  const bool is_double = std::any_of(xs.begin(), xs.end(), [](const Tensor& x) { return x.dtype() == DType::kFloat64; });
  return is_double ? DType::kFloat64 : DType::kFloat32;
}

TensorList scaled(const TensorList& xs, const Tensor& factor) {
  TensorList out;
  for (const Tensor& x : xs) out.push_back(in_type(ops::mul(wide(x), factor), x.dtype()));
  return out;
}

// limit/max(norm, limit): exactly 1 for norms up to the limit.
Tensor shrinking(const Tensor& norm, const Tensor& limit) { return ops::div(limit, ops::maximum(norm, limit)); }

}  // namespace

Tensor clip_by_value(const Tensor& x, double lo, double hi) {
  if (!(lo <= hi)) throw ValueError(fmt::format("clip_by_value: the range [{}, {}] is empty", lo, hi));
  return ops::clamp(x, lo, hi);
}

Tensor clip_by_norm(const Tensor& x, double clip_norm, const ops::Axes& axes) {
  check_clip_norm("clip_by_norm", clip_norm);
  return clip_by_norm(x, ops::full({}, clip_norm, wide(x).dtype()), axes);
}

Tensor clip_by_norm(const Tensor& x, const Tensor& clip_norm, const ops::Axes& axes) {
  const Tensor w = wide(x), norm = ops::norm(w, 2.0, axes, true);
  return in_type(ops::mul(w, shrinking(norm, in_type(clip_norm, norm.dtype()))), x.dtype());
}

Tensor global_norm(const TensorList& xs) {
  const DType dtype = widest("global_norm", xs);
  Tensor total;
  for (const Tensor& x : xs) {
    const Tensor s = in_type(ops::sum(ops::square(wide(x))), dtype);
    total = total.defined() ? ops::add(total, s) : s;
  }
  return ops::power_or_zero(total, 0.5);
}

TensorList clip_by_global_norm(const TensorList& xs, double clip_norm) {
  check_clip_norm("clip_by_global_norm", clip_norm);
  return clip_by_global_norm(xs, ops::full({}, clip_norm, widest("clip_by_global_norm", xs)));
}

TensorList clip_by_global_norm(const TensorList& xs, const Tensor& clip_norm, const Tensor& norm) {
  const DType dtype = widest("clip_by_global_norm", xs);
  return scaled(xs, shrinking(norm.defined() ? in_type(norm, dtype) : global_norm(xs), in_type(clip_norm, dtype)));
}

Tensor total_norm(const TensorList& xs, double p) {
  if (!(p > 0)) throw ValueError(fmt::format("total_norm: p must be positive, got {}", p));
  const DType dtype = widest("total_norm", xs);
  TensorList parts;
  for (const Tensor& x : xs) {
    const Tensor size = ops::abs(in_type(wide(x), dtype));
    parts.push_back(std::isinf(p) ? ops::max(size) : ops::sum(p < 2 ? ops::power_or_zero(size, p) : ops::pow(size, p)));
  }
  const Tensor all = ops::stack(parts, 0);
  return std::isinf(p) ? ops::max(all) : ops::power_or_zero(ops::sum(all), 1.0 / p);
}

TensorList clip_by_total_norm(const TensorList& xs, double max_norm, const Tensor& norm) {
  const Tensor factor = ops::div(ops::full({}, max_norm, norm.dtype()), ops::add(norm, 1e-6));
  return scaled(xs, ops::minimum(factor, ops::full({}, 1, norm.dtype())));
}

}  // namespace sindri::optim
