// See conv2d_direct_simd.h. Every output sums over its taps in the same order, whatever block of pixels it is computed in.
#include "ops/conv/conv2d_direct_simd.h"

#include <immintrin.h>

#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

typedef float F4 __attribute__((vector_size(16)));
typedef float F8 __attribute__((vector_size(32)));
typedef float F16Lanes __attribute__((vector_size(64)));

// Contraction is off for the whole build, so fused multiply-add is called explicitly.
#if defined(__AVX512F__)
using Widest = F16Lanes;
SINDRI_SIMD_INLINE F16Lanes multiply_add(F16Lanes a, F16Lanes b, F16Lanes c) {
  return reinterpret_cast<F16Lanes>(_mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
}
#endif
#if defined(__FMA__)
SINDRI_SIMD_INLINE F8 multiply_add(F8 a, F8 b, F8 c) {
  return reinterpret_cast<F8>(_mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
}
#if !defined(__AVX512F__)
using Widest = F8;
#endif
#else
using Widest = F4;
SINDRI_SIMD_INLINE F4 multiply_add(F4 a, F4 b, F4 c) { return a * b + c; }
#endif

template <class V> constexpr int kFloats = static_cast<int>(sizeof(V) / sizeof(float));
template <class V> SINDRI_SIMD_INLINE V load(const float* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V> SINDRI_SIMD_INLINE void store(float* p, V v) { __builtin_memcpy(p, &v, sizeof v); }
template <class V> SINDRI_SIMD_INLINE V broadcast(float x) { return x - V{}; }

// The vector type for 8 output channels.
#if defined(__AVX512F__)
using Eight = F8;
#else
using Eight = Widest;
#endif

// Registers used for sums: of 32 with AVX-512, otherwise of 16; the others hold weights and broadcast values.
constexpr int kSums = kFloats<Widest> == 16 ? 24 : kFloats<Widest> == 8 ? 12 : 8;

// Computes kPixels neighbouring outputs of a row. kStride 0: any stride.
template <class V, int kVecs, int kPixels, int64_t kStride>
SINDRI_SIMD_INLINE void conv_pixels(const DirectConv& d, const float* __restrict x, const float* __restrict weight, float* y, int64_t room) {
  const int64_t stride = kStride != 0 ? kStride : d.pixel_stride;
  V sum[kPixels][kVecs];
#pragma GCC unroll 14
  for (int p = 0; p < kPixels; ++p)
    for (int v = 0; v < kVecs; ++v) sum[p][v] = V{};
  for (int64_t k = 0; k < d.taps; ++k) {
    const float* from = x + d.offset[k];
    V w[kVecs];
    for (int v = 0; v < kVecs; ++v) w[v] = load<V>(weight + (k * kVecs + v) * kFloats<V>);
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p) {
      const V value = broadcast<V>(from[p * stride]);
      for (int v = 0; v < kVecs; ++v) sum[p][v] = multiply_add(value, w[v], sum[p][v]);
    }
  }
  constexpr int64_t kLanes = kVecs * kFloats<V>;
  if ((kPixels - 1) * d.o + kLanes <= room) {  // lanes beyond o overlap the next pixel, which is written later
#pragma GCC unroll 14
    for (int p = 0; p < kPixels; ++p)
      for (int v = 0; v < kVecs; ++v) store<V>(y + p * d.o + v * kFloats<V>, sum[p][v]);
    return;
  }
  float lanes[kPixels * kLanes];
#pragma GCC unroll 14
  for (int p = 0; p < kPixels; ++p)
    for (int v = 0; v < kVecs; ++v) store<V>(lanes + p * kLanes + v * kFloats<V>, sum[p][v]);
  for (int64_t p = 0; p < kPixels; ++p)
    for (int64_t o = 0; o < d.o; ++o) y[p * d.o + o] = lanes[p * kLanes + o];
}

// Splits a row into as few blocks of at most `most` as possible, of nearly equal length: short blocks leave the multipliers waiting for each other.
SINDRI_SIMD_INLINE int64_t block_length(int64_t left, int64_t most) {
  const int64_t blocks = (left + most - 1) / most;
  return (left + blocks - 1) / blocks;
}

template <class V, int kVecs, int kPixels, int64_t kStride>
SINDRI_SIMD_INLINE void conv_block(const DirectConv& d, int64_t pixels, const float* x, const float* weight, float* y, int64_t room) {
  if (pixels == kPixels) return conv_pixels<V, kVecs, kPixels, kStride>(d, x, weight, y, room);
  if constexpr (kPixels > 1) conv_block<V, kVecs, kPixels - 1, kStride>(d, pixels, x, weight, y, room);
}

template <class V, int kVecs, int64_t kStride> SINDRI_SIMD_INLINE void conv_image(const DirectConv& d, const float* x, const float* weight, float* y) {
  constexpr int kMost = kFloats<Widest> == 16 ? 14 : kSums / kVecs;
  const float* const end = y + d.oh * d.ow * d.o;
  for (int64_t i = 0; i < d.oh; ++i)
    for (int64_t j = 0; j < d.ow;) {
      const int64_t pixels = block_length(d.ow - j, kMost);
      conv_block<V, kVecs, kMost, kStride>(d, pixels, x + i * d.row_stride + j * d.pixel_stride, weight, y, end - y);
      j += pixels;
      y += pixels * d.o;
    }
}

// Sums of kTaps taps, of which `count` are used, over all pixels of an image.
template <class V, int kVecs, int kTaps> SINDRI_SIMD_INLINE void weight_grad_taps(const DirectConv& d, const float* __restrict x, const float* __restrict dy,
                                                                                  int64_t room, const int32_t* offset, int64_t count, float* partial) {
  constexpr int64_t kLanes = kVecs * kFloats<V>;
  int64_t at[kTaps];
  V sum[kTaps][kVecs];
#pragma GCC unroll 25
  for (int t = 0; t < kTaps; ++t) {
    at[t] = offset[t < count ? t : 0];
    for (int v = 0; v < kVecs; ++v) sum[t][v] = t < count ? load<V>(partial + t * kLanes + v * kFloats<V>) : V{};
  }
  for (int64_t i = 0; i < d.oh; ++i)
    for (int64_t j = 0; j < d.ow; ++j) {
      const float* from = x + i * d.row_stride + j * d.pixel_stride;
      const int64_t pixel = (i * d.ow + j) * d.o;
      float edge[kLanes];
      const float* g = dy + pixel;
      if (pixel + kLanes > room) {  // the last pixels of the last image
        for (int64_t o = 0; o < kLanes; ++o) edge[o] = o < d.o ? g[o] : 0;
        g = edge;
      }
      V w[kVecs];
      for (int v = 0; v < kVecs; ++v) w[v] = load<V>(g + v * kFloats<V>);
#pragma GCC unroll 25
      for (int t = 0; t < kTaps; ++t) {
        const V value = broadcast<V>(from[at[t]]);
        for (int v = 0; v < kVecs; ++v) sum[t][v] = multiply_add(value, w[v], sum[t][v]);
      }
    }
#pragma GCC unroll 25
  for (int t = 0; t < kTaps; ++t)
    for (int v = 0; v < kVecs; ++v)
      if (t < count) store<V>(partial + t * kLanes + v * kFloats<V>, sum[t][v]);
}

// The same for kRows kernel rows of kRun neighbouring taps each. The taps of a row then have constant offsets from one pointer, while
// separate offsets would not fit the registers. Rows at `rows` and beyond read the data of the first.
template <class V, int kVecs, int kRows, int kRun> SINDRI_SIMD_INLINE void weight_grad_runs(const DirectConv& d, const float* __restrict x,
                                                                                            const float* __restrict dy, int64_t room, const int32_t* offset,
                                                                                            int64_t rows, float* partial) {
  constexpr int64_t kLanes = kVecs * kFloats<V>;
  int64_t at[kRows];
  V sum[kRows][kRun][kVecs];
#pragma GCC unroll 5
  for (int r = 0; r < kRows; ++r) {
    at[r] = offset[r < rows ? r * kRun : 0];
#pragma GCC unroll 5
    for (int t = 0; t < kRun; ++t)
      for (int v = 0; v < kVecs; ++v) sum[r][t][v] = r < rows ? load<V>(partial + (r * kRun + t) * kLanes + v * kFloats<V>) : V{};
  }
  for (int64_t i = 0; i < d.oh; ++i)
    for (int64_t j = 0; j < d.ow; ++j) {
      const float* from = x + i * d.row_stride + j * d.pixel_stride;
      const int64_t pixel = (i * d.ow + j) * d.o;
      float edge[kLanes];
      const float* g = dy + pixel;
      if (pixel + kLanes > room) {
        for (int64_t o = 0; o < kLanes; ++o) edge[o] = o < d.o ? g[o] : 0;
        g = edge;
      }
      V w[kVecs];
      for (int v = 0; v < kVecs; ++v) w[v] = load<V>(g + v * kFloats<V>);
#pragma GCC unroll 5
      for (int r = 0; r < kRows; ++r) {
        const float* row = from + at[r];
#pragma GCC unroll 5
        for (int t = 0; t < kRun; ++t) {
          const V value = broadcast<V>(row[t]);
          for (int v = 0; v < kVecs; ++v) sum[r][t][v] = multiply_add(value, w[v], sum[r][t][v]);
        }
      }
    }
#pragma GCC unroll 5
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 5
    for (int t = 0; t < kRun; ++t)
      for (int v = 0; v < kVecs; ++v)
        if (r < rows) store<V>(partial + (r * kRun + t) * kLanes + v * kFloats<V>, sum[r][t][v]);
  }
}

template <class V, int kVecs, int kRun>
SINDRI_SIMD_INLINE void weight_grad_of_runs(const DirectConv& d, const float* x, const float* dy, int64_t room, float* partial) {
  constexpr int kMost = kSums / (kRun * kVecs), kFit = kFloats<Widest> == 16 && kRun == 5 ? 5 : kMost > 5 ? 5 : kMost > 0 ? kMost : 1;
  const int64_t rows = d.taps / kRun;
  for (int64_t r = 0; r < rows; r += kFit)
    weight_grad_runs<V, kVecs, kFit, kRun>(d, x, dy, room, d.offset + r * kRun, rows - r < kFit ? rows - r : kFit, partial + r * kRun * kVecs * kFloats<V>);
}

template <class V, int kVecs> SINDRI_SIMD_INLINE void weight_grad(const DirectConv& d, const float* x, const float* dy, int64_t room, float* partial) {
  if (d.run == 5) return weight_grad_of_runs<V, kVecs, 5>(d, x, dy, room, partial);
  if (d.run == 3) return weight_grad_of_runs<V, kVecs, 3>(d, x, dy, room, partial);
  constexpr int kWide = kFloats<Widest> == 16 ? 25 : (kSums + 1) / kVecs, kNarrow = kFloats<Widest> == 16 ? 9 : kWide / 2;
  for (int64_t t = 0; t < d.taps;) {
    const int64_t left = d.taps - t;
    float* to = partial + t * kVecs * kFloats<V>;
    if (left > 2 * kNarrow) {
      weight_grad_taps<V, kVecs, kWide>(d, x, dy, room, d.offset + t, left < kWide ? left : kWide, to);
      t += kWide;
    } else {
      weight_grad_taps<V, kVecs, kNarrow>(d, x, dy, room, d.offset + t, left < kNarrow ? left : kNarrow, to);
      t += kNarrow;
    }
  }
}

// Keeps the lanes of the block at `first` that belong to the run and zeroes the others, so that an infinite gradient cannot cause
// NaN (infinity times a padding weight) next to the run.
template <class V> SINDRI_SIMD_INLINE V keep_run(V v, int64_t first, int64_t run) {
  static const int32_t kMask[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  typedef int32_t Bits __attribute__((vector_size(sizeof(V))));
  Bits mask;
  __builtin_memcpy(&mask, kMask + 16 - (run - first), sizeof mask);
  return reinterpret_cast<V>(reinterpret_cast<Bits>(v) & mask);
}

// sums [kPixels, kDirectRunBlock] of one kernel row: the gradient of kPixels pixels times the weight.
template <class V, int kPixels>
SINDRI_SIMD_INLINE void input_grad_sums(const DirectInputGrad& d, const float* __restrict dy, const float* __restrict weight, int64_t length, float* sums) {
  constexpr int kVecs = static_cast<int>(kDirectRunBlock) / kFloats<V>;
  V sum[kPixels][kVecs];
#pragma GCC unroll 6
  for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) sum[p][v] = V{};
  }
  for (int64_t o = 0; o < d.o; ++o) {
    V w[kVecs];
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) w[v] = load<V>(weight + o * length + v * kFloats<V>);
#pragma GCC unroll 6
    for (int p = 0; p < kPixels; ++p) {
      const V value = broadcast<V>(dy[p * d.o + o]);
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) sum[p][v] = multiply_add(value, w[v], sum[p][v]);
    }
  }
#pragma GCC unroll 6
  for (int p = 0; p < kPixels; ++p) {
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) store<V>(sums + (p * kVecs + v) * kFloats<V>, sum[p][v]);
  }
}

// Runs of neighbouring pixels overlap in dx, and a load that overlaps a recent store waits for it. So the sums of all kernel rows are computed first and then
// added pixel by pixel, each time over all kernel rows. An addition then overlaps only the previous pixel's addition in the same row, which is a whole round of
// kernel rows earlier.
template <class V, int kPixels> SINDRI_SIMD_INLINE void input_grad_block(const DirectInputGrad& d, const float* dy, const float* weight, float* dx) {
  const int64_t length = direct_run_length(d.run);
  alignas(64) float sums[kDirectMaxKernelRows * kPixels * kDirectRunBlock];
  for (int64_t first = 0; first < d.run; first += kDirectRunBlock) {
    for (int64_t r = 0; r < d.kernel_rows; ++r)
      input_grad_sums<V, kPixels>(d, dy, weight + r * d.o * length + first, length, sums + r * kPixels * kDirectRunBlock);
    const int64_t end = d.run - first < kDirectRunBlock ? d.run - first : kDirectRunBlock;
    for (int64_t p = 0; p < kPixels; ++p)
      for (int64_t r = 0; r < d.kernel_rows; ++r) {
        float* to = dx + p * d.pixel_stride + r * d.kernel_row_stride + first;
        const float* from = sums + (r * kPixels + p) * kDirectRunBlock;
        int64_t i = 0;
        for (; i + kFloats<V> <= end; i += kFloats<V>) store<V>(to + i, load<V>(to + i) + load<V>(from + i));
        if (i < end) store<V>(to + i, load<V>(to + i) + keep_run(load<V>(from + i), i, end));
      }
  }
}

template <class V, int kPixels>
SINDRI_SIMD_INLINE void input_grad_pixels(const DirectInputGrad& d, int64_t pixels, const float* dy, const float* weight, float* dx) {
  if (pixels == kPixels) return input_grad_block<V, kPixels>(d, dy, weight, dx);
  if constexpr (kPixels > 1) input_grad_pixels<V, kPixels - 1>(d, pixels, dy, weight, dx);
}

}  // namespace

void direct_conv_image(const DirectConv& d, const float* x, const float* weight, float* y) {
  constexpr int kVecs8 = 8 / kFloats<Eight>, kVecs = 16 / kFloats<Widest>;
  if (d.lanes == 8) return d.pixel_stride == 1 ? conv_image<Eight, kVecs8, 1>(d, x, weight, y) : conv_image<Eight, kVecs8, 0>(d, x, weight, y);
  return d.pixel_stride == 1 ? conv_image<Widest, kVecs, 1>(d, x, weight, y) : conv_image<Widest, kVecs, 0>(d, x, weight, y);
}

void direct_conv_weight_grad(const DirectConv& d, const float* x, const float* dy, int64_t room, float* partial) {
  if (d.lanes == 8) return weight_grad<Eight, 8 / kFloats<Eight>>(d, x, dy, room, partial);
  return weight_grad<Widest, 16 / kFloats<Widest>>(d, x, dy, room, partial);
}

void direct_conv_input_grad_row(const DirectInputGrad& d, const float* dy, const float* weight, float* dx) {
  constexpr int kVecs = static_cast<int>(kDirectRunBlock) / kFloats<Widest>;
  constexpr int kMost = kFloats<Widest> == 16 ? 6 : kSums / kVecs > 1 ? kSums / kVecs : 1;
  for (int64_t j = 0; j < d.ow;) {
    const int64_t pixels = block_length(d.ow - j, kMost);
    input_grad_pixels<Widest, kMost>(d, pixels, dy + j * d.o, weight, dx + j * d.pixel_stride);
    j += pixels;
  }
}

}  // namespace sindri::SINDRI_SIMD_NS
