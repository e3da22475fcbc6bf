// See kernel_spec.h.
#include "src/device/cuda/kernel_spec.h"

#include <vector>

namespace sindri::cuda {

namespace {

class SpecKernel final : public Kernel {
 public:
  explicit SpecKernel(const KernelQuery& q) : spec_(*static_cast<const KernelSpec*>(q.def->data)), op_(q.op), attrs_(q.attrs) {
    in_.assign(q.in.begin(), q.in.end());
    out_.assign(q.out.begin(), q.out.end());
    if (spec_.workspace != nullptr) workspace_ = spec_.workspace(q);
  }
  int64_t workspace_bytes() const override { return workspace_; }
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    CudaStream& stream = cuda_stream(ctx);
    const OnDevice on(stream.device().index);
    const KernelQuery query{op_, attrs_, in_, out_};
    spec_.run({query, in, out, ctx.workspace, stream});
  }

 private:
  const KernelSpec& spec_;
  const OpDef& op_;
  Attrs attrs_;
  std::vector<TensorMeta> in_, out_;
  int64_t workspace_ = 0;
};

std::string reject_spec(const KernelQuery& q) {
  const auto& spec = *static_cast<const KernelSpec*>(q.def->data);
  return spec.reject != nullptr ? spec.reject(q) : "";
}
std::unique_ptr<Kernel> make_spec(const KernelQuery& q) { return std::make_unique<SpecKernel>(q); }

}  // namespace

bool register_cuda_kernel(const KernelSpec& spec) {
  const auto* const kept = new KernelSpec(spec);  // as long as the table of kernels
  return register_kernel(
      {.op = spec.op, .name = spec.name, .priority = spec.priority, .reject = reject_spec, .make = make_spec, .device = Device::kCuda, .data = kept});
}

void fill_bytes(const Call& call, void* to, int byte, int64_t bytes) {
  if (bytes > 0) check(cudaMemsetAsync(to, byte, static_cast<size_t>(bytes), call.stream.handle()), call.query.op.name, call.stream.device());
}
void copy_bytes(const Call& call, void* to, const void* from, int64_t bytes) {
  if (bytes > 0 && to != from)
    check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, call.stream.handle()), call.query.op.name, call.stream.device());
}

}  // namespace sindri::cuda
