// Gradient accumulation: one update for the mean gradient of several steps. See README.md.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "sindri/boost/grad_accumulation.h"
#include "sindri/comm/communicator.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/shape.h"
#include "sindri/train/boost.h"

namespace sindri::boost {

namespace {

constexpr const char* kName = "grad_accumulation";

class GradAccumulation final : public train::BoostAlgorithm {
 public:
  GradAccumulation(int64_t steps, bool updates_rest) : steps_(steps), updates_rest_(updates_rest) {}

  std::string name() const override { return kName; }
  std::string idle() const override { return steps_ == 1 ? "step is 1: every step is an update" : ""; }
  int64_t steps_per_update() const override { return steps_; }

  void apply(train::TrainStep& step, const train::BuildContext& context) override {
    if (step.collect) throw ValueError("another training algorithm collects gradients already", kName, "switch one of the two off");
    of_list_ = context.parameters.size();
    for (int64_t list = 0; list < context.gradient_lists; ++list) {  // each virtual rank's mean gradient is reduced over ranks separately
      for (const Parameter* p : context.parameters) {
        const DType dtype = p->dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
        const std::string of_list = list == 0 ? "" : fmt::format("#{}", list);
        sums_.push_back(std::make_unique<Parameter>(Tensor::zeros(p->shape(), dtype), fmt::format("{}.{}{}", kName, p->name(), of_list), false));
      }
    }
    for (const auto& sum : sums_) step.collected.push_back(sum.get());
    step_ = &step;
    step.updates_at = [&step, this](int64_t s) { return in_group(step, s) == steps_ || (updates_rest_ && s == step.last_step); };
    // 0: the step only collects; n > 0: it updates with the gradients of n steps. Each value has its own graph.
    const size_t due = step.add_choice(static_cast<int>(steps_) + 1,
                                       [this](const train::TrainStep& self, int64_t s) { return self.updates(s) ? static_cast<int>(in_group(self, s)) : 0; });
    step.collect = [this, due](train::TrainStep& self, Gradients g, const Tensor& finite) { return collect(std::move(g), finite, self.chosen(due)); };
  }

  // A run may start within a group: a resumed run, or a second run of the same model.
  void on_event(train::Event event, train::TrainState& s) override {
    if (event == train::Event::kEnd) return warn_of_rest();
    if (event != train::Event::kBegin) return;
    const auto counted = static_cast<int64_t>(count_.stored().item());
    step_->steps_before += ((counted - s.cur_step_num - step_->steps_before) % steps_ + steps_) % steps_;
  }

  // Stores the first virtual rank's sums only: before a checkpoint they are the same on all virtual ranks (TrainStep::collected).
  std::vector<Parameter*> state() override {
    std::vector<Parameter*> out;
    for (size_t i = 0; i < of_list_; ++i) out.push_back(sums_[i].get());
    out.insert(out.end(), {&count_, &finite_});
    return out;
  }
  std::vector<Parameter*> own_state() override {
    std::vector<Parameter*> out;
    for (const auto& sum : sums_) out.push_back(sum.get());
    return out;
  }

 private:
  // The position of a step in its group, from 1.
  int64_t in_group(const train::TrainStep& step, int64_t s) const { return (s + step.steps_before) % steps_ + 1; }

  void warn_of_rest() const {
    const auto rest = static_cast<int64_t>(count_.stored().item());
    if (rest == 0 || comm::world().rank() != 0) return;
    log::warn("train",
              fmt::format("the last {} steps changed no weight: an update takes {}; their gradients are in the state that a resumed run continues "
                          "from | boost.{}.rest: update makes the run's last step an update with the gradients collected so far",
                          rest, steps_, kName));
  }

  // due_steps: the number of steps that the update covers; 0: no update.
  std::optional<Gradients> collect(Gradients g, const Tensor& finite, int64_t due_steps) {
    const bool last = due_steps > 0;
    const Tensor all_finite = finite.defined() ? ops::logical_and(finite_.value(), finite) : Tensor();
    std::vector<Parameter*> sums;
    for (const auto& sum : sums_) sums.push_back(sum.get());
    std::optional<Gradients> due = collect_gradients(sums, count_, steps_, std::move(g), last);
    if (all_finite.defined()) finite_.assign(last ? ops::full({}, 1, DType::kBool) : all_finite);
    if (due && due_steps < steps_) {  // gradients were divided by the steps of a whole group
      const double scale = static_cast<double>(steps_) / static_cast<double>(due_steps);
      for (Tensor& gradient : due->of_params) gradient = ops::mul(gradient, scale);
    }
    if (due && all_finite.defined()) due->skip = ops::logical_not(all_finite);
    return due;
  }

  int64_t steps_;
  bool updates_rest_;
  train::TrainStep* step_ = nullptr;
  size_t of_list_ = 0;
  std::vector<std::unique_ptr<Parameter>> sums_;
  Parameter count_{Tensor::scalar(0, DType::kInt32), "accumulation_step", false};
  Parameter finite_{Tensor::scalar(1, DType::kBool), "accumulation_finite", false};  // false once a step of the group overflowed
};

const auto& kGradAccumulation = train::boosts().add({
    .name = kName,
    .doc = "makes one update from the mean gradient of several steps",
    .settings = {{.name = "step",
                  .type = SettingType::kInt,
                  .fallback = "1",
                  .doc = "number of steps per update; the learning-rate schedule counts updates",
                  .min = 1,
                  .max = 65536,
                  .unit = "steps"},
                 {.name = "rest",
                  .type = SettingType::kString,
                  .fallback = "keep",
                  .doc = "gradients left over after the last whole group: kept in the checkpoint for a resumed run, or applied as a final update",
                  .choices = "keep|update"}},
    .make = [](const SettingValues& s) { return std::make_shared<GradAccumulation>(s.get_int("step"), s.get_string("rest") == "update"); },
});

}  // namespace

std::optional<Gradients> collect_gradients(const std::vector<Parameter*>& sums, Parameter& count, int64_t steps, Gradients g, std::optional<bool> last) {
  if (sums.size() != g.of_params.size())
    throw ValueError(fmt::format("{} gradients are given for {} parameters", g.of_params.size(), sums.size()), "collect_gradients");
  Tensor due;  // defined if only the counter, which is on the device, knows whether the update is due
  const Tensor next = ops::add(count.value(), ops::full({}, 1, DType::kInt32));
  if (!last) {
    due = ops::greater_equal(next, ops::full({}, static_cast<double>(steps), DType::kInt32));
    if (!due.is_symbolic()) last = due.item() != 0;
  }
  const auto hand_over = [&](Parameter& p, const Tensor& grown) {
    const Tensor cleared = last == false ? Tensor() : ops::zeros_like(grown);
    p.assign(!last ? ops::where(due, cleared, grown) : *last ? cleared : grown);
  };
  for (size_t i = 0; i < sums.size(); ++i) {
    const Tensor share = ops::div(ops::cast(g.of_params[i], sums[i]->dtype()), static_cast<double>(steps));
    g.of_params[i] = ops::add(sums[i]->value(), share);
    hand_over(*sums[i], g.of_params[i]);
  }
  hand_over(count, next);
  if (last == false) return std::nullopt;
  if (!last) g.skip = ops::logical_not(due);
  return g;
}

}  // namespace sindri::boost
