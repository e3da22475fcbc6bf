// See trace.h.
#include "src/graph/trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "sindri/core/error.h"
#include "src/op/eager.h"

namespace sindri {

GraphTrace::GraphTrace(Graph* graph) : graph_(graph), first_id_(TensorImpl::next_id()) {}

Tensor GraphTrace::symbol(ValueId v) const { return make_symbolic(graph_->value(v).meta, graph_, v); }

Tensor GraphTrace::input(const TensorMeta& meta) { return symbol(graph_->add_input(meta)); }

// Ids increase with time, so a symbolic tensor older than this trace cannot belong to it even if its graph had the same address.
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

std::vector<Tensor> GraphTrace::apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) {
  if (left_) return apply_below(below, op, attrs, in);
  std::vector<ValueId> operands;
  operands.reserve(in.size());
  for (const Tensor& t : in) operands.push_back(value_of(t));
  const NodeId n = graph_->append(op, attrs, operands, current_scope());
  std::vector<Tensor> out;
  for (ValueId v : graph_->node(n).out) out.push_back(symbol(v));
  return out;
}

const TensorMeta& GraphTrace::meta_of(const Parameter& p) const {
  const auto known = metas_ != nullptr ? metas_->find(&p) : StateMetas::const_iterator();
  return metas_ != nullptr && known != metas_->end() ? known->second : p.meta();
}

size_t GraphTrace::state_of(Parameter& p) {
  const auto [it, fresh] = state_index_.emplace(&p, states_.size());
  if (fresh) states_.push_back({&p, symbol(graph_->add_state(&p, p.name(), meta_of(p)))});
  return it->second;
}

Tensor GraphTrace::read(Parameter& p, Trace* below) {
  if (!left_) return states_[state_of(p)].current;
  const auto at = state_index_.find(&p);
  // A value that has not changed keeps its earlier identity: the tape tells parameters apart by it.
  if (at != state_index_.end() && stored_id_[at->second] == p.stored().id()) return states_[at->second].current;
  return read_below(below, p);
}

// The handle gets a new identity, as Parameter::store gives it in eager mode: the tape tells parameters apart by id.
void GraphTrace::assign(Parameter& p, const Tensor& v, Trace* below) {
  if (left_) return assign_below(below, p, v);
  ValueId id = value_of(v);
  const size_t s = state_of(p);
  // On CUDA devices gradients of weights are channels-last. A state that adopted their layout could not be written in
  // place, and the next call would have another signature.
  if (const Layout kept = graph_->value(graph_->states()[s].read).meta.layout;
      graph_->device().kind == Device::kCuda && graph_->value(id).meta.layout != kept) {
    static const OpDef& to_layout = op_of(OpRole::kToLayout);
    const NodeId turned = graph_->append(to_layout, to_layout.attrs.make({{"layout", std::string(layout_name(kept))}}), {&id, 1}, current_scope());
    id = graph_->node(turned).out[0];
  }
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

std::vector<GraphTrace::Crossing> GraphTrace::cut(const Tensor& first) {
  std::unordered_map<ValueId, int32_t> output_of, input_of;
  std::unordered_map<ValueId, size_t> is_state;
  std::vector<ValueId> outputs;
  if (first.defined()) {
    outputs.push_back(value_of(first));
    output_of.emplace(outputs[0], 0);
  }
  for (size_t i = 0; i < graph_->inputs().size(); ++i) input_of.emplace(graph_->inputs()[i], static_cast<int32_t>(i));
  for (size_t s = 0; s < states_.size(); ++s) is_state.emplace(states_[s].current.impl()->value, s);
  std::unordered_map<ValueId, bool> seen;
  std::vector<Crossing> crossings;
  for (const std::weak_ptr<TensorImpl>& w : symbols_) {
    const std::shared_ptr<TensorImpl> impl = w.lock();
    if (impl == nullptr || impl->graph != graph_ || is_state.contains(impl->value) || !seen.emplace(impl->value, true).second) continue;
    const auto in = input_of.find(impl->value);
    Crossing c{impl->value, in != input_of.end(), in != input_of.end() ? in->second : 0, graph_->value(impl->value).meta};
    if (!c.from_input) {
      const auto [at, fresh] = output_of.emplace(impl->value, static_cast<int32_t>(outputs.size()));
      if (fresh) outputs.push_back(impl->value);
      c.index = at->second;
    }
    crossings.push_back(std::move(c));
  }
  graph_->set_outputs(std::move(outputs));
  return crossings;
}

// A value may be held here that was not held when the segment was first traced. It is garbage that Python has not
// collected yet, and gets no input in the next graph.
void GraphTrace::go_on(Graph* next, Span<const Crossing> crossings) {
  const Graph* const old = graph_;
  std::vector<State> states;
  std::unordered_map<ValueId, size_t> is_state;
  states.swap(states_);
  state_index_.clear();
  constant_of_.clear();
  graph_ = next;
  std::unordered_map<ValueId, ValueId> renamed;
  for (const Crossing& c : crossings) renamed.emplace(c.value, next->add_input(c.meta));
  for (const State& s : states) {
    const size_t index = states_.size();
    renamed.emplace(s.current.impl()->value, next->add_state(s.param, s.param->name(), meta_of(*s.param)));
    state_index_.emplace(s.param, index);
    states_.push_back(s);
  }
  std::vector<std::weak_ptr<TensorImpl>> symbols;
  symbols.swap(symbols_);
  for (const std::weak_ptr<TensorImpl>& w : symbols) {
    const std::shared_ptr<TensorImpl> impl = w.lock();
    if (impl == nullptr || impl->graph != old) continue;
    const auto to = renamed.find(impl->value);
    if (to == renamed.end()) continue;
    impl->graph = next;
    impl->value = to->second;
    symbols_.push_back(w);
  }
}

void GraphTrace::leave(Span<const Crossing> crossings, Span<const Tensor> values) {
  std::unordered_map<ValueId, Tensor> data;
  for (size_t i = 0; i < crossings.size(); ++i) data.emplace(crossings[i].value, values[i]);
  for (const State& s : states_) {
    data.emplace(s.current.impl()->value, s.param->stored());
    stored_id_.push_back(s.param->stored().id());
  }
  for (const std::weak_ptr<TensorImpl>& w : symbols_) {
    const std::shared_ptr<TensorImpl> impl = w.lock();
    if (impl == nullptr || impl->graph != graph_) continue;
    const auto at = data.find(impl->value);
    if (at == data.end()) continue;
    impl->meta = at->second.meta();
    impl->storage = at->second.impl()->storage;
    impl->graph = nullptr;
    impl->value = kNoId;
  }
  left_ = true;
}

bool GraphTrace::held_elsewhere(Span<const Tensor> own) const {
  std::unordered_map<const TensorImpl*, long> owners;
  for (const Tensor& t : own) ++owners[t.impl().get()];
  for (const State& s : states_) ++owners[s.current.impl().get()];
  return std::any_of(symbols_.begin(), symbols_.end(), [&](const std::weak_ptr<TensorImpl>& w) {
    const std::shared_ptr<TensorImpl> impl = w.lock();
    if (impl == nullptr || impl->graph != graph_) return false;
    const auto known = owners.find(impl.get());
    return impl.use_count() - 1 > (known != owners.end() ? known->second : 0);
  });
}

Device device_of_inputs(Span<const TensorMeta> inputs) { return inputs.empty() ? current_device() : inputs[0].device; }

Graph trace_function(const std::string& name, const TensorFn& fn, Span<const TensorMeta> inputs) {
  Graph graph(name, device_of_inputs(inputs));
  GraphTrace trace(&graph);
  const TraceScope scope(trace);
  const TracingGraphScope tracing;
  TensorList in;
  for (const TensorMeta& m : inputs) in.push_back(trace.input(m));
  trace.finish(fn(in));
  return graph;
}

}  // namespace sindri
