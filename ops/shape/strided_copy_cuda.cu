// strided_copy on CUDA devices: dimensions are joined if both sides allow it and put in the destination's order, then
//   - bytes that are contiguous on both sides are one cudaMemcpyAsync;
//   - runs that are contiguous on both sides are moved in elements of up to 16 bytes, in the destination's order;
//   - if the source is contiguous along another dimension than the destination, 32x32 or 64x64 tiles pass through shared memory, or, if one of the
//     two dimensions is short (images of three channels), a thread moves a whole row of it.
// Memory traffic: each element is read once and written once (a repeated source is read from the cache).
#include "ops/shape/strided_copy_cuda.h"

#include <algorithm>
#include <vector>

#include "src/device/cuda/divisor.h"

namespace sindri::cuda {
namespace {

constexpr int64_t kShort = 8;  // shorter dimensions are a thread's loop

// The remaining box: index i in the destination's order, distances in elements.
struct Box {
  int64_t n = 1;
  int rank = 0;
  Divisor size[Shape::kMaxRank];
  int64_t to[Shape::kMaxRank] = {}, from[Shape::kMaxRank] = {};
};

SINDRI_DEVICE void offsets(const Box& b, int64_t i, int64_t* to, int64_t* from) {
  int64_t t = 0, f = 0;
  for (int d = b.rank - 1; d > 0; --d) {
    const int64_t q = b.size[d].quotient(i), at = i - q * b.size[d].value;
    t += at * b.to[d];
    f += at * b.from[d];
    i = q;
  }
  if (b.rank > 0) {
    t += i * b.to[0];
    f += i * b.from[0];
  }
  *to = t;
  *from = f;
}

template <class E> __global__ void move_elements(Box b, E* dst, const E* src) {
  for (int64_t i = global_thread(); i < b.n; i += global_threads()) {
    int64_t to, from;
    offsets(b, i, &to, &from);
    dst[to] = src[from];
  }
}

// Each thread moves `count` elements of one more dimension.
template <class E> __global__ void move_lines(Box b, int64_t count, int64_t to_step, int64_t from_step, E* dst, const E* src) {
  for (int64_t i = global_thread(); i < b.n; i += global_threads()) {
    int64_t to, from;
    offsets(b, i, &to, &from);
    for (int64_t k = 0; k < count; ++k) dst[to + k * to_step] = src[from + k * from_step];
  }
}

// A matrix for each index of the box: rows·cols elements, dst[r·to_row + c] = src[r + c·from_col].
template <class E> constexpr int kTile = sizeof(E) <= 2 ? 64 : 32;
struct Matrix {
  int64_t rows, cols, to_row, from_col;
  Divisor row_tiles, col_tiles;
};
template <class E> __global__ void move_tiles(Box b, Matrix m, E* dst, const E* src) {
  constexpr int kT = kTile<E>, kRows = kThreads / 32;
  SINDRI_SHARED(E, tile, kT * (kT + 1));
  const int lane = static_cast<int>(threadIdx.x % 32), first = static_cast<int>(threadIdx.x / 32);
  const int64_t tiles = b.n * m.row_tiles.value * m.col_tiles.value;
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int64_t q = m.col_tiles.quotient(t), matrix = m.row_tiles.quotient(q);
    const int64_t c0 = (t - q * m.col_tiles.value) * kT, r0 = (q - matrix * m.row_tiles.value) * kT;
    int64_t to, from;
    offsets(b, matrix, &to, &from);
    for (int c = first; c < kT; c += kRows)
      for (int r = lane; r < kT; r += 32)
        if (r0 + r < m.rows && c0 + c < m.cols) tile[c * (kT + 1) + r] = src[from + (c0 + c) * m.from_col + r0 + r];
    __syncthreads();
    for (int r = first; r < kT; r += kRows)
      for (int c = lane; c < kT; c += 32)
        if (r0 + r < m.rows && c0 + c < m.cols) dst[to + (r0 + r) * m.to_row + c0 + c] = tile[c * (kT + 1) + r];
    __syncthreads();
  }
}

// ----- host code -----

struct Dim {
  int64_t size, to, from;
};
using Dims = std::vector<Dim>;

// In the destination's order, slowest first, without dimensions of size 1 and with neighbours joined.
Dims normalized(const Shape& shape, const Shape& to, const Shape& from) {
  Dims all;
  for (int d = 0; d < shape.rank(); ++d)
    if (shape[d] != 1) all.push_back({shape[d], to[d], from[d]});
  std::stable_sort(all.begin(), all.end(), [](const Dim& a, const Dim& b) { return a.to > b.to; });
  Dims joined;
  for (const Dim& d : all) {
    if (!joined.empty() && joined.back().to == d.to * d.size && joined.back().from == d.from * d.size)
      joined.back() = {joined.back().size * d.size, d.to, d.from};
    else joined.push_back(d);
  }
  return joined;
}

// Widens elements to up to 16 bytes while runs, distances and addresses allow it.
void widen_elements(Dims* dims, const void* dst, const void* src, size_t* size) {
  const uint64_t addresses = reinterpret_cast<uintptr_t>(dst) | reinterpret_cast<uintptr_t>(src);
  while (*size < 16 && !dims->empty() && dims->back().to == 1 && dims->back().from == 1 && dims->back().size % 2 == 0 && addresses % (2 * *size) == 0) {
    const bool even = std::all_of(dims->begin(), dims->end() - 1, [](const Dim& d) { return d.to % 2 == 0 && d.from % 2 == 0; });
    if (!even) return;
    for (Dim& d : *dims) d.to /= 2, d.from /= 2;
    dims->back() = {dims->back().size / 2, 1, 1};
    *size *= 2;
  }
}

Box box_of(const Dims& dims) {
  Box b;
  for (const Dim& d : dims) b.n *= d.size;
  b.rank = static_cast<int>(dims.size());
  for (int d = 0; d < b.rank; ++d) {
    const Dim& from = dims[static_cast<size_t>(d)];
    b.size[d] = Divisor(from.size, b.n);
    b.to[d] = from.to;
    b.from[d] = from.from;
  }
  return b;
}

template <class E> void move(const Call& call, Dims dims, void* dst_v, const void* src_v) {
  E* const dst = static_cast<E*>(dst_v);
  const E* const src = static_cast<const E*>(src_v);
  const auto run = std::find_if(dims.begin(), dims.end(), [](const Dim& d) { return d.from == 1; });
  if (!dims.empty() && dims.back().to == 1 && dims.back().from != 1 && run != dims.end()) {
    Dim rows = *run, cols = dims.back();
    dims.erase(run);
    dims.pop_back();
    if (rows.size >= kShort && cols.size >= kShort) {
      const Box b = box_of(dims);
      const int64_t row_tiles = ceil_div(rows.size, kTile<E>), col_tiles = ceil_div(cols.size, kTile<E>), tiles = b.n * row_tiles * col_tiles;
      const Matrix m{rows.size, cols.size, rows.to, cols.from, Divisor(row_tiles, tiles), Divisor(col_tiles, tiles)};
      launch(call, grid_for(tiles * kThreads), move_tiles<E>, b, m, dst, src);
      return;
    }
    if (rows.size > cols.size) std::swap(rows, cols);  // neighbouring threads run along the longer one
    if (rows.size < kShort) {
      dims.push_back(cols);
      const Box b = box_of(dims);
      launch(call, grid_for(b.n), move_lines<E>, b, rows.size, rows.to, rows.from, dst, src);
      return;
    }
  }
  const Box b = box_of(dims);
  launch(call, grid_for(b.n), move_elements<E>, b, dst, src);
}

}  // namespace

void strided_copy(const Call& call, const Shape& shape, void* dst, const Shape& dst_strides, const void* src, const Shape& src_strides, size_t size) {
  if (shape.numel() == 0) return;
  Dims dims = normalized(shape, dst_strides, src_strides);
  if (dims.empty() || (dims.size() == 1 && dims[0].to == 1 && dims[0].from == 1)) return copy_bytes(call, dst, src, shape.numel() * static_cast<int64_t>(size));
  widen_elements(&dims, dst, src, &size);
  switch (size) {
    case 1: return move<uint8_t>(call, std::move(dims), dst, src);
    case 2: return move<uint16_t>(call, std::move(dims), dst, src);
    case 4: return move<uint32_t>(call, std::move(dims), dst, src);
    case 8: return move<uint64_t>(call, std::move(dims), dst, src);
    default: return move<uint4>(call, std::move(dims), dst, src);
  }
}

}  // namespace sindri::cuda
