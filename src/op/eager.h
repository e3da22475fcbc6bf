// The eager interpreter, the end of every interpreter stack that is not being traced into a graph.
#pragma once

#include "sindri/op/bind.h"
#include "src/core/tensor_impl.h"

namespace sindri {

class EagerTrace final : public Trace {
 public:
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) override;
  Tensor read(Parameter& p, Trace* below) override;
  void assign(Parameter& p, const Tensor& v, Trace* below) override;
};
EagerTrace& eager_trace();
/// Returns the first output of EagerTrace::apply.
Tensor run_eager_one(const OpDef& op, const Attrs& attrs, Span<const Tensor* const> in);

/// Active while the graph tracer is on the stack, so that is_tracing_graph() needs no knowledge of graphs. Tensors made
/// from values meanwhile are constants, which stay on the host until the graph moves them to its device.
class TracingGraphScope {
 public:
  TracingGraphScope();
  ~TracingGraphScope();

 private:
  HostTensors constants_;
};

/// Removes all interpreters from this thread during its life: ops inside run eagerly and are not part of the trace.
class SuspendTraces {
 public:
  SuspendTraces();
  ~SuspendTraces();
  SuspendTraces(const SuspendTraces&) = delete;
  SuspendTraces& operator=(const SuspendTraces&) = delete;

 private:
  Trace* top_;
  int depth_;
  HostTensors::Suspend constants_;
};

}  // namespace sindri
