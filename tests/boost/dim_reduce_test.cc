// Training in the span of snapshots: exact values on quadratics, the principal components, properties of the steps, and refused options.
#include "sindri/boost/dim_reduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "sindri/core/error.h"
#include "sindri/nn/nn.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "sindri/optim/sgd.h"
#include "sindri/optim/thor.h"
#include "sindri/train/checkpoint.h"
#include "tests/boost/training.h"
#include "tests/train/temp_folder.h"

namespace sindri::dim_reduce_test {
namespace {

using test::BoostedTraining;
using test::ModeScope;
using Values = std::vector<double>;
using Settings = std::map<std::string, SettingValue>;

/// ½·Σ h·w², for any batch.
class Quadratic final : public nn::Cell {
 public:
  explicit Quadratic(const Values& h) : Cell("Quadratic"), h_(Tensor::from_values({3}, h)), w_(&param("w", Tensor::from_values({3}, {1, 1, 1}))) {}
  Tensor construct(const Tensor&) override {
    const Tensor w = w_->value(), loss = ops::mul(ops::sum(ops::mul(h_, ops::square(w))), 0.5);
    if (ends_at >= 0 && calls++ == ends_at) throw DataError("the pass ends here");
    if (ceiling > 1e30) return loss;
    return ops::where(ops::greater(loss, ops::full({}, ceiling, DType::kFloat32)), ops::full({}, NAN, DType::kFloat32), loss);
  }
  double ceiling = 1e38;
  int64_t ends_at = -1, calls = 0;

 private:
  Tensor h_;
  Parameter* w_;
};

struct Problem {
  Problem(const Values& h, Settings settings, const std::string& folder) : net(std::make_shared<Quadratic>(h)) {
    optimizer = std::make_unique<optim::SGD>(net->trainable_params(), optim::SGDOptions{.learning_rate = 1});
    const boost::Columns columns = {{"w", {3}}};
    boost::Subspace s;
    s.components = Tensor::from_values({2, 3}, {1, 0, 0, 0, 1, 0});
    boost::save_subspace(folder + "/p.npy", s, columns);
    settings["pca_mat_path"] = folder + "/p.npy";
    settings["n_components"] = int64_t{2};
    step = train::make_train_step(*net, *optimizer);
    train::BuildContext context{.parameters = optimizer->parameters(), .network_state = net->parameters_and_names()};
    context.network = net.get(), context.optimizer = optimizer.get();
    applied = train::apply_boosts(step, context, {train::boosts().make("dim_reduce", settings)});
    runner = std::make_unique<train::StepRunner>(step);
  }
  double run() { return (*runner)({Tensor::from_values({1}, {0})}, steps++).loss.item(); }
  Values state(const std::string& name) {
    for (const Parameter* p : applied[0]->state())
      if (p->name() == "dim_reduce." + name) return p->stored().to_vector<double>();
    throw InternalError("no state " + name);
  }
  Values weights() { return test::values_of(net->get_parameters()); }
  double column(const std::string& name) {
    for (const auto& [n, v] : applied[0]->columns(train::TrainState{}))
      if (n == name) return v;
    throw InternalError("no column " + name);
  }
  std::shared_ptr<Quadratic> net;
  std::unique_ptr<optim::Optimizer> optimizer;
  train::TrainStep step;
  std::vector<train::BoostAlgorithmPtr> applied;
  std::unique_ptr<train::StepRunner> runner;
  int64_t steps = 0;
};

void expect_near(const Values& got, const Values& want, double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << i;
}

class DimReduce : public testing::TestWithParam<Mode> {
 protected:
  ModeScope mode_{GetParam()};
  TempFolder temp;
};
INSTANTIATE_TEST_SUITE_P(Modes, DimReduce, testing::Values(Mode::kGraph, Mode::kPynative));

TEST_P(DimReduce, ExactStepsOfAQuadratic) {
  Problem p({1.5, 0.5, 9}, {{"max_search", int64_t{2}}, {"search", std::string("backtrack")}}, temp.path());
  struct Step {
    double f0;
    Values s, w;
    double v;
  };
  const Step want[] = {{5.5, {-0.825, -0.275}, {0.175, 0.725, 0.991}, 9},
                       {4.5737395, {-0.20816327, -0.42653061}, {-0.03316327, 0.29846939, 0.973981}, 17.019},
                       {4.29197129, {0.00383272, -0.25552610}, {-0.02933055, 0.04294329, 0.94989807}, 24.082929},
                       {4.0614848, {0.02483598, -0.04314553}, {-0.00449457, -0.00020225, 0.91967435}, 30.22371874}};
  const Values inverses[] = {{1, 0, 0, 1},
                             {0.65561224, 0.0994898, 0.0994898, 1.10459184},
                             {0.55732291, 0.16009181, 0.16009181, 1.7656072},
                             {0.56221376, -0.00470017, -0.00470017, 1.9997885}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(p.run(), want[i].f0, 1e-5) << i;
    expect_near(p.state("last_step"), want[i].s, 2e-6);
    expect_near(p.weights(), want[i].w, 2e-6);
    expect_near(p.state("inverse_hessian"), inverses[i], 2e-4);  // computed from differences of float32 gradients
    EXPECT_NEAR(p.state("residual")[2], want[i].v, 1e-4);
  }
  EXPECT_EQ(p.column("accepted_0"), 3);
  EXPECT_EQ(p.column("accepted_1"), 1);
  EXPECT_EQ(p.column("rejected"), 0);
}

// Two trials never succeed if the curvature is above 1.2/0.55; ten do, and a parabola finds the step at once.
TEST_P(DimReduce, StuckWithTwoTrialsNotWithTen) {
  Problem stuck({4, 1, 9}, {{"max_search", int64_t{2}}, {"search", std::string("backtrack")}}, temp.path());
  for (const double w3 : {0.991, 0.973981, 0.94989807, 0.91967435}) {
    stuck.run();
    expect_near(stuck.weights(), {1, 1, w3});
  }
  EXPECT_EQ(stuck.column("rejected"), 4);
  expect_near(stuck.state("inverse_hessian"), {1, 0, 0, 1});
  Problem ten({4, 1, 9}, {{"search", std::string("backtrack")}}, temp.path());
  ten.run();
  expect_near(ten.state("last_step"), {-0.3025 * 4, -0.3025});
  const double least[] = {0.6975, 3.4e-2, 4.7e-5, 2.6e-6};
  for (int i = 0; i < 3; ++i) {
    const Values w = ten.weights();
    EXPECT_NEAR(std::max(std::abs(w[0]), std::abs(w[1])), least[i], 0.05 * least[i] + 3e-6) << i;
    ten.run();
  }
  Problem parabola({4, 1, 9}, {}, temp.path());
  parabola.run();
  EXPECT_NEAR(parabola.state("last_step")[0], -0.2615 * 4, 1e-3);
  const double better[] = {0.7385, 3.4e-2, 1e-6};
  for (int i = 0; i < 3; ++i) {
    const Values w = parabola.weights();
    EXPECT_NEAR(std::max(std::abs(w[0]), std::abs(w[1])), better[i], 0.05 * better[i] + 2e-6) << i;
    parabola.run();
  }
}

// Without the residual a rejected step changes nothing, and accepted steps never raise the loss.
TEST_P(DimReduce, WithoutResidualWeightsStayInTheSubspace) {
  Problem p({4, 1, 9}, {{"alpha", 0.0}, {"max_search", int64_t{1}}}, temp.path());
  const Values before = p.weights();
  p.run();
  EXPECT_EQ(p.weights(), before);
  Problem q({1.5, 0.5, 9}, {{"alpha", 0.0}}, temp.path());
  double loss = 1e9;
  for (int i = 0; i < 6; ++i) {
    const double now = q.run();
    EXPECT_LE(now, loss);
    loss = now;
    EXPECT_EQ(q.weights()[2], 1);
  }
  // B·y = s right after an update, symmetric.
  const Values b = q.state("inverse_hessian");
  EXPECT_EQ(b[1], b[2]);
  EXPECT_GT(b[0] * b[3] - b[1] * b[2], 0);
}

TEST_P(DimReduce, ProjectedGradientsWithMomentum) {
  Problem p({1.5, 0.5, 9}, {{"method", std::string("sgd")}, {"rate", 0.1}, {"momentum", 0.5}}, temp.path());
  p.run();
  expect_near(p.weights(), {0.85, 0.95, 1});
  p.run();  // v = 0.5·(1.5, 0.5) + (1.275, 0.475)
  expect_near(p.weights(), {0.85 - 0.2025, 0.95 - 0.0725, 1});
  Problem falling({1.5, 0.5, 9}, {{"method", std::string("sgd")}, {"rate", 0.1}, {"momentum", 0.5}, {"decay_steps", int64_t{2}}}, temp.path());
  falling.run(), falling.run();
  expect_near(falling.weights(), {0.85 - 0.10125, 0.95 - 0.03625, 1});
  falling.run();
  expect_near(falling.weights(), {0.85 - 0.10125, 0.95 - 0.03625, 1});
  EXPECT_NEAR(p.column("subspace_share"), std::hypot(1.275, 0.475) / std::hypot(1.275, 0.475, 9.0), 1e-6);
}

/// A training run in the span of six snapshots of random weights, in `folder`.
std::unique_ptr<BoostedTraining> in_random_span(const TempFolder& folder, int64_t trials, const train::TrainStepOptions& options = {}, uint32_t seed = 0) {
  const BoostedTraining plain({});
  for (int i = 0; i < 6; ++i) {
    std::vector<train::CheckpointEntry> entries;
    for (const Parameter* p : plain.optimizer->parameters()) {
      std::mt19937 draw(seed + static_cast<uint32_t>(i) * 1000 + static_cast<uint32_t>(entries.size()));
      std::normal_distribution<double> normal;
      Values v(static_cast<size_t>(p->shape().numel()));
      for (double& x : v) x = normal(draw);
      entries.push_back(train::CheckpointEntry::of(p->name(), Tensor::from_values(p->shape(), v)));
    }
    train::save_checkpoint(entries, folder.file(fmt::format("s-{}_1.ckpt", i + 1)));
  }
  const Settings settings = {{"weight_load_dir", folder.path()}, {"n_components", int64_t{4}}, {"max_search", trials}, {"alpha", 0.0}};
  return std::make_unique<BoostedTraining>(std::vector<train::BoostAlgorithmPtr>{train::boosts().make("dim_reduce", settings)}, options);
}

// Convolution, batch norm, dropout: the loss of a batch falls from step to step, so trials see the same network as the step. Moving statistics are those of the
// gradient passes alone, however many trials ran.
TEST_P(DimReduce, TrialsSeeTheSameAndLeaveNothing) {
  const auto t = in_random_span(temp, 3);
  double last = HUGE_VAL;
  for (int64_t i = 0; i < 4; ++i) {
    const double loss = t->run(test::small_batch(6, 1)).loss.item();
    EXPECT_LE(loss, last) << i;
    last = loss;
  }
  EXPECT_TRUE(std::ifstream(temp.file("pca_mat_temp.npy")).good());
  const auto few = in_random_span(temp, 1), many = in_random_span(temp, 10);
  few->run(test::small_batch(6, 1)), many->run(test::small_batch(6, 1));
  const auto moving = [](BoostedTraining& of) {
    Values out;
    for (const auto& [path, p] : of.net->parameters_and_names())
      if (path.find("moving") != std::string::npos)
        for (const double v : p->stored().to_vector<double>()) out.push_back(v);
    return out;
  };
  EXPECT_FALSE(moving(*few).empty());
  EXPECT_EQ(moving(*few), moving(*many));
}

// A run that continues from its state is bitwise identical to an uninterrupted one.
TEST_P(DimReduce, GoesOnFromAnyStep) {
  const auto whole = in_random_span(temp, 5), first = in_random_span(temp, 5), second = in_random_span(temp, 5);
  for (int64_t i = 0; i < 5; ++i) whole->run(test::small_batch(6, i));
  for (int64_t i = 0; i < 2; ++i) first->run(test::small_batch(6, i));
  std::vector<Parameter*> from = first->net->get_parameters(), to = second->net->get_parameters();
  for (Parameter* p : first->applied[0]->state()) from.push_back(p);
  for (Parameter* p : second->applied[0]->state()) to.push_back(p);
  ASSERT_EQ(from.size(), to.size());
  for (size_t i = 0; i < from.size(); ++i) to[i]->store(from[i]->stored().clone());
  second->steps = 2;
  ops::rng_state().store(ops::rng_state().stored());
  for (int64_t i = 2; i < 5; ++i) second->run(test::small_batch(6, i));
  EXPECT_EQ(test::values_of(whole->optimizer->parameters()), test::values_of(second->optimizer->parameters()));
}

// A trial with a non-finite loss has failed.
TEST_P(DimReduce, TrialsThatAreNotFiniteFail) {
  Problem p({1.5, 0.5, 9}, {{"max_search", int64_t{4}}}, temp.path());
  p.net->ceiling = 5;  // the loss is infinite above this; the whole step stays below
  p.run();
  EXPECT_EQ(p.column("rejected") + p.column("accepted_0") + p.column("accepted_1") + p.column("accepted_2") + p.column("accepted_3"), 1);
  for (const double w : p.weights()) EXPECT_TRUE(std::isfinite(w));
  Problem never({1.5, 0.5, 9}, {{"max_search", int64_t{4}}, {"alpha", 0.0}}, temp.path());
  never.net->ceiling = 0;
  const Values before = never.weights();
  never.run();
  EXPECT_EQ(never.weights(), before);
  EXPECT_EQ(never.column("rejected"), 1);
}

// An exception in a trial leaves the weights of the step's start, and the next step searches over its own batch.
TEST(DimReduceErrors, ATrialThatThrowsLeavesTheWeights) {
  const ModeScope eager(Mode::kPynative);
  const TempFolder temp;
  for (const int64_t pass : {0, 1}) {  // the gradient's pass, and the first trial's
    Problem p({1.5, 0.5, 9}, {}, temp.path()), whole({1.5, 0.5, 9}, {}, temp.path());
    p.net->ends_at = pass;
    const Values before = p.weights();
    EXPECT_THROW(p.run(), DataError);
    EXPECT_EQ(p.weights(), before) << pass;
    if (pass == 1) continue;  // by then part of the curvature is already updated
    p.run(), whole.run();
    EXPECT_EQ(p.weights(), whole.weights());
  }
}

// Coordinates of another subspace are meaningless in this one.
TEST_P(DimReduce, AnotherSubspaceBeginsAnew) {
  const auto inverse = [](BoostedTraining& t) {
    for (const Parameter* p : t.applied[0]->state())
      if (p->name() == "dim_reduce.inverse_hessian") return p->stored().to_vector<double>();
    throw InternalError("no inverse");
  };
  const auto first = in_random_span(temp, 5);
  for (int64_t i = 0; i < 3; ++i) first->run(test::small_batch(6, i));
  train::TrainState s;
  first->applied[0]->on_event(train::Event::kBegin, s);
  const Values learned = inverse(*first);
  Values identity(16, 0);
  for (size_t i = 0; i < 4; ++i) identity[5 * i] = 1;
  ASSERT_NE(learned, identity);
  const TempFolder elsewhere;
  for (const bool same : {true, false}) {
    const auto second = in_random_span(same ? temp : elsewhere, 5, {}, same ? 0 : 7);
    for (size_t i = 0; i < first->applied[0]->state().size(); ++i) second->applied[0]->state()[i]->store(first->applied[0]->state()[i]->stored().clone());
    testing::internal::CaptureStderr();
    second->applied[0]->on_event(train::Event::kBegin, s);
    EXPECT_EQ(testing::internal::GetCapturedStderr().find("another subspace") != std::string::npos, !same);
    EXPECT_EQ(inverse(*second), same ? learned : identity);
  }
}

// The line search uses the parts that the gradient was computed from: batch norm's statistics and dropout are those of each part.
TEST_P(DimReduce, MicroBatchesAreSearchedAsTheyAre) {
  const auto t = in_random_span(temp, 10, {.micro_batches = 3});
  double last = HUGE_VAL;
  for (int64_t i = 0; i < 5; ++i) {
    const double loss = t->run(test::small_batch(6, 1)).loss.item();
    EXPECT_LE(loss, last) << i;
    last = loss;
  }
  for (const auto& [name, value] : t->applied[0]->columns(train::TrainState{})) EXPECT_EQ(name == "rejected" ? value : 0, 0);
}

TEST(DimReduceRefusals, OptimizersThatPrecondition) {
  const TempFolder temp;
  const nn::CellPtr net = test::small_net_with_loss();
  optim::Thor thor(net->trainable_params(), optim::ThorOptions{.learning_rate = 0.01, .damping = 0.1});
  train::TrainStep step = train::make_train_step(*net, thor);
  const train::BuildContext context{.parameters = thor.parameters(), .network_state = net->parameters_and_names(), .network = net.get(), .optimizer = &thor};
  EXPECT_THROW(train::apply_boosts(step, context, {train::boosts().make("dim_reduce", {{"weight_load_dir", temp.path()}})}), ValueError);
}

// Principal components of four rows.
boost::Columns xyz() { return {{"a", {2}}, {"b", {1}}}; }
void write_rows(const TempFolder& temp, const std::vector<Values>& rows, bool swapped = false) {
  int number = 1;
  for (const Values& r : rows) {
    std::vector<train::CheckpointEntry> e = {train::CheckpointEntry::of("a", Tensor::from_values({2}, {r[0], r[1]})),
                                             train::CheckpointEntry::of("b", Tensor::from_values({1}, {r[2]})),
                                             train::CheckpointEntry::of("moments.a", Tensor::from_values({2}, {7, 7}))};
    if (swapped) std::swap(e[0], e[1]);
    train::save_checkpoint(e, temp.file(fmt::format("net-{}_5.ckpt", number++)));
  }
}
const std::vector<Values> kRows = {{1, 2, 0}, {2, 4.1, 0}, {3, 5.9, 0.1}, {4, 8, -0.1}};

TEST(Subspace, PrincipalComponents) {
  const TempFolder temp;
  write_rows(temp, kRows);
  const auto files = boost::snapshot_files(temp.path());
  EXPECT_EQ(files.size(), 4u);
  for (const int64_t memory : {0, 4096}) {
    const boost::Subspace s = boost::principal_components(files, xyz(), 3, memory);
    const Values p = s.components.to_vector<double>();
    expect_near(p, {0.45053182, 0.89271033, -0.00945269, 0.28774444, -0.13517907, 0.94811906, p[6], p[7], p[8]}, 3e-5);
    const double sum = 24.61854205 + 0.01959199 + 0.00186596;
    expect_near(s.ratios, {24.61854205 / sum, 0.01959199 / sum, 0.00186596 / sum}, 1e-5);
  }
  EXPECT_THROW(boost::principal_components(files, xyz(), 4), ValueError);  // their mean uses up one direction
  // Parameters are matched by name, not by their order in the files.
  const TempFolder other;
  write_rows(other, kRows, true);
  EXPECT_EQ(boost::principal_components(boost::snapshot_files(other.path()), xyz(), 2).components.to_vector<double>(),
            boost::principal_components(files, xyz(), 2).components.to_vector<double>());
}

TEST(Subspace, RowsSpanTheSnapshots) {
  const TempFolder temp;
  std::mt19937 draw(1);
  std::normal_distribution<double> normal;
  std::vector<Values> rows;
  Values mean(300, 0);
  const boost::Columns columns = {{"w", {300}}};
  for (int i = 0; i < 8; ++i) {
    Values v(300);
    for (size_t c = 0; c < 300; ++c) v[c] = 3 + normal(draw), mean[c] += v[c] / 8;
    rows.push_back(v);
    train::save_checkpoint({train::CheckpointEntry::of("w", Tensor::from_values({300}, v))}, temp.file(fmt::format("n-{}_1.ckpt", i + 1)));
  }
  const boost::Subspace s = boost::principal_components(boost::snapshot_files(temp.file("n-*.ckpt")), columns, 7, 0);
  const Tensor p = s.components;
  Values eye(49, 0);
  for (size_t i = 0; i < 7; ++i) eye[8 * i] = 1;
  expect_near(ops::matmul(p, p, false, true).to_vector<double>(), eye, 2e-6);
  for (const Values& row : rows) {
    Values off(300);
    for (size_t c = 0; c < 300; ++c) off[c] = row[c] - mean[c];
    const Tensor x = Tensor::from_values({1, 300}, off);
    expect_near(ops::matmul(ops::matmul(x, p, false, true), p).to_vector<double>(), off, 1e-5);
  }
  boost::save_subspace(temp.file("p.npy"), s, columns);
  EXPECT_EQ(boost::load_subspace(temp.file("p.npy"), columns, 7).components.to_vector<double>(), p.to_vector<double>());
  EXPECT_EQ(boost::load_subspace(temp.file("p.npy"), columns, 3).components.dim(0), 3);
}

template <class E> void refused(const std::function<void()>& f, const char* text) {
  try {
    f();
    ADD_FAILURE() << text;
  } catch (const E& e) { EXPECT_THAT(e.what(), testing::HasSubstr(text)); }
}

// Every flipped bit of the matrix and of its side file, and every longer or shorter matrix.
TEST(Subspace, DamageIsNoticed) {
  const TempFolder temp;
  write_rows(temp, kRows);
  const std::string path = temp.file("p.npy");
  boost::save_subspace(path, boost::principal_components(boost::snapshot_files(temp.path()), xyz(), 2), xyz());
  const Values p = boost::load_subspace(path, xyz(), 2).components.to_vector<double>();
  const auto content = [](const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  for (const std::string& file : {path, path + ".json"}) {
    const std::string whole = content(file);
    for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      std::ofstream(file, std::ios::binary) << flipped;
      EXPECT_THROW(boost::load_subspace(path, xyz(), 2), Error) << file << ", bit " << bit;
    }
    std::ofstream(file, std::ios::binary) << whole;
  }
  for (const char* more : {"x", "12345678"}) {
    std::ofstream(path, std::ios::binary | std::ios::app) << more;
    EXPECT_THROW(boost::load_subspace(path, xyz(), 2), Error) << more;
  }
  std::filesystem::remove(path + ".json");  // as NumPy saves it
  refused<ValueError>([&] { boost::load_subspace(path, xyz(), 2); }, "there are");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);
  EXPECT_EQ(boost::load_subspace(path, xyz(), 2).components.to_vector<double>(), p);
}

TEST(Subspace, WhatIsRefused) {
  const TempFolder temp;
  refused<ValueError>([&] { boost::snapshot_files(temp.path()); }, "no file matches");
  write_rows(temp, kRows);
  const auto files = boost::snapshot_files(temp.path());
  refused<ValueError>([&] { boost::principal_components(files, xyz(), 5); }, "4 snapshots are fewer than 5 components");
  refused<ValueError>([&] { boost::principal_components(files, xyz(), 4); }, "span 3 directions");
  refused<CheckpointError>([&] { boost::principal_components(files, {{"c", {2}}}, 2); }, "there is no weight 'c'");
  refused<CheckpointError>([&] { boost::principal_components(files, {{"a", {3}}}, 2); }, "'a' is");
  refused<CheckpointError>([&] { boost::principal_components(files, {{"a", {1, 2}}, {"b", {1}}}, 2); }, "'a' is");  // as many values, in another shape
  const boost::Subspace s = boost::principal_components(files, xyz(), 2);
  const std::string path = temp.file("p.npy");
  boost::save_subspace(path, s, xyz());
  refused<ValueError>([&] { boost::load_subspace(path, xyz(), 3); }, "is (2, 3); needed are 3 rows of 3 weights");
  refused<ValueError>([&] { boost::load_subspace(path, {{"a", {2}}, {"c", {1}}}, 2); }, "its weight 1 is 'b', this network's 'c'");
  refused<IoError>([&] { boost::load_subspace(temp.file("none.npy"), xyz(), 2); }, "cannot read");
  for (const char* text :
       {R"({"columns": 3})", "[1, 2]", R"({"columns": [{"name": 5, "shape": [2]}]})", R"({"columns": [{"name": "a", "shape": "x"}]})", "{"}) {
    std::filesystem::copy_file(path, temp.file("odd.npy"), std::filesystem::copy_options::overwrite_existing);
    std::ofstream(temp.file("odd.npy.json")) << text;
    refused<ValueError>([&] { boost::load_subspace(temp.file("odd.npy"), xyz(), 2); }, "does not name columns");
  }
  {
    std::string bytes = [&] {
      std::ifstream in(path, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(in), {});
    }();
    std::ofstream(temp.file("short.npy"), std::ios::binary) << bytes.substr(0, bytes.size() - 3);
    refused<ValueError>([&] { boost::load_subspace(temp.file("short.npy"), xyz(), 2); }, "too short for its shape");
    std::ofstream(temp.file("text.npy")) << "no matrix";
    refused<ValueError>([&] { boost::load_subspace(temp.file("text.npy"), xyz(), 2); }, "this is not a .npy file");
  }
  std::filesystem::resize_file(files[2], std::filesystem::file_size(files[2]) - 1);  // a snapshot that was cut off while being written
  try {
    boost::principal_components(files, xyz(), 2);
    ADD_FAILURE();
  } catch (const CheckpointError& e) { EXPECT_THAT(e.what(), testing::HasSubstr(files[2])); }
  boost::Subspace skew = s;
  skew.components = Tensor::from_values({2, 3}, {1, 0, 0, 1, 1, 0});
  boost::save_subspace(temp.file("skew.npy"), skew, xyz());
  refused<ValueError>([&] { boost::load_subspace(temp.file("skew.npy"), xyz(), 2); }, "not orthonormal");
}

TEST(DimReduceRefusals, SettingsAndNeighbours) {
  EXPECT_THROW(BoostedTraining({train::boosts().make("dim_reduce", {})}), ValueError);
  EXPECT_THROW(train::boosts().make("dim_reduce", {{"rho", 1.0}}), ValueError);
  EXPECT_THROW(train::boosts().make("dim_reduce", {{"gamma", 1.0}}), ValueError);
  EXPECT_THROW(train::boosts().make("dim_reduce", {{"n_components", int64_t{0}}}), ValueError);
  EXPECT_THROW(train::in_order({train::boosts().make("dim_reduce", {}), train::boosts().make("grad_freeze", {})}), ValueError);
}

}  // namespace
}  // namespace sindri::dim_reduce_test
