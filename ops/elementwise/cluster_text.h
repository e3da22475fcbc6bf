// The CUDA source of one cluster: the work of elementwise_cuda.cu's interpreter for one program, with ops, types and access patterns written out.
#pragma once

#include <string>
#include <vector>

#include "ops/elementwise/cluster.h"
#include "ops/elementwise/operand_walk.h"

namespace sindri::elementwise {

struct ClusterText {
  std::string text;  ///< defines the kernel `sindri_cluster` with one argument, ClusterArgs (generated_cluster.h)
  int vector = 1;  ///< elements that a thread computes at a time
};
/// `walk` describes the operands `in`. Shapes are arguments of the kernel, so clusters that differ only in sizes share one generated source.
ClusterText cluster_text(const ClusterProgram& program, Span<const TensorMeta> in, const OperandWalk& walk);

}  // namespace sindri::elementwise
