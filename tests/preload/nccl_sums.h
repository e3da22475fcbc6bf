// Arithmetic of both stand-ins for NCCL: reductions rank by rank in the elements' own type, as a ring does. A mean multiplies each rank's values by 1/size
// first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "sindri/core/dtype.h"
#include "src/comm/nccl_api.h"

namespace sindri::nccl_sums {

namespace nccl = sindri::comm::nccl;

inline size_t size_of(nccl::Type t) {
  switch (t) {
    case nccl::kUint8: return 1;
    case nccl::kFloat16:
    case nccl::kBfloat16: return 2;
    case nccl::kInt32:
    case nccl::kFloat32: return 4;
    default: return 8;
  }
}

template <class T> T combine(T a, T b, nccl::Op op) {
  switch (op) {
    case nccl::kProd: return static_cast<T>(a * b);
    case nccl::kMax: return a < b ? b : a;
    case nccl::kMin: return b < a ? b : a;
    default: return static_cast<T>(a + b);
  }
}

template <class T> void reduce_as(const std::vector<const void*>& in, void* out, size_t count, nccl::Op op) {
  const size_t n = in.size();
  std::vector<T> sums(count);
  for (size_t i = 0; i < count; ++i) {
    const auto value = [&](size_t r) {
      const T v = static_cast<const T*>(in[r])[i];
      if constexpr (std::is_integral_v<T>) return v;
      else return op == nccl::kAvg ? static_cast<T>(static_cast<T>(v * static_cast<T>(1.0f / static_cast<float>(n)))) : v;
    };
    T sum = value(0);
    for (size_t r = 1; r < n; ++r) sum = combine(sum, value(r), op);
    if constexpr (std::is_integral_v<T>) {
      if (op == nccl::kAvg) sum = static_cast<T>(sum / static_cast<T>(n));
    }
    sums[i] = sum;
  }
  std::memcpy(out, sums.data(), count * sizeof(T));
}

inline void reduce(const std::vector<const void*>& in, void* out, size_t count, nccl::Type type, nccl::Op op) {
  switch (type) {
    case nccl::kUint8: return reduce_as<uint8_t>(in, out, count, op);
    case nccl::kInt32: return reduce_as<int32_t>(in, out, count, op);
    case nccl::kInt64: return reduce_as<int64_t>(in, out, count, op);
    case nccl::kFloat16: return reduce_as<float16>(in, out, count, op);
    case nccl::kBfloat16: return reduce_as<bfloat16>(in, out, count, op);
    case nccl::kFloat32: return reduce_as<float>(in, out, count, op);
    case nccl::kFloat64: return reduce_as<double>(in, out, count, op);
  }
}

}  // namespace sindri::nccl_sums
