// Calls with less overhead around the kernel behave like bind(): results, records, errors; cached attributes and plans are the requested ones.
#include "src/op/quick_call.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sindri/autograd/grad.h"
#include "sindri/core/error.h"
#include "sindri/op/bind.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/pool.h"
#include "sindri/ops/shape.h"
#include "src/op/plan.h"

namespace sindri {
namespace {

TEST(QuickCall, GivesWhatBindGives) {
  const Tensor a = Tensor::from_vector<float>({2}, {1, 2}), b = Tensor::from_vector<float>({2}, {10, 20});
  const OpDef& add = find_op("add");
  EXPECT_EQ(bind_one(add, Attrs(), {&a, &b}).to_vector<float>(), bind(add, Attrs(), {a, b})[0].to_vector<float>());
}

TEST(QuickCall, FirstOfSeveralOutputs) {
  const Tensor x = Tensor::from_vector<float>({1, 1, 2, 2}, {1, 4, 3, 2});
  EXPECT_EQ(ops::max_pool2d(x, {.kernel = {2, 2}, .stride = {2, 2}}).to_vector<float>(), std::vector<float>{4});
}

TEST(QuickCall, IsRecordedByATape) {
  const Tensor x = Tensor::from_vector<float>({2}, {3, 4});
  const auto [out, grads] = value_and_grad([](std::span<const Tensor> in) { return TensorList{ops::mul(in[0], in[0])}; }, {&x, 1}, {0}, {});
  EXPECT_EQ(grads.of_inputs[0].to_vector<float>(), (std::vector<float>{6, 8}));
}

TEST(QuickCall, ErrorsNameTheCall) {
  const Tensor a = Tensor::zeros({2}), b = Tensor::zeros({3}), nothing;
  const OpDef& add = find_op("add");
  const auto text = [&](const Tensor& left, const Tensor& right, bool quick) -> std::string {
    try {
      if (quick) bind_one(add, Attrs(), {&left, &right});
      else bind(add, Attrs(), {left, right});
    } catch (const Error& e) { return e.what(); }
    return "no error";
  };
  for (const Tensor& right : {b, nothing}) {
    EXPECT_EQ(text(a, right, true), text(a, right, false));
    EXPECT_NE(text(a, right, true).find("add on f32[2]"), std::string::npos);
  }
}

struct Numbers {
  double value = 0;
  int64_t count = 0;
  SINDRI_ATTRS(Numbers, value, count)
};

struct Values {
  std::vector<double> values;
  SINDRI_ATTRS(Values, values)
};

TEST(QuickCall, KeptAttributesAreThoseAskedFor) {
  for (int round = 0; round < 2; ++round) {
    for (int64_t i = 0; i < 40; ++i) {  // more than are cached
      const Numbers n{0.5, i};
      EXPECT_EQ(recent_attrs(n).as<Numbers>().count, i);
      EXPECT_TRUE(recent_attrs(n) == Attrs::of(n));
    }
  }
}

TEST(EqualAttrs, TellsZerosApartAndKnowsNan) {
  const auto of = [](double v) { return Attrs::of(Numbers{v, 1}); };
  EXPECT_EQ(of(1), of(1));
  EXPECT_NE(of(1), of(2));
  EXPECT_NE(of(0.0), of(-0.0));
  EXPECT_EQ(of(std::nan("")), of(std::nan("")));
  const auto list = [](double v) { return Attrs::of(Values{{1, v}}); };
  EXPECT_EQ(list(std::nan("")), list(std::nan("")));
  EXPECT_NE(list(0.0), list(-0.0));
  for (const double v : {0.0, -0.0, 0.0}) EXPECT_EQ(std::signbit(recent_attrs(Numbers{v, 1}).as<Numbers>().value), std::signbit(v));
}

// One plan was used for both zeros.
TEST(EqualAttrs, PlansOfBothZerosDiffer) {
  for (const double v : {0.0, -0.0, 0.0}) EXPECT_EQ(std::signbit(ops::full({1}, v).to_vector<float>()[0]), std::signbit(v));
  const OpDef& full = find_op("full");
  const auto plan = [&](double v) { return plan_op(full, full.attrs.make({{"shape", Shape{3}}, {"value", v}}), {}); };
  EXPECT_NE(plan(0.0), plan(-0.0));
  EXPECT_EQ(plan(std::nan("")), plan(std::nan("")));
}

}  // namespace
}  // namespace sindri
