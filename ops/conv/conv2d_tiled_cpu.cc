// conv2d, its gradients and conv2d_bias_act for kernels of several rows and columns (the 3x3 convolutions of ResNets): a register tile of pixels by 16 output
// channels over a padded copy of the image, without packing activations. The input gradient of stride 1 is the convolution of dy with the weight rotated by 180
// degrees.
//
// The batch is cut into pieces by shape alone, and partial weight gradients are added in the order of the pieces. The result is bitwise identical for any
// number of threads, so strict mode uses these kernels too. They compete with oneDNN by measured time (kernel_choice.h).
#include <algorithm>
#include <string>
#include <vector>

#include "ops/conv/conv2d_tiled_simd.h"
#include "ops/conv/conv_geometry.h"
#include "src/device/cpu/parallel.h"
#include "src/device/cpu/workspace.h"

namespace sindri {
namespace {

using conv::ConvGeometry, conv::Direction;

constexpr int64_t kMaxPieces = 8, kFloat = static_cast<int64_t>(sizeof(float));
constexpr int64_t kMostBytes = 64 << 20;  // limit for the copies of padded images
constexpr int64_t kBlockBytes = 20 * 1024;  // rows of x and dy that stay in the first-level cache during a pass over the taps

// The input gradient as a forward convolution: dy is the image, x the result.
ConvGeometry turned(const ConvGeometry& g) {
  ConvGeometry t = g;
  t.c = g.o, t.o = g.c;
  t.h = g.oh, t.w = g.ow, t.oh = g.h, t.ow = g.w;
  t.pad_top = g.kh - 1 - g.pad_top, t.pad_bottom = g.kh - 1 - g.pad_bottom;
  t.pad_left = g.kw - 1 - g.pad_left, t.pad_right = g.kw - 1 - g.pad_right;
  return t;
}

class TiledConvKernel final : public Kernel {
 public:
  explicit TiledConvKernel(const KernelQuery& q) : direction_(conv::direction_of(q)), relu_(conv::relu_of(q)), g_(conv::geometry_of(q)) {
    if (direction_ == Direction::kInputGrad) g_ = turned(g_);
    images_ = fixed_chunks(g_.n, kMaxPieces);
    pieces_ = fixed_chunks(g_.n, images_);
    padded_row_ = (g_.w + g_.pad_left + g_.pad_right) * g_.c;
    padded_image_ = (g_.h + g_.pad_top + g_.pad_bottom) * padded_row_;
    has_padding_ = g_.pad_top + g_.pad_bottom + g_.pad_left + g_.pad_right > 0;
    tile_ = {g_.kh, g_.kw * g_.c, g_.stride_w * g_.c, g_.stride_h * padded_row_, padded_row_, g_.oh, g_.ow, g_.o};
    rows_ = std::clamp<int64_t>(kBlockBytes / (kFloat * (g_.stride_h * padded_row_ + g_.ow * kTiledLanes)), 1, g_.oh);
    WorkspaceLayout layout;
    weight_at_ = layout.add(g_.weight_numel() * kFloat * (direction_ == Direction::kWeightGrad ? pieces_ : 1));
    // If there are fewer images than threads, several threads share the output channels of an image, each with its own copy. This changes no sum.
    if (direction_ != Direction::kWeightGrad && pieces_ < num_threads())
      groups_ = std::clamp<int64_t>(kMostBytes / (padded_image_ * kFloat * pieces_), 1, std::min(g_.o / kTiledLanes, fixed_chunks(num_threads(), pieces_)));
    if (has_padding_) image_at_ = layout.add(padded_image_ * kFloat * pieces_ * groups_);
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }
  int64_t prepared_bytes(size_t in) const override { return in == 1 && direction_ != Direction::kWeightGrad ? g_.weight_numel() * kFloat : 0; }
  void prepare(ExecContext&, size_t, const Buffer& from, void* to) const override { pack(from.as<const float>(), static_cast<float*>(to)); }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    float* weight = static_cast<float*>(workspace_at(ctx.workspace, weight_at_));
    float* scratch = static_cast<float*>(workspace_at(ctx.workspace, image_at_));
    if (direction_ == Direction::kWeightGrad) {
      for_pieces([&](int64_t piece, int64_t begin, int64_t end) {
        weight_grad(in[1].as<const float>(), in[0].as<const float>(), begin, end, scratch + piece * padded_image_, weight + piece * g_.weight_numel());
      });
      return add_partials(weight, out[0].as<float>());
    }
    const float *x = in[0].as<const float>(), *bias = in.size() > 2 ? in[2].as<const float>() : nullptr;
    if (in[1].prepared == nullptr) pack(in[1].as<const float>(), weight);
    const float* const packed = in[1].prepared != nullptr ? static_cast<const float*>(in[1].prepared) : weight;
    const int64_t blocks = g_.o / kTiledLanes;
    parallel_tasks(pieces_ * groups_, [&](int64_t task) {
      const int64_t piece = task / groups_, group = task % groups_;
      float* copy = scratch + task * padded_image_;
      clear(copy);
      for (int64_t n = piece * images_; n < std::min(g_.n, (piece + 1) * images_); ++n) {
        const float* image = padded(x + n * g_.h * g_.w * g_.c, copy);
        for (int64_t o = blocks * group / groups_ * kTiledLanes; o < blocks * (group + 1) / groups_ * kTiledLanes; o += kTiledLanes)
          SINDRI_SIMD_CALL(tiled_conv_image)
        (tile_, image, packed + o * taps(), bias != nullptr ? bias + o : nullptr, relu_, out[0].as<float>() + n * g_.oh * g_.ow * g_.o + o);
      }
    });
  }

 private:
  int64_t taps() const { return g_.kh * g_.kw * g_.c; }

  template <class F> void for_pieces(F&& f) const {
    parallel_for(pieces_, 1, [&](int64_t first, int64_t last) {
      for (int64_t piece = first; piece < last; ++piece) f(piece, piece * images_, std::min(g_.n, (piece + 1) * images_));
    });
  }

  void clear(float* copy) const {
    if (has_padding_) std::fill_n(copy, padded_image_, 0.0f);
  }
  // The image with zeros around it, in a copy cleared once; the image itself without padding.
  const float* padded(const float* x, float* copy) const {
    if (!has_padding_) return x;
    for (int64_t h = 0; h < g_.h; ++h) std::copy_n(x + h * g_.w * g_.c, g_.w * g_.c, copy + (h + g_.pad_top) * padded_row_ + g_.pad_left * g_.c);
    return copy;
  }

  void weight_grad(const float* x, const float* dy, int64_t begin, int64_t end, float* copy, float* partial) const {
    std::fill_n(partial, g_.weight_numel(), 0.0f);
    clear(copy);
    for (int64_t n = begin; n < end; ++n) {
      const float* image = padded(x + n * g_.h * g_.w * g_.c, copy);
      const float* gradient = dy + n * g_.oh * g_.ow * g_.o;
      for (int64_t row = 0; row < g_.oh; row += rows_)
        for (int64_t o = 0; o < g_.o; o += kTiledLanes) SINDRI_SIMD_CALL(tiled_conv_weight_grad)
      (tile_, row, std::min(rows_, g_.oh - row), image, gradient + row * g_.ow * g_.o + o, partial + o * taps());
    }
  }

  // Index in the op's weight of weight (o, c, row, column) of the computed convolution, whose c and o are exchanged for the input gradient.
  int64_t source(int64_t o, int64_t c, int64_t p, int64_t q) const {
    if (direction_ != Direction::kInputGrad) return ((o * g_.c + c) * g_.kh + p) * g_.kw + q;
    return ((c * g_.o + o) * g_.kh + g_.kh - 1 - p) * g_.kw + g_.kw - 1 - q;
  }
  template <class F> void for_weights(F&& f) const {  // f(index in [o / lanes, kh, kw, c, lanes], index in the op's weight)
    for (int64_t o = 0; o < g_.o; ++o)
      for (int64_t p = 0; p < g_.kh; ++p)
        for (int64_t q = 0; q < g_.kw; ++q)
          for (int64_t c = 0; c < g_.c; ++c)
            f(o / kTiledLanes * kTiledLanes * taps() + ((p * g_.kw + q) * g_.c + c) * kTiledLanes + o % kTiledLanes, source(o, c, p, q));
  }
  void pack(const float* weight, float* to) const {
    for_weights([&](int64_t tiled, int64_t plain) { to[tiled] = weight[plain]; });
  }
  void add_partials(float* partial, float* weight) const {
    const int64_t size = g_.weight_numel();
    parallel_for(size, 16 * 1024, [&](int64_t begin, int64_t end) {
      for (int64_t piece = 1; piece < pieces_; ++piece)
        for (int64_t i = begin; i < end; ++i) partial[i] += partial[piece * size + i];
    });
    for_weights([&](int64_t tiled, int64_t plain) { weight[plain] = partial[tiled]; });
  }

  Direction direction_;
  bool relu_;
  ConvGeometry g_;
  int64_t images_ = 0, pieces_ = 0, groups_ = 1, padded_row_ = 0, padded_image_ = 0, rows_ = 1, weight_at_ = 0, image_at_ = 0, workspace_ = 0;
  bool has_padding_ = false;
  TiledConv tile_{};
};

// Whether padded images have more than 262 x 262 pixels, or their copies (one per thread) would take too much memory.
bool too_large(const ConvGeometry& g) {
  constexpr int64_t kMostPixels = 262 * 262;
  const int64_t rows = g.h + g.pad_top + g.pad_bottom, columns = g.w + g.pad_left + g.pad_right;
  if (rows > kMostPixels || columns > kMostPixels || rows * columns > kMostPixels) return true;
  return rows * columns * g.c * kFloat * std::min(g.n, kMaxPieces) > kMostBytes;
}

std::string reject(const KernelQuery& q) {
  if (q.in[0].dtype != DType::kFloat32) return "float32 only";
  if (q.in.size() > 3) return "a residual may share the memory of the sums";
  const ConvGeometry g = conv::geometry_of(q);
  if (g.empty()) return "an operand has no elements";
  if (g.groups != 1) return "no groups";
  if (g.dilation_h != 1 || g.dilation_w != 1) return "no dilation";
  if (g.kh * g.kw == 1 || g.kh > 7 || g.kw > 7) return "kernels of 2 to 7 rows and columns";
  if (g.c * g.kw < 16 || g.c > 512 || g.o > 512) return "16 values in a kernel row to 512 channels";
  if (conv::direction_of(q) == Direction::kWeightGrad && g.weight_numel() > 160'000) return "partial weight gradients would not fit the cache";
  const char* const large = "padded images of more than 262 x 262 pixels, or of 64 MB for the threads";
  if (conv::direction_of(q) != Direction::kInputGrad) return too_large(g) ? large : g.o % kTiledLanes == 0 ? "" : "output channels are not a multiple of 16";
  if (g.stride_h != 1 || g.stride_w != 1) return "the input gradient needs stride 1";
  if (g.pad_top >= g.kh || g.pad_bottom >= g.kh || g.pad_left >= g.kw || g.pad_right >= g.kw) return "padding wider than the kernel";
  return too_large(turned(g)) ? large : g.c % kTiledLanes == 0 ? "" : "input channels are not a multiple of 16";
}
std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<TiledConvKernel>(q); }

bool add(const char* op) { return register_kernel({.op = op, .name = "tiled", .priority = 20, .reject = reject, .make = make}); }
const bool kForward = add("conv2d"), kBiasAct = add("conv2d_bias_act"), kInputGrad = add("conv2d_input_grad"), kWeightGrad = add("conv2d_weight_grad");

}  // namespace
}  // namespace sindri
