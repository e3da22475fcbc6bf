// adaptive_sum.
#include <fmt/format.h>

#include "ops/comm/comm_ops.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/comm.h"

namespace sindri {
namespace {

using namespace comm_ops;

std::vector<TensorMeta> infer(const Attrs& attrs, Span<const TensorMeta> in) {
  if (in.empty()) throw ValueError("adaptive_sum: expected at least one tensor");
  check_same_dtype("adaptive_sum", in);
  if (in[0].dtype != DType::kFloat32 && in[0].dtype != DType::kFloat64)
    throw DTypeError(fmt::format("adaptive_sum: tensors must be float32 or float64, got {}", in[0].str()));
  if (const int64_t members = attrs.as<AdaptiveSumAttrs>().members; members < 1)
    throw ValueError(fmt::format("adaptive_sum: a group must have at least one member, got {}", members));
  std::vector<TensorMeta> out;
  for (const TensorMeta& m : in) out.push_back({m.shape, m.dtype, Layout::kContiguous, m.device});
  out.push_back({{static_cast<int64_t>(in.size()), 2}, DType::kFloat64, Layout::kContiguous, in[0].device});
  return out;
}

const OpDef& kAdaptiveSum = register_op({
    .name = "adaptive_sum",
    .doc = "Tensors of one type, float32 or float64, combined by Adasum over groups of `members` ranks of `group`, whose ranks hold equal tensors: (1 - "
           "a·b/(2|a|^2))·a + (1 - a·b/(2|b|^2))·b for two groups, each tensor separately, neighbouring groups first for more. A number of groups that is not "
           "a power of two is refused, or folded (`fold`). The last result is float64 [tensors, 2]: |sum|^2 and the groups' sum of |x|^2. No gradient.",
    .attrs = attrs_type<AdaptiveSumAttrs>(),
    .traits = {.saves_in = kSavesNone, .lane = Lane::kComm, .host_effect = true},
    .infer = infer,
});

}  // namespace

std::vector<Tensor> ops::adaptive_sum(const std::vector<Tensor>& xs, int64_t members, bool fold, const std::string& group) {
  return sindri::bind(kAdaptiveSum, Attrs::of(AdaptiveSumAttrs{members, fold, group}), xs);
}

}  // namespace sindri
