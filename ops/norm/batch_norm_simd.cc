// See batch_norm_simd.h.
#include "ops/norm/batch_norm_simd.h"

#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using simd_math::Bf16;
using simd_math::F16;
using simd_math::narrow;
using simd_math::widen;

// What elements of T are computed in.
template <class T> struct Compute { using type = float; };
template <> struct Compute<double> { using type = double; };

// Four rows at a time, so that the accumulators are read and written once for four rows of x.
template <class T> SINDRI_SIMD_INLINE void stats_rows(const T* __restrict x, int64_t rows, int64_t channels, const double* __restrict shift,
                                                      double* __restrict sum, double* __restrict square) {
  for (int64_t c = 0; c < channels; ++c) sum[c] = square[c] = 0;
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const T* __restrict p = x + r * channels;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      const double k = shift[c];
      const double d0 = widen(p[c]) - k, d1 = widen(p[c + channels]) - k, d2 = widen(p[c + 2 * channels]) - k, d3 = widen(p[c + 3 * channels]) - k;
      sum[c] += (d0 + d1) + (d2 + d3);
      square[c] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3);
    }
  }
  for (; r < rows; ++r) {
    const T* __restrict p = x + r * channels;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      const double d = widen(p[c]) - shift[c];
      sum[c] += d;
      square[c] += d * d;
    }
  }
}

template <class T> SINDRI_SIMD_INLINE void grad_sums_rows(const T* __restrict dy, const T* __restrict x, int64_t rows, int64_t channels,
                                                          const double* __restrict mean, double* __restrict sum, double* __restrict dot) {
  for (int64_t c = 0; c < channels; ++c) sum[c] = dot[c] = 0;
  int64_t r = 0;
  for (; r + 2 <= rows; r += 2) {
    const T* __restrict g = dy + r * channels, * __restrict p = x + r * channels;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      const double g0 = widen(g[c]), g1 = widen(g[c + channels]);
      sum[c] += g0 + g1;
      dot[c] += g0 * (widen(p[c]) - mean[c]) + g1 * (widen(p[c + channels]) - mean[c]);
    }
  }
  for (; r < rows; ++r) {
    const T* __restrict g = dy + r * channels, * __restrict p = x + r * channels;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      const double g0 = widen(g[c]);
      sum[c] += g0;
      dot[c] += g0 * (widen(p[c]) - mean[c]);
    }
  }
}

// Sums of a run go to kLanes accumulators, added up pairwise: the same bits on every instruction set.
constexpr int64_t kLanes = 16;

SINDRI_SIMD_INLINE double add_lanes(const double* lanes) {
  double t[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) t[i] = lanes[i];
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i) t[i] += t[i + half];
  return t[0];
}

template <class T> SINDRI_SIMD_INLINE void stats_run(const T* __restrict x, int64_t n, double shift, double* sum, double* square) {
  double s[kLanes] = {}, q[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) {
      const double d = widen(x[i + l]) - shift;
      s[l] += d;
      q[l] += d * d;
    }
  for (int64_t l = 0; i < n; ++i, ++l) {
    const double d = widen(x[i]) - shift;
    s[l] += d;
    q[l] += d * d;
  }
  *sum = add_lanes(s);
  *square = add_lanes(q);
}

template <class T> SINDRI_SIMD_INLINE void grad_sums_run(const T* __restrict dy, const T* __restrict x, int64_t n, double mean, double* sum, double* dot) {
  double s[kLanes] = {}, d[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) {
      const double g = widen(dy[i + l]);
      s[l] += g;
      d[l] += g * (widen(x[i + l]) - mean);
    }
  for (int64_t l = 0; i < n; ++i, ++l) {
    const double g = widen(dy[i]);
    s[l] += g;
    d[l] += g * (widen(x[i]) - mean);
  }
  *sum = add_lanes(s);
  *dot = add_lanes(d);
}

template <class T, class A = typename Compute<T>::type> SINDRI_SIMD_INLINE void apply_rows(const T* __restrict x, T* __restrict y, int64_t rows,
                                                                                           int64_t channels, const A* __restrict mean,
                                                                                           const A* __restrict scale, const A* __restrict beta) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* __restrict p = x + r * channels;
    T* __restrict o = y + r * channels;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) narrow((widen(p[c]) - mean[c]) * scale[c] + beta[c], &o[c]);
  }
}

template <class T, class A = typename Compute<T>::type> SINDRI_SIMD_INLINE void grad_rows(const T* __restrict dy, const T* __restrict x, T* __restrict dx,
                                                                                          int64_t rows, int64_t channels, const A* __restrict mean,
                                                                                          const A* __restrict a, const A* __restrict b, const A* __restrict k) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* __restrict g = dy + r * channels, * __restrict p = x + r * channels;
    T* __restrict o = dx + r * channels;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) narrow((widen(g[c]) * a[c] - (widen(p[c]) - mean[c]) * b[c]) - k[c], &o[c]);
  }
}

}  // namespace

#define SINDRI_EACH_TYPE(CALL) \
  switch (t) { \
    case DType::kBFloat16: { \
      using T = Bf16; \
      using A [[maybe_unused]] = float; \
      CALL; \
      return; \
    } \
    case DType::kFloat16: { \
      using T = F16; \
      using A [[maybe_unused]] = float; \
      CALL; \
      return; \
    } \
    case DType::kFloat32: { \
      using T = float; \
      using A [[maybe_unused]] = float; \
      CALL; \
      return; \
    } \
    default: { \
      using T = double; \
      using A [[maybe_unused]] = double; \
      CALL; \
    } \
  }

void bn_stats_rows(DType t, const void* x, int64_t rows, int64_t channels, const double* shift, double* sum, double* square) {
  SINDRI_EACH_TYPE(stats_rows(static_cast<const T*>(x), rows, channels, shift, sum, square))
}
void bn_stats_run(DType t, const void* x, int64_t n, double shift, double* sum, double* square) {
  SINDRI_EACH_TYPE(stats_run(static_cast<const T*>(x), n, shift, sum, square))
}
void bn_grad_sums_rows(DType t, const void* dy, const void* x, int64_t rows, int64_t channels, const double* mean, double* sum, double* dot) {
  SINDRI_EACH_TYPE(grad_sums_rows(static_cast<const T*>(dy), static_cast<const T*>(x), rows, channels, mean, sum, dot))
}
void bn_grad_sums_run(DType t, const void* dy, const void* x, int64_t n, double mean, double* sum, double* dot) {
  SINDRI_EACH_TYPE(grad_sums_run(static_cast<const T*>(dy), static_cast<const T*>(x), n, mean, sum, dot))
}
void bn_apply_rows(DType t, const void* x, void* y, int64_t rows, int64_t channels, const void* mean, const void* scale, const void* beta) {
  SINDRI_EACH_TYPE(apply_rows(static_cast<const T*>(x), static_cast<T*>(y), rows, channels, static_cast<const A*>(mean), static_cast<const A*>(scale),
                              static_cast<const A*>(beta)))
}
void bn_grad_rows(DType t, const void* dy, const void* x, void* dx, int64_t rows, int64_t channels, const void* mean, const void* a, const void* b,
                  const void* c) {
  SINDRI_EACH_TYPE(grad_rows(static_cast<const T*>(dy), static_cast<const T*>(x), static_cast<T*>(dx), rows, channels, static_cast<const A*>(mean),
                             static_cast<const A*>(a), static_cast<const A*>(b), static_cast<const A*>(c)))
}
void bn_apply_run(DType t, const void* x_v, void* y_v, int64_t n, double mean_d, double scale_d, double beta_d) {
  SINDRI_EACH_TYPE({
    const T* __restrict x = static_cast<const T*>(x_v);
    T* __restrict y = static_cast<T*>(y_v);
    const A mean = static_cast<A>(mean_d);
    const A scale = static_cast<A>(scale_d);
    const A beta = static_cast<A>(beta_d);
    for (int64_t i = 0; i < n; ++i) narrow((widen(x[i]) - mean) * scale + beta, &y[i]);
  })
}
void bn_grad_run(DType t, const void* dy_v, const void* x_v, void* dx_v, int64_t n, double mean_d, double a_d, double b_d, double c_d) {
  SINDRI_EACH_TYPE({
    const T* __restrict dy = static_cast<const T*>(dy_v);
    const T* __restrict x = static_cast<const T*>(x_v);
    T* __restrict dx = static_cast<T*>(dx_v);
    const A mean = static_cast<A>(mean_d);
    const A a = static_cast<A>(a_d);
    const A b = static_cast<A>(b_d);
    const A c = static_cast<A>(c_d);
    for (int64_t i = 0; i < n; ++i) narrow((widen(dy[i]) * a - (widen(x[i]) - mean) * b) - c, &dx[i]);
  })
}

}  // namespace sindri::SINDRI_SIMD_NS
