// Sharpness-aware minimisation (Foret et al. 2021, arXiv:2010.01412, equations 2 and 3) and its adaptive form (Kwon et al. 2021, arXiv:2102.11600).
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "sindri/ops/reduce.h"
#include "sindri/optim/clip.h"
#include "sindri/train/boost.h"

namespace sindri::boost {

namespace {

class Sam final : public train::BoostAlgorithm {
 public:
  Sam(double rho, bool adaptive, double eta) : rho_(rho), eta_(eta), adaptive_(adaptive) {}

  std::string name() const override { return "sam"; }
  std::string idle() const override { return rho_ == 0 ? "rho is 0: the gradients are those of the weights themselves" : ""; }

  void apply(train::TrainStep& step, const train::BuildContext& context) override {
    weights_ = all_ = context.parameters;
    for (const auto& [path, p] : context.network_state) {
      if (std::find(weights_.begin(), weights_.end(), p) == weights_.end()) all_.push_back(p);
    }
    step.gradients = [this, inner = step.gradients](train::TrainStep& self, const train::TrainStep::Batch& batch) {
      const int64_t drawn = ops::rng_instance();
      auto [loss, gradients] = inner(self, batch);
      TensorList before;  // includes the moving statistics of the first pass
      for (const Parameter* p : all_) before.push_back(p->value());
      const std::shared_ptr<void> restore(nullptr, [&](void*) {  // also runs if the second pass throws
        for (size_t i = 0; i < all_.size(); ++i) {
          if (all_[i]->value().id() != before[i].id()) all_[i]->assign(before[i]);
        }
      });
      const Tensor norm = climb(gradients.of_params);
      ops::set_rng_instance(drawn);  // dropout drops the same units in both passes
      gradients = inner(self, batch).second;
      // The overflow check sees only the second gradients, so they must also report an overflow at the original weights.
      Tensor& last = gradients.of_params.back();
      last = ops::where(ops::all_finite({norm}), last, ops::cast(norm, last.dtype()));
      return std::pair(loss, std::move(gradients));
    };
  }

 private:
  Tensor widened(const Tensor& g, const Tensor& w) const { return adaptive_ ? ops::mul(g, ops::add(ops::abs(w), eta_)) : g; }

  // weights += rho·T²g / ‖T·g‖ with T = 1 or |weights| + eta. A loss scale cancels. Returns the norm.
  Tensor climb(TensorList g) const {
    for (size_t i = 0; i < g.size(); ++i) g[i] = widened(g[i], weights_[i]->value());
    const Tensor norm = optim::global_norm(g);
    const Tensor step = ops::div(ops::scalar_like(norm, rho_), ops::maximum(norm, ops::scalar_like(norm, 1e-30)));
    for (size_t i = 0; i < g.size(); ++i) {
      const Tensor w = weights_[i]->value(), along = ops::mul(widened(g[i], w), ops::cast(step, g[i].dtype()));
      weights_[i]->assign(ops::add(w, ops::cast(along, w.dtype())));
    }
    return norm;
  }

  double rho_, eta_;
  bool adaptive_;
  std::vector<Parameter*> weights_, all_;
};

using enum SettingType;
const auto& kSam = train::boosts().add({
    .name = "sam",
    .doc = "uses the gradients at the worst weights in a ball around the trained ones (sharpness-aware minimization); a step takes two passes",
    .settings = {{.name = "rho", .type = kFloat, .fallback = "0.05", .doc = "radius of the ball; 0: off", .min = 0},
                 {.name = "adaptive", .type = kBool, .fallback = "false", .doc = "scale the ball along each weight by the weight's magnitude"},
                 {.name = "eta", .type = kFloat, .fallback = "0.01", .doc = "added to the magnitude of a weight", .min = 0, .needs = "adaptive"}},
    .make = [](const SettingValues& s) { return std::make_shared<Sam>(s.get_float("rho"), s.get_bool("adaptive"), s.get_float("eta")); },
});

}  // namespace

}  // namespace sindri::boost
