// all_finite: one result for any number of tensors, so that a training step can decide without the host whether its gradients are usable.
#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/reduce.h"

namespace sindri {
namespace {

std::vector<TensorMeta> infer(const Attrs&, Span<const TensorMeta> in) {
  if (in.empty()) throw ValueError("all_finite: expected at least one input");
  for (size_t i = 0; i < in.size(); ++i) check_floating("all_finite", in[i], fmt::format("input {}", i).c_str());
  return {{.shape = {}, .dtype = DType::kBool, .layout = Layout::kContiguous, .device = in[0].device}};
}

const OpDef& kAllFinite = register_op({
    .name = "all_finite",
    .doc = "Whether every element of every input (floating, of any shapes and types) is neither NaN nor infinite: a bool scalar. True for no elements.",
    .traits = {.layout = LayoutRule::kAsInferred, .saves_in = kSavesNone},
    .infer = infer,
});

}  // namespace

Tensor ops::all_finite(const std::vector<Tensor>& tensors) { return bind(kAllFinite, {}, tensors)[0]; }

}  // namespace sindri
