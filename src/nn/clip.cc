// Clipping; see the header for the formulas.
#include "sindri/nn/clip.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"

namespace sindri::nn {

namespace {

void check_clip_norm(const char* who, double clip_norm) {
  if (!(clip_norm > 0)) throw ValueError(fmt::format("{}: clip_norm must be positive, got {}", who, clip_norm));
}

// Norms of half types soon leave their range.
Tensor wide(const Tensor& x) { return is_half(x.dtype()) ? ops::cast(x, DType::kFloat32) : x; }

}  // namespace

Tensor clip_by_value(const Tensor& x, double lo, double hi) {
  if (!(lo <= hi)) throw ValueError(fmt::format("clip_by_value: the range [{}, {}] is empty", lo, hi));
  return ops::clamp(x, lo, hi);
}

Tensor clip_by_norm(const Tensor& x, double clip_norm, const ops::Axes& axes) {
  check_clip_norm("clip_by_norm", clip_norm);
  const Tensor norm = ops::norm(wide(x), 2.0, axes, true);
  const Tensor limit = ops::full({}, clip_norm, norm.dtype());
  return ops::cast(ops::mul(x, ops::div(limit, ops::maximum(norm, limit))), x.dtype());
}

Tensor global_norm(const TensorList& xs) {
  if (xs.empty()) throw ValueError("global_norm: no tensors are given");
  Tensor total;
  for (const Tensor& x : xs) {
    const Tensor s = ops::sum(ops::square(wide(x)));
    total = total.defined() ? ops::add(total, s) : s;
  }
  return ops::sqrt(total);
}

TensorList clip_by_global_norm(const TensorList& xs, double clip_norm) {
  check_clip_norm("clip_by_global_norm", clip_norm);
  const Tensor norm = global_norm(xs);
  const Tensor limit = ops::full({}, clip_norm, norm.dtype());
  const Tensor factor = ops::div(limit, ops::maximum(norm, limit));
  TensorList out;
  for (const Tensor& x : xs) {
    const Tensor y = ops::mul(x, factor);
    out.push_back(y.dtype() == x.dtype() ? y : ops::cast(y, x.dtype()));
  }
  return out;
}

}  // namespace sindri::nn
