// slice and slice_grad on the CPU: a strided copy out of, or into, the whole tensor.
#include "ops/shape/shape_ops.h"
#include "ops/shape/strided_copy.h"
#include "ops/shape/strides.h"
#include "sindri/op/kernel.h"

namespace sindri {
namespace {

using namespace shape_ops;

// Calls f(small, large): offsets of an element of the slice in the slice and in the whole tensor.
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
  if (q.out[0].nbytes() > 0) std::memset(out[0].data, 0, static_cast<size_t>(q.out[0].nbytes()));  // all bits 0 is 0 in every type
  for_each_pair(resolve_slice("slice_grad", a.shape, a.begin, a.end, a.stride), q.in[0], q.out[0],
                [&](int64_t i, int64_t j) { copy_element(out[0].data, j, in[0].data, i, size); });
}

// Offset of the slice's first element in the whole tensor, and the distances between its elements there.
int64_t place_in_whole(const SliceRange& r, const TensorMeta& whole, Shape* strides) {
  *strides = physical_strides(whole);
  const int64_t offset = offset_of(r.begin, *strides);
  for (int d = 0; d < strides->rank(); ++d) (*strides)[d] *= r.stride[d];
  return offset * static_cast<int64_t>(dtype_size(whole.dtype));
}

void slice_strided(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<SliceAttrs>();
  if (q.out[0].numel() == 0) return;
  Shape from;
  const int64_t offset = place_in_whole(resolve_slice("slice", q.in[0].shape, a.begin, a.end, a.stride), q.in[0], &from);
  strided_copy(q.out[0].shape, out[0].data, physical_strides(q.out[0]), in[0].as<char>() + offset, from, dtype_size(q.in[0].dtype));
}

void slice_grad_strided(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const auto& a = q.attrs.as<SliceGradAttrs>();
  const int64_t zero = 0;
  fill_elements(out[0].data, q.out[0].numel(), &zero, dtype_size(q.out[0].dtype));
  if (q.in[0].numel() == 0) return;
  Shape to;
  const int64_t offset = place_in_whole(resolve_slice("slice_grad", a.shape, a.begin, a.end, a.stride), q.out[0], &to);
  strided_copy(q.in[0].shape, out[0].as<char>() + offset, to, in[0].data, physical_strides(q.in[0]), dtype_size(q.in[0].dtype));
}

const bool kSliceStrided = register_kernel({.op = "slice", .name = "strided", .simple = slice_strided});
const bool kSliceGradStrided = register_kernel({.op = "slice_grad", .name = "strided", .simple = slice_grad_strided});
const bool kSlice = register_kernel({.op = "slice", .name = "reference", .priority = kReferencePriority, .simple = slice_reference});
const bool kSliceGrad = register_kernel({.op = "slice_grad", .name = "reference", .priority = kReferencePriority, .simple = slice_grad_reference});

}  // namespace
}  // namespace sindri
