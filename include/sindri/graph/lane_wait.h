// Time that this runtime's compiled graphs have waited for their communication lane: the part of a rank's steps that is due to
// other ranks.
#pragma once

#include "sindri/export.h"

namespace sindri {

/// Total seconds so far. Calls on the lane that nothing had to wait for do not count.
SINDRI_API double seconds_waited_for_lane();

}  // namespace sindri
