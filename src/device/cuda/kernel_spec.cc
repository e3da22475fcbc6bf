// See kernel_spec.h.
#include "src/device/cuda/kernel_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "sindri/core/log.h"

namespace sindri::cuda {

namespace {

class SpecKernel final : public Kernel {
 public:
  explicit SpecKernel(const KernelQuery& q) : spec_(*static_cast<const KernelSpec*>(q.def->data)), op_(q.op), attrs_(q.attrs) {
    in_.assign(q.in.begin(), q.in.end());
    out_.assign(q.out.begin(), q.out.end());
    if (spec_.workspace != nullptr) workspace_ = spec_.workspace(q);
    if (spec_.cost != nullptr) cost_ = spec_.cost(q);
  }
  int64_t workspace_bytes() const override { return workspace_; }
  KernelCost cost() const override { return cost_; }
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    CudaStream& stream = cuda_stream(ctx);
    const OnDevice on(stream.device().index);
    const KernelQuery query{op_, attrs_, in_, out_};
    const int64_t before = stream.launches();
    spec_.run({query, in, out, ctx.workspace, stream});
    if (const int64_t started = stream.launches() - before; started > cost_.launches && log::enabled(log::Level::kDebug, "launches"))
      log::debug("launches", fmt::format("{} launched {} kernels, copies and fills, {} were planned", op_.name, started, cost_.launches));
  }

 private:
  const KernelSpec& spec_;
  const OpDef& op_;
  Attrs attrs_;
  std::vector<TensorMeta> in_, out_;
  int64_t workspace_ = 0;
  KernelCost cost_;
};

std::string reject_spec(const KernelQuery& q) {
  const auto& spec = *static_cast<const KernelSpec*>(q.def->data);
  return spec.reject != nullptr ? spec.reject(q) : "";
}
std::unique_ptr<Kernel> make_spec(const KernelQuery& q) { return std::make_unique<SpecKernel>(q); }

}  // namespace

bool register_cuda_kernel(const KernelSpec& spec) {
  const auto* const kept = new KernelSpec(spec);  // lives as long as the table of kernels
  return register_kernel(
      {.op = spec.op, .name = spec.name, .priority = spec.priority, .reject = reject_spec, .make = make_spec, .device = Device::kCuda, .data = kept});
}

namespace {
std::atomic<int> g_reserved{0};
}  // namespace
void reserve_multiprocessors(int count) { g_reserved.store(std::max(count, g_reserved.load())); }
int reserved_multiprocessors() { return g_reserved; }

void fill_bytes(const Call& call, void* to, int byte, int64_t bytes) {
  if (bytes <= 0) return;
  check(cudaMemsetAsync(to, byte, static_cast<size_t>(bytes), call.stream.handle()), call.query.op.name, call.stream.device());
  call.stream.count_launch();
}
void copy_bytes(const Call& call, void* to, const void* from, int64_t bytes) {
  if (bytes <= 0 || to == from) return;
  check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice, call.stream.handle()), call.query.op.name, call.stream.device());
  call.stream.count_launch();
}

}  // namespace sindri::cuda
