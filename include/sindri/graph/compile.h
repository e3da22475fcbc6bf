// Graph mode: a function of tensors is traced once per signature, optimized, planned and then replayed.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/graph/memory_report.h"
#include "sindri/op/tensor_fn.h"

namespace sindri {

/// How a function is compiled.
struct CompileOptions {
  std::string name = "fn";  ///< in dumps and messages
  /// Passes to leave out, by name ("all" for every one); SINDRI_DISABLE_PASSES=a,b adds to it.
  std::vector<std::string> disable_passes = {};
  /// Set for a function called from code that runs eagerly and may share more with it than arguments and results. If a trace ends and traced
  /// tensors are held elsewhere (in a list, say), this is called, to drop what nothing can reach; those still held then get their data, and
  /// the path is not kept (run).
  std::function<void()> drop_garbage = {};
};

/// What the kernels of one name do for one op in a call, as planned.
struct PlannedKernels {
  std::string op, kernel;
  int64_t nodes = 0;
  int64_t launches = 0;  ///< kernels, library calls, copies and fills that they start on a device; 1 a node on the CPU
  int64_t bytes = 0;  ///< what they read and write, by shapes and by what each kernel says of itself
};

/// What one compiled signature came to.
struct ExecutableInfo {
  int64_t nodes_traced = 0, nodes = 0;  ///< before and after passes
  int64_t arena_bytes = 0;  ///< planned memory for intermediate values
  int64_t unplanned_bytes = 0;  ///< what they would take without reuse
  std::vector<PlannedKernels> planned = {};  ///< most bytes first; of all segments
  double compile_seconds = 0;
  int64_t segments = 0;  ///< graphs it consists of: one, unless the function looks at conditions
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
  /// Traces and compiles when this signature is new, as far as the first condition; runs nothing and changes no state.
  void prepare(std::span<const Tensor> in, int variant = 0);
  /// As above. `path` becomes the number of the call of `fn` (0 for the first) that made the path taken, where that path is kept: functions
  /// that look at conditions (traced_condition) may return something else on each. Else -1.
  TensorList run(std::span<const Tensor> in, int variant, int64_t* path);
  explicit operator bool() const { return impl_ != nullptr; }
  /// Text of the optimized graph for a signature already compiled (the latest when there are several); of all its segments, where the function
  /// looks at conditions.
  std::string graph_text() const;
  ExecutableInfo info() const;
  /// Where its memory goes, of the latest signature (of its largest segment). Throws ValueError before the first call.
  MemoryReport memory_report() const;
  int64_t num_signatures() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// For language bindings: while a CompiledFn calls its function on this thread, the truth of a traced tensor of one element. What was traced so
/// far runs, and the trace goes on for this outcome; another outcome, in a later call, leads to another trace. nullopt elsewhere.
SINDRI_API std::optional<bool> traced_condition(const Tensor& t);
/// While a CompiledFn calls its function behind a condition: what was traced runs, traced tensors get their data, and the function goes on
/// eagerly. False elsewhere, where a value that is asked for is not to be had.
SINDRI_API bool leave_trace();
/// Whether a part of the call that is being traced has run: it cannot begin anew.
SINDRI_API bool traced_call_has_run();

SINDRI_API CompiledFn compile(TensorFn fn, CompileOptions opts = {});

}  // namespace sindri
