// Samples of the reductions and of the ops along one axis.
#include <limits>

#include "tests/ops/samples.h"

namespace sindri::test::reduce_samples {
namespace {

using Ints = std::vector<int64_t>;
constexpr double kInf = std::numeric_limits<double>::infinity();

struct Case {
  const char* name;
  Shape shape;
  Ints axes;
  bool keep_dims;
};
const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"all", {4, 9}, {}, false},
      {"all_kept", {4, 9}, {}, true},
      {"rows", {5, 17}, {1}, false},
      {"rows_kept", {5, 17}, {-1}, true},
      {"columns", {7, 16}, {0}, false},
      {"columns_kept", {31, 3}, {0}, true},
      {"scalar", {}, {}, false},
      {"one", {1}, {0}, false},
      {"channel", {2, 3, 4, 5}, {0, 2, 3}, false},
      {"channel_kept", {2, 17, 3, 2}, {0, 2, 3}, true},
      {"pixels", {2, 3, 4, 5}, {2, 3}, false},
      {"pixels_kept", {2, 8, 3, 3}, {-2, -1}, true},
      {"batch", {4, 3, 2, 5}, {0}, false},
      {"batch_kept", {4, 3, 2, 5}, {0}, true},
      {"over_channels", {2, 5, 3, 4}, {1}, false},
      {"over_channels_kept", {2, 5, 3, 4}, {1}, true},
      {"middle", {3, 8, 5}, {1}, false},
      {"ends", {3, 8, 5}, {0, 2}, false},
      {"size1_axis", {3, 1, 9}, {1}, false},
      {"n31", {31}, {}, false},
      {"n33", {33}, {0}, false},
      {"unsorted_axes", {2, 3, 4}, {2, 0}, false},
      {"rank5", {2, 3, 2, 3, 2}, {1, 3}, false},
      {"empty_kept", {0, 3}, {1}, false},
  };
  return list;
}

bool reduction(const std::string& op, const char* kind = "uniform", double lo = -2, double hi = 2, AttrFields attrs = {}, const std::string& prefix = "",
               bool half = true) {
  std::vector<Sample> out;
  for (const Case& c : cases()) {
    Sample s{op, prefix + c.name, attrs, {{.shape = c.shape, .lo = lo, .hi = hi, .kind = kind}}};
    s.attrs.push_back({"axes", c.axes});
    s.attrs.push_back({"keep_dims", c.keep_dims});
    s.half = half;
    out.push_back(s);
  }
  return add_samples(out);
}
bool integer_reduction(const std::string& op, const std::vector<DType>& types, double lo, double hi) {
  std::vector<Sample> out;
  for (DType t : types)
    out.push_back(
        {op, std::string(dtype_name(t)), {{"axes", Ints{1}}}, {{.shape = {3, 7}, .lo = lo, .hi = t == DType::kBool ? 2 : hi, .dtype = t, .kind = "integers"}}});
  return add_samples(out);
}
const std::vector<DType> kIntegers = {DType::kBool, DType::kUInt8, DType::kInt32, DType::kInt64};

// Largest and smallest need distinct values: at a tie the gradient is not a derivative.
const bool kReductions[] = {
    reduction("sum"),
    reduction("mean"),
    reduction("prod", "away0", -1.5, 1.5),
    reduction("max", "distinct"),
    reduction("min", "distinct"),
    reduction("norm", "away0", -2, 2, {{"p", 1.0}}, "l1_"),
    reduction("norm", "away0", -2, 2, {{"p", 2.0}}, "l2_"),
    reduction("norm", "distinct", 1, 3, {{"p", kInf}}, "max_"),
    reduction("logsumexp"),
    reduction("any", "integers", 0, 2),
    reduction("all", "integers", 0, 2),
    integer_reduction("sum", kIntegers, 0, 200),
    integer_reduction("prod", kIntegers, 0, 4),
    integer_reduction("max", kIntegers, 0, 200),
    integer_reduction("min", kIntegers, 0, 200),
    integer_reduction("any", kIntegers, 0, 2),
    integer_reduction("all", kIntegers, 0, 2),
};
const bool kEmptyExtents = add_samples({
    {"sum", "of_nothing", {{"axes", Ints{0}}}, {{{0, 3}}}},
    {"mean", "of_nothing", {{"axes", Ints{0}}}, {{{0, 3}}}, false},
    {"prod", "of_nothing", {{"axes", Ints{0}}}, {{{0, 3}}}},
    {"norm", "of_nothing", {{"axes", Ints{0}}}, {{{0, 3}}}},
    {"logsumexp", "of_nothing", {{"axes", Ints{0}}}, {{{0, 3}}}},
    {"any", "of_nothing", {{"axes", Ints{0}}}, {{{0, 3}}}},
    {"all", "of_nothing", {{"axes", Ints{0}}}, {{{0, 3}}}},
});

struct AxisCase {
  const char* name;
  Shape shape;
  int64_t axis;
};
const std::vector<AxisCase>& axis_cases() {
  static const std::vector<AxisCase> list = {{"last", {4, 9}, -1},       {"first", {17, 3}, 0}, {"middle", {2, 7, 5}, 1}, {"images", {2, 8, 3, 3}, 1},
                                             {"width", {2, 3, 4, 5}, 3}, {"one", {1}, 0},       {"n16", {16}, 0},         {"n33", {33}, 0},
                                             {"size1", {5, 1}, 1},       {"no_rows", {0, 3}, 1}};
  return list;
}
bool along_axis() {
  std::vector<Sample> out;
  for (const AxisCase& c : axis_cases()) {
    const Arg distinct{.shape = c.shape, .kind = "distinct"};
    for (const char* op : {"argmax", "argmin"}) {
      out.push_back({op, c.name, {{"axis", c.axis}}, {distinct}});
      out.push_back({op, std::string(c.name) + "_kept", {{"axis", c.axis}, {"keep_dims", true}}, {distinct}});
    }
    out.push_back({"cumsum", c.name, {{"axis", c.axis}}, {{c.shape}}});
    out.push_back({"cumsum", std::string(c.name) + "_reverse", {{"axis", c.axis}, {"reverse", true}}, {{c.shape}}});
    out.back().torch = false;
    out.push_back({"cumprod", c.name, {{"axis", c.axis}}, {{c.shape}}});
    out.push_back({"cumprod", std::string(c.name) + "_reverse", {{"axis", c.axis}, {"reverse", true}}, {{c.shape}}});
    for (const auto& [suffix, reverse, late] : {std::tuple{"", false, false}, {"_reverse", true, false}, {"_late", false, true}, {"_both", true, true}})
      out.push_back({"linear_scan", std::string(c.name) + suffix, {{"axis", c.axis}, {"reverse", reverse}, {"late", late}}, {{c.shape}, {c.shape}}});
    const int64_t k = (c.shape.dim(c.axis) + 1) / 2;
    out.push_back({"topk", c.name, {{"k", k}, {"axis", c.axis}}, {distinct}});
    out.push_back({"topk", std::string(c.name) + "_smallest", {{"k", k}, {"axis", c.axis}, {"largest", false}}, {distinct}});
  }
  for (DType t : kIntegers)
    out.push_back({"cumsum", std::string(dtype_name(t)), {}, {{.shape = {3, 7}, .lo = 0, .hi = t == DType::kBool ? 2.0 : 9.0, .dtype = t}}});
  for (DType t : kIntegers) {
    if (t == DType::kBool) continue;
    out.push_back({"cumprod", std::string(dtype_name(t)), {}, {{.shape = {3, 20}, .lo = 1, .hi = 9, .dtype = t}}});
    out.back().torch = false;  // which multiplies in int64
  }
  for (Sample& s : out) s.half = s.op == "cumsum" || s.op == "cumprod" || s.op == "linear_scan";  // in half types distinct values may meet
  return add_samples(out);
}
const bool kAlongAxis = along_axis();

Arg places(Shape shape, std::vector<double> values) { return {.shape = shape, .dtype = DType::kInt64, .values = std::move(values)}; }
const bool kTopkGradients = add_samples({
    {.op = "searchsorted", .name = "vector", .args = {{.shape = {5}, .values = {-1.5, -0.5, -0.5, 0.25, 1.5}}, {{3, 4}}}, .gradient = false, .torch = false},
    {.op = "searchsorted",
     .name = "right",
     .attrs = {{"right", true}},
     .args = {{.shape = {3}, .values = {-1, 0, 1}}, {.shape = {4}, .values = {-1, 0, 1, 2}}},
     .gradient = false,
     .torch = false},
    {.op = "searchsorted", .name = "rows", .args = {{.shape = {2, 3}, .values = {-1, 0, 1, 0, 1, 2}}, {{2, 4}}}, .gradient = false, .torch = false},
    {.op = "searchsorted", .name = "nothing", .args = {{{0}}, {{2}}}, .gradient = false, .torch = false},
    {"topk_grad", "last", {{"size", int64_t{5}}}, {{{2, 2}}, places({2, 2}, {4, 0, 1, 3})}},
    {"topk_grad", "first", {{"size", int64_t{3}}, {"axis", int64_t{0}}}, {{{2, 3}}, places({2, 3}, {0, 1, 2, 2, 0, 1})}},
    {"topk_grad", "middle", {{"size", int64_t{4}}, {"axis", int64_t{1}}}, {{{1, 2, 2}}, places({1, 2, 2}, {3, 1, 0, 2})}},
    {"topk_grad", "one", {{"size", int64_t{1}}}, {{{1}}, places({1}, {0})}},
    {"topk_grad", "all", {{"size", int64_t{3}}}, {{{3}}, places({3}, {2, 0, 1})}},
    {"topk_grad", "none", {{"size", int64_t{3}}}, {{{2, 0}}, places({2, 0}, {})}},
    {"topk_grad", "no_rows", {{"size", int64_t{3}}}, {{{0, 2}}, places({0, 2}, {})}},
    {"topk_grad", "scalar", {}, {{{}}, places({}, {0})}},
});

}  // namespace
}  // namespace sindri::test::reduce_samples
