// See softmax_simd.h.
#include "ops/loss/softmax_simd.h"

#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using simd_math::Bf16;
using simd_math::F16;
using simd_math::narrow;
using simd_math::widen;

template <class T> struct Compute { using type = float; };
template <> struct Compute<double> { using type = double; };

constexpr int64_t kLanes = 16, kRun = 1024, kBlock = 64;

template <class A> SINDRI_SIMD_INLINE A larger(A m, A v) { return (v > m) | (v != v) ? v : m; }

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

template <class T, class A = typename Compute<T>::type> SINDRI_SIMD_INLINE A row_max(const T* x, int64_t n) {
  A lanes[kLanes];
  for (int64_t l = 0; l < kLanes; ++l) lanes[l] = -static_cast<A>(__builtin_inff());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] = larger<A>(lanes[l], widen(x[i + l]));
  for (int64_t l = 0; i < n; ++i, ++l) lanes[l] = larger<A>(lanes[l], widen(x[i]));
  for (int64_t l = 1; l < kLanes; ++l) lanes[0] = larger<A>(lanes[0], lanes[l]);
  return lanes[0];
}

// exp(x - lse) for a double lse. In float, lse is subtracted in two parts so that its rounding has no effect.
template <class A> struct Shift {
  A high, low;
  explicit __attribute__((always_inline)) Shift(double lse) : high(static_cast<A>(lse)), low(static_cast<A>(lse - static_cast<double>(high))) {}
  __attribute__((always_inline)) A operator()(A x) const { return (x - high) - low; }
};

template <class T> SINDRI_SIMD_INLINE void row(bool log, const T* x, T* y, int64_t n) {
  using A = typename Compute<T>::type;
  const A m = row_max(x, n);
  if (log) {
    const A log_sum = static_cast<A>(simd_math::log(sum_terms<A>(
        n, [&](int64_t i) __attribute__((always_inline)) { return simd_math::exp(widen(x[i]) - m); })));
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) narrow((widen(x[i]) - m) - log_sum, &y[i]);
    return;
  }
  const A inverse = static_cast<A>(1 /
                                   sum_terms<A>(
                                       n, [&](int64_t i) __attribute__((always_inline)) { return simd_math::exp(widen(x[i]) - m); }));
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) narrow(simd_math::exp(widen(x[i]) - m) * inverse, &y[i]);
}

// totals[c] = the sum over k < width of the terms that add(k, sums) adds to sums[c]. Runs of kRun rows are summed separately, and their sums are added in
// double.
template <class A, class F> SINDRI_SIMD_INLINE void sum_columns(int64_t width, int64_t n, A* __restrict totals, F add) {
  double whole[kBlock];
  for (int64_t c = 0; c < n; ++c) whole[c] = 0;
  for (int64_t start = 0; start < width; start += kRun) {
    const int64_t end = start + kRun < width ? start + kRun : width;
    A part[kBlock];
    for (int64_t c = 0; c < n; ++c) part[c] = 0;
    for (int64_t k = start; k < end; ++k) add(k, part);
    for (int64_t c = 0; c < n; ++c) whole[c] += static_cast<double>(part[c]);
  }
  for (int64_t c = 0; c < n; ++c) totals[c] = static_cast<A>(whole[c]);
}

template <class T> SINDRI_SIMD_INLINE void block(bool log, const T* x, T* y, int64_t width, int64_t inner) {
  using A = typename Compute<T>::type;
  for (int64_t c0 = 0; c0 < inner; c0 += kBlock) {
    const int64_t n = inner - c0 < kBlock ? inner - c0 : kBlock;
    A m[kBlock], s[kBlock];
    for (int64_t c = 0; c < n; ++c) m[c] = -static_cast<A>(__builtin_inff());
    for (int64_t k = 0; k < width; ++k)
      for (int64_t c = 0; c < n; ++c) m[c] = larger<A>(m[c], widen(x[k * inner + c0 + c]));
    sum_columns<A>(
        width, n, s, [&](int64_t k, A* __restrict part) __attribute__((always_inline)) {
#pragma omp simd
          for (int64_t c = 0; c < n; ++c) part[c] += simd_math::exp(widen(x[k * inner + c0 + c]) - m[c]);
        });
#pragma omp simd
    for (int64_t c = 0; c < n; ++c) s[c] = log ? simd_math::log(s[c]) : 1 / s[c];
    for (int64_t k = 0; k < width; ++k) {
      const T* from = x + k * inner + c0;
      T* to = y + k * inner + c0;
      if (log) {
#pragma omp simd
        for (int64_t c = 0; c < n; ++c) narrow((widen(from[c]) - m[c]) - s[c], &to[c]);
      } else {
#pragma omp simd
        for (int64_t c = 0; c < n; ++c) narrow(simd_math::exp(widen(from[c]) - m[c]) * s[c], &to[c]);
      }
    }
  }
}

template <class T> SINDRI_SIMD_INLINE void grad_row(bool log, const T* __restrict dy, const T* __restrict y, T* __restrict dx, int64_t n) {
  using A = typename Compute<T>::type;
  if (log) {
    const A sum = static_cast<A>(sum_terms<A>(
        n, [&](int64_t i) __attribute__((always_inline)) { return widen(dy[i]); }));
    for (int64_t i = 0; i < n; ++i) narrow(widen(dy[i]) - simd_math::exp(widen(y[i])) * sum, &dx[i]);
    return;
  }
  const A sum = static_cast<A>(sum_terms<A>(
      n, [&](int64_t i) __attribute__((always_inline)) { return widen(dy[i]) * widen(y[i]); }));
  for (int64_t i = 0; i < n; ++i) narrow(widen(y[i]) * (widen(dy[i]) - sum), &dx[i]);
}

template <class T> SINDRI_SIMD_INLINE void grad_block(bool log, const T* __restrict dy, const T* __restrict y, T* __restrict dx, int64_t width, int64_t inner) {
  using A = typename Compute<T>::type;
  for (int64_t c0 = 0; c0 < inner; c0 += kBlock) {
    const int64_t n = inner - c0 < kBlock ? inner - c0 : kBlock;
    A s[kBlock];
    sum_columns<A>(
        width, n, s, [&](int64_t k, A* __restrict part) __attribute__((always_inline)) {
          const T* __restrict g = dy + k * inner + c0, * __restrict v = y + k * inner + c0;
          for (int64_t c = 0; c < n; ++c) part[c] += log ? widen(g[c]) : widen(g[c]) * widen(v[c]);
        });
    for (int64_t k = 0; k < width; ++k) {
      const T* __restrict g = dy + k * inner + c0, * __restrict v = y + k * inner + c0;
      T* __restrict d = dx + k * inner + c0;
      if (log) {
        for (int64_t c = 0; c < n; ++c) narrow(widen(g[c]) - simd_math::exp(widen(v[c])) * s[c], &d[c]);
      } else {
        for (int64_t c = 0; c < n; ++c) narrow(widen(v[c]) * (widen(g[c]) - s[c]), &d[c]);
      }
    }
  }
}

template <class T> SINDRI_SIMD_INLINE void row_stats(const T* x, int64_t n, double* max, double* sum_exp, double* sum_shifted) {
  using A = typename Compute<T>::type;
  const A m = row_max(x, n);
  *max = static_cast<double>(m);
  *sum_exp = sum_terms<A>(
      n, [&](int64_t i) __attribute__((always_inline)) { return simd_math::exp(widen(x[i]) - m); });
  *sum_shifted = sum_terms<A>(
      n, [&](int64_t i) __attribute__((always_inline)) { return widen(x[i]) - m; });
}

template <class T> SINDRI_SIMD_INLINE void sparse_grad_row(const T* __restrict x, T* __restrict dx, int64_t n, double lse, double scale_d, double offset_d) {
  using A = typename Compute<T>::type;
  const Shift<A> shift(lse);
  const A scale = static_cast<A>(scale_d), offset = static_cast<A>(offset_d);
  for (int64_t i = 0; i < n; ++i) narrow(scale * (simd_math::exp(shift(widen(x[i]))) - offset), &dx[i]);
}

template <class T> SINDRI_SIMD_INLINE double dense_row(const T* x, const T* q, int64_t n, double lse) {
  using A = typename Compute<T>::type;
  const Shift<A> shift(lse);
  return -sum_terms<A>(
      n, [&](int64_t i) __attribute__((always_inline)) { return widen(q[i]) * shift(widen(x[i])); });
}

template <class T>
SINDRI_SIMD_INLINE void dense_grad_row(const T* __restrict x, const T* __restrict q, T* __restrict dx, int64_t n, double lse, double scale_d) {
  using A = typename Compute<T>::type;
  const Shift<A> shift(lse);
  const A scale = static_cast<A>(scale_d),
          mass = static_cast<A>(sum_terms<A>(
              n, [&](int64_t i) __attribute__((always_inline)) { return widen(q[i]); }));
  for (int64_t i = 0; i < n; ++i) narrow(scale * (simd_math::exp(shift(widen(x[i]))) * mass - widen(q[i])), &dx[i]);
}

}  // namespace

#define SINDRI_EACH_TYPE(CALL) \
  switch (t) { \
    case DType::kBFloat16: { \
      using T = Bf16; \
      CALL; \
      break; \
    } \
    case DType::kFloat16: { \
      using T = F16; \
      CALL; \
      break; \
    } \
    case DType::kFloat32: { \
      using T = float; \
      CALL; \
      break; \
    } \
    default: { \
      using T = double; \
      CALL; \
    } \
  }

void softmax_row_stats(DType t, const void* x, int64_t n, double* max, double* sum_exp, double* sum_shifted) {
  SINDRI_EACH_TYPE(row_stats(static_cast<const T*>(x), n, max, sum_exp, sum_shifted))
}
void softmax_row(DType t, bool log, const void* x, void* y, int64_t n) { SINDRI_EACH_TYPE(row(log, static_cast<const T*>(x), static_cast<T*>(y), n)) }
void softmax_block(DType t, bool log, const void* x, void* y, int64_t width, int64_t inner) {
  SINDRI_EACH_TYPE(block(log, static_cast<const T*>(x), static_cast<T*>(y), width, inner))
}
void softmax_grad_row(DType t, bool log, const void* dy, const void* y, void* dx, int64_t n) {
  SINDRI_EACH_TYPE(grad_row(log, static_cast<const T*>(dy), static_cast<const T*>(y), static_cast<T*>(dx), n))
}
void softmax_grad_block(DType t, bool log, const void* dy, const void* y, void* dx, int64_t width, int64_t inner) {
  SINDRI_EACH_TYPE(grad_block(log, static_cast<const T*>(dy), static_cast<const T*>(y), static_cast<T*>(dx), width, inner))
}
void cross_entropy_grad_row(DType t, const void* x, void* dx, int64_t n, double lse, double scale, double offset) {
  SINDRI_EACH_TYPE(sparse_grad_row(static_cast<const T*>(x), static_cast<T*>(dx), n, lse, scale, offset))
}
double cross_entropy_dense_row(DType t, const void* x, const void* q, int64_t n, double lse) {
  double loss = 0;
  SINDRI_EACH_TYPE(loss = dense_row(static_cast<const T*>(x), static_cast<const T*>(q), n, lse))
  return loss;
}
void cross_entropy_dense_grad_row(DType t, const void* x, const void* q, void* dx, int64_t n, double lse, double scale) {
  SINDRI_EACH_TYPE(dense_grad_row(static_cast<const T*>(x), static_cast<const T*>(q), static_cast<T*>(dx), n, lse, scale))
}

}  // namespace sindri::SINDRI_SIMD_NS
