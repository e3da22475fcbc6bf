// update_bench [ROUNDS] [ELEMENTS]: an optimizer's update of 161 small parameters (as many as a ResNet-50 has). Times three forms alternately: a graph with all
// tensors of a kind in one node, a graph with a node for each tensor, and the update in eager mode. Prints one JSON line for every optimizer whose rule is one
// op: medians in microseconds and their ratios to the first.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "sindri/core/context.h"
#include "sindri/graph/compile.h"
#include "sindri/ops/random.h"
#include "sindri/optim/registry.h"

using namespace sindri;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

constexpr int kParameters = 161, kCalls = 20;

/// Parameters, their optimizer and its compiled update.
struct Update {
  std::vector<std::unique_ptr<Parameter>> params;
  std::shared_ptr<optim::Optimizer> optimizer;
  CompiledFn run;
  Update(const std::string& name, int64_t elements, CompileOptions options) {
    std::vector<Parameter*> all;
    for (int i = 0; i < kParameters; ++i) {
      params.push_back(std::make_unique<Parameter>(Tensor::full({elements}, 1, DType::kFloat32), fmt::format("p{}", i)));
      all.push_back(params.back().get());
    }
    optimizer = optim::optimizers().make(name, {}, optim::Params(all), optim::OptimizerOptions{.learning_rate = 1e-4, .weight_decay = 1e-4});
    run = CompiledFn(
        [this](Span<const Tensor> grads, int) -> TensorList {
          optimizer->apply(TensorList(grads.begin(), grads.end()));
          return {};
        },
        std::move(options));
  }
  double time_eager(const TensorList& grads) {
    const double start = now();
    for (int i = 0; i < kCalls; ++i) optimizer->apply(grads);
    return (now() - start) / kCalls;
  }
  double time(const TensorList& grads) {
    const double start = now();
    for (int i = 0; i < kCalls; ++i) run(grads, 0);
    return (now() - start) / kCalls;
  }
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 21;
  const int64_t elements = argc > 2 ? std::atoll(argv[2]) : 256;
  set_mode(Mode::kGraph);
  TensorList grads;
  for (int i = 0; i < kParameters; ++i) grads.push_back(ops::random_normal({elements}));
  for (const char* name : {"momentum", "sgd", "adam", "adam_weight_decay", "adamax", "adagrad", "adadelta", "rmsprop", "ftrl"}) {
    CompileOptions single;
    single.disable_passes = {"group_updates"};
    Update grouped(name, elements, {}), alone(name, elements, single);
    grouped.time(grads), alone.time(grads);
    std::vector<double> together, apart, eager;
    for (int i = 0; i < rounds; ++i) together.push_back(grouped.time(grads)), apart.push_back(alone.time(grads)), eager.push_back(alone.time_eager(grads));
    const double t = median(together);
    fmt::print(
        "{{\"optimizer\": \"{}\", \"parameters\": {}, \"elements\": {}, \"grouped_us\": {:.1f}, \"node_each_us\": {:.1f}, \"op_by_op_us\": {:.1f}, "
        "\"node_each_ratio\": "
        "{:.2f}, \"op_by_op_ratio\": {:.2f}}}\n",
        name, kParameters, elements, t * 1e6, median(apart) * 1e6, median(eager) * 1e6, median(apart) / t, median(eager) / t);
  }
  return 0;
}
