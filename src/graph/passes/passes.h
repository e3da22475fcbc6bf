// The passes of the compiler, one per file.
#pragma once

#include "sindri/graph/pass.h"

namespace sindri {

/// to_layout(to_layout(x)) and to_layout to the layout x already has.
std::unique_ptr<Pass> make_simplify_layout();
/// Nodes whose inputs are all constants become constants.
std::unique_ptr<Pass> make_fold_constants();
/// One node for equal (op, attributes, inputs); one value for equal constants.
std::unique_ptr<Pass> make_cse();
/// batch norm (+ add) + relu and their gradients as single ops.
std::unique_ptr<Pass> make_fuse_norm_act();
/// CUDA: batch norm + relu + max pooling and their gradients as single ops.
std::unique_ptr<Pass> make_fuse_norm_pool();
/// conv2d + batch_norm_infer or bias (+ add) (+ relu) as one op.
std::unique_ptr<Pass> make_fuse_conv();
/// CUDA: layouts turned where it costs least.
std::unique_ptr<Pass> make_turn_layouts();
/// CUDA: the gradient of average pooling takes over the sum it goes into.
std::unique_ptr<Pass> make_fuse_pool_grad();
/// Elementwise ops that feed each other as one node, run tile by tile.
std::unique_ptr<Pass> make_fuse_elementwise();
/// Optimizer updates with equal attributes and scalars as one node of many parameters.
std::unique_ptr<Pass> make_group_updates();
/// CUDA: small elementwise ops that compute the same for many tensors as one node.
std::unique_ptr<Pass> make_group_elementwise();
/// Communication begins as early as its operands allow.
std::unique_ptr<Pass> make_hoist_comm();
/// Drops what no output, state or host effect needs.
std::unique_ptr<Pass> make_dce();

}  // namespace sindri
