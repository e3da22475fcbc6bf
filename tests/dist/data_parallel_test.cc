// The data-parallel step: any layout is bitwise identical to one rank with as many virtual ranks, whatever the buckets and the overlap.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "sindri/core/error.h"
#include "sindri/ops/comm.h"
#include "sindri/ops/elementwise.h"
#include "tests/dist/training.h"

namespace sindri::dist_test {
namespace {

void expect_same(const Outcome& a, const Outcome& b, const std::string& what) {
  ASSERT_EQ(a.losses.size(), b.losses.size()) << what;
  for (size_t i = 0; i < a.losses.size(); ++i) {
    if (std::isnan(a.losses[i]) && std::isnan(b.losses[i])) continue;
    ASSERT_EQ(a.losses[i], b.losses[i]) << what << ", loss of step " << i;
  }
  EXPECT_EQ(a.finite, b.finite) << what;
  ASSERT_EQ(a.state.size(), b.state.size()) << what;
  for (size_t i = 0; i < a.state.size(); ++i) ASSERT_TRUE(a.state[i] == b.state[i]) << what << ", state " << i;
}

// All ranks of s end like one rank with the same virtual ranks.
void expect_like_one_rank(Job s, const std::string& what) {
  const std::vector<Outcome> several = train_all(s);
  s.virtual_ranks = s.virtual_ranks == 0 ? s.ranks : s.virtual_ranks;
  s.ranks = 1;
  s.local_size = 0;
  const Outcome one = train_all(s)[0];
  EXPECT_LT(one.losses.back(), one.losses.front()) << what;
  for (size_t r = 0; r < several.size(); ++r) expect_same(several[r], one, what + ", rank " + std::to_string(r));
}

class Layouts : public ::testing::TestWithParam<std::tuple<int, bool, Mode>> {};
TEST_P(Layouts, RanksAreLikeVirtualRanksOfOne) {
  const auto [ranks, adam, mode] = GetParam();
  Job s;
  s.ranks = ranks, s.adam = adam, s.mode = mode;
  s.steps = ranks == 2 || mode == Mode::kGraph ? 100 : 30;
  expect_like_one_rank(s, std::to_string(ranks) + " ranks");
}
INSTANTIATE_TEST_SUITE_P(DataParallel, Layouts,
                         ::testing::Combine(::testing::Values(2, 4, 8), ::testing::Bool(), ::testing::Values(Mode::kGraph, Mode::kPynative)));

// Curvature is the mean over all virtual ranks, summed in the order of gradients; refreshes at steps 0, 3, 6, …
TEST(DataParallel, SecondOrderStepsDoNotDependOnTheLayout) {
  for (const int ranks : {1, 2, 4, 8}) {
    for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
      Job s;
      s.ranks = ranks, s.virtual_ranks = 8, s.steps = 14, s.thor = true, s.mode = mode;
      expect_like_one_rank(s, std::to_string(ranks) + " ranks");
    }
  }
}

// Each rank inverts a share of the blocks, or all: bitwise identical. The same holds for eigenvectors, refreshes in pieces, and any bucketing of factors.
TEST(DataParallel, SecondOrderInversionsAreSharedOutWithoutATrace) {
  using Change = std::function<void(optim::ThorOptions&)>;
  const std::pair<const char*, Change> cases[] = {
      {"blocks", [](optim::ThorOptions&) {}},
      {"whole factors and running averages", [](optim::ThorOptions& o) { o.block_size = 0, o.factor_decay = 0.5; }},
      {"joint damping", [](optim::ThorOptions& o) { o.damping_form = "joint", o.block_size = 8; }},
      {"pieces and buckets",
       [](optim::ThorOptions& o) {
         o.stagger = 3, o.split_indices = {0, 1};
       }},
      {"trace rule",
       [](optim::ThorOptions& o) {
         o.trace_rule = {0.1, 0.01};
       }},
  };
  for (const auto& [what, change] : cases) {
    for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
      Job s;
      s.ranks = 4, s.virtual_ranks = 8, s.steps = 8, s.thor = true, s.mode = mode;
      s.thor_options = [&](optim::ThorOptions& o) { o.distribute = "replicate", change(o); };
      const Outcome replicated = train_all(s)[0];
      s.thor_options = [&](optim::ThorOptions& o) { o.distribute = "shard", change(o); };
      for (const Outcome& shared : train_all(s)) expect_same(shared, replicated, what);
      expect_like_one_rank(s, what);
    }
  }
}

// A factor that cannot be inverted (inputs of zero, without damping) keeps its old inverse on all ranks, regardless of which rank had to invert it.
TEST(DataParallel, SecondOrderFailuresOfAShareAreSeenByAll) {
  Job s;
  s.ranks = 4, s.steps = 7, s.thor = true;
  s.spoil = [](TensorList& b, int64_t step, int64_t) {
    if (step == 3) b[0] = ops::mul(b[0], 0.0);
  };
  const auto run = [&](const char* distribute) {
    s.thor_options = [distribute](optim::ThorOptions& o) {
      o.distribute = distribute, o.block_size = 8;
      o.damping = std::vector<float>{0.1f, 0.1f, 0.1f, 0.0f, 0.1f, 0.1f, 0.1f};
    };
    return train_all(s);
  };
  const Outcome replicated = run("replicate")[0];
  for (const float loss : replicated.losses) EXPECT_TRUE(std::isfinite(loss));
  for (const Outcome& shared : run("shard")) expect_same(shared, replicated, "shared out");
}

// MindSpore's method gives every part its own inverses: they do not depend on the layout either.
TEST(DataParallel, SecondOrderMeansOfInverses) {
  Job s;
  s.ranks = 2, s.virtual_ranks = 4, s.steps = 8, s.thor = true;
  s.thor_options = [](optim::ThorOptions& o) { o.compat = "mindspore"; };
  expect_like_one_rank(s, "means of inverses");
}

// Eight virtual ranks of four rows and one batch of 32, without batch norm and dropout: the same curvature, and so the same run.
TEST(DataParallel, SecondOrderStepsAreThoseOfOneLargeBatch) {
  Job s;
  s.ranks = 4, s.virtual_ranks = 8, s.steps = 10, s.thor = true, s.norm = false, s.dropout = false;
  const Outcome several = train_all(s)[0];
  s.rows = 32, s.ranks = 1, s.virtual_ranks = 1;
  s.spoil = [](TensorList& b, int64_t step, int64_t) {
    std::vector<TensorList> parts;
    for (int64_t v = 0; v < 8; ++v) parts.push_back(small_batch(4, step * 1000 + v));
    for (size_t c = 0; c < 2; ++c) {
      TensorList column;
      for (const TensorList& p : parts) column.push_back(p[c]);
      b[c] = ops::concat(column, 0);
    }
  };
  const Outcome one = train_all(s)[0];
  ASSERT_EQ(one.losses.size(), several.losses.size());
  for (size_t i = 0; i < one.losses.size(); ++i) EXPECT_NEAR(one.losses[i], several.losses[i], 2e-4 * std::abs(one.losses[i])) << i;
}

// Gradients of frozen parameters do not exist and are not reduced.
TEST(DataParallel, FrozenParametersAreLeftOutOfTheBuckets) {
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    for (const int ranks : {2, 4}) {
      Job s;
      s.ranks = ranks, s.virtual_ranks = 4, s.steps = 12, s.mode = mode;
      s.boosts = {{"grad_freeze", {{"param_groups", int64_t{2}}, {"freeze_type", int64_t{0}}, {"freeze_p", 0.5}}}};
      expect_like_one_rank(s, "frozen");
    }
  }
}

TEST(DataParallel, VirtualRanksInAnyMixture) {
  for (const int ranks : {2, 4}) {
    Job s;
    s.ranks = ranks, s.virtual_ranks = 8, s.steps = 20;
    expect_like_one_rank(s, std::to_string(ranks) + " ranks of 8 virtual ones");
    s.mode = Mode::kPynative, s.steps = 5;
    expect_like_one_rank(s, std::to_string(ranks) + " ranks of 8 virtual ones, eager");
  }
}

TEST(DataParallel, BucketsOverlapAndHostsDoNotChangeBits) {
  Job s;
  s.ranks = 4, s.steps = 10, s.adam = true;
  const Outcome plain = train_all(s)[0];
  for (const std::vector<int64_t>& list : std::vector<std::vector<int64_t>>{{}, {1}, {2, 4}, {1, 2, 3, 4, 5, 6}}) {
    Job other = s;
    other.parallel.all_reduce_fusion_config = list;
    expect_same(train_all(other)[3], plain, "fusion list of " + std::to_string(list.size()));
  }
  Job late = s;
  late.parallel.overlap = false;
  expect_same(train_all(late)[0], plain, "no overlap");
  for (const int local : {1, 2}) {
    Job hosts = s;
    hosts.local_size = local;
    expect_same(train_all(hosts)[1], plain, std::to_string(4 / local) + " hosts");
  }
}

// A program may watch its own reductions, which are not buckets of the step.
TEST(DataParallel, WatchedCallsBesideTheBuckets) {
  Job s;
  s.ranks = 2, s.steps = 3;
  s.between = [](const std::vector<Parameter*>&, int, int64_t) {
    const Tensor bad = Tensor::from_vector<float>({1}, {INFINITY});
    ops::all_reduce({bad}, {.what = "separate", .index = 1000000000, .watch = true});
  };
  EXPECT_TRUE(std::isfinite(train_all(s)[0].losses.back()));
}

TEST(DataParallel, LikeOneLargeBatch) {
  Job s;
  s.ranks = 4, s.steps = 10, s.norm = false, s.dropout = false;
  const Outcome several = train_all(s)[2];
  // The same samples as one batch of one rank.
  Outcome one;
  comm::run_ranks(1, [&](int) {
    set_strict(true);
    const nn::CellPtr net = net_with_loss(false, false);
    optim::Momentum optimizer(net->trainable_params(), {.learning_rate = 0.05, .weight_decay = 1e-3});
    train::TrainStep step = train::make_train_step(*net, optimizer);
    train::StepRunner runner(step);
    for (int64_t i = 0; i < s.steps; ++i) one.losses.push_back(static_cast<float>(runner(batch_of(s, i, 0, 4), i).loss.item()));
    for (const Parameter* p : optimizer.parameters())
      for (const double v : p->stored().to_vector<double>()) one.weights.push_back(v);
  });
  double difference = 0, size = 0;
  for (size_t i = 0; i < one.weights.size(); ++i) {
    difference = std::max(difference, std::abs(one.weights[i] - several.weights[i]));
    size = std::max(size, std::abs(one.weights[i]));
  }
  EXPECT_LE(difference, 1e-5 * size);
  for (size_t i = 0; i < one.losses.size(); ++i) EXPECT_NEAR(one.losses[i], several.losses[i], 1e-5 * one.losses[i]);
}

TEST(DataParallel, ASumInsteadOfTheMean) {
  Job s;
  s.ranks = 2, s.steps = 1, s.norm = false, s.dropout = false;
  const Outcome mean = train_all(s)[0];
  s.parallel.gradients_mean = false;
  const Outcome sum = train_all(s)[1];
  Job none = s;
  none.steps = 0;
  const Outcome before = train_all(none)[0];
  // One step of momentum without its decay moves twice as far.
  for (size_t i = 0; i < before.weights.size(); i += 7) {
    const double decay = 0.05 * 1e-3 * before.weights[i];
    EXPECT_NEAR(sum.weights[i] - before.weights[i] + decay, 2 * (mean.weights[i] - before.weights[i] + decay), 1e-6);
  }
}

TEST(DataParallel, ASixteenBitWire) {
  Job s;
  s.ranks = 4, s.steps = 200;
  const Outcome wide = train_all(s)[0];
  for (const char* type : {"bf16", "fp16"}) {
    Job narrow = s;
    narrow.parallel.grad_compression = type;
    const Outcome out = train_all(narrow)[0];
    EXPECT_NE(out.weights, wide.weights);
    double a = 0, b = 0;
    for (size_t i = 0; i < wide.losses.size(); ++i) a += out.losses[i], b += wide.losses[i];
    EXPECT_NEAR(a / b, 1, 0.01) << type;
  }
}

void make_infinite(TensorList& batch) {
  std::vector<double> x = batch[0].to_vector<double>();
  x[40] = HUGE_VAL;
  batch[0] = Tensor::from_values(batch[0].shape(), x, DType::kFloat32);
}

TEST(DataParallel, WhatIsNotFiniteOnOneRankIsLeftOutOnAll) {
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    Job s;
    s.ranks = 4, s.virtual_ranks = 8, s.steps = 8, s.mode = mode;
    s.step.skip_nonfinite = true;
    s.spoil = [](TensorList& batch, int64_t step, int64_t v) {
      if ((step == 2 && v == 5) || (step == 5 && v == 0)) make_infinite(batch);
    };
    const std::vector<Outcome> out = train_all(s);
    for (const Outcome& o : out) {
      EXPECT_EQ(o.finite, (std::vector<bool>{true, true, false, true, true, false, true, true}));
      EXPECT_TRUE(std::isfinite(o.losses[7]));
      for (const double w : o.weights) ASSERT_TRUE(std::isfinite(w));
    }
    Job one = s;
    one.ranks = 1;
    expect_same(out[3], train_all(one)[0], "one rank");
  }
}

TEST(DataParallel, Accumulation) {
  Job s;
  s.ranks = 4, s.virtual_ranks = 8, s.steps = 12;
  s.algorithms = {{"grad_accumulation", 3}};
  s.step.skip_nonfinite = true;
  s.spoil = [](TensorList& batch, int64_t step, int64_t v) {
    if (step == 4 && v == 6) make_infinite(batch);
  };
  expect_like_one_rank(s, "accumulation");
  s.mode = Mode::kPynative;
  expect_like_one_rank(s, "accumulation, eager");
}

// An algorithm that accumulates state without declaring it is refused: a checkpoint could not merge it over ranks.
TEST(DataParallel, WhoCollectsSaysWhat) {
  const nn::CellPtr net = net_with_loss(true, false);
  optim::Momentum optimizer(net->trainable_params(), {.learning_rate = 0.05});
  comm::run_ranks(2, [&](int) {
    train::TrainStep step = train::make_train_step(*net, optimizer);
    step.collect = [](train::TrainStep&, Gradients, const Tensor&) { return std::optional<Gradients>(); };
    EXPECT_THROW(train::apply_data_parallel(step, {.parameters = optimizer.parameters()}, {}, comm::world()), ValueError);
  });
}

TEST(DataParallel, MicroBatchesStayInAVirtualRank) {
  Job s;
  s.ranks = 2, s.virtual_ranks = 4, s.steps = 6;
  s.step.micro_batches = 2;
  expect_like_one_rank(s, "micro batches");
}

// Two ranks that see the same samples drop different units of them.
TEST(DataParallel, VirtualRanksDrawNumbersOfTheirOwn) {
  Job s;
  s.steps = 1, s.norm = false;
  s.spoil = [](TensorList& batch, int64_t, int64_t) { batch = small_batch(4, 1); };
  const float one = train_all(s)[0].losses[0];
  s.ranks = 2;
  EXPECT_NE(train_all(s)[0].losses[0], one);
  s.dropout = false;
  const float same = train_all(s)[0].losses[0];
  s.ranks = 1;
  EXPECT_EQ(train_all(s)[0].losses[0], same);
}

// In a world of one with one virtual rank a step is unchanged.
TEST(DataParallel, OneRankIsAPlainTraining) {
  Job s;
  s.steps = 5;
  Outcome plain;
  comm::run_ranks(1, [&](int) {
    set_strict(true);
    ops::reset_rng(5);
    const nn::CellPtr net = net_with_loss();
    optim::Momentum optimizer(net->trainable_params(), {.learning_rate = 0.05, .weight_decay = 1e-3});
    train::TrainStep step = train::make_train_step(*net, optimizer);
    train::StepRunner runner(step);
    for (int64_t i = 0; i < s.steps; ++i) plain.losses.push_back(static_cast<float>(runner(batch_of(s, i, 0, 1), i).loss.item()));
    plain.finite.assign(5, true);
    plain.state = test::state_bytes(*net, optimizer);
    const std::string graph = runner.compiled().graph_text();
    EXPECT_EQ(graph.find("all_reduce"), std::string::npos);
  });
  expect_same(train_all(s)[0], plain, "one rank");
}

TEST(DataParallel, ReplicasAreCompared) {
  Job s;
  s.ranks = 4, s.steps = 6;
  s.parallel.replica_check_steps = 2;
  (void)train_all(s);
  s.between = [](const std::vector<Parameter*>& parameters, int rank, int64_t step) {  // simulates a stray write
    if (rank == 2 && step == 2) parameters[3]->store(Tensor::zeros(parameters[3]->shape()));
  };
  for (const int64_t every : {2, 0}) {  // a hash every other step; one at the end
    s.parallel.replica_check_steps = every;
    try {
      (void)train_all(s);
      FAIL() << "replicas differ";
    } catch (const CommError& e) {
      EXPECT_EQ(e.code(), ErrorCode::kReplicas);
      EXPECT_NE(std::string(e.what()).find("the weights of rank 2 differ from those of rank 0"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("of 7)"), std::string::npos) << e.what();
    }
  }
}

TEST(DataParallel, PlansAreCompared) {
  Job s;
  s.ranks = 4, s.steps = 1;
  try {
    comm::run_ranks(4, [&](int rank) {
      Job mine = s;
      if (rank == 2) mine.parallel.replica_check_steps = 7;
      (void)train_rank(mine, rank);
    });
    FAIL() << "plans differ";
  } catch (const CommError& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCommMismatch);
    const std::string text = e.what();
    EXPECT_NE(text.find("replica check steps: 7 on rank 2"), std::string::npos) << text;
    EXPECT_NE(text.find("replica check steps: 1000 on ranks 0 1 3"), std::string::npos) << text;
  }
}

TEST(DataParallel, LayoutsThatCannotBe) {
  const auto code_of = [](int ranks, int64_t total, bool strict) {
    std::atomic<int> code = 0;
    comm::run_ranks(ranks, [&](int) {
      try {
        (void)train::virtual_ranks({.virtual_ranks = total, .strict_order = strict}, comm::world());
      } catch (const CommError& e) { code = static_cast<int>(e.code()); }
    });
    return code.load();
  };
  const int layout = static_cast<int>(ErrorCode::kLayout);
  EXPECT_EQ(code_of(3, 0, true), layout);
  EXPECT_EQ(code_of(3, 0, false), 0);
  EXPECT_EQ(code_of(2, 6, true), layout);
  EXPECT_EQ(code_of(2, 6, false), 0);
  EXPECT_EQ(code_of(4, 6, false), layout);
  EXPECT_EQ(code_of(2, 8, true), 0);
  Job s;
  s.ranks = 3, s.steps = 8;
  s.parallel.strict_order = false;
  const std::vector<Outcome> out = train_all(s);
  for (const Outcome& o : out) expect_same(o, out[0], "three ranks");
}

std::string fusion_error(const std::vector<int64_t>& list, size_t parameters) {
  const std::vector<TensorMeta> metas(parameters, Tensor::zeros({4}).meta());
  try {
    (void)train::gradient_buckets(metas, {.all_reduce_fusion_config = list}, comm::world());
  } catch (const ValueError& e) { return e.message(); }
  return "";
}

TEST(DataParallel, Buckets) {
  EXPECT_EQ(fusion_error({85, 200}, 161), "all_reduce_fusion_config[1]=200: must be greater than 85 and less than 161 (the network has 161 gradients)");
  EXPECT_EQ(fusion_error({0, 5}, 161), "all_reduce_fusion_config[0]=0: must be greater than 0 and less than 161 (the network has 161 gradients)");
  EXPECT_NE(fusion_error({5, 5}, 161), "");
  EXPECT_NE(fusion_error({-1}, 161), "");
  const auto ranges = [](const std::vector<TensorMeta>& metas, const train::DataParallelOptions& o) {
    std::vector<std::pair<int64_t, int64_t>> out;
    for (const train::GradientBucket& b : train::gradient_buckets(metas, o, comm::world())) out.emplace_back(b.first, b.last);
    return out;
  };
  using Ranges = std::vector<std::pair<int64_t, int64_t>>;
  const std::vector<TensorMeta> many(161, Tensor::zeros({4}).meta());
  EXPECT_EQ(ranges(many, {.all_reduce_fusion_config = std::vector<int64_t>{85, 160}}), (Ranges{{86, 160}, {0, 85}}));
  EXPECT_EQ(ranges(many, {.all_reduce_fusion_config = std::vector<int64_t>{75, 155}}), (Ranges{{156, 160}, {76, 155}, {0, 75}}));
  EXPECT_EQ(ranges(many, {.all_reduce_fusion_config = std::vector<int64_t>{}}), (Ranges{{0, 160}}));
  EXPECT_EQ(ranges(many, {.all_reduce_fusion_config = std::vector<int64_t>{160}}), (Ranges{{0, 160}}));
  std::vector<TensorMeta> mixed = many;
  mixed.resize(5);
  mixed[3].dtype = DType::kFloat64;
  EXPECT_EQ(ranges(mixed, {.all_reduce_fusion_config = std::vector<int64_t>{}}), (Ranges{{4, 4}, {3, 3}, {0, 2}}));
  // By size: 1 MiB first, then 4, the last at most 2; a larger gradient gets a bucket alone.
  const TensorMeta half = Tensor::zeros({1 << 17}).meta(), large = Tensor::zeros({5 << 18}).meta();  // 0.5 MiB, 5 MiB
  std::vector<TensorMeta> sizes(14, half);
  sizes[9] = large;
  EXPECT_EQ(ranges(sizes, {}), (Ranges{{12, 13}, {10, 11}, {9, 9}, {1, 8}, {0, 0}}));
  sizes.erase(sizes.begin(), sizes.begin() + 2);
  EXPECT_EQ(ranges(sizes, {}), (Ranges{{10, 11}, {8, 9}, {7, 7}, {4, 6}, {0, 3}}));
  EXPECT_EQ(ranges(std::vector<TensorMeta>{large}, {}), (Ranges{{0, 0}}));
}

// Accumulation keeps a list of gradients for each virtual rank, and a frozen step omits some gradients in each.
TEST(DataParallel, FrozenStepsThatAreCollected) {
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    Job s;
    s.ranks = 2, s.virtual_ranks = 4, s.steps = 8, s.mode = mode;
    s.algorithms = {{"grad_accumulation", 2}};
    s.boosts = {{"grad_freeze", {{"param_groups", int64_t{2}}, {"freeze_type", int64_t{0}}, {"freeze_p", 0.5}}}};
    expect_like_one_rank(s, "frozen steps");
  }
}

// A step that refreshes measures all layers: otherwise a layer frozen in that step would keep the curvature of a much earlier one.
TEST(DataParallel, ARefreshIsNeverFrozen) {
  Job s;
  s.steps = 7, s.thor = true;
  const std::vector<double> strategy = {1};
  s.boosts = {{"grad_freeze", {{"param_groups", int64_t{2}}, {"strategy", strategy}}}};
  std::vector<bool> changed;
  std::vector<double> before;
  s.between = [&](const std::vector<Parameter*>& parameters, int, int64_t) {
    std::vector<double> now = parameters[0]->stored().to_vector<double>();
    changed.push_back(now != before);
    before = std::move(now);
  };
  train_all(s);
  EXPECT_EQ(changed, (std::vector<bool>{true, false, false, true, false, false, true}));  // it refreshes at 0, 3, 6
}

}  // namespace
}  // namespace sindri::dist_test
