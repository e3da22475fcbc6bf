// gather, embedding, gather_elements and ravel_indices on CUDA devices. Memory traffic: each element of the result is written once and each selected one read
// once, rows in elements of up to 16 bytes.
#include "ops/shape/indices_cuda.h"
#include "ops/shape/scatter.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/strides.h"

namespace sindri::cuda {
namespace {

using namespace shape_ops;

// y [outer, picks, inner] of x [outer, rows, inner].
template <class E> __global__ void pick_rows(Indices indices, Divisor inner, Divisor picks, int64_t n, const E* x, E* y) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const int64_t q = inner.quotient(i), outer = picks.quotient(q), c = i - q * inner.value;
    const int64_t row = row_at(indices, q - outer * picks.value, c == 0 && outer == 0);
    y[i] = row < 0 ? E{} : x[(outer * indices.size + row) * inner.value + c];
  }
}

template <class E> __global__ void pick_elements(Picks p, int64_t n, const E* x, E* y) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const int64_t at = picked_at(p, i);
    y[i] = at < 0 ? E{} : x[at];
  }
}

struct Raveled {
  int dims = 0, rank = 0;  // dims: rank of the indexed tensor; rank: of the result
  Indices in[Shape::kMaxRank] = {};
  Divisor size[Shape::kMaxRank];  // of the result
  int64_t stride[Shape::kMaxRank][Shape::kMaxRank] = {};  // of operand k along dimension d of the result
};
__global__ void ravel(Raveled r, int64_t n, int64_t* y) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    int64_t position = 0;
    for (int k = 0; k < r.dims; ++k) {
      int64_t rest = i, at = 0;
      for (int d = r.rank - 1; d >= 0; --d) {
        const int64_t q = d > 0 ? r.size[d].quotient(rest) : 0;
        at += (rest - q * r.size[d].value) * r.stride[k][d];
        rest = q;
      }
      const int64_t row = row_at(r.in[k], at);
      position = position * r.in[k].size + (row < 0 ? 0 : row);
    }
    y[i] = position;
  }
}

void run_rows(const Call& call, const Rows& r, bool wrap) {
  const int64_t count = call.in[1].meta->numel();
  size_t size = dtype_size(call.in[0].meta->dtype);
  int64_t inner = r.inner, n = r.outer * count * inner;
  const Indices indices = indices_of(call, call.in[1], r.rows, wrap);
  if (n == 0) return check_rows(call, indices, count);
  const uint64_t addresses = reinterpret_cast<uintptr_t>(call.in[0].data) | reinterpret_cast<uintptr_t>(call.out[0].data);
  for (; size < 16 && inner % 2 == 0 && addresses % (2 * size) == 0; size *= 2) inner /= 2, n /= 2;
  const auto start = [&]<class E>() {
    launch(call, grid_for(n), pick_rows<E>, indices, Divisor(inner, n), Divisor(count, n), n, call.input<E>(0), call.output<E>(0));
  };
  switch (size) {
    case 1: return start.operator()<uint8_t>();
    case 2: return start.operator()<uint16_t>();
    case 4: return start.operator()<uint32_t>();
    case 8: return start.operator()<uint64_t>();
    default: return start.operator()<uint4>();
  }
}

void run_gather(const Call& call) {
  const Shape& x = call.in[0].meta->shape;
  run_rows(call, rows_around(x, normalize_axis(call.query.attrs.as<AxisAttrs>().axis, x.rank(), "gather")), true);
}
void run_embedding(const Call& call) {
  const Shape& table = call.in[0].meta->shape;
  run_rows(call, {1, table[0], table[1]}, false);
}

void run_gather_elements(const Call& call) {
  const int64_t n = call.out[0].meta->numel();
  if (n == 0) return;
  const Shape& x = call.in[0].meta->shape;
  const Picks p = picks_of(call, call.in[1], x, normalize_axis(call.query.attrs.as<AxisAttrs>().axis, x.rank(), "gather_elements"));
  dispatch_bytes(call.in[0].meta->dtype, [&]<class E>() { launch(call, grid_for(n), pick_elements<E>, p, n, call.input<E>(0), call.output<E>(0)); });
}

void run_ravel(const Call& call) {
  const auto& a = call.query.attrs.as<RavelIndicesAttrs>();
  const Shape& y = call.out[0].meta->shape;
  const int64_t n = y.numel();
  Raveled r;
  r.dims = a.dims.rank();
  r.rank = y.rank();
  for (int d = 0; d < r.rank; ++d) r.size[d] = Divisor(y[d], n);
  for (int k = 0; k < r.dims; ++k) {
    const Buffer& b = call.in[static_cast<size_t>(k)];
    r.in[k] = indices_of(call, b, a.dims[k], a.wrap, a.axes.empty() ? k : a.axes[static_cast<size_t>(k)]);
    const Shape strides = repeated_strides(*b.meta, y);
    for (int d = 0; d < r.rank; ++d) r.stride[k][d] = strides[d];
  }
  if (n == 0) {
    for (int k = 0; k < r.dims; ++k) check_rows(call, r.in[k], call.in[static_cast<size_t>(k)].meta->numel());
    return;
  }
  launch(call, grid_for(n), ravel, r, n, call.output<int64_t>(0));
}

const bool kGather = register_cuda_kernel({.op = "gather", .run = run_gather});
const bool kEmbedding = register_cuda_kernel({.op = "embedding", .run = run_embedding});
const bool kGatherElements = register_cuda_kernel({.op = "gather_elements", .run = run_gather_elements});
const bool kRavelIndices = register_cuda_kernel({.op = "ravel_indices", .run = run_ravel});

}  // namespace
}  // namespace sindri::cuda
