// sindri profile --plan: bytes moved and kernels launched by a training step, according to its compiled form. The bytes serve as an indication of speed if the
// device itself is not available.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sindri/core/error.h"
#include "sindri/op/kernel_choice.h"
#include "src/measure/measure.h"
#include "src/measure/workload.h"
#include "src/train/output_file.h"

namespace sindri::measure {

std::string step_plan(const Workload& workload, const std::string& json_file) {
  if (workload.task != "train" || workload.mode != "graph")
    throw Error(ErrorCode::kUsage, fmt::format("works for training in mode graph only, got task {} in mode {}", workload.task, workload.mode), "--plan",
                "remove --task and --mode");
  std::unique_ptr<train::OutputFile> file;
  if (!json_file.empty()) file = std::make_unique<train::OutputFile>(json_file, "JSON file");
  set_kernel_tuning(false);  // nothing runs, not even to choose kernels
  BenchmarkStep step(workload);
  step.prepare();
  const ExecutableInfo info = step.compiled().info();
  PlannedKernels all;
  for (const PlannedKernels& p : info.planned) all.nodes += p.nodes, all.launches += p.launches, all.bytes += p.bytes;
  const auto samples = static_cast<double>(workload.batch);
  std::string out = fmt::format("{}, batch {}, {}, on {}: one training step as planned\n\n{:<26}{:<16}{:>7}{:>10}{:>12}{:>12}\n", workload.net, workload.batch,
                                workload.precision, step.device().str(), "op", "kernel", "nodes", "launches", "MB", "MB/sample");
  const auto row = [&](const PlannedKernels& p) {
    const double mb = static_cast<double>(p.bytes) * 1e-6;
    out += fmt::format("{:<26}{:<16}{:>7}{:>10}{:>12.1f}{:>12.2f}\n", p.op, p.kernel, p.nodes, p.launches, mb, mb / samples);
  };
  for (const PlannedKernels& p : info.planned) row(p);
  all.op = "all";
  row(all);
  out += fmt::format("\nintermediate values: {:.1f} MB, {:.1f} MB without reuse\n", static_cast<double>(info.arena_bytes) * 1e-6,
                     static_cast<double>(info.unplanned_bytes) * 1e-6);
  if (file == nullptr) return out;
  nlohmann::ordered_json j;
  j["net"] = workload.net, j["batch"] = workload.batch, j["precision"] = workload.precision, j["device"] = step.device().str();
  j["launches"] = all.launches, j["bytes"] = all.bytes, j["arena_bytes"] = info.arena_bytes;
  for (const PlannedKernels& p : info.planned)
    j["kernels"].push_back({{"op", p.op}, {"kernel", p.kernel}, {"nodes", p.nodes}, {"launches", p.launches}, {"bytes", p.bytes}});
  file->write(j.dump(2) + "\n");
  return out;
}

}  // namespace sindri::measure
