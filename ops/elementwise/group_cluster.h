// What the definition, the kernels and the maker (src/graph/passes/group_elementwise.cc) of group_cluster share.
#pragma once

#include <string>
#include <vector>

#include "ops/elementwise/cluster.h"

namespace sindri::elementwise {

struct GroupClusterAttrs {
  std::string program;  ///< as that of elementwise_cluster
  int64_t tensors = 1;
  std::string layouts;  ///< a letter for each tensor: '=' results lie as its first operand does, 'c' contiguous, 'l' channels-last
  SINDRI_ATTRS(GroupClusterAttrs, program, tensors, layouts)
};

/// Which operands and results belong to which tensor: `inputs` and `results` of each, in sequence.
struct ClusterGroup {
  ClusterProgram program;
  size_t tensors = 0, inputs = 0, results = 0;
  std::string layouts;
  Layout layout_of(size_t tensor, Layout first_operand) const {
    return layouts[tensor] == 'l' ? Layout::kChannelsLast : layouts[tensor] == 'c' ? Layout::kContiguous : first_operand;
  }
};
/// Throws ValueError for a program or layouts that are not in order, and for a number of inputs that the tensors do not share alike.
SINDRI_API ClusterGroup parse_cluster_group(const Attrs& attrs, size_t inputs);

}  // namespace sindri::elementwise
