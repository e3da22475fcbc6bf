// matmul and batch_matmul by oneDNN: transposes are strides of the descriptors, broadcast batches dimensions of 1.
#include <string>

#include "ops/matmul/matmul_problem.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "src/device/cpu/onednn.h"

namespace sindri {
namespace {

using dnnl::memory;
using matmul::Problem;

memory::desc matrix_descriptor(const Shape& batch, int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride, DType dtype) {
  memory::dims dims = batch.vec(), strides(dims.size());
  int64_t stride = rows * cols;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  dims.insert(dims.end(), {rows, cols});
  strides.insert(strides.end(), {row_stride, col_stride});
  return {dims, onednn::data_type(dtype), strides};
}

bool make_descriptor(const Problem& p, DType dtype, dnnl::matmul::primitive_desc* pd, std::string* why) {
  return onednn::try_make(
      [&] {
        dnnl::primitive_attr attr;
        attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
        const dnnl::matmul::desc desc(matrix_descriptor(p.a_batch, p.m, p.k, p.a_row, p.a_col, dtype), matrix_descriptor(p.b_batch, p.k, p.n, p.b_row, p.b_col, dtype),
                                      matrix_descriptor(p.batch, p.m, p.n, p.n, 1, dtype));
        return dnnl::matmul::primitive_desc(desc, attr, onednn::engine());
      },
      pd, why);
}

class OneDnnMatmul final : public Kernel {
 public:
  explicit OneDnnMatmul(const KernelQuery& q) : threads_(num_threads()) {
    const onednn::ThreadScope threads(threads_);
    dnnl::matmul::primitive_desc pd;
    std::string why;
    if (!make_descriptor(matmul::problem_of(q), q.in[0].dtype, &pd, &why)) throw InternalError(std::string(q.op.name) + ": " + why);
    primitive_ = dnnl::matmul(pd);
    a_ = pd.src_desc(), b_ = pd.weights_desc(), c_ = pd.dst_desc(), scratchpad_ = pd.scratchpad_desc();
  }
  int64_t workspace_bytes() const override { return static_cast<int64_t>(scratchpad_.get_size()); }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const onednn::ThreadScope threads(threads_);
    onednn::execute(primitive_, {{DNNL_ARG_SRC, &a_, in[0].data}, {DNNL_ARG_WEIGHTS, &b_, in[1].data}, {DNNL_ARG_DST, &c_, out[0].data}, {DNNL_ARG_SCRATCHPAD, &scratchpad_, ctx.workspace}});
  }

 private:
  int threads_;
  dnnl::matmul primitive_;
  memory::desc a_, b_, c_, scratchpad_;
};

std::string reject(const KernelQuery& q) {
  if (strict_mode()) return "strict mode: its sums depend on the number of threads";
  std::string why = onednn::unavailable(q.in[0].dtype);
  if (!why.empty()) return why;
  const Problem p = matmul::problem_of(q);
  if (p.empty()) return "an operand has no elements";
  const onednn::ThreadScope threads(num_threads());
  dnnl::matmul::primitive_desc pd;
  make_descriptor(p, q.in[0].dtype, &pd, &why);
  return why;
}

std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<OneDnnMatmul>(q); }

const bool kMatmul = register_kernel({.op = "matmul", .name = "onednn", .priority = 20, .reject = reject, .make = make});
const bool kBatchMatmul = register_kernel({.op = "batch_matmul", .name = "onednn", .priority = 20, .reject = reject, .make = make});

}  // namespace
}  // namespace sindri
