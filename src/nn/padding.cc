// See padding.h.
#include "src/nn/padding.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"

namespace sindri::nn {

namespace {

std::pair<int64_t, int64_t> same_pads(int64_t in, int64_t kernel, int64_t stride, int64_t dilation) {
  const int64_t out = (in + stride - 1) / stride;
  const int64_t total = std::max<int64_t>((out - 1) * stride + dilation * (kernel - 1) + 1 - in, 0);
  return {total / 2, total - total / 2};
}

}  // namespace

void check_pad_mode(const char* who, const std::string& pad_mode, const Pad4& padding) {
  if (pad_mode != "same" && pad_mode != "valid" && pad_mode != "pad")
    throw ValueError(fmt::format("{}: pad_mode '{}' is not known", who, pad_mode), "", did_you_mean(pad_mode, {"same", "valid", "pad"}));
  if (pad_mode != "pad" && padding.any())
    throw ValueError(fmt::format("{}: padding {} is given with pad_mode '{}'", who, Shape(padding.vec()).str(), pad_mode), "",
                     "set pad_mode to 'pad', or leave padding at 0");
  for (int64_t p : padding.vec())
    if (p < 0) throw ValueError(fmt::format("{}: padding {} is negative", who, Shape(padding.vec()).str()));
}

void check_size(const char* who, const char* what, const Size2& s) {
  if (s.h == 0 && s.w == 0) throw ValueError(fmt::format("{}: {} is not given", who, what));
  if (s.h < 1 || s.w < 1) throw ValueError(fmt::format("{}: {} must be at least 1, got {}", who, what, size_text(s)));
}

std::vector<int64_t> pads_for(const char* who, const Tensor& x, const std::string& pad_mode, const Pad4& padding, const Size2& kernel, const Size2& stride,
                              const Size2& dilation) {
  if (x.rank() != 4) throw ShapeError(fmt::format("{}: the input must be [N, C, H, W], got {}", who, x.meta().str()));
  if (pad_mode != "same") return padding.vec();  // all zero with "valid"
  const auto [top, bottom] = same_pads(x.dim(2), kernel.h, stride.h, dilation.h);
  const auto [left, right] = same_pads(x.dim(3), kernel.w, stride.w, dilation.w);
  return {top, bottom, left, right};
}

std::string size_text(const Size2& s) { return fmt::format("[{}, {}]", s.h, s.w); }

}  // namespace sindri::nn
