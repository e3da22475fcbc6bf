// See optimizer_report.h.
#include "src/app/optimizer_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

namespace sindri::app {

namespace {

double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// On devices that compute beside the host a step's time is that of handing it over, so nothing is said there.
class StepForms final : public train::Callback {
 public:
  explicit StepForms(Session* s) : s_(s) {}
  void step_begin(train::TrainState& state) override {
    form_ = s_->optimizer->variant((state.cur_step_num - 1) / s_->steps_per_update);
    start_ = now_seconds();
  }
  void step_end(train::TrainState&) override {
    if (s_->step_times.size() <= static_cast<size_t>(form_)) s_->step_times.resize(static_cast<size_t>(form_) + 1);
    s_->step_times[static_cast<size_t>(form_)].push_back(static_cast<float>(now_seconds() - start_));
  }

 private:
  Session* s_;
  int form_ = 0;
  double start_ = 0;
};

double median(std::vector<float> v) {
  std::sort(v.begin(), v.end());
  return static_cast<double>(v[v.size() / 2]);
}

}  // namespace

std::shared_ptr<train::Callback> make_step_forms(Session* s) {
  return s->optimizer->variant_name(0).empty() || !current_device().is_cpu() ? nullptr : std::make_shared<StepForms>(s);
}

std::vector<std::string> optimizer_lines(const Session& s) {
  std::vector<std::string> out, forms;
  size_t steps = 0;
  for (size_t form = 0; form < s.step_times.size(); ++form) {
    const std::vector<float>& times = s.step_times[form];
    if (times.empty()) continue;
    steps += times.size();
    forms.push_back(fmt::format("{} that {} of {:.4g} ms", times.size(), s.optimizer->variant_name(static_cast<int>(form)), 1e3 * median(times)));
  }
  if (!forms.empty()) out.push_back(fmt::format("{} steps: {} (medians)", steps, fmt::join(forms, ", ")));
  for (std::string& line : s.optimizer->report()) out.push_back(std::move(line));
  return out;
}

}  // namespace sindri::app
