// conv2d_bias_act by conv2d's own kernels: the convolution with the kernel that supports it, then one pass over the result. Half
// types are computed in float32, so that the sum is rounded once. The oneDNN kernel in conv2d_onednn_cpu.cc needs no such pass.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/conv/conv_geometry.h"
#include "src/device/cpu/parallel.h"
#include "src/device/cpu/workspace.h"
#include "src/op/element.h"

namespace sindri {
namespace {

using conv::Conv2dBiasActAttrs, conv::ConvGeometry;

class ComposedConv final : public Kernel {
 public:
  explicit ComposedConv(const KernelQuery& q)
      : attrs_(Attrs::of(conv::common_attrs(q.attrs.as<Conv2dBiasActAttrs>()))),
        relu_(q.attrs.as<Conv2dBiasActAttrs>().relu),
        half_(is_half(q.in[0].dtype)),
        in_(q.in.begin(), q.in.begin() + 2),
        sum_(q.out[0]) {
    if (half_) in_[0].dtype = in_[1].dtype = sum_.dtype = DType::kFloat32;
    conv_ = make_kernel({find_op("conv2d"), attrs_, in_, {&sum_, 1}}, nullptr);
    WorkspaceLayout layout;
    inner_at_ = layout.add(conv_->workspace_bytes());
    for (size_t i = 0; i < 2 && half_; ++i) widened_at_[i] = layout.add(in_[i].nbytes());
    // The residual may share the memory of y, so the convolution is written elsewhere first.
    own_sum_ = half_ || q.in.size() > 3;
    if (own_sum_) sum_at_ = layout.add(sum_.nbytes());
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    Buffer operands[2] = {in[0], in[1]};
    for (size_t i = 0; i < 2 && half_; ++i) {
      operands[i] = {workspace_at(ctx.workspace, widened_at_[i]), &in_[i]};
      parallel_for(in_[i].numel(), 16384, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) operands[i].as<float>()[k] = static_cast<float>(load_element(in[i], k));
      });
    }
    ExecContext inner{workspace_at(ctx.workspace, inner_at_)};
    const Buffer sum{own_sum_ ? workspace_at(ctx.workspace, sum_at_) : out[0].data, &sum_};
    conv_->run(inner, operands, {&sum, 1});
    if (sum_.dtype == DType::kFloat64) finish<double>(sum, in, out[0]);
    else finish<float>(sum, in, out[0]);
  }

 private:
  template <class A> void finish(const Buffer& sum, Span<const Buffer> in, const Buffer& y) const {
    const bool channels_last = sum_.layout == Layout::kChannelsLast;
    const int64_t channels = sum_.shape[1], plane = sum_.shape[2] * sum_.shape[3];
    std::vector<A> bias;
    for (int64_t c = 0; c < channels; ++c) bias.push_back(static_cast<A>(load_element(in[2], c)));
    parallel_for(sum_.numel(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        A v = sum.as<const A>()[i] + bias[static_cast<size_t>(channels_last ? i % channels : i / plane % channels)];
        if (in.size() > 3) v += static_cast<A>(load_element(in[3], i));
        store_element(y, i, relu_ && v < 0 ? A(0) : v);
      }
    });
  }

  Attrs attrs_;
  bool relu_, half_, own_sum_ = false;
  std::vector<TensorMeta> in_;  // of the convolution
  TensorMeta sum_;
  std::shared_ptr<Kernel> conv_;
  int64_t inner_at_ = 0, sum_at_ = 0, widened_at_[2] = {}, workspace_ = 0;
};

void fold_batch_norm(const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
  const int64_t channels = q.in[0].shape[0], each = channels > 0 ? q.in[0].numel() / channels : 0;
  parallel_for(channels, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, each)), [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const double s = load_element(in[1], o) / std::sqrt(load_element(in[4], o) + q.attrs.as<conv::FoldBatchNormAttrs>().eps);
      for (int64_t i = o * each; i < (o + 1) * each; ++i) store_element(out[0], i, load_element(in[0], i) * s);
      store_element(out[1], o, load_element(in[2], o) - load_element(in[3], o) * s);
    }
  });
}

std::unique_ptr<Kernel> make_composed(const KernelQuery& q) { return std::make_unique<ComposedConv>(q); }
const bool kComposed = register_kernel({.op = "conv2d_bias_act", .name = "composed", .make = make_composed});
const bool kFold = register_kernel({.op = "fold_batch_norm", .name = "reference", .priority = kReferencePriority, .simple = fold_batch_norm});

}  // namespace
}  // namespace sindri
