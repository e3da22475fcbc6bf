// Declares the eager interpreter, the end of every stack that is not being traced into a graph.
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
/// The first output of EagerTrace::apply.
Tensor run_eager_one(const OpDef& op, const Attrs& attrs, Span<const Tensor* const> in);

/// Set by the graph tracer while it is on the stack, so that is_tracing_graph() needs no knowledge of graphs. Tensors made from values meanwhile are
/// constants, which stay on the host until the graph puts them on its device.
class TracingGraphScope {
 public:
  TracingGraphScope();
  ~TracingGraphScope();

 private:
  HostTensors constants_;
};

/// Takes all interpreters off this thread for its life: what runs inside is eager, and not part of what is traced.
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
