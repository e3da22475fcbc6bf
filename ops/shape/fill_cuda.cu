// Tensors made from attributes on CUDA devices: full, arange, one_hot. Memory traffic: each element of the result is written once; for one_hot each index is
// read depth times from the cache.
#include "ops/shape/fill_cuda.h"

#include "ops/shape/shape_ops.h"
#include "src/device/cuda/divisor.h"

namespace sindri::cuda {
namespace {

using namespace shape_ops;

// `vectors` groups of 16 bytes, then the remaining bytes of the pattern.
__global__ void fill_pattern(uint4* y, int64_t vectors, int64_t bytes, uint4 pattern) {
  for (int64_t i = global_thread(); i < vectors; i += global_threads()) y[i] = pattern;
  const int64_t rest = bytes - vectors * 16;
  if (global_thread() < rest) {
    const uint32_t words[4] = {pattern.x, pattern.y, pattern.z, pattern.w};
    const auto i = static_cast<int>(global_thread());
    reinterpret_cast<uint8_t*>(y)[vectors * 16 + i] = static_cast<uint8_t>(words[i / 4] >> (i % 4 * 8));
  }
}

// Computed in double without fused operations, as on the host.
template <class E> __global__ void count_up(E* y, int64_t n, double start, double step) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) y[i] = store_as<E>(__dadd_rn(start, __dmul_rn(static_cast<double>(i), step)));
}

template <class E, class I> __global__ void mark(const I* indices, E* y, int64_t n, Divisor depth, E on, E off) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const int64_t row = depth.quotient(i);
    y[i] = static_cast<int64_t>(indices[row]) == i - row * depth.value ? on : off;
  }
}

void run_full(const Call& call) { fill(call, call.out[0], call.query.attrs.as<FullAttrs>().value); }

void run_arange(const Call& call) {
  const auto& a = call.query.attrs.as<ArangeAttrs>();
  const int64_t n = call.out[0].meta->numel();
  if (n == 0) return;
  dispatch_element(a.dtype, [&]<class E>() { launch(call, grid_for(n), count_up<E>, call.output<E>(0), n, a.start, a.step); });
}

void run_one_hot(const Call& call) {
  const auto& a = call.query.attrs.as<OneHotAttrs>();
  const int64_t n = call.out[0].meta->numel();
  if (n == 0) return;
  const uint4 on = pattern_of(a.dtype, a.on), off = pattern_of(a.dtype, a.off);
  dispatch_bytes(a.dtype, [&]<class E>() {
    const Divisor depth(a.depth, n);
    if (call.in[0].meta->dtype == DType::kInt32)
      launch(call, grid_for(n), mark<E, int32_t>, call.input<int32_t>(0), call.output<E>(0), n, depth, first_of<E>(on), first_of<E>(off));
    else launch(call, grid_for(n), mark<E, int64_t>, call.input<int64_t>(0), call.output<E>(0), n, depth, first_of<E>(on), first_of<E>(off));
  });
}

const bool kFull = register_cuda_kernel({.op = "full", .run = run_full});
const bool kArange = register_cuda_kernel({.op = "arange", .run = run_arange});
const bool kOneHot = register_cuda_kernel({.op = "one_hot", .run = run_one_hot});

}  // namespace

void fill(const Call& call, const Buffer& b, double value) {
  const int64_t bytes = b.meta->nbytes();
  if (bytes == 0) return;
  const uint4 p = pattern_of(b.meta->dtype, value);
  const uint32_t byte = p.x & 0xff;
  if (p.x == byte * 0x01010101u && p.x == p.y && p.x == p.z && p.x == p.w) return fill_bytes(call, b.data, static_cast<int>(byte), bytes);
  launch(call, grid_for(ceil_div(bytes, 16)), fill_pattern, static_cast<uint4*>(b.data), bytes / 16, bytes, p);
}

}  // namespace sindri::cuda
