// Makes a function one record of the tape; backward runs the function again to compute its gradient. The scope
// "recompute" keeps the compiler from merging the repeated nodes with those of the first pass. The record's inputs are
// all that the first pass reads: arguments, Parameters of any Cell, and tensors from outside that the function holds
// (keyword arguments, values of an enclosing function). Each occurs once, however often it is read: the gradient of an
// input is that of all its uses.
#include "sindri/nn/recompute.h"

#include <map>
#include <set>
#include <unordered_set>

#include "sindri/amp/amp.h"
#include "sindri/autograd/grad.h"
#include "sindri/op/bind.h"
#include "sindri/ops/random.h"
#include "src/autograd/custom_function.h"
#include "src/autograd/uses.h"

namespace sindri::nn {

namespace {

using Values = std::map<Parameter*, Tensor>;

// Restores Parameters to their values at the start of the forward pass: a repeated pass under this interpreter reads those values and changes no Parameter.
class ReplayTrace final : public Trace {
 public:
  explicit ReplayTrace(Values values) : values_(std::move(values)) {}
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) override { return apply_below(below, op, attrs, in); }
  Tensor read(Parameter& p, Trace* below) override {
    const auto it = values_.find(&p);
    return it != values_.end() ? it->second : read_below(below, p);
  }
  void assign(Parameter& p, const Tensor& v, Trace*) override { values_[&p] = v; }

 private:
  Values values_;
};

// Records what the first pass reads. The values of Parameters go into `before`; Parameters that were not yet in
// `before` are also appended to `read`. Floating-point tensors that the pass did not make go into `outside`.
class FirstPass final : public Trace {
 public:
  FirstPass(Values* before, std::vector<Parameter*>* read, TensorList* outside) : before_(*before), read_(*read), outside_(*outside) {
    for (const auto& [p, value] : before_) known_.insert(value.id());
    for (const Tensor& t : outside_) known_.insert(t.id());
  }
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) override {
    for (const Tensor& t : in)
      if (known_.insert(t.id()).second && is_floating(t.dtype())) outside_.push_back(t);
    std::vector<Tensor> out = apply_below(below, op, attrs, in);
    for (const Tensor& t : out) known_.insert(t.id());
    return out;
  }
  Tensor read(Parameter& p, Trace* below) override {
    Tensor v = read_below(below, p);
    known_.insert(v.id());
    if (!assigned_.contains(&p) && before_.emplace(&p, v).second) read_.push_back(&p);
    return v;
  }
  void assign(Parameter& p, const Tensor& v, Trace* below) override {
    assigned_.insert(&p);
    known_.insert(v.id());
    assign_below(below, p, v);
  }

 private:
  Values& before_;
  std::vector<Parameter*>& read_;
  TensorList& outside_;
  std::unordered_set<uint64_t> known_;  // arguments, values read, results
  std::set<Parameter*> assigned_;
};

}  // namespace

TensorList recompute_function(TensorFn f, Span<const Tensor> in, const std::vector<Parameter*>& params, const std::string& name) {
  const TensorList arguments(in.begin(), in.end());
  Values before = {{&ops::rng_state(), ops::rng_state().value()}};
  std::vector<Parameter*> read = params;
  for (Parameter* p : params) before[p] = p->value();
  const int64_t instance = ops::rng_instance();
  const auto casting = amp::capture();
  TensorList inputs, out;  // inputs: the tensors, each once, then the trained parameters
  std::unordered_set<uint64_t> listed;
  for (const Tensor& t : arguments)
    if (t.defined() && listed.insert(t.id()).second) inputs.push_back(t);
  {
    const PausedTapes paused;
    if (!paused.any()) return f(arguments);
    FirstPass first(&before, &read, &inputs);
    const TraceScope noting(first);
    out = f(arguments);
  }
  const TensorList tensors = inputs;
  for (const Tensor& t : tensors) listed.insert(t.id());
  std::vector<Parameter*> trained;
  for (Parameter* p : read) {
    if (!p->requires_grad || listed.contains(before.at(p).id())) continue;  // skipped too if the value is also an argument, whose gradient covers it
    trained.push_back(p);
    inputs.push_back(p->value());
  }
  const auto rule = [f, name, arguments, tensors, before, trained, instance, casting](const CustomCall& call) {
    const int64_t next = ops::rng_instance();
    ops::set_rng_instance(instance);
    ReplayTrace replay(before);
    const TraceScope replaying(replay);
    Tape tape;
    if (call.uses != nullptr) call.uses->inform(&tape, tensors);
    TensorList again;
    {
      const TraceScope recording(tape);
      const std::shared_ptr<void> same_casts = casting();
      const NameScope scope("recompute"), own(name);
      again = f(arguments);
    }
    ops::set_rng_instance(next);
    TensorList wanted;
    std::vector<Parameter*> wanted_params;
    for (size_t i = 0; i < tensors.size(); ++i)
      if (call.needs[i]) wanted.push_back(tensors[i]);
    for (size_t i = 0; i < trained.size(); ++i)
      if (call.needs[tensors.size() + i]) wanted_params.push_back(trained[i]);
    Gradients g = tape.backward(again, {call.dout.begin(), call.dout.end()}, wanted, wanted_params);
    if (call.uses != nullptr) call.uses->add(std::move(g.uses));
    TensorList grads;
    auto of_input = g.of_inputs.begin();
    auto of_param = g.of_params.begin();
    for (size_t i = 0; i < call.needs.size(); ++i) grads.push_back(!call.needs[i] ? Tensor() : i < tensors.size() ? *of_input++ : *of_param++);
    return grads;
  };
  const CustomFunction function{.kind = CustomFunction::Kind::kComputedAgain, .vjp = rule};
  return function.run([&](Span<const Tensor>) { return out; }, inputs);
}

}  // namespace sindri::nn
