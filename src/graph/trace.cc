// See trace.h.
#include "src/graph/trace.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "src/core/tensor_impl.h"
#include "src/op/eager.h"

namespace sindri {

GraphTrace::GraphTrace(Graph* graph) : graph_(graph), first_id_(TensorImpl::next_id()) {}

Tensor GraphTrace::symbol(ValueId v) const { return make_symbolic(graph_->value(v).meta, graph_, v); }

Tensor GraphTrace::input(const TensorMeta& meta) { return symbol(graph_->add_input(meta)); }

// Ids grow with time, so a symbolic tensor older than this trace cannot belong to it even when its graph had the same address.
ValueId GraphTrace::value_of(const Tensor& t) {
  if (t.is_symbolic()) {
    if (t.impl()->graph == graph_ && t.id() >= first_id_) return t.impl()->value;
    throw ValueError(fmt::format("a value {} of another trace is used while '{}' is traced", t.meta().str(), graph_->name), "",
                     "a tensor made inside a compiled function lives only during that call: return it from the function, or keep it in a Parameter");
  }
  if (!t.has_data()) throw InternalError("the gradient rule reads a tensor its op does not save", "", "declare it in saves_in / saves_out");
  const auto [it, fresh] = constant_of_.emplace(t.id(), kNoId);
  if (fresh) it->second = graph_->add_constant(t);  // the graph keeps the tensor, so its id stays taken
  return it->second;
}

std::vector<Tensor> GraphTrace::apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace*) {
  std::vector<ValueId> operands;
  operands.reserve(in.size());
  for (const Tensor& t : in) operands.push_back(value_of(t));
  const NodeId n = graph_->append(op, attrs, operands, current_scope());
  std::vector<Tensor> out;
  for (ValueId v : graph_->node(n).out) out.push_back(symbol(v));
  return out;
}

size_t GraphTrace::state_of(Parameter& p) {
  const auto [it, fresh] = state_index_.emplace(&p, states_.size());
  if (fresh) states_.push_back({&p, symbol(graph_->add_state(&p, p.name(), p.meta()))});
  return it->second;
}

Tensor GraphTrace::read(Parameter& p, Trace*) { return states_[state_of(p)].current; }

// The handle gets an identity of its own, as Parameter::store gives it in eager mode: the tape tells parameters apart by id.
void GraphTrace::assign(Parameter& p, const Tensor& v, Trace*) {
  const ValueId id = value_of(v);
  const size_t s = state_of(p);
  states_[s].current = symbol(id);
  graph_->set_written(s, id == graph_->states()[s].read ? kNoId : id);
}

void GraphTrace::finish(Span<const Tensor> outputs) {
  std::vector<ValueId> ids;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) throw ValueError(fmt::format("compiled function '{}' returns an undefined tensor as output {}", graph_->name, i));
    ids.push_back(value_of(outputs[i]));
  }
  graph_->set_outputs(std::move(ids));
}

Graph trace_function(const std::string& name, const TensorFn& fn, Span<const TensorMeta> inputs) {
  Graph graph(name);
  GraphTrace trace(&graph);
  const TraceScope scope(trace);
  const TracingGraphScope tracing;
  TensorList in;
  for (const TensorMeta& m : inputs) in.push_back(trace.input(m));
  trace.finish(fn(in));
  return graph;
}

}  // namespace sindri
