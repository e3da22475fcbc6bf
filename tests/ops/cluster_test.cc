// Refused programs of elementwise_cluster, and results computed in place of inputs.
#include <gtest/gtest.h>

#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/op/tensor_fn.h"
#include "src/graph/memory_plan.h"

namespace sindri {
namespace {

TensorList run(const std::string& program, const TensorList& in) {
  const OpDef& op = find_op("elementwise_cluster");
  return sindri::bind(op, op.attrs.make({{"program", program}}), in);
}

TEST(Cluster, BadProgramsAreRefused) {
  const Tensor x = Tensor::full({4}, 1), y = Tensor::full({2, 4}, 2);
  const struct {
    const char *program, *message;
  } cases[] = {
      {"", "expected a name"},
      {"out", "expected a name"},
      {"add(i0, i1); out t1", "t1 is used before it is made"},
      {"add(i0, t0); out t0", "t0 is used before it is made"},
      {"add(i0, i1) out t0", "expected ';'"},
      {"add(i0, i1; out t0", "expected ')'"},
      {"add(i0, i1); out i0", "a result must be a step, got i0"},
      {"add(i0, i1); out t0, t0", "t0 is a result twice"},
      {"add(i0, i1); out t0; add(i0, i1)", "text after the results"},
      {"add(i0, i1); mul(i0, i1); out t1", "t0 is read by no step and is not a result"},
      {"add(i0, x1); out t0", "'x1' is neither an input"},
      {"add(i0, i1x); out t0", "'1x' is not a 64-bit integer"},
      {"add(i0, i-1); out t0", "'i' is neither an input"},
      {"add(i0, i2); out t0", "the program reads i2, there are 2 inputs"},
      {"add(i0, i0); out t0", "does not read input i1"},
      {"ad(i0, i1); out t0", "no op is named 'ad'"},
      {"sum(i0) {axes=[]}; add(t0, i1); out t1", "'sum' is not an elementwise op"},
      {"elementwise_cluster(i0, i1); out t0", "is not an elementwise op"},
      {"add(i0, i1); clamp(t0) {low=1.0}; out t1", "no attribute 'low'"},
  };
  for (const auto& c : cases) {
    try {
      run(c.program, {x, x});
      ADD_FAILURE() << "accepted: " << c.program;
    } catch (const ValueError& e) { EXPECT_NE(std::string(e.what()).find(c.message), std::string::npos) << c.program << "\n" << e.what(); }
  }
  EXPECT_THROW(run("relu(i0); add(t0, i1); out t1", {x, y}), ShapeError);  // the steps differ in shape
  EXPECT_THROW(run("add(i0, i1); out t0", {x, Tensor::full({4}, 1, DType::kFloat64)}), DTypeError);
  EXPECT_THROW(run("relu(i0); clamp(t0) {lo=true}; out t1", {x}), DTypeError);
  EXPECT_THROW(run("relu(i0); cast(t0) {dtype=f31}; out t1", {x}), DTypeError);
  std::string long_one = "relu(i0); ";
  for (int i = 0; i < 24; ++i) long_one += "relu(t" + std::to_string(i) + "); ";
  EXPECT_THROW(run(long_one + "out t24", {x}), ValueError);
  EXPECT_THROW(run("relu(i0); out t0", TensorList(13, x)), ValueError);
}

TEST(Cluster, ErrorsSayWhereInTheProgram) {
  const Tensor x = Tensor::full({4}, 1);
  try {
    run("add(i0, i1);\nmul(t1, i0); out t1", {x, x});
    FAIL() << "no error";
  } catch (const ValueError& e) { EXPECT_NE(std::string(e.what()).find("line 2, column 7"), std::string::npos) << e.what(); }
}

// Which results may use the memory of which inputs, for operands of one type and shape.
std::vector<std::pair<size_t, size_t>> places(const std::string& program, size_t inputs, const TensorMeta& input_meta = Tensor::full({4}, 1).meta()) {
  const OpDef& op = find_op("elementwise_cluster");
  const Attrs attrs = op.attrs.make({{"program", program}});
  const std::vector<TensorMeta> in(inputs, input_meta);
  const std::vector<TensorMeta> out = op.infer(attrs, in);
  std::vector<std::pair<size_t, size_t>> p;
  for (size_t k = 0; k < out.size(); ++k)
    for (size_t i = 0; i < inputs; ++i)
      if (output_may_overwrite(op, attrs, inputs, out.size(), k, out[k], i, in[i])) p.push_back({k, i});
  return p;
}

TEST(Cluster, ResultsTakeInputsThatNoLaterStepReads) {
  using P = std::vector<std::pair<size_t, size_t>>;
  EXPECT_EQ(places("add(i0, i1); mul(t0, i0); out t1", 2), (P{{0, 0}, {0, 1}}));
  EXPECT_EQ(places("add(i0, i1); relu(t0); out t0, t1", 2), (P{{0, 0}, {0, 1}}));  // t0 comes first
  EXPECT_EQ(places("add(i0, i1); mul(t0, i0); out t0, t1", 2), (P{{0, 1}, {1, 0}}));
  EXPECT_EQ(places("add(i0, i1); mul(t0, i0); out t1, t0", 2), (P{{0, 0}, {1, 1}}));
  EXPECT_EQ(places("less(i0, i1); mul(i0, i1); out t0, t1", 2), (P{{1, 0}, {1, 1}}));  // a bool cannot replace a float
}

}  // namespace
}  // namespace sindri
