// check_labels: the label check of cross entropy as an op, for losses composed of other ops.
#include "ops/loss/loss_common.h"

#include <fmt/format.h>

#include <cstring>

#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/loss.h"

namespace sindri::ops {
namespace {

const OpDef& kCheckLabels = register_op({
    .name = "check_labels",
    .doc = "int32 or int64 labels as they are. Throws DataError (label out of range) for one that is neither in [0, classes) nor ignore_index.",
    .attrs = attrs_type<CheckLabelsAttrs>(),
    .traits = {.saves_in = kSavesNone},
    .infer = [](const Attrs&, Span<const TensorMeta> in) -> std::vector<TensorMeta> {
      check_arity("check_labels", in, 1);
      if (in[0].dtype != DType::kInt32 && in[0].dtype != DType::kInt64)
        throw DTypeError(fmt::format("check_labels: labels must be int32 or int64, got {}", in[0].str()));
      return {in[0]};
    },
});

void check_labels_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<CheckLabelsAttrs>();
  check_labels(q.op.name, in[0], a.classes, a.ignore_index);
  if (q.in[0].numel() > 0) std::memcpy(out[0].data, in[0].data, static_cast<size_t>(q.in[0].nbytes()));
}

const bool kLabelsReference = register_kernel({.op = "check_labels", .name = "reference", .priority = kReferencePriority, .simple = check_labels_reference});

}  // namespace

Tensor check_labels(const Tensor& labels, int64_t classes, int64_t ignore_index) {
  return bind_one(kCheckLabels, Attrs::of(CheckLabelsAttrs{classes, ignore_index}), {labels});
}

}  // namespace sindri::ops
