// Shared by the definition, the kernels and the graph pass (src/graph/passes/group_elementwise.cc) of group_cluster.
#pragma once

#include <string>
#include <vector>

#include "ops/elementwise/cluster.h"

namespace sindri::elementwise {

struct GroupClusterAttrs {
  std::string program;  ///< like that of elementwise_cluster
  int64_t tensors = 1;
  std::string layouts;  ///< a letter per tensor: '=' results have the layout of its first operand, 'c' contiguous, 'l' channels-last
  SINDRI_ATTRS(GroupClusterAttrs, program, tensors, layouts)
};

/// A parsed group: each tensor has `inputs` operands and `results` results, and those of all tensors follow one another.
struct ClusterGroup {
  ClusterProgram program;
  size_t tensors = 0, inputs = 0, results = 0;
  std::string layouts;
  Layout layout_of(size_t tensor, Layout first_operand) const {
    return layouts[tensor] == 'l' ? Layout::kChannelsLast : layouts[tensor] == 'c' ? Layout::kContiguous : first_operand;
  }
};
/// Throws ValueError for an invalid program or layouts, and for a number of inputs that cannot be divided equally among the tensors.
SINDRI_API ClusterGroup parse_cluster_group(const Attrs& attrs, size_t inputs);

}  // namespace sindri::elementwise
