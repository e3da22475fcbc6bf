// Numbering of the random ops in a step.
#pragma once

#include <cstdint>

namespace sindri::random_ops {

/// The next op instance, in program order; begin_rng_step starts at 0 again.
int64_t next_instance();

}  // namespace sindri::random_ops
