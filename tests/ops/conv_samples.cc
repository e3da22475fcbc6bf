// Samples of conv2d and, from the same list, of its two gradient ops.
#include <utility>

#include "tests/ops/samples.h"

namespace sindri::test::conv_samples {
namespace {

struct Case {
  std::string name;
  Shape x, w;
  std::vector<int64_t> stride = {1, 1}, pad = {0, 0, 0, 0}, dilation = {1, 1};
  int64_t groups = 1;
  double tolerance = 1;  // sums of more than some 100 terms exceed the suite's bounds by rounding
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"plain", {2, 3, 5, 6}, {4, 3, 3, 3}},
      {"pad1", {2, 3, 5, 5}, {4, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}},
      {"stride2_pad1", {2, 3, 8, 8}, {4, 3, 3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"stride2_remainder", {1, 2, 8, 7}, {3, 2, 3, 2}, {2, 2}},
      {"stride_3_1", {1, 2, 9, 5}, {2, 2, 2, 2}, {3, 1}},
      {"stride_beyond_kernel", {1, 2, 7, 7}, {2, 2, 2, 2}, {3, 3}},
      {"asymmetric_pad", {1, 2, 5, 6}, {3, 2, 3, 3}, {1, 1}, {0, 1, 2, 0}},
      {"same_stride2", {2, 3, 6, 6}, {4, 3, 3, 3}, {2, 2}, {0, 1, 0, 1}},
      {"pad_beyond_kernel", {1, 2, 3, 3}, {2, 2, 2, 2}, {1, 1}, {3, 2, 2, 3}},
      {"dilation2", {1, 2, 7, 8}, {3, 2, 3, 3}, {1, 1}, {0, 0, 0, 0}, {2, 2}},
      {"dilation_1_3", {1, 2, 5, 9}, {2, 2, 3, 3}, {1, 1}, {1, 1, 3, 3}, {1, 3}},
      {"dilation2_stride2_pad", {2, 2, 9, 8}, {2, 2, 3, 2}, {2, 2}, {2, 1, 1, 2}, {2, 2}},
      {"one_by_one", {2, 8, 4, 4}, {16, 8, 1, 1}},
      {"one_by_one_stride2", {2, 4, 7, 6}, {8, 4, 1, 1}, {2, 2}},
      {"one_by_one_pad1", {1, 3, 3, 3}, {5, 3, 1, 1}, {1, 1}, {1, 1, 1, 1}},
      {"groups2", {2, 4, 5, 5}, {6, 2, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2},
      {"groups3_one_by_one", {2, 6, 3, 3}, {9, 2, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 3},
      {"groups_stride_dilation", {1, 4, 8, 8}, {4, 2, 3, 3}, {2, 1}, {1, 2, 0, 1}, {1, 2}, 2},
      {"depthwise", {2, 8, 5, 5}, {8, 1, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 8},
      {"depthwise_stride2", {1, 17, 6, 7}, {17, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 17},
      {"depthwise_multiplier2", {1, 5, 5, 4}, {10, 1, 2, 3}, {1, 1}, {0, 1, 1, 1}, {1, 1}, 5},
      {"channels7_9", {1, 7, 5, 5}, {9, 7, 3, 3}, {1, 1}, {1, 1, 1, 1}},
      {"channels15_17", {1, 15, 4, 4}, {17, 15, 3, 3}, {1, 1}, {1, 1, 1, 1}},
      {"channels16_16", {2, 16, 4, 4}, {16, 16, 3, 3}, {1, 1}, {1, 1, 1, 1}},
      {"channels31_33", {1, 31, 3, 3}, {33, 31, 1, 1}},
      {"channels33_8_stride2", {1, 33, 5, 5}, {8, 33, 3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"first_layer_7x7", {1, 3, 15, 15}, {8, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}},
      {"first_layer_7x7_to_16", {1, 3, 15, 15}, {16, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}, {1, 1}, 1, 2},
      {"lenet_5x5", {2, 1, 12, 12}, {6, 1, 5, 5}},
      {"lenet_second", {1, 6, 9, 9}, {16, 6, 5, 5}},
      {"few_channels_wide_rows", {2, 1, 4, 33}, {5, 1, 3, 3}},  // 31 outputs in a row: blocks of every size
      {"few_channels_stride2_pad", {3, 2, 9, 9}, {8, 2, 3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"kernel_is_input", {3, 2, 4, 5}, {3, 2, 4, 5}},
      {"row_kernel", {1, 3, 4, 9}, {2, 3, 1, 5}, {1, 1}, {0, 0, 2, 2}},
      {"column_kernel", {1, 3, 9, 4}, {2, 3, 5, 1}, {2, 1}, {2, 2, 0, 0}},
      {"even_kernel", {1, 2, 6, 6}, {3, 2, 4, 4}, {1, 1}, {1, 2, 1, 2}},
      {"one_pixel", {4, 3, 1, 1}, {5, 3, 1, 1}},
      {"one_pixel_pad1", {2, 3, 1, 1}, {4, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}},
      {"single_everything", {1, 1, 1, 1}, {1, 1, 1, 1}},
      {"winograd_odd", {2, 16, 5, 7}, {17, 16, 3, 3}, {1, 1}, {1, 1, 1, 1}},
      {"winograd_no_pad", {1, 19, 6, 4}, {33, 19, 3, 3}},
      {"winograd_pad2", {1, 16, 3, 3}, {16, 16, 3, 3}, {1, 1}, {2, 1, 0, 2}},
      {"winograd_one_row", {3, 16, 1, 8}, {16, 16, 3, 3}, {1, 1}, {1, 1, 1, 1}},
      {"channels8_16_rows_of_17", {2, 8, 5, 17}, {16, 8, 3, 3}, {1, 1}, {1, 1, 1, 1}},  // register tiles of every length
      {"channels16_32_stride2", {3, 16, 9, 15}, {32, 16, 3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"channels16_16_3x2_uneven_pad", {2, 16, 7, 9}, {16, 16, 3, 2}, {1, 1}, {0, 2, 1, 0}},
      {"channels16_48_one_by_one", {3, 16, 5, 4}, {48, 16, 1, 1}},
      {"channels16_32_one_by_one_stride_2_3", {3, 16, 7, 8}, {32, 16, 1, 1}, {2, 3}},
      {"channels32_16", {1, 32, 5, 5}, {16, 32, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1, 2},  // 288 inputs per pixel: a product over columns
      {"channels32_17_stride2", {2, 32, 6, 5}, {17, 32, 3, 3}, {2, 2}, {1, 0, 1, 1}, {1, 1}, 1, 2},
      {"channels256_16_one_by_one_stride2", {2, 256, 3, 4}, {16, 256, 1, 1}, {2, 2}, {0, 0, 0, 0}, {1, 1}, 1, 2},
      {"batch_of_11", {11, 2, 3, 3}, {3, 2, 2, 2}},
      {"batch_zero", {0, 3, 5, 5}, {4, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}},
  };
  return list;
}

Shape output_shape(const Case& c) {
  const auto size = [&](int axis) {
    const auto a = static_cast<size_t>(axis);
    return (c.x[2 + axis] + c.pad[2 * a] + c.pad[2 * a + 1] - c.dilation[a] * (c.w[2 + axis] - 1) - 1) / c.stride[a] + 1;
  };
  return {c.x[0], c.w[0], size(0), size(1)};
}

std::vector<Sample> samples() {
  std::vector<Sample> out;
  for (const Case& c : cases()) {
    const AttrFields attrs = {{"stride", c.stride}, {"pad", c.pad}, {"dilation", c.dilation}, {"groups", c.groups}};
    AttrFields of_input = attrs, of_weight = attrs;
    of_input.push_back({"x_shape", c.x});
    of_weight.push_back({"w_shape", c.w});
    const Shape y = output_shape(c);
    const auto add = [&](const char* op, const AttrFields& fields, std::vector<Arg> args) {
      out.push_back({.op = op, .name = c.name, .attrs = fields, .args = std::move(args), .tolerance = c.tolerance});
    };
    add("conv2d", attrs, {{c.x}, {c.w}});
    add("conv2d_input_grad", of_input, {{y}, {c.w}});
    add("conv2d_weight_grad", of_weight, {{y}, {c.x}});
    const Shape channels = {c.w[0]};
    for (const bool relu : {false, true}) {
      for (const bool residual : {false, true}) {
        AttrFields fused = attrs;
        fused.push_back({"relu", relu});
        std::vector<Arg> args = {{c.x}, {c.w}, {channels}};
        if (residual) args.push_back({y});
        const std::string name = c.name + (relu ? "_relu" : "") + (residual ? "_residual" : "");
        out.push_back({.op = "conv2d_bias_act", .name = name, .attrs = fused, .args = args, .gradient = false, .torch = false, .tolerance = c.tolerance});
      }
    }
    out.push_back({.op = "fold_batch_norm",
                   .name = c.name,
                   .attrs = {{"eps", 1e-3}},
                   .args = {{c.w}, {channels}, {channels}, {channels}, {channels, 0.1, 3}},
                   .gradient = false,
                   .torch = false});
  }
  return out;
}

const bool kSamples = add_samples(samples());

}  // namespace
}  // namespace sindri::test::conv_samples
