// Timeline: kernel runs as a Chrome trace (chrome://tracing, https://ui.perfetto.dev).
#pragma once

#include <memory>
#include <string>

#include "sindri/export.h"
#include "sindri/op/observer.h"

namespace sindri {

/// Collects kernel runs, and waits of the host for a device, and writes them as Chrome's trace event format: one complete event per kernel, one lane
/// per thread, with the kernel's name, the Cell and the operands as arguments. Thread-safe.
class SINDRI_API Timeline final : public KernelObserver {
 public:
  /// Runs beyond `max_bytes` of JSON are counted, not kept.
  explicit Timeline(int64_t max_bytes = 50'000'000);
  ~Timeline() override;
  void on_kernel(const KernelEvent& event) override;
  /// An event "wait: item" of category "wait" in the lane of the thread that waited, with the Cell that was running.
  void on_wait(const char* what, std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end) override;
  /// An event of another kind, such as a whole step.
  void add_span(const std::string& name, std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end);
  int64_t events() const;
  /// Runs that were left out because of max_bytes.
  int64_t dropped() const;
  /// Throws IoError when the file cannot be written.
  void write(const std::string& path) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sindri
