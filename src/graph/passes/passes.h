// The passes of the compiler, one per file.
#pragma once

#include "sindri/graph/pass.h"

namespace sindri {

/// Removes to_layout(to_layout(x)) and to_layout to the layout that x already has.
std::unique_ptr<Pass> make_simplify_layout();
/// Replaces nodes whose inputs are all constants by constants.
std::unique_ptr<Pass> make_fold_constants();
/// Keeps one node for equal (op, attributes, inputs) and one value for equal constants.
std::unique_ptr<Pass> make_cse();
/// Fuses batch norm (+ add) + relu, and their gradients, into single ops.
std::unique_ptr<Pass> make_fuse_norm_act();
/// CUDA: fuses batch norm + relu + max pooling, and their gradients, into single ops.
std::unique_ptr<Pass> make_fuse_norm_pool();
/// Fuses conv2d + batch_norm_infer or bias (+ add) (+ relu) into one op.
std::unique_ptr<Pass> make_fuse_conv();
/// CUDA: moves layout conversions to the cheapest positions.
std::unique_ptr<Pass> make_turn_layouts();
/// CUDA: the gradient of average pooling absorbs the sum that reads it.
std::unique_ptr<Pass> make_fuse_pool_grad();
/// Fuses elementwise ops that feed each other into one node, run tile by tile.
std::unique_ptr<Pass> make_fuse_elementwise();
/// Groups optimizer updates with equal attributes and scalars into one node of many parameters.
std::unique_ptr<Pass> make_group_updates();
/// CUDA: groups small elementwise ops that compute the same for many tensors into one node.
std::unique_ptr<Pass> make_group_elementwise();
/// Starts communication as early as its operands allow.
std::unique_ptr<Pass> make_hoist_comm();
/// Removes nodes that no output, state or host effect needs.
std::unique_ptr<Pass> make_dce();

}  // namespace sindri
