// A net's step on constant data: what benchmark and profile measure.
#pragma once

#include <memory>
#include <string>

#include "sindri/core/tensor.h"
#include "sindri/optim/optimizer.h"
#include "sindri/train/model.h"
#include "src/measure/measure.h"

namespace sindri::measure {

/// Throws Error (usage) for a precision, task or mode that is not known, ValueError for an unknown net (with the nearest names) or a
/// batch out of range.
void check_workload(const Workload& w);

/// Net, optimizer and data, built and ready. Weights and data come from a fixed seed.
class BenchmarkStep {
 public:
  /// Sets mode, threads and seed of the process.
  explicit BenchmarkStep(const Workload& w);
  /// One training step (on the CPU until the loss is known) or one prediction. On another device it is put there; finish() waits.
  void run();
  /// Training in mode graph: compiles what run() runs, and runs nothing.
  void prepare();
  /// Until what run() has put on a device is done, and its last loss known.
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
  Tensor last_;  // loss of a step that nobody has waited for
};

/// 2026-01-31T12:00:00Z
std::string utc_time_text();

}  // namespace sindri::measure
