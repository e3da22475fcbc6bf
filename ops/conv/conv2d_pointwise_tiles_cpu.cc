// The weight gradient of 1x1 convolutions in bfloat16 with tiles, computed as in conv2d_pointwise_cpu.cc: dw [O, C] = dy^T [O, P] · X [P, C] with
// float32 sums over pieces of pixels, added in order. oneDNN 2.6 reaches a fifth of this kernel's speed (docs/design/graph.md, "Which kernel").
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ops/conv/conv_geometry.h"
#include "ops/conv/pieces.h"
#include "ops/conv/tile_product.h"
#include "sindri/core/context.h"
#include "src/device/cpu/parallel.h"
#include "src/device/cpu/workspace.h"

namespace sindri {
namespace {

using conv::ConvGeometry, conv::kTileDepth;

constexpr int64_t kBlock = 384;  // pixels (approximate): a panel of each operand fits the first-level cache, all panels the second
constexpr int64_t kHalf = 2, kFloat = 4;  // bytes

int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

class PointwiseTiles final : public Kernel {
 public:
  explicit PointwiseTiles(const KernelQuery& q)
      : g_(conv::geometry_of(q)),
        o_padded_(round_up(g_.o, 2 * conv::kTileColumns)),
        c_padded_(round_up(g_.c, 2 * conv::kTileColumns)),
        pieces_(g_.n * g_.oh * g_.ow, kBlock, o_padded_ * c_padded_ * kFloat),
        panels_(round_up(pieces_.block, kTileDepth) * (o_padded_ + c_padded_)) {
    WorkspaceLayout layout;
    panels_at_ = layout.add(pieces_.pieces * panels_ * kHalf);
    sums_at_ = layout.add(pieces_.pieces * o_padded_ * c_padded_ * kFloat);
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }

  // in: dy, x; out: dw.
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const uint16_t *dy = in[0].as<const uint16_t>(), *x = in[1].as<const uint16_t>();
    auto* panels = static_cast<uint16_t*>(workspace_at(ctx.workspace, panels_at_));
    auto* sums = static_cast<float*>(workspace_at(ctx.workspace, sums_at_));
    const int64_t size = o_padded_ * c_padded_;
    parallel_tasks(pieces_.pieces, [&](int64_t piece) {
      pieces_.for_blocks(piece,
                         [&](int64_t first, int64_t count, bool add) { add_block(dy, x, first, count, add, panels + piece * panels_, sums + piece * size); });
    });
    auto* dw = out[0].as<bfloat16>();
    parallel_for(g_.o, std::max<int64_t>(1, 16 * 1024 / g_.c), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        float* row = sums + o * c_padded_;
        for (int64_t piece = 1; piece < pieces_.pieces; ++piece) {
          for (int64_t c = 0; c < g_.c; ++c) row[c] += row[piece * size + c];
        }
        for (int64_t c = 0; c < g_.c; ++c) dw[o * g_.c + c] = bfloat16(row[c]);
      }
    });
  }

 private:
  void add_block(const uint16_t* dy, const uint16_t* x, int64_t first, int64_t count, bool add, uint16_t* panels, float* sum) const {
    const int64_t rows = round_up(count, kTileDepth);
    std::vector<const uint16_t*> dy_rows(static_cast<size_t>(rows)), x_rows(static_cast<size_t>(rows));  // null (zeros) after the last pixel
    int64_t column = first % g_.ow, row = first / g_.ow % g_.oh, image = first / (g_.ow * g_.oh);
    for (int64_t t = 0; t < count; ++t) {
      dy_rows[static_cast<size_t>(t)] = dy + (first + t) * g_.o;
      x_rows[static_cast<size_t>(t)] = x + ((image * g_.h + row * g_.stride_h) * g_.w + column * g_.stride_w) * g_.c;
      if (++column < g_.ow) continue;
      column = 0;
      if (++row == g_.oh) row = 0, ++image;
    }
    uint16_t* right = panels + rows * o_padded_;
    conv::pack_tiles_left(dy_rows.data(), rows, g_.o, o_padded_, panels);
    conv::pack_tiles_right(x_rows.data(), rows, g_.c, c_padded_, right);
    conv::multiply_tiles(panels, right, rows, o_padded_, c_padded_, sum, add);
  }

  ConvGeometry g_;
  int64_t o_padded_, c_padded_;
  conv::Pieces pieces_;
  int64_t panels_, panels_at_ = 0, sums_at_ = 0, workspace_ = 0;
};

std::string reject(const KernelQuery& q) {
  if (cpu_isa() < CpuIsa::kAvx512Amx) return "needs tiles (avx512_amx)";
  if (q.in[0].dtype != DType::kBFloat16) return "bfloat16 only";
  const ConvGeometry g = conv::geometry_of(q);
  if (g.empty()) return "an operand has no elements";
  if (g.groups != 1) return "no groups";
  if (g.kh != 1 || g.kw != 1) return "1x1 kernels only";
  if (std::max({g.pad_top, g.pad_bottom, g.pad_left, g.pad_right}) > 0) return "no padding";
  if (g.c < 16 || g.o < 16) return "fewer than 16 channels: tiles would be mostly empty";
  return "";
}
std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<PointwiseTiles>(q); }

const bool kWeightGrad = register_kernel({.op = "conv2d_weight_grad", .name = "pointwise_tiles", .priority = 20, .reject = reject, .make = make});

}  // namespace
}  // namespace sindri
