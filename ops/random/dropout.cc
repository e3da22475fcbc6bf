// dropout and its gradient, which draws the same mask again from the same key and instance.
#include <fmt/format.h>

#include "ops/random/random_ops.h"
#include "ops/random/state.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/random.h"

namespace sindri {
namespace {

using namespace random_ops;

std::vector<TensorMeta> infer(const char* op, const Attrs& attrs, Span<const TensorMeta> in) {
  check_arity(op, in, 2);
  check_floating(op, in[0], "the input");
  if (in[1].shape != Shape{3} || in[1].dtype != DType::kInt64)
    throw ShapeError(fmt::format("{}: expected the key int64[3] (seed, step, sample offset), got {}", op, in[1].str()), "", "pass rng_state().value()");
  const double keep = attrs.as<DropoutAttrs>().keep_prob;
  if (!(keep > 0 && keep <= 1))
    throw ValueError(fmt::format("{}: keep_prob must be above 0 and at most 1, got {}", op, keep), "", "keep_prob is the probability of keeping an element");
  return {in[0]};
}

// The mask does not depend on its argument: dy, and in turn its gradient, use the mask of x.
std::vector<Tensor> vjp(const VjpContext& c) {
  if (!c.needs[0]) return {Tensor{}, Tensor{}};
  return {bind_one(find_op("dropout_grad"), c.attrs, {c.dout[0], c.in[1]}), Tensor{}};
}

constexpr OpTraits kDropoutTraits = {.layout = LayoutRule::kFollowInput0, .saves_in = saves(1), .inplace_input = 0, .random = true};

const OpDef& kDropout = register_op({
    .name = "dropout",
    .doc = "Zeroes each element with probability 1 - keep_prob (to 24 bits) and scales the rest by 1/keep_prob. The first dimension counts "
           "samples. The mask depends on the logical element, whatever the layout. Inputs: x, the key of rng_state.",
    .attrs = attrs_type<DropoutAttrs>(),
    .traits = kDropoutTraits,
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) { return infer("dropout", attrs, in); },
    .vjp = vjp,
});
const OpDef& kDropoutGrad = register_op({
    .name = "dropout_grad",
    .doc = "Gradient of dropout: dy under the mask and the scale that the same key and instance gave x. Inputs: dy, the key of rng_state.",
    .attrs = attrs_type<DropoutAttrs>(),
    .traits = kDropoutTraits,
    .infer = [](const Attrs& attrs, Span<const TensorMeta> in) { return infer("dropout_grad", attrs, in); },
    .vjp = vjp,
});

}  // namespace

Tensor ops::dropout(const Tensor& x, double keep_prob) {
  const Tensor key = rng_state().value();  // must precede next_instance(): a new seed restarts the count
  return bind_one(kDropout, Attrs::of(DropoutAttrs{keep_prob, next_instance()}), {x, key});
}

}  // namespace sindri
