// Conv2d: the layer around ops::conv2d.
#include "sindri/nn/conv.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"
#include "src/nn/padding.h"

namespace sindri::nn {

namespace {

constexpr const char* kName = "Conv2d";

void check(const Conv2dOptions& o) {
  if (o.in_channels < 1) throw ValueError(fmt::format("{}: in_channels must be given and at least 1, got {}", kName, o.in_channels));
  if (o.out_channels < 1) throw ValueError(fmt::format("{}: out_channels must be given and at least 1, got {}", kName, o.out_channels));
  check_size(kName, "kernel_size", o.kernel_size);
  check_size(kName, "stride", o.stride);
  check_size(kName, "dilation", o.dilation);
  check_pad_mode(kName, o.pad_mode, o.padding);
  if (o.group < 1) throw ValueError(fmt::format("{}: group must be at least 1, got {}", kName, o.group));
  if (o.in_channels % o.group != 0 || o.out_channels % o.group != 0)
    throw ValueError(fmt::format("{}: in_channels {} and out_channels {} must be multiples of group {}", kName, o.in_channels, o.out_channels, o.group));
}

}  // namespace

Conv2d::Conv2d(Options o) : Cell(kName), options_(std::move(o)) {
  check(options_);
  const Shape shape = {options_.out_channels, options_.in_channels / options_.group, options_.kernel_size.h, options_.kernel_size.w};
  weight_ = &param("weight", initializer(options_.weight_init, shape));
  if (options_.has_bias) bias_ = &param("bias", initializer(options_.bias_init, {options_.out_channels}));
}

Tensor Conv2d::construct(const Tensor& x) {
  const std::vector<int64_t> pads = pads_for(kName, x, options_.pad_mode, options_.padding, options_.kernel_size, options_.stride, options_.dilation);
  const Tensor y =
      ops::conv2d(x, weight_->value(), {.stride = options_.stride.vec(), .pad = pads, .dilation = options_.dilation.vec(), .groups = options_.group});
  if (bias_ == nullptr) return y;
  return ops::add(y, ops::reshape(bias_->value(), {1, options_.out_channels, 1, 1}));
}

std::string Conv2d::describe() const {
  const Options& o = options_;
  std::string s = fmt::format("Conv2d({}, {}, kernel_size={}, stride={}, pad_mode='{}'", o.in_channels, o.out_channels, size_text(o.kernel_size),
                              size_text(o.stride), o.pad_mode);
  if (o.padding.any()) s += ", padding=" + Shape(o.padding.vec()).str();
  if (o.dilation.h != 1 || o.dilation.w != 1) s += ", dilation=" + size_text(o.dilation);
  if (o.group != 1) s += fmt::format(", group={}", o.group);
  return s + fmt::format(", has_bias={})", o.has_bias);
}

}  // namespace sindri::nn
