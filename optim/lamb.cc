// Lamb: the direction is one op, which graphs group; norms and the step are composed of other ops. LARS is composed too and runs before another optimizer's
// rule.
#include "sindri/optim/lamb.h"

#include <fmt/format.h>

#include "optim/optimizer_impl.h"
#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/optimizer.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "sindri/optim/momentum.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

// numerator/divisor if both norms are above 0, else 1. A zero divisor is replaced first, since 0/0 in the branch not selected would still be a NaN.
Tensor ratio_of_norms(const Tensor& p_norm, const Tensor& other_norm, const Tensor& numerator, const Tensor& divisor) {
  const Tensor zero = ops::full({}, 0, p_norm.dtype()), one = ops::full({}, 1, p_norm.dtype());
  const Tensor both = ops::logical_and(ops::greater(p_norm, zero), ops::greater(other_norm, zero));
  return ops::where(both, ops::div(numerator, ops::where(both, divisor, one)), one);
}

}  // namespace

Lamb::Lamb(Params params, const Options& o) : Optimizer("Lamb", std::move(params), shared_options(o)), beta1_(o.beta1), beta2_(o.beta2), eps_(o.eps) {
  check_betas("Lamb", beta1_, beta2_, eps_);
  init_state();
}

void Lamb::begin_update() {
  const Tensor step = update_number();
  power1_ = ops::pow(ops::full({}, beta1_, step.dtype()), step);
  power2_ = ops::pow(ops::full({}, beta2_, step.dtype()), step);
}

// Returns the direction.
Tensor Lamb::update(const Parameter& p, const Tensor& grad, const Tensor&, double weight_decay, const UpdateControl& control,
                    const std::vector<Parameter*>& state) {
  return assign_state(state,
                      ops::lamb_direction(p.value(), state[0]->value(), state[1]->value(), grad, power1_, power2_, beta1_, beta2_, eps_, weight_decay,
                                          control.grad_scale, control.inv_scale, control.skip));
}

Tensor Lamb::finish(const Parameter& p, const Tensor& made, const Tensor& lr, const UpdateControl& control) {
  const Tensor old = p.value();
  const Tensor direction = control.decay.defined() ? ops::add(made, ops::mul(old, ops::cast(control.decay, old.dtype()))) : made;
  const Tensor p_norm = ops::norm(old), norm = ops::norm(direction), ratio = ratio_of_norms(p_norm, norm, p_norm, norm);
  const Tensor moved = ops::sub(old, ops::mul(direction, ops::mul(ratio, ops::cast(lr, old.dtype()))));
  return control.skip.defined() ? ops::where(control.skip, old, moved) : moved;
}

namespace {

Optimizer& checked(const std::shared_ptr<Optimizer>& optimizer) {
  if (optimizer == nullptr) throw ValueError("LARS: the optimizer is null");
  if (dynamic_cast<const LARS*>(optimizer.get()) != nullptr) throw ValueError("LARS: the optimizer is a LARS already", "", "wrap it once");
  return *optimizer;
}

}  // namespace

LARS::LARS(std::shared_ptr<Optimizer> optimizer, const Options& o)
    : Optimizer("LARS", checked(optimizer).parameters(), {.learning_rate = 0, .loss_scale = checked(optimizer).base_options().loss_scale}),
      inner_(std::move(optimizer)),
      epsilon_(o.epsilon),
      coefficient_(o.coefficient),
      use_clip_(o.use_clip) {
  if (!(epsilon_ >= 0)) throw ValueError(fmt::format("LARS: epsilon must not be negative, got {}", epsilon_));
  if (!(coefficient_ >= 0)) throw ValueError(fmt::format("LARS: coefficient must not be negative, got {}", coefficient_));
  if (use_clip_ && inner_->impl_->group_lr && inner_->dynamic_lr())
    throw ValueError("LARS: use_clip cannot be combined with learning rates that are both dynamic and per group");
  for (const Parameter* p : parameters()) {
    const std::string& name = p->name();
    filtered_.push_back(o.lars_filter ? o.lars_filter(*p) : name.find("LayerNorm") == std::string::npos && name.find("bias") == std::string::npos);
  }
  inner_->impl_->prepared = true;
}

Tensor lars_gradient(const Tensor& param, const Tensor& grad, const Tensor& weight_decay, const Tensor& lr, double coefficient, double epsilon) {
  const auto times_decay = [&](const Tensor& t) { return ops::mul(t, ops::cast(ops::reshape(weight_decay, Shape{}), t.dtype())); };
  const bool decayed = weight_decay.defined();
  const Tensor p_norm = ops::norm(param), g_norm = ops::norm(grad);
  const Tensor below = ops::add(decayed ? ops::add(g_norm, times_decay(p_norm)) : g_norm, epsilon);
  Tensor factor = ratio_of_norms(p_norm, g_norm, ops::mul(p_norm, coefficient), below);
  if (lr.defined()) factor = ops::minimum(ops::div(factor, ops::cast(lr, factor.dtype())), ops::full({}, 1, factor.dtype()));
  return ops::mul(decayed ? ops::add(grad, times_decay(param)) : grad, factor);
}

TensorList LARS::rescale(const TensorList& grads, const Tensor& inv_scale) {
  inner_->check_gradients(grads);
  const TensorList rates = use_clip_ ? inner_->get_lr() : TensorList{Tensor()}, dynamic = inner_->group_decays();
  const double scale = 1 / inner_->base_options().loss_scale;
  TensorList ready = grads, out;
  for (Tensor& g : ready) g = unscaled(g, scale, inv_scale);
  ready = inner_->clipped(std::move(ready));
  for (size_t i = 0; i < ready.size(); ++i) {
    const Tensor &g = ready[i], param = inner_->parameters()[i]->value();
    Tensor decay = inner_->decays(i) ? dynamic[inner_->impl_->group_of[i]] : Tensor();
    if (const double number = decay.defined() ? 0 : inner_->weight_decay(i); number != 0) decay = ops::full({}, number, param.dtype());
    out.push_back(filtered_[i] ? lars_gradient(param, g, decay, rates[rates.size() == 1 ? 0 : i], coefficient_, epsilon_) : g);
  }
  return out;
}

void LARS::run(const TensorList& grads, const Tensor& inv_scale, const Tensor& skip, const Emit& emit) {
  inner_->run(rescale(grads, inv_scale), {}, skip, emit);
}

Tensor LARS::update(const Parameter&, const Tensor&, const Tensor&, double, const UpdateControl&, const std::vector<Parameter*>&) {
  throw InternalError("LARS has no update rule");
}

namespace {

const auto& kLamb = optimizers().add({
    .name = "lamb",
    .doc = "Adam's direction with steps scaled to the norm of the weights (You et al. 2020)",
    .settings = {beta1_setting(), beta2_setting(), eps_setting("1e-06")},
    .make = make_from_settings<Lamb>,
});

const auto& kLars = optimizers().add({
    .name = "lars",
    .doc = "momentum with gradients scaled to the norm of the weights (You et al. 2017)",
    .settings = {momentum_setting("0.9"),
                 nesterov_setting("momentum"),
                 {.name = "coefficient", .type = SettingType::kFloat, .fallback = "0.001", .doc = "ratio of the step's norm to the weights' norm", .min = 0},
                 {.name = "epsilon", .type = SettingType::kFloat, .fallback = "1e-05", .doc = "keeps the divisor away from 0", .min = 0},
                 {.name = "use_clip", .type = SettingType::kBool, .fallback = "false", .doc = "limit the rescaled step to the length of the unscaled one"},
                 loss_scale_setting()},
    .make = [](Params params, const OptimizerOptions& o, const SettingValues& v) -> std::shared_ptr<Optimizer> {
      const auto options = options_of<MomentumOptions>(o, v, [](MomentumOptions& m, const SettingValues& s) {
        m.momentum = s.get_float("momentum");
        m.use_nesterov = s.get_bool("nesterov");
      });
      const auto inner = std::make_shared<Momentum>(std::move(params), options);
      return std::make_shared<LARS>(
          inner, LARSOptions{.epsilon = v.get_float("epsilon"), .coefficient = v.get_float("coefficient"), .use_clip = v.get_bool("use_clip")});
    },
});

}  // namespace

}  // namespace sindri::optim
