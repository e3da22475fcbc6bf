// See batch_norm_simd.h.
#include "ops/norm/batch_norm_simd.h"

#include "src/device/cpu/simd_lanes.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

// Sums over a few rows are in the type in which x is computed, and the sums over all rows are in double: converting every element took longer than reading it.
constexpr int kSumRows = 16;

// Adds the sums of d and d² over `rows` rows at x to sum and square.
template <class T, int rows> SINDRI_SIMD_INLINE void add_stats(const T* x, int64_t channels, const double* shift, double* sum, double* square) {
  for_each_lanes<T>(
      channels, [&](int64_t c, auto lanes) __attribute__((always_inline)) {
        using V = decltype(lanes);
        const V k = from_double<T, V>(shift + c);
        V s{}, q{};
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) {
          const V d = read<V>(x + r * channels + c) - k;
          s += d;
          q += d * d;
        }
        add_to_double(sum + c, s);
        add_to_double(square + c, q);
      });
}

template <class T> SINDRI_SIMD_INLINE void stats_rows(const T* x, int64_t rows, int64_t channels, const double* shift, double* sum, double* square) {
  for (int64_t c = 0; c < channels; ++c) sum[c] = square[c] = 0;
  int64_t r = 0;
  for (; r + kSumRows <= rows; r += kSumRows) add_stats<T, kSumRows>(x + r * channels, channels, shift, sum, square);
  for (; r < rows; ++r) add_stats<T, 1>(x + r * channels, channels, shift, sum, square);
}

// Gives the same result as rounding each step to T: a comparison before rounding differs only for values that round to zero, which kRoundsToZero covers.
template <class T, bool kRelu, bool kResidual, class V> SINDRI_SIMD_INLINE void apply_one(const T* x, const T* residual, T* y, V mean, V scale, V beta) {
  V v = (read<V>(x) - mean) * scale + beta;
  if (kResidual) v = rounded<T>(v) + read<V>(residual);
  if (kRelu) v = v < -kRoundsToZero<T> ? V{} : v;  // NaN propagates, as in the op relu
  write(y, v);
}

// The gradient after relu: b <= 0 ? 0 : dy, as in the op relu_grad. centred: x - mean.
template <class T, BnMask kMask, bool kSum, class V> SINDRI_SIMD_INLINE V gradient_one(const T* dy, const T* dy2, V centred, const T* y, V scale, V beta) {
  V g = read<V>(dy);
  if (kSum) g = rounded<T>(g + read<V>(dy2));
  if (kMask == BnMask::kInput) g = centred * scale + beta <= kRoundsToZero<T> ? V{} : g;
  if (kMask == BnMask::kOutput) g = read<V>(y) <= 0 ? V{} : g;
  return g;
}

// Typed operands of one row or run. Absent ones point at dy and are never dereferenced.
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

// Adds the sums over `rows` rows, from row r on, to sum and dot.
template <class T, BnMask kMask, bool kSum, bool kStore, int rows>
SINDRI_SIMD_INLINE void add_grad_sums(const BnGrad& a, int64_t r, int64_t channels, double* sum, double* dot) {
  using A = typename Computed<T>::One;
  const GradOperands<T> p(a, r * channels);
  const A *mean = static_cast<const A*>(a.mean), *scale = static_cast<const A*>(a.scale), *beta = static_cast<const A*>(a.beta);
  for_each_lanes<T>(
      channels, [&](int64_t c, auto lanes) __attribute__((always_inline)) {
        using V = decltype(lanes);
        const V m = read<V>(mean + c);
        const V f = kMask == BnMask::kInput ? read<V>(scale + c) : V{};
        const V b = kMask == BnMask::kInput ? read<V>(beta + c) : V{};
        V s{}, d{};
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i) {
          const int64_t j = i * channels + c;
          const V centred = read<V>(p.x + j) - m;
          const V g = gradient_one<T, kMask, kSum>(p.dy + j, p.dy2 + j, centred, p.y + j, f, b);
          s += g;
          d += g * centred;
          if (kStore) write(p.g + j, g);
        }
        add_to_double(sum + c, s);
        add_to_double(dot + c, d);
      });
}

template <class T, BnMask kMask, bool kSum, bool kStore>
SINDRI_SIMD_INLINE void grad_sums_rows(const BnGrad& a, int64_t rows, int64_t channels, double* sum, double* dot) {
  for (int64_t c = 0; c < channels; ++c) sum[c] = dot[c] = 0;
  int64_t r = 0;
  for (; r + kSumRows <= rows; r += kSumRows) add_grad_sums<T, kMask, kSum, kStore, kSumRows>(a, r, channels, sum, dot);
  for (; r < rows; ++r) add_grad_sums<T, kMask, kSum, kStore, 1>(a, r, channels, sum, dot);
}

// Sums of a run use kLanes accumulators, which are added pairwise: bitwise identical on every instruction set.
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
  using A = typename Computed<T>::One;
  const A mean = kMask == BnMask::kInput ? *static_cast<const A*>(a.mean) : A(), scale = kMask == BnMask::kInput ? *static_cast<const A*>(a.scale) : A(),
          beta = kMask == BnMask::kInput ? *static_cast<const A*>(a.beta) : A();
  const GradOperands<T> p(a, 0);
  double s[kLanes] = {}, d[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) {
      const int64_t j = i + l;
      const A h = gradient_one<T, kMask, kSum>(&p.dy[j], &p.dy2[j], widen(p.x[j]) - mean, &p.y[j], scale, beta);
      const double g = h;
      s[l] += g;
      d[l] += g * (widen(p.x[j]) - shift);
      if (kStore) narrow(h, &p.g[j]);
    }
  for (int64_t l = 0; i < n; ++i, ++l) {
    const A h = gradient_one<T, kMask, kSum>(&p.dy[i], &p.dy2[i], widen(p.x[i]) - mean, &p.y[i], scale, beta);
    const double g = h;
    s[l] += g;
    d[l] += g * (widen(p.x[i]) - shift);
    if (kStore) narrow(h, &p.g[i]);
  }
  *sum = add_lanes(s);
  *dot = add_lanes(d);
}

template <class T, bool kRelu, bool kResidual> SINDRI_SIMD_INLINE void apply_rows(const BnApply& a, int64_t rows, int64_t channels) {
  using A = typename Computed<T>::One;
  const A *mean = static_cast<const A*>(a.mean), *scale = static_cast<const A*>(a.scale), *beta = static_cast<const A*>(a.beta);
  for (int64_t r = 0; r < rows; ++r) {
    const T* x = static_cast<const T*>(a.x) + r * channels;
    const T* residual = kResidual ? static_cast<const T*>(a.residual) + r * channels : x;
    T* y = static_cast<T*>(a.y) + r * channels;
    for_each_lanes<T>(
        channels, [&](int64_t c, auto lanes) __attribute__((always_inline)) {
          using V = decltype(lanes);
          apply_one<T, kRelu, kResidual, V>(x + c, residual + c, y + c, read<V>(mean + c), read<V>(scale + c), read<V>(beta + c));
        });
  }
}

template <class T, bool kRelu, bool kResidual> SINDRI_SIMD_INLINE void apply_run(const BnApply& a, int64_t n) {
  using A = typename Computed<T>::One;
  const A mean = *static_cast<const A*>(a.mean), scale = *static_cast<const A*>(a.scale), beta = *static_cast<const A*>(a.beta);
  const T* x = static_cast<const T*>(a.x);
  const T* residual = kResidual ? static_cast<const T*>(a.residual) : x;
  T* y = static_cast<T*>(a.y);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) apply_one<T, kRelu, kResidual, A>(&x[i], &residual[i], &y[i], mean, scale, beta);
}

// dx may share the memory of dy: element i is read before it is written.
template <class T, BnMask kMask, int rows>
SINDRI_SIMD_INLINE void grad_few(const BnGrad& g, T* dx, int64_t r, int64_t channels, const void* a_v, const void* b_v, const void* k_v) {
  using A = typename Computed<T>::One;
  const A *mean = static_cast<const A*>(g.mean), *scale = static_cast<const A*>(g.scale), *beta = static_cast<const A*>(g.beta);
  const A *a = static_cast<const A*>(a_v), *b = static_cast<const A*>(b_v), *k = static_cast<const A*>(k_v);
  const T* dy = static_cast<const T*>(g.dy) + r * channels;
  const T* x = static_cast<const T*>(g.x) + r * channels;
  T* o = dx + r * channels;
  for_each_lanes<T>(
      channels, [&](int64_t c, auto lanes) __attribute__((always_inline)) {
        using V = decltype(lanes);
        const V m = read<V>(mean + c), av = read<V>(a + c), bv = read<V>(b + c), kv = read<V>(k + c);
        const V f = kMask == BnMask::kInput ? read<V>(scale + c) : V{};
        const V t = kMask == BnMask::kInput ? read<V>(beta + c) : V{};
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i) {
          const int64_t j = i * channels + c;
          const V centred = read<V>(x + j) - m;
          const V h = gradient_one<T, kMask, false>(dy + j, dy + j, centred, dy + j, f, t);
          write(o + j, (h * av - centred * bv) - kv);
        }
      });
}

template <class T, BnMask kMask>
SINDRI_SIMD_INLINE void grad_rows(const BnGrad& g, void* dx, int64_t rows, int64_t channels, const void* a, const void* b, const void* k) {
  constexpr int kFew = 4;  // rows that share six coefficients in registers
  int64_t r = 0;
  for (; r + kFew <= rows; r += kFew) grad_few<T, kMask, kFew>(g, static_cast<T*>(dx), r, channels, a, b, k);
  for (; r < rows; ++r) grad_few<T, kMask, 1>(g, static_cast<T*>(dx), r, channels, a, b, k);
}

template <class T, BnMask kMask> SINDRI_SIMD_INLINE void grad_run(const BnGrad& g, void* dx, int64_t n, const void* a_v, const void* b_v, const void* k_v) {
  using A = typename Computed<T>::One;
  const A mean = *static_cast<const A*>(g.mean), scale = *static_cast<const A*>(g.scale), beta = *static_cast<const A*>(g.beta);
  const A a = *static_cast<const A*>(a_v), b = *static_cast<const A*>(b_v), k = *static_cast<const A*>(k_v);
  const T* dy = static_cast<const T*>(g.dy);
  const T* x = static_cast<const T*>(g.x);
  T* o = static_cast<T*>(dx);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const A centred = widen(x[i]) - mean, h = gradient_one<T, kMask, false>(&dy[i], &dy[i], centred, &dy[i], scale, beta);
    narrow((h * a - centred * b) - k, &o[i]);
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

// The combinations that kernels use: a sum of two gradients and a mask from the output always store g.
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
void bn_grad_sums_rows(const BnGrad& a, int64_t rows, int64_t channels, double* sum, double* dot) { SINDRI_BN_SUMS(grad_sums_rows, rows, channels, sum, dot) }
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
