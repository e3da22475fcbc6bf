// The arithmetic of gradient accumulation, for steps that are not a TrainStep. The algorithm is
// boost/grad_accumulation.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "sindri/autograd/grad.h"
#include "sindri/export.h"
#include "sindri/op/parameter.h"

namespace sindri::boost {

/// Accumulates the gradients of one step of a group of `steps`: adds gradient/steps to every sum, in the sum's type,
/// and 1 to `count` (int32). Returns nothing before the last step of a group. The last step returns the update's
/// gradients, the sums, and clears sums and count.
///
/// `last` says whether this is the last step; unset, the counter decides. While a graph is traced the counter's value
/// is unknown: then every step returns gradients whose `skip` is true except in the last step, so that one graph serves
/// all steps. Throws ValueError if the numbers of gradients and sums differ.
SINDRI_API std::optional<Gradients> collect_gradients(const std::vector<Parameter*>& sums, Parameter& count, int64_t steps, Gradients g,
                                                      std::optional<bool> last = {});

}  // namespace sindri::boost
