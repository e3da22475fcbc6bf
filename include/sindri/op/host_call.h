// Functions of the host as a part of graphs: what a program prints, for example, at every run.
#pragma once

#include <functional>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri {

/// Gets the values of a host_call's operands, on the CPU. May throw: the run fails then.
using HostFunction = std::function<void(Span<const Tensor>)>;

/// Calls `f` with the operands' values when the program gets here: at once in eager code, at each run of a graph that is traced, in program order with the
/// other calls. Gradients and mixed precision do not see it. The graph keeps `f`. Throws DeviceError for an operand on another device than the CPU.
/// `number` says what the call does: two calls of one number must do the same with their operands, and a call that is traced again must have the number that
/// it had before.
SINDRI_API void host_call(Span<const Tensor> in, int64_t number, HostFunction f);

}  // namespace sindri
