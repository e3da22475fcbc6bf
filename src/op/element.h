// Reads and writes one element of a floating-point buffer as a double. Reference kernels compute in double for every element type.
#pragma once

#include <cstdint>

#include "sindri/op/kernel.h"

namespace sindri {

/// Returns element i in physical order.
inline double load_element(const Buffer& b, int64_t i) {
  switch (b.meta->dtype) {
    case DType::kFloat16: return static_cast<double>(static_cast<float>(b.as<float16>()[i]));
    case DType::kBFloat16: return static_cast<double>(static_cast<float>(b.as<bfloat16>()[i]));
    case DType::kFloat32: return static_cast<double>(b.as<float>()[i]);
    default: return b.as<double>()[i];
  }
}

/// Rounds once to float32 and, for the 16-bit types, once more.
inline void store_element(const Buffer& b, int64_t i, double v) {
  switch (b.meta->dtype) {
    case DType::kFloat16: b.as<float16>()[i] = float16(static_cast<float>(v)); return;
    case DType::kBFloat16: b.as<bfloat16>()[i] = bfloat16(static_cast<float>(v)); return;
    case DType::kFloat32: b.as<float>()[i] = static_cast<float>(v); return;
    default: b.as<double>()[i] = v;
  }
}

}  // namespace sindri
