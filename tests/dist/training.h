// Small training runs on ranks that are threads: each has its own runtime and its part of every batch.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/core/context.h"
#include "sindri/core/rng.h"
#include "sindri/nn/nn.h"
#include "sindri/ops/random.h"
#include "sindri/ops/shape.h"
#include "sindri/optim/adam.h"
#include "sindri/optim/momentum.h"
#include "sindri/optim/thor.h"
#include "sindri/train/data_parallel.h"
#include "sindri/train/model.h"
#include "tests/amp/small_net.h"

namespace sindri::dist_test {

using test::small_batch;

/// Convolution, batch norm (optional), dropout, dense.
inline nn::CellPtr net_with_loss(bool norm = true, bool dropout = true) {
  set_seed(11);
  std::vector<nn::CellPtr> cells = {nn::Conv2d::make({.in_channels = 1, .out_channels = 8, .kernel_size = 3, .weight_init = "he_normal"})};
  if (norm) cells.push_back(nn::BatchNorm2d::make({.num_features = 8}));
  cells.push_back(nn::ReLU::make());
  cells.push_back(nn::MaxPool2d::make({.kernel_size = 2, .stride = 2}));
  cells.push_back(nn::Flatten::make());
  if (dropout) cells.push_back(nn::Dropout::make({.keep_prob = 0.8}));
  cells.push_back(nn::Dense::make({.in_channels = 72, .out_channels = 16, .weight_init = "he_uniform"}));
  cells.push_back(nn::Dense::make({.in_channels = 16, .out_channels = 3, .weight_init = "he_uniform"}));
  auto net =
      nn::WithLossCell::make(std::make_shared<nn::SequentialCell>(cells), nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}));
  net->set_train(true);
  return net;
}

struct Job {
  int ranks = 1, local_size = 0;
  int64_t virtual_ranks = 0, steps = 10, rows = 4;  // rows of a virtual rank
  Mode mode = Mode::kGraph;
  bool adam = false, thor = false, norm = true, dropout = true;
  std::function<void(optim::ThorOptions&)> thor_options = {};
  train::DataParallelOptions parallel = {};
  train::TrainStepOptions step = {};
  std::vector<std::pair<std::string, int64_t>> algorithms = {};  // name, value of "step"
  std::vector<std::pair<std::string, std::map<std::string, SettingValue>>> boosts = {};  // name, settings
  /// Changes the batch of a virtual rank.
  std::function<void(TensorList&, int64_t step, int64_t virtual_rank)> spoil = nullptr;
  std::function<void(const std::vector<Parameter*>& parameters, int rank, int64_t step)> between = nullptr;
};

/// The results of one rank.
struct Outcome {
  std::vector<float> losses;
  std::vector<bool> finite;
  std::vector<std::vector<char>> state;  // parameters, moving statistics (merged), optimizer
  std::vector<double> weights;
};

inline TensorList batch_of(const Job& s, int64_t step, int64_t first, int64_t count) {
  std::vector<TensorList> columns(2);
  for (int64_t v = first; v < first + count; ++v) {
    TensorList b = small_batch(s.rows, step * 1000 + v);
    if (s.spoil) s.spoil(b, step, v);
    for (size_t c = 0; c < 2; ++c) columns[c].push_back(b[c]);
  }
  return {ops::concat(columns[0], 0), ops::concat(columns[1], 0)};
}

inline Outcome train_rank(const Job& s, int rank) {
  set_strict(true);  // kernels are not chosen by time
  set_num_threads(1);
  set_mode(s.mode);
  ops::reset_rng(5);
  const nn::CellPtr net = net_with_loss(s.norm, s.dropout);
  std::unique_ptr<optim::Optimizer> optimizer;
  if (s.thor) {
    optim::ThorOptions o{.learning_rate = 0.01, .damping = 0.1, .frequency = 3, .block_size = 32};
    if (s.thor_options) s.thor_options(o);
    optimizer = std::make_unique<optim::Thor>(net->trainable_params(), o);
  } else if (s.adam) optimizer = std::make_unique<optim::Adam>(net->trainable_params(), optim::AdamOptions{.learning_rate = 0.01});
  else optimizer = std::make_unique<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.05, .weight_decay = 1e-3});
  train::TrainStep step = train::make_train_step(*net, *optimizer, s.step);
  train::BuildContext context{.parameters = optimizer->parameters(), .network_state = net->parameters_and_names()};
  for (const auto& [path, cell] : net->cells_and_names())
    if (auto* bn = dynamic_cast<nn::BatchNorm*>(cell)) context.moving_averages = {{&bn->moving_mean(), 0.9}, {&bn->moving_variance(), 0.9, &bn->moving_mean()}};
  context.network = net.get(), context.optimizer = optimizer.get();
  train::DataParallelOptions parallel = s.parallel;
  parallel.virtual_ranks = s.virtual_ranks;
  if (!parallel.gradients_mean) context.gradient_sum = static_cast<double>(train::virtual_ranks(parallel, comm::world()));
  context.gradient_lists = train::virtual_ranks(parallel, comm::world()) / comm::world().size();
  std::vector<train::BoostAlgorithmPtr> algorithms;
  for (const auto& [name, value] : s.algorithms) algorithms.push_back(train::boosts().make(name, {{"step", value}}));
  for (const auto& [name, settings] : s.boosts) algorithms.push_back(train::boosts().make(name, settings));
  const auto applied = train::apply_boosts(step, context, algorithms);
  const auto d = train::apply_data_parallel(step, context, parallel, comm::world());
  CompileOptions compile;
  if (!parallel.overlap) compile.disable_passes = {"hoist_comm"};
  train::StepRunner runner(step, compile);
  std::vector<Parameter*> state = optimizer->state();
  if (s.step.loss_scale_manager != nullptr) throw ValueError("a manager is of one rank", "tests", "set it in train_rank");
  for (const auto& a : applied)
    for (Parameter* p : a->state()) state.push_back(p);
  d->begin({}, state);
  Outcome out;
  for (int64_t i = 0; i < s.steps; ++i) {
    const train::StepResult r = runner(batch_of(s, i, d->first_virtual_rank(), d->virtual_per_rank()), i);
    out.losses.push_back(static_cast<float>(r.loss.item()));
    out.finite.push_back(!r.finite.defined() || r.finite.item() != 0);
    if (s.between) s.between(optimizer->parameters(), rank, i);
    d->after_step(i + 1);
  }
  d->merge_moving_averages();
  d->check_replicas();
  out.state = test::state_bytes(*net, *optimizer);
  for (const Parameter* p : optimizer->parameters())
    for (const double v : p->stored().to_vector<double>()) out.weights.push_back(v);
  return out;
}

/// Of every rank.
inline std::vector<Outcome> train_all(const Job& s) {
  std::vector<Outcome> out(static_cast<size_t>(s.ranks));
  comm::run_ranks(
      s.ranks, [&](int rank) { out[static_cast<size_t>(rank)] = train_rank(s, rank); }, s.local_size);
  return out;
}

}  // namespace sindri::dist_test
