// Random ops. A number depends on (seed, op instance, step, global position of the sample, element) and on nothing else.
//
// The key tensor int64 [3] = {seed, step, offset of this rank's first sample in the global batch} is state: a train step reads it
// from rng_state(), so a replayed graph draws fresh numbers. `instance` numbers the random ops of one step in program order.
#pragma once
#include <cstdint>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/parameter.h"

namespace sindri::ops {

/// The state slot holding the key; seeded by set_seed at first use and by reset_rng.
SINDRI_API Parameter& rng_state();
/// Sets seed, step and sample offset, and restarts the instance count.
SINDRI_API void reset_rng(int64_t seed, int64_t step = 0, int64_t sample_offset = 0);
/// Starts a step: instances count from 0 again. Called by TrainStep before tracing or running a step.
SINDRI_API void begin_rng_step();
/// Number the next random op of the step gets. Setting it back makes a forward pass that is repeated draw the same numbers.
SINDRI_API int64_t rng_instance();
SINDRI_API void set_rng_instance(int64_t next);
/// Ends a step: writes step + 1 to the state through ops, so that it is part of the compiled step.
SINDRI_API void end_rng_step();

/// A part of a step that is compiled by itself and draws what its ops would draw in their place: while it lives, instances count from 0, whatever
/// ran before, and the key says at which instance of the step the part begins. Its graph thus serves any place in a step.
class SINDRI_API RngPart {
 public:
  RngPart();
  /// As end(0), unless it has ended: the part threw before it ran.
  ~RngPart();
  RngPart(const RngPart&) = delete;
  RngPart& operator=(const RngPart&) = delete;
  /// The step goes on behind the `drawn` instances of the part. Does nothing the second time.
  void end(int64_t drawn);

 private:
  int64_t first_, seedings_;
  bool ended_ = false;
};

SINDRI_API Tensor random_uniform(const Shape& shape, double low = 0, double high = 1, DType dtype = DType::kFloat32);
SINDRI_API Tensor random_normal(const Shape& shape, double mean = 0, double stddev = 1, DType dtype = DType::kFloat32);
/// Normal draws outside mean ± 2 stddev are drawn again.
SINDRI_API Tensor random_truncated_normal(const Shape& shape, double mean = 0, double stddev = 1, DType dtype = DType::kFloat32);
/// 1 with probability p, else 0.
SINDRI_API Tensor random_bernoulli(const Shape& shape, double p = 0.5, DType dtype = DType::kBool);
/// A permutation of 0 … n-1, int64.
SINDRI_API Tensor random_permutation(int64_t n);
/// Zeroes each element with probability 1 - keep_prob and scales the rest by 1/keep_prob. The first dimension counts samples.
/// The gradient draws the same mask again; nothing is saved.
SINDRI_API Tensor dropout(const Tensor& x, double keep_prob);

}  // namespace sindri::ops
