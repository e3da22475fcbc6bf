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

template <class T> SINDRI_SIMD_INLINE typename Compute<T>::type rounded(typename Compute<T>::type v) {
  T t;
  narrow(v, &t);
  return widen(t);
}

template <class T, bool kRelu, bool kResidual, class A> SINDRI_SIMD_INLINE void apply_one(T x, T residual, T* y, A mean, A scale, A beta) {
  A v = (widen(x) - mean) * scale + beta;
  if (kResidual) v = rounded<T>(v) + widen(residual);
  if (kRelu) v = rounded<T>(v) < 0 ? 0 : v;  // NaN passes, as in the op relu
  narrow(v, y);
}

// The gradient behind relu: b <= 0 ? 0 : dy, as in the op relu_grad.
template <class T, BnMask kMask, bool kSum, class A> SINDRI_SIMD_INLINE A gradient_one(T dy, T dy2, T x, T y, A mean, A scale, A beta) {
  A g = widen(dy);
  if (kSum) g = rounded<T>(g + widen(dy2));
  if (kMask == BnMask::kInput) g = rounded<T>((widen(x) - mean) * scale + beta) <= 0 ? 0 : g;
  if (kMask == BnMask::kOutput) g = widen(y) <= 0 ? 0 : g;
  return g;
}

// Operands of one row or run, typed. Absent ones point at dy, which is never dereferenced for them.
template <class T> struct GradOperands {
  const T *dy, *dy2, *x, *y;
  T* g;
  SINDRI_SIMD_MEMBER GradOperands(const BnGrad& a, int64_t offset)
      : dy(static_cast<const T*>(a.dy) + offset),
        dy2(a.dy2 != nullptr ? static_cast<const T*>(a.dy2) + offset : dy),
        x(static_cast<const T*>(a.x) + offset),
        y(a.y != nullptr ? static_cast<const T*>(a.y) + offset : dy),
        g(a.g != nullptr ? static_cast<T*>(a.g) + offset : nullptr) {}
};

template <class T, BnMask kMask, bool kSum, bool kStore> SINDRI_SIMD_INLINE void grad_sums_rows(const BnGrad& a, int64_t rows, int64_t channels,
                                                                                                const double* __restrict shift, double* __restrict sum,
                                                                                                double* __restrict dot) {
  using A = typename Compute<T>::type;
  const A* __restrict mean = static_cast<const A*>(a.mean);
  const A* __restrict scale = static_cast<const A*>(a.scale);
  const A* __restrict beta = static_cast<const A*>(a.beta);
  for (int64_t c = 0; c < channels; ++c) sum[c] = dot[c] = 0;
  int64_t r = 0;
  for (; r + 2 <= rows; r += 2) {
    const GradOperands<T> p(a, r * channels);
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t d = c + channels;
      const A h0 = gradient_one<T, kMask, kSum, A>(p.dy[c], p.dy2[c], p.x[c], p.y[c], mean[c], scale[c], beta[c]);
      const A h1 = gradient_one<T, kMask, kSum, A>(p.dy[d], p.dy2[d], p.x[d], p.y[d], mean[c], scale[c], beta[c]);
      const double g0 = h0, g1 = h1;
      sum[c] += g0 + g1;
      dot[c] += g0 * (widen(p.x[c]) - shift[c]) + g1 * (widen(p.x[d]) - shift[c]);
      if (kStore) narrow(h0, &p.g[c]);
      if (kStore) narrow(h1, &p.g[d]);
    }
  }
  for (; r < rows; ++r) {
    const GradOperands<T> p(a, r * channels);
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      const A h0 = gradient_one<T, kMask, kSum, A>(p.dy[c], p.dy2[c], p.x[c], p.y[c], mean[c], scale[c], beta[c]);
      const double g0 = h0;
      sum[c] += g0;
      dot[c] += g0 * (widen(p.x[c]) - shift[c]);
      if (kStore) narrow(h0, &p.g[c]);
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

template <class T, BnMask kMask, bool kSum, bool kStore>
SINDRI_SIMD_INLINE void grad_sums_run(const BnGrad& a, int64_t n, double shift, double* sum, double* dot) {
  using A = typename Compute<T>::type;
  const A mean = kMask == BnMask::kInput ? *static_cast<const A*>(a.mean) : A(), scale = kMask == BnMask::kInput ? *static_cast<const A*>(a.scale) : A(),
          beta = kMask == BnMask::kInput ? *static_cast<const A*>(a.beta) : A();
  const GradOperands<T> p(a, 0);
  double s[kLanes] = {}, d[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) {
      const int64_t j = i + l;
      const A h = gradient_one<T, kMask, kSum, A>(p.dy[j], p.dy2[j], p.x[j], p.y[j], mean, scale, beta);
      const double g = h;
      s[l] += g;
      d[l] += g * (widen(p.x[j]) - shift);
      if (kStore) narrow(h, &p.g[j]);
    }
  for (int64_t l = 0; i < n; ++i, ++l) {
    const A h = gradient_one<T, kMask, kSum, A>(p.dy[i], p.dy2[i], p.x[i], p.y[i], mean, scale, beta);
    const double g = h;
    s[l] += g;
    d[l] += g * (widen(p.x[i]) - shift);
    if (kStore) narrow(h, &p.g[i]);
  }
  *sum = add_lanes(s);
  *dot = add_lanes(d);
}

template <class T, bool kRelu, bool kResidual> SINDRI_SIMD_INLINE void apply_rows(const BnApply& a, int64_t rows, int64_t channels) {
  using A = typename Compute<T>::type;
  const A* __restrict mean = static_cast<const A*>(a.mean);
  const A* __restrict scale = static_cast<const A*>(a.scale);
  const A* __restrict beta = static_cast<const A*>(a.beta);
  for (int64_t r = 0; r < rows; ++r) {
    const T* x = static_cast<const T*>(a.x) + r * channels;
    const T* residual = kResidual ? static_cast<const T*>(a.residual) + r * channels : x;
    T* y = static_cast<T*>(a.y) + r * channels;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) apply_one<T, kRelu, kResidual, A>(x[c], residual[c], &y[c], mean[c], scale[c], beta[c]);
  }
}

template <class T, bool kRelu, bool kResidual> SINDRI_SIMD_INLINE void apply_run(const BnApply& a, int64_t n) {
  using A = typename Compute<T>::type;
  const A mean = *static_cast<const A*>(a.mean), scale = *static_cast<const A*>(a.scale), beta = *static_cast<const A*>(a.beta);
  const T* x = static_cast<const T*>(a.x);
  const T* residual = kResidual ? static_cast<const T*>(a.residual) : x;
  T* y = static_cast<T*>(a.y);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) apply_one<T, kRelu, kResidual, A>(x[i], residual[i], &y[i], mean, scale, beta);
}

// dx may be the memory of dy: element i is read before it is written.
template <class T, BnMask kMask>
SINDRI_SIMD_INLINE void grad_rows(const BnGrad& g, void* dx, int64_t rows, int64_t channels, const void* a_v, const void* b_v, const void* k_v) {
  using A = typename Compute<T>::type;
  const A* __restrict mean = static_cast<const A*>(g.mean);
  const A* __restrict scale = static_cast<const A*>(g.scale);
  const A* __restrict beta = static_cast<const A*>(g.beta);
  const A* __restrict a = static_cast<const A*>(a_v);
  const A* __restrict b = static_cast<const A*>(b_v);
  const A* __restrict k = static_cast<const A*>(k_v);
  for (int64_t r = 0; r < rows; ++r) {
    const T* dy = static_cast<const T*>(g.dy) + r * channels;
    const T* x = static_cast<const T*>(g.x) + r * channels;
    T* o = static_cast<T*>(dx) + r * channels;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      const A h = gradient_one<T, kMask, false, A>(dy[c], dy[c], x[c], dy[c], mean[c], scale[c], beta[c]);
      narrow((h * a[c] - (widen(x[c]) - mean[c]) * b[c]) - k[c], &o[c]);
    }
  }
}

template <class T, BnMask kMask> SINDRI_SIMD_INLINE void grad_run(const BnGrad& g, void* dx, int64_t n, const void* a_v, const void* b_v, const void* k_v) {
  using A = typename Compute<T>::type;
  const A mean = *static_cast<const A*>(g.mean), scale = *static_cast<const A*>(g.scale), beta = *static_cast<const A*>(g.beta);
  const A a = *static_cast<const A*>(a_v), b = *static_cast<const A*>(b_v), k = *static_cast<const A*>(k_v);
  const T* dy = static_cast<const T*>(g.dy);
  const T* x = static_cast<const T*>(g.x);
  T* o = static_cast<T*>(dx);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const A h = gradient_one<T, kMask, false, A>(dy[i], dy[i], x[i], dy[i], mean, scale, beta);
    narrow((h * a - (widen(x[i]) - mean) * b) - k, &o[i]);
  }
}

}  // namespace

#define SINDRI_EACH_TYPE(TYPE, CALL) \
  switch (TYPE) { \
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

void bn_stats_rows(DType t, const void* x, int64_t rows, int64_t channels, const double* shift, double* sum, double* square) {
  SINDRI_EACH_TYPE(t, stats_rows(static_cast<const T*>(x), rows, channels, shift, sum, square))
}
void bn_stats_run(DType t, const void* x, int64_t n, double shift, double* sum, double* square) {
  SINDRI_EACH_TYPE(t, stats_run(static_cast<const T*>(x), n, shift, sum, square))
}

#define SINDRI_BN_APPLY(FUNCTION, ...) \
  if (!a.relu) { \
    SINDRI_EACH_TYPE(a.type, (FUNCTION<T, false, false>(a, __VA_ARGS__))) \
  } else if (a.residual == nullptr) { \
    SINDRI_EACH_TYPE(a.type, (FUNCTION<T, true, false>(a, __VA_ARGS__))) \
  } else { \
    SINDRI_EACH_TYPE(a.type, (FUNCTION<T, true, true>(a, __VA_ARGS__))) \
  }
void bn_apply_rows(const BnApply& a, int64_t rows, int64_t channels) { SINDRI_BN_APPLY(apply_rows, rows, channels) }
void bn_apply_run(const BnApply& a, int64_t n) { SINDRI_BN_APPLY(apply_run, n) }

// The combinations the kernels ask for: a sum of two gradients and a mask from the output always store g.
#define SINDRI_BN_SUMS(FUNCTION, ...) \
  if (a.mask == BnMask::kNone) { \
    SINDRI_EACH_TYPE(a.type, (FUNCTION<T, BnMask::kNone, false, false>(a, __VA_ARGS__))) \
  } else if (a.mask == BnMask::kInput && a.dy2 == nullptr) { \
    SINDRI_EACH_TYPE(a.type, (FUNCTION<T, BnMask::kInput, false, false>(a, __VA_ARGS__))) \
  } else if (a.mask == BnMask::kInput) { \
    SINDRI_EACH_TYPE(a.type, (FUNCTION<T, BnMask::kInput, true, true>(a, __VA_ARGS__))) \
  } else if (a.dy2 == nullptr) { \
    SINDRI_EACH_TYPE(a.type, (FUNCTION<T, BnMask::kOutput, false, true>(a, __VA_ARGS__))) \
  } else { \
    SINDRI_EACH_TYPE(a.type, (FUNCTION<T, BnMask::kOutput, true, true>(a, __VA_ARGS__))) \
  }
void bn_grad_sums_rows(const BnGrad& a, int64_t rows, int64_t channels, const double* shift, double* sum, double* dot) {
  SINDRI_BN_SUMS(grad_sums_rows, rows, channels, shift, sum, dot)
}
void bn_grad_sums_run(const BnGrad& a, int64_t n, double shift, double* sum, double* dot) { SINDRI_BN_SUMS(grad_sums_run, n, shift, sum, dot) }

void bn_grad_rows(const BnGrad& g, void* dx, int64_t rows, int64_t channels, const void* a, const void* b, const void* c) {
  if (g.mask == BnMask::kInput) {
    SINDRI_EACH_TYPE(g.type, (grad_rows<T, BnMask::kInput>(g, dx, rows, channels, a, b, c)))
  } else {
    SINDRI_EACH_TYPE(g.type, (grad_rows<T, BnMask::kNone>(g, dx, rows, channels, a, b, c)))
  }
}
void bn_grad_run(const BnGrad& g, void* dx, int64_t n, const void* a, const void* b, const void* c) {
  if (g.mask == BnMask::kInput) {
    SINDRI_EACH_TYPE(g.type, (grad_run<T, BnMask::kInput>(g, dx, n, a, b, c)))
  } else {
    SINDRI_EACH_TYPE(g.type, (grad_run<T, BnMask::kNone>(g, dx, n, a, b, c)))
  }
}

}  // namespace sindri::SINDRI_SIMD_NS
