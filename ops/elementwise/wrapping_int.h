// 64-bit two's complement integer whose arithmetic is defined for all values: overflow wraps, division by zero gives 0.
// A template over a tag, so that each *_simd.cc build (tag in an unnamed namespace) has separate functions.
#pragma once

#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define SINDRI_BOTH_SIDES __host__ __device__
#else
#define SINDRI_BOTH_SIDES
#endif

namespace sindri::elementwise {

template <class Tag> struct WrappingInt {
  int64_t v = 0;

  WrappingInt() = default;
  /// Truncates. NaN gives 0, values out of range the nearest int64.
  SINDRI_BOTH_SIDES explicit WrappingInt(double d) : v(d != d ? 0 : d >= 0x1p63 ? INT64_MAX : d < -0x1p63 ? INT64_MIN : static_cast<int64_t>(d)) {}
  template <class I>
  requires std::is_integral_v<I> SINDRI_BOTH_SIDES explicit WrappingInt(I i) : v(static_cast<int64_t>(i)) {}
  SINDRI_BOTH_SIDES uint64_t u() const { return static_cast<uint64_t>(v); }

  SINDRI_BOTH_SIDES friend WrappingInt operator+(WrappingInt a, WrappingInt b) { return WrappingInt(a.u() + b.u()); }
  SINDRI_BOTH_SIDES friend WrappingInt operator-(WrappingInt a, WrappingInt b) { return WrappingInt(a.u() - b.u()); }
  SINDRI_BOTH_SIDES friend WrappingInt operator*(WrappingInt a, WrappingInt b) { return WrappingInt(a.u() * b.u()); }
  SINDRI_BOTH_SIDES friend WrappingInt operator-(WrappingInt a) { return WrappingInt(0 - a.u()); }
  SINDRI_BOTH_SIDES friend bool operator==(WrappingInt a, WrappingInt b) { return a.v == b.v; }
  SINDRI_BOTH_SIDES friend bool operator!=(WrappingInt a, WrappingInt b) { return a.v != b.v; }
  SINDRI_BOTH_SIDES friend bool operator<(WrappingInt a, WrappingInt b) { return a.v < b.v; }
  SINDRI_BOTH_SIDES friend bool operator<=(WrappingInt a, WrappingInt b) { return a.v <= b.v; }
  SINDRI_BOTH_SIDES friend bool operator>(WrappingInt a, WrappingInt b) { return a.v > b.v; }
  SINDRI_BOTH_SIDES friend bool operator>=(WrappingInt a, WrappingInt b) { return a.v >= b.v; }

  SINDRI_BOTH_SIDES friend WrappingInt operator&(WrappingInt a, WrappingInt b) { return WrappingInt(a.u() & b.u()); }
  SINDRI_BOTH_SIDES friend WrappingInt operator|(WrappingInt a, WrappingInt b) { return WrappingInt(a.u() | b.u()); }
  SINDRI_BOTH_SIDES friend WrappingInt operator^(WrappingInt a, WrappingInt b) { return WrappingInt(a.u() ^ b.u()); }
  SINDRI_BOTH_SIDES friend WrappingInt operator<<(WrappingInt a, WrappingInt b) { return b.u() > 63 ? WrappingInt() : WrappingInt(a.u() << b.u()); }
  SINDRI_BOTH_SIDES friend WrappingInt operator>>(WrappingInt a, WrappingInt b) { return WrappingInt(a.v >> (b.u() > 63 ? 63 : b.u())); }

  SINDRI_BOTH_SIDES friend WrappingInt abs(WrappingInt x) { return x.v < 0 ? -x : x; }
  SINDRI_BOTH_SIDES friend WrappingInt floor(WrappingInt x) { return x; }
  SINDRI_BOTH_SIDES friend WrappingInt ceil(WrappingInt x) { return x; }
  SINDRI_BOTH_SIDES friend WrappingInt rint(WrappingInt x) { return x; }
  SINDRI_BOTH_SIDES friend WrappingInt floor_div(WrappingInt a, WrappingInt b) {
    if (b.v == 0) return b;
    if (b.v == -1) return -a;  // INT64_MIN / -1 traps on x86
    return WrappingInt(a.v / b.v - static_cast<int64_t>(a.v % b.v != 0 && (a.v < 0) != (b.v < 0)));
  }
  SINDRI_BOTH_SIDES friend WrappingInt mod(WrappingInt a, WrappingInt b) {
    if (b.v == 0 || b.v == -1) return WrappingInt();
    const int64_t r = a.v % b.v;
    return WrappingInt(r != 0 && (r < 0) != (b.v < 0) ? r + b.v : r);
  }
  SINDRI_BOTH_SIDES friend WrappingInt pow(WrappingInt a, WrappingInt b) {
    if (b.v < 0) return a.v == 1 ? a : WrappingInt(a.v != -1 ? 0 : b.v % 2 != 0 ? -1 : 1);
    WrappingInt r(1);
    for (uint64_t e = b.u(); e != 0; e >>= 1, a = a * a) {
      if ((e & 1) != 0) r = r * a;
    }
    return r;
  }
};

/// Converts a float or double to an integer as NumPy and MindSpore do on x86-64: truncates; NaN and values out of range give the smallest value of
/// int32 or int64, and for narrower types the low bits of the int32. The tag is as above.
template <class Tag, class To, class From> SINDRI_BOTH_SIDES inline To truncated(From v) {
  if constexpr (sizeof(To) == 8) {
    return v >= static_cast<From>(-0x1p63) && v < static_cast<From>(0x1p63) ? static_cast<To>(v) : INT64_MIN;
  } else {
    return static_cast<To>(v >= static_cast<From>(-0x1p31) && v < static_cast<From>(0x1p31) ? static_cast<int32_t>(v) : INT32_MIN);
  }
}

}  // namespace sindri::elementwise
