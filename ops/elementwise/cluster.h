// The program of an elementwise_cluster, as used by its definition and its kernels.
//
//   mul(i0, i1); leaky_relu(t0) {alpha=0.2}; add(t1, i2); out t2, t0
//
// Step k computes t_k from inputs i_n of the op and from earlier steps.
#pragma once

#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri::elementwise {

inline constexpr size_t kMaxClusterInputs = 12, kMaxClusterSteps = 24;

struct ClusterAttrs {
  std::string program;
  SINDRI_ATTRS(ClusterAttrs, program)
};

struct ClusterOperand {
  bool step = false;  ///< the result of step `index`, otherwise input `index`
  size_t index = 0;
};
struct ClusterStep {
  const OpDef* op = nullptr;
  Attrs attrs;
  std::vector<ClusterOperand> in;
};
struct ClusterProgram {
  std::vector<ClusterStep> steps;
  std::vector<size_t> out;  ///< the steps whose results are outputs, each once
};

/// Throws ValueError with the position in the text for unknown or non-elementwise ops, operands used before they are computed,
/// results that nothing reads, and more than kMaxClusterSteps steps.
SINDRI_API ClusterProgram parse_cluster(const std::string& text);
/// The results of all steps; all have one shape. Throws the errors of the ops' infer functions, and ShapeError.
SINDRI_API std::vector<TensorMeta> infer_cluster_steps(const ClusterProgram& program, Span<const TensorMeta> in);

}  // namespace sindri::elementwise
