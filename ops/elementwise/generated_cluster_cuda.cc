// The generated kernel of elementwise_cluster. It is preferred to the interpreter (elementwise_cuda.cu) if NVRTC can compile the cluster's generated source.
#include <algorithm>
#include <bit>
#include <memory>
#include <string>

#include "ops/elementwise/cluster_text.h"
#include "ops/elementwise/generated_cluster.h"
#include "src/device/cuda/generated_code.h"
#include "src/device/cuda/kernel_spec.h"

namespace sindri::cuda {
namespace {

using generated::ClusterArgs;
static_assert(elementwise::kMaxClusterInputs <= std::size(ClusterArgs{}.in) && elementwise::kMaxClusterSteps <= std::size(ClusterArgs{}.out));
static_assert(Shape::kMaxRank <= std::size(ClusterArgs{}.size));

constexpr const char* kName = "sindri_cluster";

struct Plan {
  elementwise::OperandWalk walk;
  elementwise::ClusterText text;
};
Plan plan_of(const KernelQuery& q) {
  Plan p;
  p.walk = elementwise::walk_operands(
      q.in.size(), [&](size_t k) -> const TensorMeta& { return q.in[k]; }, q.out[0]);
  p.text = elementwise::cluster_text(elementwise::parse_cluster(q.attrs.as<elementwise::ClusterAttrs>().program), q.in, p.walk);
  return p;
}

class GeneratedCluster final : public Kernel {
 public:
  explicit GeneratedCluster(const KernelQuery& q) : plan_(plan_of(q)), kernel_(generated_function(plan_.text.text, kName, q.device().index).kernel) {
    const elementwise::OperandWalk& w = plan_.walk;
    args_.n = w.n;
    for (size_t d = 0; d < static_cast<size_t>(w.rank); ++d) {
      args_.size[d] = w.size[d];
      args_.shift[d] = -1;
      if (w.n <= INT32_MAX && w.n > 0) set_divisor(d);
    }
    for (size_t k = 0; k < q.in.size(); ++k) std::copy_n(w.stride[k].begin(), w.rank, args_.stride[k]);
  }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    if (args_.n == 0) return;
    CudaStream& stream = cuda_stream(ctx);
    const OnDevice on(stream.device().index);
    ClusterArgs args = args_;
    const auto vector = static_cast<int64_t>(plan_.text.vector);
    bool aligned = true;
    const auto fits = [&](const Buffer& b) {
      return reinterpret_cast<uintptr_t>(b.data) % std::min<size_t>(16, dtype_size(b.meta->dtype) * static_cast<size_t>(vector)) == 0;
    };
    for (size_t k = 0; k < in.size(); ++k) args.in[k] = in[k].data, aligned = aligned && (!plan_.walk.flat[k] || fits(in[k]));
    for (size_t k = 0; k < out.size(); ++k) args.out[k] = out[k].data, aligned = aligned && fits(out[k]);
    args.groups = aligned ? args.n / vector : 0;
    constexpr int64_t kThreads = 256, kMostBlocks = 132 * 16;
    const int64_t blocks = std::clamp<int64_t>(ceil_div(aligned ? ceil_div(args.n, vector) : args.n, kThreads), 1, kMostBlocks);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(kThreads));
    config.stream = stream.handle();
    void* arguments[] = {&args};
    check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel_), arguments), "elementwise_cluster", stream.device());
    stream.count_launch();
  }

 private:
  // As in Divisor (divisor.h), for dividends below n.
  void set_divisor(size_t d) {
    const auto size = static_cast<uint64_t>(args_.size[d]);
    const int shift = std::bit_width(size - 1);
    args_.shift[d] = shift;
    args_.multiplier[d] = static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - size)) / size + 1);
  }

  Plan plan_;
  cudaKernel_t kernel_;
  ClusterArgs args_{};
};

std::string reject(const KernelQuery& q) {
  if (!code_generation()) return "SINDRI_CUDA_CODEGEN is 0";
  return generated_function(plan_of(q).text.text, kName, q.device().index).why;
}
std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<GeneratedCluster>(q); }

const bool kGenerated =
    register_kernel({.op = "elementwise_cluster", .name = "generated", .priority = 10, .reject = reject, .make = make, .device = Device::kCuda});

}  // namespace
}  // namespace sindri::cuda
