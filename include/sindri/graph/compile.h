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

/// Options of compile().
struct CompileOptions {
  std::string name = "fn";  ///< name in dumps and messages
  /// Names of passes to skip ("all": every one); SINDRI_DISABLE_PASSES=a,b adds to them.
  std::vector<std::string> disable_passes = {};
  /// Set it for a function that eager code calls and that may leave traced tensors in objects of that code (in a list, say). If
  /// such objects hold traced tensors when a trace ends, this is called to release unreachable objects. Tensors still held
  /// afterwards receive their data, and the path is not kept (see run).
  std::function<void()> drop_garbage = {};
};

/// Planned runs of one kernel for one op, per call.
struct PlannedKernels {
  std::string op, kernel;
  int64_t nodes = 0;  ///< nodes of the graph
  int64_t launches = 0;  ///< kernels, library calls, copies and fills that they start on a device; 1 per node on the CPU
  int64_t bytes = 0;  ///< bytes read and written, from shapes and from the kernels' costs
};

/// Figures of one compiled signature.
struct ExecutableInfo {
  int64_t nodes_traced = 0, nodes = 0;  ///< before and after the passes
  int64_t arena_bytes = 0;  ///< planned memory for intermediate values
  int64_t unplanned_bytes = 0;  ///< memory for intermediate values without reuse
  std::vector<PlannedKernels> planned = {};  ///< of all segments, most bytes first
  double compile_seconds = 0;  ///< time of trace, passes and planning
  int64_t segments = 0;  ///< number of graphs: one, unless the function evaluates conditions on tensors
};

/// A compiled function, with one Executable per (input metas, state metas, variant, strict mode, threads). Parameters read and
/// assigned inside become states: each call reads them from the Parameter and writes them back, so they must outlive the
/// function. Everything else that the function reads (captured tensors, flags, the clock) is fixed when a signature is traced.
/// Copies share the cache; calls from several threads run one at a time. Inside another trace or under a Tape the original
/// function is called, so that its ops are recorded one by one.
class SINDRI_API CompiledFn {
 public:
  CompiledFn() = default;
  /// A compiled form of `fn`. Nothing is traced before the first call.
  CompiledFn(std::function<TensorList(std::span<const Tensor>, int variant)> fn, CompileOptions opts);
  /// Runs the function; traces and compiles first if the signature is new. Inputs are read only during the call. Throws
  /// ValueError for an undefined input, and what the function throws.
  TensorList operator()(std::span<const Tensor> in, int variant = 0);
  /// Traces and compiles a new signature, up to the first condition. Runs nothing and changes no state.
  void prepare(std::span<const Tensor> in, int variant = 0);
  /// The same as operator(), and sets `path`: if the path taken is kept, to the number of the call of `fn` (0 for the first) that
  /// traced it, else to -1. Functions that evaluate conditions (traced_condition) may return something different on each path.
  TensorList run(std::span<const Tensor> in, int variant, int64_t* path);
  explicit operator bool() const { return impl_ != nullptr; }  ///< false if default-constructed
  /// Text of the optimized graph of the latest compiled signature. If the function evaluates conditions, the text of all
  /// segments. Throws ValueError before the first call.
  std::string graph_text() const;
  /// Figures of the latest signature; all zero before the first call.
  ExecutableInfo info() const;
  /// Memory use of the latest signature (of its largest segment). Throws ValueError before the first call.
  MemoryReport memory_report() const;
  /// Number of compiled signatures.
  int64_t num_signatures() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// For language bindings: the truth value of a traced tensor of one element. To find it, the ops traced so far run; the trace
/// then continues for this outcome. A different outcome in a later call leads to another trace. Returns nullopt unless a
/// CompiledFn is calling its function on this thread.
SINDRI_API std::optional<bool> traced_condition(const Tensor& t);
/// For language bindings, while a CompiledFn calls its function and a condition has been evaluated: runs the traced ops, gives
/// traced tensors their data, and continues eagerly. Otherwise returns false, and a requested value is not available.
SINDRI_API bool leave_trace();
/// Whether part of the call being traced has run, so that the call cannot restart.
SINDRI_API bool traced_call_has_run();

/// Returns `fn` as a compiled function. Nothing is traced before the first call (MindSpore: mindspore.jit).
SINDRI_API CompiledFn compile(TensorFn fn, CompileOptions opts = {});

}  // namespace sindri
