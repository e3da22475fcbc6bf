// A function as one record that runs again for its gradient. The scope "recompute" keeps the compiler from merging the repeated nodes
// with those of the first pass.
#include "sindri/nn/recompute.h"

#include <map>

#include "sindri/amp/amp.h"
#include "sindri/autograd/grad.h"
#include "sindri/op/bind.h"
#include "sindri/ops/random.h"

namespace sindri::nn {

namespace {

// Parameters as they were when a forward pass began. Under it a repeated pass reads those values and changes none.
class ReplayTrace final : public Trace {
 public:
  explicit ReplayTrace(std::map<Parameter*, Tensor> values) : values_(std::move(values)) {}
  std::vector<Tensor> apply(const OpDef& op, const Attrs& attrs, Span<const Tensor> in, Trace* below) override { return apply_below(below, op, attrs, in); }
  Tensor read(Parameter& p, Trace* below) override {
    const auto it = values_.find(&p);
    return it != values_.end() ? it->second : read_below(below, p);
  }
  void assign(Parameter& p, const Tensor& v, Trace*) override { values_[&p] = v; }

 private:
  std::map<Parameter*, Tensor> values_;
};

}  // namespace

TensorList recompute_function(TensorFn f, Span<const Tensor> in, const std::vector<Parameter*>& params, const std::string& name) {
  const TensorList arguments(in.begin(), in.end());
  std::map<Parameter*, Tensor> before = {{&ops::rng_state(), ops::rng_state().value()}};
  TensorList inputs = arguments;  // the arguments, then the trained parameters
  std::vector<Parameter*> trained;
  for (Parameter* p : params) {
    before[p] = p->value();
    if (!p->requires_grad) continue;
    trained.push_back(p);
    inputs.push_back(before[p]);
  }
  const int64_t instance = ops::rng_instance();
  const auto forward = [&](Span<const Tensor>) { return f(arguments); };
  const auto rule = [f, name, arguments, before, trained, instance, casting = amp::capture()](Span<const Tensor>, Span<const Tensor>, Span<const Tensor> dout) {
    const int64_t next = ops::rng_instance();
    ops::set_rng_instance(instance);
    ReplayTrace replay(before);
    const TraceScope replaying(replay);
    Tape tape;
    TensorList again;
    {
      const TraceScope recording(tape);
      const std::shared_ptr<void> same_casts = casting();
      const NameScope scope("recompute"), own(name);
      again = f(arguments);
    }
    ops::set_rng_instance(next);
    const Gradients g = tape.backward(again, {dout.begin(), dout.end()}, arguments, trained);
    TensorList grads;
    for (const Tensor& t : g.of_inputs) grads.push_back(is_floating(t.dtype()) ? t : Tensor());
    grads.insert(grads.end(), g.of_params.begin(), g.of_params.end());
    return grads;
  };
  return custom_gradient(forward, inputs, rule);
}

}  // namespace sindri::nn
