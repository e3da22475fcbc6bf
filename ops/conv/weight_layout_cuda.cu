// See weight_layout_cuda.h. Weights are small compared with activations (ResNet-50's weights other than 1x1: 22 MB in half types). Each element is read once
// and written once. Writes are sequential, and reads hit the L1 cache, because the taps of a position are adjacent.
#include "ops/conv/weight_layout_cuda.h"

#include "src/device/cuda/divisor.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {
namespace {

// Transposes each of the n / (rows cols) matrices [rows, cols].
template <class B> __global__ void turn(const B* from, B* to, int64_t n, Divisor rows, Divisor matrix) {
  const int64_t cols = matrix.value / rows.value;
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const int64_t m = matrix.quotient(i), at = i - m * matrix.value, col = rows.quotient(at);
    to[i] = from[m * matrix.value + (at - col * rows.value) * cols + col];
  }
}

void turn_all(const Call& call, const void* from, void* to, int64_t matrices, int64_t rows, int64_t cols, DType dtype) {
  const int64_t n = matrices * rows * cols;
  if (n == 0) return;
  dispatch_bytes(dtype, [&]<class B>() {
    launch(call, grid_for(n), turn<B>, static_cast<const B*>(from), static_cast<B*>(to), n, Divisor(rows, n), Divisor(rows * cols, n));
  });
}

}  // namespace

void weight_to_rows(const Call& call, const void* from, void* to, int64_t outputs, int64_t channels, int64_t taps, DType dtype) {
  turn_all(call, from, to, outputs, channels, taps, dtype);
}
void rows_to_weight(const Call& call, const void* from, void* to, int64_t outputs, int64_t channels, int64_t taps, DType dtype) {
  turn_all(call, from, to, outputs, taps, channels, dtype);
}

}  // namespace sindri::cuda
