// See gemm.h.
#include "src/device/cpu/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "src/device/cpu/gemm_simd.h"
#include "src/device/cpu/parallel.h"

namespace sindri {

namespace {

// One per thread, allocated at its first product.
void* pack_buffer() {
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  thread_local std::unique_ptr<void, Free> buffer(std::aligned_alloc(64, static_cast<size_t>(kGemmPackBytes)));
  if (buffer == nullptr) throw std::bad_alloc();
  return buffer.get();
}

void tile(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, int64_t ldc, bool accumulate) {
  SINDRI_SIMD_CALL(gemm_tile_f32)(m, n, k, a.data, a.row, a.col, b.data, b.row, b.col, c, ldc, accumulate, pack_buffer());
}
void tile(int64_t m, int64_t n, int64_t k, MatrixView<double> a, MatrixView<double> b, double* c, int64_t ldc, bool accumulate) {
  SINDRI_SIMD_CALL(gemm_tile_f64)(m, n, k, a.data, a.row, a.col, b.data, b.row, b.col, c, ldc, accumulate, pack_buffer());
}

constexpr int64_t kWorkPerThread = 200'000;  // operations; for less, waking another thread costs more than it saves

// Returns the length of `pieces` nearly equal pieces, in whole units.
int64_t even_pieces(int64_t extent, int64_t pieces, int64_t unit) { return fixed_chunks(fixed_chunks(extent, pieces), unit) * unit; }

template <class T> void gemm_tiles(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t ldc, bool accumulate) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (int64_t i = 0; i < m && !accumulate; ++i) std::fill_n(c + i * ldc, n, T(0));
    return;
  }
  constexpr int64_t unit_n = kGemmColumnBytesUnit / static_cast<int64_t>(sizeof(T)), most_n = kGemmTileBytesN / static_cast<int64_t>(sizeof(T));
  constexpr int64_t least_m = kGemmTileM / 4;
  // Tiles are distributed evenly: by rows if there are many, else by cutting columns further. The tile of an element
  // does not change the order in which it is summed.
  const int64_t threads = std::clamp<int64_t>(2 * m * n * k / kWorkPerThread, 1, num_threads());
  int64_t rows = fixed_chunks(m, kGemmTileM), cols = fixed_chunks(n, most_n);
  if (m >= threads * least_m && rows > 1) rows = fixed_chunks(rows, threads) * threads;
  while (rows * cols % threads != 0 && cols < 4 * threads && n > cols * unit_n) ++cols;
  const int64_t tile_m = even_pieces(m, rows, kGemmRowUnit), tile_n = even_pieces(n, cols, unit_n);
  rows = fixed_chunks(m, tile_m), cols = fixed_chunks(n, tile_n);
  const int64_t tile_work = 2 * std::min(m, tile_m) * std::min(n, tile_n) * k;
  parallel_for(rows * cols, std::max<int64_t>(1, kWorkPerThread / std::max<int64_t>(1, tile_work)), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t i = t / cols * tile_m, j = t % cols * tile_n;
      tile(std::min(m - i, tile_m), std::min(n - j, tile_n), k, MatrixView<T>{a.data + i * a.row, a.row, a.col},
           MatrixView<T>{b.data + j * b.col, b.row, b.col}, c + i * ldc + j, ldc, accumulate);
    }
  });
}

}  // namespace

void gemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, int64_t ldc, bool accumulate) {
  gemm_tiles(m, n, k, a, b, c, ldc, accumulate);
}
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<double> a, MatrixView<double> b, double* c, int64_t ldc, bool accumulate) {
  gemm_tiles(m, n, k, a, b, c, ldc, accumulate);
}

}  // namespace sindri
