// Samples of batch and layer normalisation and of their gradient ops.
#include "tests/ops/samples.h"

namespace sindri::test::norm_samples {
namespace {

struct Case {
  std::string name;
  Shape x;
  double eps = 1e-5;
  double tolerance = 1;
};

const std::vector<Case>& batch_cases() {
  static const std::vector<Case> list = {
      {"plain", {4, 3, 5, 6}},
      {"eps_1e-3", {4, 3, 5, 6}, 1e-3},
      {"eps_large", {3, 2, 4, 4}, 0.5},
      {"square", {2, 4, 4, 4}},
      {"one_channel", {3, 1, 4, 5}},
      {"one_sample", {1, 5, 6, 7}},
      {"one_pixel", {9, 6, 1, 1}},
      {"one_row", {3, 4, 1, 9}},
      {"one_column", {3, 4, 9, 1}},
      {"no_channels", {2, 0, 3, 3}},
      {"channels7", {3, 7, 3, 3}},
      {"channels8", {3, 8, 3, 3}},
      {"channels9", {3, 9, 3, 3}},
      {"channels15", {3, 15, 3, 3}},
      {"channels16", {3, 16, 3, 3}},
      {"channels17", {3, 17, 3, 3}},
      {"channels31", {3, 31, 2, 3}},
      {"channels33", {3, 33, 2, 3}},
      {"channels64", {2, 64, 2, 4}},
      {"plane7", {3, 3, 1, 7}},
      {"plane15", {3, 3, 3, 5}},
      {"plane16", {3, 3, 4, 4}},
      {"plane17", {3, 3, 1, 17}},
      {"plane33", {2, 3, 3, 11}},
      {"plane130", {1, 2, 10, 13}},
      {"rank2", {8, 5}},
      {"rank2_odd", {17, 9}},
      {"rank2_one_channel", {16, 1}},
      {"rank3", {4, 5, 7}},
      {"rank3_wide", {2, 3, 65}},
      {"rank5", {2, 3, 2, 3, 4}},
      {"rank5_deep", {2, 2, 5, 2, 3}},
      // Many values per channel: several pieces of a reduction.
      {"many_rows", {601, 3}},
      {"many_pixels", {2, 2, 20, 25}},
  };
  return list;
}

const std::vector<Case>& layer_cases() {
  static const std::vector<Case> list = {
      {"plain", {4, 10}, 1e-5},      {"mindspore_eps", {4, 10}, 1e-7},   {"eps_large", {4, 10}, 0.5}, {"rank1", {12}, 1e-5},      {"rank3", {2, 3, 8}, 1e-5},
      {"rank4", {2, 3, 2, 6}, 1e-5}, {"rank5", {2, 1, 2, 3, 5}, 1e-5},   {"one_row", {1, 9}, 1e-5},   {"width2", {5, 2}, 1e-2},   {"width3", {5, 3}, 1e-3},
      {"no_rows", {0, 5}, 1e-5},     {"no_rows_rank3", {2, 0, 5}, 1e-5}, {"width7", {3, 7}, 1e-5},    {"width8", {3, 8}, 1e-5},   {"width9", {3, 9}, 1e-5},
      {"width15", {3, 15}, 1e-5},    {"width16", {3, 16}, 1e-5},         {"width17", {3, 17}, 1e-5},  {"width31", {3, 31}, 1e-5}, {"width32", {3, 32}, 1e-5},
      {"width33", {3, 33}, 1e-5},    {"width63", {2, 63}, 1e-5},         {"width64", {2, 64}, 1e-5},  {"width65", {2, 65}, 1e-5}, {"width257", {3, 257}, 1e-5},
      {"rows17", {17, 5}, 1e-5},     {"rows70", {70, 6}, 1e-5},          {"rows130", {130, 4}, 1e-4},
  };
  return list;
}

Sample batch_sample(const std::string& op, const Case& c) {
  const Shape channels = {c.x[1]};
  if (op == "batch_norm_train") return {op, c.name, {{"eps", c.eps}}, {{c.x}, {channels}, {channels}}};
  if (op == "batch_norm_infer")
    return {
        .op = op, .name = c.name, .attrs = {{"eps", c.eps}}, .args = {{c.x}, {channels}, {channels}, {channels}, {channels, 0.1, 3}}, .no_gradient = {3, 4}};
  // The op's gradient assumes that mean and var are those of x, which they are not here: norm_test.cc differentiates twice through x.
  return {.op = op, .name = c.name, .attrs = {{"eps", c.eps}}, .args = {{c.x}, {c.x}, {channels}, {channels}, {channels, 0.1, 3}}, .gradient = false};
}

Sample layer_sample(const std::string& op, const Case& c, int64_t axis, const std::string& suffix = "") {
  const int first = static_cast<int>(axis < 0 ? axis + c.x.rank() : axis);
  const Shape width(c.x.span().subspan(static_cast<size_t>(first)));
  Shape rows = c.x;
  for (int i = first; i < rows.rank(); ++i) rows[i] = 1;
  const AttrFields attrs = {{"begin_norm_axis", axis}, {"eps", c.eps}};
  if (op == "layer_norm") return {op, c.name + suffix, attrs, {{c.x}, {width}, {width}}};
  return {.op = op, .name = c.name + suffix, .attrs = attrs, .args = {{c.x}, {c.x}, {width}, {rows}, {rows, 0.3, 3}}, .gradient = false};
}

void add_masks(const Case& c, std::vector<Sample>* s) {
  const Shape channels = {c.x[1]};
  s->push_back({.op = "batch_norm_relu",
                .name = c.name + "_mask",
                .attrs = {{"eps", c.eps}, {"mask", true}},
                .args = {{c.x}, {channels}, {channels}, {c.x}},
                .gradient = false,
                .half = false});
  for (const bool sum : {false, true}) {
    std::vector<Arg> args = {{c.x}, {c.x}, {channels}, {channels}, {channels}, {channels, 0.1, 3}, {Shape{(c.x.numel() + 7) / 8}, 0, 255, DType::kUInt8}};
    if (sum) args.push_back({c.x});
    s->push_back({.op = "batch_norm_relu_grad",
                  .name = c.name + (sum ? "_mask_sum" : "_mask"),
                  .attrs = {{"eps", c.eps}, {"residual", true}, {"sum", sum}, {"mask", true}},
                  .args = args,
                  .gradient = false,
                  .half = !sum,
                  .torch = false});
  }
}

std::vector<Sample> all() {
  std::vector<Sample> s;
  for (const std::string op : {"batch_norm_train", "batch_norm_infer", "batch_norm_grad"}) {
    for (const Case& c : batch_cases()) s.push_back(batch_sample(op, c));
  }
  // Rounding between the steps cancels digits in half types, and moves the point where relu switches: tests/graph/fuse_norm_act_test.cc compares them with the
  // separate ops.
  for (const Case& c : batch_cases()) {
    const Shape channels = {c.x[1]};
    s.push_back({.op = "batch_norm_relu", .name = c.name, .attrs = {{"eps", c.eps}}, .args = {{c.x}, {channels}, {channels}}, .gradient = false});
    s.push_back({.op = "batch_norm_relu",
                 .name = c.name + "_residual",
                 .attrs = {{"eps", c.eps}},
                 .args = {{c.x}, {channels}, {channels}, {c.x}},
                 .gradient = false,
                 .half = false});
    // A mask follows the order of memory, so it differs between the layouts: for rank 4 see tests/ops/device_shapes_test.cc.
    if (c.x.rank() != 4) add_masks(c, &s);
    for (const bool residual : {false, true}) {
      for (const bool sum : {false, true}) {
        std::vector<Arg> args = {{c.x}, {c.x}, {channels}, {channels}, {channels}, {channels, 0.1, 3}};
        args.resize(args.size() + (residual ? 1 : 0) + (sum ? 1 : 0), Arg{c.x});
        s.push_back({.op = "batch_norm_relu_grad",
                     .name = c.name + (residual ? "_residual" : "") + (sum ? "_sum" : ""),
                     .attrs = {{"eps", c.eps}, {"residual", residual}, {"sum", sum}},
                     .args = args,
                     .gradient = false,
                     .half = residual && !sum,
                     .torch = false});
      }
    }
  }
  // The statistics of no values are NaN, those of one value are the value; PyTorch refuses both.
  s.push_back({.op = "batch_norm_train", .name = "no_values", .args = {{{0, 3, 2, 2}}, {{3}}, {{3}}}, .gradient = false, .torch = false});
  s.push_back({.op = "batch_norm_train", .name = "one_value", .args = {{{1, 3, 1, 1}}, {{3}}, {{3}}}, .torch = false});
  s.push_back(batch_sample("batch_norm_infer", {"no_values", {0, 3, 2, 2}}));
  for (const std::string op : {"layer_norm", "layer_norm_grad"}) {
    for (const Case& c : layer_cases()) s.push_back(layer_sample(op, c, -1));
    s.push_back(layer_sample(op, {"rank3", {2, 3, 8}, 1e-5}, 1, "_from_1"));
    s.push_back(layer_sample(op, {"rank4", {2, 3, 2, 5}, 1e-5}, -2, "_last_two"));
    s.push_back(layer_sample(op, {"rank3", {2, 3, 4}, 1e-5}, 0, "_everything"));
  }
  // One value per row: y = beta.
  s.push_back({.op = "layer_norm", .name = "width1", .attrs = {{"eps", 1e-2}}, .args = {{{4, 1}}, {{1}}, {{1}}}});
  return s;
}

const bool kSamples = add_samples(all());

}  // namespace
}  // namespace sindri::test::norm_samples
