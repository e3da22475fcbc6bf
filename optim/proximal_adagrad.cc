// ProximalAdagrad (Duchi and Singer 2009): Adagrad with soft thresholding. Composed of operators.
#include "optim/optimizer_impl.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"

namespace sindri::optim {

namespace {

struct ProximalAdagradOptions {
  double accum = 0.1;  ///< initial sum of squares
  LearningRate learning_rate = 1e-3;
  double l1 = 0, l2 = 0;
  double loss_scale = 1;
  WeightDecay weight_decay = 0;
  GradClip grad_clip = {};
};

// a += g²; s = lr/sqrt(a); v = p - s·g; p = sign(v)·max(|v| - s·l1, 0)/(1 + s·l2). State: accum.<param>.
class ProximalAdagrad final : public Optimizer {
 public:
  using Options = ProximalAdagradOptions;
  ProximalAdagrad(Params params, const Options& o) : Optimizer("ProximalAdagrad", std::move(params), shared_options(o)), o_(o) { init_state(); }

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "accum", .init = o_.accum}}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const UpdateControl& control,
                const std::vector<Parameter*>& state) override {
    const Tensor g = whole_gradient(p, grad, weight_decay, control), sum = ops::add(state[0]->value(), ops::square(g));
    // A sum that is still 0 has only had gradients of 0. No step is made then: lr/sqrt(0) would be infinite, and its product with 0 a NaN.
    const Tensor zero = ops::full({}, 0, p.dtype()), untouched = ops::equal(sum, zero);
    const Tensor scaled = ops::mul(ops::rsqrt(ops::where(untouched, ops::full({}, 1, p.dtype()), sum)), ops::cast(lr, p.dtype()));
    const Tensor step = ops::where(untouched, zero, scaled), v = ops::sub(p.value(), ops::mul(step, g));
    const Tensor shrunk = ops::maximum(ops::sub(ops::abs(v), ops::mul(step, o_.l1)), ops::full({}, 0, p.dtype()));
    return unless_skipped(p, ops::div(ops::mul(ops::sign(v), shrunk), ops::add(ops::mul(step, o_.l2), 1.0)), state, {sum}, control);
  }

 private:
  Options o_;
};

const auto& kProximalAdagrad = optimizers().add({
    .name = "proximal_adagrad",
    .doc = "Adagrad that sets small weights to 0 (Duchi and Singer 2009)",
    .settings = {{.name = "accum", .type = SettingType::kFloat, .fallback = "0.1", .doc = "initial value of the sum of squares", .min = 0},
                 {.name = "l1", .type = SettingType::kFloat, .fallback = "0", .doc = "L1 regularization: weights below this threshold become 0", .min = 0},
                 {.name = "l2", .type = SettingType::kFloat, .fallback = "0", .doc = "L2 regularization", .min = 0},
                 loss_scale_setting()},
    .make = make_from_settings<ProximalAdagrad,
                               [](auto& o, const SettingValues& v) {
                                 o.accum = v.get_float("accum");
                                 o.l1 = v.get_float("l1");
                                 o.l2 = v.get_float("l2");
                               }>,
});

}  // namespace

}  // namespace sindri::optim
