// Passes that rewrite graphs of CUDA devices. They query no kernel, so no device is needed: the graphs are made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/graph/memory_plan.h"
#include "src/graph/passes/passes.h"

namespace sindri::device_passes {
namespace {

constexpr Device kGpu = {Device::kCuda, 0};

class DevicePasses : public ::testing::Test {
 protected:
  ValueId input(const Shape& shape, DType type = DType::kFloat32, Layout layout = Layout::kContiguous) {
    return g_.add_input({.shape = shape, .dtype = type, .layout = layout, .device = kGpu});
  }
  ValueId state(const char* name, const Shape& shape, DType type = DType::kFloat32) {
    return g_.add_state(nullptr, name, {.shape = shape, .dtype = type, .layout = Layout::kContiguous, .device = kGpu});
  }
  std::vector<ValueId> all(const char* op, std::vector<ValueId> in, AttrFields attrs = {}) {
    const OpDef& def = find_op(op);
    return g_.node(g_.append(def, def.attrs.make(std::move(attrs)), in)).out;
  }
  ValueId one(const char* op, std::vector<ValueId> in, AttrFields attrs = {}) { return all(op, std::move(in), std::move(attrs))[0]; }
  void run(std::unique_ptr<Pass> pass) {
    pass->run(g_, {});
    verify_graph(g_, pass->name());
  }
  int64_t count(const std::string& op) const {
    return std::count_if(g_.order().begin(), g_.order().end(), [&](NodeId n) { return op == g_.node(n).op->name; });
  }
  // Whether the graph has a group with these layouts.
  bool has_group(const std::string& program, const std::string& layouts) const {
    return g_.text().find("group_cluster(") != std::string::npos && g_.text().find("program=\"" + program + "\"") != std::string::npos &&
        g_.text().find("layouts=\"" + layouts + "\"") != std::string::npos;
  }

  Graph g_{"g", kGpu};
};

TEST_F(DevicePasses, WeightsAreTurnedOnceForAllTheirReaders) {
  const ValueId x = input({2, 8, 6, 6}), w = state("w", {4, 8, 3, 3}), narrow = state("narrow", {4, 8, 1, 1});
  const ValueId y = one("conv2d", {x, w}, {{"pad", std::vector<int64_t>{1, 1, 1, 1}}});
  const ValueId z = one("conv2d", {x, narrow});
  const ValueId dx = one("conv2d_input_grad", {y, w}, {{"pad", std::vector<int64_t>{1, 1, 1, 1}}, {"x_shape", Shape{2, 8, 6, 6}}});
  g_.set_outputs({y, z, dx});
  const int64_t before = count("to_layout");  // conversions of x
  run(make_turn_layouts());
  EXPECT_EQ(count("to_layout"), before + 1) << g_.text();
}

// A small operand of rank 4 is transposed instead of the large result; one of another rank cannot be.
TEST_F(DevicePasses, SmallOperandsAreTurned) {
  const ValueId dy = input({2, 8, 1, 1}), row = input({6});
  const ValueId pooled = one("adaptive_avg_pool2d_grad", {dy}, {{"h", int64_t{6}}, {"w", int64_t{6}}});
  const ValueId wide = one("broadcast_to", {row}, {{"shape", Shape{2, 8, 6, 6}}});
  const AttrFields last = {{"layout", std::string("channels_last")}};
  const ValueId a = one("to_layout", {pooled}, last), b = one("to_layout", {wide}, last);
  g_.set_outputs({a, b});
  run(make_turn_layouts());
  for (const NodeId n : g_.order()) {
    const Graph::Node& node = g_.node(n);
    const std::string op = node.op->name;
    if (op == "to_layout") continue;
    EXPECT_EQ(g_.value(node.out[0]).meta.layout, op == "broadcast_to" ? Layout::kContiguous : Layout::kChannelsLast) << op;
  }
}

TEST_F(DevicePasses, CastsAndTurnsOfStatesAreOneGroup) {
  const AttrFields half = {{"dtype", DType::kFloat16}}, last = {{"layout", std::string("channels_last")}};
  std::vector<ValueId> out;
  out.push_back(one("to_layout", {one("cast", {state("a", {4, 3, 2, 2})}, half)}, last));
  out.push_back(one("relu", {out[0]}));
  out.push_back(one("cast", {state("b", {7})}, half));
  g_.set_outputs({one("relu", {out[1]}), one("relu", {out[2]})});
  run(make_group_elementwise());
  EXPECT_TRUE(has_group("cast(i0) {dtype=f16}; out t0", "l=")) << g_.text();
  EXPECT_EQ(count("cast") + count("to_layout"), 0) << g_.text();
}

// Equal ops, here those of averages, form one group at the position of the last one. An op that reads a result closes the group before it.
TEST_F(DevicePasses, EqualOpsThatCanWaitAreOneGroup) {
  const ValueId keep = input({}), x = input({5}), y = input({9}), z = input({3});
  const ValueId a = one("mul", {one("relu", {x}), keep}), b = one("mul", {one("relu", {y}), keep});
  const ValueId sum = one("sum", {b}, {{"axes", std::vector<int64_t>{}}});  // reads b
  const ValueId c = one("mul", {one("relu", {z}), sum});
  g_.set_outputs({a, c});
  run(make_group_elementwise());
  EXPECT_TRUE(has_group("mul(i0, i1); out t0", "==")) << g_.text();
  EXPECT_EQ(count("mul"), 1) << g_.text();
}

// A group may read another group's result.
TEST_F(DevicePasses, GroupsReadGroups) {
  const AttrFields half = {{"dtype", DType::kFloat16}};
  std::vector<ValueId> out;
  for (const char* const name : {"a", "b", "c"}) out.push_back(one("mul", {one("cast", {state(name, {6})}, half), input({}, DType::kFloat16)}));
  g_.set_outputs(out);
  run(make_group_elementwise());
  EXPECT_EQ(count("group_cluster"), 2) << g_.text();
  EXPECT_EQ(g_.order().size(), 2U) << g_.text();
}

// Tensors sent to other ranks do not wait for results computed later.
TEST_F(DevicePasses, GradientsThatTravelStayAlone) {
  const AttrFields wide = {{"dtype", DType::kFloat32}};
  std::vector<ValueId> out;
  for (int i = 0; i < 2; ++i) {
    const ValueId gradient = one("cast", {one("relu", {input({8}, DType::kFloat16)})}, wide);
    out.push_back(one("all_reduce", {gradient}));
  }
  for (int i = 0; i < 2; ++i) out.push_back(one("cast", {one("relu", {input({8}, DType::kFloat16)})}, wide));
  g_.set_outputs(out);
  run(make_group_elementwise());
  EXPECT_EQ(count("cast"), 2) << g_.text();
  EXPECT_TRUE(has_group("cast(i0) {dtype=f32}; out t0", "==")) << g_.text();
}

// Both layouts of [N, C, 1, 1] are the same memory: such a transposition starts no kernel, but as part of a group it would.
TEST_F(DevicePasses, TurnsThatMoveNothingStayAlone) {
  std::vector<ValueId> out;
  for (const char* const name : {"a", "b"}) out.push_back(one("to_layout", {state(name, {4, 8, 1, 1})}, {{"layout", std::string("channels_last")}}));
  g_.set_outputs({one("relu", {out[0]}), one("tanh", {out[1]})});
  run(make_group_elementwise());
  EXPECT_EQ(count("to_layout"), 2) << g_.text();
}

TEST_F(DevicePasses, OpsOnNumbersBecomeOneCluster) {
  const ValueId scale = state("scale", {}), steps = state("steps", {}, DType::kInt32), limit = input({}, DType::kInt32), two = input({});
  const ValueId at_limit = one("greater_equal", {steps, limit});
  const ValueId doubled = one("mul", {scale, two});
  const ValueId next = one("where", {at_limit, doubled, scale});
  const ValueId back = one("reciprocal", {next});
  g_.set_outputs({next, back});
  run(make_group_elementwise());
  EXPECT_EQ(count("elementwise_cluster"), 1) << g_.text();
  EXPECT_EQ(g_.order().size(), 1U) << g_.text();
}

TEST_F(DevicePasses, UpdatesAndChecksReadHalfGradients) {
  const ValueId p = state("p", {4, 3, 2, 2}), v = state("v", {4, 3, 2, 2}), q = state("q", {5}), u = state("u", {5}), lr = input({}), momentum = input({});
  const ValueId dp = one("relu", {input({4, 3, 2, 2}, DType::kFloat16, Layout::kChannelsLast)}), dq = one("relu", {input({5}, DType::kFloat16)});
  const AttrFields wide = {{"dtype", DType::kFloat32}};
  const ValueId wide_p = one("cast", {dp}, wide), wide_q = one("cast", {dq}, wide);
  const ValueId turned = one("to_layout", {wide_p}, {{"layout", std::string("contiguous")}});
  const ValueId finite = one("all_finite", {turned, wide_q});
  const std::vector<ValueId> a = all("momentum_update", {p, v, turned, lr, momentum}), b = all("momentum_update", {q, u, wide_q, lr, momentum});
  g_.set_outputs({finite, a[0], a[1], b[0], b[1]});
  run(make_group_updates());
  run(make_dce());
  EXPECT_EQ(count("cast"), 0) << g_.text();
  EXPECT_EQ(count("to_layout"), 1) << "one transposition for the check and the update\n" << g_.text();
}

// The block's cotangent may be its own result.
TEST_F(DevicePasses, AMaskReplacesTheResultThatIsItsOwnGradient) {
  const ValueId x = input({2, 8, 3, 3}, DType::kFloat16, Layout::kChannelsLast), r = input({2, 8, 3, 3}, DType::kFloat16, Layout::kChannelsLast);
  const ValueId gamma = state("gamma", {8}), beta = state("beta", {8});
  const std::vector<ValueId> n = all("batch_norm_train", {x, gamma, beta});
  const ValueId y = one("relu", {one("add", {n[0], r})});
  const ValueId masked = one("relu_grad", {y, y});
  const std::vector<ValueId> d = all("batch_norm_grad", {masked, x, gamma, n[1], n[2]});
  g_.set_outputs({y, d[0], d[1], d[2]});
  run(make_fuse_norm_act());
  EXPECT_THAT(g_.text(), ::testing::HasSubstr("mask=true"));
  EXPECT_EQ(count("batch_norm_relu_grad"), 1) << g_.text();
}

TEST_F(DevicePasses, PoolingsGradientTakesOverASum) {
  const ValueId a = input({2, 8, 3, 3}), b = input({2, 8, 3, 3}), places = input({2, 8, 3, 3}, DType::kUInt8);
  const AttrFields attrs = {{"kernel", std::vector<int64_t>{2, 2}}, {"stride", std::vector<int64_t>{2, 2}}, {"input_size", std::vector<int64_t>{6, 6}}};
  g_.set_outputs({one("max_pool2d_grad", {one("add", {a, b}), places}, attrs)});
  run(make_fuse_norm_act());
  EXPECT_EQ(count("add"), 0) << g_.text();
}

// A stem as traced: batch norm, relu, max pooling of 3x3, and the gradients of all three for a sum of two gradients.
struct Stem {
  ValueId x, norm, mean, relu, pooled, places;
  std::vector<ValueId> gradients;
};
class Stems : public DevicePasses {
 protected:
  Stem stem(Layout layout = Layout::kChannelsLast) {
    const AttrFields windows = {{"kernel", std::vector<int64_t>{3, 3}}, {"stride", std::vector<int64_t>{2, 2}}, {"pad", std::vector<int64_t>{1, 1, 1, 1}}};
    AttrFields of_image = windows;
    of_image.push_back({"input_size", std::vector<int64_t>{8, 8}});
    const ValueId x = input({2, 8, 8, 8}, DType::kFloat16, layout), gamma = state("gamma", {8}), beta = state("beta", {8});
    const ValueId a = input({2, 8, 4, 4}, DType::kFloat16, layout), b = input({2, 8, 4, 4}, DType::kFloat16, layout);
    const std::vector<ValueId> n = all("batch_norm_train", {x, gamma, beta}, {{"eps", 1e-3}});
    const ValueId y = one("relu", {n[0]});
    const std::vector<ValueId> p = all("max_pool2d", {y}, windows);
    const ValueId image = one("max_pool2d_grad", {one("add", {a, b}), p[1]}, of_image);
    const std::vector<ValueId> d = all("batch_norm_grad", {one("relu_grad", {image, y}), x, gamma, n[1], n[2]}, {{"eps", 1e-3}});
    return {x, n[0], n[1], y, p[0], p[1], d};
  }
  void fuse(std::vector<ValueId> outputs, const Stem& s) {
    outputs.insert(outputs.end(), s.gradients.begin(), s.gradients.end());
    g_.set_outputs(outputs);
    run(make_fuse_norm_act());
    run(make_fuse_norm_pool());
  }
};

TEST_F(Stems, AreOneOpEachWay) {
  const Stem s = stem();
  fuse({s.pooled, s.mean}, s);
  EXPECT_EQ(count("batch_norm_pool"), 1) << g_.text();
  EXPECT_EQ(count("batch_norm_pool_grad"), 1) << g_.text();
  EXPECT_EQ(g_.order().size(), 2U) << g_.text();
  EXPECT_THAT(g_.text(), ::testing::HasSubstr("{eps=0.001, kernel=[3, 3], stride=[2, 2], pad=[1, 1, 1, 1], ceil_mode=false}"));
}
TEST_F(Stems, WhoseResultIsItsOwnGradient) {
  const Stem s = stem();
  for (const NodeId n : std::vector<NodeId>(g_.order()))
    if (g_.node(n).op == &find_op("add")) g_.replace_uses(g_.node(n).out[0], s.pooled), g_.erase(n);
  fuse({s.pooled}, s);
  EXPECT_EQ(g_.order().size(), 2U) << g_.text();
}
TEST_F(Stems, WithoutGradientAreOneOp) {
  const Stem s = stem();
  g_.set_outputs({s.pooled, s.mean});
  run(make_dce());
  run(make_fuse_norm_act());
  run(make_fuse_norm_pool());
  EXPECT_EQ(count("batch_norm_pool"), 1) << g_.text();
  EXPECT_EQ(g_.order().size(), 1U) << g_.text();
}
TEST_F(Stems, WhoseImageIsReadStayAsTheyAre) {
  const Stem s = stem();
  fuse({s.pooled, one("tanh", {s.relu})}, s);
  EXPECT_EQ(count("batch_norm_pool") + count("batch_norm_pool_grad"), 0) << g_.text();
}
TEST_F(Stems, WhosePlacesAreReadStayAsTheyAre) {
  const Stem s = stem();
  fuse({s.pooled, s.places}, s);
  EXPECT_EQ(count("batch_norm_pool") + count("batch_norm_pool_grad"), 0) << g_.text();
}
TEST_F(Stems, OfPlanesStayAsTheyAre) {
  const Stem s = stem(Layout::kContiguous);
  fuse({s.pooled}, s);
  EXPECT_EQ(count("batch_norm_pool") + count("batch_norm_pool_grad"), 0) << g_.text();
}
TEST_F(Stems, WithAnotherReaderOfTheImagesGradientStayAsTheyAre) {
  const Stem s = stem();
  ValueId image = kNoId;
  for (const NodeId n : g_.order())
    if (g_.node(n).op == &find_op("max_pool2d_grad")) image = g_.node(n).out[0];
  fuse({s.pooled, image}, s);
  EXPECT_EQ(count("batch_norm_pool") + count("batch_norm_pool_grad"), 0) << g_.text();
}

// Squeeze-and-excitation: the gradient of the means is added to the gated gradient where the gated gradient is computed. A product that another op reads is
// kept.
TEST_F(DevicePasses, AnAveragesGradientTakesOverItsSum) {
  const Layout last = Layout::kChannelsLast;
  const ValueId dy = input({2, 8, 6, 6}, DType::kFloat16, last), gate = input({2, 8, 1, 1}, DType::kFloat16), d = input({2, 8, 1, 1}, DType::kFloat16, last);
  const AttrFields size = {{"h", int64_t{6}}, {"w", int64_t{6}}};
  const ValueId gated = one("mul", {dy, gate}), read = one("mul", {gate, one("relu", {dy})});
  const ValueId a = one("add", {gated, one("adaptive_avg_pool2d_grad", {d}, size)}), b = one("add", {one("adaptive_avg_pool2d_grad", {d}, size), read});
  const ValueId alone = one("adaptive_avg_pool2d_grad", {d}, size);
  g_.set_outputs({a, b, read, one("add", {alone, alone})});
  run(make_fuse_pool_grad());
  EXPECT_EQ(count("add"), 1) << g_.text();
  EXPECT_EQ(count("mul"), 1) << g_.text();
  std::vector<size_t> operands;
  for (const NodeId n : g_.order())
    if (g_.node(n).op == &find_op("adaptive_avg_pool2d_grad")) operands.push_back(g_.node(n).in.size());
  EXPECT_THAT(operands, ::testing::UnorderedElementsAre(1U, 2U, 3U));
}
TEST_F(DevicePasses, FloatProductsStayOutOfAnAveragesGradient) {
  const ValueId dy = input({2, 8, 6, 6}), gate = input({2, 8, 1, 1}), d = input({2, 8, 1, 1});
  g_.set_outputs({one("add", {one("mul", {dy, gate}), one("adaptive_avg_pool2d_grad", {d}, {{"h", int64_t{6}}, {"w", int64_t{6}}})})});
  run(make_fuse_pool_grad());
  EXPECT_EQ(count("mul"), 1) << g_.text();
  EXPECT_EQ(count("add"), 0) << g_.text();
}

// A scalar of as many bytes as a result is read for every element: no result may be stored in its memory.
TEST_F(DevicePasses, ResultsDoNotLieOnNumbersThatAreReadAgain) {
  const OpDef& op = find_op("group_cluster");
  const Attrs attrs = op.attrs.make({{"program", std::string("less(i0, i1); out t0")}, {"tensors", int64_t{1}}, {"layouts", std::string("=")}});
  const TensorMeta x = {.shape = {4}, .dtype = DType::kFloat32, .layout = Layout::kContiguous, .device = kGpu};
  TensorMeta number = x, flag = x;
  number.shape = {};
  flag.dtype = DType::kBool;
  EXPECT_FALSE(output_may_overwrite(op, attrs, 2, 1, 0, flag, 1, number));
  const Attrs sum = op.attrs.make({{"program", std::string("add(i0, i1); out t0")}, {"tensors", int64_t{1}}, {"layouts", std::string("=")}});
  EXPECT_TRUE(output_may_overwrite(op, sum, 2, 1, 0, x, 0, x));
}

}  // namespace
}  // namespace sindri::device_passes
