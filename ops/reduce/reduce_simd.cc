// See reduce_simd.h.
#include "ops/reduce/reduce_simd.h"

#include "sindri/core/dtype.h"
#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {
namespace {

using reduce::Fold;
using simd_math::Bf16, simd_math::F16;

constexpr int kLanes = 32;

template <Fold fold> SINDRI_SIMD_INLINE double identity() { return fold == Fold::kMax ? -__builtin_inf() : fold == Fold::kMin ? __builtin_inf() : 0.0; }
template <Fold fold> SINDRI_SIMD_INLINE double mapped(double v) {
  return fold == Fold::kSumAbs || fold == Fold::kMaxAbs ? __builtin_fabs(v) : fold == Fold::kSumSquare ? v * v : v;
}
// NaN propagates through every extremum.
template <Fold fold> SINDRI_SIMD_INLINE double combine(double acc, double v) {
  if constexpr (fold == Fold::kMax || fold == Fold::kMaxAbs) return (v > acc) | (v != v) ? v : acc;
  else if constexpr (fold == Fold::kMin) return (v < acc) | (v != v) ? v : acc;
  else return acc + v;
}

template <Fold fold, class E> double row(const void* data, int64_t n) {
  const E* x = static_cast<const E*>(data);
  double lanes[kLanes];
  for (int j = 0; j < kLanes; ++j) lanes[j] = identity<fold>();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] = combine<fold>(lanes[j], mapped<fold>(static_cast<double>(simd_math::widen(x[i + j]))));
  }
  for (int j = 0; i < n; ++i, ++j) lanes[j] = combine<fold>(lanes[j], mapped<fold>(static_cast<double>(simd_math::widen(x[i]))));
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) lanes[j] = combine<fold>(lanes[j], lanes[j + half]);
  }
  return lanes[0];
}

template <Fold fold, class E> void columns(const void* data, int64_t rows, int64_t stride, int64_t n, double* __restrict acc) {
  const E* x = static_cast<const E*>(data);
  for (int64_t r = 0; r < rows; ++r, x += stride) {
    for (int64_t c = 0; c < n; ++c) acc[c] = combine<fold>(acc[c], mapped<fold>(static_cast<double>(simd_math::widen(x[c]))));
  }
}

template <Fold fold> double row_of(DType t, const void* x, int64_t n) {
  switch (t) {
    case DType::kFloat16: return row<fold, F16>(x, n);
    case DType::kBFloat16: return row<fold, Bf16>(x, n);
    case DType::kFloat32: return row<fold, float>(x, n);
    default: return row<fold, double>(x, n);
  }
}
template <Fold fold> void columns_of(DType t, const void* x, int64_t rows, int64_t stride, int64_t n, double* acc) {
  switch (t) {
    case DType::kFloat16: return columns<fold, F16>(x, rows, stride, n, acc);
    case DType::kBFloat16: return columns<fold, Bf16>(x, rows, stride, n, acc);
    case DType::kFloat32: return columns<fold, float>(x, rows, stride, n, acc);
    default: return columns<fold, double>(x, rows, stride, n, acc);
  }
}

}  // namespace

double fold_row(Fold fold, int dtype, const void* x, int64_t n) {
  const auto t = static_cast<DType>(dtype);
  switch (fold) {
    case Fold::kSum: return row_of<Fold::kSum>(t, x, n);
    case Fold::kSumAbs: return row_of<Fold::kSumAbs>(t, x, n);
    case Fold::kSumSquare: return row_of<Fold::kSumSquare>(t, x, n);
    case Fold::kMax: return row_of<Fold::kMax>(t, x, n);
    case Fold::kMaxAbs: return row_of<Fold::kMaxAbs>(t, x, n);
    case Fold::kMin: return row_of<Fold::kMin>(t, x, n);
  }
  return 0;
}

void fold_columns(Fold fold, int dtype, const void* x, int64_t rows, int64_t stride, int64_t n, double* acc) {
  const auto t = static_cast<DType>(dtype);
  switch (fold) {
    case Fold::kSum: return columns_of<Fold::kSum>(t, x, rows, stride, n, acc);
    case Fold::kSumAbs: return columns_of<Fold::kSumAbs>(t, x, rows, stride, n, acc);
    case Fold::kSumSquare: return columns_of<Fold::kSumSquare>(t, x, rows, stride, n, acc);
    case Fold::kMax: return columns_of<Fold::kMax>(t, x, rows, stride, n, acc);
    case Fold::kMaxAbs: return columns_of<Fold::kMaxAbs>(t, x, rows, stride, n, acc);
    case Fold::kMin: return columns_of<Fold::kMin>(t, x, rows, stride, n, acc);
  }
}

}  // namespace sindri::SINDRI_SIMD_NS
