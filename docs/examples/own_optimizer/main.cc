// A custom optimizer and learning-rate schedule, chosen in a settings file like the library's: own_optimizer SETTINGS.yaml [section.key=value ...]
#include <sindri/app/app.h>
#include <sindri/optim/formula.h>
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
    const Tensor g = whole_gradient(p, grad, weight_decay, c);
    const Tensor m = ops::add(ops::mul(state[0]->value(), momentum_), ops::mul(g, 1 - momentum_));
    return unless_skipped(p, ops::sub(p.value(), ops::mul(ops::sign(m), lr)), state, {m}, c);
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

// learning_rate/sqrt(1 + step/decay_steps), written once for tables (double) and traced steps (Tensor).
struct InverseRoot {
  double learning_rate, decay_steps;
  template <class T> T operator()(const T& step) const { return learning_rate / optim::formula::pow(step / decay_steps + 1.0, 0.5); }
};

const auto& kInverseRoot = optim::schedules().add({
    .name = "inverse_root",
    .doc = "lr.max / sqrt(1 + update/decay_steps)",
    .settings = {optim::decay_steps_setting()},
    .make =
        [](const optim::Course& c, const SettingValues& v) {
          return optim::schedule_of(InverseRoot{c.learning_rate, optim::decay_steps(c, v)});
        },
});

}  // namespace

int main(int argc, char** argv) try {
  app::Settings settings;
  if (argc > 1) settings.load_yaml(argv[1]);
  settings.set("optimizer.name=" + kSignum.name);
  settings.set("lr.schedule=" + kInverseRoot.name);
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
