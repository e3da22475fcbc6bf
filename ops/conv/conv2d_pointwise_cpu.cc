// conv2d with 1x1 kernels of stride 1 and its gradients as one matrix product by oneDNN, over channels-last activations as they lie:
//   y [P, O] = x [P, C] · w^T,   dx [P, C] = dy [P, O] · w,   dw [O, C] = dy^T · x,   P = N·H·W.
// Where that is faster than oneDNN's convolution is measured (kernel_choice.h). The library splits the sums of dw over threads, so strict
// mode leaves these kernels out.
#include <string>
#include <utility>

#include "ops/conv/conv_geometry.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "src/device/cpu/onednn.h"

namespace sindri {
namespace {

using conv::ConvGeometry, conv::Direction;
using dnnl::memory;

// A row-major matrix [rows, cols], or the transpose of one.
memory::desc matrix(int64_t rows, int64_t cols, bool transposed = false) {
  return {{rows, cols}, memory::data_type::f32, transposed ? memory::dims{1, rows} : memory::dims{cols, 1}};
}

bool make_descriptor(const KernelQuery& q, dnnl::matmul::primitive_desc* pd, std::string* why) {
  const ConvGeometry g = conv::geometry_of(q);
  const int64_t pixels = g.n * g.h * g.w;
  return onednn::try_make(
      [&] {
        dnnl::primitive_attr attr;
        attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
        const auto product = [&](const memory::desc& a, const memory::desc& b, const memory::desc& c) {
          return dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), attr, onednn::engine());
        };
        switch (conv::direction_of(q)) {
          case Direction::kForward: return product(matrix(pixels, g.c), matrix(g.c, g.o, true), matrix(pixels, g.o));
          case Direction::kInputGrad: return product(matrix(pixels, g.o), matrix(g.o, g.c), matrix(pixels, g.c));
          default: return product(matrix(g.o, pixels, true), matrix(pixels, g.c), matrix(g.o, g.c));
        }
      },
      pd, why);
}

class PointwiseConvKernel final : public Kernel {
 public:
  explicit PointwiseConvKernel(onednn::Product product) : product_(std::move(product)) {}
  int64_t workspace_bytes() const override { return product_.workspace_bytes(); }
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override { product_.run(in[0].data, in[1].data, out[0].data, ctx.workspace); }

 private:
  onednn::Product product_;
};

std::string reject(const KernelQuery& q) {
  if (strict_mode()) return "not in strict mode: sums depend on the number of threads";
  if (q.in[0].dtype != DType::kFloat32) return "float32 only";
  std::string why = onednn::unavailable(q.in[0].dtype);
  if (!why.empty()) return why;
  const ConvGeometry g = conv::geometry_of(q);
  if (g.empty()) return "an operand has no elements";
  if (g.kh != 1 || g.kw != 1 || g.groups != 1) return "1x1 kernels without groups only";
  if (g.stride_h != 1 || g.stride_w != 1 || g.pad_top + g.pad_bottom + g.pad_left + g.pad_right != 0) return "stride 1 without padding only";
  if (g.c < 16 || g.o < 16) return "fewer than 16 channels";
  const onednn::ThreadScope threads(num_threads());
  dnnl::matmul::primitive_desc pd;
  return make_descriptor(q, &pd, &why) ? "" : why;
}
std::unique_ptr<Kernel> make(const KernelQuery& q) {
  const onednn::ThreadScope threads(num_threads());
  dnnl::matmul::primitive_desc pd;
  std::string why;
  if (!make_descriptor(q, &pd, &why)) throw InternalError(std::string(q.op.name) + ": " + why);
  return std::make_unique<PointwiseConvKernel>(onednn::Product(pd, num_threads()));
}

bool add(const char* op) { return register_kernel({.op = op, .name = "pointwise", .priority = 20, .reject = reject, .make = make}); }
const bool kForward = add("conv2d"), kInputGrad = add("conv2d_input_grad"), kWeightGrad = add("conv2d_weight_grad");

}  // namespace
}  // namespace sindri
