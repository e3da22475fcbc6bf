// thor_bench NET BATCH [ROUNDS] [BLOCK] [IMAGE]: the cost of THOR. Times three kinds of steps alternately: Momentum, THOR between refreshes, and THOR with a
// refresh, on constant data in graph mode. Prints medians and their ratios as one JSON line. IMAGE: another width and height of the images.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sindri/optim/thor.h"
#include "tests/bench/training.h"

using namespace sindri;
using namespace sindri::benchmarks;

namespace {

// Peak memory of a process that makes two steps; the first one refreshes if the optimizer can.
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
