// concat and split on the CPU: one strided copy per piece.
#include "ops/shape/shape_ops.h"
#include "ops/shape/strided_copy.h"
#include "ops/shape/strides.h"
#include "sindri/op/kernel.h"

namespace sindri {
namespace {

using namespace shape_ops;

void concat_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int axis = normalize_axis(q.attrs.as<AxisAttrs>().axis, q.in[0].shape.rank(), "concat");
  const Shape to = physical_strides(q.out[0]);
  const size_t size = dtype_size(q.in[0].dtype);
  int64_t begin = 0;
  for (size_t k = 0; k < in.size(); ++k) {
    const Shape from = physical_strides(q.in[k]);
    for_each_index(q.in[k].shape,
                   [&](const Shape& i) { copy_element(out[0].data, offset_of(i, to) + begin * to[axis], in[k].data, offset_of(i, from), size); });
    begin += q.in[k].shape[axis];
  }
}

void split_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int axis = normalize_axis(q.attrs.as<SplitAttrs>().axis, q.in[0].shape.rank(), "split");
  const Shape from = physical_strides(q.in[0]);
  const size_t size = dtype_size(q.in[0].dtype);
  int64_t begin = 0;
  for (size_t k = 0; k < out.size(); ++k) {
    const Shape to = physical_strides(q.out[k]);
    for_each_index(q.out[k].shape,
                   [&](const Shape& i) { copy_element(out[k].data, offset_of(i, to), in[0].data, offset_of(i, from) + begin * from[axis], size); });
    begin += q.out[k].shape[axis];
  }
}

char* at(const Buffer& b, int64_t element) { return b.as<char>() + element * static_cast<int64_t>(dtype_size(b.meta->dtype)); }

void concat_strided(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int axis = normalize_axis(q.attrs.as<AxisAttrs>().axis, q.in[0].shape.rank(), "concat");
  const Shape to = physical_strides(q.out[0]);
  int64_t begin = 0;
  for (size_t k = 0; k < in.size(); begin += q.in[k++].shape[axis])
    strided_copy(q.in[k].shape, at(out[0], begin * to[axis]), to, in[k].data, physical_strides(q.in[k]), dtype_size(q.in[0].dtype));
}

void split_strided(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int axis = normalize_axis(q.attrs.as<SplitAttrs>().axis, q.in[0].shape.rank(), "split");
  const Shape from = physical_strides(q.in[0]);
  int64_t begin = 0;
  for (size_t k = 0; k < out.size(); begin += q.out[k++].shape[axis])
    strided_copy(q.out[k].shape, out[k].data, physical_strides(q.out[k]), at(in[0], begin * from[axis]), from, dtype_size(q.in[0].dtype));
}

const bool kConcatStrided = register_kernel({.op = "concat", .name = "strided", .simple = concat_strided});
const bool kSplitStrided = register_kernel({.op = "split", .name = "strided", .simple = split_strided});
const bool kConcat = register_kernel({.op = "concat", .name = "reference", .priority = kReferencePriority, .simple = concat_reference});
const bool kSplit = register_kernel({.op = "split", .name = "reference", .priority = kReferencePriority, .simple = split_reference});

}  // namespace
}  // namespace sindri
