// Averaged weights: exponential (EMA) and equal-weight (SWA) averages of the weights during a training run. See README.md.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "sindri/core/error.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/random.h"
#include "sindri/ops/shape.h"
#include "sindri/train/boost.h"

namespace sindri::boost {

namespace {

constexpr const char* kName = "average";
constexpr const char* kCount = "average_count";

struct Options {
  bool exponential = true;
  double decay = 0.999;
  bool warmup = true;
  int64_t start = 0, every = 1;
  bool in_epochs = false;
  int64_t bn_batches = 0;
};

class Average final : public train::BoostAlgorithm {
 public:
  explicit Average(const Options& options) : o_(options) {}

  std::string name() const override { return kName; }

  void apply(train::TrainStep& step, const train::BuildContext& context) override {
    for (const auto& [path, p] : context.network_state) {
      if (!is_floating(p->dtype())) continue;
      averages_.push_back({p, std::make_unique<Parameter>(p->stored().clone(), fmt::format("{}.{}", kName, path), false)});
    }
    if (o_.bn_batches > 0) {
      for (const train::BuildContext::MovingAverage& m : context.moving_averages) {
        const auto it = std::find_if(averages_.begin(), averages_.end(), [&](const Pair& pair) { return pair.of == m.parameter; });
        if (it == averages_.end() || !(m.momentum < 1)) continue;  // with momentum 1 it is never updated, so it stays valid
        it->recalibrated = true;
        moving_.push_back({m, it->average.get()});
      }
    }
    for (const Pair& pair : averages_)
      if (std::find(context.parameters.begin(), context.parameters.end(), pair.of) == context.parameters.end()) of_forward_.push_back(pair.average.get());
    step_ = &step;
    std::optional<size_t> due;
    if (o_.start > 0 || o_.every > 1 || o_.in_epochs)
      due = step.add_choice(2, [this](const train::TrainStep& self, int64_t s) { return is_due(self, s) ? 1 : 0; });
    step.after_apply = [this, due, inner = step.after_apply](train::TrainStep& self, const Tensor& skip) {
      if (inner) inner(self, skip);
      if (!due || self.chosen(*due) == 1) take_in(skip);
    };
  }

  void on_event(train::Event event, train::TrainState& s) override {
    if (event == train::Event::kBegin) {
      steps_per_epoch_ = s.batch_num;
      recalibrated_at_ = -1;
      if (count_.stored().item() == 0) {  // nothing averaged yet: start from the weights, which may have been loaded since apply()
        for (const Pair& pair : averages_) pair.average->store(pair.of->stored().clone());
      }
    }
    // Recalibrates as early as after the last step of an epoch or run, so that checkpoints saved by callbacks include the statistics.
    const bool last = event == train::Event::kStepEnd && (s.epoch_complete || s.stop);
    if (last || event == train::Event::kEpochEnd || event == train::Event::kEnd) recalibrate(s);
  }

  std::vector<Parameter*> state() override {
    std::vector<Parameter*> out;
    for (const Pair& pair : averages_) out.push_back(pair.average.get());
    out.push_back(&count_);
    return out;
  }

  std::vector<Parameter*> follows_forward() override { return of_forward_; }

  train::EventColumns columns(const train::TrainState&) const override { return {{"averaged_updates", count_.stored().item()}}; }

  std::vector<std::pair<Parameter*, Parameter*>> other_weights() override {
    std::vector<std::pair<Parameter*, Parameter*>> out;
    if (count_.stored().item() == 0) return out;  // nothing averaged yet
    for (const Pair& pair : averages_) out.emplace_back(pair.of, pair.average.get());
    return out;
  }

 private:
  struct Pair {
    Parameter* of;
    std::unique_ptr<Parameter> average;
    bool recalibrated = false;  // statistics that are measured, not averaged
  };
  struct Moving {
    train::BuildContext::MovingAverage of;
    Parameter* average;
  };

  // Whether the steps of the update that ends with step s include a multiple of the interval, counted from `start`.
  bool is_due(const train::TrainStep& step, int64_t s) const {
    if (!step.updates(s)) return false;
    const int64_t unit = o_.in_epochs ? std::max<int64_t>(1, steps_per_epoch_) : 1;
    const int64_t every = o_.every * unit, done = s + 1 + step.steps_before - o_.start * unit;
    return done > 0 && done / every > std::max<int64_t>(0, done - step.steps_per_update) / every;
  }

  // average = w·average + (1 - w)·weights. w is 0 for the first update; after n updates it is n/(n + 1) (SWA) or the decay (EMA), which the
  // warm-up limits to (1 + n)/(10 + n).
  void take_in(const Tensor& skip) {
    const Tensor n = ops::cast(count_.value(), DType::kFloat32);
    Tensor keep;
    if (!o_.exponential) {
      keep = ops::div(n, ops::add(n, 1));
    } else {
      keep = ops::full({}, o_.decay, DType::kFloat32);
      if (o_.warmup) keep = ops::minimum(keep, ops::div(ops::add(n, 1), ops::add(n, 10)));
      keep = ops::where(ops::greater(n, ops::full({}, 0, DType::kFloat32)), keep, ops::full({}, 0, DType::kFloat32));
    }
    const Tensor take = ops::sub(ops::full({}, 1, DType::kFloat32), keep);
    const auto write = [&](Parameter& p, const Tensor& value) { p.assign(skip.defined() ? ops::where(skip, p.value(), value) : value); };
    for (const Pair& pair : averages_) {
      if (pair.recalibrated) continue;
      const DType dtype = pair.average->dtype();
      write(*pair.average, ops::add(ops::mul(pair.average->value(), ops::cast(keep, dtype)), ops::mul(pair.of->value(), ops::cast(take, dtype))));
    }
    write(count_, ops::add(count_.value(), ops::full({}, 1, DType::kInt32)));
  }

  // Batch norm's statistics under the averaged weights: the mean of each batch's own statistics (Izmailov et al. 2018, 3.2).
  void recalibrate(train::TrainState& s) {
    if (moving_.empty() || count_.stored().item() == 0 || recalibrated_at_ == s.cur_step_num || !s.open_data) return;
    std::vector<train::BuildContext::MovingAverage> moving;
    for (const Moving& m : moving_) moving.push_back(m.of);
    TensorList measured;
    {
      const train::OtherWeights averaged(*this);
      measured = train::measured_statistics(*step_, moving, s, o_.bn_batches);
    }
    recalibrated_at_ = s.cur_step_num;
    for (size_t i = 0; i < measured.size(); ++i) moving_[i].average->store(measured[i]);
  }

  Options o_;
  train::TrainStep* step_ = nullptr;
  std::vector<Pair> averages_;
  std::vector<Moving> moving_;
  std::vector<Parameter*> of_forward_;
  Parameter count_{Tensor::scalar(0, DType::kInt32), kCount, false};  // number of updates in the average
  int64_t steps_per_epoch_ = 0, recalibrated_at_ = -1;
};

train::BoostAlgorithmPtr make(const SettingValues& s) {
  Options o{.exponential = s.get_string("kind") == "ema",
            .decay = s.get_float("decay"),
            .warmup = s.get_bool("warmup"),
            .start = s.get_int("start"),
            .every = s.get_int("every"),
            .in_epochs = s.get_string("unit") == "epochs",
            .bn_batches = s.get_int("bn_batches")};
  return std::make_shared<Average>(o);
}

using enum SettingType;
const auto& kAverage = train::boosts().add(
    {.name = kName,
     .doc = "keep averages of the weights in addition to the trained ones; train.eval_weights=average evaluates with them",
     .settings = {{.name = "kind",
                   .type = kString,
                   .fallback = "ema",
                   .doc = "ema: exponential moving average with weight 1 - decay for the new weights; swa: equal weights",
                   .choices = "ema|swa"},
                  {.name = "decay", .type = kFloat, .fallback = "0.999", .doc = "ema: weight of the previous average", .min = 0, .max = 0.9999999},
                  {.name = "warmup", .type = kBool, .fallback = "true", .doc = "ema: limit the n-th decay to (1 + n)/(10 + n)"},
                  {.name = "start", .type = kInt, .fallback = "0", .doc = "number of steps or epochs before averaging starts", .min = 0, .max = 1e12},
                  {.name = "every", .type = kInt, .fallback = "1", .doc = "number of steps or epochs between averages", .min = 1, .max = 1e9},
                  {.name = "unit", .type = kString, .fallback = "steps", .doc = "unit of start and every", .choices = "steps|epochs"},
                  {.name = "bn_batches",
                   .type = kInt,
                   .fallback = "0",
                   .doc = "number of training batches used to recompute batch norm's statistics for the averaged weights at the end of every epoch; 0: the "
                          "statistics are averaged, too",
                   .min = 0,
                   .max = 1e9,
                   .unit = "batches"}},
     .facts = {.keeps_weights = true, .weights_count = kCount},
     .make = make});

}  // namespace

}  // namespace sindri::boost
