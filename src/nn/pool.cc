// Pooling layers: "same" padding per input size, then the pooling ops.
#include "sindri/nn/pool.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/ops/pool.h"
#include "src/nn/padding.h"

namespace sindri::nn {

namespace {

template <class Options> void check(const char* who, const Options& o) {
  check_size(who, "kernel_size", o.kernel_size);
  check_size(who, "stride", o.stride);
  check_pad_mode(who, o.pad_mode, o.padding);
  const Pad4& p = o.padding;
  if (2 * p.top > o.kernel_size.h || 2 * p.bottom > o.kernel_size.h || 2 * p.left > o.kernel_size.w || 2 * p.right > o.kernel_size.w)
    throw ValueError(fmt::format("{}: padding {} is more than half the kernel {}", who, Shape(p.vec()).str(), size_text(o.kernel_size)));
  if (o.ceil_mode && o.pad_mode == "same") throw ValueError(fmt::format("{}: ceil_mode does not go with pad_mode 'same'", who));
}

template <class Options> std::string text(const char* who, const Options& o) {
  std::string s = fmt::format("{}(kernel_size={}, stride={}, pad_mode='{}'", who, size_text(o.kernel_size), size_text(o.stride), o.pad_mode);
  if (o.padding.any()) s += ", padding=" + Shape(o.padding.vec()).str();
  return s + (o.ceil_mode ? ", ceil_mode=true)" : ")");
}

template <class Options> ops::Pool2dAttrs attrs(const char* who, const Tensor& x, const Options& o) {
  return {.kernel = o.kernel_size.vec(),
          .stride = o.stride.vec(),
          .pad = pads_for(who, x, o.pad_mode, o.padding, o.kernel_size, o.stride),
          .ceil_mode = o.ceil_mode};
}

}  // namespace

MaxPool2d::MaxPool2d(Options o) : Cell("MaxPool2d"), options_(std::move(o)) { check("MaxPool2d", options_); }
Tensor MaxPool2d::construct(const Tensor& x) { return ops::max_pool2d(x, attrs("MaxPool2d", x, options_)); }
std::string MaxPool2d::describe() const { return text("MaxPool2d", options_); }

AvgPool2d::AvgPool2d(Options o) : Cell("AvgPool2d"), options_(std::move(o)) { check("AvgPool2d", options_); }
Tensor AvgPool2d::construct(const Tensor& x) {
  ops::Pool2dAttrs a = attrs("AvgPool2d", x, options_);
  a.count_include_pad = options_.pad_mode == "pad" && options_.count_include_pad;
  return ops::avg_pool2d(x, a);
}
std::string AvgPool2d::describe() const { return text("AvgPool2d", options_); }

AdaptiveAvgPool2d::AdaptiveAvgPool2d(Options o) : Cell("AdaptiveAvgPool2d"), options_(o) {
  check_size("AdaptiveAvgPool2d", "output_size", options_.output_size);
}
Tensor AdaptiveAvgPool2d::construct(const Tensor& x) { return ops::adaptive_avg_pool2d(x, options_.output_size.h, options_.output_size.w); }
std::string AdaptiveAvgPool2d::describe() const { return fmt::format("AdaptiveAvgPool2d(output_size={})", size_text(options_.output_size)); }

Tensor GlobalAvgPool::construct(const Tensor& x) { return ops::global_avg_pool2d(x); }

}  // namespace sindri::nn
