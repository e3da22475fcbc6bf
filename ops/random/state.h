// Numbering of the random ops in a step.
#pragma once

#include <cstdint>

namespace sindri::random_ops {

/// The next op instance, in program order; begin_rng_step restarts at 0.
int64_t next_instance();

}  // namespace sindri::random_ops
