// See progress.h.
#include "sindri/app/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace sindri::app {

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
  if (per_second >= 1e6) return fmt::format("{:.1f}M", per_second / 1e6);
  if (per_second >= 1e4) return fmt::format("{:.1f}k", per_second / 1e3);
  return fmt::format("{:.{}f}", per_second, per_second < 10 ? 2 : 0);
}

std::string bar_text(double share, size_t width) {
  const auto filled = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
  return "[" + std::string(filled, '=') + (filled < width ? ">" + std::string(width - filled - 1, ' ') : "") + "]";
}

// Lines of at most `width` characters, broken at spaces; what follows the first is indented. A word that is longer stays whole.
std::string folded(const std::string& text, size_t width) {
  std::string out;
  size_t used = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t space = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, space - start);
    if (used > 0 && used + 1 + word.size() > width) {
      out += "\n  " + word;
      used = 2 + word.size();
    } else {
      out += (start > 0 ? " " : "") + word;
      used += (start > 0 ? 1 : 0) + word.size();
    }
    start = space + 1;
  }
  return out;
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

bool Progress::due(double t, int64_t steps) const {
  if (redraws_) return t - last_draw_ >= kRedrawSeconds;
  return options_.log_every > 0 ? steps >= options_.log_every : t - last_plain_ >= kPlainSeconds;
}
bool Progress::due(int64_t unseen) const { return due(now(), steps_since_plain_ + unseen); }

void Progress::step(const StepProgress& s) {
  last_ = s;
  const int64_t steps = std::max<int64_t>(s.steps, 1);
  const double t = now();
  // What callbacks take between two steps counts as well; evaluating and saving are counted apart.
  const double since_last = last_step_end_ >= 0 ? t - last_step_end_ - paused_ : 0;
  last_step_end_ = t;
  paused_ = 0;
  // In sink mode one call covers many steps and only their mean is known.
  if (steps_seen_ + steps > kWarmUpSteps) {
    durations_.push_back(std::max(s.seconds, since_last) / static_cast<double>(steps));
    if (durations_.size() > kMedianOf) durations_.pop_front();
  }
  steps_seen_ += steps;
  steps_since_plain_ += steps;
  if (!due(t, steps_since_plain_)) return;
  if (redraws_) {
    last_draw_ = t;
    draw(compose(terminal_columns(options_.out)));
    return;
  }
  last_plain_ = t;
  steps_since_plain_ = 0;
  std::fprintf(options_.out, "%s\n", compose(0).c_str());
  std::fflush(options_.out);
}

int64_t Progress::total_steps() const {
  const int64_t all = options_.epochs * options_.steps_per_epoch;
  return options_.max_steps > 0 ? std::min(all, options_.max_steps) : all;
}

double Progress::remaining() const {
  if (durations_.empty()) return -1;
  std::vector<double> sorted(durations_.begin(), durations_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const auto steps_left = static_cast<double>(std::max<int64_t>(total_steps() - (last_.epoch - 1) * options_.steps_per_epoch - last_.step, 0));
  const double epochs_left = steps_left / static_cast<double>(std::max<int64_t>(options_.steps_per_epoch, 1));
  const double evaluation = eval_seconds_ >= 0 ? eval_seconds_ : static_cast<double>(options_.eval_steps) * *middle / 3;
  return *middle * steps_left + epochs_left * (options_.evals_per_epoch * evaluation + options_.saves_per_epoch * save_seconds_) +
      (options_.eval_at_end ? evaluation : 0);
}

// The line for a window of that many columns (0: no limit, plain). Where not everything fits, names are cut short first; then parts are
// dropped from the least important on. One column stays free because a character in the last one makes some terminals wrap.
std::string Progress::compose(size_t columns) const {
  struct Part {
    std::string text, brief;
    int rank;  // 0: most important
  };
  const int64_t epochs = (total_steps() + options_.steps_per_epoch - 1) / std::max<int64_t>(options_.steps_per_epoch, 1);
  std::vector<Part> parts;
  const auto add = [&](int rank, const std::string& text, const std::string& brief = "") { parts.push_back({text, brief.empty() ? text : brief, rank}); };
  add(0, fmt::format("epoch {}/{}", last_.epoch, epochs));
  add(1, fmt::format("{}/{}", last_.step, options_.steps_per_epoch));
  add(2, fmt::format("loss {:.4f}", last_.loss));
  if (!last_.metric.empty())
    add(4, fmt::format("{} {:.4f}", last_.metric, last_.metric_value), fmt::format("{} {:.4f}", last_.metric.substr(0, 3), last_.metric_value));
  add(6, fmt::format("lr {:.3g}", last_.lr));
  if (last_.seconds > 0) {
    const std::string rate = rate_text(static_cast<double>(last_.samples) / last_.seconds);
    add(5, rate + " samples/s", rate + "/s");
  }
  if (const double left = remaining(); left >= 0) add(3, "ETA " + duration_text(left));
  const auto join = [&](int highest, bool brief) {
    std::string s;
    for (const Part& p : parts) {
      if (p.rank <= highest) s += (s.empty() ? "" : "  ") + (brief ? p.brief : p.text);
    }
    return s;
  };
  if (columns == 0) return join(6, false);
  const size_t room = columns - 1;
  constexpr size_t kBar = 16, kShortBar = 10, kFrame = 3;  // brackets and a space
  size_t bar = kBar;
  std::string line = join(6, false);
  if (line.size() + bar + kFrame > room) {
    bar = kShortBar;
    line = join(5, true);
  }
  if (line.size() + bar + kFrame > room) {
    bar = 0;
    for (int highest = 6; highest >= 0; --highest) {
      line = join(highest, highest < 6);
      if (line.size() <= room) break;
    }
  }
  line = line.substr(0, room);
  if (bar == 0) return line;
  const double share = static_cast<double>(last_.step) / static_cast<double>(std::max<int64_t>(options_.steps_per_epoch, 1));
  const std::string text = bar_text(share, bar);
  return (color_ ? "\x1b[36m" + text + "\x1b[0m" : text) + " " + line;
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

void Progress::print(const std::string& line) { print_command(redraws_ ? folded(line, terminal_columns(options_.out) - 1) : line); }

void Progress::print_command(const std::string& line) {
  clear();
  std::fprintf(options_.out, "%s\n", line.c_str());
  std::fflush(options_.out);
  last_plain_ = now();
}

void Progress::eval_took(double seconds) {
  eval_seconds_ = seconds;
  paused_ += seconds;
}

void Progress::save_took(double seconds) {
  save_seconds_ = seconds;
  paused_ += seconds;
}

void Progress::phase(const std::string& what) {
  constexpr double kLong = 2;
  if (!redraws_) {
    if (eval_seconds_ > kLong) print(what + " ...");
    return;
  }
  const size_t columns = terminal_columns(options_.out);
  draw((what + " ...").substr(0, columns - 1));
  last_draw_ = now();
}

}  // namespace sindri::app
