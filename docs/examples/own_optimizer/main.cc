// An optimizer of one's own, chosen in a settings file like those of the library: own_optimizer SETTINGS.yaml [section.key=value ...]
#include <sindri/app/app.h>
#include <sindri/optim/registry.h>
#include <sindri/sindri.h>

#include <cstdio>

using namespace sindri;

namespace {

// p -= lr·sign(m), m = momentum·m + (1 - momentum)·(g + weight_decay·p) (Bernstein et al. 2018).
class Signum final : public optim::Optimizer {
 public:
  Signum(optim::Params params, const optim::OptimizerOptions& o, double momentum) : Optimizer("Signum", std::move(params), o), momentum_(momentum) {
    init_state();
  }

 protected:
  std::vector<Slot> slots() const override { return {{.prefix = "signum_m"}}; }
  Tensor update(const Parameter& p, const Tensor& grad, const Tensor& lr, double weight_decay, const optim::UpdateControl& c,
                const std::vector<Parameter*>& state) override {
    Tensor g = ops::mul(grad, c.grad_scale);
    if (c.inv_scale.defined()) g = ops::mul(g, c.inv_scale);
    g = ops::add(g, ops::mul(p.value(), weight_decay));
    const Tensor old = state[0]->value(), m = ops::add(ops::mul(old, momentum_), ops::mul(g, 1 - momentum_));
    const Tensor moved = ops::sub(p.value(), ops::mul(ops::sign(m), lr));
    state[0]->assign(c.skip.defined() ? ops::where(c.skip, old, m) : m);
    return c.skip.defined() ? ops::where(c.skip, p.value(), moved) : moved;
  }

 private:
  double momentum_;
};

const auto& kSignum = optim::optimizers().add({
    .name = "signum",
    .doc = "steps of one length along the sign of the mean gradient",
    .settings = {{.name = "momentum", .type = SettingType::kFloat, .fallback = "0.95", .doc = "how much of the mean stays", .min = 0, .max = 1}},
    .make = [](optim::Params params, const optim::OptimizerOptions& o, const SettingValues& v) -> std::shared_ptr<optim::Optimizer> {
      return std::make_shared<Signum>(std::move(params), o, v.get_float("momentum"));
    },
});

}  // namespace

int main(int argc, char** argv) try {
  train::Settings settings;
  if (argc > 1) settings.load_yaml(argv[1]);
  settings.set("optimizer.name=" + kSignum.name);
  for (int i = 2; i < argc; ++i) settings.set(argv[i]);
  settings.validate();
  app::TrainRequest request;
  request.program = argv[0];
  request.quiet = true;
  const app::TrainReport report = app::train(settings, request);
  for (const auto& [name, value] : report.metrics) std::printf("%s: %.4f\n", name.c_str(), value);
  return 0;
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
