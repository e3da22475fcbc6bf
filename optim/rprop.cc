// Rprop (Riedmiller and Braun 1993): each element adapts its step length to the signs of its gradients.
#include <fmt/format.h>

#include "optim/optimizer_impl.h"
#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"

namespace sindri::optim {

namespace {

struct RpropOptions {
  LearningRate learning_rate = 0.1;  ///< initial step length
  double eta_minus = 0.5, eta_plus = 1.2;
  double step_min = 1e-6, step_max = 50;
  double loss_scale = 1;
  WeightDecay weight_decay = 0;
  GradClip grad_clip = {};
};

void check_range(double shortest, double longest) {
  if (!(shortest <= longest)) throw ValueError(fmt::format("Rprop: step_min {} is above step_max {}", shortest, longest), "step_min");
}

// s *= eta_plus if g has the same sign as the previous gradient; s *= eta_minus if the signs differ, and g counts as 0 for this step and the
// next. s is limited to [step_min, step_max]; p -= sign(g)·s. State: prev.<param> (g), step_size.<param> (s; 0 before the first step).
class Rprop final : public Optimizer {
 public:
  using Options = RpropOptions;
  Rprop(Params params, const Options& o) : Optimizer("Rprop", std::move(params), shared_options(o)), o_(o) {
    check_range(o.step_min, o.step_max);
    init_state();
  }

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "prev"}, {.prefix = "step_size"}}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override {
    const Tensor g = whole_gradient(p, grad, weight_decay, control), before = state[0]->value(), size = state[1]->value();
    const auto number = [&](double v) { return ops::full({}, v, g.dtype()); };
    const Tensor sign = ops::sign(ops::mul(g, before)), turned = ops::less(sign, number(0));
    const Tensor factor = ops::where(turned, number(o_.eta_minus), ops::where(ops::greater(sign, number(0)), number(o_.eta_plus), number(1)));
    const Tensor known = ops::where(ops::equal(size, number(0)), ops::cast(lr, g.dtype()), size);
    const Tensor length = ops::clamp(ops::mul(known, factor), o_.step_min, o_.step_max), kept = ops::where(turned, number(0), g);
    return unless_skipped(p, ops::sub(p.value(), ops::mul(ops::sign(kept), length)), state, {kept, length}, control);
  }

 private:
  Options o_;
};

const auto& kRprop = optimizers().add({
    .name = "rprop",
    .doc = "step sizes grow while the gradient keeps its sign; for full-batch training (Riedmiller and Braun 1993)",
    .settings = {{.name = "eta_minus",
                  .type = SettingType::kFloat,
                  .fallback = "0.5",
                  .doc = "factor of the step size after the gradient changes sign",
                  .min = 1e-30,
                  .max = 0.999999999},
                 {.name = "eta_plus",
                  .type = SettingType::kFloat,
                  .fallback = "1.2",
                  .doc = "factor of the step size while the gradient keeps its sign",
                  .min = 1.000000001},
                 {.name = "step_min", .type = SettingType::kFloat, .fallback = "1e-06", .doc = "smallest step size", .min = 0},
                 {.name = "step_max", .type = SettingType::kFloat, .fallback = "50", .doc = "largest step size", .min = 0},
                 loss_scale_setting()},
    .check = [](const SettingValues& v) { check_range(v.get_float("step_min"), v.get_float("step_max")); },
    .make = make_from_settings<Rprop,
                               [](auto& o, const SettingValues& v) {
                                 o.eta_minus = v.get_float("eta_minus");
                                 o.eta_plus = v.get_float("eta_plus");
                                 o.step_min = v.get_float("step_min");
                                 o.step_max = v.get_float("step_max");
                               }>,
});

}  // namespace

}  // namespace sindri::optim
