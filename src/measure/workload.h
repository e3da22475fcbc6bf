// A net's step on constant data, as measured by benchmark and profile.
#pragma once

#include <memory>
#include <string>

#include "sindri/core/tensor.h"
#include "sindri/optim/optimizer.h"
#include "sindri/train/model.h"
#include "src/measure/measure.h"

namespace sindri::measure {

/// Throws Error (usage) for an unknown precision, task or mode, ValueError for an unknown net (with the nearest names) or a batch out of range.
void check_workload(const Workload& w);

/// Net, optimizer and data, built and ready. Weights and data are generated from a fixed seed.
class BenchmarkStep {
 public:
  /// Sets mode, threads and seed of the process.
  explicit BenchmarkStep(const Workload& w);
  /// Runs one training step (on the CPU until the loss is known) or one prediction. On another device it only enqueues the work; finish() waits.
  void run();
  /// Compiles the step that run() executes, without running it. Only for training in mode graph.
  void prepare();
  /// Waits until the work that run() enqueued is done and its last loss is known.
  void finish();
  Device device() const { return device_; }
  int64_t num_parameters() const;
  /// Empty in mode pynative.
  const CompiledFn& compiled() const;

 private:
  bool train_;
  nn::CellPtr net_;
  std::shared_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<train::Model> model_;
  std::unique_ptr<train::StepRunner> runner_;
  TensorList batch_;
  int64_t steps_ = 0;
  Device device_;
  Tensor last_;  // loss of a step not waited for yet
};

/// 2026-01-31T12:00:00Z
std::string utc_time_text();

}  // namespace sindri::measure
