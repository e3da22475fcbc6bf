// 3x3 convolutions of stride 1 in float32 by Winograd's F(2x2, 3x3) (Lavin and Gray 2016, arXiv:1509.09308), forward and both gradients:
// y = Aᵀ[(G g Gᵀ) * (Bᵀ d B)]A per tile of 2x2 outputs and channel pair. Sums over channels become 16 matrix products with 2.25 times
// fewer multiplications than the direct form. Transposing the formula gives the gradient of the weight, dg = Gᵀ[sum over tiles (A dy Aᵀ)
// * (Bᵀ d B)]G. The gradient of the input is a convolution with the rotated weight.
//
// Tiles are processed in blocks whose transformed operands stay in a core's cache. Blocks, and the pieces in which weight gradients are
// summed, depend on the shape only: the result is bitwise identical for any number of threads.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "ops/conv/conv_geometry.h"
#include "ops/conv/panel_simd.h"
#include "ops/conv/pieces.h"
#include "ops/conv/winograd_simd.h"
#include "src/device/cpu/parallel.h"
#include "src/device/cpu/workspace.h"

namespace sindri {
namespace {

using conv::ConvGeometry, conv::Direction;
using winograd::kPositions;

constexpr int64_t kBlockBytes = 1 << 20;  // approximate size of a block's transformed operands
constexpr int64_t kLargeWeights = 1 << 20;  // bytes; larger transformed weights do not stay in the cache next to a block
// Padding of one cache line between rows of transformed pixels, and between the operands of the 16 positions. With strides that are multiples of a power of two
// they would share a few cache sets, and a transform writes to all positions at once.
constexpr int64_t kGap = 16;

// Returns this thread's memory of at least `floats` floats; contents are undefined.
float* scratch(int64_t floats) {
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  thread_local std::unique_ptr<float, Free> memory;
  thread_local int64_t size = 0;
  if (size < floats) {
    const auto bytes = static_cast<size_t>((floats * static_cast<int64_t>(sizeof(float)) + 63) / 64 * 64);
    memory.reset(static_cast<float*>(std::aligned_alloc(64, bytes)));
    size = memory == nullptr ? 0 : floats;
    if (memory == nullptr) throw std::bad_alloc();
  }
  return memory.get();
}

// A convolution of channels-last images [n, h, w, c] to [n, oh, ow, o]; the same for forward and input gradient.
struct Problem {
  int64_t n, h, w, c, oh, ow, o, pad_top, pad_left;
  int64_t tiles_h, tiles_w, tiles;

  Problem(int64_t n_, int64_t h_, int64_t w_, int64_t c_, int64_t oh_, int64_t ow_, int64_t o_, int64_t pt, int64_t pl)
      : n(n_),
        h(h_),
        w(w_),
        c(c_),
        oh(oh_),
        ow(ow_),
        o(o_),
        pad_top(pt),
        pad_left(pl),
        tiles_h((oh + 1) / 2),
        tiles_w((ow + 1) / 2),
        tiles(n * tiles_h * tiles_w) {}

  // Tiles per block: a multiple of every register block. Large weights (or sums of their size) are read once per block, so blocks are larger then.
  int64_t block(int64_t least_with_large_weights) const {
    constexpr int64_t kBytes = kPositions * static_cast<int64_t>(sizeof(float));
    const int64_t fit = kBlockBytes / (kBytes * (c + o)), least = c * o * kBytes > kLargeWeights ? least_with_large_weights : 24;
    return std::clamp<int64_t>(fit / 12 * 12, least, 192);
  }

  // Calls f(top row, left column, image) for the 2x2 outputs of a tile.
  template <class F> void at(int64_t tile, F&& f) const { f(tile / tiles_w % tiles_h * 2, tile % tiles_w * 2, tile / (tiles_w * tiles_h)); }

  // The 16 pixels under a tile; those outside the image point to `zeros`.
  void patch(const float* x, int64_t tile, const float* zeros, const float** d) const {
    at(tile, [&](int64_t i, int64_t j, int64_t image) {
      for (int64_t r = 0; r < 4; ++r)
        for (int64_t s = 0; s < 4; ++s) {
          const int64_t row = i + r - pad_top, column = j + s - pad_left;
          const bool inside = row >= 0 && row < h && column >= 0 && column < w;
          d[4 * r + s] = inside ? x + ((image * h + row) * w + column) * c : zeros;
        }
    });
  }
  // The four result pixels of a tile; those outside the image are `none`.
  template <class P> void outputs(P* y, int64_t tile, P* none, P** to) const {
    at(tile, [&](int64_t i, int64_t j, int64_t image) {
      for (int64_t r = 0; r < 2; ++r)
        for (int64_t s = 0; s < 2; ++s) to[2 * r + s] = i + r < oh && j + s < ow ? y + ((image * oh + i + r) * ow + j + s) * o : none;
    });
  }
};

Problem problem_of(Direction direction, const ConvGeometry& g) {
  if (direction != Direction::kInputGrad) return {g.n, g.h, g.w, g.c, g.oh, g.ow, g.o, g.pad_top, g.pad_left};
  return {g.n, g.oh, g.ow, g.o, g.h, g.w, g.c, 2 - g.pad_top, 2 - g.pad_left};
}

class WinogradConv final : public Kernel {
 public:
  explicit WinogradConv(const KernelQuery& q)
      : input_grad_(conv::direction_of(q) == Direction::kInputGrad), relu_(conv::relu_of(q)), p_(problem_of(conv::direction_of(q), conv::geometry_of(q))) {}
  int64_t workspace_bytes() const override { return weight_floats() * static_cast<int64_t>(sizeof(float)); }
  int64_t prepared_bytes(size_t in) const override { return in == 1 ? workspace_bytes() : 0; }
  void prepare(ExecContext&, size_t, const Buffer& from, void* to) const override {
    // Weight [O, C, 3, 3] as rows c and columns o of the product; the roles are exchanged for the input gradient.
    const int64_t c_stride = input_grad_ ? p_.o * 9 : 9, o_stride = input_grad_ ? 9 : p_.c * 9;
    parallel_for(p_.c, std::max<int64_t>(1, 4096 / p_.o), [&](int64_t begin, int64_t end) {
      SINDRI_SIMD_CALL(winograd_weights)(from.as<const float>(), begin, end, p_.c, p_.o, c_stride, o_stride, input_grad_, static_cast<float*>(to));
    });
  }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const void* u = in[1].prepared;
    if (u == nullptr) {
      prepare(ctx, 1, in[1], ctx.workspace);
      u = ctx.workspace;
    }
    const Operands operands{in[0].as<const float>(), static_cast<const float*>(u), out[0].as<float>(), in.size() > 2 ? in[2].as<const float>() : nullptr,
                            in.size() > 3 ? in[3].as<const float>() : nullptr};
    const int64_t block = p_.block(96);
    parallel_tasks(fixed_chunks(p_.tiles, block), [&](int64_t b) { run_block(operands, b * block, std::min(block, p_.tiles - b * block)); });
  }

 private:
  struct Operands {
    const float *x, *u;
    float* y;
    const float *bias, *residual;
  };
  int64_t weight_floats() const {
    const int64_t panel = SINDRI_SIMD_CALL(panel_columns)();
    return kPositions * fixed_chunks(p_.o, panel) * panel * p_.c;
  }

  void run_block(const Operands& a, int64_t first, int64_t count) const {
    const int64_t row = p_.c + kGap, v_position = count * row + kGap, m_position = count * p_.o + kGap;
    float* zeros = scratch(p_.c + kPositions * (v_position + m_position));
    float *v = zeros + p_.c, *m = v + kPositions * v_position;
    std::fill_n(zeros, p_.c, 0.0f);
    for (int64_t t = 0; t < count; ++t) {
      const float* d[16];
      p_.patch(a.x, first + t, zeros, d);
      SINDRI_SIMD_CALL(winograd_input)(d, p_.c, v + t * row, v_position);
    }
    const int64_t u_position = weight_floats() / kPositions;
    for (int64_t k = 0; k < kPositions; ++k)
      SINDRI_SIMD_CALL(panel_multiply)(v + k * v_position, row, count, p_.c, a.u + k * u_position, p_.o, m + k * m_position);
    for (int64_t t = 0; t < count; ++t) {
      float* y[4];
      p_.outputs<float>(a.y, first + t, nullptr, y);
      if (a.bias == nullptr) {
        SINDRI_SIMD_CALL(winograd_output)(m + t * p_.o, m_position, p_.o, y);
        continue;
      }
      const float* residual[4];
      p_.outputs<const float>(a.residual, first + t, nullptr, residual);
      SINDRI_SIMD_CALL(winograd_output_act)(m + t * p_.o, m_position, p_.o, y, a.bias, a.residual != nullptr ? residual : nullptr, relu_);
    }
  }

  bool input_grad_, relu_;
  Problem p_;
};

class WinogradWeightGrad final : public Kernel {
 public:
  // Every piece sums into a separate transformed gradient, 16/9 of the weight's size.
  explicit WinogradWeightGrad(const KernelQuery& q)
      : p_(problem_of(Direction::kWeightGrad, conv::geometry_of(q))), pieces_(p_.tiles, p_.block(192), sum_floats() * static_cast<int64_t>(sizeof(float))) {}
  int64_t workspace_bytes() const override { return pieces_.pieces * sum_floats() * static_cast<int64_t>(sizeof(float)); }

  // in: dy, x; out: dw
  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    const float *dy = in[0].as<const float>(), *x = in[1].as<const float>();
    float *sums = static_cast<float*>(ctx.workspace), *dw = out[0].as<float>();
    parallel_tasks(pieces_.pieces, [&](int64_t piece) {
      pieces_.for_blocks(piece, [&](int64_t first, int64_t count, bool add) { add_block(x, dy, first, count, add, sums + piece * sum_floats()); });
    });
    parallel_for(p_.o, std::max<int64_t>(1, 1024 / p_.c), [&](int64_t begin, int64_t end) {
      const int64_t stride = sum_position();
      for (int64_t piece = 1; piece < pieces_.pieces; ++piece)
        for (int64_t k = 0; k < kPositions; ++k) {
          const float* from = sums + piece * sum_floats() + k * stride;
          float* to = sums + k * stride;
          for (int64_t i = begin * p_.c; i < end * p_.c; ++i) to[i] += from[i];
        }
      SINDRI_SIMD_CALL(winograd_weight_grad)(sums, stride, begin, end, p_.c, dw);
    });
  }

 private:
  int64_t sum_position() const { return p_.o * p_.c + kGap; }
  int64_t sum_floats() const { return kPositions * sum_position(); }

  void add_block(const float* x, const float* dy, int64_t first, int64_t count, bool accumulate, float* sums) const {
    const int64_t widest = std::max(p_.c, p_.o), panel = SINDRI_SIMD_CALL(panel_columns)();
    const int64_t c_padded = fixed_chunks(p_.c, panel) * panel, o_padded = fixed_chunks(p_.o, panel) * panel;
    const int64_t v_position = count * c_padded + kGap, w_position = count * o_padded + kGap;
    float* zeros = scratch(widest + kPositions * (v_position + w_position));
    float *w = zeros + widest, *v = w + kPositions * w_position;
    std::fill_n(zeros, widest, 0.0f);
    for (int64_t t = 0; t < count; ++t) {
      const float *d[16], *g[4];
      p_.patch(x, first + t, zeros, d);
      for (int64_t c = 0; c < p_.c; c += panel) {
        SINDRI_SIMD_CALL(winograd_input)(d, std::min(panel, p_.c - c), v + c * count + t * panel, v_position);
        for (const float*& pixel : d) pixel += panel;
      }
      p_.outputs<const float>(dy, first + t, zeros, g);
      for (int64_t o = 0; o < p_.o; o += panel) {
        SINDRI_SIMD_CALL(winograd_output_grad)(g, std::min(panel, p_.o - o), w + o * count + t * panel, w_position);
        for (const float*& pixel : g) pixel += panel;
      }
    }
    for (int64_t k = 0; k < kPositions; ++k)
      SINDRI_SIMD_CALL(panel_outer)(w + k * w_position, v + k * v_position, count, p_.o, p_.c, sums + k * sum_position(), accumulate);
  }

  Problem p_;
  conv::Pieces pieces_;
};

std::string reject(const KernelQuery& q) {
  if (q.in[0].dtype != DType::kFloat32) return "float32 only";
  if (q.in.size() > 2 && q.in[2].dtype != DType::kFloat32) return "bias in float32 only";
  const ConvGeometry g = conv::geometry_of(q);
  if (g.empty()) return "an operand has no elements";
  if (g.kh != 3 || g.kw != 3 || g.stride_h != 1 || g.stride_w != 1 || g.dilation_h != 1 || g.dilation_w != 1 || g.groups != 1)
    return "3x3 kernels of stride 1 in one group only";
  if (std::max({g.pad_top, g.pad_bottom, g.pad_left, g.pad_right}) > 2) return "padding beyond 2";
  if (g.c < 16 || g.o < 16) return "fewer than 16 channels: the transforms cost more than they save";
  return "";
}

template <class K> std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<K>(q); }

// Priority 20 is that of the oneDNN kernels, so the faster one is chosen by measuring. The forward form in training has a lower
// priority: its error is a few times that of direct sums, and errors near zero decide where relu passes gradients. The gradients
// of ResNet-18 were then 5 times as far from float64 as with direct sums (tests/models/net_parity_test.cc).
template <class K> bool add(const char* op, int priority) {
  return register_kernel({.op = op, .name = "winograd", .priority = priority, .reject = reject, .make = make<K>});
}
const bool kForward = add<WinogradConv>("conv2d", 10), kInputGrad = add<WinogradConv>("conv2d_input_grad", 20),
           kBiasAct = add<WinogradConv>("conv2d_bias_act", 20), kWeightGrad = add<WinogradWeightGrad>("conv2d_weight_grad", 20);

}  // namespace
}  // namespace sindri
