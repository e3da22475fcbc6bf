// The units and the schedule of gradient freezing (boost/grad_freeze), by themselves.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri::boost {

/// For each of `groups` variants the first parameter that it trains. Parameters in their order are cut into units: one that is called bn or bias, or comes while its
/// unit has fewer than three, joins it (MindSpore: ParameterProcess.assign_parameter_group). Variant i begins with unit i·(units / groups).
SINDRI_API std::vector<size_t> freeze_starts(const std::vector<std::string>& names, int64_t groups);
/// The variant of each step, int(1.01·steps) of them. type 0: z zeros, then 1 … groups-1, z = int(floor(p·(groups-1)/(1-p)) + 0.5); 1: zeros, and while less than
/// 1-p of them were not zero one i drawn in proportion to groups-i (MindSpore: GradientFreeze).
SINDRI_API std::vector<int> freeze_sequence(int64_t groups, int64_t type, double p, int64_t steps, uint64_t seed);

}  // namespace sindri::boost
