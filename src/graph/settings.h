// Environment switches of the graph compiler. Read when a function is compiled.
#pragma once

#include "sindri/graph/compile.h"
#include "sindri/graph/pass.h"

namespace sindri {

/// Returns whether the variable is set and neither empty nor "0".
bool env_flag(const char* name);
/// Collects CompileOptions, SINDRI_DISABLE_PASSES, SINDRI_DUMP_GRAPH, SINDRI_VERIFY_GRAPH and context().save_graphs.
PassContext pass_context(const CompileOptions& opts);

}  // namespace sindri
