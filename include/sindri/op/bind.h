// bind: the one function every tensor operation passes through, and the interpreters stacked behind it.
//
//   TapeTrace (below, then records)  ->  EagerTrace (pick kernel, allocate, run)  |  GraphTrace (append node)
//
// Interpreters form a stack per thread. bind() calls the top one; each calls the one below it, or ends the chain.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/op_def.h"

namespace sindri {

class Parameter;

/// One interpreter.
class SINDRI_API Trace {
 public:
  virtual ~Trace() = default;
  virtual std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) = 0;
  /// The parameter's value as seen here: eager, the stored tensor; graph, the state's symbolic value.
  virtual Tensor read(Parameter& p, Trace* below);
  /// Eager: swaps the stored value; graph: binds the value to the state slot.
  virtual void assign(Parameter& p, const Tensor& v, Trace* below);
  /// The interpreter this one was pushed on; null at the bottom.
  Trace* below() const { return below_; }

 private:
  friend class TraceScope;
  friend class BelowScope;
  friend SINDRI_API std::vector<Tensor> bind(const OpDef&, Attrs, Span<const Tensor>);
  friend class Parameter;
  Trace* below_ = nullptr;

 protected:
  // Calls the interpreter under this one.
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

/// Takes the top interpreter off for the life of the scope, so that what runs inside is seen only by those below it.
class SINDRI_API BelowScope {
 public:
  BelowScope();
  ~BelowScope();
  BelowScope(const BelowScope&) = delete;
  BelowScope& operator=(const BelowScope&) = delete;

 private:
  Trace* previous_;
};

/// Runs, records or appends `op`, according to the interpreters in force. Errors carry op, inputs and Cell path.
SINDRI_API std::vector<Tensor> bind(const OpDef& op, Attrs attrs, Span<const Tensor> in);
inline std::vector<Tensor> bind(const OpDef& op, Attrs attrs, std::initializer_list<Tensor> in) {
  return bind(op, std::move(attrs), Span<const Tensor>(in.begin(), in.size()));
}
/// For ops with one output.
inline Tensor bind_one(const OpDef& op, Attrs attrs, std::initializer_list<Tensor> in) { return bind(op, std::move(attrs), in)[0]; }

/// The interpreter on top of this thread's stack (the eager one when nothing is pushed).
SINDRI_API Trace& current_trace();
/// True while a graph is being traced on this thread.
SINDRI_API bool is_tracing_graph();
/// True where nothing but the eager interpreter sees what this thread runs: no tape records, no graph is traced, nothing is cast.
SINDRI_API bool is_eager();

/// Path of Cells being constructed, for messages and profiles: "ResNet/layer1.0.conv2". Empty outside any Cell.
SINDRI_API std::string current_scope();
/// While it lives, ops of this thread belong to that name inside the names around it.
class SINDRI_API NameScope {
 public:
  explicit NameScope(std::string name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;
};

}  // namespace sindri
