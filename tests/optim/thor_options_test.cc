// Options of THOR: other statistics and dampings, folded biases, refreshes in pieces, several parts of a batch; and properties of the method.
#include <numeric>

#include "optim/thor/impl.h"
#include "sindri/ops/conv.h"
#include "sindri/ops/curvature.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/norm.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "tests/optim/thor_samples.h"

namespace sindri::optim {
namespace thor_samples {

Tensor first_step(ThorOptions o, const std::function<void(ThorOptions&)>& change) {
  DenseCase c;
  change(o);
  Thor thor({{&c.w}}, o);
  return thor.precondition(c.step()).of_params[0];
}

TEST(ThorOptions, JointDampingIsTheExactInverse) {
  const auto joint = [](ThorOptions& o) { o.damping_form = "joint"; };
  expect_near(first_step(options(0.04), joint), {1.23549210, -0.38727019});
  // If a step that reuses the eigenvectors has another damping, its result is as if that damping had been used from the start.
  DenseCase c;
  ThorOptions o = options(0.04);
  joint(o);
  Thor thor({{&c.w}}, o);
  thor.precondition(c.step());
  thor.set_damping(0.5);
  Gradients g = c.step();
  g.variant = 1;
  expect_near(thor.precondition(g).of_params[0], first_step(options(0.5), joint).to_vector<double>());
  EXPECT_EQ(thor.curvature()[0].bytes, 4 * (4 + 2 + 1 + 1));
  expect_near(state(thor, "matrix_g_values.weight"), {0.625});
}

// Against the dense inverse of hw·A⊗G + λ·I: a convolution with two groups in blocks, an embedding, a product with the weight on the left.
TEST(ThorOptions, JointDampingOfEveryKindOfLayer) {
  const double lambda = 0.3;
  ThorOptions o = options(lambda);
  o.damping_form = "joint";
  const auto check = [&](Parameter& w, const Gradients& g, const Tensor& a, const Tensor& b, double positions, bool turned) {
    Thor thor({{&w}}, o);
    const Tensor u = thor.precondition(g).of_params[0];
    const int64_t rows = b.dim(0), columns = a.dim(0);
    const Tensor grad = turned ? ops::transpose(g.of_params[0], {1, 0}) : ops::reshape(g.of_params[0], {rows, columns});
    // vec over rows: (G ⊗ A + λ)·u = grad.
    const Tensor kron =
        ops::reshape(ops::mul(ops::reshape(b, {rows, 1, rows, 1}), ops::reshape(a, {1, columns, 1, columns})), {rows * columns, rows * columns});
    Values eye(static_cast<size_t>(rows * columns * rows * columns), 0);
    for (int64_t i = 0; i < rows * columns; ++i) eye[static_cast<size_t>(i * rows * columns + i)] = lambda;
    const Tensor whole = ops::add(ops::mul(kron, positions), tensor({rows * columns, rows * columns}, eye));
    const Tensor want = ops::matmul(ops::inverse(whole), ops::reshape(grad, {rows * columns, 1}));
    const Tensor got = turned ? ops::transpose(u, {1, 0}) : u;
    expect_near(ops::reshape(got, {rows * columns}), want.to_vector<double>(), 2e-4);
  };
  const auto gram = [](const Tensor& x, double by) { return ops::mul(ops::matmul(x, x, true, false), by); };
  {
    Parameter w(drawn({4, 3}, 1), "w");  // [inputs, outputs]
    const Tensor x = drawn({6, 4}, 2), dout = drawn({6, 3}, 3, 0.2);
    check(w, gradients([&] { return ops::matmul(x, w.value()); }, dout, {&w}, 6), gram(x, 1.0 / 6), gram(dout, 36.0 / 6), 1, true);
  }
  {
    Parameter k(drawn({3, 2, 1, 1}, 4), "k");
    const Tensor x = drawn({2, 2, 2, 2}, 5), dout = drawn({2, 3, 2, 2}, 6, 0.2);
    const auto rows = [](const Tensor& t) { return ops::reshape(ops::transpose(t, {0, 2, 3, 1}), {8, t.dim(1)}); };
    check(k, gradients([&] { return ops::conv2d(x, k.value()); }, dout, {&k}, 2), gram(rows(x), 1.0 / 8), gram(rows(dout), 4.0 / 8), 4, false);
  }
  {
    Parameter table(drawn({3, 2}, 7), "table");
    const Tensor ids = Tensor::from_vector<int32_t>({4}, {0, 0, 2, 0}), dout = drawn({4, 2}, 8, 0.5);
    const Tensor counts = tensor({3, 3}, {0.75, 0, 0, 0, 0, 0, 0, 0, 0.25});
    const Gradients g = gradients([&] { return ops::embedding(table.value(), ids); }, dout, {&table}, 4);
    Thor thor({{&table}}, o);
    const Tensor u = thor.precondition(g).of_params[0], other = gram(dout, 16.0 / 4);
    // Here rows belong to A's side.
    const Tensor kron = ops::reshape(ops::mul(ops::reshape(counts, {3, 1, 3, 1}), ops::reshape(other, {1, 2, 1, 2})), {6, 6});
    Values eye(36, 0);
    for (size_t i = 0; i < 6; ++i) eye[7 * i] = lambda;
    expect_near(ops::reshape(u, {6}), ops::matmul(ops::inverse(ops::add(kron, tensor({6, 6}, eye))), ops::reshape(g.of_params[0], {6, 1})).to_vector<double>(),
                2e-4);
  }
}

TEST(ThorOptions, WhatMindSporeComputes) {
  const auto compat = [](ThorOptions& o) { o.compat = "mindspore"; };
  expect_near(first_step(options(0.04), compat), {0.43579609, -0.13681970});
  for (const bool only_statistics : {false, true}) {
    Parameter w(tensor({1, 2, 1, 1}, {0.3, 0.2}), "weight");
    const Tensor x = tensor({2, 2, 1, 2}, {1, 0, 0, 1, 1, 1, 2, 0}), dout = tensor({2, 1, 1, 2}, {0.5, -0.5, 0.25, 0.25});
    ThorOptions o = options(0.08);
    if (only_statistics) o.statistics = "batch_mean";
    else compat(o);
    Thor thor({{&w}}, o);
    expect_near(thor.precondition(gradients([&] { return ops::conv2d(x, w.value()); }, dout, {&w}, 2)).of_params[0], {2.77544155, -2.10260723});
  }
}

/// Gradients of a batch in two parts of one sample each, whose G are 0.2 and 1.8.
Gradients two_parts(Parameter& w) {
  Gradients g;
  for (const double square : {0.2, 1.8}) {
    Gradients part = gradients(
        [&] {
          return ops::matmul(Tensor::from_values({1, 1}, {1}), w.value(), false, true);
        },
        tensor({1, 1}, {std::sqrt(square)}), {&w}, 2, 1);
    for (ParamUse& use : part.uses) use.loss_scale = Tensor::scalar(2);  // the scale of one part's own loss
    g.parts.push_back(g.uses.size());
    g.uses.insert(g.uses.end(), part.uses.begin(), part.uses.end());
    g.of_params = part.of_params;
  }
  g.samples = 2;
  g.mean_over_parts = [](const std::vector<TensorList>& parts) {
    TensorList out;
    for (size_t i = 0; i < parts[0].size(); ++i) out.push_back(ops::mul(ops::add(parts[0][i], parts[1][i]), 0.5));
    return out;
  };
  return g;
}

TEST(ThorOptions, MeansOfFactorsAndOfInverses) {
  for (const bool inverses : {false, true}) {
    Parameter w(tensor({1, 1}, {1}), "w");
    ThorOptions o = options(0.04);
    if (inverses) o.reduce = "inverse_mean";
    Thor thor({{&w}}, o);
    thor.precondition(two_parts(w));
    expect_near(state(thor, "matrix_g_inv.w"), {inverses ? 1.5 : 0.83333333});
  }
}

TEST(ThorOptions, AFailedInverseOfAPartIsTold) {
  Parameter w(tensor({1, 1}, {1}), "w");
  ThorOptions o = options(0.04);
  o.reduce = "inverse_mean";
  Thor thor({{&w}}, o);
  thor.precondition(two_parts(w));
  Gradients bad = two_parts(w);
  bad.uses[1].output_grad = ops::mul(bad.uses[1].output_grad, NAN);
  thor.precondition(bad);
  testing::internal::CaptureStderr();
  thor.variant(100);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("1 factors could not be inverted"));
  for (const double v : state(thor, "matrix_g_inv.w").to_vector<double>()) EXPECT_TRUE(std::isfinite(v));
}

// A layer with a folded bias equals a layer without bias whose input has a trailing 1.
TEST(ThorOptions, AFoldedBiasIsAColumnOfTheWeight) {
  for (const std::string form : {"factored", "joint"}) {
    ThorOptions o = options(0.05, 3), plain = o;
    o.fold_bias = true;
    o.damping_form = plain.damping_form = form;
    o.kl_clip = plain.kl_clip = 1e-3;
    const Tensor x = drawn({6, 4}, 2), dout = drawn({6, 3}, 3, 0.3), ones = Tensor::from_values({6, 1}, Values(6, 1));
    Parameter w(drawn({3, 4}, 1), "w"), b(drawn({3}, 5), "b");
    Parameter both(ops::concat({w.value(), ops::reshape(b.value(), {3, 1})}, 1), "both");
    Thor folded(std::vector<Parameter*>{&w, &b}, o), whole({{&both}}, plain);
    const Gradients u = folded.precondition(gradients([&] { return ops::add(ops::matmul(x, w.value(), false, true), b.value()); }, dout, {&w, &b}, 6));
    const Tensor wide = ops::concat({x, ones}, 1);
    const Tensor v = whole.precondition(gradients([&] { return ops::matmul(wide, both.value(), false, true); }, dout, {&both}, 6)).of_params[0];
    expect_near(ops::concat({u.of_params[0], ops::reshape(u.of_params[1], {3, 1})}, 1), v.to_vector<double>(), 1e-4);
    ASSERT_THAT(folded.curvature(), testing::SizeIs(1));
    EXPECT_EQ(folded.curvature()[0].a_dim, 5);
    // The weight stored transposed.
    Parameter turned(ops::transpose(w.value(), {1, 0}), "turned");
    Thor other(std::vector<Parameter*>{&turned, &b}, o);
    const Gradients t = other.precondition(gradients([&] { return ops::add(ops::matmul(x, turned.value()), b.value()); }, dout, {&turned, &b}, 6));
    expect_near(ops::transpose(t.of_params[0], {1, 0}), u.of_params[0].to_vector<double>(), 1e-4);
    expect_near(t.of_params[1], u.of_params[1].to_vector<double>(), 1e-4);
  }
}

TEST(ThorOptions, AFoldedBiasOfAConvolution) {
  ThorOptions o = options(0.05), plain = o;
  o.fold_bias = true;
  const Tensor x = drawn({2, 4, 3, 3}, 2), dout = drawn({2, 4, 3, 3}, 3, 0.3), one = Tensor::from_values({2, 1, 3, 3}, Values(18, 1));
  Parameter k(drawn({4, 2, 1, 1}, 1), "k"), b(drawn({4}, 5), "b");
  const auto channels = [](const Tensor& t, int64_t begin, int64_t end) { return ops::slice(t, {0, begin, 0, 0}, {t.dim(0), end, t.dim(2), t.dim(3)}); };
  const Tensor wide = ops::concat({channels(x, 0, 2), one, channels(x, 2, 4), one}, 1);  // a 1 in each of the two groups
  Parameter both(ops::concat({k.value(), ops::reshape(b.value(), {4, 1, 1, 1})}, 1), "both");
  const ops::Conv2dAttrs attrs{.groups = 2};
  Thor folded(std::vector<Parameter*>{&k, &b}, o), whole({{&both}}, plain);
  const Gradients u = folded.precondition(gradients(
      [&] {
        return ops::add(ops::conv2d(x, k.value(), attrs), ops::reshape(b.value(), {1, 4, 1, 1}));
      },
      dout, {&k, &b}, 2));
  const Tensor v = whole.precondition(gradients([&] { return ops::conv2d(wide, both.value(), attrs); }, dout, {&both}, 2)).of_params[0];
  expect_near(ops::concat({u.of_params[0], ops::reshape(u.of_params[1], {4, 1, 1, 1})}, 1), v.to_vector<double>(), 1e-4);
}

// A bias that is also added elsewhere does not belong to the layer; a layer whose uses have different biases has no folded bias.
TEST(ThorOptions, ABiasOfTwoThingsIsNotFolded) {
  ThorOptions o = options(0.05);
  o.fold_bias = true;
  const Tensor x = drawn({6, 4}, 2), dout = drawn({12, 3}, 3, 0.3);
  Parameter w(drawn({3, 4}, 1), "w"), b(drawn({3}, 5), "b"), c(drawn({3}, 6), "c");
  const auto product = [&] { return ops::matmul(x, w.value(), false, true); };
  {
    Thor thor(std::vector<Parameter*>{&w, &b}, o);
    const Gradients g = gradients(
        [&] {
          return ops::concat({ops::add(product(), b.value()), ops::add(x.dim(0) > 0 ? drawn({6, 3}, 9) : x, b.value())}, 0);
        },
        dout, {&w, &b}, 12);
    expect_near(thor.precondition(g).of_params[1], g.of_params[1].to_vector<double>(), 0);
    EXPECT_EQ(thor.curvature()[0].a_dim, 4);
  }
  Thor thor(std::vector<Parameter*>{&w, &b, &c}, o);
  const Gradients g = gradients([&] { return ops::concat({ops::add(product(), b.value()), ops::add(product(), c.value())}, 0); }, dout, {&w, &b, &c}, 12);
  const Gradients u = thor.precondition(g);
  EXPECT_EQ(u.of_params[1].to_vector<double>(), g.of_params[1].to_vector<double>());
  EXPECT_EQ(thor.curvature()[0].a_dim, 4);
}

// Layers are refreshed in turn: all at the first step, then each piece at its own part of the interval.
TEST(ThorOptions, ARefreshInPieces) {
  Parameter first(drawn({3, 4}, 1), "first"), second(drawn({2, 3}, 2), "second");
  ThorOptions o = options(0.05);
  o.frequency = 4;
  o.stagger = 2;
  Thor thor(std::vector<Parameter*>{&first, &second}, o);
  std::vector<int> variants;
  std::string changed;
  Values a, b;
  for (uint32_t step = 0; step < 9; ++step) {
    variants.push_back(thor.variant(step));
    Gradients g = gradients(
        [&] {
          return ops::matmul(ops::matmul(drawn({6, 4}, 10 + step), first.value(), false, true), second.value(), false, true);
        },
        drawn({6, 2}, 30 + step, 0.3), {&first, &second}, 6);
    g.variant = variants.back();
    thor.precondition(g);
    const Values now_a = state(thor, "matrix_a_inv.first").to_vector<double>(), now_b = state(thor, "matrix_a_inv.second").to_vector<double>();
    changed += now_a != a ? (now_b != b ? "*" : "1") : (now_b != b ? "2" : "-");
    a = now_a, b = now_b;
  }
  EXPECT_THAT(variants, testing::ElementsAre(0, 1, 3, 1, 2, 1, 3, 1, 2));
  EXPECT_EQ(changed, "*-2-1-2-1");
  EXPECT_EQ(thor.variant_name(3), "refresh part 2 of 2");
  EXPECT_TRUE(thor.remeasures(3));
  EXPECT_FALSE(thor.remeasures(1));
}

TEST(ThorOptions, TracesForTheReport) {
  DenseCase c;
  Thor thor({{&c.w}}, options(0.04));
  EXPECT_TRUE(thor.measures().empty());
  thor.precondition(c.step());
  const auto m = thor.measures();
  ASSERT_THAT(m, testing::SizeIs(2));
  EXPECT_EQ(m[0].group + " " + m[0].name, "trace of A weight");
  EXPECT_NEAR(m[0].value, 1.75, 1e-6);
  EXPECT_NEAR(m[1].value, 0.625, 1e-6);
  const auto table = thor.holdings();
  ASSERT_THAT(table, testing::SizeIs(2));
  EXPECT_THAT(table[1], testing::ElementsAre("weight", "matmul", "2", "1", "0.000"));
}

TEST(ThorOptions, TheFactoryOfTheSeeds) {
  struct {
    std::vector<Parameter*> params;
    std::vector<Parameter*> trainable_params() const { return params; }
  } net;
  DenseCase c;
  net.params = {&c.w};
  const auto made = sindri::thor(net, 0.1, 0.04, 0.9, 0.01, 1, 4);
  made->apply(made->precondition(c.step()).of_params);
  expect_near(c.w.value(), {0.92582733, -0.97593470});
  EXPECT_EQ(made->variant(100), 0);
  EXPECT_EQ(made->variant(99), 1);
}

// Blocks of 128 of ResNet-50's 54 factored layers, as distributed over 1 to 16 ranks.
TEST(ThorOptions, TheInversionsOfResNet50AreSharedOutEvenly) {
  std::vector<std::pair<int64_t, int64_t>> layers = {{147, 64}, {2048, 1001}};
  int64_t in = 64;
  for (const auto& [width, blocks] : {std::pair<int64_t, int>{64, 3}, {128, 4}, {256, 6}, {512, 3}}) {
    for (int b = 0; b < blocks; ++b) {
      layers.insert(layers.end(), {{in, width}, {9 * width, width}, {width, 4 * width}});
      if (b == 0) layers.emplace_back(in, 4 * width);
      in = 4 * width;
    }
  }
  ASSERT_EQ(layers.size(), 54u);
  std::vector<double> costs;
  for (const auto& [a, g] : layers)
    for (const int64_t d : {a, g})
      for (int64_t at = 0; at < d; at += 128) costs.push_back(std::pow(static_cast<double>(std::min<int64_t>(128, d - at)), 3));
  for (int ranks = 1; ranks <= 16; ++ranks) {
    const std::vector<int> owners = thor::owners_of(costs, ranks);
    Values load(static_cast<size_t>(ranks), 0);
    for (size_t i = 0; i < costs.size(); ++i) load[static_cast<size_t>(owners[i])] += costs[i];
    const double mean = std::accumulate(load.begin(), load.end(), 0.0) / ranks;
    EXPECT_GE(mean / *std::max_element(load.begin(), load.end()), 0.95) << ranks;
  }
  EXPECT_THAT(thor::owners_of({1, 5, 5, 4}, 2), testing::ElementsAre(1, 0, 1, 0));
}

// Linear least squares with the whole batch, G the identity, λ close to zero, learning rate 1: one step reaches the solution.
TEST(ThorProperties, OneStepSolvesLeastSquares) {
  const auto wide = [](const Shape& s, uint32_t seed) { return ops::cast(drawn(s, seed), DType::kFloat64); };
  const Tensor scales = Tensor::from_values({1, 3}, {1, 5, 0.2}, DType::kFloat64);
  const Tensor x = ops::mul(wide({20, 3}, 1), scales), y = wide({20, 2}, 2), w = wide({2, 3}, 3);
  const Tensor residual = ops::sub(ops::matmul(x, w, false, true), y), grad = ops::mul(ops::matmul(residual, x, true), 1.0 / 20);
  const Tensor a = ops::mul(ops::gram(x), 1.0 / 20);
  const auto [inverse, failed] = ops::damped_inverse(a, Tensor::scalar(1e-14, DType::kFloat64), ops::mul(a, 0), 3);
  const Tensor solved = ops::sub(w, ops::block_precondition(grad, {}, inverse));
  const Tensor normal = ops::matmul(ops::inverse(ops::matmul(x, x, true)), ops::matmul(x, y, true));
  expect_near(ops::transpose(solved, {1, 0}), normal.to_vector<double>(), 1e-10);
}

// x -> x·T with W -> W·T⁻ᵀ is the same function; as λ goes to 0 its step changes the function in the same way.
TEST(ThorProperties, TheBasisOfTheInputDoesNotMatter) {
  const Tensor x = drawn({40, 3}, 1), turn = tensor({3, 3}, {2, 0.5, 0, 0, 1, -1, 0.3, 0, 1.5}), dout = drawn({40, 2}, 2, 0.1);
  const auto change = [&](const Tensor& input) {
    Parameter w(drawn({2, 3}, 3), "w");
    Thor thor({{&w}}, options(1e-10));
    return ops::matmul(input, thor.precondition(gradients([&] { return ops::matmul(input, w.value(), false, true); }, dout, {&w}, 40)).of_params[0], false,
                       true);
  };
  expect_near(change(ops::matmul(x, turn)), change(x).to_vector<double>(), 2e-3);
}

// Permuting features within a block permutes the step in the same way.
TEST(ThorProperties, FeaturesOfABlockMayChangePlaces) {
  const Tensor x = drawn({9, 6}, 1), dout = drawn({9, 4}, 2, 0.2), order = Tensor::from_vector<int32_t>({6}, {2, 0, 1, 3, 5, 4});
  const auto step = [&](const Tensor& input) {
    Parameter w(drawn({4, 6}, 3), "w");
    Thor thor({{&w}}, options(0.1, 3));
    return thor.precondition(gradients([&] { return ops::matmul(input, w.value(), false, true); }, dout, {&w}, 9)).of_params[0];
  };
  expect_near(step(ops::gather(x, order, 1)), ops::gather(step(x), order, 1).to_vector<double>(), 1e-4);
}

// mean(M⁻¹) - mean(M)⁻¹, the excess of averaged inverses, has no negative eigenvalue. The inverses themselves are positive definite.
TEST(ThorProperties, TheMeanOfInversesIsTheLarger) {
  TensorList inverses;
  Tensor sum;
  const Tensor damping = Tensor::scalar(0.1, DType::kFloat64), zero = Tensor::zeros({1, 5, 5}, DType::kFloat64);
  for (uint32_t r = 0; r < 4; ++r) {
    const Tensor m = ops::gram(ops::cast(drawn({6, 5}, r), DType::kFloat64));
    sum = sum.defined() ? ops::add(sum, m) : m;
    inverses.push_back(ops::damped_inverse(m, damping, zero, 5).first);
    EXPECT_NO_THROW(ops::cholesky(inverses.back()));
  }
  Tensor mean = ops::mul(inverses[0], 0.25);
  for (size_t r = 1; r < 4; ++r) mean = ops::add(mean, ops::mul(inverses[r], 0.25));
  const Tensor above = ops::sub(mean, ops::damped_inverse(ops::mul(sum, 0.25), damping, zero, 5).first);
  for (const double w : ops::eigh(above).first.to_vector<double>()) EXPECT_GE(w, -1e-12);
}

TEST(ThorOptions, RefusesWhatCannotBeTogether) {
  const auto refuses = [](const std::function<void(ThorOptions&)>& change, const char* text) {
    try {
      first_step(options(0.03), change);
      ADD_FAILURE() << text;
    } catch (const ValueError& e) { EXPECT_THAT(e.what(), testing::HasSubstr(text)); }
  };
  refuses([](ThorOptions& o) { o.statistics = "mean"; }, "statistics must be one of standard, batch_mean, got 'mean'");
  refuses([](ThorOptions& o) { o.damping_form = "pi"; }, "damping_form must be one of");
  refuses([](ThorOptions& o) { o.reduce = "sum"; }, "reduce must be one of");
  refuses([](ThorOptions& o) { o.distribute = "all"; }, "distribute must be one of");
  refuses([](ThorOptions& o) { o.compat = "torch"; }, "compat must be one of");
  refuses([](ThorOptions& o) { o.stagger = 1; }, "stagger must be 0 or between 2 and the frequency");
  refuses([](ThorOptions& o) { o.stagger = 101; }, "stagger must be 0 or between 2 and the frequency");
  refuses([](ThorOptions& o) { o.split_indices = {3, 3}; }, "split_indices must be layers in ascending order");
  refuses([](ThorOptions& o) { o.split_indices = {0, 99999}; }, "split_indices names layer 99999");
  for (const double damping : {1e300, 1e16, std::nan("")}) refuses([&](ThorOptions& o) { o.damping = damping; }, "damping must");
  for (const auto& other :
       std::vector<std::function<void(ThorOptions&)>>{[](ThorOptions& o) { o.factor_decay = 0.9; }, [](ThorOptions& o) { o.damping_form = "joint"; },
                                                      [](ThorOptions& o) {
                                                        o.trace_rule = {0.1, 0};
                                                      }})
    refuses([&](ThorOptions& o) { o.compat = "mindspore", other(o); }, "means of inverses need factored damping");
}

}  // namespace thor_samples
}  // namespace sindri::optim
