// The Bessel functions on CUDA devices, in double as on the CPU: CUDA's J and Y; I and K from the Chebyshev series of bessel_tables.h. One kernel selects
// function and types at run time. The series' coefficients are its arguments, which all threads read from one address at a time.
#include <cmath>
#include <limits>
#include <string_view>

#include "ops/elementwise/bessel_tables.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {
namespace {

enum class Bessel : uint8_t {
#define BESSEL(id, ...) k_##id,
#include "ops/elementwise/bessel.def"
#undef BESSEL
};

constexpr int kMostTerms = 64;
struct Series {
  int terms = 0;
  double c[kMostTerms] = {};
};
// The tables of I and K of one order.
struct Tables {
  Series i_small, i_large, k_small, k_large;
};

// c[0]/2 + sum c[k] T_k(t) by Clenshaw's recurrence.
SINDRI_DEVICE double series(const Series& s, double t) {
  double b = 0, before = 0;
  for (int k = s.terms - 1; k > 0; --k) {
    const double next = 2 * t * b - before + s.c[k];
    before = b;
    b = next;
  }
  return t * b - before + 0.5 * s.c[0];
}

SINDRI_DEVICE double infinity() { return std::numeric_limits<double>::infinity(); }

// e^-|x| I of order 0 or 1.
SINDRI_DEVICE double scaled_i(const Tables& t, bool first, double x) {
  const double a = abs(x);
  const double f = a <= 8 ? series(t.i_small, a / 4 - 1) : series(t.i_large, 16 / a - 1) / sqrt(a);
  if (!first) return f;
  return a <= 8 ? x * f : copysign(f, x);
}
// e^|x| f multiplied in two halves: e^|x| overflows before the product does. Infinity times the limit 0 of f would be NaN.
SINDRI_DEVICE double grown(double f, double x) {
  if (isinf(x)) return copysign(infinity(), f);
  const double half = exp(abs(x) / 2);
  return f * half * half;
}
SINDRI_DEVICE double second_kind(const Tables& t, bool first, bool scaled, double x) {
  if (isnan(x)) return x;
  if (x <= 0) return infinity();
  if (x > 2) return series(t.k_large, 4 / x - 1) / sqrt(x) * (scaled ? 1.0 : exp(-x));
  const double i = grown(scaled_i(t, first, x), x), s = series(t.k_small, x * x / 2 - 1);
  return (first ? s / x + log(x / 2) * i : s - log(x / 2) * i) * (scaled ? exp(x) : 1.0);
}

SINDRI_DEVICE double value_of(Bessel f, const Tables& t, double x) {
  switch (f) {
    case Bessel::k_j0: return ::j0(x);
    case Bessel::k_j1: return ::j1(x);
    case Bessel::k_y0: return x > 0 ? ::y0(x) : isnan(x) ? x : -infinity();
    case Bessel::k_y1: return x > 0 ? ::y1(x) : isnan(x) ? x : -infinity();
    case Bessel::k_i0e: return scaled_i(t, false, x);
    case Bessel::k_i1e: return scaled_i(t, true, x);
    case Bessel::k_i0: return grown(scaled_i(t, false, x), x);
    case Bessel::k_i1: return grown(scaled_i(t, true, x), x);
    case Bessel::k_k0: return second_kind(t, false, false, x);
    case Bessel::k_k0e: return second_kind(t, false, true, x);
    case Bessel::k_k1: return second_kind(t, true, false, x);
    default: return second_kind(t, true, true, x);
  }
}

SINDRI_DEVICE double read(const void* x, DType type, int64_t i) {
  switch (type) {
    case DType::kFloat16: return widen(static_cast<const Half*>(x)[i]);
    case DType::kBFloat16: return widen(static_cast<const Bf16*>(x)[i]);
    case DType::kFloat32: return static_cast<const float*>(x)[i];
    default: return static_cast<const double*>(x)[i];
  }
}

__global__ void bessel_values(Bessel f, Tables t, DType type, int64_t n, const void* x, void* y) {
  for (int64_t i = global_thread(); i < n; i += global_threads()) {
    const double v = value_of(f, t, read(x, type, i));
    switch (type) {
      case DType::kFloat16: static_cast<Half*>(y)[i] = to_half(static_cast<float>(v)); break;
      case DType::kBFloat16: static_cast<Bf16*>(y)[i] = to_bf16(static_cast<float>(v)); break;
      case DType::kFloat32: static_cast<float*>(y)[i] = static_cast<float>(v); break;
      default: static_cast<double*>(y)[i] = v;
    }
  }
}

template <size_t n> Series series_of(const double (&c)[n]) {
  static_assert(n <= kMostTerms);
  Series s;
  s.terms = static_cast<int>(n);
  for (size_t k = 0; k < n; ++k) s.c[k] = c[k];
  return s;
}

Tables tables_of(Bessel f) {
  using namespace bessel;
  switch (f) {
    case Bessel::k_i1:
    case Bessel::k_i1e:
    case Bessel::k_k1:
    case Bessel::k_k1e: return {series_of(kI1Small), series_of(kI1Large), series_of(kK1Small), series_of(kK1Large)};
    default: return {series_of(kI0Small), series_of(kI0Large), series_of(kK0Small), series_of(kK0Large)};
  }
}

template <Bessel f> void run(const Call& call) {
  const int64_t n = call.in[0].meta->numel();
  if (n == 0) return;
  launch(call, grid_for(n), bessel_values, f, tables_of(f), call.in[0].meta->dtype, n, call.in[0].data, call.out[0].data);
}

#define BESSEL(id, ...) const bool kRegister_##id = register_cuda_kernel({.op = "bessel_" #id, .run = run<Bessel::k_##id>});
#include "ops/elementwise/bessel.def"
#undef BESSEL

}  // namespace
}  // namespace sindri::cuda
