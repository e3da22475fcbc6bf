// The weight gradient of 1x1 convolutions in float32: dw [O, C] = dy^T [O, P] · X [P, C] over the pixels P = N·OH·OW of channels-last images,
// where X are the pixels that the kernel reads (all, or every stride-th). Blocks of pixels are copied into panels and multiplied from a
// core's cache; libraries lose most on long sums over few channels. Each piece of pixels has a separate sum, and these are added in order.
// The result is bitwise identical for any number of threads, so strict mode uses this kernel too. It competes with oneDNN by measured time
// (kernel_choice.h).
#include <algorithm>
#include <memory>
#include <string>

#include "ops/conv/conv_geometry.h"
#include "ops/conv/panel_simd.h"
#include "ops/conv/pieces.h"
#include "src/device/cpu/parallel.h"
#include "src/device/cpu/workspace.h"

namespace sindri {
namespace {

using conv::ConvGeometry;

constexpr int64_t kFloat = static_cast<int64_t>(sizeof(float)), kBlock = 192;  // pixels (approximate): a panel of each operand fits the first-level cache

class PointwiseWeightGrad final : public Kernel {
 public:
  explicit PointwiseWeightGrad(const KernelQuery& q) : g_(conv::geometry_of(q)), pieces_(g_.n * g_.oh * g_.ow, kBlock, g_.weight_numel() * kFloat) {
    const int64_t panel = SINDRI_SIMD_CALL(panel_columns)();
    c_padded_ = fixed_chunks(g_.c, panel) * panel;
    o_padded_ = fixed_chunks(g_.o, panel) * panel;
    WorkspaceLayout layout;
    panels_at_ = layout.add(pieces_.pieces * panels_floats() * kFloat);
    sums_at_ = layout.add((pieces_.pieces - 1) * g_.weight_numel() * kFloat);
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }

  // in: dy, x; out: dw, which also holds the first piece's sum.
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const float *dy = in[0].as<const float>(), *x = in[1].as<const float>();
    float *panels = static_cast<float*>(workspace_at(ctx.workspace, panels_at_)), *sums = static_cast<float*>(workspace_at(ctx.workspace, sums_at_));
    float* dw = out[0].as<float>();
    const int64_t size = g_.weight_numel();
    parallel_tasks(pieces_.pieces, [&](int64_t piece) {
      float* sum = piece == 0 ? dw : sums + (piece - 1) * size;
      pieces_.for_blocks(piece, [&](int64_t first, int64_t count, bool add) { add_block(dy, x, first, count, add, panels + piece * panels_floats(), sum); });
    });
    parallel_for(size, 16 * 1024, [&](int64_t begin, int64_t end) {
      for (int64_t piece = 1; piece < pieces_.pieces; ++piece) {
        const float* from = sums + (piece - 1) * size;
        for (int64_t i = begin; i < end; ++i) dw[i] += from[i];
      }
    });
  }

 private:
  int64_t panels_floats() const { return pieces_.block * (c_padded_ + o_padded_); }

  void add_block(const float* dy, const float* x, int64_t first, int64_t count, bool add, float* panels, float* sum) const {
    const int64_t panel = SINDRI_SIMD_CALL(panel_columns)();
    float *w = panels, *v = panels + count * o_padded_;
    int64_t column = first % g_.ow, row = first / g_.ow % g_.oh, image = first / (g_.ow * g_.oh);
    for (int64_t t = 0; t < count; ++t) {
      SINDRI_SIMD_CALL(panel_pack_row)(dy + (first + t) * g_.o, g_.o, w + t * panel, count * panel);
      const float* pixel = x + ((image * g_.h + row * g_.stride_h) * g_.w + column * g_.stride_w) * g_.c;
      SINDRI_SIMD_CALL(panel_pack_row)(pixel, g_.c, v + t * panel, count * panel);
      if (++column < g_.ow) continue;
      column = 0;
      if (++row == g_.oh) row = 0, ++image;
    }
    SINDRI_SIMD_CALL(panel_outer)(w, v, count, g_.o, g_.c, sum, add);
  }

  ConvGeometry g_;
  conv::Pieces pieces_;
  int64_t c_padded_ = 0, o_padded_ = 0, panels_at_ = 0, sums_at_ = 0, workspace_ = 0;
};

std::string reject(const KernelQuery& q) {
  if (q.in[0].dtype != DType::kFloat32) return "float32 only";
  const ConvGeometry g = conv::geometry_of(q);
  if (g.empty()) return "an operand has no elements";
  if (g.groups != 1) return "no groups";
  if (g.kh != 1 || g.kw != 1) return "1x1 kernels only";
  if (std::max({g.pad_top, g.pad_bottom, g.pad_left, g.pad_right}) > 0) return "no padding";
  if (g.c < 16 || g.o < 16) return "fewer than 16 channels: panels would be mostly empty";
  return "";
}
std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<PointwiseWeightGrad>(q); }

const bool kWeightGrad = register_kernel({.op = "conv2d_weight_grad", .name = "pointwise", .priority = 20, .reject = reject, .make = make});

}  // namespace
}  // namespace sindri
