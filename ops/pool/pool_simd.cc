// See pool_simd.h.
#include "ops/pool/pool_simd.h"

#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using simd_math::Bf16;
using simd_math::F16;
using simd_math::narrow;
using simd_math::widen;

template <class T> struct Compute { using type = float; };
template <> struct Compute<double> { using type = double; };

constexpr int64_t kBlock = 64;  // channels whose running values stay in registers

// Calls body(c0, n) on blocks of channels; n is the constant kBlock for all but the last.
#define SINDRI_FOR_BLOCKS(channels, BODY) \
  { \
    int64_t c0 = 0; \
    for (; c0 + kBlock <= (channels); c0 += kBlock) { \
      constexpr int64_t n = kBlock; \
      BODY \
    } \
    if (c0 < (channels)) { \
      const int64_t n = (channels)-c0; \
      BODY \
    } \
  }

template <class T, class I> SINDRI_SIMD_INLINE void max_row(const PoolImage& p, const T* __restrict x, int64_t oh, T* __restrict y, I* __restrict argmax) {
  using A = typename Compute<T>::type;
  const int64_t C = p.channels;
  for (int64_t ow = 0; ow < p.cols.out; ++ow) {
    SINDRI_FOR_BLOCKS(C, {
      A best[kBlock];
      int32_t place[kBlock];
      for (int64_t c = 0; c < n; ++c) {
        best[c] = -static_cast<A>(__builtin_inff());
        place[c] = -1;
      }
      for (int64_t h = p.rows.begin[oh]; h < p.rows.end[oh]; ++h)
        for (int64_t w = p.cols.begin[ow]; w < p.cols.end[ow]; ++w) {
          const T* __restrict v = x + (h * p.cols.in + w) * C + c0;
          const int32_t k = static_cast<int32_t>((h - p.rows.start[oh]) * p.kernel_w + w - p.cols.start[ow]);
          for (int64_t c = 0; c < n; ++c) {
            const A a = widen(v[c]);
            const bool take = (a > best[c]) | (a != a) | (place[c] < 0);
            best[c] = take ? a : best[c];
            place[c] = take ? k : place[c];
          }
        }
      for (int64_t c = 0; c < n; ++c) narrow(best[c], &y[ow * C + c0 + c]);
      for (int64_t c = 0; c < n; ++c) argmax[ow * C + c0 + c] = static_cast<I>(place[c]);
    })
  }
}

template <class T, class I>
SINDRI_SIMD_INLINE void max_grad_row(const PoolImage& p, const T* __restrict dy, const I* __restrict argmax, int64_t h, T* __restrict dx) {
  using A = typename Compute<T>::type;
  const int64_t C = p.channels;
  for (int64_t w = 0; w < p.cols.in; ++w) {
    SINDRI_FOR_BLOCKS(C, {
      A sum[kBlock];
      for (int64_t c = 0; c < n; ++c) sum[c] = 0;
      for (int64_t oh = p.rows.from[h]; oh < p.rows.to[h]; ++oh)
        for (int64_t ow = p.cols.from[w]; ow < p.cols.to[w]; ++ow) {
          const int64_t at = (oh * p.cols.out + ow) * C + c0;
          const int32_t k = static_cast<int32_t>((h - p.rows.start[oh]) * p.kernel_w + w - p.cols.start[ow]);
          for (int64_t c = 0; c < n; ++c) sum[c] += static_cast<int32_t>(argmax[at + c]) == k ? widen(dy[at + c]) : 0;
        }
      for (int64_t c = 0; c < n; ++c) narrow(sum[c], &dx[w * C + c0 + c]);
    })
  }
}

template <class T> SINDRI_SIMD_INLINE void avg_row(const PoolImage& p, const T* __restrict x, int64_t oh, T* __restrict y) {
  using A = typename Compute<T>::type;
  const int64_t C = p.channels;
  for (int64_t ow = 0; ow < p.cols.out; ++ow) {
    const A divisor = static_cast<A>(p.rows.divisor[oh] * p.cols.divisor[ow]);
    SINDRI_FOR_BLOCKS(C, {
      A sum[kBlock];
      for (int64_t c = 0; c < n; ++c) sum[c] = 0;
      for (int64_t h = p.rows.begin[oh]; h < p.rows.end[oh]; ++h) {
        A part[kBlock];
        for (int64_t c = 0; c < n; ++c) part[c] = 0;
        for (int64_t w = p.cols.begin[ow]; w < p.cols.end[ow]; ++w) {
          const T* __restrict v = x + (h * p.cols.in + w) * C + c0;
          for (int64_t c = 0; c < n; ++c) part[c] += widen(v[c]);
        }
        for (int64_t c = 0; c < n; ++c) sum[c] += part[c];
      }
      for (int64_t c = 0; c < n; ++c) narrow(sum[c] / divisor, &y[ow * C + c0 + c]);
    })
  }
}

template <class T> SINDRI_SIMD_INLINE void avg_grad_row(const PoolImage& p, const T* __restrict dy, int64_t h, T* __restrict dx) {
  using A = typename Compute<T>::type;
  const int64_t C = p.channels;
  for (int64_t w = 0; w < p.cols.in; ++w) {
    SINDRI_FOR_BLOCKS(C, {
      A sum[kBlock];
      for (int64_t c = 0; c < n; ++c) sum[c] = 0;
      for (int64_t oh = p.rows.from[h]; oh < p.rows.to[h]; ++oh)
        for (int64_t ow = p.cols.from[w]; ow < p.cols.to[w]; ++ow) {
          const T* __restrict g = dy + (oh * p.cols.out + ow) * C + c0;
          const A share = static_cast<A>(1) / static_cast<A>(p.rows.divisor[oh] * p.cols.divisor[ow]);
          for (int64_t c = 0; c < n; ++c) sum[c] += widen(g[c]) * share;
        }
      for (int64_t c = 0; c < n; ++c) narrow(sum[c], &dx[w * C + c0 + c]);
    })
  }
}

// Outputs whose window has an input under its column kw: begin <= start + kw < end holds on one range of ow, since both ends
// grow with ow.
SINDRI_SIMD_INLINE void covered(const PoolTable& cols, int64_t kw, int64_t stride, int64_t* lo, int64_t* hi) {
  const int64_t first = cols.start[0] + kw;
  *lo = first >= 0 ? 0 : (-first + stride - 1) / stride;
  *hi = cols.out;
  while (*hi > *lo && first + (*hi - 1) * stride >= cols.in) --*hi;
}

// Folds column kw of one input row into the running maxima of a row of windows. kStride 0: any.
template <int64_t kStride, class T, class A>
SINDRI_SIMD_INLINE void max_column(const T* __restrict row, int64_t any_stride, int64_t n, int32_t k, A* __restrict best, int32_t* __restrict place) {
  const int64_t stride = kStride != 0 ? kStride : any_stride;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const A a = widen(row[i * stride]);
    const bool take = (a > best[i]) | (a != a) | (place[i] < 0);
    best[i] = take ? a : best[i];
    place[i] = take ? k : place[i];
  }
}

template <class T, class I> SINDRI_SIMD_INLINE void max_plane(const PoolImage& p, const T* __restrict x, T* __restrict y, I* __restrict argmax) {
  using A = typename Compute<T>::type;
  const int64_t ow = p.cols.out, s = p.stride_w;
  A best[kMaxPoolWidth];
  int32_t place[kMaxPoolWidth];
  for (int64_t oh = 0; oh < p.rows.out; ++oh) {
    for (int64_t i = 0; i < ow; ++i) {
      best[i] = -static_cast<A>(__builtin_inff());
      place[i] = -1;
    }
    for (int64_t h = p.rows.begin[oh]; h < p.rows.end[oh]; ++h)
      for (int64_t kw = 0; kw < p.kernel_w; ++kw) {
        int64_t lo = 0, hi = 0;
        covered(p.cols, kw, s, &lo, &hi);
        if (lo >= hi) continue;
        const T* row = x + h * p.cols.in + p.cols.start[0] + kw + lo * s;
        const int32_t k = static_cast<int32_t>((h - p.rows.start[oh]) * p.kernel_w + kw);
        if (s == 1) max_column<1>(row, s, hi - lo, k, best + lo, place + lo);
        else if (s == 2) max_column<2>(row, s, hi - lo, k, best + lo, place + lo);
        else max_column<0>(row, s, hi - lo, k, best + lo, place + lo);
      }
    for (int64_t i = 0; i < ow; ++i) narrow(best[i], &y[oh * ow + i]);
    for (int64_t i = 0; i < ow; ++i) argmax[oh * ow + i] = static_cast<I>(place[i]);
  }
}

template <int64_t kStride, class T, class I, class A>
SINDRI_SIMD_INLINE void max_grad_column(const T* __restrict dy, const I* __restrict argmax, int64_t any_stride, int64_t n, int32_t k, A* __restrict sum) {
  const int64_t stride = kStride != 0 ? kStride : any_stride;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) sum[i * stride] += static_cast<int32_t>(argmax[i]) == k ? widen(dy[i]) : 0;
}

template <class T, class I> SINDRI_SIMD_INLINE void max_grad_plane(const PoolImage& p, const T* __restrict dy, const I* __restrict argmax, T* __restrict dx) {
  using A = typename Compute<T>::type;
  const int64_t ow = p.cols.out, width = p.cols.in, s = p.stride_w;
  A sum[kMaxPoolWidth];
  for (int64_t h = 0; h < p.rows.in; ++h) {
    for (int64_t i = 0; i < width; ++i) sum[i] = 0;
    for (int64_t oh = p.rows.from[h]; oh < p.rows.to[h]; ++oh)
      for (int64_t kw = 0; kw < p.kernel_w; ++kw) {
        int64_t lo = 0, hi = 0;
        covered(p.cols, kw, s, &lo, &hi);
        if (lo >= hi) continue;
        A* to = sum + p.cols.start[0] + kw + lo * s;
        const int64_t at = oh * ow + lo;
        const int32_t k = static_cast<int32_t>((h - p.rows.start[oh]) * p.kernel_w + kw);
        if (s == 1) max_grad_column<1>(dy + at, argmax + at, s, hi - lo, k, to);
        else if (s == 2) max_grad_column<2>(dy + at, argmax + at, s, hi - lo, k, to);
        else max_grad_column<0>(dy + at, argmax + at, s, hi - lo, k, to);
      }
    for (int64_t i = 0; i < width; ++i) narrow(sum[i], &dx[h * width + i]);
  }
}

// Sum of a run in 16 lanes added pairwise, so that wide windows vectorise and round well.
template <class A, class T> SINDRI_SIMD_INLINE A run_sum(const T* __restrict x, int64_t n) {
  constexpr int64_t kLanes = 16;
  A tail = 0;
  if (n < kLanes) {
    for (int64_t i = 0; i < n; ++i) tail += widen(x[i]);
    return tail;
  }
  A lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += widen(x[i + l]);
  for (; i < n; ++i) tail += widen(x[i]);
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0] + tail;
}

template <class T> SINDRI_SIMD_INLINE void avg_plane(const PoolImage& p, const T* __restrict x, T* __restrict y) {
  using A = typename Compute<T>::type;
  for (int64_t oh = 0; oh < p.rows.out; ++oh)
    for (int64_t ow = 0; ow < p.cols.out; ++ow) {
      const int64_t w = p.cols.begin[ow], n = p.cols.end[ow] - w, h0 = p.rows.begin[oh], h1 = p.rows.end[oh];
      A sum = 0;
      if (n == p.cols.in) {
        sum = run_sum<A>(x + h0 * n, (h1 - h0) * n);  // whole rows are one run
      } else {
        for (int64_t h = h0; h < h1; ++h) sum += run_sum<A>(x + h * p.cols.in + w, n);
      }
      narrow(sum / static_cast<A>(p.rows.divisor[oh] * p.cols.divisor[ow]), &y[oh * p.cols.out + ow]);
    }
}

template <class T> SINDRI_SIMD_INLINE void avg_grad_plane(const PoolImage& p, const T* __restrict dy, T* __restrict dx) {
  using A = typename Compute<T>::type;
  const int64_t width = p.cols.in;
  A sum[kMaxPoolWidth];
  for (int64_t h = 0; h < p.rows.in; ++h) {
    for (int64_t i = 0; i < width; ++i) sum[i] = 0;
    for (int64_t oh = p.rows.from[h]; oh < p.rows.to[h]; ++oh)
      for (int64_t ow = 0; ow < p.cols.out; ++ow) {
        const A g = widen(dy[oh * p.cols.out + ow]) * (static_cast<A>(1) / static_cast<A>(p.rows.divisor[oh] * p.cols.divisor[ow]));
        for (int64_t w = p.cols.begin[ow]; w < p.cols.end[ow]; ++w) sum[w] += g;
      }
    for (int64_t i = 0; i < width; ++i) narrow(sum[i], &dx[h * width + i]);
  }
}

}  // namespace

#define SINDRI_EACH_TYPE(CALL) \
  switch (t) { \
    case DType::kBFloat16: { \
      using T = Bf16; \
      CALL; \
      return; \
    } \
    case DType::kFloat16: { \
      using T = F16; \
      CALL; \
      return; \
    } \
    case DType::kFloat32: { \
      using T = float; \
      CALL; \
      return; \
    } \
    default: { \
      using T = double; \
      CALL; \
    } \
  }

void max_pool_row(DType t, const PoolImage& p, const void* x, int64_t oh, void* y, void* argmax) {
  SINDRI_EACH_TYPE(p.wide_index ? max_row(p, static_cast<const T*>(x), oh, static_cast<T*>(y), static_cast<int32_t*>(argmax))
                                : max_row(p, static_cast<const T*>(x), oh, static_cast<T*>(y), static_cast<uint8_t*>(argmax)))
}
void max_pool_grad_row(DType t, const PoolImage& p, const void* dy, const void* argmax, int64_t h, void* dx) {
  SINDRI_EACH_TYPE(p.wide_index ? max_grad_row(p, static_cast<const T*>(dy), static_cast<const int32_t*>(argmax), h, static_cast<T*>(dx))
                                : max_grad_row(p, static_cast<const T*>(dy), static_cast<const uint8_t*>(argmax), h, static_cast<T*>(dx)))
}
void avg_pool_row(DType t, const PoolImage& p, const void* x, int64_t oh, void* y) {
  SINDRI_EACH_TYPE(avg_row(p, static_cast<const T*>(x), oh, static_cast<T*>(y)))
}
void avg_pool_grad_row(DType t, const PoolImage& p, const void* dy, int64_t h, void* dx) {
  SINDRI_EACH_TYPE(avg_grad_row(p, static_cast<const T*>(dy), h, static_cast<T*>(dx)))
}
void max_pool_plane(DType t, const PoolImage& p, const void* x, void* y, void* argmax) {
  SINDRI_EACH_TYPE(p.wide_index ? max_plane(p, static_cast<const T*>(x), static_cast<T*>(y), static_cast<int32_t*>(argmax))
                                : max_plane(p, static_cast<const T*>(x), static_cast<T*>(y), static_cast<uint8_t*>(argmax)))
}
void max_pool_grad_plane(DType t, const PoolImage& p, const void* dy, const void* argmax, void* dx) {
  SINDRI_EACH_TYPE(p.wide_index ? max_grad_plane(p, static_cast<const T*>(dy), static_cast<const int32_t*>(argmax), static_cast<T*>(dx))
                                : max_grad_plane(p, static_cast<const T*>(dy), static_cast<const uint8_t*>(argmax), static_cast<T*>(dx)))
}
void avg_pool_plane(DType t, const PoolImage& p, const void* x, void* y) { SINDRI_EACH_TYPE(avg_plane(p, static_cast<const T*>(x), static_cast<T*>(y))) }
void avg_pool_grad_plane(DType t, const PoolImage& p, const void* dy, void* dx) {
  SINDRI_EACH_TYPE(avg_grad_plane(p, static_cast<const T*>(dy), static_cast<T*>(dx)))
}

}  // namespace sindri::SINDRI_SIMD_NS
