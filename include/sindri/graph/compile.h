// Graph mode: a function of tensors is traced once per signature, optimized, planned and then replayed.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/graph/memory_report.h"
#include "sindri/op/tensor_fn.h"

namespace sindri {

struct CompileOptions {
  std::string name = "fn";  ///< in dumps and messages
  /// Passes to leave out, by name ("all" for every one); SINDRI_DISABLE_PASSES=a,b adds to it.
  std::vector<std::string> disable_passes = {};
};

/// What one compiled signature came to.
struct ExecutableInfo {
  int64_t nodes_traced = 0, nodes = 0;  ///< before and after passes
  int64_t arena_bytes = 0;  ///< planned memory for intermediate values
  int64_t unplanned_bytes = 0;  ///< what they would take without reuse
  double compile_seconds = 0;
};

/// A function with one Executable per (input metas, state metas, variant, strict mode, threads). Parameters read and assigned
/// inside become states: read from and written to the Parameter at each call; they must outlive the function. Everything else
/// the function looks at (captured tensors, flags, the clock) is fixed when a signature is traced. Copies share the cache; calls
/// from several threads run one after the other. Inside another trace or under a Tape the function itself is called, so that
/// its ops are recorded one by one.
class SINDRI_API CompiledFn {
 public:
  CompiledFn() = default;
  CompiledFn(std::function<TensorList(std::span<const Tensor>, int variant)> fn, CompileOptions opts);
  /// Runs; traces and compiles first when this signature is new. Inputs are read during the call only.
  TensorList operator()(std::span<const Tensor> in, int variant = 0);
  /// Traces and compiles when this signature is new; runs nothing and changes no state.
  void prepare(std::span<const Tensor> in, int variant = 0);
  explicit operator bool() const { return impl_ != nullptr; }
  /// Text of the optimized graph for a signature already compiled (the latest when there are several).
  std::string graph_text() const;
  ExecutableInfo info() const;
  /// Where its memory goes, of the latest signature. Throws ValueError before the first call.
  MemoryReport memory_report() const;
  int64_t num_signatures() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

SINDRI_API CompiledFn compile(TensorFn fn, CompileOptions opts = {});

}  // namespace sindri
