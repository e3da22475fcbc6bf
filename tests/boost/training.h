// Small training runs with algorithms, as single steps and through Model.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sindri/core/context.h"
#include "sindri/core/rng.h"
#include "sindri/nn/dense.h"
#include "sindri/nn/loss.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/model.h"
#include "sindri/train/training_state.h"
#include "tests/amp/small_net.h"

namespace sindri::test {

class ModeScope {
 public:
  explicit ModeScope(Mode m) : before_(context().mode) { set_mode(m); }
  ~ModeScope() { set_mode(before_); }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  Mode before_;
};

inline std::vector<double> values_of(const std::vector<Parameter*>& params) {
  std::vector<double> out;
  for (const Parameter* p : params) {
    for (const double v : p->stored().to_vector<double>()) out.push_back(v);
  }
  return out;
}

inline TensorList overflowing_batch() {
  TensorList batch = small_batch(6, 5);
  std::vector<double> x = batch[0].to_vector<double>();
  x[40] = HUGE_VAL;
  batch[0] = Tensor::from_values(batch[0].shape(), x, DType::kFloat32);
  return batch;
}

/// Convolution, batch norm and dense layers with momentum, step by step.
struct BoostedTraining {
  explicit BoostedTraining(const std::vector<train::BoostAlgorithmPtr>& algorithms, const train::TrainStepOptions& options = {}) {
    ops::reset_rng(3);
    net = small_net_with_loss();
    optimizer = std::make_unique<optim::Momentum>(net->trainable_params(),
                                                  optim::MomentumOptions{.learning_rate = 0.05, .weight_decay = 1e-3, .loss_scale = options.loss_scale});
    step = train::make_train_step(*net, *optimizer, options);
    train::BuildContext context{.parameters = optimizer->parameters(), .network_state = net->parameters_and_names()};
    context.network = net.get(), context.optimizer = optimizer.get(), context.loss_scale = options.loss_scale;
    applied = train::apply_boosts(step, context, algorithms);
    new_runner();
  }
  void new_runner() { runner = std::make_unique<train::StepRunner>(step); }
  train::StepResult run(const TensorList& batch) { return (*runner)(batch, steps++); }
  /// Parameters, moving statistics, and all state.
  std::vector<double> everything() {
    std::vector<Parameter*> all = net->get_parameters();
    for (Parameter* p : optimizer->state()) all.push_back(p);
    for (const auto& a : applied) {
      for (Parameter* p : a->state()) all.push_back(p);
    }
    return values_of(all);
  }

  nn::CellPtr net;
  std::unique_ptr<optim::Optimizer> optimizer;
  train::TrainStep step;
  std::vector<train::BoostAlgorithmPtr> applied;
  std::unique_ptr<train::StepRunner> runner;
  int64_t steps = 0;
};

/// Five batches per epoch, in a different order each; a Dense layer with dynamic loss scale.
struct ModelRun {
  std::vector<train::BoostAlgorithmPtr> algorithms;
  nn::CellPtr net;
  std::shared_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<train::Model> model;
  dataset::Dataset::Ptr data;

  static dataset::Dataset::Ptr rows(bool shuffle) {
    dataset::GeneratorDataset::Options o;
    o.column_names = {"x", "label"};
    o.size = 10;
    o.shuffle = shuffle;
    o.row = [](int64_t i) {
      const double v = static_cast<double>(i) / 10;
      return dataset::GeneratorDataset::Row{Tensor::from_values({2}, {v, v * v}, DType::kFloat32), Tensor::scalar(static_cast<double>(i % 3), DType::kInt32)};
    };
    return dataset::GeneratorDataset::make(o)->batch(2, {.drop_remainder = true});
  }

  /// Trains up to `stop` steps (0: all), from the checkpoint `from`, saving at the end to `folder`. Returns the values of everything.
  std::vector<double> train(int64_t epochs, int64_t stop, const std::string& from, const std::string& folder, bool shuffle = true) {
    set_seed(7);
    ops::reset_rng(7);
    net = nn::Dense::make({.in_channels = 2, .out_channels = 3});
    optimizer = std::make_shared<optim::Momentum>(net->trainable_params(), optim::MomentumOptions{.learning_rate = 0.1, .momentum = 0.9});
    train::ModelOptions o;
    o.loss_scale_manager = std::make_shared<train::DynamicLossScaleManager>(256, 2, 3);
    o.algorithms = algorithms;
    model = std::make_unique<train::Model>(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}), optimizer, o);
    data = rows(shuffle);
    train::TrainOptions options{.dataset_sink_mode = false};
    options.max_steps = stop;
    if (!from.empty()) {
      const train::TrainPosition p = train::load_training_state(from, *net, *optimizer, model->loss_scale_manager().get(), model->algorithm_state());
      options.initial_epoch = p.epoch;
      options.initial_step = p.step_in_epoch;
      options.initial_total = p.step;
      options.dataset_state = p.dataset_state;
    }
    std::vector<train::CallbackPtr> callbacks;
    if (!folder.empty()) callbacks.push_back(std::make_shared<train::ModelCheckpoint>("net", folder, train::CheckpointConfig{.save_checkpoint_steps = 1000}));
    model->train(epochs, data, callbacks, options);
    return everything();
  }
  std::vector<double> train_again() {
    model->train(1, data, {}, {.dataset_sink_mode = false});
    return everything();
  }
  std::vector<double> everything() {
    std::vector<Parameter*> all = net->get_parameters();
    for (Parameter* p : optimizer->state()) all.push_back(p);
    for (Parameter* p : model->loss_scale_manager()->state()) all.push_back(p);
    for (Parameter* p : model->algorithm_state()) all.push_back(p);
    return values_of(all);
  }
};

}  // namespace sindri::test
