// Adaptive gradient clipping (Brock et al. 2021, arXiv:2102.06171, equation 3).
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sindri/ops/elementwise.h"
#include "sindri/ops/reduce.h"
#include "sindri/train/boost.h"

namespace sindri::boost {

namespace {

// Norms of t's units: the rows of dimension 0; for vectors and scalars the whole tensor. Broadcasts against t.
Tensor unit_norm(const Tensor& t) {
  ops::Axes axes;
  for (int64_t d = t.rank() > 1 ? 1 : 0; d < t.rank(); ++d) axes.push_back(d);
  return ops::norm(t, 2, axes, true);
}

class AdaptiveClip final : public train::BoostAlgorithm {
 public:
  AdaptiveClip(double clipping, double eps, std::string except) : clipping_(clipping), eps_(eps), except_(std::move(except)) {}

  std::string name() const override { return "adaptive_clip"; }

  void apply(train::TrainStep& step, const train::BuildContext& context) override {
    parameters_ = context.parameters, loss_scale_ = context.loss_scale;
    step.transform_gradients = [this, inner = step.transform_gradients](Gradients g) {
      for (size_t i = 0; i < parameters_.size(); ++i) {
        if (!left_out(*parameters_[i])) g.of_params[i] = clipped(g.of_params[i], parameters_[i]->value(), g.inv_scale);
      }
      return inner ? inner(std::move(g)) : g;
    };
  }

 private:
  bool left_out(const Parameter& p) const { return !except_.empty() && p.name().find(except_) != std::string::npos; }

  // g·min(1, clipping·max(‖w‖, eps) / ‖g‖) per unit. inv_scale removes the loss scale, which multiplies the gradient's norm.
  Tensor clipped(const Tensor& g, const Tensor& w, const Tensor& inv_scale) const {
    Tensor norm = unit_norm(g);
    if (inv_scale.defined()) norm = ops::mul(norm, ops::cast(inv_scale, g.dtype()));
    if (loss_scale_ != 1) norm = ops::div(norm, loss_scale_);
    const Tensor of_weights = ops::cast(unit_norm(w), g.dtype());
    const Tensor most = ops::mul(ops::maximum(of_weights, ops::scalar_like(of_weights, eps_)), clipping_);
    return ops::where(ops::greater(norm, most), ops::mul(g, ops::div(most, norm)), g);
  }

  double clipping_, eps_, loss_scale_ = 1;
  std::string except_;
  std::vector<Parameter*> parameters_;
};

using enum SettingType;
const auto& kAdaptiveClip = train::boosts().add({
    .name = "adaptive_clip",
    .doc = "limits each unit's gradient norm to a share of its weight norm",
    .settings = {{.name = "clipping", .type = kFloat, .fallback = "0.01", .doc = "largest ratio of a unit's gradient norm to its weight norm", .min = 1e-12},
                 {.name = "eps", .type = kFloat, .fallback = "1e-3", .doc = "lower bound of the weight norm", .min = 1e-12},
                 {.name = "except",
                  .type = kString,
                  .fallback = "",
                  .doc = "parameters whose names contain this text are not clipped, such as those of the last layer"}},
    .make = [](const SettingValues& s) { return std::make_shared<AdaptiveClip>(s.get_float("clipping"), s.get_float("eps"), s.get_string("except")); },
});

}  // namespace

}  // namespace sindri::boost
