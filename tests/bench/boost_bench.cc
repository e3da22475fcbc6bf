// boost_bench freeze|less_bn|dim_reduce|accumulate NET BATCH [ROUNDS]: the cost of training algorithms, on constant data in graph mode. Prints JSON lines with
// medians of interleaved steps.
//   freeze: a step of every variant of gradient freezing, compared with a network whose frozen parameters require no gradient at all, and the cost of an epoch
//   of both schedules at freeze_p 0.7
//   less_bn: a step with and without the inner batch norms; bytes that the network holds
//   accumulate: eight steps of BATCH images that accumulate their gradients, one step of all of them, and one of BATCH alone; bytes of intermediate values
//   dim_reduce: a step of P-BFGS in 32 directions whose first trial succeeds (sigma near 0), and one of Momentum
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "sindri/boost/dim_reduce.h"
#include "sindri/boost/grad_freeze.h"
#include "tests/bench/training.h"

using namespace sindri;
using namespace sindri::benchmarks;

namespace {

using Settings = std::map<std::string, SettingValue>;
constexpr int64_t kVariants = 10;

std::string head(const std::string& what, const std::string& net, int64_t batch) {
  return fmt::format("{{\"what\": \"{}\", \"net\": \"{}\", \"batch\": {}, \"isa\": \"{}\", \"threads\": {}", what, net, batch, cpu_isa_name(cpu_isa()),
                     num_threads());
}

double epoch_share(int64_t type, const std::vector<double>& of_variant) {
  const std::vector<int> sequence = boost::freeze_sequence(kVariants, type, 0.7, 10000, 0);
  double sum = 0;
  for (const int v : sequence) sum += of_variant[static_cast<size_t>(v)] / of_variant[0];
  return sum / static_cast<double>(sequence.size());
}

void freeze(const std::string& name, int64_t batch, int rounds) {
  const Task task = task_of(name, batch, 0);
  Training frozen(name, task.classes);
  // freeze_type 0 at a tiny p: steps 0, 1, 2, … of the schedule are variants 0 (once), 1, 2, …
  frozen.use(momentum_of(frozen), {train::boosts().make("grad_freeze", {{"param_groups", kVariants}, {"freeze_type", int64_t{0}}, {"freeze_p", 0.1}})});
  std::vector<std::string> names;
  for (const Parameter* p : frozen.params()) names.push_back(p->name());
  const std::vector<size_t> starts = boost::freeze_starts(names, kVariants);
  std::vector<std::unique_ptr<Training>> parts;
  for (int64_t v = 0; v < kVariants; ++v) {
    auto t = std::make_unique<Training>(name, task.classes);
    const std::vector<Parameter*> params = t->params();
    for (size_t i = 0; i < starts[static_cast<size_t>(v)]; ++i) params[i]->requires_grad = false;
    t->use(std::make_shared<optim::Momentum>(t->params(), optim::MomentumOptions{.learning_rate = 0.001, .weight_decay = 1e-4}));
    (void)t->time(task.data, 0);
    parts.push_back(std::move(t));
  }
  std::vector<double> own(kVariants), alone(kVariants);
  std::vector<std::vector<double>> a(kVariants), b(kVariants);
  for (int64_t v = 0; v < kVariants; ++v) (void)frozen.time(task.data, v);
  for (int r = 0; r < rounds; ++r) {
    for (int64_t v = 0; v < kVariants; ++v) {
      a[static_cast<size_t>(v)].push_back(frozen.time(task.data, v));
      b[static_cast<size_t>(v)].push_back(parts[static_cast<size_t>(v)]->time(task.data, 0));
    }
  }
  std::string list;
  double worst = 0;
  for (size_t v = 0; v < kVariants; ++v) {
    own[v] = median(a[v]), alone[v] = median(b[v]);
    worst = std::max(worst, own[v] / alone[v]);
    list += fmt::format("{}{{\"variant\": {}, \"first\": {}, \"ms\": {:.2f}, \"over_unfrozen_part\": {:.3f}}}", v == 0 ? "" : ", ", v, starts[v], own[v] * 1e3,
                        own[v] / alone[v]);
  }
  fmt::print("{}, \"worst\": {:.3f}, \"epoch_type_0\": {:.4f}, \"epoch_type_1\": {:.4f}, \"variants\": [{}]}}\n", head("freeze", name, batch), worst,
             epoch_share(0, own), epoch_share(1, own), list);
}

void less_bn(const std::string& name, int64_t batch, int rounds) {
  const Task task = task_of(name, batch, 0);
  Training whole(name, task.classes), less(name, task.classes);
  const auto algorithm = train::boosts().make("less_bn", Settings{{"fn_flag", false}, {"gc_flag", false}, {"basic", true}});
  algorithm->prepare(less.net());
  const auto norms = [](nn::Cell& net) {
    int n = 0;
    for (const auto& [path, cell] : net.cells_and_names())
      if (auto* norm = dynamic_cast<nn::BatchNorm*>(cell); norm != nullptr && !norm->bypassed()) ++n;
    return n;
  };
  whole.use(momentum_of(whole)), less.use(momentum_of(less), {algorithm});
  std::vector<double> a, b;
  (void)whole.time(task.data, 0), (void)less.time(task.data, 0);
  for (int r = 0; r < rounds; ++r) a.push_back(whole.time(task.data, 1)), b.push_back(less.time(task.data, 1));
  fmt::print(
      "{}, \"batch_norms\": {}, \"left\": {}, \"ms\": {:.2f}, \"less_ms\": {:.2f}, \"ratio\": {:.4f}, \"arena_mb\": {:.1f}, \"less_arena_mb\": {:.1f}}}\n",
      head("less_bn", name, batch), norms(whole.net()), norms(less.net()), median(a) * 1e3, median(b) * 1e3, median(b) / median(a),
      static_cast<double>(whole.arena_bytes()) / 1e6, static_cast<double>(less.arena_bytes()) / 1e6);
}

void accumulate(const std::string& name, int64_t batch, int rounds) {
  constexpr int64_t kSteps = 8;
  const Task part = task_of(name, batch, 0), all = task_of(name, batch * kSteps, 0);
  Training alone(name, part.classes), collecting(name, part.classes), big(name, part.classes);
  alone.use(momentum_of(alone)), big.use(momentum_of(big));
  collecting.use(momentum_of(collecting), {train::boosts().make("grad_accumulation", {{"step", kSteps}})});
  int64_t step = 0;
  double most = 0;
  const auto group = [&] {
    double seconds = 0;
    for (int64_t i = 0; i < kSteps; ++i) {
      seconds += collecting.time(part.data, step++);
      most = std::max(most, static_cast<double>(collecting.arena_bytes()));
    }
    return seconds;
  };
  std::vector<double> a, b, c;
  (void)group(), (void)big.time(all.data, 0), (void)alone.time(part.data, 0);
  for (int r = 0; r < rounds; ++r) a.push_back(group()), b.push_back(big.time(all.data, 1)), c.push_back(alone.time(part.data, 1));
  double parameters = 0;
  for (const Parameter* p : alone.params()) parameters += static_cast<double>(p->shape().numel()) * 4;
  fmt::print(
      "{}, \"steps\": {}, \"group_ms\": {:.2f}, \"big_ms\": {:.2f}, \"alone_ms\": {:.2f}, \"ratio\": {:.4f}, \"arena_mb\": {:.1f}, \"big_arena_mb\": {:.1f}, "
      "\"alone_arena_mb\": {:.1f}, \"sums_mb\": {:.1f}}}\n",
      head("accumulate", name, batch), kSteps, median(a) * 1e3, median(b) * 1e3, median(c) * 1e3, median(a) / median(b), most / 1e6,
      static_cast<double>(big.arena_bytes()) / 1e6, static_cast<double>(alone.arena_bytes()) / 1e6, parameters / 1e6);
}

// Rows have disjoint non-zero columns and are therefore orthonormal: row r has every k-th column, starting at r.
std::string matrix_file(const std::vector<Parameter*>& params, int64_t k, const std::string& folder) {
  boost::Columns columns;
  for (const Parameter* p : params) columns.emplace_back(p->name(), p->shape());
  const int64_t n = boost::column_count(columns);
  boost::Subspace s;
  s.components = Tensor::zeros({k, n}, DType::kFloat32);
  auto* const values = static_cast<float*>(s.components.mutable_raw_data());
  for (int64_t r = 0; r < k; ++r)
    for (int64_t c = r; c < n; c += k) values[r * n + c] = static_cast<float>(1 / std::sqrt(static_cast<double>((n - r + k - 1) / k)));
  const std::string path = folder + "/boost_bench.npy";
  boost::save_subspace(path, s, columns);
  return path;
}

void dim_reduce(const std::string& name, int64_t batch, int rounds) {
  constexpr int64_t kDirections = 32;
  const Task task = task_of(name, batch, 0);
  Training plain(name, task.classes), reduced(name, task.classes);
  plain.use(momentum_of(plain));
  const std::string file = matrix_file(reduced.params(), kDirections, std::filesystem::temp_directory_path().string());
  reduced.use(std::make_shared<optim::Momentum>(reduced.params(), optim::MomentumOptions{.learning_rate = 0.001}),
              {train::boosts().make("dim_reduce", {{"pca_mat_path", file}, {"n_components", kDirections}, {"sigma", 1e-6}})});
  std::filesystem::remove(file), std::filesystem::remove(file + ".json");
  std::vector<double> a, b;
  (void)plain.time(task.data, 0), (void)reduced.time(task.data, 0), (void)reduced.time(task.data, 1), (void)reduced.time(task.data, 2);
  for (int r = 0; r < rounds; ++r) a.push_back(plain.time(task.data, 3)), b.push_back(reduced.time(task.data, 3));
  std::string columns;
  for (const auto& [key, value] : reduced.columns()) columns += fmt::format(", \"{}\": {}", key, value);
  fmt::print("{}, \"directions\": {}, \"plain_ms\": {:.2f}, \"reduced_ms\": {:.2f}, \"ratio\": {:.3f}{}}}\n", head("dim_reduce", name, batch), kDirections,
             median(a) * 1e3, median(b) * 1e3, median(b) / median(a), columns);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)(const std::string&, int64_t, int)> all = {
      {"freeze", freeze}, {"less_bn", less_bn}, {"accumulate", accumulate}, {"dim_reduce", dim_reduce}};
  if (argc < 4 || !all.contains(argv[1])) {
    fmt::print(stderr, "usage: boost_bench freeze|less_bn|dim_reduce|accumulate NET BATCH [ROUNDS]\n");
    return 2;
  }
  try {
    all.at(argv[1])(argv[2], std::atoll(argv[3]), argc > 4 ? std::atoi(argv[4]) : 7);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
