// See conv2d_tiled_simd.h. Sums are in registers: a block of pixels (or of taps) by kTiledLanes channels. Every sum adds its terms in the
// same order, whatever block it is computed in.
#include "ops/conv/conv2d_tiled_simd.h"

#include "src/device/cpu/simd_vector.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

constexpr int kVecs = static_cast<int>(kTiledLanes) / kVecFloats;
// Pixels or taps per block: 12 sums of 16 registers; with AVX-512 14 (divides a row of 28 or 14 evenly) and 24 of 32.
constexpr int kMostPixels = kVecFloats == 16 ? 14 : kVecFloats == 8 ? 6 : 2, kMostTaps = kVecFloats == 16 ? 24 : kVecFloats == 8 ? 6 : 2;

// Computes kPixels neighbouring outputs of a row. kStride: pixel_stride as a constant, so that addresses are constants; 0: any.
template <int kPixels, int64_t kStride>
SINDRI_SIMD_INLINE void conv_pixels(const TiledConv& d, const float* __restrict x, const float* __restrict weight, float* y) {
  const int64_t stride = kStride != 0 ? kStride : d.pixel_stride;
  Vec sum[kPixels][kVecs];
#pragma GCC unroll 14
  for (int p = 0; p < kPixels; ++p)
    for (int v = 0; v < kVecs; ++v) sum[p][v] = Vec{};
  for (int64_t r = 0; r < d.kernel_rows; ++r) {
    const float* from = x + r * d.kernel_row_stride;
#pragma GCC unroll 4
    for (int64_t k = 0; k < d.run; ++k, ++from, weight += kTiledLanes) {
      Vec w[kVecs];
      for (int v = 0; v < kVecs; ++v) w[v] = load(weight + v * kVecFloats);
#pragma GCC unroll 14
      for (int p = 0; p < kPixels; ++p) {
        const Vec value = broadcast(from[p * stride]);
        for (int v = 0; v < kVecs; ++v) sum[p][v] = multiply_add(value, w[v], sum[p][v]);
      }
    }
  }
#pragma GCC unroll 14
  for (int p = 0; p < kPixels; ++p)
    for (int v = 0; v < kVecs; ++v) store(y + p * d.o + v * kVecFloats, sum[p][v]);
}

template <int kPixels, int64_t kStride> SINDRI_SIMD_INLINE void conv_block(const TiledConv& d, int64_t pixels, const float* x, const float* weight, float* y) {
  if (pixels == kPixels) return conv_pixels<kPixels, kStride>(d, x, weight, y);
  if constexpr (kPixels > 1) conv_block<kPixels - 1, kStride>(d, pixels, x, weight, y);
}

// Applies bias and relu to a row of sums that was just written.
SINDRI_SIMD_INLINE void finish_row(const TiledConv& d, const float* bias, bool relu, float* y) {
  Vec b[kVecs];
  for (int v = 0; v < kVecs; ++v) b[v] = load(bias + v * kVecFloats);
  for (int64_t j = 0; j < d.ow; ++j)
    for (int v = 0; v < kVecs; ++v) {
      float* const to = y + j * d.o + v * kVecFloats;
      const Vec x = load(to) + b[v];
      store(to, relu ? (x < Vec{} ? Vec{} : x) : x);  // keeps NaN
    }
}

template <int64_t kStride> SINDRI_SIMD_INLINE void conv_image(const TiledConv& d, const float* x, const float* weight, const float* bias, bool relu, float* y) {
  for (int64_t i = 0; i < d.oh; ++i) {
    for (int64_t j = 0; j < d.ow;) {
      // As few blocks as a row needs, of nearly equal length: short blocks leave the multipliers waiting for each other.
      const int64_t left = d.ow - j, blocks = (left + kMostPixels - 1) / kMostPixels, pixels = (left + blocks - 1) / blocks;
      conv_block<kMostPixels, kStride>(d, pixels, x + i * d.row_stride + j * d.pixel_stride, weight, y + (i * d.ow + j) * d.o);
      j += pixels;
    }
    if (bias != nullptr) finish_row(d, bias, relu, y + i * d.ow * d.o);
  }
}

// Computes kTaps neighbouring elements of a run.
template <int kTaps>
SINDRI_SIMD_INLINE void weight_grad_taps(const TiledConv& d, int64_t rows, const float* __restrict x, const float* __restrict dy, float* partial) {
  Vec sum[kTaps][kVecs];
#pragma GCC unroll 24
  for (int t = 0; t < kTaps; ++t)
    for (int v = 0; v < kVecs; ++v) sum[t][v] = load(partial + t * kTiledLanes + v * kVecFloats);
  for (int64_t i = 0; i < rows; ++i) {
    const float* from = x + i * d.row_stride;
    const float* g = dy + i * d.ow * d.o;
    for (int64_t j = 0; j < d.ow; ++j, from += d.pixel_stride, g += d.o) {
      Vec w[kVecs];
      for (int v = 0; v < kVecs; ++v) w[v] = load(g + v * kVecFloats);
#pragma GCC unroll 24
      for (int t = 0; t < kTaps; ++t) {
        const Vec value = broadcast(from[t]);
        for (int v = 0; v < kVecs; ++v) sum[t][v] = multiply_add(value, w[v], sum[t][v]);
      }
    }
  }
#pragma GCC unroll 24
  for (int t = 0; t < kTaps; ++t)
    for (int v = 0; v < kVecs; ++v) store(partial + t * kTiledLanes + v * kVecFloats, sum[t][v]);
}

template <int kTaps>
SINDRI_SIMD_INLINE void weight_grad_block(const TiledConv& d, int64_t taps, int64_t rows, const float* x, const float* dy, float* partial) {
  if (taps == kTaps) return weight_grad_taps<kTaps>(d, rows, x, dy, partial);
  if constexpr (kTaps > 1) weight_grad_block<kTaps - 1>(d, taps, rows, x, dy, partial);
}

}  // namespace

void tiled_conv_image(const TiledConv& d, const float* x, const float* weight, const float* bias, bool relu, float* y) {
  switch (d.pixel_stride) {
    case 16: return conv_image<16>(d, x, weight, bias, relu, y);
    case 32: return conv_image<32>(d, x, weight, bias, relu, y);
    case 64: return conv_image<64>(d, x, weight, bias, relu, y);
    case 128: return conv_image<128>(d, x, weight, bias, relu, y);
    case 256: return conv_image<256>(d, x, weight, bias, relu, y);
    default: return conv_image<0>(d, x, weight, bias, relu, y);
  }
}

void tiled_conv_weight_grad(const TiledConv& d, int64_t row, int64_t rows, const float* x, const float* dy, float* partial) {
  const float* const first = x + row * d.row_stride;
  for (int64_t r = 0; r < d.kernel_rows; ++r)
    for (int64_t k = 0; k < d.run;) {
      const int64_t left = d.run - k, blocks = (left + kMostTaps - 1) / kMostTaps, taps = (left + blocks - 1) / blocks;
      weight_grad_block<kMostTaps>(d, taps, rows, first + r * d.kernel_row_stride + k, dy, partial + (r * d.run + k) * kTiledLanes);
      k += taps;
    }
}

}  // namespace sindri::SINDRI_SIMD_NS
