// The types that each level casts to, recorded by the interpreter below the casting one; gradients, lists, to_float, and refused options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sindri/amp/policy.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "sindri/train/amp.h"
#include "tests/amp/small_net.h"

namespace sindri {
namespace {

using amp::Level;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

const std::string kF32 = "float32", kBf16 = "bfloat16", kF16 = "float16";

std::string types(const std::string& t, int n) {
  std::string s = t;
  for (int i = 1; i < n; ++i) s += " " + t;
  return s;
}

// The ops of a training step's forward pass at a level.
test::OpRecorder forward_at(const amp::Options& options) {
  const nn::CellPtr net = test::small_net_with_loss();
  const TensorList batch = test::small_batch(4, 1);
  return test::record([&] {
    const amp::AmpScope scope(options);
    net->call({nn::Value(batch[0]), nn::Value(batch[1])});
  });
}

struct Expected {
  amp::Options options;
  std::string conv, norm, relu, pool, matmul, bias;
};

TEST(Casting, InputsOfEveryOpAtEveryLevel) {
  const std::string mixed = kBf16 + " " + kF32 + " " + kF32, mixed16 = kF16 + " " + kF32 + " " + kF32;
  const std::vector<Expected> levels = {
      {{}, kF32, types(kF32, 3), kF32, kF32, kF32, kF32},
      {{.level = Level::kO1}, kBf16, types(kF32, 3), kF32, kF32, kBf16, kF32},
      {{.level = Level::kO2}, kBf16, mixed, kBf16, kBf16, kBf16, kBf16},
      {{.level = Level::kO2, .dtype = DType::kFloat16}, kF16, mixed16, kF16, kF16, kF16, kF16},
      {{.level = Level::kO2, .keep_batchnorm_fp32 = false}, kBf16, types(kBf16, 3), kBf16, kBf16, kBf16, kBf16},
      {{.level = Level::kO3}, kBf16, types(kBf16, 3), kBf16, kBf16, kBf16, kBf16},
      {{.level = Level::kO3, .keep_batchnorm_fp32 = true}, kBf16, mixed, kBf16, kBf16, kBf16, kBf16},
  };
  for (const Expected& e : levels) {
    SCOPED_TRACE(std::string(amp::level_name(e.options.level)) + " " + dtype_name(e.options.dtype));
    const test::OpRecorder ran = forward_at(e.options);
    EXPECT_THAT(ran.of("conv2d"), ElementsAre(types(e.conv, 2)));
    EXPECT_THAT(ran.of("batch_norm_train"), ElementsAre(e.norm));
    EXPECT_THAT(ran.of("relu"), ElementsAre(e.relu));
    EXPECT_THAT(ran.of("max_pool2d"), ElementsAre(e.pool));
    EXPECT_THAT(ran.of("matmul"), ElementsAre(types(e.matmul, 2)));
    // The bias add, and the moving statistics, which are always float32.
    const std::string bias = types(e.bias, 2), wide = types(kF32, 2);
    const std::vector<std::string> additions = bias == wide ? std::vector{wide} : std::vector{bias, wide};
    EXPECT_EQ(ran.of("add"), additions);
    EXPECT_THAT(ran.of("mul"), ElementsAre(wide));
    EXPECT_THAT(ran.of("softmax_cross_entropy_sparse"), ElementsAre(kF32));
    EXPECT_THAT(ran.of("mean"), ElementsAre(kF32));
  }
}

// Levels that mark Cells: a Cell and all it contains run in one type, and the network's output is float32.
TEST(Casting, InputsOfEveryOpInMarkedCells) {
  const std::string mixed = kBf16 + " " + kF32 + " " + kF32;
  const auto policy = [](const char* name, std::optional<bool> keep = {}) { return amp::find_policy(name, amp::Casts::kOps).options(DType::kBFloat16, keep); };
  const std::vector<Expected> levels = {
      {policy("cells_O1"), kBf16, types(kF32, 3), kF32, kF32, kBf16, kBf16},
      {policy("cells_O2"), kBf16, mixed, kBf16, kBf16, kBf16, kBf16},
      {policy("cells_O2", false), kBf16, types(kBf16, 3), kBf16, kBf16, kBf16, kBf16},
      {policy("cells_O3"), kBf16, types(kBf16, 3), kBf16, kBf16, kBf16, kBf16},
      {policy("cells_O3", true), kBf16, mixed, kBf16, kBf16, kBf16, kBf16},
  };
  for (size_t i = 0; i < levels.size(); ++i) {
    const Expected& e = levels[i];
    SCOPED_TRACE(i);
    const test::OpRecorder ran = forward_at(e.options);
    EXPECT_THAT(ran.of("conv2d"), ElementsAre(types(e.conv, 2)));
    EXPECT_THAT(ran.of("batch_norm_train"), ElementsAre(e.norm));
    EXPECT_THAT(ran.of("relu"), ElementsAre(e.relu));
    EXPECT_THAT(ran.of("max_pool2d"), ElementsAre(e.pool));
    EXPECT_THAT(ran.of("matmul"), ElementsAre(types(e.matmul, 2)));
    EXPECT_THAT(ran.of("add"), ElementsAre(types(e.bias, 2), types(kF32, 2)));
    EXPECT_THAT(ran.of("softmax_cross_entropy_sparse"), ElementsAre(kF32));
  }
}

// Layer norm runs in float32 between half-precision activations. Softmax, float32 when cast op by op, runs in its Cell's type. Of nested Cells the outermost
// counts, and to_float takes precedence.
TEST(Casting, MarkedCellsInEachOther) {
  const auto dense = [] { return nn::Dense::make({.in_channels = 4, .out_channels = 4, .weight_init = "he_uniform", .has_bias = false}); };
  const auto run = [](const nn::CellPtr& net, const char* level) {
    train::auto_mixed_precision(net, level);
    DType given = DType::kBool;
    const test::OpRecorder ran = test::record([&] { given = (*net)(Tensor::full({2, 4}, 0.5)).dtype(); });
    EXPECT_EQ(given, DType::kFloat32);
    return ran;
  };
  for (const char* level : {"cells_O2", "cells_O3"}) {
    const test::OpRecorder ran = run(nn::SequentialCell::make(dense(), nn::LayerNorm::make({.normalized_shape = {4}}), nn::Softmax::make(), dense()), level);
    const std::string norm = level == std::string("cells_O2") ? kF32 : kBf16;
    EXPECT_THAT(ran.of("layer_norm"), ElementsAre(types(norm, 3)));
    EXPECT_THAT(ran.of("softmax"), ElementsAre(kBf16));
    EXPECT_THAT(ran.of("matmul"), ElementsAre(types(kBf16, 2)));
  }
  const nn::CellPtr own = dense();
  own->to_float(DType::kFloat32);
  EXPECT_THAT(run(nn::SequentialCell::make(own, dense()), "cells_O1").of("matmul"), UnorderedElementsAre(types(kF32, 2), types(kBf16, 2)));
  EXPECT_THAT(run(nn::SequentialCell::make(own, dense()), "cells_O3").of("matmul"), UnorderedElementsAre(types(kF32, 2), types(kBf16, 2)));
}

TEST(Casting, EvaluationReadsMovingStatisticsInFloat32) {
  const nn::CellPtr net = test::small_net();
  const Tensor x = test::small_batch(2, 1)[0];
  const auto at = [&](const amp::Options& options) {
    return test::record([&] {
             const amp::AmpScope scope(options);
             (*net)(x);
           })
        .of("batch_norm_infer");
  };
  EXPECT_THAT(at({.level = Level::kO2}), ElementsAre(kBf16 + " " + types(kF32, 4)));
  EXPECT_THAT(at({.level = Level::kO3}), ElementsAre(types(kBf16, 5)));
}

TEST(Casting, GradientsOfParametersAreFloat32AndNearThoseOfFloat32) {
  const auto gradients = [](const amp::Options& options) {
    const nn::CellPtr net = test::small_net_with_loss();
    optim::Momentum optimizer(net->trainable_params(), optim::MomentumOptions{});
    train::TrainStep step = train::make_train_step(*net, optimizer, {.amp = options});
    return step.gradients(step, test::small_batch(8, 1)).second.of_params;
  };
  const TensorList exact = gradients({});
  for (const Level level : {Level::kO1, Level::kO2, Level::kO3}) {
    for (const DType half : {DType::kBFloat16, DType::kFloat16}) {
      const TensorList got = gradients({.level = level, .dtype = half});
      const double unit = half == DType::kBFloat16 ? 0x1p-8 : 0x1p-11;
      for (size_t i = 0; i < exact.size(); ++i) {
        EXPECT_EQ(got[i].dtype(), DType::kFloat32);
        const double size = ops::norm(exact[i]).item(), off = ops::norm(ops::sub(got[i], exact[i])).item();
        EXPECT_LE(off, 16 * unit * size + 1e-4) << amp::level_name(level) << " " << dtype_name(half) << " parameter " << i;
        if (level != Level::kO1 && size > 1e-3) { EXPECT_GT(off, 0) << "nothing was computed in " << dtype_name(half); }
      }
    }
  }
}

// A fused cluster may keep more digits than the separate ops, so results are compared bitwise with the passes off.
TEST(Casting, EagerAndGraphGiveTheSameBits) {
  const auto train = [](Mode mode, const amp::Options& options) {
    set_mode(mode);
    const nn::CellPtr net = test::small_net_with_loss();
    optim::Momentum optimizer(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.05});
    train::TrainStep step = train::make_train_step(*net, optimizer, {.amp = options});
    train::StepRunner runner(step, {.disable_passes = {"all"}});
    for (int64_t i = 0; i < 3; ++i) runner(test::small_batch(6, i), i);
    set_mode(Mode::kGraph);
    return test::state_bytes(*net, optimizer);
  };
  for (const Level level : {Level::kO1, Level::kO2, Level::kO3}) {
    for (const DType half : {DType::kBFloat16, DType::kFloat16}) {
      const amp::Options o{.level = level, .dtype = half};
      EXPECT_EQ(train(Mode::kGraph, o), train(Mode::kPynative, o)) << amp::level_name(level) << " " << dtype_name(half);
    }
  }
}

TEST(Casting, IntegersFloat64AndDecisionsAreLeftAlone) {
  const Tensor wide = Tensor::from_values({2}, {1, 1.0000000001}, DType::kFloat64), near = Tensor::from_values({2}, {1, 1.001}, DType::kFloat32);
  const amp::AmpScope scope({.level = Level::kO2});
  EXPECT_EQ(ops::mul(wide, wide).dtype(), DType::kFloat64);
  const Tensor index = Tensor::from_values({1}, {1}, DType::kInt64);
  EXPECT_EQ(ops::add(index, index).dtype(), DType::kInt64);
  EXPECT_EQ(ops::argmax(near, 0).item(), 1) << "1.001 is 1 in bfloat16";
  EXPECT_EQ(ops::cast(near, DType::kFloat32).dtype(), DType::kFloat32);
  EXPECT_EQ(ops::add(near, near).dtype(), DType::kBFloat16);
}

TEST(Casting, ToFloatHoldsForTheCellAndWhatItContains) {
  const auto dense = nn::Dense::make({.in_channels = 4, .out_channels = 3, .weight_init = "ones", .activation = "softmax"});
  const Tensor x = Tensor::full({2, 4}, 0.5, DType::kFloat32);
  dense->to_float(DType::kFloat16);
  const test::OpRecorder alone = test::record([&] { EXPECT_EQ((*dense)(x).dtype(), DType::kFloat16); });
  EXPECT_THAT(alone.of("matmul"), ElementsAre(types(kF16, 2)));
  EXPECT_THAT(alone.of("softmax"), ElementsAre(kF16));
  const auto net = nn::SequentialCell::make(dense, nn::Dense::make({.in_channels = 3, .out_channels = 2}));
  const auto run = [&] {
    const amp::AmpScope scope({.level = Level::kO2});
    (*net)(x);
  };
  EXPECT_THAT(test::record(run).of("matmul"), ElementsAre(types(kBf16, 2), types(kF16, 2)));
  dense->to_float(DType::kFloat32);
  EXPECT_THAT(test::record(run).of("matmul"), ElementsAre(types(kBf16, 2), types(kF32, 2)));
  EXPECT_THAT(test::record(run).of("softmax"), ElementsAre(kF32));
  for (Parameter* p : net->trainable_params()) EXPECT_EQ(p->dtype(), DType::kFloat32);
  EXPECT_THROW(dense->to_float(DType::kFloat64), ValueError);
  EXPECT_THROW(dense->to_float(DType::kInt32), ValueError);
}

TEST(Casting, ListsNameOpsAndCells) {
  const test::OpRecorder black = forward_at({.level = Level::kO2, .black_list = {"Dense", "relu"}});
  EXPECT_THAT(black.of("matmul"), ElementsAre(types(kF32, 2)));
  EXPECT_THAT(black.of("add"), ElementsAre(types(kF32, 2)));
  EXPECT_THAT(black.of("relu"), ElementsAre(kF32));
  EXPECT_THAT(black.of("conv2d"), ElementsAre(types(kBf16, 2)));
  const test::OpRecorder white = forward_at({.white_list = {"matmul"}});
  EXPECT_THAT(white.of("matmul"), ElementsAre(types(kBf16, 2)));
  EXPECT_THAT(white.of("conv2d"), ElementsAre(types(kF32, 2)));
  EXPECT_THAT(white.of("add"), ElementsAre(types(kF32, 2)));
  const test::OpRecorder cell = forward_at({.level = Level::kO1, .white_list = {"ReLU"}});
  EXPECT_THAT(cell.of("relu"), ElementsAre(kBf16));
}

TEST(Casting, NetworksWithAPrecisionOfTheirOwn) {
  const Tensor x = test::small_batch(2, 1)[0];
  const nn::CellPtr o2 = train::auto_mixed_precision(test::small_net(), "O2", DType::kFloat16);
  const test::OpRecorder ran = test::record([&] { EXPECT_EQ((*o2)(x).dtype(), DType::kFloat32); });
  EXPECT_THAT(ran.of("conv2d"), ElementsAre(types(kF16, 2)));
  const nn::CellPtr white = train::custom_mixed_precision(test::small_net(), train::get_white_list(), {});
  EXPECT_THAT(test::record([&] { (*white)(x); }).of("relu"), ElementsAre(kF32));
  const nn::CellPtr black = train::custom_mixed_precision(test::small_net(), {}, {"BatchNorm2d"});
  const test::OpRecorder b = test::record([&] { (*black)(x); });
  EXPECT_THAT(b.of("batch_norm_infer"), ElementsAre(types(kF32, 5)));
  EXPECT_THAT(b.of("relu"), ElementsAre(kBf16));
  EXPECT_THROW(train::custom_mixed_precision(test::small_net(), {}, {}), ValueError);
  EXPECT_THROW(train::custom_mixed_precision(test::small_net(), {"Dense"}, {"Conv2d"}), ValueError);
  EXPECT_THROW(train::auto_mixed_precision(test::small_net(), "O4"), ValueError);
}

// y = 3x with a custom gradient of 7, so that the test notices if the rule is bypassed.
class OwnRule final : public nn::Cell {
 public:
  OwnRule() : Cell("OwnRule") {}
  Tensor construct(const Tensor& x) override { return ops::mul(x, 3.0); }
  bool has_bprop() const override { return true; }
  TensorList bprop(Span<const Tensor>, Span<const Tensor>, Span<const Tensor> dout) override { return {ops::mul(dout[0], 7.0)}; }
};

TEST(Casting, ACellsOwnGradientRuleHolds) {
  OwnRule cell;
  const Tensor x = Tensor::full({2}, 1, DType::kFloat32);
  const auto f = [&](Span<const Tensor> in) -> TensorList {
    const amp::AmpScope scope({.level = Level::kO2});
    return {cell(in[0])};
  };
  const auto [y, g] = value_and_grad(f, {&x, 1}, {0}, {});
  EXPECT_EQ(y[0].dtype(), DType::kBFloat16);
  EXPECT_EQ(g.of_inputs[0].dtype(), DType::kFloat32);
  EXPECT_EQ(g.of_inputs[0].to_vector<double>(), (std::vector<double>{7, 7}));
}

template <class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "nothing was thrown";
}

TEST(Casting, RefusesOptionsThatWouldDoNothing) {
  const auto check = [](const amp::Options& o) { return message_of([&] { amp::check(o, {"Dense", "Conv2d"}); }); };
  EXPECT_THAT(check({.level = Level::kO1, .dtype = DType::kFloat32}), HasSubstr("must be bfloat16 or float16, got float32"));
  EXPECT_THAT(check({.level = Level::kO1, .keep_batchnorm_fp32 = false}), HasSubstr("no meaning at level O1"));
  EXPECT_THAT(check({.black_list = {"Dense"}}), HasSubstr("no meaning at level O0"));
  EXPECT_THAT(check({.level = Level::kO2, .white_list = {"Dense"}, .black_list = {"Dense"}}), HasSubstr("in white_list and in black_list"));
  EXPECT_THAT(check({.level = Level::kO2, .white_list = {"matmull"}}), HasSubstr("did you mean 'matmul'?"));
  EXPECT_THAT(check({.level = Level::kO2, .black_list = {"Dens"}}), HasSubstr("did you mean 'Dense'"));
  EXPECT_EQ(check({.level = Level::kO2, .keep_batchnorm_fp32 = false, .black_list = {"Dense", "add"}}), "nothing was thrown");
  EXPECT_THROW(amp::parse_level("O4"), ValueError);
  EXPECT_THROW(amp::parse_half("f32"), ValueError);
}

}  // namespace
}  // namespace sindri
