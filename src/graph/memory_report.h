// Explains a memory plan (include/sindri/graph/memory_report.h has the result).
#pragma once

#include <string>

#include "sindri/graph/graph.h"
#include "sindri/graph/memory_report.h"
#include "src/graph/memory_plan.h"

namespace sindri {

/// workspace_bytes and steady_bytes stay 0: the executable knows them, not the plan.
MemoryReport explain_memory(const Graph& graph, const MemoryPlan& plan);
/// Lists the Cells whose values fill the arena at its peak, largest first: "train_step needs 812.0 MB for values, most
/// of it at the peak for Net/layer1.conv 96.0 MB, …".
std::string largest_cells(const std::string& name, const MemoryReport& report);

}  // namespace sindri
