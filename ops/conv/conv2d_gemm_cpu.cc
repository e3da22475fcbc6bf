// conv2d and its gradients as one matrix product by oneDNN over channels-last activations:
//   y [P, O] = X [P, K] · w^T,   dX [P, K] = dy [P, O] · w,   dw [O, K] = dy^T · X,   P = N·OH·OW,  K = KH·KW·C.
// X holds, for each output pixel, its inputs (im2col). For 1x1 kernels of stride 1 X is x itself. Otherwise it is written to the workspace,
// some images at a time, and dX is added into dx (col2im). This may be faster than oneDNN's convolution (strided 1x1 kernels, 3x3 kernels with
// many channels over few pixels), which is decided by measuring (kernel_choice.h). The library splits the sums of dw over threads, so strict
// mode does not use these kernels.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "ops/conv/im2col.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "src/device/cpu/onednn.h"
#include "src/device/cpu/parallel.h"
#include "src/device/cpu/workspace.h"

namespace sindri {
namespace {

using conv::ConvGeometry, conv::Direction;
using dnnl::memory;

constexpr int64_t kFloat = static_cast<int64_t>(sizeof(float));
constexpr int64_t kMostColumnBytes = 32 << 20;  // largest part of X in memory at once; other convolutions' workspaces and the last-level cache are as large

constexpr int64_t kFewestGathered = 256;  // columns with fewer inputs per pixel were never measured to be the fastest

using Columns = conv::Columns<float>;

// Number of images whose part of X is made at once: all, or the most that divide the batch evenly.
int64_t images_at_once(const ConvGeometry& g, const Columns& columns) {
  if (columns.is_view()) return g.n;
  int64_t images = std::clamp<int64_t>(kMostColumnBytes / (g.oh * g.ow * columns.k() * kFloat), 1, g.n);
  while (g.n % images != 0) --images;
  return images;
}

// Descriptor of a row-major matrix [rows, cols], or of its transpose.
memory::desc matrix(int64_t rows, int64_t cols, bool transposed = false) {
  return {{rows, cols}, memory::data_type::f32, transposed ? memory::dims{1, rows} : memory::dims{cols, 1}};
}

// accumulate: adds the product to the result's previous value.
bool make_descriptor(const KernelQuery& q, bool accumulate, dnnl::matmul::primitive_desc* pd, std::string* why) {
  const ConvGeometry g = conv::geometry_of(q);
  const Columns columns(g);
  const int64_t pixels = images_at_once(g, columns) * g.oh * g.ow, k = columns.k();
  return onednn::try_make(
      [&] {
        dnnl::primitive_attr attr;
        attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
        if (accumulate) {
          dnnl::post_ops sum;
          sum.append_sum();
          attr.set_post_ops(sum);
        }
        const auto product = [&](const memory::desc& a, const memory::desc& b, const memory::desc& c) {
          return dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), attr, onednn::engine());
        };
        switch (conv::direction_of(q)) {
          case Direction::kForward: return product(matrix(pixels, k), matrix(k, g.o, true), matrix(pixels, g.o));
          case Direction::kInputGrad: return product(matrix(pixels, g.o), matrix(g.o, k), matrix(pixels, k));
          default: return product(matrix(g.o, pixels, true), matrix(pixels, k), matrix(g.o, k));
        }
      },
      pd, why);
}

onednn::Product make_product(const KernelQuery& q, bool accumulate) {
  dnnl::matmul::primitive_desc pd;
  std::string why;
  if (!make_descriptor(q, accumulate, &pd, &why)) throw InternalError(std::string(q.op.name) + ": " + why);
  return {pd, num_threads()};
}

class GemmConvKernel final : public Kernel {
 public:
  // Requires a ThreadScope.
  explicit GemmConvKernel(const KernelQuery& q)
      : direction_(conv::direction_of(q)), g_(conv::geometry_of(q)), columns_(g_), images_(images_at_once(g_, columns_)), product_(make_product(q, false)) {
    if (direction_ == Direction::kWeightGrad && images_ < g_.n) add_product_.emplace(make_product(q, true));
    WorkspaceLayout layout;
    scratch_at_ = layout.add(std::max(product_.workspace_bytes(), add_product_ ? add_product_->workspace_bytes() : 0));
    if (!columns_.is_view()) columns_at_ = layout.add(rows() * columns_.k() * kFloat);
    if (reorders_weight()) weight_at_ = layout.add(g_.weight_numel() * kFloat);
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const auto at = [&](int64_t offset) { return static_cast<float*>(workspace_at(ctx.workspace, offset)); };
    float *columns = at(columns_at_), *rows = at(weight_at_), *result = out[0].as<float>();
    const float *first = in[0].as<const float>(), *second = in[1].as<const float>();
    if (direction_ == Direction::kWeightGrad) {
      weight_grad(first, second, columns, reorders_weight() ? rows : result, at(scratch_at_));
      if (reorders_weight()) conv::rows_to_weight(g_, rows, result);
      return;
    }
    if (reorders_weight()) conv::weight_to_rows(g_, second, rows);
    const float* weight = reorders_weight() ? rows : second;
    if (direction_ == Direction::kForward) forward(first, weight, columns, result, at(scratch_at_));
    else input_grad(first, weight, columns, result, at(scratch_at_));
  }

 private:
  bool reorders_weight() const { return g_.kh * g_.kw > 1 && g_.c > 1; }
  int64_t rows() const { return images_ * g_.oh * g_.ow; }
  int64_t all_rows() const { return g_.n * g_.oh * g_.ow; }

  void forward(const float* x, const float* weight, float* columns, float* y, void* scratch) const {
    for (int64_t row = 0; row < all_rows(); row += rows()) product_.run(columns_.gather(x, row, rows(), 0, columns), weight, y + row * g_.o, scratch);
  }
  void weight_grad(const float* dy, const float* x, float* columns, float* dw, void* scratch) const {
    for (int64_t row = 0; row < all_rows(); row += rows())
      (row == 0 ? product_ : *add_product_).run(dy + row * g_.o, columns_.gather(x, row, rows(), 0, columns), dw, scratch);
  }
  void input_grad(const float* dy, const float* weight, float* columns, float* dx, void* scratch) const {
    if (columns_.is_view()) return product_.run(dy, weight, dx, scratch);
    const int64_t image = g_.h * g_.w * g_.c;
    parallel_for(g_.n, 1, [&](int64_t begin, int64_t end) { std::fill_n(dx + begin * image, (end - begin) * image, 0.0f); });
    for (int64_t row = 0; row < all_rows(); row += rows()) {
      product_.run(dy + row * g_.o, weight, columns, scratch);
      columns_.scatter(columns, row, rows(), 0, dx);
    }
  }

  Direction direction_;
  ConvGeometry g_;
  Columns columns_;
  int64_t images_;
  onednn::Product product_;
  std::optional<onednn::Product> add_product_;
  int64_t scratch_at_ = 0, columns_at_ = 0, weight_at_ = 0, workspace_ = 0;
};

std::string reject(const KernelQuery& q) {
  if (strict_mode()) return "not in strict mode: sums depend on the number of threads";
  if (q.in[0].dtype != DType::kFloat32) return "float32 only";
  std::string why = onednn::unavailable(q.in[0].dtype);
  if (!why.empty()) return why;
  const ConvGeometry g = conv::geometry_of(q);
  if (g.empty()) return "an operand has no elements";
  if (g.groups != 1) return "no groups";
  const Columns columns(g);
  if (g.o < 16 || columns.k() < 16) return "fewer than 16 output channels or inputs of a pixel";
  if (!columns.is_view() && columns.k() < kFewestGathered) return "fewer than 256 inputs of a pixel: writing them costs more than the product saves";
  if (!columns.is_view() && g.oh * g.ow > kMostColumnBytes / (columns.k() * kFloat)) return "the columns of an image take more than 32 MB";
  if (images_at_once(g, columns) * g.oh * g.ow > int64_t{1} << 30) return "more than 2^30 pixels, and oneDNN counts in 32 bits in places";
  const onednn::ThreadScope threads(num_threads());
  dnnl::matmul::primitive_desc pd;
  return make_descriptor(q, false, &pd, &why) ? "" : why;
}
std::unique_ptr<Kernel> make(const KernelQuery& q) {
  const onednn::ThreadScope threads(num_threads());
  return std::make_unique<GemmConvKernel>(q);
}

bool add(const char* op) { return register_kernel({.op = op, .name = "onednn_gemm", .priority = 20, .reject = reject, .make = make}); }
const bool kForward = add("conv2d"), kInputGrad = add("conv2d_input_grad"), kWeightGrad = add("conv2d_weight_grad");

}  // namespace
}  // namespace sindri
