// See lr_range.h.
#include "sindri/train/lr_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sindri/core/error.h"

namespace sindri::train {

namespace {

constexpr int64_t kLeastSteps = 10;
constexpr double kKept = 0.9;  // weight of the running mean
constexpr double kLeastFall = 0.02;

}  // namespace

LrRange::LrRange(double first, double last, int64_t steps, double stop_factor) : first_(first), last_(last), stop_factor_(stop_factor), steps_(steps) {
  if (!(first > 0 && first < last && std::isfinite(last)))
    throw ValueError(fmt::format("lr_find: rates must rise from a positive one, got {} to {}", first, last), "", "for example 1e-6 to 10");
  if (steps < kLeastSteps) throw ValueError(fmt::format("lr_find: at least {} steps are needed, got {}", kLeastSteps, steps), "", "100 is usual");
  if (!(stop_factor > 1)) throw ValueError(fmt::format("lr_find: stop_factor must be above 1, got {}", stop_factor), "", "4 is usual");
}

double LrRange::rate(int64_t i) const { return first_ * std::pow(last_ / first_, static_cast<double>(i) / static_cast<double>(steps_ - 1)); }

bool LrRange::add(double loss) {
  if (!std::isfinite(loss)) return false;
  losses_.push_back(loss);
  const auto seen = static_cast<double>(losses_.size());
  running_ = kKept * running_ + (1 - kKept) * loss;
  const double mean = running_ / (1 - std::pow(kKept, seen));  // corrects the bias of the zero that it started from
  least_ = losses_.size() == 1 ? mean : std::min(least_, mean);
  const bool ran_away = static_cast<int64_t>(losses_.size()) >= kLeastSteps && mean > stop_factor_ * std::abs(least_);
  return !ran_away && static_cast<int64_t>(losses_.size()) < steps_;
}

std::vector<double> LrRange::smoothed() const {
  const auto count = static_cast<int64_t>(losses_.size()), reach = std::max<int64_t>(1, steps_ / 25);
  std::vector<double> out(losses_.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t side = std::min({reach, i, count - 1 - i});  // the same on both sides, so that a slope keeps its position
    double sum = 0;
    for (int64_t k = i - side; k <= i + side; ++k) sum += losses_[static_cast<size_t>(k)];
    out[static_cast<size_t>(i)] = sum / static_cast<double>(2 * side + 1);
  }
  return out;
}

std::optional<double> LrRange::suggestion() const {
  if (static_cast<int64_t>(losses_.size()) < kLeastSteps) return std::nullopt;
  const std::vector<double> s = smoothed();
  const size_t reach = static_cast<size_t>(std::max<int64_t>(1, steps_ / 25)), least = static_cast<size_t>(std::min_element(s.begin(), s.end()) - s.begin());
  double start = 0;  // mean loss at rates too small to have an effect
  for (size_t i = 0; i < 2 * reach + 1 && i < s.size(); ++i) start += losses_[i] / static_cast<double>(std::min(2 * reach + 1, s.size()));
  if (start - s[least] < kLeastFall * std::abs(start)) return std::nullopt;
  std::optional<size_t> steepest;
  double fall = 0;
  for (size_t i = reach; i + reach < s.size() && i < least; ++i) {
    const double slope = s[i + 1] - s[i - 1];
    if (slope < fall) fall = slope, steepest = i;
  }
  if (!steepest) return std::nullopt;
  return rate(static_cast<int64_t>(*steepest));
}

std::string LrRange::csv() const {
  std::string out = "step,lr,loss,smoothed\n";
  const std::vector<double> s = smoothed();
  for (size_t i = 0; i < s.size(); ++i) out += fmt::format("{},{},{},{}\n", i + 1, rate(static_cast<int64_t>(i)), losses_[i], s[i]);
  return out;
}

}  // namespace sindri::train
