// The Bessel functions on the CPU, in double: the C library's J and Y; I and K from Chebyshev series of their smooth parts (bessel_tables.h), as in
// Clenshaw, "Chebyshev series for mathematical functions" (1962).
#include <cmath>
#include <limits>

#include "ops/elementwise/bessel_tables.h"
#include "sindri/core/dtype.h"
#include "sindri/op/kernel.h"
#include "src/device/cpu/parallel.h"

namespace sindri {
namespace bessel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// c[0]/2 + sum c[k] T_k(t) by Clenshaw's recurrence.
template <size_t n> double series(const double (&c)[n], double t) {
  double b = 0, before = 0;
  for (size_t k = n - 1; k > 0; --k) {
    const double next = 2 * t * b - before + c[k];
    before = b;
    b = next;
  }
  return t * b - before + 0.5 * c[0];
}

// At infinity the C library returns the limit 0; for negative x its result depends on its version.
double j0(double x) { return ::j0(x); }
double j1(double x) { return ::j1(x); }
double y0(double x) { return x > 0 ? ::y0(x) : std::isnan(x) ? x : -kInfinity; }
double y1(double x) { return x > 0 ? ::y1(x) : std::isnan(x) ? x : -kInfinity; }

double i0e(double x) {
  const double a = std::fabs(x);
  return a <= 8 ? series(kI0Small, a / 4 - 1) : series(kI0Large, 16 / a - 1) / std::sqrt(a);
}
double i1e(double x) {
  const double a = std::fabs(x);
  return a <= 8 ? x * series(kI1Small, a / 4 - 1) : std::copysign(series(kI1Large, 16 / a - 1) / std::sqrt(a), x);
}

// e^a f with a = |x|, multiplied in two halves: e^a overflows before e^a/sqrt(a) does. Infinity times the limit 0 of f would be NaN.
double grown(double f, double x) {
  if (std::isinf(x)) return std::copysign(kInfinity, f);
  const double half = std::exp(std::fabs(x) / 2);
  return f * half * half;
}
double i0(double x) { return grown(i0e(x), x); }
double i1(double x) { return grown(i1e(x), x); }

double k0_small(double x) { return series(kK0Small, x * x / 2 - 1) - std::log(x / 2) * i0(x); }
double k1_small(double x) { return series(kK1Small, x * x / 2 - 1) / x + std::log(x / 2) * i1(x); }
double k0_large(double x) { return series(kK0Large, 4 / x - 1) / std::sqrt(x); }
double k1_large(double x) { return series(kK1Large, 4 / x - 1) / std::sqrt(x); }

template <double small(double), double large(double), bool scaled> double second_kind(double x) {
  if (std::isnan(x)) return x;
  if (x <= 0) return kInfinity;
  if (x <= 2) return small(x) * (scaled ? std::exp(x) : 1.0);
  return large(x) * (scaled ? 1.0 : std::exp(-x));
}
double k0(double x) { return second_kind<k0_small, k0_large, false>(x); }
double k0e(double x) { return second_kind<k0_small, k0_large, true>(x); }
double k1(double x) { return second_kind<k1_small, k1_large, false>(x); }
double k1e(double x) { return second_kind<k1_small, k1_large, true>(x); }

template <class E> double widen(E e) {
  if constexpr (std::is_same_v<E, float16> || std::is_same_v<E, bfloat16>) return static_cast<float>(e);
  else return static_cast<double>(e);
}

template <double f(double)> void run(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  dispatch_dtype(q.in[0].dtype, [&]<class E>() {
    if constexpr (!std::is_integral_v<E>) {
      const E* x = in[0].as<E>();
      E* y = out[0].as<E>();
      parallel_for(q.in[0].numel(), 512, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const double v = f(widen(x[i]));
          if constexpr (std::is_same_v<E, double>) y[i] = v;
          else y[i] = static_cast<E>(static_cast<float>(v));
        }
      });
    }
  });
}

#define BESSEL(id, ...) \
  const bool k_##id##_kernel = register_kernel({.op = "bessel_" #id, .name = "reference", .priority = kReferencePriority, .simple = run<id>});
#include "ops/elementwise/bessel.def"
#undef BESSEL

}  // namespace
}  // namespace bessel
}  // namespace sindri
