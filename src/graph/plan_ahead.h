// Makes the plans of a whole graph at once.
#pragma once

#include "sindri/core/device.h"
#include "sindri/graph/graph.h"

namespace sindri {

/// Makes the plans of the graph's nodes on several threads, one less than num_threads() and at least one, so that
/// plan_op finds them ready. For devices: their libraries need up to several seconds to build an engine (cuDNN compiles
/// some), and a step has about a hundred different engines. Does nothing on the CPU, where kernels are timed on the
/// cores that these threads would use. An error here occurs again, and is reported, when the plan is requested.
void plan_ahead(const Graph& graph, Device device);

}  // namespace sindri
