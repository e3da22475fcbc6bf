// conv2d, its two gradients and conv2d_bias_act by cuDNN's graphs, for half types and float32 (sums in float, no TF32) in channels-last.
//
// Sindri's weights are [O, C/G, KH, KW]. cuDNN's fast engines need [O, KH, KW, C/G], which is a weight in channels-last layout. For 1x1 kernels, and for one
// channel, both are the same memory. A contiguous weight, as in eager calls, is transposed in the workspace before the convolution.
#include <utility>
#include <vector>

#include "ops/conv/conv_geometry.h"
#include "ops/conv/weight_layout_cuda.h"
#include "sindri/core/error.h"
#include "src/device/cuda/cudnn_kernel.h"
#include "src/device/cuda/kernel_spec.h"

namespace sindri::cuda {
namespace {

using conv::Direction;

// x [N, C, H, W], w, optional bias and residual, y: arguments of the graph in the order in which they are added.
CudnnGraph graph_of(const KernelQuery& q) {
  const conv::ConvGeometry g = conv::geometry_of(q);
  const cudnnDataType_t type = cudnn_type(q.in[0].dtype);
  const ConvGeometry geometry{{g.pad_top, g.pad_left}, {g.pad_bottom, g.pad_right}, {g.stride_h, g.stride_w}, {g.dilation_h, g.dilation_w}};
  const Direction direction = conv::direction_of(q);
  CudnnGraph graph;
  const auto add = [&](const Shape& shape, bool result) { return graph.channels_last(type, shape.vec(), result ? Role::kOutput : Role::kInput); };
  if (direction == Direction::kInputGrad) {
    const TensorId dy = add(g.y_shape(), false), w = add(g.w_shape(), false), dx = add(g.x_shape(), true);
    graph.conv_dgrad(dy, w, dx, geometry);
    return graph;
  }
  if (direction == Direction::kWeightGrad) {
    const TensorId dy = add(g.y_shape(), false), x = add(g.x_shape(), false), dw = add(g.w_shape(), true);
    graph.conv_wgrad(x, dy, dw, geometry);
    return graph;
  }
  const TensorId x = add(g.x_shape(), false), w = add(g.w_shape(), false);
  if (q.in.size() == 2) {
    graph.conv(x, w, add(g.y_shape(), true), geometry);
    return graph;
  }
  // Values between the ops are float, so that the sum is rounded once.
  const TensorId bias = graph.per_channel(cudnn_type(q.in[2].dtype), g.o, Role::kInput);
  const TensorId residual = q.in.size() > 3 ? add(g.y_shape(), false) : 0;
  const TensorId y = add(g.y_shape(), true);
  const bool relu = conv::relu_of(q);
  TensorId now = graph.between(y, CUDNN_DATA_FLOAT);
  graph.conv(x, w, now, geometry);
  const auto then = [&](cudnnPointwiseMode_t mode, TensorId with, bool last) {
    const TensorId next = last ? y : graph.between(y, CUDNN_DATA_FLOAT);
    graph.pointwise(mode, now, with, next);
    now = next;
  };
  then(CUDNN_POINTWISE_ADD, bias, residual == 0 && !relu);
  if (residual != 0) then(CUDNN_POINTWISE_ADD, residual, !relu);
  if (relu) then(CUDNN_POINTWISE_RELU_FWD, 0, true);
  return graph;
}

std::shared_ptr<const CudnnPlan> plan_of(const KernelQuery& q, std::string* why) { return cudnn_plan(graph_of(q), q.device().index, why); }

int64_t aligned(int64_t bytes) { return ceil_div(bytes, 256) * 256; }

class CudnnConv final : public Kernel {
 public:
  CudnnConv(const KernelQuery& q, std::shared_ptr<const CudnnPlan> plan)
      : plan_(std::move(plan)), g_(conv::geometry_of(q)), is_weight_grad_(conv::direction_of(q) == Direction::kWeightGrad), op_(q.op), attrs_(q.attrs) {
    in_.assign(q.in.begin(), q.in.end());
    out_.assign(q.out.begin(), q.out.end());
    turns_weight_ = g_.kh * g_.kw > 1 && g_.c_per_group() > 1 && weight().layout == Layout::kContiguous;
    weight_at_ = aligned(plan_->workspace());
    residual_at_ = weight_at_ + (turns_weight_ ? aligned(weight().nbytes()) : 0);
    workspace_ = residual_at_ + (in_.size() > 3 ? out_[0].nbytes() : 0);
  }
  int64_t workspace_bytes() const override { return workspace_; }
  KernelCost cost() const override { return turns_weight_ ? KernelCost{.extra_bytes = 2 * weight().nbytes(), .launches = 2} : KernelCost{}; }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    CudaStream& stream = cuda_stream(ctx);
    const OnDevice on(stream.device().index);
    const KernelQuery query{op_, attrs_, in_, out_};
    const Call call{query, in, out, ctx.workspace, stream};
    const auto space = [&](int64_t at) -> void* { return static_cast<char*>(ctx.workspace) + at; };
    std::vector<void*> addresses;
    for (const Buffer& b : in) addresses.push_back(b.data);
    addresses.push_back(out[0].data);
    const size_t weight_argument = is_weight_grad_ ? addresses.size() - 1 : 1;
    if (turns_weight_) {
      addresses[weight_argument] = space(weight_at_);
      if (!is_weight_grad_) weight_to_rows(call, in[1].data, space(weight_at_), g_.o, g_.c_per_group(), g_.kh * g_.kw, weight().dtype);
    }
    // The residual may share the result's memory, and cuDNN does not guarantee to read it before it writes.
    if (in.size() > 3 && in[3].data == out[0].data) {
      copy_bytes(call, space(residual_at_), in[3].data, out_[0].nbytes());
      addresses[3] = space(residual_at_);
    }
    run_cudnn_plan(*plan_, stream, addresses, ctx.workspace);
    if (turns_weight_ && is_weight_grad_) rows_to_weight(call, space(weight_at_), out[0].data, g_.o, g_.c_per_group(), g_.kh * g_.kw, weight().dtype);
  }

 private:
  const TensorMeta& weight() const { return is_weight_grad_ ? out_[0] : in_[1]; }

  std::shared_ptr<const CudnnPlan> plan_;
  conv::ConvGeometry g_;
  bool is_weight_grad_, turns_weight_ = false;
  const OpDef& op_;
  Attrs attrs_;
  std::vector<TensorMeta> in_, out_;
  int64_t weight_at_ = 0, residual_at_ = 0, workspace_ = 0;
};

std::string reject(const KernelQuery& q) {
  if (q.in[0].dtype == DType::kFloat64) return "float64";
  if (conv::geometry_of(q).empty()) return "an operand has no elements";
  const Direction direction = conv::direction_of(q);
  const TensorMeta &second = q.in[1], &result = q.out[0];
  const bool last = q.in[0].layout == Layout::kChannelsLast && (direction == Direction::kWeightGrad ? second : result).layout == Layout::kChannelsLast;
  if (!last) return "activations are not channels-last";
  if (q.in.size() > 3 && q.in[3].layout != Layout::kChannelsLast) return "the residual is not channels-last";
  std::string why;
  return plan_of(q, &why) != nullptr ? "" : why;
}
std::unique_ptr<Kernel> make(const KernelQuery& q) {
  std::string why;
  std::shared_ptr<const CudnnPlan> plan = plan_of(q, &why);
  if (plan == nullptr) throw InternalError(std::string(q.op.name) + ": " + why);
  return std::make_unique<CudnnConv>(q, std::move(plan));
}

bool add(const char* op) { return register_kernel({.op = op, .name = "cudnn", .priority = 20, .reject = reject, .make = make, .device = Device::kCuda}); }
const bool kForward = add("conv2d"), kBiasAct = add("conv2d_bias_act"), kInputGrad = add("conv2d_input_grad"), kWeightGrad = add("conv2d_weight_grad");

}  // namespace
}  // namespace sindri::cuda
