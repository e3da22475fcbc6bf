// conv2d and its gradients for few channels, where oneDNN's blocked kernels compute mostly padding: first layers of grey images,
// LeNet. Weights are packed for each call (they are small). Images are read in place, or from a padded copy.
//
// The batch is cut into pieces by shape alone, one task each, and partial weight gradients are added in the order of the pieces.
// The result is bitwise identical for any number of threads, so strict mode uses these kernels too.
#include <algorithm>
#include <string>
#include <vector>

#include "ops/conv/conv2d_direct_simd.h"
#include "ops/conv/conv_geometry.h"
#include "sindri/core/context.h"
#include "src/device/cpu/parallel.h"
#include "src/device/cpu/workspace.h"

namespace sindri {
namespace {

using conv::ConvGeometry, conv::Direction;

constexpr int64_t kMaxPieces = 16;
constexpr int64_t kMaxLanes = 16;
constexpr int64_t kSlack = kDirectRunBlock;  // floats after an image that vectors may access

class DirectConvKernel final : public Kernel {
 public:
  explicit DirectConvKernel(const KernelQuery& q) : direction_(conv::direction_of(q)), g_(conv::geometry_of(q)) {
    images_ = fixed_chunks(g_.n, kMaxPieces);
    pieces_ = fixed_chunks(g_.n, images_);
    padded_w_ = g_.w + g_.pad_left + g_.pad_right;
    padded_image_ = (g_.h + g_.pad_top + g_.pad_bottom) * padded_w_ * g_.c + kSlack;
    has_padding_ = g_.pad_top + g_.pad_bottom + g_.pad_left + g_.pad_right > 0;
    const int64_t row = padded_w_ * g_.c;
    for (int64_t p = 0; p < g_.kh; ++p)
      for (int64_t q_ = 0; q_ < g_.kw; ++q_)
        for (int64_t c = 0; c < g_.c; ++c) offsets_.push_back(static_cast<int32_t>(p * g_.dilation_h * row + q_ * g_.dilation_w * g_.c + c));
    const int64_t lanes = g_.o <= kMaxLanes / 2 ? kMaxLanes / 2 : kMaxLanes;
    const int64_t run = g_.dilation_w == 1 ? g_.kw * g_.c : g_.c;
    pixels_ = {static_cast<int64_t>(offsets_.size()), offsets_.data(), g_.stride_w * g_.c, g_.stride_h * row, g_.oh, g_.ow, g_.o, lanes, run};
    runs_ = {g_.kh, g_.kw * g_.c, g_.stride_w * g_.c, g_.stride_h * row, g_.dilation_h * row, g_.ow, g_.o};
    WorkspaceLayout layout;
    const int64_t packed = direction_ == Direction::kInputGrad ? g_.kh * g_.o * direct_run_length(runs_.run) : pixels_.taps * lanes;
    weight_at_ = layout.add(packed * kFloat * (direction_ == Direction::kWeightGrad ? pieces_ : 1));
    if (has_padding_ || direction_ == Direction::kInputGrad) image_at_ = layout.add(padded_image_ * kFloat * pieces_);
    workspace_ = layout.size();
  }
  int64_t workspace_bytes() const override { return workspace_; }

  void run(ExecContext& ctx, Span<const Buffer> in, Span<const Buffer> out) override {
    float* weight = static_cast<float*>(workspace_at(ctx.workspace, weight_at_));
    float* scratch = static_cast<float*>(workspace_at(ctx.workspace, image_at_));
    const auto for_images = [&](auto&& f) {
      const int64_t work = 2 * images_ * g_.oh * g_.ow * g_.weight_numel();
      parallel_for(pieces_, std::max<int64_t>(1, 400'000 / std::max<int64_t>(1, work)), [&](int64_t begin, int64_t end) {
        for (int64_t piece = begin; piece < end; ++piece)
          for (int64_t n = piece * images_; n < std::min(g_.n, (piece + 1) * images_); ++n) f(piece, n);
      });
    };
    switch (direction_) {
      case Direction::kForward:
        pack_pixels(in[1].as<const float>(), weight);
        for_images([&](int64_t piece, int64_t n) {
          const float* x = padded(in[0].as<const float>() + n * x_image(), scratch + piece * padded_image_);
          SINDRI_SIMD_CALL(direct_conv_image)(pixels_, x, weight, out[0].as<float>() + n * y_image());
        });
        return;
      case Direction::kInputGrad:
        pack_runs(in[1].as<const float>(), weight);
        for_images([&](int64_t piece, int64_t n) {
          input_grad(in[0].as<const float>() + n * y_image(), weight, scratch + piece * padded_image_, out[0].as<float>() + n * x_image());
        });
        return;
      case Direction::kWeightGrad:
        std::fill_n(weight, pieces_ * pixels_.taps * pixels_.lanes, 0.0f);
        for_images([&](int64_t piece, int64_t n) {
          const float* x = padded(in[1].as<const float>() + n * x_image(), scratch + piece * padded_image_);
          SINDRI_SIMD_CALL(direct_conv_weight_grad)
          (pixels_, x, in[0].as<const float>() + n * y_image(), (g_.n - n) * y_image(), weight + piece * pixels_.taps * pixels_.lanes);
        });
        return add_partials(weight, out[0].as<float>());
    }
  }

 private:
  static constexpr int64_t kFloat = static_cast<int64_t>(sizeof(float));
  int64_t x_image() const { return g_.h * g_.w * g_.c; }
  int64_t y_image() const { return g_.oh * g_.ow * g_.o; }

  // The image with zeros around it, or the image itself without padding.
  const float* padded(const float* x, float* copy) const {
    if (!has_padding_) return x;
    std::fill_n(copy, padded_image_, 0.0f);
    for (int64_t h = 0; h < g_.h; ++h) std::copy_n(x + h * g_.w * g_.c, g_.w * g_.c, copy + ((h + g_.pad_top) * padded_w_ + g_.pad_left) * g_.c);
    return copy;
  }

  void input_grad(const float* dy, const float* weight, float* copy, float* dx) const {
    std::fill_n(copy, padded_image_, 0.0f);
    for (int64_t i = 0; i < g_.oh; ++i) SINDRI_SIMD_CALL(direct_conv_input_grad_row)(runs_, dy + i * g_.ow * g_.o, weight, copy + i * runs_.row_stride);
    for (int64_t h = 0; h < g_.h; ++h) std::copy_n(copy + ((h + g_.pad_top) * padded_w_ + g_.pad_left) * g_.c, g_.w * g_.c, dx + h * g_.w * g_.c);
  }

  // [O, C, KH, KW] -> [KH, KW, C, lanes], with zeros after the output channels.
  void pack_pixels(const float* oihw, float* to) const {
    std::fill_n(to, pixels_.taps * pixels_.lanes, 0.0f);
    const int64_t area = g_.kh * g_.kw;
    for (int64_t o = 0; o < g_.o; ++o)
      for (int64_t c = 0; c < g_.c; ++c)
        for (int64_t t = 0; t < area; ++t) to[(t * g_.c + c) * pixels_.lanes + o] = *oihw++;
  }
  // [O, C, KH, KW] -> [KH, O, (KW, C) and zeros].
  void pack_runs(const float* oihw, float* to) const {
    const int64_t length = direct_run_length(runs_.run);
    std::fill_n(to, g_.kh * g_.o * length, 0.0f);
    for (int64_t o = 0; o < g_.o; ++o)
      for (int64_t c = 0; c < g_.c; ++c)
        for (int64_t p = 0; p < g_.kh; ++p)
          for (int64_t q = 0; q < g_.kw; ++q) to[(p * g_.o + o) * length + q * g_.c + c] = *oihw++;
  }
  // [pieces, (KH, KW, C), lanes] -> [O, C, KH, KW].
  void add_partials(float* partial, float* oihw) const {
    const int64_t size = pixels_.taps * pixels_.lanes, area = g_.kh * g_.kw;
    for (int64_t piece = 1; piece < pieces_; ++piece)
      for (int64_t i = 0; i < size; ++i) partial[i] += partial[piece * size + i];
    for (int64_t o = 0; o < g_.o; ++o)
      for (int64_t c = 0; c < g_.c; ++c)
        for (int64_t t = 0; t < area; ++t) *oihw++ = partial[(t * g_.c + c) * pixels_.lanes + o];
  }

  Direction direction_;
  ConvGeometry g_;
  int64_t images_ = 0, pieces_ = 0, padded_w_ = 0, padded_image_ = 0, weight_at_ = 0, image_at_ = 0, workspace_ = 0;
  bool has_padding_ = false;
  std::vector<int32_t> offsets_;
  DirectConv pixels_{};
  DirectInputGrad runs_{};
};

// Accepts shapes for which these loops were measured faster than oneDNN 2.6 with AVX2 and AVX-512.
std::string reject(const KernelQuery& q) {
  if (q.in[0].dtype != DType::kFloat32) return "float32 only";
  const ConvGeometry g = conv::geometry_of(q);
  if (g.empty()) return "an operand has no elements";
  if (g.groups != 1) return "no groups";
  if (g.o > kMaxLanes) return "more than 16 output channels";
  constexpr int64_t kMaxOffset = int64_t{1} << 30;
  if ((g.h + g.pad_top + g.pad_bottom) * (g.w + g.pad_left + g.pad_right) * g.c > kMaxOffset) return "the image is too large";
  if (g.c > kMaxLanes / 2) return "more than 8 input channels";
  if (conv::direction_of(q) == Direction::kInputGrad) {
    if (g.dilation_w != 1) return "dilated columns";
    if (g.kh > kDirectMaxKernelRows) return "more than 16 kernel rows";
    const int64_t run = g.kw * g.c;
    if (run > 64 || run * 8 < direct_run_length(run) * 5) return "a kernel row does not fill the vectors well";
    return "";
  }
  if (conv::direction_of(q) == Direction::kWeightGrad && g.o > kMaxLanes / 2 && cpu_isa() >= CpuIsa::kAvx512)
    return "oneDNN is faster from 9 output channels on with AVX-512";
  return g.c * g.kh * g.kw <= 256 ? "" : "more than 256 weights per output channel";
}
std::unique_ptr<Kernel> make(const KernelQuery& q) { return std::make_unique<DirectConvKernel>(q); }

bool add(const char* op) { return register_kernel({.op = op, .name = "direct", .priority = 30, .reject = reject, .make = make}); }
const bool kForward = add("conv2d"), kInputGrad = add("conv2d_input_grad"), kWeightGrad = add("conv2d_weight_grad");

}  // namespace
}  // namespace sindri
