// See monitor_lines.h.
#include "src/app/monitor_lines.h"

#include <fmt/format.h>

#include <utility>

#include "sindri/train/monitor_text.h"
#include "src/core/clock.h"

namespace sindri::app {

namespace {

// Returns the shortest text that reads back as the same float32, as printed by NumPy.
std::string float_text(double loss) {
  const std::string s = fmt::format("{}", static_cast<float>(loss));
  return s.find_first_of(".einf") == std::string::npos ? s + ".0" : s;
}

}  // namespace

MonitorLines::MonitorLines(int64_t every) : every_(every), epoch_start_(now_seconds()) {}

std::string MonitorLines::steps(const train::KnownSteps& known, double loss) {
  const auto steps = static_cast<int64_t>(known.losses.size());
  since_line_ += steps;
  epoch_steps_ += steps;
  last_line_ = train::loss_line(known.epoch, known.step_in_epoch, float_text(loss));
  if (!due(0)) return "";
  since_line_ = 0;
  return std::exchange(last_line_, "");
}

std::vector<std::string> MonitorLines::epoch_end() {
  std::vector<std::string> lines;
  if (!last_line_.empty()) lines.push_back(std::exchange(last_line_, ""));
  const double end = now_seconds();
  if (epoch_steps_ > 0) lines.push_back(train::epoch_time_line("train", (end - epoch_start_) * 1e3, epoch_steps_));
  epoch_start_ = end;
  epoch_steps_ = since_line_ = 0;
  return lines;
}

}  // namespace sindri::app
