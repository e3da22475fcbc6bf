// The vectorised loop of each elementwise op, by the op's name.
#pragma once

#include "ops/elementwise/elementwise_simd.h"
#include "sindri/op/op_def.h"

namespace sindri::elementwise {

/// The loop of `op` for operands and a result of these types, in the build for this CPU; null if there is none.
TileFn find_tile(const OpDef& op, Span<const TensorMeta> in, const TensorMeta& out);

}  // namespace sindri::elementwise
