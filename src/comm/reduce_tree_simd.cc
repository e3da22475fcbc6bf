// See reduce_tree_simd.h. No value is both multiplied and added here, so that no instruction set can fuse the two, and
// results are bitwise identical on all.
#include "src/comm/reduce_tree_simd.h"

#include "src/device/cpu/simd_math.h"

namespace sindri::SINDRI_SIMD_NS {

namespace {

using comm::RowOp;
using comm::RowType;
using simd_math::Bf16;
using simd_math::F16;

struct Bool {
  uint8_t u;
};

inline float load(F16 x) { return simd_math::widen(x); }
inline float load(Bf16 x) { return simd_math::widen(x); }
inline Bool load(Bool x) { return {static_cast<uint8_t>(x.u != 0)}; }
template <class T> inline T load(T x) { return x; }

// Integers wrap around.
struct Sum {
  static float of(float a, float b) { return a + b; }
  static double of(double a, double b) { return a + b; }
  static uint8_t of(uint8_t a, uint8_t b) { return static_cast<uint8_t>(a + b); }
  static int32_t of(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }
  static int64_t of(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
  static Bool of(Bool a, Bool b) { return {static_cast<uint8_t>(a.u | b.u)}; }
};
struct Prod {
  static float of(float a, float b) { return a * b; }
  static double of(double a, double b) { return a * b; }
  static uint8_t of(uint8_t a, uint8_t b) { return static_cast<uint8_t>(a * b); }
  static int32_t of(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b)); }
  static int64_t of(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
  static Bool of(Bool a, Bool b) { return {static_cast<uint8_t>(a.u & b.u)}; }
};
// If either operand is a NaN, the result is NaN; a NaN in b is returned because every comparison with it is false.
struct Max {
  template <class V> static V of(V a, V b) { return (a > b) | (a != a) ? a : b; }
  static Bool of(Bool a, Bool b) { return Sum::of(a, b); }
};
struct Min {
  template <class V> static V of(V a, V b) { return (a < b) | (a != a) ? a : b; }
  static Bool of(Bool a, Bool b) { return Prod::of(a, b); }
};

template <class T, class V, class Op> void fold(const void* const* rows, int number, void* to, int64_t n) {
  V* const out = static_cast<V*>(to);
  const T* const a = static_cast<const T*>(rows[0]);
  const T* const b = static_cast<const T*>(rows[1]);
  if (number == 2) {
    SINDRI_SIMD_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = Op::of(load(a[i]), load(b[i]));
    return;
  }
  const T* const c = static_cast<const T*>(rows[2]);
  const T* const d = static_cast<const T*>(rows[3]);
  SINDRI_SIMD_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = Op::of(Op::of(load(a[i]), load(b[i])), Op::of(load(c[i]), load(d[i])));
}

template <class T, class V> void fold(RowOp op, const void* const* rows, int number, void* to, int64_t n) {
  if (number == 1) {
    V* const out = static_cast<V*>(to);
    const T* const a = static_cast<const T*>(rows[0]);
    SINDRI_SIMD_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = load(a[i]);
    return;
  }
  switch (op) {
    case RowOp::kSum: return fold<T, V, Sum>(rows, number, to, n);
    case RowOp::kMax: return fold<T, V, Max>(rows, number, to, n);
    case RowOp::kMin: return fold<T, V, Min>(rows, number, to, n);
    case RowOp::kProd: return fold<T, V, Prod>(rows, number, to, n);
  }
}

}  // namespace

void fold_rows(RowType type, RowOp op, const void* const* rows, int number, void* out, int64_t n) {
  switch (type) {
    case RowType::kBool: return fold<Bool, Bool>(op, rows, number, out, n);
    case RowType::kUInt8: return fold<uint8_t, uint8_t>(op, rows, number, out, n);
    case RowType::kInt32: return fold<int32_t, int32_t>(op, rows, number, out, n);
    case RowType::kInt64: return fold<int64_t, int64_t>(op, rows, number, out, n);
    case RowType::kFloat16: return fold<F16, float>(op, rows, number, out, n);
    case RowType::kBFloat16: return fold<Bf16, float>(op, rows, number, out, n);
    case RowType::kFloat32: return fold<float, float>(op, rows, number, out, n);
    case RowType::kFloat64: return fold<double, double>(op, rows, number, out, n);
  }
}

void scale_row_f32(float* values, int64_t n, float factor) {
  for (int64_t i = 0; i < n; ++i) values[i] *= factor;
}
void scale_row_f64(double* values, int64_t n, double factor) {
  for (int64_t i = 0; i < n; ++i) values[i] *= factor;
}

}  // namespace sindri::SINDRI_SIMD_NS
