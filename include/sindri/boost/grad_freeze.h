// Units and schedule of gradient freezing (boost/grad_freeze), usable without the algorithm.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri::boost {

/// Returns for each of `groups` variants the first parameter that it trains. The parameters are divided, in order, into
/// units. A parameter joins the current unit if its name contains bn or bias, or if the unit has fewer than three
/// parameters (MindSpore: ParameterProcess.assign_parameter_group). Variant i starts at unit i·(units / groups).
SINDRI_API std::vector<size_t> freeze_starts(const std::vector<std::string>& names, int64_t groups);
/// Returns the variant of each of int(1.01·steps) steps (MindSpore: GradientFreeze). type 0 repeats a sequence: z
/// zeros, then 1 … groups-1, with z = floor(p·(groups-1)/(1-p)). type 1 starts with 0. As long as the share of nonzero
/// variants so far is below 1-p, it appends a variant i drawn with probability proportional to groups-i; otherwise it
/// appends 0.
SINDRI_API std::vector<int> freeze_sequence(int64_t groups, int64_t type, double p, int64_t steps, uint64_t seed);

}  // namespace sindri::boost
