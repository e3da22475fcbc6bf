// See progress.h.
#include "sindri/app/progress.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "src/app/step_times.h"
#include "src/core/live_line.h"
#include "src/core/text_width.h"

namespace sindri::app {

namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr double kPlainSeconds = 10, kLaterPlainSeconds = 60;  // in the first epoch an epoch's duration is not known yet
constexpr double kShortPhase = 0.5;  // phases shorter than this many seconds are not shown
constexpr int64_t kWarmUpSteps = 2;  // tracing and first-touch memory make them slow
constexpr size_t kPauses = 5;  // estimates average this many latest evaluations, checkpoints and starts of epochs, each kind separately

void keep_last(std::deque<double>* pauses, double seconds) {
  pauses->push_back(seconds);
  if (pauses->size() > kPauses) pauses->pop_front();
}
double mean_of(const std::deque<double>& pauses) {
  double sum = 0;
  for (const double seconds : pauses) sum += seconds;
  return pauses.empty() ? 0 : sum / static_cast<double>(pauses.size());
}

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

// Launchers such as mpirun give their ranks pseudo-terminals, whose output is logged.
bool launched_as_rank() {
  static constexpr const char* kVariables[] = {"SINDRI_RANK", "RANK", "RANK_ID", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "MS_ROLE"};
  return std::any_of(std::begin(kVariables), std::end(kVariables), [](const char* name) { return is_set(name); });
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

// fold_columns() for a line that ends in a shell command: continuation lines follow a backslash, so that it can be copied. Quoted words stay whole.
std::string folded_command(const std::string& text, size_t width) {
  std::string out, word;
  size_t used = 0;
  bool quoted = false;
  const auto put = [&] {
    const size_t columns = text_columns(word);
    if (used > 0 && used + 1 + columns + 2 > width) {  // two for the next backslash
      out += " \\\n  " + word;
      used = 2 + columns;
    } else {
      out += (out.empty() ? "" : " ") + word;
      used += (used > 0 ? 1 : 0) + columns;
    }
    word.clear();
  };
  for (const char c : text) {
    if (c == '\'') quoted = !quoted;
    if (c == ' ' && !quoted) put();
    else word += c;
  }
  put();
  return out;
}

}  // namespace

// The cursor stays at the start of the line. If a narrower window wraps the line, all of it is at and below the cursor and can be erased from there. This also
// holds for terminals that do not wrap.
class Progress::Screen final : public LiveLine {
 public:
  explicit Screen(std::FILE* out) : out_(out) {
    const std::lock_guard lock(terminal_mutex());
    set_live_line(this);
  }
  ~Screen() override {
    const std::lock_guard lock(terminal_mutex());
    hide_line();
    if (live_line() == this) set_live_line(nullptr);
  }
  void draw(const std::string& line) {
    const std::lock_guard lock(terminal_mutex());
    std::fprintf(out_, "\r%s\x1b[J\r", line.c_str());
    std::fflush(out_);
    drawn_ = true;
  }
  // Prints a permanent line, and the live one below it again.
  void write(const std::string& line, const std::string& live) {
    const std::lock_guard lock(terminal_mutex());
    std::fprintf(out_, "%s%s\n", drawn_ ? "\r\x1b[J" : "", line.c_str());
    if (!live.empty()) std::fprintf(out_, "%s\r", live.c_str());
    std::fflush(out_);
    drawn_ = !live.empty();
  }
  void hide() {
    const std::lock_guard lock(terminal_mutex());
    hide_line();
  }
  void hide_line() noexcept override {
    if (!drawn_) return;
    std::fputs("\r\x1b[J", out_);
    std::fflush(out_);
    drawn_ = false;
  }

 private:
  std::FILE* out_;
  bool drawn_ = false;
};

std::string duration_text(double seconds) {
  const auto s = static_cast<int64_t>(std::llround(std::clamp(seconds, 0.0, 1e9)));
  if (s >= 3600) return fmt::format("{}h{:02}m", s / 3600, s % 3600 / 60);
  if (s >= 60) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}s", s);
}

std::string epoch_text(const EpochProgress& e) {
  std::vector<std::string> parts;
  if (e.has_loss) parts.push_back(fmt::format("loss {:.4f}", e.loss));
  for (const auto& [name, value] : e.metrics) parts.push_back(fmt::format("{} {:.4f}", name, value));
  if (e.samples_per_second > 0) parts.push_back(fmt::format("{:.0f} samples/s", e.samples_per_second));
  if (e.device_bytes > 0) parts.push_back(fmt::format("device memory {:.2f} GB", static_cast<double>(e.device_bytes) * 1e-9));
  return fmt::format("epoch {}/{}{}{}", e.epoch, e.epochs, parts.empty() ? "" : ": ", fmt::join(parts, ", "));
}

Progress::Progress(ProgressOptions options) : options_(std::move(options)), step_times_(std::make_unique<StepTimes>()) {
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0 || term[0] == '\0';
  redraws_ = options_.out != nullptr && !options_.quiet && !dumb && !launched_as_rank() && isatty(fileno(options_.out)) == 1;
  color_ = redraws_ && !is_set("NO_COLOR");
  if (redraws_) screen_ = std::make_unique<Screen>(options_.out);
  last_plain_ = now();
}

Progress::~Progress() = default;

double Progress::now() const {
  if (options_.clock) return options_.clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool Progress::due(double t, int64_t steps) const {
  if (redraws_ || options_.out == nullptr) return t - last_draw_ >= kRedrawSeconds;
  if (options_.log_every > 0) return steps >= options_.log_every;
  return t - last_plain_ >= (last_.epoch > 1 && steps_seen_ > options_.steps_per_epoch ? kLaterPlainSeconds : kPlainSeconds);
}
bool Progress::due(int64_t unseen) const { return due(now(), steps_since_plain_ + unseen); }

// Records the data for estimates of the remaining time.
void Progress::follow(const StepProgress& s, double t) {
  const int64_t steps = std::max<int64_t>(s.steps, 1);
  // Time in callbacks between two steps counts as well; evaluating and saving are counted separately.
  const double since_last = last_step_end_ >= 0 ? t - last_step_end_ - paused_ : 0;
  const bool turned = steps_seen_ > 0 && s.epoch != last_.epoch;
  last_step_end_ = t;
  paused_ = 0;
  steps_seen_ += steps;
  if (steps_seen_ - steps < kWarmUpSteps) return;
  double seconds = std::max(s.seconds, since_last);
  if (turned && !step_times_->empty()) {
    // The first step of an epoch waits for the epoch's start, which is timed separately.
    const double usual = step_times_->expected(0) * static_cast<double>(steps);
    keep_last(&turns_, std::max(0.0, seconds - usual));
    seconds = std::min(seconds, usual);
  }
  step_times_->add(seconds, steps);
}

void Progress::step(const StepProgress& s) {
  const double t = now();
  follow(s, t);
  last_ = s;
  stepped_ = true;
  steps_since_plain_ += std::max<int64_t>(s.steps, 1);
  if (!due(t, steps_since_plain_)) return;
  steps_since_plain_ = 0;
  if (redraws_) {
    draw(compose(terminal_columns(options_.out), color_));
  } else if (options_.out != nullptr) {
    write(compose(0, false));
  } else {
    last_draw_ = t;
  }
}

int64_t Progress::total_steps() const {
  const int64_t all = options_.epochs * options_.steps_per_epoch;
  return options_.max_steps > 0 ? std::min(all, options_.max_steps) : all;
}

// The first evaluation also compiles. So its time counts only up to the time of the same number of training steps.
double Progress::eval_seconds(double step) const {
  const double batches = static_cast<double>(options_.eval_steps) * step;
  if (evaluations_ == 0) return batches / 3;
  if (evaluations_ > 1) return mean_of(evals_);
  return options_.eval_steps > 0 ? std::min(eval_seconds_, batches) : eval_seconds_;
}

double Progress::remaining() const {
  if (step_times_->empty()) return -1;
  const int64_t total = total_steps(), done = std::min(steps_done(), total), per_epoch = std::max<int64_t>(options_.steps_per_epoch, 1);
  // Counts the events of the present epoch (or of the one that ended with the last step) and later ones as remaining.
  const auto left = [&](int64_t epochs) { return epochs > 0 ? total / per_epoch / epochs - (last_.epoch - 1) / epochs : 0; };
  const int64_t evals = left(options_.eval_every) + (options_.eval_at_end && (options_.eval_every == 0 || total % (options_.eval_every * per_epoch) != 0));
  const int64_t every = options_.save_every_steps, saves = left(options_.save_every) + (every > 0 ? total / every - done / every : 0);
  const double step = step_times_->expected(total - done);
  const int64_t turns = (total - 1) / per_epoch - (last_.epoch - 1);
  return step * static_cast<double>(total - done) + static_cast<double>(evals) * eval_seconds(step) + static_cast<double>(saves) * mean_of(saves_) +
      static_cast<double>(std::max<int64_t>(turns, 0)) * mean_of(turns_);
}

// Returns the line for a window of that many columns (0: no limit, plain). If not everything fits, names are shortened first, and the bar with them; then parts
// are dropped, least important first. One column stays free because a character in the last one makes some terminals wrap.
std::string Progress::compose(size_t columns, bool color) const {
  struct Part {
    std::string text, brief;
    int rank;  // 0: most important
  };
  const int64_t per_epoch = std::max<int64_t>(options_.steps_per_epoch, 1), epochs = (total_steps() + per_epoch - 1) / per_epoch;
  // The last epoch may be shortened.
  const int64_t steps = std::max(last_.step, std::min(per_epoch, total_steps() - (last_.epoch - 1) * per_epoch));
  std::vector<Part> parts;
  const auto add = [&](int rank, const std::string& text, const std::string& brief = "") { parts.push_back({text, brief.empty() ? text : brief, rank}); };
  add(0, fmt::format("epoch {}/{}", last_.epoch, epochs));
  add(1, fmt::format("{}/{}", last_.step, steps));
  if (last_.has_loss) add(2, fmt::format("loss {:.4f}", last_.loss));
  if (!last_.metric.empty())
    add(4, fmt::format("{} {:.4f}", last_.metric, last_.metric_value), fmt::format("{} {:.4f}", fit_columns(last_.metric, 3), last_.metric_value));
  if (last_.lr >= 0) add(6, fmt::format("lr {:.3g}", last_.lr));
  if (last_.seconds > 0 && last_.samples > 0) {
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
  struct Form {
    int highest;
    bool brief;
    size_t bar;  // the least width
  };
  constexpr Form kForms[] = {{6, false, 10}, {6, true, 6}, {5, true, 6}, {4, true, 0}, {3, true, 0}, {2, true, 0}, {1, true, 0}, {0, true, 0}};
  constexpr size_t kBars[] = {24, 16, 10, 6}, kFrame = 3;  // brackets and a space
  const size_t room = columns - 1;
  std::string line;
  size_t bar = 0;
  for (const Form& form : kForms) {
    line = join(form.highest, form.brief);
    const size_t used = text_columns(line);
    bar = 0;
    for (const size_t wide : kBars) {
      if (wide <= (columns >= 160 ? 24 : 16) && used + wide + kFrame <= room) {
        bar = wide;
        break;
      }
    }
    if (form.bar == 0 ? used <= room : bar >= form.bar) break;
  }
  line = fit_columns(line, room);
  if (bar == 0) return line;
  const double share = static_cast<double>(last_.step) / static_cast<double>(steps);
  const std::string text = bar_text(share, bar);
  return (color ? "\x1b[36m" + text + "\x1b[0m" : text) + " " + line;
}

void Progress::draw(const std::string& line) {
  last_draw_ = now();
  if (!held_) screen_->draw(line);
}

void Progress::hide() {
  if (screen_) screen_->hide();
}

void Progress::finish() {
  stepped_ = false;
  hide();
}

void Progress::write(const std::string& line) {
  if (options_.out == nullptr) return;
  last_plain_ = now();
  steps_since_plain_ = 0;
  if (screen_) return screen_->write(line, stepped_ && !held_ ? compose(terminal_columns(options_.out), color_) : "");
  std::fprintf(options_.out, "%s\n", line.c_str());
  std::fflush(options_.out);
}

void Progress::print(const std::string& line) { write(redraws_ ? fold_columns(line, terminal_columns(options_.out) - 1) : line); }

void Progress::print_command(const std::string& label, const std::string& command) {
  const std::string whole = label + command;
  const size_t width = redraws_ ? terminal_columns(options_.out) - 1 : 0;
  // The label is not part of the copied command: if the line is too long, it gets a separate line.
  write(!redraws_ || text_columns(whole) <= width ? whole : label.substr(0, label.find_last_not_of(' ') + 1) + "\n  " + folded_command(command, width - 2));
}

void Progress::eval_took(double seconds) {
  eval_seconds_ = seconds;
  if (++evaluations_ > 1) keep_last(&evals_, seconds);
  paused_ += seconds;
}

void Progress::save_took(double seconds) {
  keep_last(&saves_, seconds);
  paused_ += seconds;
}

void Progress::phase(const std::string& what) {
  if (!redraws_) {
    if (eval_seconds_ > kLaterPlainSeconds) print(what + " ...");
    return;
  }
  if (!step_times_->empty() && eval_seconds(step_times_->expected(0)) < kShortPhase) return;
  draw(fit_columns(what + " ...", terminal_columns(options_.out) - 1));
}

}  // namespace sindri::app
