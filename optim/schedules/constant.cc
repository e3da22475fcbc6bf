// One rate for all steps.
#include "sindri/ops/shape.h"
#include "sindri/optim/registry.h"

namespace sindri::optim {

namespace {

class Constant final : public LearningRateSchedule {
 public:
  explicit Constant(double learning_rate) : learning_rate_(learning_rate) {}
  Tensor construct(const Tensor&) const override { return ops::full({}, learning_rate_); }
  double rate(int64_t) const override { return learning_rate_; }
  bool fixed() const override { return true; }

 private:
  double learning_rate_;
};

const auto& kConstant = schedules().add({
    .name = "constant",
    .doc = "lr.max throughout",
    .make = [](const Course& c, const SettingValues&) -> std::shared_ptr<LearningRateSchedule> { return std::make_shared<Constant>(c.learning_rate); },
});

}  // namespace

}  // namespace sindri::optim
