// Records a run while it trains: rank 0 writes the run folder's files and shows progress on the terminal; each other rank writes a log.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "sindri/comm/trace.h"
#include "sindri/core/log.h"
#include "sindri/device/device.h"
#include "sindri/op/kernel_choice.h"
#include "src/app/build.h"
#include "src/app/event_extras.h"
#include "src/app/mlflow_store.h"
#include "src/app/monitor_lines.h"
#include "src/app/session.h"
#include "src/core/revision.h"

namespace sindri::app {

using train::TrainState;

void write_repro(Session* s) {
  s->folder->write_repro({.seeds = {{"train", s->settings.get_int("train.seed")}},
                          .revision = revision(),
                          .world_size = s->group.size(),
                          .data_fingerprint = s->data.fingerprint,
                          .loss_bits_hash = s->loss_hash.hex(),
                          .kernel_choices = kernel_choices(),
                          .kernel_choice_origins = kernel_choice_origins()},
                         s->settings);
}

// A busy machine may choose other kernels next time, and the last bits of the results then differ. The log says so, for users who compare runs: after the first
// step, and at the end if evaluation measured further kernels.
void tell_of_measured_kernels(Session* s) {
  const std::map<std::string, std::string> origins = kernel_choice_origins();
  const auto measured = std::count_if(origins.begin(), origins.end(), [](const auto& o) { return o.second == "measured"; });
  if (measured <= s->measured_reported) return;
  s->measured_reported = measured;
  const std::string pin = "SINDRI_KERNEL_CHOICES=" + shell_word(s->folder->file("repro.json"));
  const std::string line = fmt::format(
      "{} of {} kernel choices were measured in this run (kernel_choices_from in repro.json); another measurement may choose others and change the "
      "last bits. To repeat these choices: {}; to measure none: SINDRI_TUNE=0 or SINDRI_STRICT=1",
      measured, origins.size(), pin);
  s->folder->log(line);
}

namespace {

// Opens the run folder for writing, at the step where the run starts.
void start_folder(Session* s) {
  const train::TrainOptions& o = s->options;
  std::optional<ResumePoint> point;
  if (s->request.resume)
    point = {.step = s->steps_done, .epochs = o.initial_epoch - (o.epoch_not_ended ? 1 : 0), .within_epoch = o.epoch_not_ended || o.initial_step > 0};
  // An evaluation made only because the run ended is repeated, or omitted if the run continues.
  const int64_t every = s->settings.get_int("train.eval_interval");
  if (point) point->evaluated = every > 0 && (point->epochs % every == 0 || point->epochs == s->settings.get_int("train.epochs"));
  if (point) {
    for (const EventValues& values : s->folder->epoch_rows())
      for (const auto& [name, value] : values)
        if (name == "throughput/samples_per_sec") s->recorded_rates[static_cast<int64_t>(values[0].second)] = value;
  }
  s->folder->start(point);
  std::error_code error;
  std::filesystem::remove(s->folder->file("resume.json"), error);  // describes the stop that this run resumes from
  Settings resolved = s->settings;
  resolved.set("train.run_dir=" + s->folder->path());  // a numbered folder too: this file alone is enough to resume
  for (const char* of_the_job : {"dist.rank_table", "dist.job_id", "dist.interface"}) resolved.set(fmt::format("{}=", of_the_job));
  s->folder->write_settings(resolved);
  s->folder->write_environment(s->request.command_line);
  for (const EventValues& values : s->folder->epoch_rows()) {
    const std::map<std::string, double> row(values.begin(), values.end());
    const auto value = [&](const char* name) { return row.contains(name) ? row.at(name) : NAN; };
    s->plot.loss[0].values.push_back(value("train_loss"));
    s->plot.loss[1].values.push_back(value("eval_loss"));
    s->plot.accuracy[0].values.push_back(value("eval_accuracy"));
    if (!point || point->within_epoch || value("epoch") != static_cast<double>(point->epochs)) continue;
    s->last_row.assign(values.begin() + 1, values.end());
    if (row.contains("eval_loss")) s->recorded_at = point->step;
  }
}

// Null if log.style is sindri.
std::unique_ptr<MonitorLines> make_monitor_lines(const Session& s) {
  return s.settings.get_string("log.style") == "mindspore" ? std::make_unique<MonitorLines>(s.settings.get_int("log.every")) : nullptr;
}

// Called on every rank. The other ranks write nothing before rank 0 has the run folder: a refused run leaves it unchanged.
void begin_records(Session* s) {
  s->group.from_first("run folder", [s] {
    start_folder(s);
    return "";
  });
  if (s->rank_log) s->rank_log->open();
  comm::set_call_log_folder(s->run_dir);
}

// Writes the results of each step and epoch to the terminal and to the run folder.
class Recorder final : public train::Callback {
 public:
  explicit Recorder(Session* s) : s_(s), lines_(make_monitor_lines(*s)) {}

  // All checks that may refuse to train have passed by now: this is the first write.
  void begin(TrainState& state) override {
    s_->steps_done = state.cur_step_num;
    s_->epoch = state.cur_epoch_num;
    begin_records(s_);
    track_begin(s_);
    record_texts(s_);
    if (!state.record.empty()) restore(state.record);
  }
  void steps_known(TrainState& state, const train::KnownSteps& known) override {
    const auto steps = static_cast<int64_t>(known.losses.size());
    const int64_t samples = steps * state.global_batch;
    const double loss = s_->shown_loss(known);
    const double seconds = known.seconds * static_cast<double>(steps), rate = s_->rate_at(known.step - 1);
    if (s_->step_losses.size() < kPlottedSteps) s_->step_losses.push_back(known.losses.back());
    for (const float l : known.losses) {
      s_->loss_hash.add(l);
      if (!std::isfinite(l)) continue;  // train.nan_policy: skip omits them
      epoch_loss_ += static_cast<double>(l);
      ++epoch_steps_;
    }
    warn_of_divergence(known);
    s_->samples_trained += samples;
    s_->step_seconds += seconds;
    epoch_samples_ += samples;
    timed_samples_ += samples;
    epoch_seconds_ += seconds;
    state.record = record();
    s_->folder->event("step", known.epoch, known.step,
                      {{"loss", loss},
                       {"lr", rate},
                       {"throughput/samples_per_sec", static_cast<double>(samples) / std::max(seconds, 1e-9)},
                       {"time/data_wait", known.data_wait_seconds}});
    s_->folder->scalars(known.step, {{"train/loss", loss}, {"lr", rate}});
    StepProgress p{.epoch = known.epoch, .step = known.step_in_epoch, .steps = steps, .samples = samples, .seconds = seconds, .loss = loss, .lr = rate};
    if (const auto it = state.metrics.find("accuracy"); it != state.metrics.end()) {
      p.metric = "accuracy";
      p.metric_value = it->second;
    }
    if (lines_ == nullptr) s_->progress->step(p);
    else if (const std::string line = lines_->steps(known, loss); !line.empty()) show(line);
  }
  void step_end(TrainState& state) override {
    s_->steps_done = state.cur_step_num;
    s_->epoch = state.cur_epoch_num;
    if (!repro_written_) {  // the kernels are chosen by now; a killed run is resumed with them
      write_repro(s_);
      tell_of_measured_kernels(s_);
    }
    repro_written_ = true;
    // The displayed values are at most one display interval old.
    const int64_t unseen = state.cur_step_num - state.known_step;
    if (unseen == 0 || !(lines_ != nullptr ? lines_->due(unseen) : s_->progress->due(unseen))) return;
    if (state.known_step == shown_step_) state.settle();
    shown_step_ = state.known_step;
  }

  void epoch_end(TrainState& state) override {
    write_epoch(state);
    epoch_loss_ = 0;
    epoch_steps_ = epoch_samples_ = 0;
    state.record = record();
  }
  // A run that stops within an epoch has a row for the part it trained; resuming replaces it.
  void end(TrainState& state) override {
    if (epoch_samples_ > 0) write_epoch(state);
    if (!state.data_stats.empty()) s_->folder->log("data: " + state.data_stats);
    if (state.skipped_steps > 0) s_->progress->print(fmt::format("{} steps were skipped: their loss or a gradient was not finite", state.skipped_steps));
    if (state.overflow_steps > 0) s_->progress->print(fmt::format("{} steps were skipped by the loss scale", state.overflow_steps));
  }

 private:
  // Returns what a resumed run needs for the epoch's row and the hash of all losses. It contains no times, so that checkpoints of equal runs are equal.
  std::string record() const {
    return nlohmann::json({{"loss_hash", s_->loss_hash.hex()}, {"loss", epoch_loss_}, {"steps", epoch_steps_}, {"samples", epoch_samples_}}).dump();
  }
  void restore(const std::string& text) {
    try {
      const nlohmann::json j = nlohmann::json::parse(text);
      s_->loss_hash.restore(j.at("loss_hash"));
      epoch_loss_ = j.at("loss");
      epoch_steps_ = j.at("steps");
      epoch_samples_ = j.at("samples");
    } catch (const nlohmann::json::exception& e) { log::warn("train", fmt::format("{} has no record of the epoch so far: {}", s_->resumed_from, e.what())); }
  }
  // An untrained net has a loss near ln(classes). A loss that is far above that, or that is above it and has risen over many steps, has diverged even if it is
  // still finite.
  void warn_of_divergence(const train::KnownSteps& known) {
    constexpr double kSmoothing = 0.1;
    constexpr int64_t kSettled = 20;
    const double guess = std::max(1.0, std::log(static_cast<double>(std::max<int64_t>(2, class_count(s_->settings, s_->data.num_classes)))));
    double worst = 0;
    for (const float l : known.losses) {
      if (!std::isfinite(l)) continue;
      worst = std::max(worst, static_cast<double>(l));
      smooth_loss_ = smoothed_ == 0 ? static_cast<double>(l) : smooth_loss_ + kSmoothing * (static_cast<double>(l) - smooth_loss_);
      least_loss_ = smoothed_ == 0 ? smooth_loss_ : std::min(least_loss_, smooth_loss_);
      ++smoothed_;
    }
    const bool rises = smoothed_ >= kSettled && smooth_loss_ > 4 * std::max(guess, least_loss_);
    if (s_->diverged || (worst <= 100 * guess && !rises)) return;
    s_->diverged = true;
    const std::string line = fmt::format(
        "the training diverges: the loss is {:.3g} at epoch {}, step {}, a net that only guesses has {:.3g}; lower lr.max, raise lr.warmup_epochs or set "
        "optimizer.clip_global_norm",
        rises ? smooth_loss_ : worst, known.epoch, known.step_in_epoch, guess);
    s_->folder->log("warning: " + line);
    log::warn("train", line);
  }
  // Writes to the terminal and to log.txt.
  void show(const std::string& line) {
    s_->folder->log(line);
    s_->progress->print(line);
  }
  // Returns 0 if the rate is not known. If an earlier process trained all steps of the epoch, this process only writes the row again and keeps the rate
  // measured then.
  double samples_per_second(int64_t epoch) const {
    if (epoch_seconds_ > 0) return static_cast<double>(timed_samples_) / epoch_seconds_;
    const auto it = s_->recorded_rates.find(epoch);
    return it != s_->recorded_rates.end() ? it->second : 0;
  }
  void write_epoch(TrainState& state) {
    const double mean_loss = epoch_steps_ > 0 ? epoch_loss_ / static_cast<double>(epoch_steps_) : NAN;
    const double rate = samples_per_second(state.cur_epoch_num);
    const bool evaluated = s_->evaluations > evaluations_;
    evaluations_ = s_->evaluations;
    EventValues row = {{"train_loss", mean_loss}, {"throughput/samples_per_sec", rate}};
    EpochProgress shown{.epoch = state.cur_epoch_num, .loss = mean_loss, .samples_per_second = rate};
    const int64_t most = s_->options.max_steps, last = most > 0 ? std::min(state.epoch_num, (most + state.batch_num - 1) / state.batch_num) : state.epoch_num;
    shown.epochs = last;
    if (const Device device = current_device(); !device.is_cpu()) {
      shown.device_bytes = device_memory_stats(device).peak_reserved;
      row.emplace_back("memory/device_peak_mb", static_cast<double>(shown.device_bytes) * 1e-6);
    }
    if (evaluated) {
      for (const auto& [name, value] : state.metrics) {
        row.emplace_back("eval_" + name, value);
        s_->folder->scalar("eval/" + name, state.cur_step_num, value);
      }
      shown.metrics = {{"eval loss", state.metrics.at("loss")}, {"accuracy", state.metrics.at("accuracy")}};
    }
    if (state.loss_scale_manager != nullptr) row.emplace_back("loss_scale", state.loss_scale_manager->get_loss_scale());
    if (state.overflow_steps > 0) row.emplace_back("overflow_steps", static_cast<double>(state.overflow_steps));
    for (const train::BoostAlgorithmPtr& a : state.algorithms) {
      for (const auto& [name, value] : a->columns(state)) row.emplace_back(name, value);
    }
    if (state.skipped_steps > 0) row.emplace_back("skipped_steps", static_cast<double>(state.skipped_steps));
    const std::string line = epoch_text(shown);
    s_->folder->scalars(state.cur_step_num, {{"throughput/samples_per_sec", rate}, {"train/epoch_loss", mean_loss}});
    if (const int64_t every = s_->settings.get_int("log.histograms"); every > 0 && state.epoch_complete && state.cur_epoch_num % every == 0)
      record_histograms(s_);
    if (state.epoch_complete && state.cur_epoch_num == 1) record_samples(s_);
    s_->folder->event("epoch", state.cur_epoch_num, state.cur_step_num, row);
    s_->folder->epoch_row(state.cur_epoch_num, row);
    s_->last_row = row;
    track_epoch(s_);
    if (lines_ == nullptr) show(line);
    else
      for (const std::string& monitored : lines_->epoch_end()) show(monitored);
    s_->plot.loss[0].values.push_back(mean_loss);
    s_->plot.loss[1].values.push_back(evaluated ? state.metrics.at("loss") : NAN);
    s_->plot.accuracy[0].values.push_back(evaluated ? state.metrics.at("accuracy") : NAN);
    epoch_seconds_ = 0;
    timed_samples_ = 0;
  }

  Session* s_;
  std::unique_ptr<MonitorLines> lines_;
  int64_t epoch_steps_ = 0, epoch_samples_ = 0, evaluations_ = 0;
  int64_t shown_step_ = -1;  // the last known step at the previous display
  int64_t timed_samples_ = 0;  // of the epoch, trained by this process
  double epoch_loss_ = 0, epoch_seconds_ = 0;
  double smooth_loss_ = 0, least_loss_ = 0;
  int64_t smoothed_ = 0;  // number of losses in smooth_loss_
  bool repro_written_ = false;
};

// On ranks other than 0.
class RankRecorder final : public train::Callback {
 public:
  explicit RankRecorder(Session* s) : s_(s), lines_(make_monitor_lines(*s)) {}
  void begin(TrainState& state) override {
    follow(state);
    begin_records(s_);
  }
  void steps_known(TrainState& state, const train::KnownSteps& known) override {
    const auto steps = static_cast<int64_t>(known.losses.size());
    s_->samples_trained += steps * state.global_batch;
    s_->step_seconds += known.seconds * static_cast<double>(steps);
    for (const float l : known.losses) s_->loss_hash.add(l);
    last_loss_ = s_->shown_loss(known);
    if (lines_ != nullptr) show(lines_->steps(known, last_loss_));
    seconds_ += known.seconds * static_cast<double>(steps);
    waited_ += known.data_wait_seconds * static_cast<double>(steps);
  }
  void step_end(TrainState& state) override { follow(state); }
  void epoch_end(TrainState& state) override { tell(state); }
  void end(TrainState& state) override {
    if (!state.epoch_complete) tell(state);
    if (!state.data_stats.empty()) s_->say("data: " + state.data_stats);
  }

 private:
  void follow(const TrainState& state) {
    s_->steps_done = state.cur_step_num;
    s_->epoch = state.cur_epoch_num;
  }
  // MindSpore's ranks all print; the launcher separates their output.
  void show(const std::string& line) {
    if (line.empty()) return;
    s_->say(line);
    std::fputs((line + "\n").c_str(), stdout);
    std::fflush(stdout);
  }
  void tell(const TrainState& state) {
    if (lines_ != nullptr) {
      for (const std::string& line : lines_->epoch_end()) show(line);
      return;
    }
    s_->say(fmt::format("epoch {}, step {}: loss {:.4f}, {:.1f} s in steps, {:.1f} s of them waiting for data", state.cur_epoch_num, state.step_in_epoch(),
                        last_loss_, seconds_, waited_));
    seconds_ = waited_ = 0;
  }
  Session* s_;
  std::unique_ptr<MonitorLines> lines_;
  double last_loss_ = NAN;
  double seconds_ = 0, waited_ = 0;
};

}  // namespace

train::CallbackPtr make_recorder(Session* s) {
  if (s->group.first()) return std::make_shared<Recorder>(s);
  return std::make_shared<RankRecorder>(s);
}

}  // namespace sindri::app
