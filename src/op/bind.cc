// The interpreter stack and the Cell path of each thread.
#include "sindri/op/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sindri/core/error.h"
#include "sindri/op/parameter.h"
#include "src/core/tensor_impl.h"
#include "src/device/holders.h"
#include "src/op/eager.h"
#include "src/op/quick_call.h"
#include "src/op/scope.h"

namespace sindri {

namespace {

thread_local Trace* t_top = nullptr;
thread_local int t_graph_depth = 0;
thread_local ScopeLink t_scope;

// Adds the call to the error message.
void add_call(Error& e, const OpDef& op, const Attrs& attrs, Span<const Tensor> in) {
  std::string inputs;
  for (const Tensor& t : in) inputs += (inputs.empty() ? "" : ", ") + (t.defined() ? t.meta().str() : std::string("undefined"));
  e.add_where(fmt::format("{}{} on {}", op.name, attrs.text(), inputs));
  if (t_scope != nullptr) e.add_where("in " + current_scope());
}

}  // namespace

Tensor Trace::read(Parameter& p, Trace* below) { return read_below(below, p); }
void Trace::assign(Parameter& p, const Tensor& v, Trace* below) { assign_below(below, p, v); }

TraceScope::TraceScope(Trace& t) : previous_(t_top) {
  t.below_ = &current_trace();
  t_top = &t;
}
TraceScope::~TraceScope() { t_top = previous_; }

BelowScope::BelowScope() : previous_(t_top) {
  if (t_top != nullptr) t_top = t_top->below_ == &eager_trace() ? nullptr : t_top->below_;
}
BelowScope::~BelowScope() { t_top = previous_; }

TracingGraphScope::TracingGraphScope() { ++t_graph_depth; }
TracingGraphScope::~TracingGraphScope() { --t_graph_depth; }
SuspendTraces::SuspendTraces() : top_(std::exchange(t_top, nullptr)), depth_(std::exchange(t_graph_depth, 0)) {}
SuspendTraces::~SuspendTraces() {
  t_top = top_;
  t_graph_depth = depth_;
}
bool is_tracing_graph() { return t_graph_depth > 0; }
bool is_eager() { return t_top == nullptr; }

Trace& current_trace() { return t_top != nullptr ? *t_top : eager_trace(); }

std::vector<Tensor> bind(const OpDef& op, Attrs attrs, Span<const Tensor> in) {
  Trace& top = current_trace();
  try {
    for (size_t i = 0; i < in.size(); ++i) {
      if (!in[i].defined()) throw ValueError(fmt::format("{}: input {} is undefined", op.name, i));
    }
    return top.apply(op, attrs, in, top.below_);
  } catch (Error& e) {
    add_call(e, op, attrs, in);
    throw;
  }
}

Tensor bind_one(const OpDef& op, const Attrs& attrs, std::initializer_list<const Tensor*> in) {
  const auto all = [&] {
    std::vector<Tensor> list;
    for (const Tensor* t : in) list.push_back(*t);
    return list;
  };
  if (t_top != nullptr || std::any_of(in.begin(), in.end(), [](const Tensor* t) { return !t->defined(); })) return std::move(sindri::bind(op, attrs, all())[0]);
  try {
    return run_eager_one(op, attrs, {in.begin(), in.size()});
  } catch (Error& e) {
    add_call(e, op, attrs, all());
    throw;
  }
}

const ScopeLink& current_scope_link() { return t_scope; }

std::string scope_path(const ScopeLink& scope) {
  if (scope == nullptr) return "";
  const std::string outer = scope_path(scope->outer);
  return outer.empty() ? scope->name : outer + (scope->outer->outer == nullptr ? "/" : ".") + scope->name;
}

std::string current_scope() { return scope_path(t_scope); }

namespace {
const bool kHolders = (set_holder_names({.current = []() -> HolderLink { return t_scope; },
                                         .text = [](const HolderLink& link) { return scope_path(std::static_pointer_cast<const ScopeNode>(link)); }}),
                       true);
}  // namespace

NameScope::NameScope(std::string name) { t_scope = std::make_shared<const ScopeNode>(ScopeNode{std::move(t_scope), std::move(name)}); }
NameScope::~NameScope() {
  ScopeLink outer = t_scope->outer;
  t_scope = std::move(outer);
}

Tensor Parameter::value() const {
  Trace& top = current_trace();
  return top.read(const_cast<Parameter&>(*this), top.below_);
}

Parameter::Parameter(const Tensor& init, std::string name, bool grad)
    : requires_grad(grad), stored_(make_alias(init.has_data() ? init.to(current_device()) : init)), name_(std::move(name)) {}
void Parameter::move_to(Device device) {
  if (stored_.device() != device) stored_ = make_alias(stored_.to(device));
}
void Parameter::store(const Tensor& v) { stored_ = make_alias(v.has_data() ? v.to(stored_.device()) : v); }

void Parameter::assign(const Tensor& v) {
  if (v.shape() != shape()) throw ShapeError(fmt::format("parameter '{}' has shape {}, assigned {}", name_, shape().str(), v.shape().str()));
  if (v.dtype() != dtype())
    throw DTypeError(fmt::format("parameter '{}' holds {}, assigned {}", name_, dtype_name(dtype()), dtype_name(v.dtype())), "", "convert it with ops::cast");
  Trace& top = current_trace();
  top.assign(*this, v, top.below_);
}

}  // namespace sindri
