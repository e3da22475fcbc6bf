// searchsorted: insertion positions of values in ascending rows.
#include <fmt/format.h>

#include "ops/reduce/reduce_impl.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "src/op/quick_call.h"

namespace sindri {
namespace {

using reduce::SearchsortedAttrs;

std::vector<TensorMeta> infer_searchsorted(const Attrs&, Span<const TensorMeta> in) {
  check_arity("searchsorted", in, 2);
  check_same_dtype("searchsorted", in);
  const Shape &rows = in[0].shape, &values = in[1].shape;
  bool fits = rows.rank() == 1 || (rows.rank() > 1 && rows.rank() == values.rank());
  for (int i = 0; fits && rows.rank() > 1 && i + 1 < rows.rank(); ++i) fits = rows[i] == values[i];
  if (!fits)
    throw ShapeError(fmt::format("searchsorted: values {} do not match sorted {}", in[1].str(), in[0].str()), "",
                     "sorted must be a vector, or have the dimensions of values but for the last");
  TensorMeta out = in[1];
  out.dtype = DType::kInt64;
  out.layout = Layout::kContiguous;
  return {out};
}

const OpDef& kSearchsorted = register_op({
    .name = "searchsorted",
    .doc = "sorted [n] or [..., n], ascending along the last dimension, values of any shape or [..., m] -> int64 like values: the number of elements below "
           "each value; with `right`, the number not above it. For NaN it is 0. O(log n) for each value.",
    .attrs = attrs_type<SearchsortedAttrs>(),
    .traits = {.amp = AmpClass::kFp32, .saves_in = kSavesNone},
    .infer = infer_searchsorted,
});

}  // namespace

Tensor ops::searchsorted(const Tensor& sorted, const Tensor& values, bool right) {
  const DType type = promote_types(sorted.dtype(), values.dtype());
  const Tensor rows = cast(sorted, type), sought = cast(values, type);
  return bind_one(kSearchsorted, recent_attrs(SearchsortedAttrs{right}), {&rows, &sought});
}

}  // namespace sindri
