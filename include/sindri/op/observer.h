// Observers of kernel runs. Profilers and timelines see every kernel that the eager or the graph interpreter calls.
#pragma once

#include <chrono>
#include <string>

#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri {

/// One kernel run. Its references are valid only during the observer's call.
struct KernelEvent {
  const OpDef& op;
  const Attrs& attrs;
  const char* kernel;  ///< name of the KernelDef
  Span<const TensorMeta> in, out;  ///< metas as the kernel received them
  uint32_t prepared;  ///< bit i: input i was in the form that Kernel::prepare writes
  const std::string& scope;  ///< path of the Cell that made the op
  int64_t bytes;  ///< planned traffic: each operand and result once, and the kernel's extra_bytes
  std::chrono::steady_clock::time_point begin, end;  ///< start and end of the run
};

/// Receives every kernel run while it is set.
class SINDRI_API KernelObserver {
 public:
  virtual ~KernelObserver() = default;
  /// Called after each kernel, on the thread that ran it; several threads may call at once. Must not throw.
  virtual void on_kernel(const KernelEvent& event) = 0;
  /// Called after each wait of the host for a device, on the thread that waited: "item", "synchronize" (sindri/device/device.h,
  /// WaitObserver). Never called on the CPU, whose work has finished when a call returns. While kernels are observed they run one
  /// at a time, so these waits are short. Must not throw.
  virtual void on_wait(const char* /*what*/, std::chrono::steady_clock::time_point /*begin*/, std::chrono::steady_clock::time_point /*end*/) {}
};

/// This runtime's observer (sindri/core/runtime.h), or null. SINDRI_TIMELINE=FILE sets a Timeline in every runtime from the
/// start.
SINDRI_API KernelObserver* kernel_observer();

/// Sets an observer in this runtime for the life of the scope; the previous one is restored at its end. Scopes must nest.
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
