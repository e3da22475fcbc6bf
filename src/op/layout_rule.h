// The layouts of an op's inputs and outputs, from OpTraits::layout. The eager and the graph interpreter share this
// function, so both modes run the same kernels on the same bytes.
#pragma once

#include <vector>

#include "sindri/op/op_def.h"

namespace sindri {

/// Returns whether a tensor's channels-last memory differs from its contiguous memory.
bool channels_last_differs(const TensorMeta& m);
/// Sets the layouts of `in` to those the op receives, and those of `out` to those it produces.
void apply_layout_rule(const OpDef& op, std::vector<TensorMeta>* in, std::vector<TensorMeta>* out);

}  // namespace sindri
