// Lookahead (Zhang et al. 2019, arXiv:1907.08610): after every `every` updates slow = slow + alpha·(fast - slow), and training continues from slow.
#include <sindri/ops/elementwise.h>
#include <sindri/train/boost.h>

namespace {

using namespace sindri;

class Lookahead final : public train::BoostAlgorithm {
 public:
  Lookahead(int64_t every, double alpha) : every_(every), alpha_(alpha) {}

  std::string name() const override { return "lookahead"; }
  std::string idle() const override { return alpha_ == 1 ? "alpha is 1: the weights go where the optimizer takes them" : ""; }

  void apply(train::TrainStep& step, const train::BuildContext& context) override {
    fast_ = context.parameters;
    for (const Parameter* p : fast_) slow_.push_back(std::make_unique<Parameter>(p->stored().clone(), "lookahead." + p->name(), false));
    // Two graphs: the host knows which steps end with a slow update.
    const size_t due = step.add_choice(
        2, [this](const train::TrainStep& self, int64_t s) { return self.updates(s) && (s + 1) / self.steps_per_update % every_ == 0 ? 1 : 0; });
    step.after_apply = [this, due, inner = step.after_apply](train::TrainStep& self, const Tensor& skip) {
      if (self.chosen(due) == 1) catch_up(skip);
      if (inner) inner(self, skip);
    };
  }

  // The weights may have been loaded since apply(); those of a resumed training are in its checkpoint.
  void on_event(train::Event event, train::TrainState& s) override {
    if (event != train::Event::kBegin || s.cur_step_num > 0) return;
    for (size_t i = 0; i < fast_.size(); ++i) slow_[i]->store(fast_[i]->stored().clone());
  }

  std::vector<Parameter*> state() override {
    std::vector<Parameter*> out;
    for (const auto& p : slow_) out.push_back(p.get());
    return out;
  }

 private:
  void catch_up(const Tensor& skip) {
    for (size_t i = 0; i < fast_.size(); ++i) {
      const Tensor slow = slow_[i]->value(), fast = fast_[i]->value();
      Tensor next = ops::add(slow, ops::mul(ops::sub(fast, slow), alpha_));
      if (skip.defined()) next = ops::where(skip, fast, next);  // a skipped update changes nothing
      fast_[i]->assign(next);
      slow_[i]->assign(skip.defined() ? ops::where(skip, slow, next) : next);
    }
  }

  int64_t every_;
  double alpha_;
  std::vector<Parameter*> fast_;
  std::vector<std::unique_ptr<Parameter>> slow_;
};

const auto& kLookahead = train::boosts().add({
    .name = "lookahead",
    .doc = "slow weights that follow the optimizer's weights and then replace them",
    .settings =
        {{.name = "every", .type = SettingType::kInt, .fallback = "5", .doc = "number of updates between synchronisations", .min = 1, .max = 1e6},
         {.name = "alpha", .type = SettingType::kFloat, .fallback = "0.5", .doc = "share of the distance that the slow weights move", .min = 0, .max = 1}},
    .make = [](const SettingValues& s) { return std::make_shared<Lookahead>(s.get_int("every"), s.get_float("alpha")); },
});

}  // namespace
