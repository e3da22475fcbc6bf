// See workload.h.
#include "src/measure/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/nearest.h"
#include "sindri/core/rng.h"
#include "sindri/device/device.h"
#include "sindri/models/models.h"
#include "sindri/nn/loss.h"
#include "sindri/ops/random.h"
#include "sindri/optim/momentum.h"

namespace sindri::measure {

namespace {

void check_choice(const char* flag, const std::string& given, const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), given) != allowed.end()) return;
  const std::string near = did_you_mean(given, allowed), list = fmt::format("{}", fmt::join(allowed, ", "));
  throw Error(ErrorCode::kUsage, fmt::format("expected one of {}, got '{}'", list, given), flag, near.empty() ? "use one of " + list : near);
}

void check_range(const char* flag, int64_t given, int64_t low, int64_t high) {
  if (given >= low && given <= high) return;
  throw Error(ErrorCode::kUsage, fmt::format("expected {} .. {}, got {}", low, high, given), flag, fmt::format("give a whole number from {} to {}", low, high));
}

// ResNets in the form that the peers build: explicit padding k/2, batch norm eps 1e-5.
nn::CellPtr make_net(const std::string& name) {
  const SettingSpec* variant = models::networks().info(name).find("variant");
  const bool torch = variant != nullptr && std::string_view(variant->choices).find("torchvision") != std::string_view::npos;
  return models::create(name, {.variant = torch ? "torchvision" : ""});
}

}  // namespace

void check_workload(const Workload& w) {
  try {
    models::input_shape(w.net);
  } catch (ValueError& e) {
    e.add_where("NET");
    throw;
  }
  check_choice("--precision", w.precision, {"f32", "bf16", "f16"});
  check_choice("--task", w.task, {"train", "infer"});
  check_choice("--mode", w.mode, {"graph", "pynative"});
  check_range("--batch", w.batch, 1, 65536);
  check_range("--threads", w.threads == 0 ? 1 : w.threads, 1, 1024);  // 0: the number that kernels use anyway
  if (!w.device.empty()) (void)find_device(w.device);
}

BenchmarkStep::BenchmarkStep(const Workload& w) : train_(w.task == "train") {
  check_workload(w);
  set_mode(w.mode == "graph" ? Mode::kGraph : Mode::kPynative);
  if (w.threads > 0) set_num_threads(w.threads);
  set_seed(1);
  if (!w.device.empty()) {
    device_ = find_device(w.device);
    set_current_device(device_);
  }
  net_ = make_net(w.net);
  nn::CellPtr loss;
  if (train_) {
    loss = nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"});
    optimizer_ =
        std::make_shared<optim::Momentum>(net_->trainable_params(), optim::MomentumOptions{.learning_rate = 0.01, .momentum = 0.9, .weight_decay = 1e-4});
  }
  train::ModelOptions options;
  if (w.precision != "f32") options.amp = {.level = amp::Level::kO2, .dtype = amp::parse_half(w.precision)};
  model_ = std::make_unique<train::Model>(net_, loss, optimizer_, options);
  Shape shape = models::input_shape(w.net);
  shape.insert(0, w.batch);
  batch_.push_back(ops::random_normal(shape));
  if (!train_) return;
  const int64_t classes = models::default_num_classes(w.net);
  std::vector<int32_t> labels(static_cast<size_t>(w.batch));
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(static_cast<int64_t>(i * 7) % classes);
  batch_.push_back(Tensor::from_vector<int32_t>({w.batch}, labels));
  net_->set_train(true);
  runner_ = std::make_unique<train::StepRunner>(model_->train_step(), CompileOptions{.name = "train_step"});
}

void BenchmarkStep::run() {
  if (!train_) {
    last_ = model_->predict(batch_[0]);
    return;
  }
  last_ = (*runner_)(batch_, steps_++).loss;
  if (device_.is_cpu()) (void)last_.item();
}

void BenchmarkStep::prepare() { runner_->prepare(batch_, steps_); }

void BenchmarkStep::finish() {
  if (device_.is_cpu()) return;
  if (train_ && last_.defined()) (void)last_.item();
  synchronize(device_);
}

int64_t BenchmarkStep::num_parameters() const { return net_->num_parameters(); }

const CompiledFn& BenchmarkStep::compiled() const {
  static const CompiledFn none;  // in mode pynative the runner also has a function, which is never called
  if (context().mode == Mode::kPynative) return none;
  return train_ ? runner_->compiled() : model_->compiled_predict();
}

std::string utc_time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm t{};
  gmtime_r(&now, &t);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &t);
  return text;
}

}  // namespace sindri::measure
