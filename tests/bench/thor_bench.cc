// thor_bench NET BATCH [ROUNDS] [BLOCK] [IMAGE]: what THOR costs. One step each of Momentum, of THOR between refreshes and of THOR that refreshes, in turn, on
// constant data in graph mode; medians and their ratios as one JSON line. IMAGE: another width and height of the pictures.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sindri/core/context.h"
#include "sindri/core/rng.h"
#include "sindri/models/models.h"
#include "sindri/nn/loss.h"
#include "sindri/ops/random.h"
#include "sindri/optim/momentum.h"
#include "sindri/optim/thor.h"
#include "sindri/train/train_step.h"

using namespace sindri;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A network with an optimizer, whose steps are timed by their number.
class Training {
 public:
  Training(const std::string& name, int64_t classes)
      : net_(models::create(name, {.num_classes = classes, .variant = name.starts_with("resnet") ? "torchvision" : ""})) {
    with_loss_ = std::make_unique<nn::WithLossCell>(net_, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}));
    with_loss_->set_train();
  }
  void use(std::shared_ptr<optim::Optimizer> optimizer) {
    optimizer_ = std::move(optimizer);
    step_ = std::make_unique<train::TrainStep>(train::make_train_step(*with_loss_, *optimizer_));
    run_ = std::make_unique<train::StepRunner>(*step_, CompileOptions{});
  }
  double time(const TensorList& data, int64_t step) {
    const double start = now();
    (void)(*run_)(data, step).loss.item();
    return now() - start;
  }
  std::vector<Parameter*> params() const { return net_->trainable_params(); }

 private:
  nn::CellPtr net_;
  std::unique_ptr<nn::WithLossCell> with_loss_;
  std::shared_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<train::TrainStep> step_;
  std::unique_ptr<train::StepRunner> run_;
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// Of a process that makes two steps, the first of which refreshes where it can.
int64_t peak_mb(const std::function<void()>& steps) {
  const pid_t child = fork();
  if (child == 0) {
    steps();
    _exit(0);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) throw std::runtime_error("a process for the peak memory failed");
  return usage.ru_maxrss / 1024;
}

optim::ThorOptions thor_options(int64_t block) {
  optim::ThorOptions o;
  o.learning_rate = 0.0001, o.damping = 0.03, o.weight_decay = 1e-4, o.block_size = block;
  o.frequency = 1'000'000;  // step 0 refreshes, others do not
  return o;
}

struct Task {
  std::string net;
  int64_t classes;
  TensorList data;
};

Task task_of(const std::string& name, int64_t batch, int64_t width) {
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

std::shared_ptr<optim::Optimizer> momentum_of(const Training& t) {
  return std::make_shared<optim::Momentum>(t.params(), optim::MomentumOptions{.learning_rate = 0.001, .weight_decay = 1e-4});
}

int bench(const std::string& name, int64_t batch, int rounds, int64_t block, int64_t width) {
  const int64_t momentum_mb = peak_mb([&] {
    const Task task = task_of(name, batch, width);
    Training t(name, task.classes);
    t.use(momentum_of(t));
    (void)t.time(task.data, 0), (void)t.time(task.data, 1);
  });
  const int64_t thor_mb = peak_mb([&] {
    const Task task = task_of(name, batch, width);
    Training t(name, task.classes);
    t.use(std::make_shared<optim::Thor>(t.params(), thor_options(block)));
    (void)t.time(task.data, 0), (void)t.time(task.data, 1);
  });
  const auto [net, classes, data] = task_of(name, batch, width);
  Training plain(name, classes), second(name, classes);
  plain.use(momentum_of(plain));
  (void)plain.time(data, 0);
  const auto thor = std::make_shared<optim::Thor>(second.params(), thor_options(block));
  second.use(thor);
  std::vector<double> momentum, ordinary, refresh;
  (void)second.time(data, 0), (void)second.time(data, 1);
  for (int i = 0; i < rounds; ++i) {
    momentum.push_back(plain.time(data, 2));
    ordinary.push_back(second.time(data, 2));
    refresh.push_back(second.time(data, 0));
  }
  int64_t inverses = 0;
  for (const auto& c : thor->curvature()) inverses += c.bytes;
  const double m = median(momentum), t = median(ordinary), r = median(refresh);
  fmt::print(
      "{{\"net\": \"{}\", \"batch\": {}, \"block\": {}, \"isa\": \"{}\", \"threads\": {}, \"momentum_ms\": {:.2f}, \"thor_ms\": {:.2f}, \"refresh_ms\": "
      "{:.2f}, "
      "\"thor_over_momentum\": {:.4f}, \"refresh_over_thor\": {:.4f}, \"mean_over_thor_at_834\": {:.4f}, \"layers\": {}, \"inverses_mb\": {:.1f}, "
      "\"peak_mb_momentum\": {}, \"peak_mb_thor\": {}}}\n",
      name, batch, block, cpu_isa_name(cpu_isa()), num_threads(), m * 1e3, t * 1e3, r * 1e3, t / m, r / t, (833 * t + r) / 834 / t, thor->curvature().size(),
      static_cast<double>(inverses) / 1e6, momentum_mb, thor_mb);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: thor_bench NET BATCH [ROUNDS] [BLOCK] [IMAGE]\n");
    return 2;
  }
  try {
    return bench(argv[1], std::atoll(argv[2]), argc > 3 ? std::atoi(argv[3]) : 5, argc > 4 ? std::atoll(argv[4]) : 128, argc > 5 ? std::atoll(argv[5]) : 0);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
