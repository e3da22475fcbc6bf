// Model on several ranks: the loop around the step.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>

#include "sindri/autograd/grad.h"
#include "sindri/core/error.h"
#include "sindri/ops/comm.h"
#include "sindri/ops/elementwise.h"
#include "tests/dist/training.h"

namespace sindri::dist_test {
namespace {

// Part v of V of 64 samples: position i·V + v in an order that all ranks know.
std::shared_ptr<dataset::Dataset> part_of_data(int64_t first, int64_t count, int64_t total, int64_t rows = 64, int64_t per_virtual = 4) {
  const TensorList all = small_batch(64, 1);
  dataset::GeneratorDataset::Options o;
  o.column_names = {"x", "label"};
  o.size = rows / total * count;
  o.shuffle = false;
  o.row = [all, first, count, total, per_virtual](int64_t i) {
    const int64_t step = i / (count * per_virtual), in_step = i % (count * per_virtual), v = first + in_step / per_virtual;
    const int64_t at = (step * per_virtual + in_step % per_virtual) * total + v;
    std::vector<double> x = all[0].to_vector<double>();
    x = {x.begin() + at * 36, x.begin() + (at + 1) * 36};
    return dataset::GeneratorDataset::Row{Tensor::from_values({1, 6, 6}, x, DType::kFloat32),
                                          Tensor::scalar(all[1].to_vector<double>()[static_cast<size_t>(at)], DType::kInt32)};
  };
  return dataset::GeneratorDataset::make(o)->batch(per_virtual * count, {.drop_remainder = true});
}

nn::CellPtr plain_net(uint64_t seed = 11, nn::CellPtr pool = nn::MaxPool2d::make({.kernel_size = 2, .stride = 2})) {
  set_seed(static_cast<int64_t>(seed));
  return nn::SequentialCell::make(nn::Conv2d::make({.in_channels = 1, .out_channels = 8, .kernel_size = 3, .weight_init = "he_normal"}),
                                  nn::BatchNorm2d::make({.num_features = 8}), nn::ReLU::make(), std::move(pool), nn::Flatten::make(),
                                  nn::Dense::make({.in_channels = 72, .out_channels = 3, .weight_init = "he_uniform"}));
}

struct Trained {
  std::vector<float> losses;
  std::vector<std::vector<char>> state;
  double accuracy = 0, loss = 0;
  int64_t steps = 0;
};

struct ModelJob {
  int64_t virtual_ranks = 4, epochs = 3;
  bool sink = true, seeds_differ = false;
  Mode mode = Mode::kGraph;
  train::TrainOptions train = {};
  std::function<train::CallbackPtr(int rank)> callback = nullptr;
  std::function<nn::CellPtr(int rank)> pool = nullptr;
  std::function<bool(int rank)> stop = nullptr;
  std::function<void(train::ModelOptions&, int rank)> change = nullptr;
  int64_t rows = 64;
  int trainings = 1;  // calls of Model.train, one after the other
};

class KeepLosses final : public train::Callback {
 public:
  explicit KeepLosses(std::vector<float>* to) : to_(to) {}
  void steps_known(train::TrainState&, const train::KnownSteps& k) override { to_->insert(to_->end(), k.losses.begin(), k.losses.end()); }
  void end(train::TrainState& s) override { steps = s.cur_step_num; }
  int64_t steps = 0;

 private:
  std::vector<float>* to_;
};

Trained run_model(const ModelJob& job, int rank) {
  set_strict(true);
  set_num_threads(1);
  set_mode(job.mode);
  ops::reset_rng(5);
  Trained out;
  const uint64_t seed = job.seeds_differ ? 11 + static_cast<uint64_t>(rank) : 11;
  const nn::CellPtr net = job.pool ? plain_net(seed, job.pool(rank)) : plain_net(seed);
  auto optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.05});
  train::ModelOptions o;
  o.metrics = {{"accuracy", std::make_shared<nn::Accuracy>()}, {"loss", std::make_shared<nn::Loss>()}};
  o.data_parallel = train::DataParallelOptions{.virtual_ranks = job.virtual_ranks, .replica_check_steps = 3};
  if (job.change) job.change(o, rank);
  train::Model model(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer, o);
  const train::DataParallel& d = *model.data_parallel();
  const auto data = part_of_data(d.first_virtual_rank(), d.virtual_per_rank(), d.virtual_ranks(), job.rows);
  const auto keep = std::make_shared<KeepLosses>(&out.losses);
  std::vector<train::CallbackPtr> callbacks = {keep};
  if (job.callback) callbacks.push_back(job.callback(rank));
  train::TrainOptions options = job.train;
  options.dataset_sink_mode = job.sink;
  if (job.stop) options.stop_requested = [&] { return job.stop(rank); };
  for (int i = 0; i < job.trainings; ++i) model.train(job.epochs, data, callbacks, options);
  out.steps = keep->steps;
  const train::MetricValues values = model.eval(part_of_data(0, 1, 1));  // all ranks see all of it
  out.accuracy = values.at("accuracy"), out.loss = values.at("loss");
  out.state = test::state_bytes(*net, *optimizer);
  return out;
}

std::vector<Trained> run_models(int ranks, const ModelJob& job) {
  std::vector<Trained> out(static_cast<size_t>(ranks));
  comm::run_ranks(ranks, [&](int rank) { out[static_cast<size_t>(rank)] = run_model(job, rank); });
  return out;
}

void expect_equal(const Trained& a, const Trained& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.accuracy, b.accuracy);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.steps, b.steps);
}

TEST(ModelOnRanks, AnyNumberTrainsAndEvaluatesAlike) {
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    ModelJob job;
    job.mode = mode;
    const Trained one = run_models(1, job)[0];
    EXPECT_EQ(one.steps, 12);
    EXPECT_EQ(one.losses.size(), 12u);
    for (const int ranks : {2, 4})
      for (const Trained& t : run_models(ranks, job)) expect_equal(t, one);
    job.sink = false;
    for (const Trained& t : run_models(2, job)) expect_equal(t, one);
  }
}

TEST(ModelOnRanks, AllBeginWithRankZerosWeights) {
  ModelJob job;
  const Trained one = run_models(1, job)[0];
  job.seeds_differ = true;
  for (const Trained& t : run_models(2, job)) expect_equal(t, one);
}

// Merging state for a checkpoint at every step is undone afterwards.
TEST(ModelOnRanks, SavingChangesNothing) {
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    ModelJob job;
    job.mode = mode, job.sink = false;
    const Trained plain = run_models(1, job)[0];
    std::atomic<int> saved{0};
    job.callback = [&](int rank) -> train::CallbackPtr {
      return std::make_shared<train::LambdaCallback>([&saved, rank](train::TrainState& s) {
        const std::shared_ptr<void> merged = s.merge_ranks();
        EXPECT_EQ(s.of_ranks.size(), rank == 0 ? 2u : 0u) << "a moving mean and a moving variance";
        ++saved;
      });
    };
    for (const int ranks : {1, 2, 4})
      for (const Trained& t : run_models(ranks, job)) expect_equal(t, plain);
    EXPECT_EQ(saved, 12 * 7);
  }
}

// Whichever rank asks, all end after the same step.
TEST(ModelOnRanks, AStopOfOneRankIsOneOfAll) {
  for (const int asks : {0, 3}) {
    std::array<std::atomic<int>, 4> asked{};
    ModelJob job;
    job.stop = [&](int rank) { return ++asked[static_cast<size_t>(rank)] >= 6 && rank == asks; };  // before step 6
    for (const Trained& t : run_models(4, job)) EXPECT_EQ(t.steps, 6);
  }
}

TEST(ModelOnRanks, AStopOfACallbackIsOneOfAll) {
  const auto stops_at = [](int64_t step, bool at_epoch_end) {
    return [=](int rank) -> train::CallbackPtr {
      const auto ask = [=](train::TrainState& s) {
        if (rank == 1 && s.cur_step_num == step) s.request_stop();
      };
      using Fn = train::LambdaCallback::Fn;
      return std::make_shared<train::LambdaCallback>(at_epoch_end ? Fn() : Fn(ask), at_epoch_end ? Fn(ask) : Fn());
    };
  };
  ModelJob job;
  job.sink = false;
  job.callback = stops_at(5, false);
  for (const Trained& t : run_models(2, job)) EXPECT_EQ(t.steps, 6);  // the next step transmits it to the others
  job.callback = stops_at(8, false);  // … or the end of the epoch
  for (const Trained& t : run_models(2, job)) EXPECT_EQ(t.steps, 8);
  job.callback = stops_at(4, true);
  for (const Trained& t : run_models(2, job)) EXPECT_EQ(t.steps, 4);
  job.callback = nullptr;
  job.train.max_steps = 7;
  for (const Trained& t : run_models(2, job)) EXPECT_EQ(t.steps, 7);
}

// Four steps per call, groups of three: the second call starts after the first step of a group, with the gradients that all ranks have accumulated.
TEST(ModelOnRanks, ASecondTrainingGoesOnInTheGroup) {
  ModelJob job;
  job.epochs = 1, job.trainings = 2;
  job.change = [](train::ModelOptions& o, int) { o.algorithms = {train::boosts().make("grad_accumulation", {{"step", 3}})}; };
  const Trained one = run_models(1, job)[0];
  for (const int ranks : {2, 4})
    for (const Trained& t : run_models(ranks, job)) expect_equal(t, one);
  job.epochs = 2, job.trainings = 1;  // never merged: the same up to rounding
  const Trained at_once = run_models(4, job)[0];
  ASSERT_EQ(at_once.losses.size(), one.losses.size());
  for (size_t i = 0; i < one.losses.size(); ++i) EXPECT_NEAR(at_once.losses[i], one.losses[i], 1e-5) << i;
}

std::string error_of(int ranks, const ModelJob& job, ErrorCode code) {
  try {
    (void)run_models(ranks, job);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(ModelOnRanks, WhatRanksMustAgreeIn) {
  ModelJob job;
  job.change = [](train::ModelOptions& o, int rank) { o.micro_batches = rank == 1 ? 2 : 1; };
  EXPECT_NE(error_of(4, job, ErrorCode::kCommMismatch).find("micro batches: 2 on rank 1"), std::string::npos);
  job.change = [](train::ModelOptions& o, int) { o.data_parallel->virtual_ranks = 6; };
  EXPECT_NE(error_of(2, job, ErrorCode::kLayout).find("dist.strict_order=false"), std::string::npos);
}

// The same parameters in another network: the plans are equal, but the graphs differ.
TEST(ModelOnRanks, AnotherGraphIsRefused) {
  ModelJob job;
  job.pool = [](int rank) -> nn::CellPtr {
    if (rank == 1) return nn::AvgPool2d::make({.kernel_size = 2, .stride = 2});
    return nn::MaxPool2d::make({.kernel_size = 2, .stride = 2});
  };
  const std::string error = error_of(4, job, ErrorCode::kCommMismatch);
  EXPECT_NE(error.find("the graphs differ between ranks: "), std::string::npos) << error;
  EXPECT_NE(error.find("avg_pool"), std::string::npos) << error;
  EXPECT_NE(error.find("on ranks 0 2 3"), std::string::npos) << error;
}

// A value that is not finite ends the run on all ranks at the same step, with the same error.
TEST(ModelOnRanks, ALossThatIsNotFiniteEndsAll) {
  ModelJob job;
  std::atomic<int> ended = 0;
  comm::run_ranks(4, [&](int rank) {
    ModelJob mine = job;
    mine.callback = [](int r) -> train::CallbackPtr {
      return std::make_shared<train::LambdaCallback>(nullptr, [r](train::TrainState& s) {
        // After the first epoch, batch norm's shift becomes infinite on one rank. Replicas are not compared again before the next step.
        if (r == 2 && s.cur_step_num == 4) s.network->get_parameters()[2]->store(Tensor::full({8}, HUGE_VAL));
      });
    };
    try {
      (void)run_model(mine, rank);
    } catch (const NonFiniteError& e) {
      EXPECT_NE(std::string(e.what()).find("epoch 2, step 1"), std::string::npos) << e.what();
      ++ended;
    }
  });
  EXPECT_EQ(ended, 4);
}

// A loss scale falls and grows on all ranks alike, whichever of them overflows.
TEST(ModelOnRanks, AnOverflowOfOneRankIsOneOfAll) {
  std::vector<std::shared_ptr<train::DynamicLossScaleManager>> managers(4);
  ModelJob job;
  job.sink = false;
  job.change = [&](train::ModelOptions& o, int rank) {
    managers[static_cast<size_t>(rank)] = std::make_shared<train::DynamicLossScaleManager>(1024, 2, 3);
    o.loss_scale_manager = managers[static_cast<size_t>(rank)];
  };
  std::atomic<int> overflows = 0;
  job.callback = [&](int rank) -> train::CallbackPtr {
    const auto watch = [&overflows, rank](train::TrainState& s) {
      // Between two steps rank 1 alone spoils its batch norm's input: for one step, which changes nothing because it is skipped.
      Parameter& shift = *s.network->get_parameters()[2];
      static thread_local Tensor good;
      if (rank == 1 && s.cur_step_num == 4) {
        good = shift.stored();
        shift.store(Tensor::full({8}, 3e38));
      }
      if (rank == 1 && s.cur_step_num == 5) shift.store(std::exchange(good, Tensor()));
      if (s.cur_step_num == 12) overflows += static_cast<int>(s.overflow_steps);
    };
    return std::make_shared<train::LambdaCallback>(watch);
  };
  job.change = [inner = job.change](train::ModelOptions& o, int rank) {
    inner(o, rank);
    o.data_parallel->replica_check_steps = 0;
    o.nan_policy = train::NanPolicy::kSkip;
  };
  const std::vector<Trained> all = run_models(4, job);
  EXPECT_EQ(overflows, 4);
  for (const auto& m : managers) EXPECT_EQ(m->get_loss_scale(), managers[0]->get_loss_scale());
  for (const Trained& t : all) EXPECT_EQ(t.state, all[0].state);
}

// From the next step on, every rank's gradients are affected: the error names the rank that started it and the parameter, also if a step omits the first
// parameters.
class ModelOnRanksFrozen : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Steps, ModelOnRanksFrozen, testing::Bool());
TEST_P(ModelOnRanksFrozen, TheRankWhoseGradientsWereFirstNotFinite) {
  const bool frozen = GetParam();
  std::atomic<int> ended = 0;
  comm::run_ranks(4, [&](int rank) {
    ModelJob job;
    job.sink = false;
    job.change = [](train::ModelOptions& o, int r) {
      if (r != 2) return;
      // A gradient that is not finite although the loss is: an algorithm of this rank spoils one.
      class Spoil final : public train::BoostAlgorithm {
       public:
        std::string name() const override { return "spoil"; }
        void apply(train::TrainStep& step, const train::BuildContext&) override {
          const size_t now = step.add_choice(2, [](const train::TrainStep&, int64_t s) { return s == 4 ? 1 : 0; });
          step.gradients = [now, inner = step.gradients](train::TrainStep& self, const train::TrainStep::Batch& b) {
            auto result = inner(self, b);
            if (self.chosen(now) == 1) result.second.of_params[3] = ops::mul(result.second.of_params[3], HUGE_VAL);
            return result;
          };
        }
      };
      o.algorithms = {std::make_shared<Spoil>()};
    };
    job.change = [inner = job.change, frozen](train::ModelOptions& o, int r) {
      inner(o, r);
      class Nothing final : public train::BoostAlgorithm {
       public:
        std::string name() const override { return "spoil"; }
        void apply(train::TrainStep&, const train::BuildContext&) override {}
      };
      if (r != 2) o.algorithms = {std::make_shared<Nothing>()};
      const std::vector<double> starts = {0, 2}, strategy = {1};
      if (frozen) o.algorithms.push_back(train::boosts().make("grad_freeze", {{"starts", starts}, {"strategy", strategy}}));
    };
    try {
      (void)run_model(job, rank);
    } catch (const NonFiniteError& e) {
      EXPECT_NE(std::string(e.what()).find("not finite first on rank 2 (of '5.weight', at step 5)"), std::string::npos) << e.what();
      ++ended;
    }
  });
  EXPECT_EQ(ended, 4);
}

// If more than the allowed share of steps is skipped, all ranks end with the same error.
TEST(ModelOnRanks, TooManyStepsLeftOutEndAll) {
  ModelJob job;
  job.epochs = 6;
  std::atomic<int> ended = 0;
  job.change = [](train::ModelOptions& o, int) {
    o.nan_policy = train::NanPolicy::kSkip;
    o.data_parallel->replica_check_steps = 0;
  };
  comm::run_ranks(2, [&](int rank) {
    ModelJob mine = job;
    mine.callback = [](int r) -> train::CallbackPtr {
      return std::make_shared<train::LambdaCallback>(nullptr, [r](train::TrainState& s) {
        if (r == 1 && s.cur_step_num == 4) s.network->get_parameters()[2]->store(Tensor::full({8}, HUGE_VAL));
      });
    };
    try {
      (void)run_model(mine, rank);
    } catch (const NonFiniteError& e) {
      EXPECT_NE(std::string(e.what()).find("10 of the 14 steps of this training"), std::string::npos) << e.what();
      ++ended;
    }
  });
  EXPECT_EQ(ended, 2);
}

// However many steps may be skipped in total, this number of consecutive ones ends the run; a step that is not skipped restarts the count.
TEST(ModelOnRanks, TooManyStepsInARowLeftOutEndAll) {
  for (const bool mended : {false, true}) {
    ModelJob job;
    job.epochs = 6;
    job.sink = false;
    job.change = [](train::ModelOptions& o, int) {
      o.nan_policy = train::NanPolicy::kSkip;
      o.max_skipped = 1;
      o.max_skips = 5;
      o.data_parallel->replica_check_steps = 0;
    };
    std::atomic<int> ended = 0, skipped = 0;
    comm::run_ranks(2, [&](int rank) {
      ModelJob mine = job;
      mine.callback = [&](int r) -> train::CallbackPtr {
        return std::make_shared<train::LambdaCallback>([&, r, good = Tensor()](train::TrainState& s) mutable {
          Parameter& shift = *s.network->get_parameters()[2];
          if (r == 1 && (s.cur_step_num == 4 || (mended && s.cur_step_num == 10))) {
            good = shift.stored();
            shift.store(Tensor::full({8}, HUGE_VAL));
          }
          if (r == 1 && mended && (s.cur_step_num == 9 || s.cur_step_num == 15)) shift.store(good);
          if (s.cur_step_num == 16) skipped = static_cast<int>(s.skipped_steps);
        });
      };
      try {
        (void)run_model(mine, rank);
      } catch (const NonFiniteError& e) {
        EXPECT_NE(std::string(e.what()).find("6 consecutive steps were skipped"), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("not finite first on rank 1 (of '"), std::string::npos) << e.what();
        ++ended;
      }
    });
    EXPECT_EQ(ended, mended ? 0 : 2);
    EXPECT_EQ(skipped, mended ? 10 : 0) << "five in a row, twice";
  }
}

// Ranks whose batches share statistics act like one rank with all of them: output, gradient, moving statistics; uneven batches, too.
TEST(ModelOnRanks, BatchNormOfAllRanks) {
  const TensorList batch = small_batch(8, 3);
  const auto gradients = [](const nn::CellPtr& net, double share, bool sum) {
    return [net, share, sum](Span<const Tensor> in) {
      const TensorFn loss = [&](Span<const Tensor> x) -> TensorList {
        const nn::Value values[] = {nn::Value(x[0]), nn::Value(x[1])};
        return {ops::mul(net->call(values).tensor(), share)};
      };
      const std::vector<Parameter*> params = net->trainable_params();
      TensorList out = value_and_grad(loss, in, {}, params).second.of_params;
      return sum ? ops::all_reduce(out) : out;
    };
  };
  const auto moving = [](const nn::CellPtr& net) {
    std::vector<double> out;
    for (const Parameter* p : net->untrainable_params())
      for (const double v : p->stored().to_vector<double>()) out.push_back(v);
    return out;
  };
  const auto expect_near = [](const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5 * (1 + std::abs(b[i]))) << i;
  };
  const nn::CellPtr whole = net_with_loss(true, false);
  const TensorList expected = gradients(whole, 1, false)(batch);
  const std::vector<double> expected_averages = moving(whole);  // not on the ranks' threads: a Cell gives its parameters names when they are first requested
  for (const bool compiled : {false, true}) {
    comm::run_ranks(2, [&](int rank) {
      const nn::CellPtr net = net_with_loss(true, false);
      for (const auto& [path, cell] : net->cells_and_names())
        if (auto* bn = dynamic_cast<nn::BatchNorm*>(cell)) bn->set_sync_group("world");
      const int64_t first = rank == 0 ? 0 : 3, end = rank == 0 ? 3 : 8;
      const TensorList mine = {ops::slice(batch[0], {first}, {end}), ops::slice(batch[1], {first}, {end})};
      const TensorFn f = gradients(net, static_cast<double>(end - first) / 8, true);
      const TensorList out = compiled ? compile(f)(mine) : f(mine);
      for (size_t i = 0; i < out.size(); ++i) expect_near(out[i].to_vector<double>(), expected[i].to_vector<double>());
      expect_near(moving(net), expected_averages);
    });
  }
}

TEST(ModelOnRanks, BatchNormOfAllRanksTrains) {
  ModelJob job;
  job.change = [](train::ModelOptions& o, int) { o.data_parallel->bn_sync = "train"; };
  const std::vector<Trained> four = run_models(4, job);
  for (const Trained& t : four) expect_equal(t, four[0]);
  job.change = nullptr;
  EXPECT_NE(run_models(4, job)[0].losses, four[0].losses);
  job.change = [](train::ModelOptions& o, int) { o.data_parallel->bn_sync = "train"; };
  EXPECT_NE(error_of(2, job, ErrorCode::kLayout).find("bn_sync"), std::string::npos);
}

TEST(ModelOnRanks, MovingAveragesOfRankZero) {
  ModelJob job;
  const Trained mean = run_models(1, job)[0];
  job.change = [](train::ModelOptions& o, int) { o.data_parallel->bn_merge = "rank0"; };
  const Trained one = run_models(1, job)[0];
  EXPECT_NE(one.state, mean.state);
  EXPECT_EQ(one.losses, mean.losses);
  for (const Trained& t : run_models(4, job)) expect_equal(t, one);
}

// Rank 0 saves the weights that the evaluation during training has measured.
TEST(ModelOnRanks, AveragesOfMovingAveragesAreThoseOfRankZero) {
  for (const Mode mode : {Mode::kGraph, Mode::kPynative}) {
    ModelJob job;
    job.mode = mode;
    job.change = [](train::ModelOptions& o, int) {
      o.algorithms = {train::boosts().make("average", {{"decay", 0.5}})};
      o.eval_weights = "average";
    };
    const Trained one = run_models(1, job)[0];
    for (const int ranks : {2, 4})
      for (const Trained& t : run_models(ranks, job)) expect_equal(t, one);
  }
}

}  // namespace
}  // namespace sindri::dist_test
