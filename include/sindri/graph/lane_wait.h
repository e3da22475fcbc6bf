// How long this runtime's programs have waited for their communication lane: what steps of one rank take because of others.
#pragma once

#include "sindri/export.h"

namespace sindri {

/// Seconds in all so far. Calls on the lane that nobody had to wait for count nothing.
SINDRI_API double seconds_waited_for_lane();

}  // namespace sindri
