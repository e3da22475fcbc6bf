// The bottom interpreter of GRAPH_MODE: ops become nodes, tensors become values.
#pragma once

#include <unordered_map>
#include <vector>

#include "sindri/graph/graph.h"
#include "sindri/op/bind.h"
#include "sindri/op/tensor_fn.h"

namespace sindri {

class GraphTrace final : public Trace {
 public:
  explicit GraphTrace(Graph* graph);
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) override;
  Tensor read(Parameter& p, Trace* below) override;
  void assign(Parameter& p, const Tensor& v, Trace* below) override;

  Tensor input(const TensorMeta& meta);
  /// Sets what the function returns and what each state leaves with.
  void finish(Span<const Tensor> outputs);

 private:
  ValueId value_of(const Tensor& t);
  Tensor symbol(ValueId v) const;
  size_t state_of(Parameter& p);

  struct State {
    Parameter* param;
    Tensor current;
  };
  Graph* graph_;
  uint64_t first_id_;  // tensors with a smaller id are of an earlier trace
  std::vector<State> states_;  // parallel to graph states
  std::unordered_map<Parameter*, size_t> state_index_;
  std::unordered_map<uint64_t, ValueId> constant_of_;  // tensor id -> value
};

/// Traces fn on symbolic tensors of the given metas. Errors of the function pass through.
Graph trace_function(const std::string& name, const TensorFn& fn, Span<const TensorMeta> inputs);

}  // namespace sindri
