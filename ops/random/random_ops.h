// Attributes of the random ops and the counter space they draw from.
//
//   key      64 bits of (seed, instance)
//   counter  { block inside the sample, sample, step, stream | high bits of sample and step }
//
// A block has four 32-bit words. Four consecutive elements of a sample (two for float64) share one. A sample is one index of
// the first dimension; its position is counted in the global batch. `stream` distinguishes redraws of one element.
#pragma once

#include <array>
#include <cstdint>

#include "sindri/core/rng.h"
#include "sindri/core/tensor.h"
#include "sindri/op/attrs.h"

namespace sindri::random_ops {

struct UniformAttrs {
  Shape shape;
  double low = 0, high = 1;
  DType dtype = DType::kFloat32;
  int64_t instance = 0;
  SINDRI_ATTRS(UniformAttrs, shape, low, high, dtype, instance)
};
struct NormalAttrs {  // random_normal, random_truncated_normal
  Shape shape;
  double mean = 0, stddev = 1;
  DType dtype = DType::kFloat32;
  int64_t instance = 0;
  SINDRI_ATTRS(NormalAttrs, shape, mean, stddev, dtype, instance)
};
struct BernoulliAttrs {
  Shape shape;
  double p = 0.5;
  DType dtype = DType::kBool;
  int64_t instance = 0;
  SINDRI_ATTRS(BernoulliAttrs, shape, p, dtype, instance)
};
struct PermutationAttrs {
  int64_t n = 0;
  int64_t instance = 0;
  SINDRI_ATTRS(PermutationAttrs, n, instance)
};
struct DropoutAttrs {
  double keep_prob = 0.5;
  int64_t instance = 0;
  SINDRI_ATTRS(DropoutAttrs, keep_prob, instance)
};

/// kCounterBits: bits of the counter for the step and for the sample offset. The kPartBits above them hold the instance at which a part of a step starts
/// (ops::RngPart), its lower half above the step, its upper half above the offset. The instances of the ops in the part count from there.
inline constexpr int kCounterBits = 44, kPartBits = 20;
inline constexpr int64_t kPartMask = (int64_t{1} << kPartBits) - 1;

/// The source of the random words of one op call.
struct RandomStream {
  std::array<uint32_t, 2> key;
  uint64_t step, offset;

  /// `state` is the key tensor: seed, step, sample offset.
  RandomStream(const int64_t* state, int64_t instance) : step(static_cast<uint64_t>(state[1])), offset(static_cast<uint64_t>(state[2])) {
    const uint64_t first = step >> kCounterBits | offset >> kCounterBits << kPartBits;
    step &= (uint64_t{1} << kCounterBits) - 1;
    offset &= (uint64_t{1} << kCounterBits) - 1;
    const uint64_t k = hash_combine(static_cast<uint64_t>(state[0]), first + static_cast<uint64_t>(instance));
    key = {static_cast<uint32_t>(k), static_cast<uint32_t>(k >> 32)};
  }
  /// Counter words 1 to 3 of local sample `i`.
  std::array<uint32_t, 3> sample(int64_t i, uint32_t stream = 0) const {
    const uint64_t s = offset + static_cast<uint64_t>(i);
    return {static_cast<uint32_t>(s), static_cast<uint32_t>(step),
            (stream & 0xffu) | static_cast<uint32_t>((s >> 32) & 0xfffu) << 8 | static_cast<uint32_t>((step >> 32) & 0xfffu) << 20};
  }
  /// The four words of block `b` of local sample `i`.
  std::array<uint32_t, 4> block(int64_t i, uint32_t b, uint32_t stream = 0) const {
    const auto c = sample(i, stream);
    return philox4x32({b, c[0], c[1], c[2]}, key).v;
  }
};

/// A tensor viewed as samples of equally many elements; a scalar is one sample.
struct Samples {
  int64_t count, each;
};
inline Samples samples_of(const Shape& shape) {
  if (shape.rank() == 0) return {1, 1};
  int64_t each = 1;
  for (int d = 1; d < shape.rank(); ++d) each *= shape[d];
  return {shape[0], each};
}

/// An event of probability p occurs if the upper 24 bits of its word are below this.
inline int32_t threshold24(double p) {
  const double scaled = p * 0x1p24;
  const auto whole = static_cast<int32_t>(scaled);
  return whole < scaled ? whole + 1 : whole;
}

}  // namespace sindri::random_ops
