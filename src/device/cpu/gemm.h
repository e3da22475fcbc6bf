// General matrix product on strided views, for element types and cases that oneDNN does not cover (float64, float16
// through float, strict mode), and for float32 where measurements favour it. Every element of the result is summed over
// k in one order, whatever its tile, so results are bitwise identical for any number of threads.
#pragma once

#include <cstdint>

namespace sindri {

/// Element (i, j) is data[i * row + j * col].
template <class T> struct MatrixView {
  const T* data;
  int64_t row, col;
};

/// C [m, n] = A [m, k] · B [k, n], or C += A · B; row i of C starts at c + i * ldc. k = 0 counts as a product of zeros.
/// Parallel over tiles; inside a parallel task it runs on the calling thread.
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* c, int64_t ldc, bool accumulate);
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<double> a, MatrixView<double> b, double* c, int64_t ldc, bool accumulate);

}  // namespace sindri
