// THOR against values computed by hand (float64 forms), and properties that hold for any values.
#include "sindri/optim/thor.h"

#include "sindri/ops/conv.h"
#include "sindri/ops/curvature.h"
#include "sindri/ops/norm.h"
#include "sindri/ops/shape.h"
#include "sindri/optim/momentum.h"
#include "sindri/optim/registry.h"
#include "tests/optim/thor_samples.h"

namespace sindri::optim {
namespace thor_samples {

TEST(Thor, DenseLayer) {
  DenseCase c;
  Thor thor({{&c.w}}, options(0.04));
  expect_near(thor.precondition(c.step()).of_params[0], kDenseStep);
  expect_near(state(thor, "matrix_a_inv.weight"), {1.52230971, -0.26246719, -0.26246719, 0.73490814});
  expect_near(state(thor, "matrix_g_inv.weight"), {1.21212121});
  EXPECT_THAT(thor.curvature(), testing::SizeIs(1));
  EXPECT_EQ(thor.curvature()[0].a_dim, 2);
  EXPECT_EQ(thor.curvature()[0].bytes, 4 * (4 + 1));
}

// A weight stored as [in, out] has the same step, transposed; so does one on the left side of the product.
TEST(Thor, AWeightOnEitherSideOfAProduct) {
  DenseCase c;
  Parameter turned(tensor({2, 1}, {1, -1}), "turned");
  Thor right({{&turned}}, options(0.04));
  expect_near(right.precondition(gradients([&] { return ops::matmul(c.x, turned.value()); }, c.dout, {&turned}, 4)).of_params[0], kDenseStep);
  Thor left({{&c.w}}, options(0.04));
  const Tensor dout = ops::reshape(c.dout, {1, 4});
  expect_near(left.precondition(gradients([&] { return ops::matmul(c.w.value(), c.x, false, true); }, dout, {&c.w}, 4)).of_params[0], kDenseStep);
}

TEST(Thor, TwoUpdates) {
  DenseCase c;
  ThorOptions o = options(0.04);
  o.weight_decay = 0.01;
  Thor thor({{&c.w}}, o);
  thor.apply(thor.precondition(c.step()).of_params);
  expect_near(c.w.value(), {0.92582733, -0.97593470});
  thor.apply(thor.precondition(c.step()).of_params);  // the gradient does not depend on the weight
  expect_near(c.w.value(), {0.78497343, -0.93023470});
}

TEST(Thor, AClippedStepHasTheNormOne) {
  for (const double g : {1.0, 100.0}) {
    DenseCase c;
    ThorOptions o = options(0.04);
    o.enable_clip_grad = true;
    o.batch_size = 4;
    Thor thor({{&c.w}}, o);
    Gradients grads = c.step();
    grads = thor.precondition(std::move(grads));
    grads.of_params[0] = ops::mul(grads.of_params[0], g);
    thor.apply(grads.of_params);
    const double norm = g == 1 ? 1 : 100 * 0.76721887;  // a step shorter than 1 is unchanged
    expect_near(c.w.value(), {1 - 0.1 * g * kDenseStep[0] / norm, -1 - 0.1 * g * kDenseStep[1] / norm});
  }
}

TEST(Thor, TheLossScaleDoesNotMatter) {
  std::vector<Values> steps;
  for (const double scale : {1.0, 128.0, 65536.0}) {
    DenseCase c;
    ThorOptions o = options(0.04);
    Thor thor({{&c.w}}, o);
    Gradients g = c.step(scale);
    g.inv_scale = Tensor::scalar(1 / scale);
    steps.push_back(thor.precondition(g).of_params[0].to_vector<double>());
    // The optimizer's scale: apply divides by it.
    o.loss_scale = scale;
    Thor own({{&c.w}}, o);
    Gradients scaled = c.step(scale);
    for (ParamUse& use : scaled.uses) use.loss_scale = {};
    Parameter before(c.w.value(), "before");
    own.apply(own.precondition(scaled).of_params);
    expect_near(c.w.value(), {1 - 0.1 * kDenseStep[0], -1 - 0.1 * kDenseStep[1]});
  }
  EXPECT_EQ(steps[0], steps[1]);
  EXPECT_EQ(steps[0], steps[2]);
}

TEST(Thor, PointwiseConvolution) {
  Parameter w(tensor({1, 2, 1, 1}, {0.3, 0.2}), "weight");
  // Samples of two positions: patches (1,0) (0,1), then (1,2) (1,0); gradients of samples 1, -1, 0.5, 0.5.
  const Tensor x = tensor({2, 2, 1, 2}, {1, 0, 0, 1, 1, 1, 2, 0}), dout = tensor({2, 1, 1, 2}, {0.5, -0.5, 0.25, 0.25});
  Thor thor({{&w}}, options(0.08));
  expect_near(thor.precondition(gradients([&] { return ops::conv2d(x, w.value()); }, dout, {&w}, 2)).of_params[0], {0.77941275, -0.26876302});
}

TEST(Thor, BlocksOfTheInverse) {
  const Tensor m = tensor({4, 4}, {4, 1, 0.5, 0, 1, 3, 0, 0.2, 0.5, 0, 2, 0.3, 0, 0.2, 0.3, 1});
  const Values first = {0.26473100, -0.08539710, -0.08539710, 0.35012810}, second = {0.49549550, -0.13513514, -0.13513514, 0.94594595};
  const auto blocks = [](const Tensor& whole, int64_t d) {  // of width 2
    const Tensor a = ops::slice(whole, {0, 0}, {2, 2});
    const Tensor b = d == 4 ? ops::slice(whole, {2, 2}, {4, 4}) : ops::pad(ops::slice(whole, {2, 2}, {3, 3}), {0, 1, 0, 1});
    return ops::stack({a, b}, 0);
  };
  Values both = first;
  both.insert(both.end(), second.begin(), second.end());
  const auto [inverse, failed] = ops::damped_inverse(blocks(m, 4), Tensor::scalar(0.1), Tensor::zeros({2, 2, 2}), 4);
  expect_near(inverse, both);
  EXPECT_EQ(failed.item(), 0);
  const auto [partial, failed3] = ops::damped_inverse(blocks(m, 3), Tensor::scalar(0.1), Tensor::zeros({2, 2, 2}), 3);
  both = first;
  both.insert(both.end(), {0.47619048, 0, 0, 0});
  expect_near(partial, both);
}

TEST(Thor, Embedding) {
  Parameter table(drawn({3, 2}, 1), "embedding_table");
  const Tensor ids = Tensor::from_vector<int32_t>({3}, {0, 0, 2}), dout = tensor({3, 2}, {0.1, 0.2, -0.3, 0.1, 0.2, 0});
  Thor thor({{&table}}, options(0.04));
  expect_near(thor.precondition(gradients([&] { return ops::embedding(table.value(), ids); }, dout, {&table}, 3)).of_params[0],
              {-0.32570391, 0.96109351, 0, 0, 0.60735770, 0.05205923});
}

TEST(Thor, LayerNorm) {
  Parameter gamma(tensor({3}, {1, 1, 1}), "gamma"), beta(tensor({3}, {0, 0, 0}), "beta");
  ThorOptions o = options(0.03);
  o.batch_size = 32;
  Thor thor(std::vector<Parameter*>{&gamma, &beta}, o);
  const Tensor x = drawn({4, 3}, 2);
  Gradients g = gradients([&] { return ops::layer_norm(x, gamma.value(), beta.value(), 1, 1e-5); }, drawn({4, 3}, 3), {&gamma, &beta}, 4);
  g.of_params = {tensor({3}, {0.3, -2, 10}), tensor({3}, {10, 0.3, -2})};
  const Gradients u = thor.precondition(g);
  expect_near(u.of_params[0], {1.70437520, -6.70679384, 3.03195215});
  expect_near(u.of_params[1], {3.03195215, 1.70437520, -6.70679384});
}

// λ·U → dW as λ grows: the effect of the curvature vanishes, for convolutions as for products.
TEST(Thor, LargeDampingGivesTheGradient) {
  Parameter w(drawn({6, 5}, 1), "w"), k(drawn({4, 3, 3, 3}, 2), "k");
  Thor thor(std::vector<Parameter*>{&w, &k}, options(1e8));
  const Tensor x = drawn({7, 5}, 3), dx = drawn({7, 6}, 4, 0.1), image = drawn({2, 3, 6, 6}, 5), dimage = drawn({2, 4, 6, 6}, 6, 0.1);
  Gradients g = gradients([&] { return ops::matmul(x, w.value(), false, true); }, dx, {&w, &k}, 7);
  const ops::Conv2dAttrs same{.pad = {1, 1, 1, 1}};
  const Gradients conv = gradients([&] { return ops::conv2d(image, k.value(), same); }, dimage, {&w, &k}, 7);
  g.of_params[1] = conv.of_params[1];
  g.uses.insert(g.uses.end(), conv.uses.begin(), conv.uses.end());
  const Gradients u = thor.precondition(g);
  for (size_t i = 0; i < 2; ++i) expect_near(ops::mul(u.of_params[i], 1e8), g.of_params[i].to_vector<double>(), 2e-3);
}

// A convolution whose kernel covers its whole input equals a dense layer; blocks as wide as a factor keep all of it.
TEST(Thor, AConvolutionOverItsWholeInputIsADenseLayer) {
  const Tensor x = drawn({5, 2, 3, 3}, 1), dout = drawn({5, 4}, 2, 0.2), value = drawn({4, 18}, 3);
  Parameter w(value, "w"), k(ops::reshape(value, {4, 2, 3, 3}), "k");
  Thor dense({{&w}}, options(0.1, 18)), conv({{&k}}, options(0.1));
  const Tensor a = dense.precondition(gradients([&] { return ops::matmul(ops::reshape(x, {5, 18}), w.value(), false, true); }, dout, {&w}, 5)).of_params[0];
  const Tensor b = conv.precondition(gradients([&] { return ops::conv2d(x, k.value()); }, ops::reshape(dout, {5, 4, 1, 1}), {&k}, 5)).of_params[0];
  expect_near(a, b.to_vector<double>(), 1e-4);
}

// <U, dW> > 0, and a batch that contains every sample twice gives the same step: groups, blocks, strides.
TEST(Thor, DescendsAndSeesMeans) {
  const ops::Conv2dAttrs attrs{.stride = {2, 2}, .pad = {1, 1, 1, 1}, .groups = 2};
  Parameter k(drawn({4, 3, 3, 3}, 2), "k");
  const Tensor x = drawn({3, 6, 7, 7}, 3), dout = drawn({3, 4, 4, 4}, 4, 0.3);
  std::vector<Tensor> u;
  for (const int times : {1, 2}) {
    Thor thor({{&k}}, options(0.05, 8));
    const std::vector<Tensor> xs(static_cast<size_t>(times), x), ds(static_cast<size_t>(times), ops::mul(dout, 1.0 / times));
    const Gradients g = gradients([&] { return ops::conv2d(ops::concat(xs, 0), k.value(), attrs); }, ops::concat(ds, 0), {&k}, 3 * times);
    u.push_back(thor.precondition(g).of_params[0]);
    double product = 0;
    const Values a = u.back().to_vector<double>(), b = g.of_params[0].to_vector<double>();
    for (size_t i = 0; i < a.size(); ++i) product += a[i] * b[i];
    EXPECT_GT(product, 0);
  }
  expect_near(u[0], u[1].to_vector<double>(), 1e-4);
}

// Several uses of a weight, and micro-batches, give the mean over all their rows.
TEST(Thor, UsesAreAddedUp) {
  Parameter w(drawn({3, 4}, 1), "w");
  const Tensor x = drawn({6, 4}, 2), dout = drawn({6, 3}, 3, 0.3);
  Thor once({{&w}}, options(0.05)), twice({{&w}}, options(0.05));
  const auto part = [&](const Tensor& t, int64_t i) { return ops::slice(t, {3 * i, 0}, {3 * i + 3, t.shape()[1]}); };
  const Tensor whole = once.precondition(gradients([&] { return ops::matmul(x, w.value(), false, true); }, dout, {&w}, 6)).of_params[0];
  const auto halves = [&] { return ops::concat({ops::matmul(part(x, 0), w.value(), false, true), ops::matmul(part(x, 1), w.value(), false, true)}, 0); };
  expect_near(twice.precondition(gradients(halves, dout, {&w}, 6)).of_params[0], whole.to_vector<double>(), 1e-5);
}

TEST(Thor, InversesStayBetweenRefreshes) {
  Parameter w(drawn({3, 4}, 1), "w");
  ThorOptions o = options(0.05);
  o.frequency = 3;
  Thor thor({{&w}}, o);
  const auto inverse = [&] { return state(thor, "matrix_a_inv.w").to_vector<double>(); };
  std::vector<int> variants;
  Values before;
  for (int step = 0; step < 8; ++step) {
    const int variant = thor.variant(step);
    variants.push_back(variant);
    Gradients g = gradients([&] { return ops::matmul(drawn({6, 4}, 10 + step), w.value(), false, true); }, drawn({6, 3}, 30 + step, 0.3), {&w}, 6);
    g.variant = variant;
    thor.apply(thor.precondition(g).of_params);
    EXPECT_EQ(variant == 1, inverse() == before) << step;
    before = inverse();
  }
  EXPECT_THAT(variants, testing::ElementsAre(0, 1, 1, 0, 1, 1, 0, 1));
}

// If nothing could be inverted yet, or the first step was skipped, the next step computes the curvature.
TEST(Thor, TheFirstCurvatureIsTakenUntilItIsThere) {
  DenseCase c;
  Thor thor({{&c.w}}, options(0.04));
  EXPECT_EQ(thor.variant(0), 0);
  Gradients left_out = c.step(INFINITY);
  left_out.skip = Tensor::scalar(1, DType::kBool);
  thor.precondition(left_out);
  EXPECT_EQ(thor.variant(1), 0);
  expect_near(thor.precondition(c.step()).of_params[0], kDenseStep);
  EXPECT_EQ(thor.variant(2), 1);
}

TEST(Thor, AFactorThatCannotBeInvertedKeepsTheOldInverse) {
  DenseCase c;
  Thor thor({{&c.w}}, options(0.04));
  thor.precondition(c.step());
  Gradients bad = c.step();
  bad.uses[0].operands[0] = ops::mul(bad.uses[0].operands[0], NAN);
  const Tensor u = thor.precondition(bad).of_params[0];
  expect_near(u, kDenseStep);
  testing::internal::CaptureStderr();
  EXPECT_EQ(thor.variant(100), 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("1 factors could not be inverted"));
  testing::internal::CaptureStderr();
  thor.variant(200);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Thor, WhatHasNoCurvatureIsMomentum) {
  Parameter a(drawn({5}, 1), "a"), b(a.value(), "b"), w(drawn({3, 4}, 2), "w");
  ThorOptions o = options(0.05);
  o.weight_decay = 0.01;
  Thor thor(std::vector<Parameter*>{&a, &w}, o);
  Momentum momentum({{&b}}, {.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01});
  for (uint32_t step = 0; step < 3; ++step) {
    Gradients g = gradients([&] { return ops::matmul(drawn({6, 4}, step), w.value(), false, true); }, drawn({6, 3}, step + 7), {&a, &w}, 6);
    g.of_params[0] = drawn({5}, step + 20);
    const Tensor grad = g.of_params[0];
    thor.apply(thor.precondition(g).of_params);
    momentum.apply({grad});
    EXPECT_EQ(a.value().to_vector<double>(), b.value().to_vector<double>());
  }
}

TEST(Thor, DecayFilterRunningAverageAndKlClip) {
  DenseCase c;
  ThorOptions o = options(0.04);
  o.weight_decay = 0.5;
  o.decay_filter = [](const Parameter& p) { return p.name() != "weight"; };
  o.factor_decay = 0.9;
  Thor thor({{&c.w}}, o);
  thor.apply(thor.precondition(c.step()).of_params);
  expect_near(c.w.value(), {1 - 0.1 * kDenseStep[0], -1 - 0.1 * kDenseStep[1]});
  // The average of equal factors is the factor; with different ones it moves by a tenth.
  expect_near(thor.precondition(c.step()).of_params[0], kDenseStep);
  Gradients doubled = c.step();
  doubled.uses[0].operands[0] = ops::mul(doubled.uses[0].operands[0], 2);
  thor.precondition(doubled);
  const Values a = state(thor, "matrix_a.weight").to_vector<double>();
  EXPECT_NEAR(a[0], 0.5 * 0.9 + 2.0 * 0.1, 1e-6);

  // κ such that ν = 1/2: lr²·<U, dW> = 4κ.
  const double product = kDenseStep[0] * 0.375 + kDenseStep[1] * -0.125;
  o = options(0.04);
  o.kl_clip = 0.01 * product / 4;
  Thor clipped({{&c.w}}, o);
  expect_near(clipped.precondition(c.step()).of_params[0], {kDenseStep[0] / 2, kDenseStep[1] / 2});
}

TEST(Thor, TheTraceRuleKeepsAndFreezes) {
  DenseCase c;
  ThorOptions o = options(0.04);
  o.trace_rule = {0.5, 0.01};
  Thor thor({{&c.w}}, o);
  const auto inverse = [&] { return state(thor, "matrix_a_inv.weight").to_vector<double>(); };
  const auto step = [&](double times) {
    Gradients g = c.step();
    g.uses[0].operands[0] = ops::mul(g.uses[0].operands[0], times);
    thor.precondition(g);
    return inverse();
  };
  const Values first = step(1);
  EXPECT_EQ(step(1.1), first);  // a change of a fifth: the old inverses are kept
  const Values second = step(3);
  EXPECT_NE(second, first);
  EXPECT_EQ(step(3), second);  // no change: frozen
  EXPECT_EQ(step(10), second);
}

// The published schedules, 5004 steps per epoch.
TEST(Thor, SchedulesOfTheResNetTrainings) {
  const auto rate = [](double init, double power, double end, int64_t step) {
    const Course course{.learning_rate = init, .steps = 5004 * 45, .steps_per_epoch = 5004};
    return schedules().make("epoch_poly", {{"end_epoch", end}, {"power", power}, {"halve_at", Values{39, 40}}}, course)->rate(step);
  };
  const auto at = [](int64_t epoch) { return epoch * 5004 - 1; };  // the step that ends it
  const auto near = [](double got, double want) { EXPECT_NEAR(got, want, 1e-6 * want); };
  const std::pair<int64_t, double> ascend[] = {{0, 0.058029106},           {at(1), 0.053686909},   {at(10), 0.024706099},
                                               {at(39) - 1, 2.5268528e-4}, {at(39), 1.2633528e-4}, {at(40), 4.6671914e-5}};
  for (const auto& [step, want] : ascend) near(rate(0.05803, 4.0839, 53, step), want);
  const std::pair<int64_t, double> gpu[] = {{0, 0.056718874}, {at(10), 0.018716276}, {at(40), 4.7720388e-6}};
  for (const auto& [step, want] : gpu) near(rate(0.05672, 4.9687, 50, step), want);
  // The damping of an optimizer created by name: one update of a dense layer with it, and with the value that it has at that step.
  DenseCase c;
  Parameter w(c.w.value(), "w2");
  const auto made =
      optimizers().make("thor", {{"damping", Values{0.03}}, {"damping_decay", 0.50036}, {"damping_decay_steps", int64_t{50040}}, {"block_size", int64_t{0}}},
                        Params({&c.w}), OptimizerOptions{.learning_rate = 0.1});
  Thor number({{&w}}, options(0.029999585));
  Gradients other = gradients([&] { return ops::matmul(c.x, w.value(), false, true); }, c.dout, {&w}, 4);
  expect_near(made->precondition(c.step()).of_params[0], number.precondition(other).of_params[0].to_vector<double>(), 1e-6);
}

TEST(Thor, RefusesWhatCannotBe) {
  Parameter w(drawn({3, 4}, 1), "w");
  const auto refuses = [&](const std::function<void(ThorOptions&)>& change, const char* text) {
    ThorOptions o = options(0.03);
    change(o);
    try {
      Thor thor({{&w}}, o);
      thor.variant(3);
      ADD_FAILURE() << text;
    } catch (const ValueError& e) { EXPECT_THAT(e.what(), testing::HasSubstr(text)); }
  };
  refuses([](ThorOptions& o) { o.momentum = -0.1; }, "momentum must not be negative");
  refuses([](ThorOptions& o) { o.frequency = 0; }, "frequency must be at least 1");
  refuses([](ThorOptions& o) { o.learning_rate = -1.0; }, "learning rate must not be negative");
  refuses([](ThorOptions& o) { o.loss_scale = 0; }, "loss_scale must be positive");
  refuses([](ThorOptions& o) { o.weight_decay = -1.0; }, "weight_decay must not be negative");
  refuses([](ThorOptions& o) { o.damping = std::vector<float>{0.1f, 0.1f, 0.1f}; }, "damping has 3 entries, update 3 needs one more");
  refuses([](ThorOptions& o) { o.damping = -0.1; }, "damping must not be negative");
  refuses([](ThorOptions& o) { o.trace_rule = {0.1, 0.2}; }, "trace_rule");
  EXPECT_THROW(Thor(std::vector<Parameter*>{}, options(0.03)), ValueError);
  // Nothing to precondition: one message, and Momentum.
  Thor thor({{&w}}, options(0.03));
  Gradients g;
  g.of_params = {drawn({3, 4}, 2)};
  testing::internal::CaptureStderr();
  EXPECT_EQ(thor.precondition(g).of_params[0].to_vector<double>(), g.of_params[0].to_vector<double>());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("this is Momentum"));
}

}  // namespace thor_samples
}  // namespace sindri::optim
