// Samples of batch norm, relu and max pooling as one op, and of its gradient. Half types round between the steps, which moves maxima: norm_pool_test.cc
// compares these with the separate ops.
#include "tests/ops/samples.h"

namespace sindri::test::norm_pool_samples {
namespace {

using Ints = std::vector<int64_t>;

struct Case {
  std::string name;
  Shape x, y;
  Ints kernel, stride, pad = {0, 0, 0, 0};
  bool ceil_mode = false;
  double eps = 1e-5;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"resnet_stem", {2, 3, 8, 8}, {2, 3, 4, 4}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"stem_channels8", {2, 8, 7, 9}, {2, 8, 4, 5}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"stem_channels24", {2, 24, 5, 6}, {2, 24, 3, 3}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"same_stride2", {2, 16, 6, 6}, {2, 16, 3, 3}, {3, 3}, {2, 2}, {0, 1, 0, 1}},
      {"side_by_side", {3, 4, 6, 6}, {3, 4, 3, 3}, {2, 2}, {2, 2}},
      {"overlapping", {2, 8, 6, 5}, {2, 8, 4, 3}, {3, 3}, {1, 1}, {0, 0, 0, 0}, false, 1e-3},
      {"wide_windows", {2, 8, 9, 8}, {2, 8, 3, 3}, {5, 4}, {2, 2}},
      {"gaps", {2, 5, 7, 7}, {2, 5, 2, 2}, {2, 2}, {4, 4}},
      {"ceil", {2, 2, 6, 7}, {2, 2, 3, 4}, {2, 2}, {2, 2}, {0, 0, 0, 0}, true},
      {"whole_image", {5, 3, 4, 5}, {5, 3, 1, 1}, {4, 5}, {1, 1}},
      {"one_channel", {3, 1, 6, 6}, {3, 1, 3, 3}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"one_pixel", {9, 8, 1, 1}, {9, 8, 1, 1}, {1, 1}, {1, 1}},
      {"no_channels", {2, 0, 6, 6}, {2, 0, 3, 3}, {2, 2}, {2, 2}},
      {"many_values", {2, 2, 40, 44}, {2, 2, 20, 22}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
  };
  return list;
}

std::vector<Sample> all() {
  std::vector<Sample> s;
  for (const Case& c : cases()) {
    const Shape channels = {c.x[1]};
    const AttrFields attrs = {{"eps", c.eps}, {"kernel", c.kernel}, {"stride", c.stride}, {"pad", c.pad}, {"ceil_mode", c.ceil_mode}};
    s.push_back(
        {.op = "batch_norm_pool", .name = c.name, .attrs = attrs, .args = {{c.x}, {channels}, {channels}}, .gradient = false, .half = false, .torch = false});
    // Includes one index past the window: such a window passes its gradient to no element.
    const double places = static_cast<double>(c.kernel[0] * c.kernel[1] + 1);
    for (const bool sum : {false, true}) {
      std::vector<Arg> args = {{c.y}, {c.y, 0, places, DType::kUInt8, "integers"}, {c.x}, {channels}, {channels}, {channels, 0.1, 3}};
      if (sum) args.push_back({c.y});
      s.push_back(
          {.op = "batch_norm_pool_grad", .name = c.name + (sum ? "_sum" : ""), .attrs = attrs, .args = args, .gradient = false, .half = false, .torch = false});
    }
  }
  return s;
}

const bool kSamples = add_samples(all());

}  // namespace
}  // namespace sindri::test::norm_pool_samples
