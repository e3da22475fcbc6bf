// Samples of the elementwise ops: one line per op, over shapes around the vector width and, for two inputs, broadcasts.
#include <limits>

#include "tests/ops/samples.h"

namespace sindri::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct NamedShape {
  const char* name;
  Shape shape;
};
const std::vector<NamedShape>& shapes() {
  static const std::vector<NamedShape> list = {
      {"scalar", {}},
      {"one", {1}},
      {"empty", {0, 3}},
      {"n7", {7}},
      {"n8", {8}},
      {"n9", {9}},
      {"n15", {15}},
      {"n16", {16}},
      {"n17", {17}},
      {"n31", {31}},
      {"n33", {33}},
      {"plain", {3, 5}},
      {"images", {2, 3, 4, 5}},
      {"channels16", {1, 16, 3, 2}},
  };
  return list;
}

struct NamedPair {
  const char* name;
  Shape a, b;
};
const std::vector<NamedPair>& pairs() {
  static const std::vector<NamedPair> list = {
      {"same", {3, 5}, {3, 5}},
      {"scalars", {}, {}},
      {"one", {1}, {1}},
      {"empty", {0, 3}, {3}},
      {"scalar_right", {17}, {}},
      {"scalar_left", {}, {15}},
      {"row", {4, 9}, {9}},
      {"column", {7, 5}, {7, 1}},
      {"outer", {8, 1}, {1, 16}},
      {"channel", {2, 3, 4, 5}, {3, 1, 1}},
      {"channel_left", {1, 17, 1, 1}, {2, 17, 2, 3}},
      {"images", {2, 3, 4, 5}, {2, 3, 4, 5}},
      {"one_image", {2, 3, 2, 5}, {3, 2, 5}},
      {"pixels", {2, 8, 3, 3}, {2, 1, 3, 3}},
      {"middle", {3, 1, 7}, {3, 4, 1}},
      {"n31", {31}, {31}},
      {"n33", {33}, {33}},
      {"row_images", {2, 3, 4, 9}, {9}},
  };
  return list;
}

// Values in a range without kinks; `tolerance` is for functions whose derivatives grow.
bool unary(const std::string& op, double lo, double hi, const char* kind = "uniform", AttrFields attrs = {}, const std::string& prefix = "",
           bool gradient = true) {
  std::vector<Sample> out;
  for (const NamedShape& s : shapes()) {
    Sample x{op, prefix + s.name, attrs, {{.shape = s.shape, .lo = lo, .hi = hi, .kind = kind}}};
    x.gradient = gradient;
    out.push_back(x);
  }
  return add_samples(out);
}
bool unary_typed(const std::string& op, double lo, double hi, const std::vector<DType>& types, AttrFields attrs = {}) {
  std::vector<Sample> out;
  for (DType t : types) out.push_back({op, std::string(dtype_name(t)), attrs, {{.shape = {2, 17}, .lo = lo, .hi = hi, .dtype = t, .kind = "integers"}}});
  return add_samples(out);
}
bool binary(const std::string& op, Arg a, Arg b, AttrFields attrs = {}, bool gradient = true, const std::string& prefix = "") {
  std::vector<Sample> out;
  for (const NamedPair& p : pairs()) {
    a.shape = p.a;
    b.shape = p.b;
    Sample x{op, prefix + p.name, attrs, {a, b}};
    x.gradient = gradient;
    out.push_back(x);
  }
  return add_samples(out);
}
bool binary_typed(const std::string& op, double lo, double hi, const std::vector<DType>& types) {
  std::vector<Sample> out;
  for (DType t : types) {
    const Arg a{.shape = {3, 9}, .lo = lo, .hi = hi, .dtype = t, .kind = "integers"}, b{.shape = {9}, .lo = lo, .hi = hi, .dtype = t, .kind = "integers"};
    out.push_back({op, std::string(dtype_name(t)), {}, {a, b}});
  }
  return add_samples(out);
}
Arg ranged(double lo, double hi, const char* kind = "uniform") { return {.shape = {}, .lo = lo, .hi = hi, .kind = kind}; }
// The gradient op of an activation: any incoming gradient, and values of the tensor that the activation saved.
bool activation_grad(const std::string& op, double lo, double hi, const char* kind = "uniform", AttrFields attrs = {}, const std::string& prefix = "") {
  return binary(op, ranged(-2, 2), ranged(lo, hi, kind), attrs, true, prefix);
}

const std::vector<DType> kNumbers = {DType::kUInt8, DType::kInt32, DType::kInt64}, kSigned = {DType::kInt32, DType::kInt64};
const std::vector<DType> kIntegers = {DType::kBool, DType::kUInt8, DType::kInt32, DType::kInt64};

const bool kUnary[] = {
    unary("neg", -2, 2),
    unary("abs", -2, 2, "away0"),
    unary("sign", -2, 2, "away0", {}, "", false),
    unary("square", -2, 2),
    unary("floor", -3, 3, "uniform", {}, "", false),
    unary("ceil", -3, 3, "uniform", {}, "", false),
    unary("round", -3, 3, "uniform", {}, "", false),
    unary("exp", -3, 3),
    unary("expm1", -1, 1),
    unary("log", 0.2, 4),
    unary("log1p", -0.7, 2),
    unary("sqrt", 0.2, 4),
    unary("rsqrt", 0.3, 4),
    unary("reciprocal", 0.3, 3),
    unary("sin", -4, 4),
    unary("cos", -4, 4),
    unary("erf", -2.5, 2.5),
    unary("tanh", -3, 3),
    unary("sigmoid", -5, 5),
    unary("relu", -2, 2, "away0"),
    unary("relu6", -2, 2, "away0"),
    unary("relu6", 5.85, 9, "distinct", {}, "above_"),
    unary("leaky_relu", -2, 2, "away0"),
    unary("leaky_relu", -2, 2, "away0", {{"alpha", 0.01}}, "small_slope_"),
    unary("elu", -2, 2, "away0"),
    unary("elu", -2, 2, "away0", {{"alpha", 0.5}}, "half_"),
    unary("gelu", -3, 3),
    unary("gelu", -3, 3, "uniform", {{"approximate", false}}, "exact_"),
    unary("silu", -4, 4),
    unary("softplus", -5, 5),
    unary("hswish", -2.9, 2.9),
    unary("hswish", 3.1, 5, "uniform", {}, "above_"),
    unary("hsigmoid", -2.9, 2.9),
    unary("hsigmoid", -6, -3.1, "uniform", {}, "below_"),
    unary("clamp", -0.9, 1.4, "uniform", {{"lo", -1.0}, {"hi", 1.5}}, "inside_"),
    unary("clamp", 1.6, 3, "uniform", {{"lo", -1.0}, {"hi", 1.5}}, "above_"),
    unary("clamp", -2, 2, "away0", {{"lo", 0.0}, {"hi", kInf}}, "open_"),
    unary("logical_not", -2, 2),
    unary("isnan", -2, 2),
    unary("isfinite", -2, 2),
};
const bool kUnaryIntegers[] = {
    unary_typed("neg", 0, 100, kNumbers),        unary_typed("abs", -100, 100, kSigned),
    unary_typed("sign", -3, 3, kSigned),         unary_typed("square", -9, 9, kSigned),
    unary_typed("floor", -9, 9, kSigned),        unary_typed("ceil", -9, 9, kSigned),
    unary_typed("round", -9, 9, kSigned),        unary_typed("relu", -9, 9, kSigned),
    unary_typed("relu6", -9, 9, kSigned),        unary_typed("clamp", -9, 9, kSigned, {{"lo", -2.0}, {"hi", 3.0}}),
    unary_typed("logical_not", 0, 2, kIntegers), unary_typed("isnan", 0, 2, kIntegers),
    unary_typed("isfinite", 0, 2, kIntegers),
};

// Far enough apart that no pair lies within the step of a difference quotient.
const Arg kAny = ranged(-2, 2), kPositive = ranged(0.3, 3), kWhole = ranged(-4, 4, "integers");
const bool kBinary[] = {
    binary("add", kAny, kAny),
    binary("sub", kAny, kAny),
    binary("mul", kAny, kAny),
    binary("div", kAny, kPositive),
    binary("div", kAny, ranged(-3, -0.3), {}, true, "negative_"),
    binary("pow", kPositive, kAny),
    binary("maximum", kAny, ranged(-2.001, 2.003)),
    binary("minimum", kAny, ranged(-2.001, 2.003)),
    binary("floor_div", ranged(-40, 40), ranged(2, 7, "integers"), {}, false),
    binary("mod", ranged(0.1, 0.9), ranged(1, 3)),
    binary("mod", ranged(0.1, 0.9), ranged(-3, -1), {}, true, "negative_"),
    binary("larger_share", kAny, kAny, {}, false),
    binary("equal", kWhole, kWhole),
    binary("not_equal", kWhole, kWhole),
    binary("less", kWhole, kWhole),
    binary("less_equal", kWhole, kWhole),
    binary("greater", kWhole, kWhole),
    binary("greater_equal", kWhole, kWhole),
    binary("logical_and", kWhole, kWhole),
    binary("logical_or", kWhole, kWhole),
    binary("logical_xor", kWhole, kWhole),
};
const bool kBinaryIntegers[] = {
    binary_typed("add", -100, 100, kSigned),
    binary_typed("sub", -100, 100, kSigned),
    binary_typed("mul", -100, 100, kSigned),
    binary_typed("floor_div", -9, 9, kSigned),
    binary_typed("mod", -9, 9, kSigned),
    binary_typed("pow", -3, 6, kSigned),
    binary_typed("maximum", 0, 9, kNumbers),
    binary_typed("minimum", 0, 9, kNumbers),
    binary_typed("equal", 0, 3, kIntegers),
    binary_typed("not_equal", 0, 3, kIntegers),
    binary_typed("less", 0, 3, kIntegers),
    binary_typed("less_equal", 0, 3, kIntegers),
    binary_typed("greater", 0, 3, kIntegers),
    binary_typed("greater_equal", 0, 3, kIntegers),
    binary_typed("logical_and", 0, 2, kIntegers),
    binary_typed("logical_or", 0, 2, kIntegers),
    binary_typed("logical_xor", 0, 2, kIntegers),
    binary_typed("bitwise_and", 0, 100, kIntegers),
    binary_typed("bitwise_or", 0, 100, kIntegers),
    binary_typed("bitwise_xor", 0, 100, kIntegers),
    binary_typed("bitwise_left_shift", -9, 9, kSigned),
    binary_typed("bitwise_right_shift", -99, 9, kSigned),
};

const bool kActivationGradients[] = {
    activation_grad("relu_grad", -2, 2, "away0"),
    activation_grad("relu6_grad", 0.1, 5.9),
    activation_grad("tanh_grad", -0.9, 0.9),
    activation_grad("sigmoid_grad", 0.1, 0.9),
    activation_grad("leaky_relu_grad", -2, 2, "away0"),
    activation_grad("elu_grad", -2, 2, "away0"),
    activation_grad("elu_grad", -2, 2, "away0", {{"alpha", 0.5}}, "half_"),
    activation_grad("gelu_grad", -3, 3),
    activation_grad("gelu_grad", -3, 3, "uniform", {{"approximate", false}}, "exact_"),
    activation_grad("silu_grad", -4, 4),
    activation_grad("hswish_grad", -2.9, 2.9),
    activation_grad("hsigmoid_grad", -2.9, 2.9),
    activation_grad("clamp_grad", -0.9, 1.4, "uniform", {{"lo", -1.0}, {"hi", 1.5}}),
};

Arg condition(Shape shape) { return {.shape = shape, .lo = 0, .hi = 2, .dtype = DType::kBool, .kind = "integers"}; }
const bool kWhere = add_samples({
    {"where", "same", {}, {condition({3, 5}), {{3, 5}}, {{3, 5}}}},
    {"where", "scalars", {}, {condition({}), {{}}, {{}}}},
    {"where", "empty", {}, {condition({0, 2}), {{2}}, {{}}}},
    {"where", "one", {}, {condition({1}), {{1}}, {{1}}}},
    {"where", "condition_row", {}, {condition({9}), {{4, 9}}, {{4, 1}}}},
    {"where", "scalar_branches", {}, {condition({33}), {{}}, {{}}}},
    {"where", "images", {}, {condition({2, 3, 4, 5}), {{2, 3, 4, 5}}, {{3, 1, 1}}}},
    {"where", "condition_channel", {}, {condition({3, 1, 1}), {{2, 3, 4, 5}}, {{}}}},
    {"where", "n17", {}, {condition({17}), {{17}}, {{17}}}},
    {"where", "outer", {}, {condition({7, 1}), {{1, 8}}, {{7, 8}}}},
    {"where",
     "int64",
     {},
     {condition({15}), {.shape = {15}, .lo = -9, .hi = 9, .dtype = DType::kInt64}, {.shape = {}, .lo = -9, .hi = 9, .dtype = DType::kInt64}}},
    {"where",
     "uint8",
     {},
     {condition({16}), {.shape = {16}, .lo = 0, .hi = 9, .dtype = DType::kUInt8}, {.shape = {16}, .lo = 0, .hi = 9, .dtype = DType::kUInt8}}},
});

bool casts() {
  std::vector<Sample> out;
  for (int from = 0; from < kNumDTypes; ++from) {
    for (int to = 0; to < kNumDTypes; ++to) {
      const auto f = static_cast<DType>(from), t = static_cast<DType>(to);
      const bool whole = is_integral(f);
      out.push_back({"cast",
                     std::string(dtype_name(f)) + "_" + dtype_name(t),
                     {{"dtype", t}},
                     {{.shape = {2, 3, 3, 5}, .lo = whole ? 0.0 : -3.0, .hi = f == DType::kBool ? 2.0 : 100.0, .dtype = f}}});
    }
  }
  out.push_back({"cast", "to_double", {{"dtype", DType::kFloat64}}, {{{2, 9}}}});
  out.push_back({"cast", "scalar", {{"dtype", DType::kFloat64}}, {{{}}}});
  out.push_back({"cast", "empty", {{"dtype", DType::kFloat64}}, {{{0, 3}}}});
  return add_samples(out);
}
const bool kCasts = casts();

}  // namespace
}  // namespace sindri::test
