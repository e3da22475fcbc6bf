// The layouts an op wants its inputs in and gives its outputs, from OpTraits::layout. One function for the eager and the
// graph interpreter, so that both modes run the same kernels on the same bytes.
#pragma once

#include <vector>

#include "sindri/op/op_def.h"

namespace sindri {

/// Whether a tensor has other memory in channels-last than it has contiguous.
bool channels_last_differs(const TensorMeta& m);
/// Rewrites the layouts of `in` to what the op should receive, and sets those of `out`.
void apply_layout_rule(const OpDef& op, std::vector<TensorMeta>* in, std::vector<TensorMeta>* out);

}  // namespace sindri
