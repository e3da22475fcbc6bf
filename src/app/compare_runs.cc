// See sindri/app/compare_runs.h.
#include "sindri/app/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sindri/app/plot.h"
#include "sindri/app/settings.h"
#include "sindri/core/error.h"
#include "src/core/replaceable.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace {

using nlohmann::json;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Epoch {
  double train_loss = kNone, accuracy = kNone, eval_loss = kNone;
  double first = kNone, last = kNone;  ///< times of its first and last step
  double step = kNone;  ///< the run's step number at the end of the epoch
  int64_t steps = 0;
  bool done = false;
  // No timestamp precedes the first step, so its duration is taken as the mean of the others.
  double seconds() const { return steps > 1 ? (last - first) * static_cast<double>(steps) / static_cast<double>(steps - 1) : 0; }
};

double number(const json& line, const char* key) {
  const auto it = line.find(key);
  return it != line.end() && it->is_number() ? it->get<double>() : kNone;
}

void take(const json& line, std::map<int64_t, Epoch>* epochs) {
  const std::string event = line.value("event", "");
  const int64_t number_of = line.value("epoch", int64_t{0});
  if (number_of < 1 || (event != "step" && event != "epoch")) return;
  Epoch& e = (*epochs)[number_of];
  if (event == "step") {
    if (e.done || !std::isfinite(e.first)) e = Epoch{.first = number(line, "time")};  // repeated, from an older checkpoint
    e.last = number(line, "time");
    ++e.steps;
    return;
  }
  e.train_loss = number(line, "train_loss"), e.accuracy = number(line, "eval_accuracy"), e.eval_loss = number(line, "eval_loss");
  e.step = number(line, "step");
  e.done = true;
}

std::string file_of(const std::string& folder, const char* name) {
  const std::string path = folder + "/" + name;
  if (!std::filesystem::exists(path)) throw IoError(fmt::format("{} does not exist", name), path, "name a run folder (train.run_dir)");
  return path;
}

std::optional<size_t> first_of(const std::vector<double>& values, const std::function<bool(double)>& reached) {
  for (size_t i = 0; i < values.size(); ++i)
    if (reached(values[i])) return i;
  return {};
}

double best(const std::vector<double>& values) {
  double top = kNone;
  for (const double v : values)
    if (std::isfinite(v) && !(top >= v)) top = v;
  return top;
}

json or_null(double v) { return std::isfinite(v) ? json(v) : json(nullptr); }
template <class T> json or_null(const std::optional<T>& v) { return v ? json(*v) : json(nullptr); }

}  // namespace

RunHistory read_run_history(const std::string& folder) {
  Settings settings;
  settings.load_yaml(file_of(folder, "config.resolved.yaml"));
  const std::string path = file_of(folder, "metrics.jsonl");
  std::istringstream lines(train::read_small_file(path, int64_t{1} << 30, "metrics.jsonl"));
  std::map<int64_t, Epoch> epochs;
  for (std::string text; std::getline(lines, text);) {
    const json line = json::parse(text, nullptr, false);
    if (line.is_object()) take(line, &epochs);
  }
  RunHistory out{.folder = folder, .optimizer = settings.get_string("optimizer.name")};
  double seconds = 0;
  for (const auto& [epoch, e] : epochs) {
    if (!e.done) continue;
    seconds += e.seconds();
    out.epochs.push_back(epoch);
    out.train_loss.push_back(e.train_loss);
    out.accuracy.push_back(e.accuracy);
    out.eval_loss.push_back(e.eval_loss);
    const double before = out.steps.empty() ? 0 : out.steps.back();
    out.steps.push_back(std::isfinite(e.step) ? e.step : before + static_cast<double>(e.steps));
    out.seconds.push_back(seconds);
  }
  if (out.epochs.empty()) throw DataError(ErrorCode::kDataMissing, "the run has no finished epoch", path, "compare runs that finished at least one epoch");
  return out;
}

RunComparison compare_runs(const std::vector<std::string>& folders, std::optional<double> loss, std::optional<double> accuracy) {
  if (folders.size() < 2) throw ValueError("a comparison needs at least two runs", "sindri report compare", "name two run folders or more");
  RunComparison c{
      .runs = {}, .loss = loss.value_or(-std::numeric_limits<double>::infinity()), .accuracy = accuracy.value_or(std::numeric_limits<double>::infinity())};
  for (const std::string& folder : folders) c.runs.push_back(read_run_history(folder));
  for (const RunHistory& run : c.runs) {
    if (!loss) c.loss = std::max(c.loss, run.train_loss.back());
    if (!accuracy) c.accuracy = std::isfinite(best(run.accuracy)) ? std::min(c.accuracy, best(run.accuracy)) : kNone;
  }
  for (const RunHistory& run : c.runs) {
    RunGoal g{.final_loss = run.train_loss.back(), .best_accuracy = best(run.accuracy)};
    if (const auto at = first_of(run.train_loss, [&](double v) { return v <= c.loss; }))
      g.epochs_to_loss = run.epochs[*at], g.seconds_to_loss = run.seconds[*at];
    if (const auto at = first_of(run.accuracy, [&](double v) { return v >= c.accuracy; }))
      g.epochs_to_accuracy = run.epochs[*at], g.seconds_to_accuracy = run.seconds[*at];
    c.goals.push_back(g);
  }
  return c;
}

std::string comparison_text(const RunComparison& c) {
  size_t width = 3;
  for (const RunHistory& run : c.runs) width = std::max(width, run.folder.size());
  const bool judged = std::isfinite(c.accuracy);
  std::string out = fmt::format("{:<{}}  {:<17} {:>6} {:>10} {:>18}", "run", width, "optimizer", "epochs", "last loss", fmt::format("to loss {:.4g}", c.loss));
  if (judged) out += fmt::format(" {:>9} {:>22}", "accuracy", fmt::format("to accuracy {:.4g}", c.accuracy));
  out += "\n";
  const auto reached = [](const std::optional<int64_t>& epochs, const std::optional<double>& seconds) {
    return epochs ? fmt::format("{} ep., {:.1f} s", *epochs, *seconds) : std::string("not reached");
  };
  for (size_t i = 0; i < c.runs.size(); ++i) {
    const RunHistory& run = c.runs[i];
    const RunGoal& g = c.goals[i];
    out += fmt::format("{:<{}}  {:<17} {:>6} {:>10.4f} {:>18}", run.folder, width, run.optimizer, run.epochs.back(), g.final_loss,
                       reached(g.epochs_to_loss, g.seconds_to_loss));
    if (judged) out += fmt::format(" {:>9.4f} {:>22}", g.best_accuracy, reached(g.epochs_to_accuracy, g.seconds_to_accuracy));
    out += "\n";
  }
  return out;
}

std::string comparison_json(const RunComparison& c) {
  json runs = json::array();
  for (size_t i = 0; i < c.runs.size(); ++i) {
    const RunHistory& run = c.runs[i];
    const RunGoal& g = c.goals[i];
    json curve = json::array();
    for (size_t e = 0; e < run.epochs.size(); ++e)
      curve.push_back({{"epoch", run.epochs[e]},
                       {"train_loss", or_null(run.train_loss[e])},
                       {"eval_accuracy", or_null(run.accuracy[e])},
                       {"eval_loss", or_null(run.eval_loss[e])},
                       {"step", run.steps[e]},
                       {"seconds", run.seconds[e]}});
    runs.push_back({{"run", run.folder},
                    {"optimizer", run.optimizer},
                    {"last_loss", or_null(g.final_loss)},
                    {"best_accuracy", or_null(g.best_accuracy)},
                    {"epochs_to_loss", or_null(g.epochs_to_loss)},
                    {"seconds_to_loss", or_null(g.seconds_to_loss)},
                    {"epochs_to_accuracy", or_null(g.epochs_to_accuracy)},
                    {"seconds_to_accuracy", or_null(g.seconds_to_accuracy)},
                    {"epochs", curve}});
  }
  return json{{"loss", or_null(c.loss)}, {"accuracy", or_null(c.accuracy)}, {"runs", runs}}.dump(2) + "\n";
}

void write_comparison_plot(const RunComparison& c, const std::string& path, const std::string& against) {
  check_replaceable(path, FileKind::kPng, "plot");
  if (against != "epochs" && against != "steps" && against != "seconds")
    throw ValueError(fmt::format("curves cannot be drawn against '{}'", against), "sindri report compare", "epochs, steps or seconds");
  RunPlot plot{.title = "training loss and accuracy",
               .unit = against == "seconds" ? "seconds of training" : against.substr(0, against.size() - 1),
               .loss = {},
               .accuracy = {},
               .confusion = {},
               .class_names = {}};
  for (const RunHistory& run : c.runs) {
    const std::vector<double> epochs(run.epochs.begin(), run.epochs.end());
    const std::string name = fmt::format("{} ({})", std::filesystem::path(run.folder).filename().string(), run.optimizer);
    const std::vector<double>& at = against == "epochs" ? epochs : against == "steps" ? run.steps : run.seconds;
    plot.loss.push_back({name, run.train_loss, at});
    if (std::isfinite(best(run.accuracy))) plot.accuracy.push_back({name, run.accuracy, at});
  }
  write_plot(plot, path);
}

}  // namespace sindri::app
