// Ops on CUDA devices that are a copy, or a strided copy, of their operands: reshape, stop_gradient, broadcast_to, concat, split, slice, transpose, to_layout.
#include "ops/shape/shape_ops.h"
#include "ops/shape/strided_copy_cuda.h"
#include "ops/shape/strides.h"

namespace sindri::cuda {
namespace {

using namespace shape_ops;

void run_copy(const Call& call) {
  const int64_t bytes = call.in[0].meta->nbytes();
  if (bytes > 0 && call.in[0].data != call.out[0].data) copy_bytes(call, call.out[0].data, call.in[0].data, bytes);
}

char* at(const Buffer& b, int64_t element) { return static_cast<char*>(b.data) + element * static_cast<int64_t>(dtype_size(b.meta->dtype)); }
size_t element_size(const Buffer& b) { return dtype_size(b.meta->dtype); }

void run_broadcast(const Call& call) {
  const TensorMeta& y = *call.out[0].meta;
  strided_copy(call, y.shape, call.out[0].data, physical_strides(y), call.in[0].data, repeated_strides(*call.in[0].meta, y.shape), element_size(call.in[0]));
}

void run_concat(const Call& call) {
  const int axis = normalize_axis(call.query.attrs.as<AxisAttrs>().axis, call.in[0].meta->shape.rank(), "concat");
  const Shape to = physical_strides(*call.out[0].meta);
  int64_t begin = 0;
  for (const Buffer& piece : call.in) {
    const TensorMeta& m = *piece.meta;
    if (m.numel() > 0) strided_copy(call, m.shape, at(call.out[0], begin * to[axis]), to, piece.data, physical_strides(m), element_size(piece));
    begin += m.shape[axis];
  }
}

void run_split(const Call& call) {
  const int axis = normalize_axis(call.query.attrs.as<SplitAttrs>().axis, call.in[0].meta->shape.rank(), "split");
  const Shape from = physical_strides(*call.in[0].meta);
  int64_t begin = 0;
  for (const Buffer& piece : call.out) {
    const TensorMeta& m = *piece.meta;
    if (m.numel() > 0) strided_copy(call, m.shape, piece.data, physical_strides(m), at(call.in[0], begin * from[axis]), from, element_size(piece));
    begin += m.shape[axis];
  }
}

void run_slice(const Call& call) {
  const auto& a = call.query.attrs.as<SliceAttrs>();
  const TensorMeta &x = *call.in[0].meta, &y = *call.out[0].meta;
  if (y.numel() == 0) return;
  const SliceRange r = resolve_slice("slice", x.shape, a.begin, a.end, a.stride);
  Shape from = physical_strides(x);
  const int64_t first = offset_of(r.begin, from);
  for (int d = 0; d < from.rank(); ++d) from[d] *= r.stride[d];
  strided_copy(call, y.shape, call.out[0].data, physical_strides(y), at(call.in[0], first), from, element_size(call.in[0]));
}

void run_transpose(const Call& call) {
  const TensorMeta &x = *call.in[0].meta, &y = *call.out[0].meta;
  const Shape strides = contiguous_strides(x.shape);
  Shape from;
  for (int a : resolve_perm(x.shape, call.query.attrs.as<TransposeAttrs>().perm)) from.push_back(strides[a]);
  strided_copy(call, y.shape, call.out[0].data, contiguous_strides(y.shape), call.in[0].data, from, element_size(call.in[0]));
}

void run_to_layout(const Call& call) {
  const TensorMeta &x = *call.in[0].meta, &y = *call.out[0].meta;
  strided_copy(call, y.shape, call.out[0].data, physical_strides(y), call.in[0].data, physical_strides(x), element_size(call.in[0]));
}

const bool kReshape = register_cuda_kernel({.op = "reshape", .run = run_copy});
const bool kStopGradient = register_cuda_kernel({.op = "stop_gradient", .run = run_copy});
const bool kBroadcastTo = register_cuda_kernel({.op = "broadcast_to", .run = run_broadcast});
const bool kConcat = register_cuda_kernel({.op = "concat", .run = run_concat});
const bool kSplit = register_cuda_kernel({.op = "split", .run = run_split});
const bool kSlice = register_cuda_kernel({.op = "slice", .run = run_slice});
const bool kTranspose = register_cuda_kernel({.op = "transpose", .run = run_transpose});
const bool kToLayout = register_cuda_kernel({.op = "to_layout", .run = run_to_layout});

}  // namespace
}  // namespace sindri::cuda
