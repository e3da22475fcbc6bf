// The train verb: settings in, run folder out.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "sindri/app/app.h"
#include "sindri/app/picture.h"
#include "sindri/app/progress.h"
#include "sindri/app/run_folder.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/core/rng.h"
#include "sindri/device/device.h"
#include "sindri/models/models.h"
#include "sindri/nn/metric.h"
#include "sindri/op/kernel_choice.h"
#include "sindri/ops/random.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/model.h"
#include "sindri/train/training_state.h"
#include "sindri/version.h"
#include "src/app/build.h"
#include "src/app/data.h"
#include "src/core/revision.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

namespace {

namespace fs = std::filesystem;
using train::TrainState;

double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void require_checkpoint(const std::string& path) {
  if (!train::file_exists(path, "checkpoint"))
    throw CheckpointError("the checkpoint does not exist", path, "check the path; a run keeps its checkpoints in RUN/checkpoints/");
}

// What the program can do about a checkpoint of another net is to take the other net.
// Returns the names of the classes.
std::vector<std::string> load_weights(const train::LoadedCheckpoint& file, nn::Cell& network) {
  try {
    train::load_param_into_net(network.parameters_and_names(), file, true);
    return train::class_names_of(file);
  } catch (const CheckpointError& e) {
    if (e.code() != ErrorCode::kCheckpointMismatch) throw;
    throw CheckpointError(e.code(), e.message(), e.where(),
                          "give the net and the number of classes it was trained with: --set model.name=NET --set model.num_classes=N; config.resolved.yaml in "
                          "the checkpoint's run folder names both");
  }
}

std::vector<std::string> load_weights(const std::string& path, nn::Cell& network, const std::string& which = "trained") {
  return load_weights(train::with_weights(train::load_checkpoint(path), which), network);
}

std::atomic<int> g_signal{0};

// SIGINT, SIGTERM and SIGHUP (the terminal was closed) set a flag that the loop reads after each step; a second SIGINT or SIGTERM ends
// the process at once. SIGHUP stays ignored where it was: nohup asks for that.
class SignalGuard {
 public:
  SignalGuard() {
    g_signal = 0;
    struct sigaction action {};
    action.sa_handler = [](int number) {
      int none = 0;
      if (!g_signal.compare_exchange_strong(none, number)) return;  // shells send SIGHUP more than once
      signal(SIGINT, SIG_DFL);
      signal(SIGTERM, SIG_DFL);
    };
    action.sa_flags = SA_RESTART;  // writes under way are not torn
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &action, &old_[i]);
      if (kSignals[i] == SIGHUP && old_[i].sa_handler == SIG_IGN) sigaction(SIGHUP, &old_[i], nullptr);
    }
  }
  ~SignalGuard() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &old_[i], nullptr);
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> old_ = {};
};

// A run within one epoch has no other curve than that of its first steps.
constexpr size_t kPlottedSteps = 10000;

// Everything a run is made of.
struct Session {
  Session(const Settings& set, const TrainRequest& req) : settings(set), request(req) {}
  const Settings& settings;
  const TrainRequest& request;
  Shape image;
  Data data;
  nn::CellPtr network;
  std::shared_ptr<optim::Optimizer> optimizer;
  std::shared_ptr<nn::ConfusionMatrix> confusion;
  std::unique_ptr<train::Model> model;
  std::unique_ptr<RunFolder> folder;
  std::unique_ptr<Progress> progress;
  std::shared_ptr<train::ModelCheckpoint> checkpoint;
  std::vector<float> rates;  // of each update
  int64_t steps_per_epoch = 0, steps_per_update = 1;
  train::TrainOptions options;
  std::string resumed_from;  // checkpoint file
  bool same_settings = true;  // as those it was trained with
  LossHash loss_hash;
  RunPicture picture;
  TrainReport report;
  train::MetricValues metrics;  // of the last evaluation
  int64_t evaluations = 0, epoch = 0;
  int64_t steps_done = 0, evaluated_at = -1;  // in all; how many they were at the last evaluation
  int64_t recorded_at = -1;  // how many they were at an evaluation that the run folder holds from an earlier process
  int64_t samples_trained = 0;
  int64_t measured_told = 0;  // measured kernels that the log tells of
  bool diverged = false;
  double step_seconds = 0;
  EventValues last_row;  // of metrics.csv
  std::vector<double> step_losses;  // at most kPlottedSteps

  double rate_at(int64_t step) const {
    return rates[static_cast<size_t>(std::clamp<int64_t>(step / steps_per_update, 0, static_cast<int64_t>(rates.size()) - 1))];
  }
};

// A smaller image than the net was designed for may leave nothing for its last layers: one goes through, so that the setting is named.
void check_image_size(const Session& s) {
  const Settings& set = s.settings;
  if (s.image[1] >= models::input_shape(net_name(set))[1]) return;
  Shape one = s.image;
  one.insert(0, 1);
  nn::Cell& net = *s.network;
  net.set_train(false);
  try {
    net(Tensor::zeros(one));
  } catch (Error& e) {
    if (e.code() != ErrorCode::kShape && e.code() != ErrorCode::kValue) throw;
    throw SettingsError(fmt::format("data.image_size {} is too small for {}: {}", s.image[1], net_name(set), e.message()),
                        fmt::format("data.image_size, from {}{}{}", set.origin("data.image_size"), e.where().empty() ? "" : " | ", e.where()),
                        "leave it out for the size the net was designed for, or raise it");
  }
}

// Of a larger image some nets have too much left for their last layers: the first step says so, and this which setting it was.
void name_image_size(const Session& s, const Error& e) {
  if (e.code() != ErrorCode::kShape || s.settings.get_int("data.image_size") <= models::input_shape(net_name(s.settings))[1]) return;
  throw SettingsError(fmt::format("data.image_size {} does not fit {}: {}", s.image[1], net_name(s.settings), e.message()),
                      fmt::format("data.image_size, from {}{}{}", s.settings.origin("data.image_size"), e.where().empty() ? "" : " | ", e.where()),
                      "leave it out for the size the net was designed for");
}

void build(Session* s) {
  const Settings& set = s->settings;
  set_seed(set.get_int("train.seed"));
  set_mode(set.get_string("train.mode") == "graph" ? Mode::kGraph : Mode::kPynative);
  ops::reset_rng(set.get_int("train.seed"));
  s->image = image_shape(set);
  s->data = open_data(set, s->image, true);
  check_unused_classes(set, s->data.num_classes);
  s->network = make_network(set, s->data.num_classes);
  // Sunk with a size of its own, an epoch is that many steps, wherever a pass over the data ends.
  const bool sized = set.get_bool("train.sink_mode") && set.get_int("train.sink_size") > 0;
  s->steps_per_epoch = sized ? set.get_int("train.sink_size") : s->data.train->get_dataset_size();
  const std::vector<train::BoostAlgorithmPtr> algorithms = make_boosts(set);
  s->steps_per_update = train::steps_per_update(algorithms);
  s->rates = learning_rates(set, s->steps_per_epoch, s->steps_per_update);
  s->optimizer = make_optimizer(set, *s->network, s->rates);
  train::ModelOptions options;
  options.metrics = make_metrics(set, class_count(set, s->data.num_classes));
  // Only the picture shows it; that of many classes could not be read, and its memory is their number squared.
  if (const int64_t classes = class_count(set, s->data.num_classes); classes <= 100)
    options.metrics["confusion_matrix"] = s->confusion = std::make_shared<nn::ConfusionMatrix>(classes);
  options.loss_scale = set.get_float("optimizer.loss_scale");
  options.amp = amp_options(set);
  options.loss_scale_manager = make_loss_scale(set);
  options.max_skipped = set.get_float("train.max_skipped");
  options.micro_batches = set.get_int("train.micro_batches");
  options.algorithms = algorithms;
  options.eval_weights = set.get_string("train.eval_weights");
  options.nan_policy = set.get_string("train.nan_policy") == "skip" ? train::NanPolicy::kSkip : train::NanPolicy::kStop;
  check_image_size(*s);
  s->model = std::make_unique<train::Model>(s->network, make_loss(set), s->optimizer, options);
}

// What differs between the classes of weights and of data, in words; empty when nothing does, or when one side has no names.
std::string class_difference(const std::vector<std::string>& weights, const std::vector<std::string>& data) {
  if (weights.empty() || data.empty() || weights == data) return "";
  const std::string what = "the classes of the data are not those the weights were trained with: ";
  if (weights.size() != data.size()) return what + fmt::format("they were {} and are {} now", weights.size(), data.size());
  const size_t i = static_cast<size_t>(std::mismatch(weights.begin(), weights.end(), data.begin()).first - weights.begin());
  return what + fmt::format("label {} was '{}' and is '{}' now", i, weights[i], data[i]);
}

void check_classes(const std::vector<std::string>& weights, const std::vector<std::string>& data, const std::string& checkpoint) {
  if (const std::string difference = class_difference(weights, data); !difference.empty())
    throw CheckpointError(ErrorCode::kCheckpointMismatch, difference, checkpoint,
                          "labels are the places of the class folders in byte order: name the folders as they were in training");
}

// Other files end a resume; only their times having changed may be the work of a copy.
void check_fingerprint(const std::string& before, const std::string& now, const Session& s) {
  if (before.empty() || before == now) return;
  const auto kind = [](const std::string& text) { return text.substr(0, text.find(':')); };
  const auto without_times = [](std::string text) {
    for (size_t at = 0; (at = text.find(" times:")) != std::string::npos;) text.erase(at, 7 + 16);
    return text;
  };
  if (kind(before) != kind(now)) {
    log::warn("train", "data.fingerprint is another than before: whether the data is the same is not known");
  } else if (without_times(before) != without_times(now)) {
    throw DataError(fmt::format("the data is not what the training began with: its fingerprint was {} and is {} now", before, now), s.data.description,
                    "bring the files back as they were; to go on with other data, start a new run from these weights: --checkpoint FILE without --resume");
  } else {
    log::warn("train",
              "the files of the data have other times than when the training began; if they were changed, the result will not be that of an uninterrupted run");
  }
}

// The checkpoint to go on from; empty where no step was saved yet.
std::string find_start(const Session& s) {
  if (!s.request.checkpoint.empty()) return s.request.checkpoint;
  return train::file_exists(s.folder->checkpoints(), "checkpoint folder") ? train::find_newest_checkpoint(s.folder->checkpoints()) : "";
}

// Whether the last epoch has steps whose row was not written when the Recorder made this record.
bool epoch_is_open(const std::string& record) {
  const nlohmann::json j = nlohmann::json::parse(record, nullptr, false);
  return j.is_object() && j.contains("samples") && j["samples"].is_number_integer() && j["samples"].get<int64_t>() > 0;
}

// Weights to start from, or the whole state of a training to continue.
void load_start(Session* s) {
  const TrainRequest& r = s->request;
  s->options.class_names = s->data.folder_names;
  s->options.data_fingerprint = s->data.fingerprint;
  if (!r.checkpoint.empty()) require_checkpoint(r.checkpoint);
  if (!r.resume) {
    if (r.checkpoint.empty()) return;
    const std::string difference = class_difference(load_weights(r.checkpoint, *s->network), s->data.folder_names);
    if (!difference.empty()) log::warn("train", fmt::format("{}: {}", r.checkpoint, difference));
    return;
  }
  const std::string path = find_start(*s);
  if (path.empty()) {
    s->progress->print("no checkpoint to resume from yet: starting from the beginning");
    return;
  }
  // What the settings say holds, also where it is kept beside the state that changes from step to step.
  std::vector<std::pair<Parameter*, Tensor>> from_settings;
  for (Parameter* state : s->optimizer->state()) {
    if (state->name() == "learning_rate" || state->name() == "momentum") from_settings.emplace_back(state, state->stored());
  }
  const train::TrainPosition p =
      train::load_training_state(path, *s->network, *s->optimizer, s->model->loss_scale_manager().get(), s->model->algorithm_state());
  for (const auto& [state, value] : from_settings) state->store(value);
  check_classes(p.class_names, s->data.folder_names, path);
  check_fingerprint(p.data_fingerprint, s->data.fingerprint, *s);
  s->same_settings = p.settings_hash.empty() || p.settings_hash == s->settings.hash();
  if (!s->same_settings)
    log::warn("train", fmt::format("the settings differ from those {} was trained with; the result will not be that of an uninterrupted run", path));
  s->options.initial_epoch = p.epoch;
  s->options.initial_step = p.step_in_epoch;
  s->options.initial_total = p.step;
  s->options.dataset_state = p.dataset_state;
  s->options.initial_counts = p.counts;
  s->options.record = p.record;
  s->options.epoch_not_ended = p.epoch > 0 && p.step_in_epoch == 0 && epoch_is_open(p.record);
  s->resumed_from = path;
  s->progress->print(fmt::format("resuming from {} (epoch {}, step {} of the epoch)", path, p.epoch + 1, p.step_in_epoch));
}

dataset::OnCorrupt on_corrupt(const Settings& s) {
  const std::string& policy = s.get_string("data.on_corrupt");
  return policy == "skip" ? dataset::OnCorrupt::kSkip : policy == "replace" ? dataset::OnCorrupt::kReplace : dataset::OnCorrupt::kFail;
}

// A metric must not count one sample twice, so evaluation leaves out the bad samples that training replaces.
dataset::OnCorrupt on_corrupt_in_eval(const Settings& s) {
  return on_corrupt(s) == dataset::OnCorrupt::kFail ? dataset::OnCorrupt::kFail : dataset::OnCorrupt::kSkip;
}

train::MetricValues run_eval(Session* s) {
  s->progress->phase("evaluating");
  const double start = now_seconds();
  s->metrics = s->model->eval(s->data.eval, on_corrupt_in_eval(s->settings), s->settings.get_int("data.max_corrupt"));
  s->metrics.erase("confusion_matrix");  // its one number is the accuracy again
  ++s->evaluations;
  s->evaluated_at = s->steps_done;
  s->progress->eval_took(now_seconds() - start);
  return s->metrics;
}

void write_repro(Session* s) {
  s->folder->write_repro({.seeds = {{"train", s->settings.get_int("train.seed")}},
                          .revision = revision(),
                          .world_size = 1,
                          .data_fingerprint = s->data.fingerprint,
                          .loss_bits_hash = s->loss_hash.hex(),
                          .kernel_choices = kernel_choices(),
                          .kernel_choice_origins = kernel_choice_origins()},
                         s->settings);
}

// A busy machine may measure otherwise next time, and the last bits of the results with it: who compares runs must know. Behind the first step,
// and at the end when evaluation measured more.
void tell_of_measured_kernels(Session* s) {
  const std::map<std::string, std::string> origins = kernel_choice_origins();
  const auto measured = std::count_if(origins.begin(), origins.end(), [](const auto& o) { return o.second == "measured"; });
  if (measured <= s->measured_told) return;
  s->measured_told = measured;
  const std::string line = fmt::format(
      "{} of {} kernel choices were measured in this run (kernel_choices_from in repro.json); measured once more they may be others, and last "
      "bits differ. The same again: SINDRI_KERNEL_CHOICES={}; none measured: SINDRI_TUNE=0 or SINDRI_STRICT=1",
      measured, origins.size(), shell_word(s->folder->file("repro.json")));
  s->folder->log(line);
  s->progress->print(line);
}

// Opens the run folder for writing, at the step the training begins with.
void start_folder(Session* s) {
  const train::TrainOptions& o = s->options;
  std::optional<ResumePoint> point;
  if (s->request.resume)
    point = {.step = s->steps_done, .epochs = o.initial_epoch - (o.epoch_not_ended ? 1 : 0), .within_epoch = o.epoch_not_ended || o.initial_step > 0};
  // An evaluation that only the end of a training asked for is done again, or not at all where the training goes on.
  const int64_t every = s->settings.get_int("train.eval_interval");
  if (point) point->evaluated = every > 0 && (point->epochs % every == 0 || point->epochs == s->settings.get_int("train.epochs"));
  s->folder->start(point);
  Settings resolved = s->settings;
  resolved.set("train.run_dir=" + s->folder->path());  // a numbered folder too: this file alone is enough to resume
  s->folder->write_settings(resolved);
  s->folder->write_environment(s->request.command_line);
  for (const EventValues& values : s->folder->epoch_rows()) {
    const std::map<std::string, double> row(values.begin(), values.end());
    const auto value = [&](const char* name) { return row.contains(name) ? row.at(name) : NAN; };
    s->picture.loss[0].values.push_back(value("train_loss"));
    s->picture.loss[1].values.push_back(value("eval_loss"));
    s->picture.accuracy[0].values.push_back(value("eval_accuracy"));
    if (!point || point->within_epoch || value("epoch") != static_cast<double>(point->epochs)) continue;
    s->last_row.assign(values.begin() + 1, values.end());
    if (row.contains("eval_loss")) s->recorded_at = point->step;
  }
}

// Writes what each step and epoch came to, to the terminal and to the run folder.
class Recorder final : public train::Callback {
 public:
  explicit Recorder(Session* s) : s_(s) {}

  // Everything that may refuse to train has been asked by now: this is the first write.
  void begin(TrainState& state) override {
    s_->steps_done = state.cur_step_num;
    s_->epoch = state.cur_epoch_num;
    start_folder(s_);
    if (!state.record.empty()) restore(state.record);
  }
  void steps_known(TrainState& state, const train::KnownSteps& known) override {
    const auto steps = static_cast<int64_t>(known.losses.size());
    const int64_t samples = steps * state.batch_size;
    const float loss = known.losses.back();
    const double seconds = known.seconds * static_cast<double>(steps), rate = s_->rate_at(known.step - 1);
    if (s_->step_losses.size() < kPlottedSteps) s_->step_losses.push_back(loss);
    for (const float l : known.losses) {
      s_->loss_hash.add(l);
      if (!std::isfinite(l)) continue;  // train.nan_policy: skip leaves the others out
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
    s_->folder->scalar("train/loss", known.step, loss);
    StepProgress p{.epoch = known.epoch, .step = known.step_in_epoch, .steps = steps, .samples = samples, .seconds = seconds, .loss = loss, .lr = rate};
    if (const auto it = state.metrics.find("accuracy"); it != state.metrics.end()) {
      p.metric = "accuracy";
      p.metric_value = it->second;
    }
    s_->progress->step(p);
  }
  void step_end(TrainState& state) override {
    s_->steps_done = state.cur_step_num;
    s_->epoch = state.cur_epoch_num;
    if (!repro_written_) {  // the kernels are chosen by now; a run that is killed is resumed with them
      write_repro(s_);
      tell_of_measured_kernels(s_);
    }
    repro_written_ = true;
    // What is shown is at most one refresh old.
    if (state.known_step == state.cur_step_num || !s_->progress->due(state.cur_step_num - state.known_step)) return;
    if (state.known_step == shown_step_) state.settle();
    shown_step_ = state.known_step;
  }

  void epoch_end(TrainState& state) override {
    write_epoch(state);
    epoch_loss_ = 0;
    epoch_steps_ = epoch_samples_ = 0;
    state.record = record();
  }
  // A training that stops within an epoch has a row for the part it did; resuming replaces it.
  void end(TrainState& state) override {
    if (epoch_samples_ > 0) write_epoch(state);
    if (!state.data_stats.empty()) s_->folder->log("data: " + state.data_stats);
    if (state.skipped_steps > 0) s_->progress->print(fmt::format("{} steps were left out: their loss or a gradient was not finite", state.skipped_steps));
    if (state.overflow_steps > 0) s_->progress->print(fmt::format("{} steps were left out by the loss scale", state.overflow_steps));
  }

 private:
  // What the row of the epoch and the hash of all losses need, where the training is resumed. No times: checkpoints of equal trainings are equal.
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
    } catch (const nlohmann::json::exception& e) {
      log::warn("train", fmt::format("{} does not say what the epoch came to so far: {}", s_->resumed_from, e.what()));
    }
  }
  // A net that knows nothing has a loss near ln(classes); one far above has run away, though every number is finite still.
  void warn_of_divergence(const train::KnownSteps& known) {
    const double guess = std::log(static_cast<double>(std::max<int64_t>(2, class_count(s_->settings, s_->data.num_classes))));
    const double bound = 100 * std::max(1.0, guess);
    const auto worst = std::max_element(known.losses.begin(), known.losses.end());
    if (s_->diverged || !(*worst > bound)) return;
    s_->diverged = true;
    log::warn("train",
              fmt::format("the training diverges: the loss is {:.3g} at epoch {}, step {}, a net that only guesses has {:.3g}; lower lr.max or clip gradients",
                          *worst, known.epoch, known.step_in_epoch, guess));
  }
  void write_epoch(TrainState& state) {
    const double mean_loss = epoch_steps_ > 0 ? epoch_loss_ / static_cast<double>(epoch_steps_) : NAN;
    const double rate = epoch_seconds_ > 0 ? static_cast<double>(timed_samples_) / epoch_seconds_ : 0;
    const bool evaluated = s_->evaluations > evaluations_;
    evaluations_ = s_->evaluations;
    EventValues row = {{"train_loss", mean_loss}, {"throughput/samples_per_sec", rate}};
    const int64_t most = s_->options.max_steps, last = most > 0 ? std::min(state.epoch_num, (most + state.batch_num - 1) / state.batch_num) : state.epoch_num;
    std::string line = fmt::format("epoch {}/{}: loss {:.4f}", state.cur_epoch_num, last, mean_loss);
    if (evaluated) {
      for (const auto& [name, value] : state.metrics) {
        row.emplace_back("eval_" + name, value);
        s_->folder->scalar("eval/" + name, state.cur_step_num, value);
      }
      line += fmt::format(", eval loss {:.4f}, accuracy {:.4f}", state.metrics.at("loss"), state.metrics.at("accuracy"));
    }
    if (state.loss_scale_manager != nullptr) row.emplace_back("loss_scale", state.loss_scale_manager->get_loss_scale());
    if (state.overflow_steps > 0) row.emplace_back("overflow_steps", static_cast<double>(state.overflow_steps));
    for (const train::BoostAlgorithmPtr& a : state.algorithms) {
      for (const auto& [name, value] : a->columns(state)) row.emplace_back(name, value);
    }
    if (state.skipped_steps > 0) row.emplace_back("skipped_steps", static_cast<double>(state.skipped_steps));
    line += fmt::format(", {:.0f} samples/s", rate);
    s_->folder->event("epoch", state.cur_epoch_num, state.cur_step_num, row);
    s_->folder->epoch_row(state.cur_epoch_num, row);
    s_->last_row = row;
    s_->folder->log(line);
    s_->progress->print(line);
    s_->picture.loss[0].values.push_back(mean_loss);
    s_->picture.loss[1].values.push_back(evaluated ? state.metrics.at("loss") : NAN);
    s_->picture.accuracy[0].values.push_back(evaluated ? state.metrics.at("accuracy") : NAN);
    epoch_seconds_ = 0;
    timed_samples_ = 0;
  }

  Session* s_;
  int64_t epoch_steps_ = 0, epoch_samples_ = 0, evaluations_ = 0;
  int64_t shown_step_ = -1;  // the last known one when progress was due before
  int64_t timed_samples_ = 0;  // of the epoch, trained by this process
  double epoch_loss_ = 0, epoch_seconds_ = 0;
  bool repro_written_ = false;
};

void open_folder(Session* s) {
  const Settings& set = s->settings;
  const std::string& dir = set.get_string("train.run_dir");
  if (s->request.resume && dir.empty() && s->request.checkpoint.empty())
    throw SettingsError("--resume needs the run folder to continue", "command line", "--set train.run_dir=DIR, or --checkpoint FILE");
  s->folder = std::make_unique<RunFolder>(dir, net_name(set));
  if (s->request.resume) set_kernel_choices(s->folder->recorded_kernel_choices());
  if (s->folder->continued() && !s->request.resume)
    throw IoError(ErrorCode::kRunFolderBusy, fmt::format("{} holds an earlier run", s->folder->path()), s->folder->path(),
                  "continue it with --resume, or choose another train.run_dir");
}

void make_progress(Session* s) {
  const Settings& set = s->settings;
  const int64_t every = set.get_int("train.eval_interval"), saves = set.get_int("checkpoint.save_every_epochs");
  const int64_t all = set.get_int("train.epochs") * s->steps_per_epoch, most = set.get_int("train.max_steps");
  const int64_t total = most > 0 ? std::min(all, most) : all;
  s->progress = std::make_unique<Progress>(ProgressOptions{.epochs = set.get_int("train.epochs"),
                                                           .steps_per_epoch = s->steps_per_epoch,
                                                           .max_steps = most,
                                                           .evals_per_epoch = every > 0 ? 1.0 / static_cast<double>(every) : 0,
                                                           .saves_per_epoch = saves > 0 ? 1.0 / static_cast<double>(saves) : 0,
                                                           .eval_at_end = every == 0 || total % (every * s->steps_per_epoch) != 0,
                                                           .eval_steps = s->data.eval->get_dataset_size(),
                                                           .quiet = s->request.quiet,
                                                           .log_every = set.get_int("log.every")});
}

std::vector<train::CallbackPtr> make_callbacks(Session* s) {
  const Settings& set = s->settings;
  std::vector<train::CallbackPtr> list;
  if (const int64_t every = set.get_int("train.eval_interval"); every > 0)
    list.push_back(std::make_shared<train::EvalCallback>([s] { return run_eval(s); }, every));
  train::CheckpointConfig config;
  config.save_checkpoint_steps = set.get_int("checkpoint.save_every_steps");
  config.keep_checkpoint_max = set.get_int("checkpoint.keep_max");
  config.mindspore1 = set.get_string("checkpoint.compat") == "mindspore1";
  const std::string prefix = set.get_string("checkpoint.prefix").empty() ? net_name(set) : set.get_string("checkpoint.prefix");
  s->checkpoint = std::make_shared<train::ModelCheckpoint>(prefix, s->folder->checkpoints(), config, s->request.resume);
  list.push_back(std::make_shared<Recorder>(s));
  list.push_back(s->checkpoint);
  if (const int64_t every = set.get_int("checkpoint.save_every_epochs"); every > 0) {
    list.push_back(std::make_shared<train::LambdaCallback>(nullptr, [s, every](TrainState& state) {
      if (state.cur_epoch_num % every != 0) return;
      const double start = now_seconds();
      s->checkpoint->save(state);
      s->progress->save_took(now_seconds() - start);
    }));
  }
  return list;
}

// From the settings in the run folder, not from the command line: that may name a checkpoint to start from.
std::string resume_command(const Session& s) {
  return fmt::format("{} train --config {} --resume", shell_word(s.request.program), shell_word(s.folder->file("config.resolved.yaml")));
}

// A save that failed within the training is tried again at the next interval; behind the last one there is none.
void check_saved(const Session& s) {
  if (const std::string missing = s.folder->missing(); !missing.empty())
    throw IoError("the training was not disturbed, but its records are not complete: cannot write " + missing, s.folder->path(),
                  "make room or fix the permissions; then go on with: " + resume_command(s));
  if (!s.checkpoint || s.checkpoint->last_error().empty()) return;
  const std::string& last = s.checkpoint->latest_ckpt_file_name();
  throw IoError("the last checkpoint was not saved: " + s.checkpoint->last_error(), s.folder->checkpoints(),
                fmt::format("{}; then go on with: {}", last.empty() ? "make room or fix the permissions" : "the one before is " + last, resume_command(s)));
}

void finish(Session* s) {
  TrainReport& r = s->report;
  if (s->folder->started()) {
    write_repro(s);
    tell_of_measured_kernels(s);
  }
  r.run_dir = s->folder->path();
  r.checkpoint = s->checkpoint && !s->checkpoint->latest_ckpt_file_name().empty() ? s->checkpoint->latest_ckpt_file_name() : s->resumed_from;
  r.metrics_file = s->folder->file("metrics.csv");
  r.samples_per_second = s->step_seconds > 0 ? static_cast<double>(s->samples_trained) / s->step_seconds : 0;
  if (r.stopped_by_signal != 0) {
    r.resume_command = resume_command(*s);
    check_saved(*s);
    s->progress->print(fmt::format("stopped by signal after saving {}", r.checkpoint));
    s->progress->print_command("resume with: " + r.resume_command);
    return;
  }
  const int64_t n = s->confusion != nullptr ? s->confusion->num_classes() : 0;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t>& row = s->picture.confusion.emplace_back();
    for (int64_t j = 0; j < n; ++j) row.push_back(s->confusion->count(i, j));
  }
  if (n > 0) s->picture.class_names = s->data.class_names;
  for (auto i = static_cast<int64_t>(s->picture.class_names.size()); i < n; ++i) s->picture.class_names.push_back(std::to_string(i));
  if (s->picture.loss[0].values.size() == 1 && s->step_losses.size() > 1) {
    s->picture.unit = "step";
    for (Curve* curve : {&s->picture.loss[1], &s->picture.accuracy[0]}) {  // what was measured behind the last step
      curve->values.insert(curve->values.begin(), s->step_losses.size() - 1, NAN);
    }
    s->picture.loss[0].values = s->step_losses;
  }
  r.picture = s->folder->file("report.png");
  if (s->folder->started()) write_picture(s->picture, r.picture);
  check_saved(*s);
  for (const auto& [name, value] : r.metrics) s->progress->print(fmt::format("{}: {:.4f}", name, value));
  s->progress->print(
      fmt::format("trained {} samples in {:.1f} s ({:.0f} samples/s without evaluation)", s->samples_trained, r.train_seconds, r.samples_per_second));
  s->progress->print("checkpoint: " + r.checkpoint);
  s->progress->print("metrics:    " + r.metrics_file);
  s->progress->print("picture:    " + r.picture);
  s->progress->print_command(fmt::format("next:       {} eval --checkpoint {}", shell_word(s->request.program), shell_word(r.checkpoint)));
}

// Where the training ends is no end of an interval: what is measured there belongs to the row, the curves and the log all the same.
void final_eval(Session* s) {
  run_eval(s);
  if (!s->folder->started() || s->recorded_at == s->steps_done) return;
  s->folder->event("eval", s->epoch, s->steps_done, {s->metrics.begin(), s->metrics.end()});
  const std::string line = fmt::format("evaluation at the end: loss {:.4f}, accuracy {:.4f}", s->metrics.at("loss"), s->metrics.at("accuracy"));
  s->folder->log(line);
  for (const auto& [name, value] : s->metrics) s->folder->scalar("eval/" + name, s->steps_done, value);
  if (s->last_row.empty()) return;  // nothing was trained
  std::erase_if(s->last_row, [](const auto& column) { return column.first.starts_with("eval_"); });
  for (const auto& [name, value] : s->metrics) s->last_row.emplace_back("eval_" + name, value);
  s->folder->epoch_row(s->epoch, s->last_row);
  s->picture.loss[1].values.back() = s->metrics.at("loss");
  s->picture.accuracy[0].values.back() = s->metrics.at("accuracy");
}

TrainReport dry_run(Session* s) {
  const auto it = s->data.train->create_iterator({.num_epochs = 1});
  TensorList batch;
  it->next(&batch);
  batch = copy_ahead(batch, current_device());
  nn::Cell& net = *s->network;
  net.set_train(true);
  train::StepRunner run(s->model->train_step());
  // One that only collects gradients and one that updates: each is a graph of its own. The first run of each compiles it.
  const int64_t group = s->steps_per_update;
  double first = 0, mean = 0;
  ExecutableInfo info;
  for (const bool compiled : {false, true}) {
    for (const int64_t step : group > 1 ? std::vector<int64_t>{0, group - 1} : std::vector<int64_t>{0}) {
      const double start = now_seconds();
      (void)run(batch, step).loss.item();
      const double seconds = now_seconds() - start;
      if (!compiled) first += seconds;
      else mean += seconds * static_cast<double>(step == 0 && group > 1 ? group - 1 : 1) / static_cast<double>(group);
      const ExecutableInfo own = run.compiled().info();
      if (own.arena_bytes > info.arena_bytes) info = own;
    }
  }
  const double total = mean * static_cast<double>(s->steps_per_epoch * s->settings.get_int("train.epochs"));
  std::string text = fmt::format("data: {}\nnet: {}, {} parameters\nfirst step: {:.2f} s, further steps: {:.3f} s\n", s->data.description,
                                 net_name(s->settings), net.num_parameters(), first, mean);
  if (context().mode == Mode::kGraph) {
    text += fmt::format("memory for intermediate values: {:.1f} MB ({:.1f} MB without reuse)\n", static_cast<double>(info.arena_bytes) * 1e-6,
                        static_cast<double>(info.unplanned_bytes) * 1e-6);
  }
  text += fmt::format("estimated time for {} epochs of {} steps: {}\n", s->settings.get_int("train.epochs"), s->steps_per_epoch, duration_text(total));
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace

TrainReport train(const Settings& settings, const TrainRequest& request) {
  const DeviceScope device(device_of(settings));
  Session s(settings, request);
  std::optional<SignalGuard> guard;  // from the start: reading a large data set takes a while
  if (!request.dry_run) guard.emplace();
  build(&s);
  if (request.dry_run) {
    if (!request.checkpoint.empty()) load_weights(request.checkpoint, *s.network);
    return dry_run(&s);
  }
  if (const int number = g_signal; number != 0) {
    std::fputs("stopped by signal before the training began; nothing was written\n", stdout);
    s.report.stopped_by_signal = number;
    return s.report;
  }
  open_folder(&s);
  make_progress(&s);
  s.progress->print(fmt::format("{}: {} parameters; {}", net_name(settings), s.network->num_parameters(), s.data.description));
  if (const Device d = current_device(); !d.is_cpu()) s.progress->print("device: " + d.str());
  s.progress->print("run folder: " + s.folder->path());
  s.picture.title = fmt::format("{} on {}", net_name(settings), s.data.description);
  s.picture.loss = {{"training", {}}, {"evaluation", {}}};
  s.picture.accuracy = {{"evaluation", {}}};
  load_start(&s);

  train::TrainOptions& o = s.options;
  o.dataset_sink_mode = settings.get_bool("train.sink_mode");
  o.sink_size = settings.get_int("train.sink_size");
  o.on_corrupt = on_corrupt(settings);
  o.max_corrupt = settings.get_int("data.max_corrupt");
  o.max_steps = settings.get_int("train.max_steps");
  o.settings_hash = settings.hash();
  o.stop_requested = [] { return g_signal != 0; };

  const double start = now_seconds();
  try {
    const int64_t epochs = settings.get_int("train.epochs");
    // A run that a signal stopped behind its last step is resumed like any other: what is left is the evaluation. With other settings than
    // it was trained with, it is evaluated and left as it is.
    const bool done = o.initial_epoch >= epochs || (o.max_steps > 0 && o.initial_total >= o.max_steps);
    if (done) s.progress->print("all steps are trained already; raise train.epochs or train.max_steps to go on");
    s.steps_done = std::max<int64_t>(0, o.initial_total);
    if (!done || s.same_settings) s.model->train(epochs, s.data.train, make_callbacks(&s), o);
  } catch (const Error& e) {
    if (s.folder->started()) s.folder->log(std::string("error: ") + e.what());
    if (s.steps_done == std::max<int64_t>(0, o.initial_total)) name_image_size(s, e);
    throw;
  }
  s.report.train_seconds = now_seconds() - start;
  const int stopped_by = g_signal;  // once: a signal may come at any time
  s.report.stopped_by_signal = stopped_by;
  if (stopped_by == 0 && s.evaluated_at != s.steps_done) final_eval(&s);
  s.report.metrics = s.metrics;
  finish(&s);
  return s.report;
}

train::MetricValues evaluate(const Settings& settings, const std::string& checkpoint) {
  const DeviceScope device(device_of(settings));
  const Data data = open_data(settings, image_shape(settings), false);
  const nn::CellPtr network = make_network(settings, data.num_classes);
  check_classes(load_weights(checkpoint, *network, settings.get_string("train.eval_weights")), data.folder_names, checkpoint);
  set_mode(settings.get_string("train.mode") == "graph" ? Mode::kGraph : Mode::kPynative);
  train::ModelOptions options;
  options.metrics = make_metrics(settings, class_count(settings, data.num_classes));
  options.amp = amp_options(settings);
  train::Model model(network, make_loss(settings), nullptr, options);
  return model.eval(data.eval, on_corrupt_in_eval(settings), settings.get_int("data.max_corrupt"));
}

std::vector<Prediction> predict(const Settings& settings, const std::string& checkpoint, const std::vector<std::string>& images, int top) {
  const DeviceScope device(device_of(settings));
  const Shape image = image_shape(settings);
  const train::LoadedCheckpoint weights = train::with_weights(train::load_checkpoint(checkpoint), settings.get_string("train.eval_weights"));
  std::vector<std::string> names = train::class_names_of(weights);
  int64_t classes = std::max(settings.get_int("model.num_classes"), static_cast<int64_t>(names.size()));
  try {
    const Data data = open_data(settings, image, false);
    if (const std::string difference = class_difference(names, data.folder_names); !difference.empty())
      log::warn("predict", difference + "; the names are those of the training");
    if (names.empty()) {
      names = data.class_names;
      classes = std::max(classes, data.num_classes);
    }
  } catch (const Error& e) {
    // The data need not be here to classify an image; its class names are then unknown.
    if (classes == 0) throw SettingsError("the number of classes is not known without the data: " + e.message(), e.where(), "--set model.num_classes=N");
  }
  const nn::CellPtr network = make_network(settings, classes);
  load_weights(weights, *network);
  set_mode(settings.get_string("train.mode") == "graph" ? Mode::kGraph : Mode::kPynative);
  train::ModelOptions options;
  options.amp = amp_options(settings);
  train::Model model(network, nullptr, nullptr, options);
  const std::vector<std::string> files = image_files(images);
  const auto it = open_images(settings, image, files)->create_iterator({.num_epochs = 1});
  std::vector<Prediction> out;
  std::vector<Tensor> batch;
  const auto next = [&] {
    try {
      return it->next(&batch);
    } catch (const DataError& e) {
      if (e.code() != ErrorCode::kDataCorrupt) throw;
      // The rows of this data set are the files.
      throw DataError(e.code(), "not an image that can be read: " + e.message(), files[out.size()], "give files of JPEG, PNG, BMP, WebP or TIFF images");
    }
  };
  for (size_t i = 0; next(); ++i) {
    const std::vector<double> logits = model.predict(batch[0]).to_vector<double>();
    const double largest = *std::max_element(logits.begin(), logits.end());
    double total = 0;
    std::vector<std::pair<double, size_t>> order;
    for (size_t c = 0; c < logits.size(); ++c) {
      order.emplace_back(-std::exp(logits[c] - largest), c);
      total -= order.back().first;
    }
    std::sort(order.begin(), order.end());
    Prediction p{files[i], {}};
    for (size_t k = 0; k < order.size() && k < static_cast<size_t>(top); ++k) {
      const size_t c = order[k].second;
      p.classes.emplace_back(c < names.size() ? names[c] : std::to_string(c), -order[k].first / total);
    }
    out.push_back(std::move(p));
  }
  return out;
}

std::string shell_word(const std::string& text) {
  if (!text.empty() && text.find_first_of(" \t\n\"'$\\*?[](){}<>|&;#~`!") == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string settings_file_of(const std::string& checkpoint) {
  require_checkpoint(checkpoint);
  const fs::path folder = fs::path(checkpoint).parent_path();
  for (const fs::path& base : {folder, folder.parent_path()}) {
    const fs::path file = base / "config.resolved.yaml";
    if (train::file_exists(file.string(), "settings file")) return file.string();
  }
  return "";
}

}  // namespace sindri::app
