// ASGD (Polyak and Juditsky 1992): SGD with a falling rate that also averages its weights. Composed of operators.
#include "optim/optimizer_impl.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"

namespace sindri::optim {

namespace {

struct AsgdOptions {
  LearningRate learning_rate = 0.1;
  double lambd = 1e-4, alpha = 0.75, t0 = 1e6;
  double loss_scale = 1;
  WeightDecay weight_decay = 0;
  GradClip grad_clip = {};
};

// p = (1 - lambd·eta)·p - eta·g; ax = p while mu is 1, else ax + mu·(p - ax). Then, with t the number of this update: eta = lr/(1 + lambd·lr·t)^alpha, mu =
// 1/max(1, t - t0). State: ax_.<param> (ax), eta_<param> (0 before the first step, which uses lr), mu_<param>.
class Asgd final : public Optimizer {
 public:
  using Options = AsgdOptions;
  Asgd(Params params, const Options& o) : Optimizer("ASGD", std::move(params), shared_options(o)), o_(o) {
    init_state();
    for (size_t i = 0; i < parameters().size(); ++i) state_of(i)[0]->store(parameters()[i]->stored().clone());
  }
  bool needs_step_count() const override { return true; }

 protected:
  std::vector<Slot> slots() const override {
    return {{.prefix = "ax_"}, {.prefix = "eta", .init = 0, .scalar = true, .joint = "_"}, {.prefix = "mu", .init = 1, .scalar = true, .joint = "_"}};
  }
  void begin_update() override { number_ = update_number(); }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& rate, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override {
    const DType type = p.dtype();
    const auto number = [&](double v) { return ops::full({}, v, type); };
    const Tensor g = whole_gradient(p, grad, weight_decay, control), lr = ops::cast(rate, type), t = ops::cast(number_, type);
    const Tensor before = state[1]->value(), mu = state[2]->value(), ax = state[0]->value();
    const Tensor eta = ops::where(ops::equal(before, number(0)), lr, before);
    const Tensor shrunk = ops::mul(p.value(), ops::sub(number(1), ops::mul(eta, o_.lambd)));
    const Tensor value = ops::sub(shrunk, ops::mul(g, eta));
    const Tensor average = ops::where(ops::equal(mu, number(1)), value, ops::add(ax, ops::mul(ops::sub(value, ax), mu)));
    const Tensor next_eta = ops::div(lr, ops::pow(ops::add(ops::mul(ops::mul(lr, t), o_.lambd), 1.0), number(o_.alpha)));
    const Tensor next_mu = ops::reciprocal(ops::maximum(number(1), ops::sub(t, number(o_.t0))));
    return unless_skipped(p, value, state, {average, next_eta, next_mu}, control);
  }

 private:
  Options o_;
  Tensor number_;
};

const auto& kAsgd = optimizers().add({
    .name = "asgd",
    .doc = "SGD with a decaying rate that also averages its weights (Polyak and Juditsky 1992)",
    .settings =
        {{.name = "lambd", .type = SettingType::kFloat, .fallback = "0.0001", .doc = "weight shrinkage and the decay term of the learning rate", .min = 0},
         {.name = "alpha", .type = SettingType::kFloat, .fallback = "0.75", .doc = "exponent of the learning rate's decay"},
         {.name = "t0", .type = SettingType::kFloat, .fallback = "1e+06", .doc = "update at which averaging of the weights starts", .unit = "updates"},
         loss_scale_setting()},
    .make = make_from_settings<Asgd,
                               [](auto& o, const SettingValues& v) {
                                 o.lambd = v.get_float("lambd");
                                 o.alpha = v.get_float("alpha");
                                 o.t0 = v.get_float("t0");
                               }>,
});

}  // namespace

}  // namespace sindri::optim
