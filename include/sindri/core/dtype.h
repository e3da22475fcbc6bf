// Element types, the two 16-bit float types, and the type promotion rules.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sindri/export.h"

namespace sindri {

/// Element type of a tensor.
enum class DType : uint8_t { kBool, kUInt8, kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64 };
inline constexpr int kNumDTypes = 8;  ///< number of element types

/// bfloat16: the upper half of a float32. Conversion rounds to nearest even; NaN stays NaN.
struct bfloat16 {
  uint16_t bits = 0;
  bfloat16() = default;
  bfloat16(float f) {  // NOLINT(google-explicit-constructor): arithmetic type
    uint32_t u = std::bit_cast<uint32_t>(f);
    if ((u & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<uint16_t>((u >> 16) | 0x40u);
      return;
    }
    bits = static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }  // NOLINT
};

/// IEEE 754 binary16. Conversion rounds to nearest even; overflow gives infinity.
struct float16 {
  uint16_t bits = 0;
  float16() = default;
  float16(float f) : bits(static_cast<uint16_t>(from_float(f))) {}  // NOLINT(google-explicit-constructor)
  operator float() const { return to_float(bits); }  // NOLINT

 private:
  static uint32_t from_float(float f) {
    uint32_t u = std::bit_cast<uint32_t>(f), sign = (u >> 16) & 0x8000u;
    u &= 0x7fffffffu;
    if (u >= 0x7f800000u) return sign | (u > 0x7f800000u ? 0x7e00u : 0x7c00u);
    if (u >= 0x477ff000u) return sign | 0x7c00u;  // rounds past 65504
    if (u < 0x38800000u) {  // subnormal half: let the FPU round
      float a = std::bit_cast<float>(u) + 0.5f;
      return sign | (std::bit_cast<uint32_t>(a) - 0x3f000000u);
    }
    return sign | ((u - 0x38000000u + 0xfffu + ((u >> 13) & 1u)) >> 13);
  }
  static float to_float(uint16_t h) {
    uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16, em = h & 0x7fffu;
    if (em >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((em & 0x3ffu) << 13));
    if (em >= 0x0400u) return std::bit_cast<float>(sign | ((em << 13) + 0x38000000u));
    float sub = static_cast<float>(em) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(sub));
  }
};

/// Size of one element in bytes.
SINDRI_API size_t dtype_size(DType t);
/// Full name: "float32", "bfloat16", … (MindSpore's and NumPy's spelling).
SINDRI_API const char* dtype_name(DType t);
/// Short name, used in printed graphs and messages: "f32", "bf16", ….
SINDRI_API const char* dtype_short_name(DType t);
/// Inverse of dtype_name and dtype_short_name. Throws DTypeError for an unknown name.
SINDRI_API DType parse_dtype(std::string_view name);
inline bool is_floating(DType t) { return t >= DType::kFloat16; }  ///< float16, bfloat16, float32, float64
inline bool is_integral(DType t) { return t < DType::kFloat16; }  ///< integers and bool
inline bool is_half(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }  ///< float16 or bfloat16
/// Result type of a binary arithmetic op: the wider of the two types, in the order bool < u8 < i32 < i64 < f16, bf16 < f32 < f64.
/// f16 with bf16 gives f32 (PyTorch's rule for tensors of rank > 0).
SINDRI_API DType promote_types(DType a, DType b);

template <class T> struct dtype_of_t;
template <> struct dtype_of_t<bool> { static constexpr DType value = DType::kBool; };
template <> struct dtype_of_t<uint8_t> { static constexpr DType value = DType::kUInt8; };
template <> struct dtype_of_t<int32_t> { static constexpr DType value = DType::kInt32; };
template <> struct dtype_of_t<int64_t> { static constexpr DType value = DType::kInt64; };
template <> struct dtype_of_t<float16> { static constexpr DType value = DType::kFloat16; };
template <> struct dtype_of_t<bfloat16> { static constexpr DType value = DType::kBFloat16; };
template <> struct dtype_of_t<float> { static constexpr DType value = DType::kFloat32; };
template <> struct dtype_of_t<double> { static constexpr DType value = DType::kFloat64; };
/// The DType of a C++ type.
template <class T> inline constexpr DType dtype_of = dtype_of_t<T>::value;

/// Calls `f.template operator()<T>()` with the C++ type T of `t`: `dispatch_dtype(t, [&]<class T>() { … })`.
template <class F> decltype(auto) dispatch_dtype(DType t, F&& f) {
  switch (t) {
    case DType::kBool: return f.template operator()<bool>();
    case DType::kUInt8: return f.template operator()<uint8_t>();
    case DType::kInt32: return f.template operator()<int32_t>();
    case DType::kInt64: return f.template operator()<int64_t>();
    case DType::kFloat16: return f.template operator()<float16>();
    case DType::kBFloat16: return f.template operator()<bfloat16>();
    case DType::kFloat32: return f.template operator()<float>();
    default: return f.template operator()<double>();
  }
}

}  // namespace sindri
