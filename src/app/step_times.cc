// See step_times.h.
#include "src/app/step_times.h"

#include <algorithm>

namespace sindri::app {

namespace {

constexpr double kLeastSeconds = 3, kPartSeconds = 0.6;
constexpr int64_t kLeastSteps = 50, kPartSteps = 10, kLeastParts = 5, kMostParts = 20;
constexpr double kWindowShare = 0.5;  // of the remaining time
// A span lasts at most this share of the time since its end. So it is never longer than one part of a window that reaches back to it.
constexpr double kSpanShare = 1.0 / 32;
constexpr size_t kCompactEvery = 64;

}  // namespace

void StepTimes::add(double seconds, int64_t steps) {
  history_.push_back({seconds, steps});
  if (++added_ >= kCompactEvery) compact();
}

void StepTimes::compact() {
  added_ = 0;
  std::vector<Span> kept;  // newest first
  double age = 0;  // time since the end of `span`
  Span span = history_.back();
  for (size_t i = history_.size() - 1; i-- > 0;) {
    const Span& older = history_[i];
    if (span.seconds + older.seconds <= age * kSpanShare) {
      span.seconds += older.seconds;
      span.steps += older.steps;
      continue;
    }
    kept.push_back(span);
    age += span.seconds;
    span = older;
  }
  kept.push_back(span);
  history_.assign(kept.rbegin(), kept.rend());
}

double StepTimes::expected(int64_t left) const {
  Span window;
  size_t first = history_.size();
  while (first > 0) {
    const double mean = window.steps > 0 ? window.seconds / static_cast<double>(window.steps) : 0;
    const double wanted = std::max(kLeastSeconds, kWindowShare * mean * static_cast<double>(left));
    if (window.steps >= kLeastSteps && window.seconds >= wanted) break;
    --first;
    window.seconds += history_[first].seconds;
    window.steps += history_[first].steps;
  }
  const int64_t by_time = static_cast<int64_t>(std::min(window.seconds / kPartSeconds, static_cast<double>(kMostParts)));
  const int64_t parts = std::max(kLeastParts, std::min(by_time, window.steps / kPartSteps)), size = (window.steps + parts - 1) / parts;
  std::vector<Span> cut;
  Span part;
  for (size_t i = history_.size(); i-- > first;) {  // from the last step on, so that an incomplete part is the oldest
    part.seconds += history_[i].seconds;
    part.steps += history_[i].steps;
    if (part.steps < size && i > first) continue;
    cut.push_back(part);
    part = {};
  }
  std::sort(cut.begin(), cut.end(),
            [](const Span& a, const Span& b) { return a.seconds * static_cast<double>(b.steps) < b.seconds * static_cast<double>(a.steps); });
  const size_t dropped = cut.size() >= 3 ? 1 : 0;
  Span sum;
  for (size_t i = dropped; i < cut.size() - dropped; ++i) {
    sum.seconds += cut[i].seconds;
    sum.steps += cut[i].steps;
  }
  return sum.seconds / static_cast<double>(sum.steps);
}

}  // namespace sindri::app
