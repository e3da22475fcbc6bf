// The computation of the stand-in for cuDNN: tensors as a graph describes them, and its ops over them in float64.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sindri::cuda_host {

struct DnnTensor {
  int64_t id = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int64_t> dims, strides;
  int64_t alignment = 1;
  bool is_virtual = false;
  int64_t numel() const;
  bool channels_last() const;  ///< packed, channels-last
};

enum class DnnKind { kConv, kDgrad, kWgrad, kPointwise };
/// An op. For a convolution, (a, b, y) are (x, w, y), (dy, w, dx) or (dy, x, dw). `b` of a pointwise op may be absent (id 0).
struct DnnOp {
  DnnKind kind = DnnKind::kConv;
  DnnTensor a, b, y;
  std::vector<int64_t> pad_before, pad_after, strides, dilations;
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
};

/// Empty if the sizes of an op's tensors match, else the rule they break.
std::string dnn_shape_error(const DnnOp& op);
/// Empty if cuDNN 9.19 has an engine on sm_90 for the graph, else the reason. Covers plain convolutions, and a convolution followed by pointwise ops.
std::string dnn_unsupported(const std::vector<DnnOp>& ops);
/// Runs the ops in order. `memory`: by tensor id, for those that are not virtual.
void dnn_run(const std::vector<DnnOp>& ops, const std::map<int64_t, void*>& memory);

}  // namespace sindri::cuda_host
