// broadcast_to and sum_to on the CPU.
#include <vector>

#include "ops/shape/convert.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/strided_copy.h"
#include "ops/shape/strides.h"
#include "sindri/op/kernel.h"

namespace sindri {
namespace {

using namespace shape_ops;

// Strides of the small tensor along the dimensions of the large one: 0 where it is repeated.
Shape repeated_strides(const TensorMeta& small, const Shape& large) {
  const Shape own = physical_strides(small);
  Shape s = Shape::filled(large.rank(), 0);
  const int shift = large.rank() - small.shape.rank();
  for (int d = 0; d < small.shape.rank(); ++d) {
    if (small.shape[d] != 1) s[d + shift] = own[d];
  }
  return s;
}

void broadcast_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Shape from = repeated_strides(q.in[0], q.out[0].shape), to = physical_strides(q.out[0]);
  const size_t size = dtype_size(q.in[0].dtype);
  for_each_index(q.out[0].shape, [&](const Shape& i) { copy_element(out[0].data, offset_of(i, to), in[0].data, offset_of(i, from), size); });
}

void broadcast_strided(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  strided_copy(q.out[0].shape, out[0].data, physical_strides(q.out[0]), in[0].data, repeated_strides(q.in[0], q.out[0].shape), dtype_size(q.in[0].dtype));
}

void sum_to_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Shape from = physical_strides(q.in[0]), to = repeated_strides(q.out[0], q.in[0].shape);
  dispatch_dtype(q.in[0].dtype, [&]<class T>() {
    using Acc = Accumulator<T>;
    std::vector<Acc> sums(static_cast<size_t>(q.out[0].numel()), Acc(0));
    for_each_index(q.in[0].shape, [&](const Shape& i) { sums[static_cast<size_t>(offset_of(i, to))] += static_cast<Acc>(in[0].as<T>()[offset_of(i, from)]); });
    for (size_t i = 0; i < sums.size(); ++i) out[0].as<T>()[i] = from_accumulator<T>(sums[i]);
  });
}

const bool kBroadcastStrided = register_kernel({.op = "broadcast_to", .name = "strided", .simple = broadcast_strided});
const bool kBroadcast = register_kernel({.op = "broadcast_to", .name = "reference", .priority = kReferencePriority, .simple = broadcast_reference});
const bool kSumTo = register_kernel({.op = "sum_to", .name = "reference", .priority = kReferencePriority, .simple = sum_to_reference});

}  // namespace
}  // namespace sindri
