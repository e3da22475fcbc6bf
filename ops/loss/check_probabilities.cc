// check_probabilities: the range check of binary cross entropy as an op, since the loss is composed of other ops. Without it the logarithm of
// a score that is not a sigmoid's output would be NaN.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ops/loss/loss_common.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/loss.h"
#include "src/op/element.h"

namespace sindri::ops {
namespace {

const OpDef& kCheckProbabilities = register_op({
    .name = "check_probabilities",
    .doc = "Floating x as it is. Throws ValueError for an element outside [0, 1]; NaN passes.",
    .traits = {.layout = LayoutRule::kAgnostic, .saves_in = kSavesNone, .inplace_input = 0},
    .infer = [](const Attrs&, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("check_probabilities", in, 1);
      check_floating("check_probabilities", in[0], "x");
      return {in[0]};
    },
    .vjp = [](const VjpContext& c) -> std::vector<Tensor> { return {c.dout[0]}; },
});

/// Whether an element of [begin, end) is outside [0, 1]; without an early exit, so that it vectorises.
template <class T> bool any_outside(const T* x, int64_t begin, int64_t end) {
  bool outside = false;
  for (int64_t i = begin; i < end; ++i) outside |= (x[i] < T(0)) | (x[i] > T(1));
  return outside;
}

void check(const Buffer& x, int64_t n) {
  constexpr int64_t kBlock = 4096;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(n, begin + kBlock);
    if (x.meta->dtype == DType::kFloat32 && !any_outside(x.as<float>(), begin, end)) continue;
    for (int64_t i = begin; i < end; ++i) {
      const double v = load_element(x, i);
      if (v < 0 || v > 1) throw_bad_probability(v);
    }
  }
}

void check_probabilities_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int64_t n = q.in[0].numel();
  check(in[0], n);
  if (n > 0 && out[0].data != in[0].data) std::memcpy(out[0].data, in[0].data, static_cast<size_t>(q.in[0].nbytes()));
}

const bool kProbabilitiesReference =
    register_kernel({.op = "check_probabilities", .name = "reference", .priority = kReferencePriority, .simple = check_probabilities_reference});

}  // namespace

void throw_bad_probability(double value) {
  throw ValueError(fmt::format("expected probabilities in [0, 1], got {}", value), "binary cross entropy",
                   "apply a sigmoid first, or use the loss with logits, which includes it");
}

Tensor check_probabilities(const Tensor& x) { return bind_one(kCheckProbabilities, {}, {x}); }

}  // namespace sindri::ops
