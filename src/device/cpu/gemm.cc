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

// One per thread, made at its first product.
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

template <class T> void gemm_tiles(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t ldc, bool accumulate) {
  if (k == 0) {
    for (int64_t i = 0; i < m && !accumulate; ++i) std::fill_n(c + i * ldc, n, T(0));
    return;
  }
  constexpr int64_t tile_n = kGemmTileBytesN / static_cast<int64_t>(sizeof(T));
  const int64_t rows = fixed_chunks(m, kGemmTileM), cols = fixed_chunks(n, tile_n);
  const int64_t tile_work = 2 * std::min(m, kGemmTileM) * std::min(n, tile_n) * k;
  // Below about 100 000 operations per thread, waking another one costs more than it does.
  parallel_for(rows * cols, std::max<int64_t>(1, 200'000 / std::max<int64_t>(1, tile_work)), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t i = t / cols * kGemmTileM, j = t % cols * tile_n;
      tile(std::min(m - i, kGemmTileM), std::min(n - j, tile_n), k, MatrixView<T>{a.data + i * a.row, a.row, a.col},
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
