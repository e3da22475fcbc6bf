// Random ops. A random number depends only on (seed, op instance, step, global position of the sample, element).
//
// The key, a tensor int64 [3] = {seed, step, offset of this rank's first sample in the global batch}, is state: a
// training step reads it from rng_state(), so that a replayed graph draws new numbers. `instance` numbers the random
// ops of one step in program order.
#pragma once
#include <cstdint>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/parameter.h"

namespace sindri::ops {

/// Parameter that holds the key. It is seeded by set_seed at first use and by reset_rng.
SINDRI_API Parameter& rng_state();
/// Sets seed, step and sample offset, and restarts the instance count. Throws ValueError for a negative step or offset.
SINDRI_API void reset_rng(int64_t seed, int64_t step = 0, int64_t sample_offset = 0);
/// Starts a step: instances count from 0 again. TrainStep calls it before it traces or runs a step.
SINDRI_API void begin_rng_step();
/// Number of the step's next random op.
SINDRI_API int64_t rng_instance();
/// Sets the number of the step's next random op. Setting it back makes a repeated forward pass draw the same random
/// numbers.
SINDRI_API void set_rng_instance(int64_t next);
/// Ends a step: writes step + 1 to the key through ops, so that this is part of the compiled step.
SINDRI_API void end_rng_step();

/// A part of a step that is compiled separately and draws the same numbers as its ops would inside the step. During its
/// lifetime instances count from 0, whatever ran before, and the key contains the instance of the step at which the
/// part starts. So one graph serves the part at any position in a step.
class SINDRI_API RngPart {
 public:
  /// Starts the part at the step's current instance.
  RngPart();
  /// Calls end(0) unless the part has ended, which means that it threw before it ran.
  ~RngPart();
  RngPart(const RngPart&) = delete;
  RngPart& operator=(const RngPart&) = delete;
  /// Ends the part: the step continues after the `drawn` instances that it used. A second call does nothing.
  void end(int64_t drawn);

 private:
  int64_t first_, seedings_;
  bool ended_ = false;
};

/// Uniform random numbers in [low, high). Throws ValueError unless low <= high are finite, DTypeError for a type that
/// is not floating.
SINDRI_API Tensor random_uniform(const Shape& shape, double low = 0, double high = 1, DType dtype = DType::kFloat32);
/// Normal random numbers. Throws ValueError unless mean is finite and stddev >= 0, DTypeError for a type that is not
/// floating.
SINDRI_API Tensor random_normal(const Shape& shape, double mean = 0, double stddev = 1, DType dtype = DType::kFloat32);
/// Normal random numbers within mean ± 2 stddev; draws outside are repeated. Throws the same errors as random_normal.
SINDRI_API Tensor random_truncated_normal(const Shape& shape, double mean = 0, double stddev = 1, DType dtype = DType::kFloat32);
/// 1 with probability p, else 0. Throws ValueError for p outside [0, 1].
SINDRI_API Tensor random_bernoulli(const Shape& shape, double p = 0.5, DType dtype = DType::kBool);
/// Random permutation of 0 … n-1, int64 [n]. Throws ValueError for a negative n.
SINDRI_API Tensor random_permutation(int64_t n);
/// Zeroes each element with probability 1 - keep_prob and scales the rest by 1/keep_prob. The first dimension counts
/// samples. The backward pass draws the same mask again, so nothing is saved. Throws ValueError for keep_prob outside
/// (0, 1].
SINDRI_API Tensor dropout(const Tensor& x, double keep_prob);

}  // namespace sindri::ops
