// Checks of pooling attributes, and the window tables from which kernels are built.
#include "ops/pool/pool_common.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "sindri/core/error.h"

namespace sindri::ops {

namespace {

void check_list(const char* op, const char* what, const std::vector<int64_t>& v, size_t size, int64_t least) {
  if (v.size() != size) throw ValueError(fmt::format("{}: {} must have {} values, got [{}]", op, what, size, fmt::join(v, ", ")));
  for (int64_t x : v) {
    if (x < least || x > std::numeric_limits<int32_t>::max())
      throw ValueError(fmt::format("{}: {} must be between {} and 2^31 - 1, got [{}]", op, what, least, fmt::join(v, ", ")));
  }
}

void check_image(const char* op, const TensorMeta& x, const char* which) {
  check_floating(op, x, which);
  check_rank(op, x, which, 4);
}

}  // namespace

int64_t pooled_size(const Pool2dAttrs& a, int axis, int64_t in) {
  const auto i = static_cast<size_t>(axis);
  const int64_t before = a.pad[2 * i], after = a.pad[2 * i + 1], k = a.kernel[i], stride = a.stride[i];
  const int64_t room = in + before + after - k;
  if (room < 0) return 0;
  int64_t out = room / stride + 1;
  // A window that ceil_mode adds must start inside the input or the padding before it, as in PyTorch.
  if (a.ceil_mode && room % stride != 0 && out * stride < in + before) ++out;
  return out;
}

void check_pool_attrs(const char* op, const Pool2dAttrs& a, int64_t h, int64_t w) {
  check_list(op, "kernel", a.kernel, 2, 1);
  check_list(op, "stride", a.stride, 2, 1);
  check_list(op, "pad", a.pad, 4, 0);
  for (size_t i = 0; i < 4; ++i) {
    if (a.pad[i] >= a.kernel[i / 2])
      throw ValueError(fmt::format("{}: pad [{}] must be smaller than kernel [{}], else a window would hold only padding", op, fmt::join(a.pad, ", "),
                                   fmt::join(a.kernel, ", ")));
  }
  if (h < 1 || w < 1) throw ShapeError(fmt::format("{}: height and width must be at least 1, got {} x {}", op, h, w));
  if (pooled_size(a, 0, h) < 1 || pooled_size(a, 1, w) < 1) {
    throw ShapeError(
        fmt::format("{}: kernel [{}] is larger than the padded input {} x {} (pad [{}])", op, fmt::join(a.kernel, ", "), h, w, fmt::join(a.pad, ", ")));
  }
}

PoolAxis pool_axis(const Pool2dAttrs& a, int axis, int64_t in) {
  const auto i = static_cast<size_t>(axis);
  PoolAxis p{.in = in, .out = pooled_size(a, axis, in), .start = {}, .begin = {}, .end = {}, .divisor = {}};
  for (int64_t o = 0; o < p.out; ++o) {
    const int64_t start = o * a.stride[i] - a.pad[2 * i];
    p.start.push_back(start);
    p.begin.push_back(std::max<int64_t>(0, start));
    p.end.push_back(std::min(in, start + a.kernel[i]));
    // Padding counts, except beyond the padded input, where only ceil_mode reaches.
    p.divisor.push_back(a.count_include_pad ? std::min(start + a.kernel[i], in + a.pad[2 * i + 1]) - start : p.end.back() - p.begin.back());
  }
  return p;
}

PoolAxis adaptive_pool_axis(int64_t in, int64_t out) {
  PoolAxis p{.in = in, .out = out, .start = {}, .begin = {}, .end = {}, .divisor = {}};
  for (int64_t o = 0; o < out; ++o) {
    p.begin.push_back(o * in / out);
    p.end.push_back(((o + 1) * in + out - 1) / out);
    p.divisor.push_back(p.end.back() - p.begin.back());
  }
  p.start = p.begin;
  return p;
}

TensorMeta infer_pooled(const char* op, const Pool2dAttrs& a, const TensorMeta& x) {
  check_image(op, x, "x");
  check_pool_attrs(op, a, x.shape[2], x.shape[3]);
  TensorMeta y = x;
  y.shape[2] = pooled_size(a, 0, x.shape[2]);
  y.shape[3] = pooled_size(a, 1, x.shape[3]);
  return y;
}

TensorMeta infer_unpooled(const char* op, const Pool2dGradAttrs& a, const TensorMeta& dy) {
  check_image(op, dy, "dy");
  check_list(op, "input_size", a.input_size, 2, 1);
  TensorMeta x = dy;
  x.shape[2] = a.input_size[0];
  x.shape[3] = a.input_size[1];
  const TensorMeta y = infer_pooled(op, a.forward(), x);
  if (y.shape != dy.shape)
    throw ShapeError(fmt::format("{}: dy must be {} for an input of {} x {}, got {}", op, y.shape.str(), x.shape[2], x.shape[3], dy.str()));
  return x;
}

}  // namespace sindri::ops
