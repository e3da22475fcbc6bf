// See sum_to_simd.h.
#include "ops/shape/sum_to_simd.h"

#include <cstring>

namespace sindri::SINDRI_SIMD_NS {
namespace {

#define SINDRI_INLINE static inline __attribute__((always_inline))

SINDRI_INLINE float bits_to_float(uint32_t u) {
  float f;
  std::memcpy(&f, &u, sizeof f);
  return f;
}
SINDRI_INLINE uint32_t float_to_bits(float f) {
  uint32_t u;
  std::memcpy(&u, &f, sizeof u);
  return u;
}

struct F32 {
  using Stored = float;
  using Value = float;
  SINDRI_INLINE float load(float v) { return v; }
};
struct F64 {
  using Stored = double;
  using Value = double;
  SINDRI_INLINE double load(double v) { return v; }
};
struct BF16 {
  using Stored = uint16_t;
  using Value = float;
  SINDRI_INLINE float load(uint16_t v) { return bits_to_float(static_cast<uint32_t>(v) << 16); }
};
struct F16 {
  using Stored = uint16_t;
  using Value = float;
  // A multiplication shifts the exponent and normalises subnormals; then Inf and NaN get their exponent back.
  SINDRI_INLINE float load(uint16_t v) {
    const uint32_t magnitude = v & 0x7fffu, sign = static_cast<uint32_t>(v & 0x8000u) << 16;
    const uint32_t u = float_to_bits(bits_to_float(magnitude << 13) * 0x1p112f);
    return bits_to_float((magnitude >= 0x7c00u ? u | 0x7f800000u : u) | sign);
  }
};

constexpr int64_t kColumns = 64, kRows = 32;  // a block's sums fit into four 512-bit registers

template <class K> SINDRI_INLINE void add_rows(const typename K::Stored* __restrict x, int64_t rows, int64_t stride, int64_t columns, double* __restrict sums) {
  for (int64_t c0 = 0; c0 < columns; c0 += kColumns) {
    const int64_t width = columns - c0 < kColumns ? columns - c0 : kColumns;
    for (int64_t r0 = 0; r0 < rows; r0 += kRows) {
      const int64_t height = rows - r0 < kRows ? rows - r0 : kRows;
      const typename K::Stored* __restrict block = x + r0 * stride + c0;
      typename K::Value part[kColumns] = {};
      if (width == kColumns) {
        for (int64_t r = 0; r < height; ++r)
          for (int64_t c = 0; c < kColumns; ++c) part[c] += K::load(block[r * stride + c]);
      } else {
        for (int64_t r = 0; r < height; ++r)
          for (int64_t c = 0; c < width; ++c) part[c] += K::load(block[r * stride + c]);
      }
      for (int64_t c = 0; c < width; ++c) sums[c0 + c] += static_cast<double>(part[c]);
    }
  }
}

constexpr int64_t kLanes = 32, kRun = 1024;  // a lane adds at most kRun / kLanes values in the narrow type

template <class K> SINDRI_INLINE double sum_run(const typename K::Stored* __restrict x, int64_t n) {
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kRun) {
    const int64_t count = n - begin < kRun ? n - begin : kRun, whole = count / kLanes * kLanes;
    const typename K::Stored* __restrict p = x + begin;
    typename K::Value lane[kLanes] = {};
    for (int64_t i = 0; i < whole; i += kLanes)
      for (int64_t k = 0; k < kLanes; ++k) lane[k] += K::load(p[i + k]);
    for (int64_t i = whole; i < count; ++i) lane[i - whole] += K::load(p[i]);
    double sum = 0;
    for (int64_t k = 0; k < kLanes; ++k) sum += static_cast<double>(lane[k]);
    total += sum;
  }
  return total;
}

#undef SINDRI_INLINE

}  // namespace

void add_rows_f32(const float* x, int64_t rows, int64_t stride, int64_t columns, double* sums) { add_rows<F32>(x, rows, stride, columns, sums); }
void add_rows_f64(const double* x, int64_t rows, int64_t stride, int64_t columns, double* sums) { add_rows<F64>(x, rows, stride, columns, sums); }
void add_rows_bf16(const uint16_t* x, int64_t rows, int64_t stride, int64_t columns, double* sums) { add_rows<BF16>(x, rows, stride, columns, sums); }
void add_rows_f16(const uint16_t* x, int64_t rows, int64_t stride, int64_t columns, double* sums) { add_rows<F16>(x, rows, stride, columns, sums); }
double sum_run_f32(const float* x, int64_t n) { return sum_run<F32>(x, n); }
double sum_run_f64(const double* x, int64_t n) { return sum_run<F64>(x, n); }
double sum_run_bf16(const uint16_t* x, int64_t n) { return sum_run<BF16>(x, n); }
double sum_run_f16(const uint16_t* x, int64_t n) { return sum_run<F16>(x, n); }

}  // namespace sindri::SINDRI_SIMD_NS
