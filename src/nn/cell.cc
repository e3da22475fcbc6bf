// The tree of cells: names are paths, found by walking the tree on request, so that a cell may have two parents.
#include "sindri/nn/cell.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "sindri/core/error.h"
#include "sindri/nn/recompute.h"
#include "sindri/op/bind.h"
#include "sindri/ops/random.h"
#include "sindri/ops/shape.h"
#include "src/op/scope.h"

namespace sindri::nn {

namespace {

std::string join_path(const std::string& path, const std::string& name) { return path.empty() ? name : path + "." + name; }

std::vector<Value> items_of(const Value& tuple) {
  std::vector<Value> items;
  for (size_t i = 0; i < tuple.size(); ++i) items.push_back(tuple[i]);
  return items;
}

bool is_longer_path(const std::string& full, const std::string& path) {
  return full.size() > path.size() + 1 && full.ends_with(path) && full[full.size() - path.size() - 1] == '.';
}

}  // namespace

Cell::Cell(std::string class_name) : class_name_(std::move(class_name)) {}
Cell::~Cell() = default;

template <class F> void Cell::walk(const std::string& path, F&& f) {
  std::unordered_set<const Cell*> seen;
  const auto visit = [&](const auto& self, const std::string& at, Cell* c) -> void {
    if (!seen.insert(c).second) return;
    f(at, c);
    for (const ChildEntry& e : c->children_) self(self, e.prefix ? join_path(at, e.name) : at, e.cell.get());
  };
  visit(visit, path, this);
}

Tensor Cell::construct(const Tensor&) {
  throw ValueError(fmt::format("{} defines no construct", class_name_), "", "override construct(const Tensor&) or construct_values");
}

Value Cell::construct_values(Span<const Value> in) { return construct(tensor_inputs(in, 1)[0]); }

TensorList Cell::bprop(Span<const Tensor>, Span<const Tensor>, Span<const Tensor>) {
  throw ValueError(fmt::format("{} has has_bprop() but defines no bprop", class_name_));
}

std::vector<Tensor> Cell::tensor_inputs(Span<const Value> in, size_t count) const {
  if (in.size() != count) throw ValueError(fmt::format("{} takes {} input{}, got {}", class_name_, count, count == 1 ? "" : "s", in.size()));
  std::vector<Tensor> out;
  for (const Value& v : in) out.push_back(v.tensor());
  return out;
}

Value Cell::call(Span<const Value> in) {
  const NameScope scope(place_.empty() || current_scope_link() == nullptr ? class_name_ : place_);
  Value out;
  try {
    out = run(in);
  } catch (Error& e) {
    const std::string part = "in " + current_scope();  // may already be there, within the longer path that an inner cell or bind has added
    if (e.where().find(part) == std::string::npos) e.add_where(part);
    throw;
  }
  CallObserver::notify(*this, out);
  return out;
}

namespace {

Value cast_value(const Value& v, DType dtype) {
  std::vector<Tensor> tensors = v.flatten();
  for (Tensor& t : tensors) t = amp::cast_floating(t, dtype);
  return v.with_tensors(tensors);
}

}  // namespace

Value Cell::run(Span<const Value> in) {
  const auto construct_in_type = [&] {
    const amp::CellScope scope(class_name_, to_float_);
    const auto construct = [&](Span<const Value> args) {
      return has_bprop() ? call_with_bprop(args) : recompute_ ? call_recomputed(args) : construct_values(args);
    };
    if (!to_float_.has_value()) {
      Value out = construct(in);
      return scope.output().has_value() ? cast_value(out, *scope.output()) : out;
    }
    std::vector<Value> cast;
    for (const Value& v : in) cast.push_back(cast_value(v, *to_float_));
    return construct(cast);
  };
  if (amp_ == nullptr) return construct_in_type();
  const amp::AmpScope scope(*amp_);
  return cast_value(construct_in_type(), DType::kFloat32);
}

Value Cell::call_with_bprop(Span<const Value> in) {
  const Value packed = Value::tuple({in.begin(), in.end()});
  Value out;
  const auto forward = [&](Span<const Tensor> tensors) {
    const Value args = packed.with_tensors({tensors.begin(), tensors.end()});
    out = construct_values(items_of(args));
    return out.flatten();
  };
  const auto vjp = [this](Span<const Tensor> inputs, Span<const Tensor> outputs, Span<const Tensor> dout) {
    TensorList filled(dout.begin(), dout.end());
    for (size_t i = 0; i < filled.size(); ++i)
      if (!filled[i].defined()) filled[i] = ops::full(outputs[i].shape(), 0, outputs[i].dtype());
    TensorList grads = bprop(inputs, outputs, filled);
    if (grads.size() != inputs.size()) throw ValueError(fmt::format("{}: bprop returned {} gradients for {} inputs", class_name_, grads.size(), inputs.size()));
    return grads;
  };
  const TensorList results = custom_gradient(forward, packed.flatten(), vjp);
  return out.with_tensors(results);
}

Value Cell::call_recomputed(Span<const Value> in) {
  const Value packed = Value::tuple({in.begin(), in.end()});
  // Stores the structure of the first run's result; runs for the gradient do not need it.
  const auto out = std::make_shared<Value>();
  const auto construct = [this, packed, out](Span<const Tensor> tensors) {
    *out = construct_values(items_of(packed.with_tensors({tensors.begin(), tensors.end()})));
    return out->flatten();
  };
  const TensorList results = recompute_function(construct, packed.flatten(), get_parameters(), class_name_);
  return out->with_tensors(results);
}

Cell& Cell::recompute(bool on) {
  recompute_ = on;
  return *this;
}

namespace {
thread_local CallObserver* t_observer = nullptr;
}
CallObserver::CallObserver(Fn fn) : fn_(std::move(fn)), previous_(t_observer) { t_observer = this; }
CallObserver::~CallObserver() { t_observer = previous_; }
void CallObserver::notify(const Cell& cell, const Value& out) {
  if (t_observer != nullptr) t_observer->fn_(cell, out);
}

Tensor Cell::operator()(const Tensor& x) { return call({Value(x)}).tensor(); }
Tensor Cell::operator()(const Tensor& a, const Tensor& b) { return call({Value(a), Value(b)}).tensor(); }

Cell& Cell::set_train(bool on) {
  walk("", [on](const std::string&, Cell* c) { c->training_ = on; });
  return *this;
}

Cell& Cell::set_requires_grad(bool on) {
  walk("", [on](const std::string&, Cell* c) {
    for (ParamEntry& e : c->params_) e.param->requires_grad = on && e.trainable;
  });
  return *this;
}

Cell& Cell::to_float(DType dtype) {
  if (dtype != DType::kFloat32 && !is_half(dtype))
    throw ValueError(fmt::format("{}: to_float takes float16, bfloat16 or float32, got {}", class_name_, dtype_name(dtype)));
  walk("", [dtype](const std::string&, Cell* c) { c->to_float_ = dtype; });
  return *this;
}

Cell& Cell::set_mixed_precision(const amp::Options& options) {
  std::vector<std::string> classes;
  walk("", [&](const std::string&, Cell* c) { classes.push_back(c->class_name_); });
  amp::check(options, classes);
  amp_ = std::make_unique<const amp::Options>(options);
  return *this;
}

Cell& Cell::add_flag(const std::string& name, bool value, bool recursive) {
  flags_[name] = value;
  if (recursive) walk("", [&](const std::string&, Cell* c) { c->flags_[name] = value; });
  return *this;
}

bool Cell::flag(const std::string& name) const {
  const auto it = flags_.find(name);
  return it != flags_.end() && it->second;
}

std::vector<std::pair<std::string, Parameter*>> Cell::parameters_and_names() {
  std::vector<std::pair<std::string, Parameter*>> out;
  std::unordered_set<std::string> names;
  walk("", [&](const std::string& path, Cell* c) {
    for (const ParamEntry& e : c->params_) {
      std::string full = join_path(path, e.name);
      if (!names.insert(full).second)
        throw ValueError(fmt::format("{} holds two parameters named '{}'", class_name_, full), "", "attach one of the cells with a prefix");
      out.emplace_back(std::move(full), e.param.get());
    }
  });
  return out;
}

std::vector<std::pair<std::string, Cell*>> Cell::cells_and_names() {
  std::vector<std::pair<std::string, Cell*>> out;
  walk("", [&](const std::string& path, Cell* c) { out.emplace_back(path, c); });
  return out;
}

std::vector<Parameter*> Cell::get_parameters() {
  std::vector<Parameter*> out;
  for (const auto& [path, p] : parameters_and_names()) {
    if (!is_longer_path(p->name(), path)) p->set_name(path);
    out.push_back(p);
  }
  return out;
}

std::vector<Parameter*> Cell::trainable_params() {
  std::vector<Parameter*> out;
  for (Parameter* p : get_parameters())
    if (p->requires_grad) out.push_back(p);
  return out;
}

std::vector<Parameter*> Cell::untrainable_params() {
  std::vector<Parameter*> out;
  for (Parameter* p : get_parameters())
    if (!p->requires_grad) out.push_back(p);
  return out;
}

int64_t Cell::num_parameters(bool trainable_only) {
  int64_t n = 0;
  for (const auto& [path, p] : parameters_and_names())
    if (p->requires_grad || !trainable_only) n += p->shape().numel();
  return n;
}

std::vector<std::pair<std::string, std::shared_ptr<Cell>>> Cell::children() const {
  std::vector<std::pair<std::string, std::shared_ptr<Cell>>> out;
  for (const ChildEntry& e : children_) out.emplace_back(e.name, e.cell);
  return out;
}

std::vector<std::pair<std::string, Parameter*>> Cell::own_parameters() const {
  std::vector<std::pair<std::string, Parameter*>> out;
  for (const ParamEntry& e : params_) out.emplace_back(e.name, e.param.get());
  return out;
}

void Cell::check_name(const std::string& name, const char* what) const {
  if (name.empty()) throw ValueError(fmt::format("{}: a {} needs a name", class_name_, what));
  if (name.find('.') != std::string::npos) throw ValueError(fmt::format("{}: the {} name '{}' holds a dot", class_name_, what, name));
  for (const ParamEntry& e : params_)
    if (e.name == name) throw ValueError(fmt::format("{} already has a parameter '{}'", class_name_, name));
  for (const ChildEntry& e : children_)
    if (e.name == name) throw ValueError(fmt::format("{} already has a child '{}'", class_name_, name));
}

Parameter& Cell::param(const std::string& name, const Tensor& init, bool requires_grad) {
  check_name(name, "parameter");
  if (!init.defined()) throw ValueError(fmt::format("{}: parameter '{}' has no initial value", class_name_, name));
  params_.push_back({name, std::make_unique<Parameter>(init, name, requires_grad), requires_grad});
  return *params_.back().param;
}

void Cell::check_acyclic(const std::string& name, Cell* c) {
  c->walk("", [&](const std::string&, Cell* inner) {
    if (inner == this) throw ValueError(fmt::format("{}: child '{}' contains the cell itself", class_name_, name));
  });
}

void Cell::add_child(const std::string& name, std::shared_ptr<Cell> c, bool prefix) {
  check_name(name, "child");
  if (c == nullptr) throw ValueError(fmt::format("{}: child '{}' is null", class_name_, name));
  check_acyclic(name, c.get());
  if (c->place_.empty()) c->place_ = name;
  children_.push_back({name, std::move(c), prefix});
}

void Cell::drop_param(const std::string& name) {
  const auto at = std::find_if(params_.begin(), params_.end(), [&](const ParamEntry& e) { return e.name == name; });
  if (at == params_.end()) throw InternalError(fmt::format("{} has no parameter '{}'", class_name_, name));
  dropped_.push_back(std::move(*at));
  params_.erase(at);
}

void Cell::set_child(const std::string& name, std::shared_ptr<Cell> c) {
  if (c == nullptr) throw ValueError(fmt::format("{}: child '{}' is null", class_name_, name));
  check_acyclic(name, c.get());
  for (ChildEntry& e : children_) {
    if (e.name != name) continue;
    if (c->place_.empty()) c->place_ = name;
    e.cell = std::move(c);
    return;
  }
  throw ValueError(fmt::format("{} has no child '{}'", class_name_, name));
}

std::string Cell::tree() const {
  std::string out;
  tree_lines("", "", &out);
  return out;
}

void Cell::tree_lines(const std::string& indent, const std::string& label, std::string* out) const {
  *out += indent + label + describe() + "\n";
  for (const ChildEntry& e : children_) e.cell->tree_lines(indent + "  ", "(" + e.name + "): ", out);
}

}  // namespace sindri::nn
