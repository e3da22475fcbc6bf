// The innermost interpreter of GRAPH_MODE: ops become nodes, tensors become values.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "sindri/graph/graph.h"
#include "sindri/op/bind.h"
#include "sindri/op/tensor_fn.h"
#include "src/core/tensor_impl.h"

namespace sindri {

class GraphTrace final : public Trace, private SymbolKeeper {
 public:
  explicit GraphTrace(Graph* graph);
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) override;
  Tensor read(Parameter& p, Trace* below) override;
  void assign(Parameter& p, const Tensor& v, Trace* below) override;

  Tensor input(const TensorMeta& meta);
  /// Sets the function's outputs and each state's final value.
  void finish(Span<const Tensor> outputs);

  // A trace may continue in another graph (segments.h). The graph so far then outputs the values that something outside
  // still holds, except values that are the current value of a state: the next graph reads these from the state.

  /// A value that the next graph receives, as its input of the same index.
  struct Crossing {
    ValueId value = kNoId;  ///< in the graph that ends
    bool from_input = false;  ///< true: it was an input there; false: it is an output
    int32_t index = 0;  ///< index of that input or output
    TensorMeta meta;
  };
  /// Ends the graph; `first`, if defined, becomes output 0.
  std::vector<Crossing> cut(const Tensor& first);
  void go_on(Graph* next, Span<const Crossing> crossings);
  using StateMetas = std::unordered_map<const Parameter*, TensorMeta>;
  /// Metas that the states had when the current graph was first traced; null: use their present metas.
  void set_metas(const StateMetas* metas) { metas_ = metas; }
  /// Gives data to all traced tensors that are held outside the trace. From then on every op passes to the interpreter below.
  void leave(Span<const Crossing> crossings, Span<const Tensor> values);
  bool left() const { return left_; }
  /// Returns whether anything but `own` and the states holds a traced tensor. `own` are all existing handles of what
  /// the function returns.
  bool held_elsewhere(Span<const Tensor> own) const;
  /// Returns the value of a tensor in the graph; a tensor from outside becomes a constant.
  ValueId value(const Tensor& t) { return value_of(t); }

 private:
  ValueId value_of(const Tensor& t);
  Tensor symbol(ValueId v) const;
  void add(const std::shared_ptr<TensorImpl>& symbol) override { symbols_.push_back(symbol); }
  size_t state_of(Parameter& p);
  const TensorMeta& meta_of(const Parameter& p) const;

  struct State {
    Parameter* param;
    Tensor current;
  };
  Graph* graph_;
  bool left_ = false;
  const StateMetas* metas_ = nullptr;
  uint64_t first_id_;  // tensors with a smaller id belong to an earlier trace
  std::vector<State> states_;  // parallel to the graph's states
  std::unordered_map<Parameter*, size_t> state_index_;
  std::vector<uint64_t> stored_id_;  // after leave(): identities of the parameters' values at that moment
  std::unordered_map<uint64_t, ValueId> constant_of_;  // tensor id -> value
  std::vector<std::weak_ptr<TensorImpl>> symbols_;  // every symbol that was returned
};

/// Traces fn on symbolic tensors with the given metas. Errors of the function propagate.
Graph trace_function(const std::string& name, const TensorFn& fn, Span<const TensorMeta> inputs);
/// Returns the device of a graph with these inputs; without inputs, the current one.
Device device_of_inputs(Span<const TensorMeta> inputs);

}  // namespace sindri
