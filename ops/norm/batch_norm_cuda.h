// Per-channel computations of the batch norm kernels on CUDA devices.
//
// Statistics take one pass: sums of d and d² with d = x - shift, where shift is the channel's first value, which keeps var = mean(d²) - mean(d)² from
// cancelling. A thread sums in float (double for float64); threads and blocks are combined in double.
//
// Gradient, where g is the gradient of the normalised value, s1 = sum(g) and s2 = sum(g·(x - mean)): dx = gamma·r·(g - s1/M - (x - mean)·r²·s2/M), dgamma =
// r·s2, dbeta = s1.
#pragma once

#include "ops/norm/channels_cuda.h"

namespace sindri::cuda {

/// Policy of run_fold: mean and var of x [N, C, ...], and the factors for the pass over the elements.
template <class E> struct Stats {
  using Element = E;
  using T = Number<E>;
  using Part = TwoSums<T>;
  using Acc = TwoSums<double>;
  struct Fixed {
    T shift;
  };
  const E* x;
  int64_t stride, count;  // distance between the first values of channels; number of values per channel
  double eps;
  Floating gamma, beta, mean, var;
  T* factors;  // mean, scale and beta of each channel

  SINDRI_DEVICE Fixed fixed(int64_t c) const {
    const T first = count > 0 ? load(x[c * stride]) : T(0);
    return {isfinite(first) ? first : T(0)};
  }
  SINDRI_DEVICE Part nothing() const { return {0, 0}; }
  SINDRI_DEVICE Acc identity() const { return {0, 0}; }
  SINDRI_DEVICE Acc widen(const Part& p) const { return {static_cast<double>(p.first), static_cast<double>(p.second)}; }
  SINDRI_DEVICE Acc combine(const Acc& a, const Acc& b) const { return AddTwo()(a, b); }
  template <int V> SINDRI_DEVICE ElementVector<E, V> fetch(int64_t at) const { return load_vector<V>(x + at); }
  template <int V, int F> SINDRI_DEVICE void add(Part (&part)[V], const Fixed (&fixed)[F], const ElementVector<E, V>& e, int64_t, int64_t) const {
    for (int j = 0; j < V; ++j) {
      const T d = load(e.e[j]) - fixed[F == 1 ? 0 : j].shift;
      part[j].first += d;
      part[j].second += d * d;
    }
  }
  SINDRI_DEVICE void store(const Acc& a, int64_t c, int64_t) const {
    const double n = static_cast<double>(count), d = a.first / n, variance = a.second / n - d * d;
    mean.write(c, static_cast<double>(fixed(c).shift) + d);
    var.write(c, variance < 0 ? 0 : variance);  // a NaN is kept
    // From the stored statistics, so that the gradient computes bitwise identical values.
    factors[c * 3] = mean.read<T>(c);
    factors[c * 3 + 1] = static_cast<T>(gamma.read<double>(c) / sqrt(var.read<double>(c) + eps));
    factors[c * 3 + 2] = beta.read<T>(c);
  }
};

/// dx = a·g - b·(x - mean) - c.
template <class T> struct GradFactors { T a, b, c; };
template <class T> SINDRI_DEVICE GradFactors<T> grad_factors(const T* coefficients, int64_t c) {
  return {coefficients[c * 3], coefficients[c * 3 + 1], coefficients[c * 3 + 2]};
}
template <class T> SINDRI_DEVICE T gradient_of_x(const GradFactors<T>& f, T g, T from_mean) { return f.a * g - f.b * from_mean - f.c; }

/// The results that depend on a channel's s1 and s2.
template <class T> struct GradResults {
  int64_t count;  // number of values per channel
  double eps;
  Floating gamma, var, dgamma, dbeta;
  T* coefficients;  // GradFactors of each channel

  SINDRI_DEVICE void store(const TwoSums<double>& s, int64_t c) const {
    const double r = 1 / sqrt(var.read<double>(c) + eps), scale = gamma.read<double>(c) * r, n = static_cast<double>(count);
    dgamma.write(c, r * s.second);
    dbeta.write(c, s.first);
    coefficients[c * 3] = static_cast<T>(scale);
    coefficients[c * 3 + 1] = static_cast<T>(scale * r * r * s.second / n);
    coefficients[c * 3 + 2] = static_cast<T>(scale * s.first / n);
  }
};

/// Bytes of three values per channel, rounded up to 256.
template <class E> int64_t factor_bytes(const TensorMeta& x) { return up_to_256(3 * x.shape[1] * static_cast<int64_t>(sizeof(Number<E>))); }

}  // namespace sindri::cuda
