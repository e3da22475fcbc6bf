// The tape: records the ops that passed through bind, and walks back over them.
//
// Tensors are known by id, so a record need not hold the data of a tensor its rule does not read. Rules call public op
// functions. The interpreters that are in force during backward execute these ops, record them (second derivatives) or
// trace them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "sindri/core/error.h"
#include "sindri/op/observer.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"
#include "src/autograd/custom_function.h"
#include "src/autograd/uses.h"
#include "src/core/tensor_impl.h"
#include "src/op/scope.h"

namespace sindri {

namespace {

struct Record {
  const OpDef* op = nullptr;  // null: custom
  Attrs attrs;
  std::vector<Tensor> in, out;
  ScopeLink scope;
  // Custom: the rule itself keeps the tensors.
  CustomFunction::Kind kind = CustomFunction::Kind::kOpaque;
  std::function<TensorList(Span<const Tensor> dout, Span<const bool> needs, UseRequest* uses)> custom;
};

std::string where_of(const Record& r) { return r.scope == nullptr ? "" : "in " + scope_path(r.scope); }

bool is_kept(uint32_t mask, size_t i) { return i < 32 && (mask >> i & 1u) != 0; }
Tensor keep(const Tensor& t, uint32_t mask, size_t i) { return is_kept(mask, i) ? t : make_meta_only(t); }

}  // namespace

struct Tape::State {
  std::vector<Record> records;
  std::unordered_map<uint64_t, Parameter*> param_of;  // tensor id -> parameter it was read from
  std::unordered_map<Parameter*, Tensor> read_value;  // one handle per parameter while the tape lives
  std::unique_ptr<UseKeeper> uses;  // null: the tape does not track uses
  bool paused = false;  // record nothing: the running ops belong to a function with a separate rule
};

Tape::Tape(TapeOptions options) : state_(std::make_unique<State>()) {
  if (options.uses) state_->uses = std::make_unique<UseKeeper>();
}
Tape::~Tape() = default;
size_t Tape::num_records() const { return state_->records.size(); }

std::vector<Tensor> Tape::apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) {
  std::vector<Tensor> out = apply_below(below, op, attrs, in);
  if (state_->paused) return out;
  // An op without a rule is also recorded if its result could carry a gradient: backward then reports it instead of returning zeros.
  if (op.vjp == nullptr && std::none_of(out.begin(), out.end(), [](const Tensor& t) { return is_floating(t.dtype()); })) return out;
  const bool uses_parameter = state_->uses != nullptr && state_->uses->note_op(op, attrs, in, out);
  Record r;
  r.op = &op;
  r.attrs = attrs;
  r.scope = current_scope_link();
  r.in.reserve(in.size());
  r.out.reserve(out.size());
  for (size_t i = 0; i < in.size(); ++i) r.in.push_back(uses_parameter ? in[i] : keep(in[i], op.traits.saves_in, i));
  for (size_t i = 0; i < out.size(); ++i) r.out.push_back(keep(out[i], op.traits.saves_out, i));
  state_->records.push_back(std::move(r));
  return out;
}

Tensor Tape::read(Parameter& p, Trace* below) {
  if (state_->paused) return read_below(below, p);
  const auto it = state_->read_value.find(&p);
  if (it != state_->read_value.end()) return it->second;
  Tensor v = read_below(below, p);
  state_->param_of[v.id()] = &p;
  state_->read_value.emplace(&p, v);
  if (state_->uses != nullptr) state_->uses->note_read(v, p);
  return v;
}

void Tape::assign(Parameter& p, const Tensor& v, Trace* below) {
  state_->read_value.erase(&p);  // later reads return the new value, which is not a leaf
  assign_below(below, p, v);
  state_->read_value.emplace(&p, v);
}

void UseRequest::inform(Tape* tape, Span<const Tensor> given) const {
  auto& uses = tape->state_->uses;
  uses = std::make_unique<UseKeeper>();
  uses->outer = this;
  for (const Tensor& t : given) {
    if (const Origin* origin = keeper_.find(t)) uses->add(t, *origin);
  }
}

std::optional<TensorList> Tape::traced() const {
  if (state_->uses != nullptr) return std::nullopt;
  TensorList out;
  std::unordered_set<uint64_t> listed;
  const auto add = [&](const std::vector<Tensor>& tensors, uint32_t mask) {
    for (size_t i = 0; i < tensors.size(); ++i)
      if (is_kept(mask, i) && tensors[i].is_symbolic() && listed.insert(tensors[i].id()).second) out.push_back(tensors[i]);
  };
  for (const Record& r : state_->records) {
    if (r.op == nullptr) return std::nullopt;
    add(r.in, r.op->traits.saves_in);
    add(r.out, r.op->traits.saves_out);
  }
  return out;
}

Parameter* Tape::parameter_of(const Tensor& t) const {
  const auto at = state_->param_of.find(t.id());
  return at != state_->param_of.end() ? at->second : nullptr;
}

TensorList Tape::take(const Tape& other, Span<const uint64_t> ids, TensorList by) {
  std::unordered_map<uint64_t, Tensor> in_place;
  for (size_t i = 0; i < ids.size(); ++i) {
    by[i] = make_alias(by[i]);  // a graph may return one tensor for two
    in_place.emplace(ids[i], by[i]);
  }
  const auto placed = [&](const Tensor& t, bool kept) {
    const auto at = in_place.find(t.id());
    if (at == in_place.end()) return t.is_symbolic() ? identity_of(t) : t;
    return kept ? at->second : identity_of(at->second);
  };
  state_->records = other.state_->records;
  for (Record& r : state_->records) {
    for (size_t i = 0; i < r.in.size(); ++i) r.in[i] = placed(r.in[i], r.op != nullptr && is_kept(r.op->traits.saves_in, i));
    for (size_t i = 0; i < r.out.size(); ++i) r.out[i] = placed(r.out[i], r.op != nullptr && is_kept(r.op->traits.saves_out, i));
  }
  state_->param_of.clear();
  for (const auto& [id, p] : other.state_->param_of) {
    const auto at = in_place.find(id);
    state_->param_of.emplace(at != in_place.end() ? at->second.id() : id, p);
  }
  state_->read_value.clear();
  return by;
}

namespace {

using GradMap = std::unordered_map<uint64_t, Tensor>;

// The gradient of an integer has its type, rounded towards 0, as in MindSpore.
void accumulate(GradMap* grads, const Tensor& of, const Tensor& g) {
  const Tensor own = is_floating(of.dtype()) || g.dtype() == of.dtype() ? g : ops::cast(g, of.dtype());
  const auto [it, fresh] = grads->emplace(of.id(), own);
  if (!fresh) it->second = ops::add(it->second, own);
}

// The op's values come from elsewhere, for example from another rank; its gradient must be sent there in any case,
// whatever is requested here.
bool is_source(const Record& r) { return r.op != nullptr && r.in.empty() && r.op->traits.host_effect && r.op->vjp != nullptr; }

// Returns the tensors that depend on the requested leaves, so that no gradient is computed for the others. Integers depend
// on integer leaves only: a value rounded from a float has no gradient.
std::unordered_set<uint64_t> reachable(const std::vector<Record>& records, std::unordered_set<uint64_t> from) {
  for (const Record& r : records) {
    const auto hit = [&](bool integers_only) {
      return std::any_of(r.in.begin(), r.in.end(), [&](const Tensor& t) { return from.contains(t.id()) && !(integers_only && is_floating(t.dtype())); });
    };
    if (!is_source(r) && !hit(false)) continue;
    for (const Tensor& t : r.out)
      if (is_floating(t.dtype()) || hit(true)) from.insert(t.id());
  }
  return from;
}

constexpr size_t kFewInputs = 16;

TensorList call_rule(const Record& r, const std::vector<Tensor>& dout, const std::unordered_set<uint64_t>& wanted, UseRequest* uses) {
  if (r.op != nullptr && r.op->vjp == nullptr) {
    const bool floats = std::any_of(r.in.begin(), r.in.end(), [&](const Tensor& t) { return is_floating(t.dtype()) && wanted.contains(t.id()); });
    if (!floats) return TensorList(r.in.size());  // integers that select: class indices, positions
    throw ValueError(fmt::format("op '{}' has no gradient, but the requested result depends on it", r.op->name), where_of(r),
                     "wrap its input in ops::stop_gradient");
  }
  // Span<const bool> needs contiguous bools.
  std::array<bool, kFewInputs> few;
  std::unique_ptr<bool[]> many(r.in.size() > kFewInputs ? new bool[r.in.size()] : nullptr);
  bool* needs = many != nullptr ? many.get() : few.data();
  for (size_t i = 0; i < r.in.size(); ++i) needs[i] = wanted.contains(r.in[i].id());
  if (r.op == nullptr) return r.custom(dout, {needs, r.in.size()}, uses);
  return r.op->vjp({r.attrs, r.in, r.out, dout, {needs, r.in.size()}});
}

void check_rule_result(const Record& r, const TensorList& din) {
  const char* name = r.op != nullptr ? r.op->name : "custom gradient";
  if (din.size() != r.in.size() && r.op == nullptr)
    throw ValueError(fmt::format("{}: it returned {} gradients for {} inputs", name, din.size(), r.in.size()), where_of(r), "return one per input");
  if (din.size() != r.in.size()) throw InternalError(fmt::format("{}: the gradient rule returned {} gradients for {} inputs", name, din.size(), r.in.size()));
  for (size_t i = 0; i < din.size(); ++i) {
    if (!din[i].defined() || din[i].shape() == r.in[i].shape()) continue;
    if (r.op == nullptr)  // a custom function
      throw ShapeError(fmt::format("{}: gradient of input {} has shape {}, the input {}", name, i, din[i].shape().str(), r.in[i].shape().str()), where_of(r),
                       "return one gradient per input, in its input's shape");
    throw InternalError(fmt::format("{}: gradient of input {} has shape {}, the input {}", name, i, din[i].shape().str(), r.in[i].shape().str()), where_of(r));
  }
}

}  // namespace

Gradients Tape::backward(const TensorList& outputs, const TensorList& seeds, Span<const Tensor> inputs, Span<Parameter* const> params) const {
  std::unordered_set<uint64_t> leaves;
  std::unordered_map<Parameter*, Tensor> leaf_of;
  for (const Tensor& t : inputs) leaves.insert(t.id());
  for (const auto& [id, p] : state_->param_of) {
    if (p->requires_grad && std::find(params.begin(), params.end(), p) != params.end()) leaves.insert(id);
  }
  const std::unordered_set<uint64_t> wanted = reachable(state_->records, leaves);

  GradMap grads;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!wanted.contains(outputs[i].id())) continue;
    const Tensor seed = i < seeds.size() && seeds[i].defined() ? seeds[i] : ops::full(outputs[i].shape(), 1.0, outputs[i].dtype());
    if (seed.shape() != outputs[i].shape())
      throw ShapeError(fmt::format("backward: seed {} has shape {}, the output {}", i, seed.shape().str(), outputs[i].shape().str()));
    accumulate(&grads, outputs[i], seed);
  }

  Gradients result;
  std::optional<UseRequest> uses;
  if (state_->uses != nullptr) uses.emplace(*state_->uses, params);
  std::vector<Tensor> dout;
  const NameScope scope("grad");
  for (auto it = state_->records.rbegin(); it != state_->records.rend(); ++it) {
    const Record& r = *it;
    dout.clear();
    bool any = false;
    for (const Tensor& t : r.out) {
      const auto g = grads.find(t.id());
      dout.push_back(g == grads.end() ? Tensor() : g->second);
      any = any || g != grads.end();
    }
    if (!any) continue;
    if (!is_source(r) && std::none_of(r.in.begin(), r.in.end(), [&](const Tensor& t) { return wanted.contains(t.id()); })) continue;
    if (uses.has_value() && r.kind == CustomFunction::Kind::kOpaque) uses->visit(r.op, r.attrs, r.in, dout[0], wanted);
    std::optional<NameScope> cell;  // nodes and profiles show the Cell whose gradient they belong to; other eager calls do not use it
    if (r.scope != nullptr && (kernel_observer() != nullptr || is_tracing_graph())) cell.emplace(scope_path(r.scope));
    const TensorList din = call_rule(r, dout, wanted, uses.has_value() ? &*uses : nullptr);
    check_rule_result(r, din);
    for (size_t i = 0; i < din.size(); ++i) {
      if (din[i].defined() && wanted.contains(r.in[i].id())) accumulate(&grads, r.in[i], din[i]);
    }
    // A leaf that is also an intermediate result keeps its gradient; others are no longer needed once their producer ran.
    for (const Tensor& t : r.out)
      if (!leaves.contains(t.id())) grads.erase(t.id());
  }

  const auto take = [&](const Tensor& leaf) {
    const auto g = grads.find(leaf.id());
    return g != grads.end() ? g->second : ops::full(leaf.shape(), 0.0, leaf.dtype());
  };
  if (uses.has_value()) result.uses = uses->take();
  for (const Tensor& t : inputs) result.of_inputs.push_back(take(t));
  std::unordered_map<Parameter*, uint64_t> id_of;
  for (const auto& [id, p] : state_->param_of) id_of[p] = id;
  for (Parameter* p : params) {
    const auto id = id_of.find(p);
    const auto g = id == id_of.end() || !p->requires_grad ? grads.end() : grads.find(id->second);  // a frozen parameter may also be an input
    result.of_params.push_back(g != grads.end() ? g->second : ops::full(p->shape(), 0.0, p->dtype()));
  }
  return result;
}

namespace {

class TapePause {
 public:
  explicit TapePause(bool* paused) : paused_(paused) { *paused_ = true; }
  ~TapePause() { *paused_ = false; }
  TapePause(const TapePause&) = delete;
  TapePause& operator=(const TapePause&) = delete;

 private:
  bool* paused_;
};

}  // namespace

TensorList CustomFunction::run(const TensorFn& f, Span<const Tensor> in) const {
  // The innermost tape need not be the top interpreter: casts of mixed precision happen above it.
  Tape* tape = nullptr;
  for (Trace* t = &current_trace(); t != nullptr && tape == nullptr; t = t->below()) {
    tape = dynamic_cast<Tape*>(t);
    if (tape != nullptr && tape->state_->paused) tape = nullptr;
  }
  if (tape == nullptr) return f(in);
  TensorList out;
  {
    const TapePause pause(&tape->state_->paused);
    out = run(f, in);
  }
  // An input that is returned unchanged is a new value to the tape: the rule lies between the two.
  for (Tensor& o : out) {
    const bool passed_through = o.defined() && std::any_of(in.begin(), in.end(), [&](const Tensor& t) { return t.defined() && t.id() == o.id(); });
    if (passed_through) o = make_alias(o);
  }
  UseKeeper* const uses = tape->state_->uses.get();
  const bool uses_parameter = uses != nullptr && kind == Kind::kOpaque && uses->knows_any(in);
  if (uses != nullptr && kind == Kind::kIdentity)
    for (size_t i = 0; i < in.size(); ++i) uses->note_alias(in[i], out[i]);
  Record r;
  r.scope = current_scope_link();
  r.kind = kind;
  for (const Tensor& t : in) r.in.push_back(uses_parameter ? t : make_meta_only(t));
  for (const Tensor& t : out) r.out.push_back(make_meta_only(t));
  const TensorList held(in.begin(), in.end());
  r.custom = [held, out, vjp = vjp](Span<const Tensor> dout, Span<const bool> needs, UseRequest* asked) {
    TensorList din = vjp({held, out, dout, needs, asked});
    for (size_t i = 0; i < din.size() && i < held.size(); ++i) {  // a rule written for float32 may receive half values
      if (din[i].defined() && is_floating(held[i].dtype())) din[i] = ops::cast(din[i], held[i].dtype());
    }
    return din;
  };
  tape->state_->records.push_back(std::move(r));
  return out;
}

TensorList custom_gradient(const TensorFn& f, Span<const Tensor> in,
                           std::function<TensorList(Span<const Tensor>, Span<const Tensor>, Span<const Tensor>)> vjp) {
  const CustomFunction function{.vjp = [vjp = std::move(vjp)](const CustomCall& c) { return vjp(c.in, c.out, c.dout); }};
  return function.run(f, in);
}

PausedTapes::PausedTapes() {
  for (Trace* t = &current_trace(); t != nullptr; t = t->below()) {
    Tape* tape = dynamic_cast<Tape*>(t);
    if (tape == nullptr || tape->state_->paused) continue;
    tape->state_->paused = true;
    paused_.push_back(&tape->state_->paused);
  }
}
PausedTapes::~PausedTapes() {
  for (bool* paused : paused_) *paused = false;
}

// Returns a handle with only t's identity and meta. Also for a traced tensor, which make_meta_only would leave in its graph.
Tensor identity_of(const Tensor& t) {
  auto impl = std::make_shared<TensorImpl>();
  impl->meta = t.meta();
  impl->id = t.id();
  return Tensor(std::move(impl));
}

Tensor fresh_leaf(const Tensor& t) {
  static const CustomFunction identity{.kind = CustomFunction::Kind::kIdentity, .vjp = [](const CustomCall& c) { return TensorList{c.dout[0]}; }};
  const Tensor same = identity.run([](Span<const Tensor> in) { return TensorList{in[0]}; }, {&t, 1})[0];
  return same.id() == t.id() ? make_alias(t) : same;  // it is already separate if a tape has recorded it
}

std::pair<TensorList, Gradients> value_and_grad(const TensorFn& f, Span<const Tensor> in, const std::vector<int>& argnums, Span<Parameter* const> params,
                                                const TensorList& seeds, TapeOptions options) {
  Tape tape(options);
  TensorList out, arguments(in.begin(), in.end()), wrt;
  for (int i : argnums) {
    if (i < 0 || static_cast<size_t>(i) >= in.size()) throw ValueError(fmt::format("value_and_grad: argument {} of {}", i, in.size()));
    Tensor& argument = arguments[static_cast<size_t>(i)];
    // One tensor may be passed twice, or be used in f in addition to the argument.
    if (argument.id() == in[static_cast<size_t>(i)].id()) argument = fresh_leaf(argument);
    wrt.push_back(argument);
  }
  {
    const TraceScope scope(tape);
    out = f(arguments);
  }
  Gradients g = tape.backward(out, seeds, wrt, params);
  return {std::move(out), std::move(g)};
}

TensorFn grad(TensorFn f, std::vector<int> argnums) {
  return [f = std::move(f), argnums = std::move(argnums)](Span<const Tensor> in) {
    std::vector<int> which = argnums;
    if (which.empty())
      for (size_t i = 0; i < in.size(); ++i) which.push_back(static_cast<int>(i));
    return value_and_grad(f, in, which, {}).second.of_inputs;
  };
}

}  // namespace sindri
