// The arithmetic of gradient accumulation by itself, for steps that are not a TrainStep: boost/grad_accumulation is the algorithm.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sindri/autograd/grad.h"
#include "sindri/export.h"
#include "sindri/op/parameter.h"

namespace sindri::boost {

/// One step of a group of `steps`: every sum grows by gradient/steps, in its own type, and `count` (int32) by 1; the last step of a group clears
/// them. Returns the gradients of the update, the sums as they were before, or nothing where the step is not the last.
/// last: whether it is, where the caller knows; unset, the counter says so. While a graph is traced its value is not known: then every step
/// returns gradients, and their `skip` is true but for the last, so that one graph serves all steps.
/// Throws ValueError for another number of gradients than of sums.
SINDRI_API std::optional<Gradients> collect_gradients(const std::vector<Parameter*>& sums, Parameter& count, int64_t steps, Gradients g,
                                                      std::optional<bool> last = {});

}  // namespace sindri::boost
