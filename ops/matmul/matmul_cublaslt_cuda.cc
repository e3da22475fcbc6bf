// matmul and batch_matmul by cuBLASLt, on tensor cores for half types. Broadcast batches are strides of 0. If a batch does not have a single stride (both
// operands repeat, along different dimensions), its outer dimensions become separate calls.
#include <algorithm>
#include <vector>

#include "ops/matmul/matmul_problem.h"
#include "sindri/core/error.h"
#include "src/device/cuda/cublaslt.h"
#include "src/device/cuda/kernel_spec.h"

namespace sindri::cuda {
namespace {

constexpr int64_t kMostCalls = 64;  // if one op needs more launches, the tiled product is used, which needs one

// The first matrices of each call, and the problem of one call.
struct Calls {
  MatrixProduct product;
  std::vector<int64_t> a, b, c;
};

// The innermost dimensions of the batch with a single stride in both operands form a call. They are determined from the offsets of the matrices.
Calls calls_of(const KernelQuery& q) {
  const matmul::Problem p = matmul::problem_of(q);
  const auto& attrs = q.attrs.as<matmul::MatmulAttrs>();
  const int64_t count = p.matrices();
  const auto offset = [](const std::vector<int64_t>& of, int64_t i) { return of[static_cast<size_t>(i)]; };
  const int64_t stride_a = count > 1 ? p.a_offset[1] : 0, stride_b = count > 1 ? p.b_offset[1] : 0;
  int64_t batch = 1;
  while (batch < count && offset(p.a_offset, batch) == batch * stride_a && offset(p.b_offset, batch) == batch * stride_b) ++batch;
  const auto steady = [&](int64_t n) {
    if (count % n != 0) return false;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t first = i / n * n, at = i - first;
      if (offset(p.a_offset, i) != offset(p.a_offset, first) + at * stride_a || offset(p.b_offset, i) != offset(p.b_offset, first) + at * stride_b)
        return false;
    }
    return true;
  };
  while (!steady(batch)) --batch;
  Calls calls;
  calls.product = {q.in[0].dtype, p.m, p.n, p.k, attrs.transpose_a, attrs.transpose_b, batch, stride_a, stride_b, p.m * p.n};
  for (int64_t i = 0; i < count; i += batch) {
    calls.a.push_back(offset(p.a_offset, i));
    calls.b.push_back(offset(p.b_offset, i));
    calls.c.push_back(i * p.m * p.n);
  }
  return calls;
}

class CublasLtMatmul final : public Kernel {
 public:
  CublasLtMatmul(const KernelQuery& q, Calls calls, std::unique_ptr<CublasLtPlan> plan)
      : calls_(std::move(calls)), plan_(std::move(plan)), op_(q.op.name), size_(static_cast<int64_t>(dtype_size(q.in[0].dtype))) {}
  int64_t workspace_bytes() const override { return plan_->workspace_bytes(); }
  KernelCost cost() const override { return {.launches = static_cast<int>(calls_.a.size())}; }
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    CudaStream& stream = cuda_stream(ctx);
    const auto at = [&](const Buffer& b, int64_t element) { return static_cast<char*>(b.data) + element * size_; };
    for (size_t i = 0; i < calls_.a.size(); ++i) {
      plan_->run(op_, stream.handle(), at(in[0], calls_.a[i]), at(in[1], calls_.b[i]), at(out[0], calls_.c[i]), ctx.workspace);
      stream.count_launch();
    }
  }

 private:
  Calls calls_;
  std::unique_ptr<CublasLtPlan> plan_;
  const char* op_;
  int64_t size_;
};

std::string reject(const KernelQuery& q) {
  if (matmul::problem_of(q).empty()) return "an operand has no elements";
  const Calls calls = calls_of(q);
  if (static_cast<int64_t>(calls.a.size()) > kMostCalls) return "the batch needs more than 64 calls, because its matrices have no constant stride";
  if (calls.product.batch > INT32_MAX) return "more than 2^31 matrices";
  std::string why;
  return CublasLtPlan::make(calls.product, q.device().index, &why) != nullptr ? "" : why;
}
std::unique_ptr<Kernel> make(const KernelQuery& q) {
  Calls calls = calls_of(q);
  std::string why;
  std::unique_ptr<CublasLtPlan> plan = CublasLtPlan::make(calls.product, q.device().index, &why);
  if (plan == nullptr) throw InternalError(std::string(q.op.name) + ": " + why);
  return std::make_unique<CublasLtMatmul>(q, std::move(calls), std::move(plan));
}

bool add(const char* op) { return register_kernel({.op = op, .name = "cublaslt", .priority = 20, .reject = reject, .make = make, .device = Device::kCuda}); }
const bool kMatmul = add("matmul"), kBatchMatmul = add("batch_matmul");

}  // namespace
}  // namespace sindri::cuda
