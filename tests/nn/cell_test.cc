// The tree of cells: names, sharing, flags, nested values, custom gradients of a cell.
#include "sindri/nn/cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/nn/container.h"
#include "sindri/nn/dense.h"
#include "sindri/nn/loss.h"
#include "sindri/nn/norm.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"

namespace sindri::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<Dense> dense(int64_t in, int64_t out) { return Dense::make({.in_channels = in, .out_channels = out}); }

std::vector<std::string> names_of(Cell& c) {
  std::vector<std::string> out;
  for (const auto& [name, p] : c.parameters_and_names()) out.push_back(name);
  return out;
}

class Net : public Cell {
 public:
  Net() : Cell("Net"), body(child("body", SequentialCell::make(dense(3, 4), dense(4, 4)))), head(child("head", dense(4, 2))) {}
  Tensor construct(const Tensor& x) override { return (*head)((*body)(x)); }
  using Cell::child;
  using Cell::param;
  using Cell::set_child;
  std::shared_ptr<SequentialCell> body;
  std::shared_ptr<Dense> head;
};

TEST(Cell, NamesArePathsInDefinitionOrder) {
  Net net;
  EXPECT_THAT(names_of(net), ElementsAre("body.0.weight", "body.0.bias", "body.1.weight", "body.1.bias", "head.weight", "head.bias"));
  std::vector<std::string> cells;
  for (const auto& [name, c] : net.cells_and_names()) cells.push_back(name);
  EXPECT_THAT(cells, ElementsAre("", "body", "body.0", "body.1", "head"));
  EXPECT_EQ(net.num_parameters(), 3 * 4 + 4 + 4 * 4 + 4 + 4 * 2 + 2);
}

TEST(Cell, TrainableParamsSetsNamesAndAPartDoesNotShortenThem) {
  Net net;
  net.trainable_params();
  EXPECT_EQ(net.head->weight().name(), "head.weight");
  net.head->trainable_params();
  EXPECT_EQ(net.head->weight().name(), "head.weight");
  auto outer = SequentialCell::make(CellPtr(std::make_shared<Net>()));
  Net& inner = dynamic_cast<Net&>(*(*outer)[0]);
  inner.trainable_params();
  outer->trainable_params();
  EXPECT_EQ(inner.head->weight().name(), "0.head.weight");
}

TEST(Cell, ASharedCellCountsOnceUnderItsFirstPlace) {
  auto shared = dense(3, 3);
  SequentialCell net(std::vector<CellPtr>{shared, dense(3, 3), shared});
  EXPECT_THAT(names_of(net), ElementsAre("0.weight", "0.bias", "1.weight", "1.bias"));
  EXPECT_EQ(net.num_parameters(), 2 * 12);
}

TEST(Cell, ChildrenWithoutPrefixKeepTheirNames) {
  auto net = std::make_shared<Net>();
  WithLossCell with_loss(net, MSELoss::make());
  EXPECT_EQ(names_of(with_loss), names_of(*net));
  class Two : public Cell {
   public:
    Two() : Cell("Two") {
      child("a", dense(1, 1), false);
      child("b", dense(1, 1), false);
    }
  } two;
  EXPECT_THROW(two.parameters_and_names(), ValueError);
}

TEST(Cell, RefusesBadNamesAndCycles) {
  auto net = std::make_shared<Net>();
  EXPECT_THROW(net->child("head", dense(1, 1)), ValueError);
  EXPECT_THROW(net->child("a.b", dense(1, 1)), ValueError);
  EXPECT_THROW(net->child("", dense(1, 1)), ValueError);
  EXPECT_THROW(net->child("none", std::shared_ptr<Dense>()), ValueError);
  EXPECT_THROW(net->child("self", SequentialCell::make(CellPtr(net))), ValueError);
  EXPECT_THROW(net->param("body", Tensor::zeros({1})), ValueError);
  EXPECT_THROW(net->param("w", Tensor()), ValueError);
  EXPECT_THROW(net->set_child("tail", dense(1, 1)), ValueError);
}

TEST(Cell, StartsInInferenceAndSwitchesRecursively) {
  Net net;
  EXPECT_FALSE(net.training());
  net.set_train();
  EXPECT_TRUE(net.head->training());
  net.set_train(false);
  EXPECT_FALSE((*net.body)[1]->training());
}

TEST(Cell, FlagsAndRequiresGrad) {
  Net net;
  net.add_flag("thor", true);
  EXPECT_TRUE(net.flag("thor"));
  EXPECT_FALSE(net.head->flag("thor"));
  net.add_flag("thor", true, true);
  EXPECT_TRUE(net.head->flag("thor"));
  SequentialCell with_norm(std::vector<CellPtr>{dense(2, 2), BatchNorm1d::make({.num_features = 2})});
  EXPECT_EQ(with_norm.trainable_params().size(), 4u);
  EXPECT_EQ(with_norm.untrainable_params().size(), 2u);
  with_norm.set_requires_grad(false);
  EXPECT_TRUE(with_norm.trainable_params().empty());
  with_norm.set_requires_grad(true);
  EXPECT_EQ(with_norm.trainable_params().size(), 4u) << "buffers must stay untrained";
}

TEST(Cell, SetChildReplaces) {
  Net net;
  net.set_child("head", dense(4, 7));
  EXPECT_EQ(net.children()[1].second->own_parameters()[0].second->shape(), (Shape{7, 4}));
}

TEST(Cell, ErrorsNameThePathOnce) {
  Net net;
  try {
    net(Tensor::zeros({2, 5}));
    FAIL() << "expected a ShapeError";
  } catch (const ShapeError& e) {
    EXPECT_THAT(e.message(), HasSubstr("in_channels=3"));
    EXPECT_EQ(e.where(), "in Net/body.0");
  }
}

TEST(Cell, ConstructIsRequiredAndArityChecked) {
  class Empty : public Cell {
   public:
    Empty() : Cell("Empty") {}
  } empty;
  EXPECT_THROW(empty(Tensor::zeros({1})), ValueError);
  EXPECT_THROW(Net()(Tensor::zeros({1, 3}), Tensor::zeros({1, 3})), ValueError);
}

TEST(Cell, TreeShowsNamesAndDescriptions) {
  const std::string text = Net().tree();
  EXPECT_THAT(text, HasSubstr("  (body): SequentialCell(2 cells)\n    (0): Dense(3, 4, has_bias=true)\n"));
}

// Maps {a, (b, c)} to [a·b, c].
class Nested : public Cell {
 public:
  Nested() : Cell("Nested") {}
  Value construct_values(Span<const Value> in) override {
    const Value& d = in[0];
    return Value::list({ops::mul(d.at("a").tensor(), d.at("pair")[0].tensor()), d.at("pair")[1]});
  }
};

TEST(Cell, NestedValuesAndTheirGradient) {
  Nested cell;
  const TensorList in = {Tensor::from_values({2}, {2, 3}), Tensor::from_values({2}, {5, 7}), Tensor::from_values({1}, {11})};
  const auto run = [&](Span<const Tensor> t) {
    const Value arg = Value::dict({{"a", t[0]}, {"pair", Value::tuple({t[1], t[2]})}});
    const Value out = cell.call({arg});
    EXPECT_EQ(out.kind(), Value::Kind::kList);
    return out.flatten();
  };
  const auto [out, g] = value_and_grad(run, in, {0, 1, 2}, {});
  EXPECT_THAT(out[0].to_vector<double>(), ElementsAre(10, 21));
  EXPECT_THAT(g.of_inputs[0].to_vector<double>(), ElementsAre(5, 7));
  EXPECT_THAT(g.of_inputs[1].to_vector<double>(), ElementsAre(2, 3));
  EXPECT_THAT(g.of_inputs[2].to_vector<double>(), ElementsAre(1));
}

// f(x) = 3x with a custom gradient of 7.
class Seven : public Cell {
 public:
  explicit Seven(size_t grads = 1) : Cell("Seven"), grads_(grads) {}
  Tensor construct(const Tensor& x) override { return ops::mul(x, 3.0); }
  bool has_bprop() const override { return true; }
  TensorList bprop(Span<const Tensor> in, Span<const Tensor> out, Span<const Tensor> dout) override {
    EXPECT_EQ(in[0].shape(), out[0].shape());
    return TensorList(grads_, ops::mul(dout[0], 7.0));
  }

 private:
  size_t grads_;
};

TEST(Cell, CustomBprop) {
  Seven cell;
  const TensorList x = {Tensor::from_values({2}, {1, 2})};
  const TensorFn f = [&](Span<const Tensor> t) -> TensorList { return {ops::sum(ops::square(cell(t[0])))}; };
  EXPECT_DOUBLE_EQ(f(x)[0].item(), 9 + 36);
  EXPECT_THAT(grad(f)(x)[0].to_vector<double>(), ElementsAre(2 * 3 * 7, 2 * 6 * 7));  // 2y·7 with y = 3x
  const CompiledFn compiled = compile(grad(f));
  EXPECT_THAT(CompiledFn(compiled)(x)[0].to_vector<double>(), ElementsAre(42, 84));
  Seven wrong(2);
  const TensorFn g = [&](Span<const Tensor> t) -> TensorList { return {ops::sum(wrong(t[0]))}; };
  EXPECT_THROW(grad(g)(x), ValueError);
}

TEST(Value, StructureAndSignature) {
  const Tensor t = Tensor::zeros({2, 3});
  const Value v = Value::tuple({t, Value::dict({{"k", Tensor::zeros({4})}}), Value::list({})});
  EXPECT_EQ(v.signature(), "(f32[2, 3], {k: f32[4]}, [])");
  EXPECT_EQ(v.flatten().size(), 2u);
  EXPECT_EQ(v.with_tensors({Tensor::zeros({1}), Tensor::zeros({5})}).signature(), "(f32[1], {k: f32[5]}, [])");
  EXPECT_THROW(v.with_tensors({t}), ValueError);
  EXPECT_THROW(v.with_tensors({t, t, t}), ValueError);
  EXPECT_THROW(v.tensor(), ValueError);
  EXPECT_THROW(v[3], ValueError);
  EXPECT_THROW(v[1].at("x"), ValueError);
  EXPECT_THROW(v.at("k"), ValueError);
  EXPECT_THROW(Value::dict({{"a", t}, {"a", t}}), ValueError);
  EXPECT_EQ(Value().signature(), "none");
}

}  // namespace
}  // namespace sindri::nn
