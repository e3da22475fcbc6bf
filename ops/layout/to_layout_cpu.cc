// to_layout on the CPU: a batched [C, H*W] <-> [H*W, C] transpose in 16x16 tiles that stay in L1.
#include <cstring>

#include "sindri/op/kernel.h"
#include "src/core/tensor_impl.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace {

constexpr int64_t kTile = 16;

template <class T> void transpose_tile(const T* src, T* dst, int64_t rows, int64_t cols, int64_t r0, int64_t c0) {
  const int64_t r1 = std::min(rows, r0 + kTile), c1 = std::min(cols, c0 + kTile);
  for (int64_t c = c0; c < c1; ++c)
    for (int64_t r = r0; r < r1; ++r) dst[c * rows + r] = src[r * cols + c];
}

template <class T> void transpose(const void* src_v, void* dst_v, int64_t batch, int64_t rows, int64_t cols) {
  const T* src = static_cast<const T*>(src_v);
  T* dst = static_cast<T*>(dst_v);
  const int64_t row_tiles = (rows + kTile - 1) / kTile;
  parallel_for(batch * row_tiles, std::max<int64_t>(1, 16384 / (kTile * std::max<int64_t>(1, cols))), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t n = i / row_tiles, r0 = i % row_tiles * kTile;
      for (int64_t c0 = 0; c0 < cols; c0 += kTile) transpose_tile(src + n * rows * cols, dst + n * rows * cols, rows, cols, r0, c0);
    }
  });
}

void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const TensorMeta &from = q.in[0], &to = q.out[0];
  if (from.numel() == 0) return;
  if (from.layout == to.layout) {
    std::memcpy(out[0].data, in[0].data, static_cast<size_t>(from.nbytes()));
    return;
  }
  const int64_t n = from.shape[0], c = from.shape[1], hw = from.shape[2] * from.shape[3];
  const int64_t rows = from.layout == Layout::kContiguous ? c : hw, cols = from.layout == Layout::kContiguous ? hw : c;
  if (rows == 1 || cols == 1) {  // one channel, or images of one pixel: both layouts are the same bytes
    parallel_for(from.nbytes(), 256 << 10,
                 [&](int64_t b, int64_t e) { std::memcpy(out[0].as<char>() + b, in[0].as<const char>() + b, static_cast<size_t>(e - b)); });
    return;
  }
  switch (dtype_size(from.dtype)) {
    case 1: return transpose<uint8_t>(in[0].data, out[0].data, n, rows, cols);
    case 2: return transpose<uint16_t>(in[0].data, out[0].data, n, rows, cols);
    case 4: return transpose<uint32_t>(in[0].data, out[0].data, n, rows, cols);
    default: return transpose<uint64_t>(in[0].data, out[0].data, n, rows, cols);
  }
}

void run_reference(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const size_t size = dtype_size(q.in[0].dtype);
  std::vector<int64_t> place(static_cast<size_t>(q.in[0].numel()));
  for_each_element(q.out[0], [&](int64_t i, int64_t j) { place[static_cast<size_t>(i)] = j; });
  for_each_element(q.in[0], [&](int64_t i, int64_t j) {
    std::memcpy(static_cast<char*>(out[0].data) + place[static_cast<size_t>(i)] * static_cast<int64_t>(size),
                static_cast<const char*>(in[0].data) + j * static_cast<int64_t>(size), size);
  });
}

const bool kTiled = register_kernel({.op = "to_layout", .name = "tiled", .simple = run});
const bool kReference = register_kernel({.op = "to_layout", .name = "reference", .priority = kReferencePriority, .simple = run_reference});

}  // namespace
}  // namespace sindri
