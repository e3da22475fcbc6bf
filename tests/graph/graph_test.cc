// Building, rewriting, printing, parsing and checking graphs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "sindri/core/error.h"
#include "sindri/graph/graph.h"
#include "tests/graph/test_ops.h"

namespace sindri {
namespace {

using namespace test;

TensorMeta f32(const Shape& s, Layout layout = Layout::kContiguous) { return {s, DType::kFloat32, layout, {}}; }
ValueId append(Graph& g, const char* op, std::vector<ValueId> in, const AttrFields& attrs = {}) {
  const OpDef& def = find_op(op);
  return g.node(g.append(def, def.attrs.make(attrs), in)).out[0];
}

TEST(Graph, AppendInfersMetasAndConvertsLayouts) {
  Graph g;
  const ValueId x = g.add_input(f32({1, 2, 3, 4}));
  const ValueId y = append(g, "test_nhwc", {x});
  EXPECT_EQ(g.value(y).meta, f32({1, 2, 3, 4}, Layout::kChannelsLast));
  ASSERT_EQ(g.order().size(), 2u);
  EXPECT_STREQ(g.node(g.order()[0]).op->name, "to_layout");
  EXPECT_THROW(append(g, "test_add", {x, g.add_input(f32({2}))}), ShapeError);
  verify_graph(g, "appending");
}

TEST(Graph, AppendInFrontOfANode) {
  Graph g;
  const ValueId x = g.add_input(f32({2}));
  const ValueId y = append(g, "test_relu", {x});
  const NodeId last = g.value(y).producer;
  const NodeId first = g.append(find_op("test_relu"), Attrs(), {&x, 1}, "", last);
  EXPECT_EQ(g.order(), (std::vector<NodeId>{first, last}));
}

TEST(Graph, ReplaceUsesMovesOperandsOutputsAndStates) {
  Graph g;
  const ValueId x = g.add_input(f32({2})), s = g.add_state(nullptr, "s", f32({2})), z = g.add_input(f32({2}));
  const ValueId square = append(g, "test_mul", {x, x});
  g.set_outputs({x, square});
  g.set_written(0, x);
  g.replace_uses(x, z);
  EXPECT_EQ(g.node(0).in, (std::vector<ValueId>{z, z}));
  EXPECT_EQ(g.value(z).users, (std::vector<NodeId>{0, 0}));
  EXPECT_EQ(g.outputs(), (std::vector<ValueId>{z, square}));
  EXPECT_EQ(g.states()[0].written, z);
  EXPECT_EQ(g.states()[0].read, s);
  verify_graph(g, "replacing");
  EXPECT_THROW(g.replace_uses(z, g.add_input(f32({3}))), InternalError);
}

TEST(Graph, EraseRefusesWhatIsStillRead) {
  Graph g;
  const ValueId x = g.add_input(f32({2})), c = g.add_constant(vec({1, 2}));
  const ValueId y = append(g, "test_add", {x, c}), z = append(g, "test_relu", {y});
  g.set_outputs({z});
  EXPECT_THROW(g.erase(g.value(y).producer), InternalError);
  EXPECT_THROW(g.erase(g.value(z).producer), InternalError);
  EXPECT_THROW(g.erase_unused(c), InternalError);
  EXPECT_THROW(g.erase_unused(x), InternalError);
  g.set_outputs({x});
  g.erase(g.value(z).producer);
  g.erase(g.value(y).producer);
  g.erase_unused(c);
  EXPECT_TRUE(g.order().empty() && g.constants().empty());
  verify_graph(g, "erasing");
}

// ----- text -----

void expect_round_trip(const Graph& g) {
  std::vector<Tensor> pool;
  const std::string text = g.text(&pool);
  const Graph back = parse_graph(text, pool);
  verify_graph(back, "parsing");
  EXPECT_EQ(back.text(), text);
  ASSERT_EQ(back.constants().size(), g.constants().size());
  for (size_t i = 0; i < g.constants().size(); ++i) EXPECT_TRUE(same_bits(g.value(g.constants()[i]).constant, back.value(back.constants()[i]).constant)) << i;
}

TEST(GraphText, PrintsInputsStatesConstantsNodesAndScopes) {
  Graph g("step");
  const ValueId x = g.add_input(f32({1, 2, 3, 4}, Layout::kChannelsLast));
  const ValueId w = g.add_state(nullptr, "fc.\"w\"", f32({2}));
  const ValueId c = g.add_constant(vec({0.5, -3}));
  append(g, "test_nchw", {x});
  const ValueId in[] = {w, c};
  const ValueId y = g.node(g.append(find_op("test_add"), Attrs(), in, "Net/fc")).out[0];
  const ValueId z = append(g, "test_full", {}, {{"shape", Shape{2, 3}}, {"value", 1e30}});
  g.set_written(0, y);
  g.set_outputs({z, x});
  EXPECT_EQ(g.text(), R"(graph "step" {
  %0 = input : f32[1, 2, 3, 4]:channels_last
  %1 = state "fc.\"w\"" : f32[2]
  %2 = constant : f32[2] = {0.5, -3}
  %3 = to_layout(%0) {layout="contiguous"} : f32[1, 2, 3, 4]
  %4 = test_nchw(%3) : f32[1, 2, 3, 4]
  %5 = test_add(%1, %2) : f32[2] @ "Net/fc"
  %6 = test_full() {shape=[2, 3], value=1e+30} : f32[2, 3]
  state %1 <- %5
  return %6, %0
}
)");
  expect_round_trip(g);
}

TEST(GraphText, ConstantsKeepTheirBits) {
  Graph g;
  const float f = std::numeric_limits<float>::infinity(), denormal = 1e-42f, third = 1.0f / 3, tie = std::nextafterf(1.0f, 2);
  uint32_t payload = 0xffc12345;
  float nan;
  std::memcpy(&nan, &payload, 4);
  g.add_constant(Tensor::from_vector<float>({8}, {f, -f, nan, -0.0f, denormal, third, tie, std::numeric_limits<float>::max()}));
  g.add_constant(Tensor::from_vector<double>({3}, {0.1, 5e-324, std::nan("")}));
  g.add_constant(Tensor::from_values({4}, {0.1, -65504, 6e-8, std::nan("")}, DType::kFloat16));
  g.add_constant(Tensor::from_values({3}, {0.1, 3e38, -1e-40}, DType::kBFloat16));
  g.add_constant(Tensor::from_vector<int64_t>({2}, {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}));
  g.add_constant(Tensor::from_values({2}, {1, 0}, DType::kBool));
  g.add_constant(Tensor::from_values({2}, {255, 0}, DType::kUInt8));
  g.add_constant(Tensor::from_values({0, 3}, {}));
  g.add_constant(Tensor::scalar(-2.5));
  g.add_constant(Tensor::full({17}, 0.25));
  g.add_constant(Tensor::full({100, 3}, 7, DType::kInt32));
  Tensor nhwc = Tensor::empty({1, 2, 2, 2}, DType::kFloat32, Layout::kChannelsLast);
  for (int i = 0; i < 8; ++i) nhwc.mutable_data<float>()[i] = static_cast<float>(i);
  g.add_constant(nhwc);
  expect_round_trip(g);
}

TEST(GraphText, AttributesOfEveryKindReadBack) {
  struct Case {
    const char* op;
    AttrFields attrs;
    std::vector<Shape> in;
  };
  const Case all[] = {{"transpose", {{"perm", std::vector<int64_t>{1, 0}}}, {{2, 3}}},
                      {"test_scale", {{"factor", -std::numeric_limits<double>::infinity()}}, {{2}}},
                      {"test_scale", {{"factor", 3.0}}, {{2}}},
                      {"test_full", {{"shape", Shape{}}, {"value", 0.1}}, {}},
                      {"cast", {{"dtype", DType::kBFloat16}}, {{2}}},
                      {"momentum_update", {{"nesterov", true}, {"weight_decay", 1e-4}}, {{2}, {2}, {2}, {}, {}}}};
  for (const Case& c : all) {
    Graph g;
    std::vector<ValueId> in;
    for (const Shape& s : c.in) in.push_back(g.add_input(f32(s)));
    append(g, c.op, in, c.attrs);
    expect_round_trip(g);
    EXPECT_EQ(parse_graph(g.text()).node(0).attrs, g.node(0).attrs) << g.text();
  }
}

struct BadText {
  const char* name;
  const char* text;
  const char* message;
};
const BadText kBadTexts[] = {
    {"empty", "", "expected 'graph'"},
    {"cut", "graph \"f\" {\n  %0 = input : f32[2]", "expected '='"},
    {"used_before_defined", "graph \"f\" {\n  %1 = test_relu(%0) : f32[2]\n  return\n}", "%0 is used before it is defined | line 2, column 20"},
    {"defined_twice", "graph \"f\" { %0 = input : f32[2] %0 = input : f32[2] return }", "%0 is defined twice"},
    {"unknown_op", "graph \"f\" { %0 = input : f32[2] %1 = test_rleu(%0) : f32[2] return }", "no op is named 'test_rleu'"},
    {"unknown_attribute", "graph \"f\" { %0 = input : f32[2] %1 = test_scale(%0) {fctor=2.0} : f32[2] return }", "no attribute 'fctor'"},
    {"wrong_type", "graph \"f\" { %0 = input : f32[2] %1 = test_relu(%0) : f32[3] return }", "is f32[2], the text says f32[3]"},
    {"wrong_layout", "graph \"f\" { %0 = input : f32[1, 2, 3, 4] %1 = test_nhwc(%0) : f32[1, 2, 3, 4]:channels_last return }", "another layout"},
    {"layout_of_a_matrix", "graph \"f\" { %0 = input : f32[2, 3]:channels_last return }", "not a layout of this shape"},
    {"negative_dimension", "graph \"f\" { %0 = input : f32[-1] return }", "not a shape"},
    {"rank", "graph \"f\" { %0 = input : f32[1,1,1,1,1,1,1,1,1] return }", "not a shape"},
    {"unknown_dtype", "graph \"f\" { %0 = input : f31[2] return }", "unknown element type 'f31'"},
    {"huge_constant", "graph \"f\" { %0 = constant : f32[99999999999] = {1} return }", "more elements than the text can hold"},
    {"few_elements", "graph \"f\" { %0 = constant : f32[2] = {1} return }", "expected ','"},
    {"element_range", "graph \"f\" { %0 = constant : u8[1] = {256} return }", "256 does not fit uint8"},
    {"no_pool", "graph \"f\" { %0 = constant : f32[99] = pool[0] hash 0x0 return }", "the pool holds 0 constants"},
    {"not_a_state", "graph \"f\" { %0 = input : f32[2] state %0 <- %0 return }", "that value is not a state"},
    {"outputs", "graph \"f\" { %0 = input : f32[2] %1, %2 = test_relu(%0) : f32[2], f32[2] return }", "test_relu has 1 outputs"},
    {"number", "graph \"f\" { %99999999999999999999 = input : f32[2] return }", "is not a 64-bit integer"},
    {"behind", "graph \"f\" { return } x", "text after the graph"},
};
class BadGraphText : public ::testing::TestWithParam<BadText> {};

TEST_P(BadGraphText, IsRefused) {
  try {
    parse_graph(GetParam().text);
    FAIL() << "accepted";
  } catch (const Error& e) { EXPECT_NE(std::string(e.what()).find(GetParam().message), std::string::npos) << e.what(); }
}
INSTANTIATE_TEST_SUITE_P(All, BadGraphText, ::testing::ValuesIn(kBadTexts), [](const auto& test_case) { return std::string(test_case.param.name); });

TEST(GraphText, EveryTruncationIsRefused) {
  const std::string text =
      "graph \"f\" {\n  %0 = state \"s\" : f32[2]\n  %1 = constant : f32[2] = {1, nan(0x7fc00000)}\n  %2 = test_add(%0, %1) : f32[2] @ \"a\"\n  state %0 <- "
      "%2\n  return %2\n}";
  ASSERT_NO_THROW(parse_graph(text));
  for (size_t n = 0; n < text.size(); ++n) EXPECT_THROW(parse_graph(text.substr(0, n)), Error) << n;
}

TEST(GraphText, PoolMustHoldTheSameBytes) {
  Graph g;
  g.add_constant(Tensor::full({20}, 1));
  const Tensor other[] = {Tensor::full({20}, 2)}, shape[] = {Tensor::full({21}, 1)};
  EXPECT_THROW(parse_graph(g.text(), other), ValueError);
  EXPECT_THROW(parse_graph(g.text(), shape), ValueError);
}

TEST(GraphText, StatesAreBoundToTheGivenParameters) {
  Parameter p(vec({1, 2}), "p"), wrong(vec({1}), "wrong");
  Graph g;
  g.add_state(&p, "p", p.meta());
  Parameter *good[] = {&p}, *bad[] = {&wrong};
  EXPECT_EQ(parse_graph(g.text(), {}, good).states()[0].param, &p);
  EXPECT_THROW(parse_graph(g.text(), {}, bad), ValueError);
}

}  // namespace
}  // namespace sindri
