// Constants in the form that kernels write.
#pragma once

#include <array>
#include <cstring>

#include "ops/shape/convert.h"
#include "src/device/cuda/launch.h"

namespace sindri::cuda {

/// `value` as elements of type `t`, repeated in 16 bytes.
inline uint4 pattern_of(DType t, double value) {
  std::array<char, 16> bytes{};
  dispatch_dtype(t, [&]<class T>() {
    const T v = shape_ops::from_double<T>(value);
    for (size_t i = 0; i < bytes.size(); i += sizeof(T)) std::memcpy(&bytes[i], &v, sizeof(T));
  });
  uint4 p;
  std::memcpy(&p, bytes.data(), sizeof p);
  return p;
}
/// The first element of a pattern.
template <class E> E first_of(const uint4& pattern) {
  E e;
  std::memcpy(&e, &pattern, sizeof e);
  return e;
}

/// Sets every element of b to `value`, converted to its type.
void fill(const Call& call, const Buffer& b, double value);

}  // namespace sindri::cuda
