// Shared by kernels that use cuDNN: plans that are built once for each graph of a device, and a handle for each stream.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "src/device/cuda/cudnn_graph.h"
#include "src/device/cuda/stream.h"

namespace sindri::cuda {

/// Returns the plan of the engine that choice.h chooses, for a device of this process. Kernels with equal graphs share
/// it, and a graph without one is not tried again. Null, with the reason in `why`, if cuDNN is missing or has no engine.
std::shared_ptr<const CudnnPlan> cudnn_plan(const CudnnGraph& graph, int device, std::string* why);

/// Enqueues a plan's work on a stream. Throws DeviceError. See CudnnPlan::run.
void run_cudnn_plan(const CudnnPlan& plan, CudaStream& stream, std::span<void* const> addresses, void* workspace);

}  // namespace sindri::cuda
