// transpose on the CPU by strided_copy, which uses tiles if rows become columns.
#include "ops/shape/shape_ops.h"
#include "ops/shape/strided_copy.h"
#include "ops/shape/strides.h"
#include "sindri/op/kernel.h"

namespace sindri {
namespace {

using namespace shape_ops;

void run_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const std::vector<int> perm = resolve_perm(q.in[0].shape, q.attrs.as<TransposeAttrs>().perm);
  const Shape strides = contiguous_strides(q.in[0].shape);
  const size_t size = dtype_size(q.in[0].dtype);
  int64_t i = 0;
  for_each_index(q.out[0].shape, [&](const Shape& index) {
    int64_t j = 0;
    for (int d = 0; d < index.rank(); ++d) j += index[d] * strides[perm[static_cast<size_t>(d)]];
    copy_element(out[0].data, i++, in[0].data, j, size);
  });
}

void run_strided(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Shape strides = contiguous_strides(q.in[0].shape);
  Shape from;
  for (int a : resolve_perm(q.in[0].shape, q.attrs.as<TransposeAttrs>().perm)) from.push_back(strides[a]);
  strided_copy(q.out[0].shape, out[0].data, contiguous_strides(q.out[0].shape), in[0].data, from, dtype_size(q.in[0].dtype));
}

const bool kStrided = register_kernel({.op = "transpose", .name = "strided", .simple = run_strided});
const bool kReference = register_kernel({.op = "transpose", .name = "reference", .priority = kReferencePriority, .simple = run_reference});

}  // namespace
}  // namespace sindri
