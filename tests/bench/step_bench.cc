// step_bench NET BATCH [graph|pynative] [SECONDS] [parallel|late]: median time of a training step on constant data, as one JSON line. `parallel`: a
// data-parallel step on the ranks of the job that started the program (mpirun -np 2 step_bench …). `late`: gradients are reduced after the backward pass. Use
// it to time one change quickly; `sindri benchmark` compares with other frameworks.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/core/context.h"
#include "sindri/core/rng.h"
#include "sindri/models/models.h"
#include "sindri/nn/loss.h"
#include "sindri/ops/random.h"
#include "sindri/optim/momentum.h"
#include "sindri/train/data_parallel.h"
#include "sindri/train/train_step.h"

using namespace sindri;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

int bench(const std::string& name, int64_t batch, const std::string& mode, double budget, const std::string& ranks) {
  if (!ranks.empty()) comm::init();
  set_seed(1);
  set_mode(mode == "pynative" ? Mode::kPynative : Mode::kGraph);
  const Shape image = models::input_shape(name);
  const int64_t classes = image[1] == 224 ? 1000 : 10;
  const nn::CellPtr net = models::create(name, {.num_classes = classes, .variant = name.starts_with("resnet") ? "torchvision" : ""});
  nn::WithLossCell with_loss(net, nn::SoftmaxCrossEntropyWithLogits::make({.sparse = true, .reduction = "mean"}));
  with_loss.set_train();
  optim::Momentum optimizer(net->trainable_params(), {.learning_rate = 0.01, .momentum = 0.9, .weight_decay = 1e-4});
  train::TrainStep step = train::make_train_step(with_loss, optimizer);
  std::shared_ptr<train::DataParallel> parallel;
  if (!ranks.empty()) {
    const train::BuildContext context{.parameters = optimizer.parameters(), .network_state = with_loss.parameters_and_names()};
    parallel = train::apply_data_parallel(step, context, {}, comm::world());
    parallel->begin({}, optimizer.state());
  }
  CompileOptions compile;
  if (ranks == "late") compile.disable_passes = {"hoist_comm"};
  train::StepRunner run(step, compile);

  Shape shape = image;
  shape.insert(0, batch);
  std::vector<int32_t> labels(static_cast<size_t>(batch));
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(static_cast<int64_t>(i * 7) % classes);
  const TensorList data = {ops::random_normal(shape), Tensor::from_vector<int32_t>({batch}, labels)};

  double start = now();
  (void)run(data, 0).loss.item();
  const double first = now() - start;
  (void)run(data, 1).loss.item();
  std::vector<double> times;
  for (const double begin = now();
       (parallel ? parallel->any(times.size() < 5 || now() - begin < budget, "bench") : times.size() < 5 || now() - begin < budget);) {
    start = now();
    (void)run(data, 2).loss.item();
    times.push_back(now() - start);
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{{\"framework\": \"sindri\", \"net\": \"{}\", \"batch\": {}, \"mode\": \"{}\", \"isa\": \"{}\", \"threads\": {}, \"ms_per_step\": {:.4f}, "
      "\"ms_fastest\": {:.4f}, "
      "\"samples_per_second\": {:.2f}, \"first_step_s\": {:.2f}, \"peak_memory_mb\": {}}}\n",
      name, batch, mode, cpu_isa_name(cpu_isa()), num_threads(), median * 1e3, times[0] * 1e3, static_cast<double>(batch) / median, first,
      usage.ru_maxrss / 1024);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: step_bench NET BATCH [graph|pynative] [SECONDS] [parallel|late]\n");
    return 2;
  }
  try {
    return bench(argv[1], std::atoll(argv[2]), argc > 3 ? argv[3] : "graph", argc > 4 ? std::atof(argv[4]) : 8, argc > 5 ? argv[5] : "");
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
