// Observers of kernel runs: profilers and timelines see every kernel that the eager or the graph interpreter calls.
#pragma once

#include <chrono>
#include <string>

#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri {

/// One kernel run. Everything it refers to lives during the call of the observer only.
struct KernelEvent {
  const OpDef& op;
  const Attrs& attrs;
  const char* kernel;  ///< name of the KernelDef
  Span<const TensorMeta> in, out;  ///< as the kernel received them
  uint32_t prepared;  ///< bit i: input i came in the form that Kernel::prepare makes
  const std::string& scope;  ///< path of the Cell that made the op
  int64_t bytes;  ///< read and written, as planned: each operand and result once, and what the kernel says it moves in addition
  std::chrono::steady_clock::time_point begin, end;
};

/// Told of every kernel that runs, while it is set.
class SINDRI_API KernelObserver {
 public:
  virtual ~KernelObserver() = default;
  /// Called behind each kernel, on the thread that ran it; several threads may call at once. Must not throw.
  virtual void on_kernel(const KernelEvent& event) = 0;
  /// Called behind each wait of the host for a device, on the thread that waited: "item", "synchronize" (sindri/device/device.h, WaitObserver). Never
  /// on the CPU, whose work is done when a call returns. While kernels are observed each of them runs alone, so waits find little left. Must not throw.
  virtual void on_wait(const char* /*what*/, std::chrono::steady_clock::time_point /*begin*/, std::chrono::steady_clock::time_point /*end*/) {}
};

/// The observer in force in this runtime (sindri/core/runtime.h), or null. SINDRI_TIMELINE=FILE puts a Timeline in force from the start, in all of them.
SINDRI_API KernelObserver* kernel_observer();

/// Puts an observer in force in this runtime for the life of the scope (in place of the one before, which then returns). Scopes must nest.
class SINDRI_API ObserveKernels {
 public:
  explicit ObserveKernels(KernelObserver& observer);
  ~ObserveKernels();
  ObserveKernels(const ObserveKernels&) = delete;
  ObserveKernels& operator=(const ObserveKernels&) = delete;

 private:
  KernelObserver* previous_;
};

}  // namespace sindri
