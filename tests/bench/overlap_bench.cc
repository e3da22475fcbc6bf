// overlap_bench [options]: the cost of a data-parallel step's communication relative to its computation. Computation only sleeps, so that any number of ranks
// fits on one machine. Each layer of a graph sleeps and then writes its bucket of gradients; buckets are reduced on the communication lane. Each process is one
// of several ranks and has its own identity (docs/guide/distributed.md). Rank 0 prints one JSON line. tests/lab/speed.py runs it between hosts whose network is
// shaped.
//   --buckets 1,4,4,2   MB of each, in order of completion      --compute 0.5   seconds of the backward pass, in equal parts before the buckets
//   --forward 0.1       seconds before it                       --steps 7       timed ones
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/graph/compile.h"
#include "sindri/op/bind.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"
#include "sindri/ops/comm.h"

namespace sindri::bench {
namespace {

using Clock = std::chrono::steady_clock;
double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

struct LayerAttrs {
  double seconds = 0;
  int64_t count = 0;
  SINDRI_ATTRS(LayerAttrs, seconds, count)
};

// x -> x, and this layer's gradients.
const OpDef& kLayer = register_op({.name = "bench_layer",
                                   .doc = "sleeps, and gives its input and `count` floats",
                                   .attrs = attrs_type<LayerAttrs>(),
                                   .traits = {.host_effect = true},
                                   .infer = [](const Attrs& a, Span<const TensorMeta> in) {
                                     TensorMeta m;
                                     m.shape = {a.as<LayerAttrs>().count};
                                     return std::vector<TensorMeta>{in[0], m};
                                   }});
const bool kLayerCpu =
    register_kernel({.op = "bench_layer", .name = "sleep", .simple = [](const KernelQuery& q, Span<const Buffer> in, Span<const Buffer> out) {
                       const auto& a = q.attrs.as<LayerAttrs>();
                       std::this_thread::sleep_for(std::chrono::duration<double>(a.seconds));
                       *out[0].as<float>() = *in[0].as<const float>();
                       if (a.count > 0) out[1].as<float>()[0] = out[1].as<float>()[a.count - 1] = 1;
                     }});

struct Setup {
  std::vector<double> buckets = {1, 4, 4, 2};
  double compute = 0.5, forward = 0.1;
  int steps = 7;
};

double seconds_of(CompiledFn& step, int steps, comm::Communicator& world) {
  const Tensor x = Tensor::from_vector<float>({1}, {1});
  std::vector<double> times;
  for (int i = 0; i < steps + 1; ++i) {
    world.barrier({"step"});
    const double begin = now();
    const TensorList out = step(std::vector<Tensor>{x});
    double mine = now() - begin;
    world.all_reduce(&mine, &mine, 1, DType::kFloat64, ReduceOp::kMax, {"time"});
    if (i > 0) times.push_back(mine);
    const auto last = static_cast<float>(world.size());
    for (size_t b = 1; b < out.size(); ++b) {
      const std::vector<float> v = out[b].to_vector<float>();
      if (v.front() != last || v.back() != last) throw InternalError(fmt::format("bucket {} holds {} and {}, not {}", b - 1, v.front(), v.back(), last));
    }
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int run(const Setup& setup) {
  comm::Communicator& world = comm::init({.init_timeout = 60});
  const auto step_of = [&](double scale) {
    return compile([&setup, scale](std::span<const Tensor> in) {
      Tensor x = sindri::bind(kLayer, Attrs::of(LayerAttrs{setup.forward * scale, 1}), std::vector<Tensor>{in[0]})[0];
      TensorList out = {x};
      for (size_t b = 0; b < setup.buckets.size(); ++b) {
        const LayerAttrs a{setup.compute * scale / static_cast<double>(setup.buckets.size()), static_cast<int64_t>(setup.buckets[b] * 1e6 / 4)};
        const std::vector<Tensor> layer = sindri::bind(kLayer, Attrs::of(LayerAttrs(a)), std::vector<Tensor>{x});
        x = layer[0];
        out.push_back(ops::all_reduce({layer[1]}, {.what = "gradient bucket", .index = static_cast<int64_t>(b)})[0]);
      }
      out[0] = x;
      return out;
    });
  };
  CompiledFn bare = step_of(0), whole = step_of(1);
  const double communication = seconds_of(bare, setup.steps, world), step = seconds_of(whole, setup.steps, world);
  // Latency of a reduction without data.
  float one = 1;
  std::vector<double> small;
  for (int i = 0; i < 50; ++i) {
    const double begin = now();
    world.all_reduce(&one, &one, 1, DType::kFloat32, ReduceOp::kSum, {"latency"});
    small.push_back(now() - begin);
  }
  std::sort(small.begin(), small.end());
  if (world.rank() == 0)
    fmt::print(
        "{{\"backend\": \"{}\", \"ranks\": {}, \"hosts\": {}, \"buckets_mb\": [{}], \"compute\": {}, \"forward\": {}, \"communication\": {:.5f}, \"step\": "
        "{:.5f}, "
        "\"latency\": {:.6f}}}\n",
        world.backend(), world.size(), world.host_count(), fmt::join(setup.buckets, ", "), setup.compute, setup.forward, communication, step, small[25]);
  comm::finalize();
  return 0;
}

Setup parse(int argc, char** argv) {
  Setup s;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    char* value = argv[i + 1];
    if (name == "--compute") s.compute = std::atof(value);
    else if (name == "--forward") s.forward = std::atof(value);
    else if (name == "--steps") s.steps = std::atoi(value);
    else if (name == "--buckets") {
      s.buckets.clear();
      for (char* p = std::strtok(value, ","); p != nullptr; p = std::strtok(nullptr, ",")) s.buckets.push_back(std::atof(p));
    } else throw ValueError(fmt::format("unknown option {}", name));
  }
  return s;
}

}  // namespace
}  // namespace sindri::bench

int main(int argc, char** argv) {
  try {
    return sindri::bench::run(sindri::bench::parse(argc, argv));
  } catch (const sindri::Error& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return e.exit_code();
  }
}
