// Samples of pooling and its gradient ops.
#include "tests/ops/samples.h"

namespace sindri::test::pool_samples {
namespace {

using Ints = std::vector<int64_t>;

struct Case {
  std::string name;
  Shape x, y;  // y as PyTorch's formula gives it
  Ints kernel, stride, pad = {0, 0, 0, 0};
  bool ceil_mode = false, count_include_pad = false;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"resnet_stem", {2, 3, 8, 8}, {2, 3, 4, 4}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"plain", {2, 3, 6, 6}, {2, 3, 3, 3}, {2, 2}, {2, 2}},
      {"overlapping", {1, 2, 6, 5}, {1, 2, 4, 3}, {3, 3}, {1, 1}},
      {"identity", {2, 3, 4, 5}, {2, 3, 4, 5}, {1, 1}, {1, 1}},
      {"whole_image", {2, 3, 4, 5}, {2, 3, 1, 1}, {4, 5}, {1, 1}},
      {"one_pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1}, {1, 1}},
      {"no_samples", {0, 3, 6, 6}, {0, 3, 3, 3}, {2, 2}, {2, 2}},
      {"no_channels", {2, 0, 6, 6}, {2, 0, 3, 3}, {2, 2}, {2, 2}},
      {"kernel_2_3_stride_3_2", {2, 2, 7, 9}, {2, 2, 2, 4}, {2, 3}, {3, 2}},
      {"gaps", {1, 2, 7, 7}, {1, 2, 2, 2}, {2, 2}, {4, 4}},
      {"remainder", {1, 2, 7, 8}, {1, 2, 3, 3}, {2, 3}, {2, 2}},
      {"pad", {1, 2, 6, 7}, {1, 2, 4, 4}, {3, 3}, {2, 2}, {1, 1, 1, 1}, true},
      {"asymmetric_pad", {1, 2, 5, 6}, {1, 2, 4, 4}, {3, 3}, {1, 2}, {0, 1, 2, 1}},
      {"same_stride2", {2, 2, 6, 6}, {2, 2, 3, 3}, {3, 3}, {2, 2}, {0, 1, 0, 1}},
      {"ceil", {1, 2, 6, 7}, {1, 2, 3, 4}, {2, 2}, {2, 2}, {0, 0, 0, 0}, true},
      {"ceil_kernel3", {1, 2, 6, 6}, {1, 2, 3, 3}, {3, 3}, {2, 2}, {0, 0, 0, 0}, true},
      // The window that ceil_mode would add starts beyond the input: dropped.
      {"ceil_dropped", {1, 2, 5, 5}, {1, 2, 2, 2}, {1, 1}, {4, 4}, {0, 0, 0, 0}, true},
      {"ceil_pad", {1, 2, 7, 7}, {1, 2, 4, 4}, {3, 3}, {2, 2}, {1, 1, 1, 1}, true},
      {"include_pad", {2, 2, 6, 6}, {2, 2, 3, 3}, {3, 3}, {2, 2}, {1, 1, 1, 1}, false, true},
      {"include_pad_ceil", {1, 2, 6, 6}, {1, 2, 4, 4}, {3, 3}, {2, 2}, {1, 1, 1, 1}, true, true},
      {"include_asymmetric_pad", {1, 2, 5, 5}, {1, 2, 3, 3}, {3, 3}, {2, 2}, {0, 2, 2, 0}, false, true},
      {"channels7", {1, 7, 5, 5}, {1, 7, 3, 3}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"lenet", {2, 6, 6, 6}, {2, 6, 3, 3}, {2, 2}, {2, 2}},
      {"side_by_side_remainder", {2, 3, 8, 11}, {2, 3, 2, 3}, {3, 3}, {3, 3}},
      {"channels20_side_by_side", {1, 20, 4, 5}, {1, 20, 2, 2}, {2, 2}, {2, 2}},
      {"channels16", {1, 16, 4, 4}, {1, 16, 2, 2}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"channels17", {2, 17, 4, 4}, {2, 17, 2, 2}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"channels33", {1, 33, 3, 4}, {1, 33, 2, 2}, {2, 3}, {1, 1}},
      {"width17", {1, 2, 3, 17}, {1, 2, 2, 9}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"width33", {1, 1, 5, 33}, {1, 1, 3, 17}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
  };
  return list;
}

AttrFields pool_attrs(const Case& c) {
  return {{"kernel", c.kernel}, {"stride", c.stride}, {"pad", c.pad}, {"ceil_mode", c.ceil_mode}, {"count_include_pad", c.count_include_pad}};
}
AttrFields grad_attrs(const Case& c) {
  AttrFields a = pool_attrs(c);
  a.push_back({"input_size", Ints{c.x[2], c.x[3]}});
  return a;
}

std::vector<Sample> all() {
  std::vector<Sample> s;
  for (const Case& c : cases()) {
    const Arg argmax = {c.y, 0, static_cast<double>(c.kernel[0] * c.kernel[1]), DType::kUInt8};
    s.push_back({"max_pool2d", c.name, pool_attrs(c), {{.shape = c.x, .kind = "distinct"}}});
    s.push_back({"max_pool2d_grad", c.name, grad_attrs(c), {{c.y}, argmax}});
    s.push_back({.op = "max_pool2d_grad", .name = c.name + "_sum", .attrs = grad_attrs(c), .args = {{c.y}, argmax, {c.y}}, .half = false, .torch = false});
    s.push_back({"max_pool2d_take", c.name, pool_attrs(c), {{c.x}, argmax}});
    s.push_back({"avg_pool2d", c.name, pool_attrs(c), {{c.x}}});
    s.push_back({"avg_pool2d_grad", c.name, grad_attrs(c), {{c.y}}});
  }
  // More than 256 elements in a window: positions no longer fit a byte.
  const Case large = {"large_window", {1, 2, 18, 19}, {1, 2, 2, 2}, {17, 16}, {1, 3}};
  s.push_back({"max_pool2d", large.name, pool_attrs(large), {{.shape = large.x, .kind = "distinct"}}});
  s.push_back({"max_pool2d_grad", large.name, grad_attrs(large), {{large.y}, {large.y, 0, 272, DType::kInt32}}});
  s.push_back({"max_pool2d_take", large.name, pool_attrs(large), {{large.x}, {large.y, 0, 272, DType::kInt32}}});
  s.push_back({"avg_pool2d", large.name, pool_attrs(large), {{large.x}}});

  struct Adaptive {
    std::string name;
    Shape x;
    int64_t oh, ow;
  };
  for (const Adaptive& c : std::vector<Adaptive>{{"plain", {2, 3, 6, 6}, 3, 3},
                                                 {"uneven", {1, 2, 7, 5}, 3, 2},
                                                 {"global", {2, 5, 7, 7}, 1, 1},
                                                 {"identity", {1, 2, 3, 4}, 3, 4},
                                                 {"larger", {1, 2, 2, 3}, 4, 5},
                                                 {"one_row", {2, 2, 1, 6}, 1, 4},
                                                 {"no_samples", {0, 2, 4, 4}, 2, 2},
                                                 {"channels17", {2, 17, 4, 3}, 2, 2},
                                                 {"channels32", {1, 32, 7, 7}, 1, 1},
                                                 {"vgg", {1, 2, 9, 9}, 7, 7}}) {
    s.push_back({"adaptive_avg_pool2d", c.name, {{"oh", c.oh}, {"ow", c.ow}}, {{c.x}}});
    const AttrFields image = {{"h", c.x[2]}, {"w", c.x[3]}};
    const Shape pooled = {c.x[0], c.x[1], c.oh, c.ow};
    s.push_back({"adaptive_avg_pool2d_grad", c.name, image, {{pooled}}});
    s.push_back({.op = "adaptive_avg_pool2d_grad", .name = c.name + "_addend", .attrs = image, .args = {{pooled}, {c.x}}, .half = false, .torch = false});
    if (c.oh == 1 && c.ow == 1)
      s.push_back({.op = "adaptive_avg_pool2d_grad",
                   .name = c.name + "_addend_scale",
                   .attrs = image,
                   .args = {{pooled}, {c.x}, {pooled}},
                   .half = false,
                   .torch = false});
  }
  return s;
}

const bool kSamples = add_samples(all());

}  // namespace
}  // namespace sindri::test::pool_samples
