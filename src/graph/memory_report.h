// Explains a memory plan (include/sindri/graph/memory_report.h has the result).
#pragma once

#include "sindri/graph/graph.h"
#include "sindri/graph/memory_report.h"
#include "src/graph/memory_plan.h"

namespace sindri {

/// workspace_bytes and steady_bytes stay 0: the executable knows them, not the plan.
MemoryReport explain_memory(const Graph& graph, const MemoryPlan& plan);

}  // namespace sindri
