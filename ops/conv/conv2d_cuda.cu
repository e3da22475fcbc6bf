// conv2d, its two gradients and conv2d_bias_act by Sindri's own product (src/device/cuda/product.h). Each is a product with windows of an image, which are
// never written to memory. With G groups, P = N OH OW pixels and T = KH KW positions of the kernel, for each group
//   y  [P, O/G]        = windows of x  [P, T C/G]       w^T [T C/G, O/G]
//   dx [N H W, C/G]    = windows of dy [N H W, T O/G]   w   [T O/G, C/G]     dy's rows are stride apart: positions between them are zero
//   dw [O/G, T C/G]    = dy^T [O/G, P]                  windows of x [P, T C/G]
// Operands are read in either layout; channels-last ones with coalesced accesses.
#include <limits>

#include "ops/conv/conv_geometry.h"
#include "src/device/cuda/product.h"

namespace sindri::cuda {
namespace {

using conv::ConvGeometry, conv::Direction;

// Of a rank-4 tensor [N, C, H, W], or a weight [O, C/G, KH, KW].
struct Strides {
  int64_t n, c, h, w;
  explicit Strides(const TensorMeta& m) {
    const int64_t channels = m.shape[1], rows = m.shape[2], cols = m.shape[3];
    n = channels * rows * cols;
    if (m.layout == Layout::kChannelsLast) c = 1, w = channels, h = cols * channels;
    else w = 1, h = cols, c = rows * cols;
  }
};

// Pixels of y over the image x: the inputs of an output.
Window windows_of_x(const ConvGeometry& g, const Strides& x) {
  const int64_t pixels = g.n * g.oh * g.ow, taps = g.kh * g.kw * g.c_per_group();
  Window v;
  v.plane = Divisor(g.oh * g.ow, pixels);
  v.row = Divisor(g.ow, g.oh * g.ow);
  v.channels = Divisor(g.c_per_group(), taps);
  v.width = Divisor(g.kw, g.kh * g.kw);
  v.every_h = v.every_w = Divisor(1, 1);
  v.pixel_h = static_cast<int32_t>(g.stride_h), v.pixel_w = static_cast<int32_t>(g.stride_w);
  v.tap_h = static_cast<int32_t>(g.dilation_h), v.tap_w = static_cast<int32_t>(g.dilation_w);
  v.first_h = static_cast<int32_t>(-g.pad_top), v.first_w = static_cast<int32_t>(-g.pad_left);
  v.h = static_cast<int32_t>(g.h), v.w = static_cast<int32_t>(g.w);
  v.stride_n = x.n, v.stride_c = x.c, v.stride_h = x.h, v.stride_w = x.w;
  return v;
}
// Pixels of x over the image dy: the outputs that an input contributes to. i stride + r dilation - pad = h, solved for i.
Window windows_of_dy(const ConvGeometry& g, const Strides& dy) {
  const int64_t pixels = g.n * g.h * g.w, taps = g.kh * g.kw * g.o_per_group();
  Window v;
  v.plane = Divisor(g.h * g.w, pixels);
  v.row = Divisor(g.w, g.h * g.w);
  v.channels = Divisor(g.o_per_group(), taps);
  v.width = Divisor(g.kw, g.kh * g.kw);
  v.every_h = Divisor(g.stride_h, g.h + g.pad_top + 1), v.every_w = Divisor(g.stride_w, g.w + g.pad_left + 1);
  v.tap_h = static_cast<int32_t>(-g.dilation_h), v.tap_w = static_cast<int32_t>(-g.dilation_w);
  v.first_h = static_cast<int32_t>(g.pad_top), v.first_w = static_cast<int32_t>(g.pad_left);
  v.h = static_cast<int32_t>(g.oh), v.w = static_cast<int32_t>(g.ow);
  v.stride_n = dy.n, v.stride_c = dy.c, v.stride_h = dy.h, v.stride_w = dy.w;
  return v;
}

void one_product_a_group(const ConvGeometry& g, int64_t a, int64_t b, int64_t c, Product* p) {
  p->count = g.groups;
  p->batch.rank = 1;
  p->batch.size[0] = Divisor(g.groups, g.groups);
  p->batch.a[0] = a;
  p->batch.b[0] = b;
  p->c.batch = c;
}

Product forward(const ConvGeometry& g, const Strides& x, const Strides& w, const Strides& y) {
  const int64_t cg = g.c_per_group(), og = g.o_per_group(), plane = g.oh * g.ow;
  Product p;
  p.rows = g.n * plane;
  p.cols = og;
  p.depth = g.kh * g.kw * cg;
  p.a.windowed = true;
  p.a.window = windows_of_x(g, x);
  p.a.depth_is_dense = x.c == 1;
  p.b.line = Split::linear(w.n, og);
  p.b.depth = Split::pair(cg, w.w, w.c, p.depth);
  p.c.row = Split::pair(plane, y.n, y.w, p.rows);
  p.c.col = Split::linear(y.c, og);
  one_product_a_group(g, cg * x.c, og * w.n, og * y.c, &p);
  return p;
}

Product input_grad(const ConvGeometry& g, const Strides& dy, const Strides& w, const Strides& dx) {
  const int64_t cg = g.c_per_group(), og = g.o_per_group(), plane = g.h * g.w;
  Product p;
  p.rows = g.n * plane;
  p.cols = cg;
  p.depth = g.kh * g.kw * og;
  p.a.windowed = true;
  p.a.window = windows_of_dy(g, dy);
  p.a.depth_is_dense = dy.c == 1;
  p.b.line = Split::linear(w.c, cg);
  p.b.depth = Split::pair(og, w.w, w.n, p.depth);
  p.b.depth_is_dense = false;
  p.c.row = Split::pair(plane, dx.n, dx.w, p.rows);
  p.c.col = Split::linear(dx.c, cg);
  one_product_a_group(g, og * dy.c, og * w.n, cg * dx.c, &p);
  return p;
}

Product weight_grad(const ConvGeometry& g, const Strides& dy, const Strides& x, const Strides& dw) {
  const int64_t cg = g.c_per_group(), og = g.o_per_group(), plane = g.oh * g.ow;
  Product p;
  p.rows = og;
  p.cols = g.kh * g.kw * cg;
  p.depth = g.n * plane;
  p.a.line = Split::linear(dy.c, og);
  p.a.depth = Split::pair(plane, dy.n, dy.w, p.depth);
  p.a.depth_is_dense = dy.c != 1;
  p.b.windowed = true;
  p.b.lines_are_pixels = false;
  p.b.window = windows_of_x(g, x);
  p.b.depth_is_dense = x.c != 1;
  p.c.row = Split::linear(dw.n, og);
  p.c.col = Split::pair(cg, dw.w, dw.c, p.cols);
  one_product_a_group(g, og * dy.c, cg * x.c, og * dw.n, &p);
  return p;
}

std::unique_ptr<Kernel> make(const KernelQuery& q) {
  const ConvGeometry g = conv::geometry_of(q);
  const Strides first(q.in[0]), second(q.in[1]), result(q.out[0]);
  if (conv::direction_of(q) == Direction::kInputGrad) return make_product_kernel(q, input_grad(g, first, second, result), {});
  if (conv::direction_of(q) == Direction::kWeightGrad) return make_product_kernel(q, weight_grad(g, first, second, result), {});
  Product p = forward(g, first, second, result);
  p.c.relu = conv::relu_of(q);
  ProductOperands operands;
  if (q.in.size() > 2) {
    operands.bias = 2;
    p.c.bias_is_wide = q.in[2].dtype != q.in[0].dtype;
  }
  if (q.in.size() > 3) operands.residual = 3;
  return make_product_kernel(q, p, operands);
}

// Positions in a padded image are 32-bit integers.
std::string reject(const KernelQuery& q) {
  const ConvGeometry g = conv::geometry_of(q);
  const int64_t most = std::max(g.h + g.pad_top + g.pad_bottom, g.w + g.pad_left + g.pad_right);
  if (most <= std::numeric_limits<int32_t>::max()) return "";
  return "the padded image has " + std::to_string(most) + " rows or columns, more than 2^31";
}

bool add(const char* op) {
  return register_kernel({.op = op, .name = kTiledProduct, .priority = kTiledProductPriority, .reject = reject, .make = make, .device = Device::kCuda});
}
const bool kForward = add("conv2d"), kBiasAct = add("conv2d_bias_act"), kInputGrad = add("conv2d_input_grad"), kWeightGrad = add("conv2d_weight_grad");

}  // namespace
}  // namespace sindri::cuda
