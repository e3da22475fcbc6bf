// Timeline: kernel runs as a Chrome trace (chrome://tracing, https://ui.perfetto.dev).
#pragma once

#include <memory>
#include <string>

#include "sindri/export.h"
#include "sindri/op/observer.h"

namespace sindri {

/// Collects kernel runs and the host's waits for devices, and writes them in Chrome's trace event format: one complete event per
/// kernel and one lane per thread, with the kernel's name, the Cell and the operands as arguments. Thread-safe.
class SINDRI_API Timeline final : public KernelObserver {
 public:
  /// Events beyond `max_bytes` of JSON are counted, not kept.
  explicit Timeline(int64_t max_bytes = 50'000'000);
  ~Timeline() override;
  void on_kernel(const KernelEvent& event) override;
  /// Adds an event "wait: item" of category "wait" in the lane of the thread that waited, with the Cell that was running.
  void on_wait(const char* what, std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end) override;
  /// Adds an event of another kind, such as a whole step.
  void add_span(const std::string& name, std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end);
  /// Number of events kept.
  int64_t events() const;
  /// Number of events dropped because of max_bytes.
  int64_t dropped() const;
  /// Writes the trace. Throws IoError if the file cannot be written.
  void write(const std::string& path) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sindri
