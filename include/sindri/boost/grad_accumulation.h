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

/// Accumulates the gradients of one step. `steps` consecutive steps form a group, which makes one update. Adds
/// gradient/steps to each sum, in the sum's type, and 1 to `count` (int32). Returns an empty optional before the
/// group's last step. In the last step, returns the sums as the update's gradients and clears the sums and `count`.
///
/// `last` says whether this is the last step of a group; if it is unset, `count` decides. While a graph is traced, the
/// value of `count` is unknown. Every step then returns gradients, whose `skip` is true in all but the last step, so
/// that one graph serves all steps. Throws ValueError if the numbers of gradients and sums differ.
SINDRI_API std::optional<Gradients> collect_gradients(const std::vector<Parameter*>& sums, Parameter& count, int64_t steps, Gradients g,
                                                      std::optional<bool> last = {});

}  // namespace sindri::boost
