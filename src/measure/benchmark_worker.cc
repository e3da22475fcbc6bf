// Sindri's process in a benchmark: times a net's step, or only the step's convolutions and matmuls.
//
// Uses the same protocol as the peers' programs (scripts/peers), in lines of JSON: prints {"ready": …} once, then answers each "run STEPS SECONDS" with the
// median time of a step. "info" requests data that only Sindri provides.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sindri/core/error.h"
#include "sindri/device/device.h"
#include "sindri/op/kernel.h"
#include "sindri/op/observer.h"
#include "sindri/version.h"
#include "src/core/clock.h"
#include "src/measure/workload.h"

namespace sindri::measure {

namespace {

using nlohmann::ordered_json;

double peak_memory_mb(Device device) {
  if (!device.is_cpu()) return static_cast<double>(device_memory_stats(device).peak_reserved) * 1e-6;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// The floating-point operations of one step, where the ops define them.
class FlopCounter final : public KernelObserver {
 public:
  void on_kernel(const KernelEvent& e) override { total_ += std::max<int64_t>(0, count_flops(e.op, e.attrs, e.in, e.out)); }
  int64_t total() const { return total_; }

 private:
  int64_t total_ = 0;
};

// The matrix work of a step: the ops that half precision affects most (convolutions, their gradients, matmuls), each with the step's kernel, attributes and
// shapes. All calls share operands in scratch memory, which are in the cache more often than the step's tensors. So the measured time is a lower bound of the
// step's time.
class MatrixWork final : public KernelObserver {
 public:
  void on_kernel(const KernelEvent& e) override {
    if (e.op.traits.amp != AmpClass::kLower) return;
    Call c{.op = &e.op,
           .attrs = e.attrs,
           .in = {e.in.begin(), e.in.end()},
           .out = {e.out.begin(), e.out.end()},
           .prepared = e.prepared,
           .kernel = nullptr,
           .buffers = {}};
    c.kernel = select_kernel({e.op, c.attrs, c.in, c.out}, e.kernel);
    calls_.push_back(std::move(c));
  }

  void prepare() {
    size_t most = 0;
    for (const Call& c : calls_) most = std::max(most, c.in.size() + c.out.size());
    std::vector<int64_t> slot(most, 0);
    int64_t workspace = 0;
    for (const Call& c : calls_) {
      for (size_t i = 0; i < c.in.size(); ++i) slot[i] = std::max(slot[i], c.in[i].nbytes());
      for (size_t i = 0; i < c.out.size(); ++i) slot[c.in.size() + i] = std::max(slot[c.in.size() + i], c.out[i].nbytes());
      workspace = std::max(workspace, c.kernel->workspace_bytes());
    }
    // 0.5 in float32 and bfloat16, a normal number in float16: denormals or NaN could change a kernel's speed.
    for (int64_t bytes : slot) memory_.push_back(Tensor::full({bytes / 4 + 1}, 0.501953125));
    workspace_ = Tensor::empty({workspace + 1}, DType::kUInt8);
    ExecContext context{workspace_.mutable_raw_data()};
    for (Call& c : calls_) {
      for (size_t i = 0; i < c.in.size(); ++i) c.buffers.push_back({memory_[i].mutable_raw_data(), &c.in[i]});
      for (size_t i = 0; i < c.out.size(); ++i) c.buffers.push_back({memory_[c.in.size() + i].mutable_raw_data(), &c.out[i]});
      for (size_t i = 0; i < c.in.size(); ++i) {
        if ((c.prepared >> i & 1u) == 0) continue;
        prepared_.push_back(Tensor::empty({c.kernel->prepared_bytes(i)}, DType::kUInt8));
        c.kernel->prepare(context, i, c.buffers[i], prepared_.back().mutable_raw_data());
        c.buffers[i].prepared = prepared_.back().raw_data();
      }
    }
  }

  void run() {
    ExecContext context{workspace_.mutable_raw_data()};
    for (Call& c : calls_) {
      const Span<const Buffer> all(c.buffers);
      c.kernel->run(context, all.first(c.in.size()), all.subspan(c.in.size()));
    }
  }
  size_t calls() const { return calls_.size(); }

 private:
  struct Call {
    const OpDef* op;
    Attrs attrs;
    std::vector<TensorMeta> in, out;
    uint32_t prepared;
    std::shared_ptr<Kernel> kernel;
    std::vector<Buffer> buffers;
  };
  std::vector<Call> calls_;
  std::vector<Tensor> memory_;
  std::vector<Tensor> prepared_;  // weights that the step, too, converts to the kernels' form only once
  Tensor workspace_;
};

void say(const ordered_json& j) { std::cout << j.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << std::endl; }

// On a device the host runs ahead. There windows of steps are timed, each until its last step is done.
ordered_json timed(const std::function<void()>& step, const std::function<void()>& finish, Device device, int64_t steps, double seconds) {
  const int window = device.is_cpu() ? 1 : 10;
  std::vector<double> times;
  for (const double begin = now_seconds(); static_cast<int64_t>(times.size()) * window < steps || now_seconds() - begin < seconds;) {
    const double start = now_seconds();
    for (int i = 0; i < window; ++i) step();
    finish();
    times.push_back((now_seconds() - start) / window);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  return {{"median_s", times[times.size() / 2]}, {"steps", times.size() * static_cast<size_t>(window)}, {"peak_memory_mb", peak_memory_mb(device)}};
}

ordered_json step_info(BenchmarkStep& step) {
  FlopCounter flops;
  {
    const ObserveKernels scope(flops);
    step.run();
  }
  const ExecutableInfo info = step.compiled().info();
  ordered_json more = {{"gflop_per_step", static_cast<double>(flops.total()) * 1e-9}};
  if (step.compiled()) {
    more["compile_s"] = info.compile_seconds;
    more["nodes_traced"] = info.nodes_traced;
    more["nodes"] = info.nodes;
    more["arena_mb"] = static_cast<double>(info.arena_bytes) * 1e-6;
  }
  return more;
}

void serve(const Workload& w, const std::string& what) {
  const double begin = now_seconds();
  auto step = std::make_unique<BenchmarkStep>(w);
  const int64_t parameters = step->num_parameters();
  MatrixWork work;
  const Device device = step->device();
  std::function<void()> run = [&] { step->run(); }, finish = [&] { step->finish(); };
  if (what == "convolutions" && !device.is_cpu())
    throw Error(ErrorCode::kUsage, "a step's convolutions are timed alone on the CPU only", "--compare convolutions", "omit convolutions or --device");
  if (what == "convolutions") {
    step->run();  // compiles; folding constants runs kernels, too
    {
      const ObserveKernels scope(work);
      step->run();
    }
    if (work.calls() == 0) throw ValueError(w.net + " has neither convolutions nor matmuls to time alone");
    step.reset();
    finish = [] {};
    work.prepare();
    run = [&] { work.run(); };
  }
  say({{"ready", true}, {"version", SINDRI_VERSION_STRING}, {"parameters", parameters}, {"build_s", now_seconds() - begin}});
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "info") {
      say(step != nullptr ? step_info(*step) : ordered_json::object());
      continue;
    }
    int64_t steps = 0;
    double seconds = 0;
    std::istringstream(line.substr(line.find(' ') + 1)) >> steps >> seconds;
    say(timed(run, finish, device, std::max<int64_t>(1, steps), seconds));
  }
}

}  // namespace

int benchmark_worker(const Workload& workload, const std::string& what) {
  try {
    serve(workload, what);
    return 0;
  } catch (const std::exception& e) {
    say({{"error", e.what()}, {"kind", "run"}});
    return 1;
  }
}

}  // namespace sindri::measure
