// broadcast_to on the CPU: a copy with strides of 0.
#include "ops/shape/shape_ops.h"
#include "ops/shape/strided_copy.h"
#include "ops/shape/strides.h"
#include "sindri/op/kernel.h"

namespace sindri {
namespace {

using namespace shape_ops;

void broadcast_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const Shape from = repeated_strides(q.in[0], q.out[0].shape), to = physical_strides(q.out[0]);
  const size_t size = dtype_size(q.in[0].dtype);
  for_each_index(q.out[0].shape, [&](const Shape& i) { copy_element(out[0].data, offset_of(i, to), in[0].data, offset_of(i, from), size); });
}

void broadcast_strided(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  strided_copy(q.out[0].shape, out[0].data, physical_strides(q.out[0]), in[0].data, repeated_strides(q.in[0], q.out[0].shape), dtype_size(q.in[0].dtype));
}

const bool kBroadcastStrided = register_kernel({.op = "broadcast_to", .name = "strided", .simple = broadcast_strided});
const bool kBroadcast = register_kernel({.op = "broadcast_to", .name = "reference", .priority = kReferencePriority, .simple = broadcast_reference});

}  // namespace
}  // namespace sindri
