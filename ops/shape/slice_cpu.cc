// slice and slice_grad on the CPU.
#include "ops/shape/shape_ops.h"
#include "ops/shape/strides.h"
#include "sindri/op/kernel.h"

namespace sindri {
namespace {

using namespace shape_ops;

// Calls f(small, large): offsets of an element of the slice in the sliced-out and in the whole tensor.
template <class F> void for_each_pair(const SliceRange& r, const TensorMeta& part, const TensorMeta& whole, F&& f) {
  const Shape ps = physical_strides(part), ws = physical_strides(whole);
  for_each_index(part.shape, [&](const Shape& index) {
    int64_t j = 0;
    for (int d = 0; d < index.rank(); ++d) j += (r.begin[d] + index[d] * r.stride[d]) * ws[d];
    f(offset_of(index, ps), j);
  });
}

void slice_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<SliceAttrs>();
  const size_t size = dtype_size(q.in[0].dtype);
  for_each_pair(resolve_slice("slice", q.in[0].shape, a.begin, a.end, a.stride), q.out[0], q.in[0],
                [&](int64_t i, int64_t j) { copy_element(out[0].data, i, in[0].data, j, size); });
}

void slice_grad_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<SliceGradAttrs>();
  const size_t size = dtype_size(q.in[0].dtype);
  if (q.out[0].nbytes() > 0) std::memset(out[0].data, 0, static_cast<size_t>(q.out[0].nbytes()));   // all bits 0 is 0 in every type
  for_each_pair(resolve_slice("slice_grad", a.shape, a.begin, a.end, a.stride), q.in[0], q.out[0],
                [&](int64_t i, int64_t j) { copy_element(out[0].data, j, in[0].data, i, size); });
}

const bool kSlice = register_kernel({.op = "slice", .name = "reference", .priority = kReferencePriority, .simple = slice_reference});
const bool kSliceGrad = register_kernel({.op = "slice_grad", .name = "reference", .priority = kReferencePriority, .simple = slice_grad_reference});

}  // namespace
}  // namespace sindri
