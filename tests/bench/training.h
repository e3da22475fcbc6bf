// Common code for benchmarks of optimizers and training algorithms: a network with an optimizer and algorithms, whose steps are timed by their number.
#pragma once
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "sindri/core/context.h"
#include "sindri/core/rng.h"
#include "sindri/models/models.h"
#include "sindri/nn/loss.h"
#include "sindri/nn/norm.h"
#include "sindri/ops/random.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/boost.h"
#include "sindri/train/train_step.h"

namespace sindri::benchmarks {

inline double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A network with an optimizer, whose steps are timed by their number.
class Training {
 public:
  Training(const std::string& name, int64_t classes)
      : net_(models::create(name, {.num_classes = classes, .variant = name.starts_with("resnet") ? "torchvision" : ""})) {
    with_loss_ = std::make_unique<nn::WithLossCell>(net_, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}));
    with_loss_->set_train();
  }
  void use(std::shared_ptr<optim::Optimizer> optimizer, const std::vector<train::BoostAlgorithmPtr>& algorithms = {}) {
    optimizer_ = std::move(optimizer);
    step_ = std::make_unique<train::TrainStep>(train::make_train_step(*with_loss_, *optimizer_));
    train::BuildContext context{.parameters = optimizer_->parameters(), .network_state = with_loss_->parameters_and_names()};
    context.network = with_loss_.get(), context.optimizer = optimizer_.get();
    applied_ = train::apply_boosts(*step_, context, algorithms);
    run_ = std::make_unique<train::StepRunner>(*step_, CompileOptions{});
  }
  double time(const TensorList& data, int64_t step) {
    const double start = now();
    (void)(*run_)(data, step).loss.item();
    return now() - start;
  }
  std::vector<Parameter*> params() const { return net_->trainable_params(); }
  nn::Cell& net() const { return *net_; }
  int64_t arena_bytes() const { return run_->compiled().info().arena_bytes; }
  train::EventColumns columns() const { return applied_.at(0)->columns(train::TrainState{}); }

 private:
  nn::CellPtr net_;
  std::unique_ptr<nn::WithLossCell> with_loss_;
  std::shared_ptr<optim::Optimizer> optimizer_;
  std::vector<train::BoostAlgorithmPtr> applied_;
  std::unique_ptr<train::TrainStep> step_;
  std::unique_ptr<train::StepRunner> run_;
};

inline double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

struct Task {
  std::string net;
  int64_t classes;
  TensorList data;
};

inline Task task_of(const std::string& name, int64_t batch, int64_t width) {
  set_seed(1);
  set_mode(Mode::kGraph);
  Shape shape = models::input_shape(name);
  if (width > 0) shape[1] = shape[2] = width;
  const int64_t classes = shape[1] >= 64 ? 1000 : 10;
  shape.insert(0, batch);
  std::vector<int32_t> labels(static_cast<size_t>(batch));
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(static_cast<int64_t>(i * 7) % classes);
  return {name, classes, {ops::random_normal(shape), Tensor::from_vector<int32_t>({batch}, labels)}};
}

inline std::shared_ptr<optim::Optimizer> momentum_of(const Training& t) {
  return std::make_shared<optim::Momentum>(t.params(), optim::MomentumOptions{.learning_rate = 0.001, .weight_decay = 1e-4});
}

}  // namespace sindri::benchmarks
