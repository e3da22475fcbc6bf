// The graphs that networks need from cuDNN, for layers of ResNet-50 and BERT; the support table is made of them.
#pragma once

#include "src/device/cuda/cudnn_graph.h"

namespace sindri::cuda {

/// A square convolution: x [n, c, h, h], w [k, c, r, r], y [n, k, p, p].
struct Layer {
  int64_t c = 64, h = 56, k = 64, r = 3, stride = 1, pad_before = 1, pad_after = 1;
  int64_t n = 256;
  int64_t p() const { return (h + pad_before + pad_after - r) / stride + 1; }
  ConvGeometry geometry() const { return {{pad_before, pad_before}, {pad_after, pad_after}, {stride, stride}, {1, 1}}; }
};

inline constexpr Layer kInner3x3{};
inline constexpr Layer kTo256{.c = 64, .h = 56, .k = 256, .r = 1, .pad_before = 0, .pad_after = 0};
inline constexpr Layer kStride2{.c = 128, .h = 56, .k = 128, .stride = 2};
/// MindSpore's `same`: nothing before, one after.
inline constexpr Layer kUnequal{.c = 128, .h = 56, .k = 128, .stride = 2, .pad_before = 0, .pad_after = 1};
inline constexpr Layer kStem{.c = 4, .h = 224, .k = 64, .r = 7, .stride = 2, .pad_before = 3, .pad_after = 3};

/// Describes one graph; every function returns the tensor it adds.
class Pattern {
 public:
  using Type = cudnnDataType_t;
  explicit Pattern(Type type) : type_(type) {}
  Type type() const { return type_; }

  TensorId in(std::vector<int64_t> dims) { return graph.channels_last(type_, std::move(dims), Role::kInput); }
  TensorId in(Type type, std::vector<int64_t> dims) { return graph.channels_last(type, std::move(dims), Role::kInput); }
  TensorId out(std::vector<int64_t> dims) { return graph.channels_last(type_, std::move(dims), Role::kOutput); }
  TensorId out(Type type, std::vector<int64_t> dims) { return graph.channels_last(type, std::move(dims), Role::kOutput); }
  TensorId channel_in(Type type, int64_t c) { return graph.per_channel(type, c, Role::kInput); }
  TensorId channel_out(int64_t c) { return graph.per_channel(CUDNN_DATA_FLOAT, c, Role::kOutput); }
  TensorId between(std::vector<int64_t> dims, Type type = CUDNN_DATA_FLOAT) { return graph.channels_last(type, std::move(dims), Role::kVirtual); }

  // Channels of a layer.
  TensorId x(const Layer& l) { return in(x_dims(l)); }
  TensorId w(const Layer& l) { return in({l.k, l.c, l.r, l.r}); }
  TensorId dy(const Layer& l) { return in(y_dims(l)); }
  static std::vector<int64_t> x_dims(const Layer& l) { return {l.n, l.c, l.h, l.h}; }
  static std::vector<int64_t> y_dims(const Layer& l) { return {l.n, l.k, l.p(), l.p()}; }

  /// y = mode(a, b), in float between ops unless a type is given; `dims` are y's.
  TensorId op(cudnnPointwiseMode_t mode, TensorId a, TensorId b, std::vector<int64_t> dims, Type type = CUDNN_DATA_FLOAT) {
    const TensorId y = between(std::move(dims), type);
    graph.pointwise(mode, a, b, y);
    return y;
  }
  /// relu(scale x + bias); `factors` is the factors' type, `result` that of the tensor which a convolution then reads.
  TensorId scale_bias_relu(TensorId of, const std::vector<int64_t>& dims, Type factors, Type steps, Type result) {
    const TensorId scaled = op(CUDNN_POINTWISE_MUL, of, channel_in(factors, dims[1]), dims, steps);
    const TensorId biased = op(CUDNN_POINTWISE_ADD, scaled, channel_in(factors, dims[1]), dims, steps);
    return op(CUDNN_POINTWISE_RELU_FWD, biased, 0, dims, result);
  }
  /// Per channel, in float: the sum of a tensor and of its squares, by two reductions.
  void two_sums(TensorId of, const std::vector<int64_t>& dims) {
    graph.reduce(CUDNN_REDUCE_TENSOR_ADD, of, channel_out(dims[1]));
    graph.reduce(CUDNN_REDUCE_TENSOR_ADD, op(CUDNN_POINTWISE_MUL, of, of, dims), channel_out(dims[1]));
  }

  CudnnGraph graph;

 private:
  Type type_;
};

}  // namespace sindri::cuda
