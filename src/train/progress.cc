// See progress.h.
#include "sindri/train/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace sindri::train {

namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr double kPlainSeconds = 10;
constexpr size_t kMedianOf = 50;
constexpr int64_t kWarmUpSteps = 2;  // tracing and first-touch memory make them slow

size_t terminal_columns(std::FILE* out) {
  winsize w{};
  if (ioctl(fileno(out), TIOCGWINSZ, &w) == 0 && w.ws_col > 0) return w.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int n = columns != nullptr ? std::atoi(columns) : 0;
  return n > 0 ? static_cast<size_t>(n) : 80;
}

bool is_set(const char* variable) {
  const char* v = std::getenv(variable);
  return v != nullptr && v[0] != '\0';
}

std::string rate_text(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.1f}M samples/s", per_second / 1e6);
  if (per_second >= 1e4) return fmt::format("{:.1f}k samples/s", per_second / 1e3);
  return fmt::format("{:.{}f} samples/s", per_second, per_second < 10 ? 2 : 0);
}

std::string bar_text(double share, size_t width) {
  const auto filled = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
  return "[" + std::string(filled, '=') + (filled < width ? ">" + std::string(width - filled - 1, ' ') : "") + "]";
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<int64_t>(std::llround(std::clamp(seconds, 0.0, 1e9)));
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
  if (s >= 60) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}s", s);
}

Progress::Progress(ProgressOptions options) : options_(std::move(options)) {
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0 || term[0] == '\0';
  redraws_ = !options_.quiet && !dumb && isatty(fileno(options_.out)) == 1;
  color_ = redraws_ && !is_set("NO_COLOR");
  last_plain_ = now();
}

Progress::~Progress() { clear(); }

double Progress::now() const {
  if (options_.clock) return options_.clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Progress::step(const StepProgress& s) {
  last_ = s;
  const int64_t steps = std::max<int64_t>(s.steps, 1);
  // In sink mode one call covers many steps and only their mean is known.
  if (steps_seen_ + steps > kWarmUpSteps) {
    durations_.push_back(s.seconds / static_cast<double>(steps));
    if (durations_.size() > kMedianOf) durations_.pop_front();
  }
  steps_seen_ += steps;
  steps_since_plain_ += steps;
  const double t = now();
  if (redraws_) {
    if (t - last_draw_ < kRedrawSeconds) return;
    last_draw_ = t;
    draw(compose(terminal_columns(options_.out)));
    return;
  }
  const bool due = options_.log_every > 0 ? steps_since_plain_ >= options_.log_every : t - last_plain_ >= kPlainSeconds;
  if (!due) return;
  last_plain_ = t;
  steps_since_plain_ = 0;
  std::fprintf(options_.out, "%s\n", compose(0).c_str());
  std::fflush(options_.out);
}

double Progress::remaining() const {
  if (durations_.empty()) return -1;
  std::vector<double> sorted(durations_.begin(), durations_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double steps_left = static_cast<double>((options_.epochs - last_.epoch) * options_.steps_per_epoch + options_.steps_per_epoch - last_.step);
  const double epochs_left = steps_left / static_cast<double>(std::max<int64_t>(options_.steps_per_epoch, 1));
  return *middle * std::max(steps_left, 0.0) +
      std::max(epochs_left, 0.0) * (options_.evals_per_epoch * eval_seconds_ + options_.saves_per_epoch * save_seconds_);
}

// The line for a window of that many columns (0: no limit, plain). Parts are dropped from the least important until it fits; one
// column stays free because a character in the last one makes some terminals wrap.
std::string Progress::compose(size_t columns) const {
  struct Part {
    std::string text;
    int rank;  // 0: most important
  };
  std::vector<Part> parts = {{fmt::format("epoch {}/{}", last_.epoch, options_.epochs), 0},
                             {fmt::format("{}/{}", last_.step, options_.steps_per_epoch), 1},
                             {fmt::format("loss {:.4f}", last_.loss), 2}};
  if (!last_.metric.empty()) parts.push_back({fmt::format("{} {:.4f}", last_.metric, last_.metric_value), 4});
  parts.push_back({fmt::format("lr {:.3g}", last_.lr), 6});
  if (last_.seconds > 0) parts.push_back({rate_text(static_cast<double>(last_.samples) / last_.seconds), 5});
  if (const double left = remaining(); left >= 0) parts.push_back({"ETA " + duration_text(left), 3});
  const auto join = [&](int highest) {
    std::string s;
    for (const Part& p : parts) {
      if (p.rank <= highest) s += (s.empty() ? "" : "  ") + p.text;
    }
    return s;
  };
  if (columns == 0) return join(6);
  const size_t room = columns - 1;
  std::string line;
  for (int highest = 6; highest >= 0; --highest) {
    line = join(highest);
    if (line.size() <= room) break;
  }
  line = line.substr(0, room);
  constexpr size_t kBar = 16;
  if (line.size() + kBar + 3 <= room) {
    const double share = static_cast<double>(last_.step) / static_cast<double>(std::max<int64_t>(options_.steps_per_epoch, 1));
    const std::string bar = bar_text(share, kBar);
    line = (color_ ? "\x1b[36m" + bar + "\x1b[0m" : bar) + " " + line;
  }
  return line;
}

void Progress::draw(const std::string& line) {
  std::fprintf(options_.out, "\r%s\x1b[K", line.c_str());
  std::fflush(options_.out);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", options_.out);
  std::fflush(options_.out);
  drawn_ = false;
}

void Progress::print(const std::string& line) {
  clear();
  std::fprintf(options_.out, "%s\n", line.c_str());
  std::fflush(options_.out);
  last_plain_ = now();
}

void Progress::phase(const std::string& what) {
  if (!redraws_) {
    print(what + " ...");
    return;
  }
  const size_t columns = terminal_columns(options_.out);
  draw((what + " ...").substr(0, columns - 1));
  last_draw_ = now();
}

}  // namespace sindri::train
