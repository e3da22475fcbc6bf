// See layer_norm_simd.h.
#include "ops/norm/layer_norm_simd.h"

#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using simd_math::Bf16;
using simd_math::F16;
using simd_math::narrow;
using simd_math::widen;

template <class T> struct Compute { using type = float; };
template <> struct Compute<double> { using type = double; };

constexpr int64_t kLanes = 16, kRun = 1024;

// Sum over i of term(i) in a fixed order: by lanes within a run; the sums of runs are added in double.
template <class A, class F> SINDRI_SIMD_INLINE double sum_terms(int64_t n, F term) {
  double total = 0;
  for (int64_t start = 0; start < n; start += kRun) {
    const int64_t end = start + kRun < n ? start + kRun : n;
    A lanes[kLanes] = {};
    int64_t i = start;
    for (; i + kLanes <= end; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) lanes[l] += term(i + l);
    for (int64_t l = 0; i < end; ++i, ++l) lanes[l] += term(i);
    for (int64_t half = kLanes / 2; half > 0; half /= 2)
      for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    total += static_cast<double>(lanes[0]);
  }
  return total;
}

template <class T> SINDRI_SIMD_INLINE void stats(const T* __restrict x, int64_t n, double* mean, double* var) {
  using A = typename Compute<T>::type;
  const double m = sum_terms<A>(
                       n, [&](int64_t i) __attribute__((always_inline)) { return widen(x[i]); }) /
      static_cast<double>(n);
  const A about = static_cast<A>(m);
  const double square = sum_terms<A>(
      n, [&](int64_t i) __attribute__((always_inline)) {
        const A d = widen(x[i]) - about;
        return d * d;
      });
  // The deviations are from the rounded mean: subtract the effect of its rounding error.
  const double left = m - static_cast<double>(about), v = square / static_cast<double>(n) - left * left;
  *mean = m;
  *var = v < 0 ? 0 : v;
}

template <class T, class A = typename Compute<T>::type> SINDRI_SIMD_INLINE void apply(const T* __restrict x, T* __restrict y, int64_t n, double mean_d,
                                                                                      double inv_std_d, const A* __restrict gamma, const A* __restrict beta) {
  const A mean = static_cast<A>(mean_d), inv_std = static_cast<A>(inv_std_d);
  for (int64_t i = 0; i < n; ++i) narrow((widen(x[i]) - mean) * inv_std * gamma[i] + beta[i], &y[i]);
}

template <class T, class A = typename Compute<T>::type> SINDRI_SIMD_INLINE void grad(const T* __restrict dy, const T* __restrict x, T* __restrict dx, int64_t n,
                                                                                     double mean_d, double inv_std_d, const A* __restrict gamma,
                                                                                     double* __restrict dgamma, double* __restrict dbeta) {
  const A mean = static_cast<A>(mean_d), inv_std = static_cast<A>(inv_std_d);
  const double count = static_cast<double>(n);
  const A s1 = static_cast<A>(sum_terms<A>(
                                  n, [&](int64_t i) __attribute__((always_inline)) { return widen(dy[i]) * gamma[i]; }) /
                              count);
  const A s2 = static_cast<A>(sum_terms<A>(
                                  n, [&](int64_t i) __attribute__((always_inline)) { return widen(dy[i]) * gamma[i] * ((widen(x[i]) - mean) * inv_std); }) /
                              count);
  for (int64_t i = 0; i < n; ++i) narrow(inv_std * ((widen(dy[i]) * gamma[i] - s1) - (widen(x[i]) - mean) * inv_std * s2), &dx[i]);
  for (int64_t i = 0; i < n; ++i) {
    const A g = widen(dy[i]);
    dgamma[i] += g * ((widen(x[i]) - mean) * inv_std);
    dbeta[i] += g;
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

void layer_norm_stats(DType t, const void* x, int64_t n, double* mean, double* var) { SINDRI_EACH_TYPE(stats(static_cast<const T*>(x), n, mean, var)) }
void layer_norm_row(DType t, const void* x, void* y, int64_t n, double mean, double inv_std, const void* gamma, const void* beta) {
  SINDRI_EACH_TYPE(apply(static_cast<const T*>(x), static_cast<T*>(y), n, mean, inv_std, static_cast<const A*>(gamma), static_cast<const A*>(beta)))
}
void layer_norm_grad_row(DType t, const void* dy, const void* x, void* dx, int64_t n, double mean, double inv_std, const void* gamma, double* dgamma,
                         double* dbeta) {
  SINDRI_EACH_TYPE(
      grad(static_cast<const T*>(dy), static_cast<const T*>(x), static_cast<T*>(dx), n, mean, inv_std, static_cast<const A*>(gamma), dgamma, dbeta))
}

}  // namespace sindri::SINDRI_SIMD_NS
