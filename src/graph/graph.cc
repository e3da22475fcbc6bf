// Building and rewriting graphs.
#include "sindri/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "sindri/core/error.h"
#include "src/op/plan.h"

namespace sindri {

ValueId Graph::add_value(const TensorMeta& meta, Kind kind) {
  Value v;
  v.meta = meta;
  v.kind = kind;
  values_.push_back(std::move(v));
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::add_input(const TensorMeta& meta) {
  if (meta.device != device_)
    throw DeviceError(fmt::format("input {} is on {}, the others of '{}' on {}", inputs_.size(), meta.device.str(), name, device_.str()), "",
                      "copy them to one device with Tensor::to");
  inputs_.push_back(add_value(meta, Kind::kInput));
  return inputs_.back();
}

ValueId Graph::add_state(Parameter* param, std::string state_name, const TensorMeta& meta) {
  if (meta.device != device_)
    throw DeviceError(fmt::format("parameter '{}' is on {}, the arguments of '{}' are on {}", state_name, meta.device.str(), name, device_.str()), "",
                      "copy the arguments to the parameter's device with Tensor::to, or create the network while that device is current");
  const ValueId v = add_value(meta, Kind::kState);
  states_.push_back({param, std::move(state_name), v, kNoId});
  return v;
}

ValueId Graph::add_constant(const Tensor& value) {
  if (!value.has_data()) throw InternalError("a graph constant needs data");
  TensorMeta meta = value.meta();
  meta.device = device_;
  const ValueId v = add_value(meta, Kind::kConstant);
  values_.back().constant = value.to({});
  constants_.push_back(v);
  return v;
}

NodeId Graph::append(const OpDef& op, Attrs attrs, Span<const ValueId> in, std::string scope, NodeId before) {
  std::vector<TensorMeta> given, wanted, out;
  for (ValueId v : in) given.push_back(value(v).meta);
  infer_with_layout(op, attrs, given, &wanted, &out, device_);

  std::vector<ValueId> operands(in.begin(), in.end());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (given[i].layout == wanted[i].layout) continue;
    static const OpDef& to_layout = op_of(OpRole::kToLayout);
    const NodeId n = append(to_layout, to_layout.attrs.make({{"layout", std::string(layout_name(wanted[i].layout))}}), {&operands[i], 1}, scope, before);
    operands[i] = node(n).out[0];
  }

  const auto id = static_cast<NodeId>(nodes_.size());
  Node n;
  n.op = &op;
  n.attrs = std::move(attrs);
  n.scope = std::move(scope);
  for (ValueId v : operands) values_[static_cast<size_t>(v)].users.push_back(id);
  n.in = std::move(operands);
  for (const TensorMeta& m : out) {
    n.out.push_back(add_value(m, Kind::kResult));
    values_.back().producer = id;
  }
  nodes_.push_back(std::move(n));
  order_.insert(before == kNoId ? order_.end() : std::find(order_.begin(), order_.end(), before), id);
  return id;
}

void Graph::replace_uses(ValueId from, ValueId to) {
  if (from == to) return;
  Value &f = values_[static_cast<size_t>(from)], &t = values_[static_cast<size_t>(to)];
  if (!(f.meta == t.meta)) throw InternalError(fmt::format("a value {} cannot replace one {}", t.meta.str(), f.meta.str()), "graph " + name);
  for (NodeId n : f.users) {
    auto& in = nodes_[static_cast<size_t>(n)].in;
    *std::find(in.begin(), in.end(), from) = to;  // one entry of users per operand
    t.users.push_back(n);
  }
  f.users.clear();
  std::replace(outputs_.begin(), outputs_.end(), from, to);
  for (StateBinding& s : states_) {
    if (s.written == from) s.written = to;
  }
}

bool Graph::leaves(ValueId v) const {
  return std::find(outputs_.begin(), outputs_.end(), v) != outputs_.end() ||
      std::any_of(states_.begin(), states_.end(), [v](const StateBinding& s) { return s.written == v; });
}

void Graph::erase(NodeId n) {
  Node& node = nodes_[static_cast<size_t>(n)];
  for (ValueId v : node.out) {
    if (!value(v).users.empty() || leaves(v))
      throw InternalError(fmt::format("node {} ({}) is erased while its result is read", n, node.op->name), "graph " + name);
  }
  for (ValueId v : node.in) {
    auto& users = values_[static_cast<size_t>(v)].users;
    users.erase(std::find(users.begin(), users.end(), n));
  }
  for (ValueId v : node.out) values_[static_cast<size_t>(v)] = Value();
  node = Node();
  order_.erase(std::find(order_.begin(), order_.end(), n));
}

void Graph::erase_unused(ValueId v) {
  Value& val = values_[static_cast<size_t>(v)];
  const auto state = std::find_if(states_.begin(), states_.end(), [v](const StateBinding& s) { return s.read == v; });
  const bool written = state != states_.end() && state->written != kNoId;
  if (!val.users.empty() || leaves(v) || written || (val.kind != Kind::kConstant && val.kind != Kind::kState))
    throw InternalError(fmt::format("value {} is erased while it is in use", v), "graph " + name);
  if (val.kind == Kind::kConstant) std::erase(constants_, v);
  else states_.erase(state);
  val = Value();
}

}  // namespace sindri
