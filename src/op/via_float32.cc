// See via_float32.h.
#include "src/op/via_float32.h"

#include <vector>

#include "src/device/cpu/half_convert.h"
#include "src/device/cpu/workspace.h"
#include "src/op/kernel_choice.h"

namespace sindri {

namespace {

std::vector<TensorMeta> widened(Span<const TensorMeta> metas) {
  std::vector<TensorMeta> out(metas.begin(), metas.end());
  for (TensorMeta& m : out) m.dtype = is_half(m.dtype) ? DType::kFloat32 : m.dtype;
  return out;
}

class ViaFloat32 final : public Kernel {
 public:
  explicit ViaFloat32(const KernelQuery& q) : half_(q.in[0].dtype), in_(widened(q.in)), out_(widened(q.out)) {
    kernel_ = make_kernel({q.op, q.attrs, in_, out_}, nullptr);
    WorkspaceLayout layout;
    for (size_t i = 0; i < in_.size(); ++i) in_at_.push_back(is_half(q.in[i].dtype) ? layout.add(in_[i].nbytes()) : kInPlace);
    for (size_t i = 0; i < out_.size(); ++i) out_at_.push_back(is_half(q.out[i].dtype) ? layout.add(out_[i].nbytes()) : kInPlace);
    kernel_at_ = layout.add(kernel_->workspace_bytes());
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }
  int64_t prepared_bytes(size_t in) const override { return kernel_->prepared_bytes(in); }
  void prepare(ExecContext& ctx, size_t in, const Buffer& from, void* to) const override {
    if (in_at_[in] == kInPlace) return kernel_->prepare(ctx, in, from, to);
    std::vector<float> wide(static_cast<size_t>(in_[in].numel()));
    half_to_float(half_, from.data, wide.data(), in_[in].numel());
    kernel_->prepare(ctx, in, {wide.data(), &in_[in]}, to);
  }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    std::vector<Buffer> wide_in, wide_out;
    for (size_t i = 0; i < in.size(); ++i) {
      const bool as_it_is = in_at_[i] == kInPlace || in[i].prepared != nullptr;
      wide_in.push_back({as_it_is ? in[i].data : workspace_at(ctx.workspace, in_at_[i]), &in_[i], in[i].prepared});
      if (!as_it_is) half_to_float(half_, in[i].data, wide_in[i].as<float>(), in_[i].numel());
    }
    for (size_t i = 0; i < out.size(); ++i) wide_out.push_back({out_at_[i] == kInPlace ? out[i].data : workspace_at(ctx.workspace, out_at_[i]), &out_[i]});
    ExecContext inner{workspace_at(ctx.workspace, kernel_at_), ctx.stream};
    kernel_->run(inner, wide_in, wide_out);
    for (size_t i = 0; i < out.size(); ++i) {
      if (out_at_[i] != kInPlace) float_to_half(half_, wide_out[i].as<float>(), out[i].data, out_[i].numel());
    }
  }

 private:
  static constexpr int64_t kInPlace = -1;  // not of the half type: used in place

  DType half_;
  std::vector<TensorMeta> in_, out_;
  std::shared_ptr<Kernel> kernel_;
  std::vector<int64_t> in_at_, out_at_;
  int64_t kernel_at_ = 0, workspace_ = 0;
};

}  // namespace

std::string reject_via_float32(const KernelQuery& q) {
  if (!is_half(q.in[0].dtype)) return "for half types only";
  const std::vector<TensorMeta> in = widened(q.in), out = widened(q.out);
  const KernelQuery wide{q.op, q.attrs, in, out};
  std::string reasons;
  for (const KernelDef* k : kernels_of(q.op.name)) {
    if (k->priority <= 0) break;  // these accept half types themselves
    const std::string why = rejection(*k, wide);
    if (why.empty()) return "";
    reasons += (reasons.empty() ? "" : "; ") + std::string(k->name) + ": " + why;
  }
  return "no kernel in float32 (" + reasons + ")";
}

std::unique_ptr<Kernel> make_via_float32(const KernelQuery& q) { return std::make_unique<ViaFloat32>(q); }

bool register_via_float32(const char* op) {
  return register_kernel({.op = op, .name = "onednn_via_f32", .priority = 10, .reject = reject_via_float32, .make = make_via_float32});
}

}  // namespace sindri
