// Units and schedule of gradient freezing (boost/grad_freeze), usable without the algorithm.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri::boost {

/// Returns for each of `groups` variants the first parameter that it trains. The parameters are divided, in order, into
/// units. A parameter joins the current unit if its name contains bn or bias, or if the unit has fewer than three
/// (MindSpore: ParameterProcess.assign_parameter_group). Variant i starts at unit i·(units / groups).
SINDRI_API std::vector<size_t> freeze_starts(const std::vector<std::string>& names, int64_t groups);
/// Returns the variants of int(1.01·steps) steps (MindSpore: GradientFreeze). type 0 repeats z zeros and then 1 …
/// groups-1, with z = floor(p·(groups-1)/(1-p)). type 1 starts with 0. While less than 1-p of the variants are not 0 it
/// draws a variant i with probability proportional to groups-i, else it adds a 0.
SINDRI_API std::vector<int> freeze_sequence(int64_t groups, int64_t type, double p, int64_t steps, uint64_t seed);

}  // namespace sindri::boost
