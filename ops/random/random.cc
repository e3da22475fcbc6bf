// Random tensors: uniform, normal, truncated normal, Bernoulli, permutation. The only tensor input is the key (rng_state).
#include <fmt/format.h>

#include <cmath>

#include "ops/random/random_ops.h"
#include "ops/random/state.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/random.h"

namespace sindri {
namespace {

using namespace random_ops;

void check_key(const char* op, Span<const TensorMeta> in) {
  check_arity(op, in, 1);
  if (in[0].shape != Shape{3} || in[0].dtype != DType::kInt64)
    throw ShapeError(fmt::format("{}: expected the key int64[3] (seed, step, sample offset), got {}", op, in[0].str()), "", "pass rng_state().value()");
}

std::vector<TensorMeta> drawn(const char* op, const Shape& shape, DType dtype) {
  for (int64_t d : shape) {
    if (d < 0) throw ValueError(fmt::format("{}: shape {} has a negative dimension", op, shape.str()));
  }
  int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.numel(), static_cast<int64_t>(dtype_size(dtype)), &bytes))
    throw ValueError(fmt::format("{}: shape {} has more bytes than 64 bits can count", op, shape.str()));
  return {{shape, dtype, Layout::kContiguous, {}}};
}

void check_floating_dtype(const char* op, DType dtype) {
  if (!is_floating(dtype)) throw DTypeError(fmt::format("{}: dtype must be floating point, got {}", op, dtype_name(dtype)));
}

std::vector<TensorMeta> infer_uniform(const Attrs& attrs, Span<const TensorMeta> in) {
  check_key("random_uniform", in);
  const auto& a = attrs.as<UniformAttrs>();
  check_floating_dtype("random_uniform", a.dtype);
  if (!std::isfinite(a.high - a.low) || a.low > a.high)
    throw ValueError(fmt::format("random_uniform: expected finite low <= high, got {} and {}", a.low, a.high));
  return drawn("random_uniform", a.shape, a.dtype);
}

std::vector<TensorMeta> infer_normal(const char* op, const Attrs& attrs, Span<const TensorMeta> in) {
  check_key(op, in);
  const auto& a = attrs.as<NormalAttrs>();
  check_floating_dtype(op, a.dtype);
  if (!std::isfinite(a.mean) || !std::isfinite(a.stddev) || a.stddev < 0)
    throw ValueError(fmt::format("{}: expected a finite mean and stddev >= 0, got {} and {}", op, a.mean, a.stddev));
  return drawn(op, a.shape, a.dtype);
}

std::vector<TensorMeta> infer_bernoulli(const Attrs& attrs, Span<const TensorMeta> in) {
  check_key("random_bernoulli", in);
  const auto& a = attrs.as<BernoulliAttrs>();
  if (!(a.p >= 0 && a.p <= 1)) throw ValueError(fmt::format("random_bernoulli: p must be from 0 to 1, got {}", a.p));
  return drawn("random_bernoulli", a.shape, a.dtype);
}

std::vector<TensorMeta> infer_permutation(const Attrs& attrs, Span<const TensorMeta> in) {
  check_key("random_permutation", in);
  const int64_t n = attrs.as<PermutationAttrs>().n;
  if (n < 0) throw ValueError(fmt::format("random_permutation: n must not be negative, got {}", n));
  return drawn("random_permutation", {n}, DType::kInt64);
}

constexpr OpTraits kDrawTraits = {.saves_in = kSavesNone, .random = true};

const OpDef& kUniform = register_op({
    .name = "random_uniform",
    .doc = "Uniform numbers from [low, high), before rounding to dtype. Input: the key of rng_state.",
    .attrs = attrs_type<UniformAttrs>(),
    .traits = kDrawTraits,
    .infer = infer_uniform,
});
const OpDef& kNormal = register_op({
    .name = "random_normal",
    .doc = "Normal numbers by the Box-Muller transform. Input: the key of rng_state.",
    .attrs = attrs_type<NormalAttrs>(),
    .traits = kDrawTraits,
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) { return infer_normal("random_normal", attrs, in); },
});
const OpDef& kTruncatedNormal = register_op({
    .name = "random_truncated_normal",
    .doc = "Normal numbers; draws outside mean ± 2 stddev are drawn again. Input: the key of rng_state.",
    .attrs = attrs_type<NormalAttrs>(),
    .traits = kDrawTraits,
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) { return infer_normal("random_truncated_normal", attrs, in); },
});
const OpDef& kBernoulli = register_op({
    .name = "random_bernoulli",
    .doc = "1 with probability p (to 24 bits), else 0. Input: the key of rng_state.",
    .attrs = attrs_type<BernoulliAttrs>(),
    .traits = kDrawTraits,
    .infer = infer_bernoulli,
});
const OpDef& kPermutation = register_op({
    .name = "random_permutation",
    .doc = "A permutation of 0 … n-1 (Fisher-Yates), the same for every sample offset. Input: the key of rng_state.",
    .attrs = attrs_type<PermutationAttrs>(),
    .traits = kDrawTraits,
    .infer = infer_permutation,
});

}  // namespace

namespace ops {

Tensor random_uniform(const Shape& shape, double low, double high, DType dtype) {
  const Tensor key = rng_state().value();  // must precede next_instance(): a new seed restarts the count
  return bind_one(kUniform, Attrs::of(UniformAttrs{shape, low, high, dtype, next_instance()}), {key});
}
Tensor random_normal(const Shape& shape, double mean, double stddev, DType dtype) {
  const Tensor key = rng_state().value();
  return bind_one(kNormal, Attrs::of(NormalAttrs{shape, mean, stddev, dtype, next_instance()}), {key});
}
Tensor random_truncated_normal(const Shape& shape, double mean, double stddev, DType dtype) {
  const Tensor key = rng_state().value();
  return bind_one(kTruncatedNormal, Attrs::of(NormalAttrs{shape, mean, stddev, dtype, next_instance()}), {key});
}
Tensor random_bernoulli(const Shape& shape, double p, DType dtype) {
  const Tensor key = rng_state().value();
  return bind_one(kBernoulli, Attrs::of(BernoulliAttrs{shape, p, dtype, next_instance()}), {key});
}
Tensor random_permutation(int64_t n) {
  const Tensor key = rng_state().value();
  return bind_one(kPermutation, Attrs::of(PermutationAttrs{n, next_instance()}), {key});
}

}  // namespace ops
}  // namespace sindri
