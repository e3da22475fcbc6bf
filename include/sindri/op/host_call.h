// Host functions as part of graphs, for example to print at every run.
#pragma once

#include <functional>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri {

/// Receives the values of a host_call's operands, on the CPU. If it throws, the run fails.
using HostFunction = std::function<void(Span<const Tensor>)>;

/// Calls `f` with the operands' values when execution reaches it: at once in eager mode, at each run of a traced graph, in
/// program order with other host calls. Gradients and mixed precision ignore the call. The graph keeps `f`. Throws DeviceError
/// for an operand that is not on the CPU. `number` identifies the call's effect: two calls with the same number must do the same
/// with their operands, and a call that is traced again must have the same number as before.
SINDRI_API void host_call(Span<const Tensor> in, int64_t number, HostFunction f);

}  // namespace sindri
