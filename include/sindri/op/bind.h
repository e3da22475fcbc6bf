// bind: the function through which every tensor operation passes, and the stack of interpreters that it calls.
//
//   TapeTrace (below, then records)  ->  EagerTrace (pick kernel, allocate, run)  |  GraphTrace (append node)
//
// Each thread has a stack of interpreters. bind() calls the top one; each calls the one below it or ends the chain.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri {

class Parameter;

/// An interpreter of ops.
class SINDRI_API Trace {
 public:
  virtual ~Trace() = default;
  /// Runs, records or appends the op and returns its outputs. `below` is the next interpreter; null at the bottom.
  virtual std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) = 0;
  /// The parameter's value as this interpreter sees it: the stored tensor in eager mode, the state's symbolic value in a trace.
  virtual Tensor read(Parameter& p, Trace* below);
  /// Assigns the parameter: replaces the stored value in eager mode, binds the value to the state slot in a trace.
  virtual void assign(Parameter& p, const Tensor& v, Trace* below);
  /// The interpreter below this one; null at the bottom.
  Trace* below() const { return below_; }

 private:
  friend class TraceScope;
  friend class BelowScope;
  friend SINDRI_API std::vector<Tensor> bind(const OpDef&, Attrs, Span<const Tensor>);
  friend class Parameter;
  Trace* below_ = nullptr;

 protected:
  // Call the interpreter below this one.
  static std::vector<Tensor> apply_below(Trace* below, const OpDef& op, const Attrs& attrs, Span<const Tensor> in) {
    return below->apply(op, attrs, in, below->below_);
  }
  static Tensor read_below(Trace* below, Parameter& p) { return below->read(p, below->below_); }
  static void assign_below(Trace* below, Parameter& p, const Tensor& v) { below->assign(p, v, below->below_); }
};

/// Pushes an interpreter for the life of the scope.
class SINDRI_API TraceScope {
 public:
  explicit TraceScope(Trace& t);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* previous_;
};

/// Removes the top interpreter for the life of the scope, so that only those below it see what runs inside.
class SINDRI_API BelowScope {
 public:
  BelowScope();
  ~BelowScope();
  BelowScope(const BelowScope&) = delete;
  BelowScope& operator=(const BelowScope&) = delete;

 private:
  Trace* previous_;
};

/// Runs, records or appends `op`, depending on the active interpreters. Throws ValueError for an undefined input, and what infer
/// throws; errors name the op, its inputs and the Cell path.
SINDRI_API std::vector<Tensor> bind(const OpDef& op, Attrs attrs, Span<const Tensor> in);
inline std::vector<Tensor> bind(const OpDef& op, Attrs attrs, std::initializer_list<Tensor> in) {
  return bind(op, std::move(attrs), Span<const Tensor>(in.begin(), in.size()));
}
/// bind() for ops with one output.
inline Tensor bind_one(const OpDef& op, Attrs attrs, std::initializer_list<Tensor> in) { return bind(op, std::move(attrs), in)[0]; }

/// The top interpreter of this thread's stack: the eager one if nothing is pushed.
SINDRI_API Trace& current_trace();
/// Whether a graph is being traced on this thread.
SINDRI_API bool is_tracing_graph();
/// Whether only the eager interpreter sees what this thread runs: no tape records, no graph is traced, nothing is cast.
SINDRI_API bool is_eager();

/// Path of the Cells being called on this thread, for messages and profiles: "ResNet/layer1.0.conv2". Empty outside any Cell.
SINDRI_API std::string current_scope();
/// Appends a name to the scope path of this thread's ops for the life of the object.
class SINDRI_API NameScope {
 public:
  explicit NameScope(std::string name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
};

}  // namespace sindri
