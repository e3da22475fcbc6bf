// The verb train: settings in, run folder out.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "sindri/app/app.h"
#include "sindri/app/dist.h"
#include "sindri/comm/trace.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/core/rng.h"
#include "sindri/device/device.h"
#include "sindri/models/models.h"
#include "sindri/op/kernel_choice.h"
#include "sindri/ops/random.h"
#include "src/app/build.h"
#include "src/app/event_extras.h"
#include "src/app/fine_tune.h"
#include "src/app/mlflow_store.h"
#include "src/app/optimizer_report.h"
#include "src/app/report_page.h"
#include "src/app/session.h"
#include "src/app/signals.h"
#include "src/core/clock.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

double Session::rate_at(int64_t step) const {
  return rates[static_cast<size_t>(std::clamp<int64_t>(step / steps_per_update, 0, static_cast<int64_t>(rates.size()) - 1))];
}

double Session::shown_loss(const train::KnownSteps& known) const {
  const train::DataParallel* const parallel = model->data_parallel();
  return parallel != nullptr && parallel->options().local_loss ? parallel->local_loss() : static_cast<double>(known.losses.back());
}

void Session::say(const std::string& line) {
  if (progress) progress->print(line);
  if (rank_log) rank_log->line(line);
}

namespace {

using train::TrainState;

// An image smaller than the net was designed for may leave nothing for its last layers. One image is run, so that the error names the setting.
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
                        "remove it to use the size that the network was designed for, or raise it");
  }
}

// A larger image leaves too much for the last layers of some nets. The first step then fails, and this error adds the setting.
void name_image_size(const Session& s, const Error& e) {
  if (e.code() != ErrorCode::kShape || s.settings.get_int("data.image_size") <= models::input_shape(net_name(s.settings))[1]) return;
  throw SettingsError(fmt::format("data.image_size {} does not fit {}: {}", s.image[1], net_name(s.settings), e.message()),
                      fmt::format("data.image_size, from {}{}{}", s.settings.origin("data.image_size"), e.where().empty() ? "" : " | ", e.where()),
                      "remove it to use the size that the network was designed for");
}

void build(Session* s) {
  const Settings& set = s->settings;
  set_seed(set.get_int("train.seed"));
  set_mode(set.get_string("train.mode") == "graph" ? Mode::kGraph : Mode::kPynative);
  ops::reset_rng(set.get_int("train.seed"));
  s->image = image_shape(set);
  look_at_start(s);
  Parts parts = s->parts;
  if (const std::string why = s->group.several() ? why_not_in_parts(set, make_metrics(set, 2)) : ""; !why.empty()) {
    if (s->group.first()) log::warn("train", fmt::format("every rank evaluates all of the data: {}", why));
    parts.rank = 0, parts.ranks = 1;
  }
  s->data = open_data(set, s->image, true, parts);
  check_unused_classes(set, s->data.num_classes);
  s->network = make_network(set, s->data.num_classes);
  freeze_parts(s);
  // With a sink size, an epoch has that many steps, regardless of where a pass over the data ends.
  const bool sized = set.get_bool("train.sink_mode") && set.get_int("train.sink_size") > 0;
  s->steps_per_epoch = sized ? set.get_int("train.sink_size") : s->data.train->get_dataset_size();
  const std::vector<train::BoostAlgorithmPtr> algorithms = make_boosts(set);
  s->steps_per_update = train::steps_per_update(algorithms);
  if (s->rates.empty()) s->rates = learning_rates(set, s->steps_per_epoch, s->steps_per_update);
  s->optimizer = make_optimizer(set, *s->network, s->rates);
  train::ModelOptions options;
  options.metrics = make_metrics(set, class_count(set, s->data.num_classes));
  // Only the plot shows the confusion matrix. With many classes it would be unreadable, and its memory grows with the square of their number.
  if (const int64_t classes = class_count(set, s->data.num_classes); classes <= 100)
    options.metrics["confusion_matrix"] = s->confusion = std::make_shared<nn::ConfusionMatrix>(classes);
  options.loss_scale = set.get_float("optimizer.loss_scale");
  options.amp = amp_options(set);
  options.loss_scale_manager = make_loss_scale(set);
  options.max_skipped = set.get_float("train.max_skipped");
  options.max_skips = set.get_int("dist.max_skips");
  options.micro_batches = set.get_int("train.micro_batches");
  options.algorithms = algorithms;
  options.prepare = s->data.prepare;
  options.eval_weights = set.get_string("train.eval_weights");
  options.nan_policy = set.get_string("train.nan_policy") == "skip" ? train::NanPolicy::kSkip : train::NanPolicy::kStop;
  if (s->group.several() || s->parts.virtual_ranks > 1) {
    options.data_parallel = data_parallel_options(set);
    options.data_parallel->virtual_ranks = s->parts.virtual_ranks;
  }
  check_image_size(*s);
  s->model = std::make_unique<train::Model>(s->network, make_loss(set), s->optimizer, options);
}

train::MetricValues run_eval(Session* s) {
  if (s->progress) s->progress->phase("evaluating");
  const double start = now_seconds();
  s->metrics = evaluate_with(*s->model, s->data, s->settings, s->group);
  s->metrics.erase("confusion_matrix");  // its scalar value repeats the accuracy
  ++s->evaluations;
  s->evaluated_at = s->steps_done;
  if (s->progress) s->progress->eval_took(now_seconds() - start);
  return s->metrics;
}

void make_progress(Session* s) {
  if (!s->group.first()) return;
  const Settings& set = s->settings;
  s->progress = std::make_unique<Progress>(ProgressOptions{.epochs = set.get_int("train.epochs"),
                                                           .steps_per_epoch = s->steps_per_epoch,
                                                           .max_steps = set.get_int("train.max_steps"),
                                                           .eval_every = std::max<int64_t>(set.get_int("train.eval_interval"), 0),
                                                           .save_every = set.get_int("checkpoint.save_every_epochs"),
                                                           .save_every_steps = set.get_int("checkpoint.save_every_steps"),
                                                           .eval_at_end = set.get_int("train.eval_interval") >= 0,
                                                           .eval_steps = s->data.eval->get_dataset_size(),
                                                           .quiet = s->request.quiet,
                                                           .log_every = set.get_int("log.every")});
}

// Reports to the progress how long saving within an epoch takes.
class TimedCheckpoint final : public train::ModelCheckpoint {
 public:
  TimedCheckpoint(Session* s, const std::string& prefix, const train::CheckpointConfig& config)
      : ModelCheckpoint(prefix, s->run_dir + "/checkpoints", config, s->request.resume), s_(s) {}
  void step_end(TrainState& state) override {
    const std::string before = latest_ckpt_file_name();
    const double start = now_seconds();
    ModelCheckpoint::step_end(state);
    if (s_->progress && latest_ckpt_file_name() != before) s_->progress->save_took(now_seconds() - start);
  }

 private:
  Session* s_;
};

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
  s->checkpoint = std::make_shared<TimedCheckpoint>(s, prefix, config);
  if (auto forms = make_step_forms(s)) list.push_back(std::move(forms));
  list.push_back(make_recorder(s));
  list.push_back(make_measures(s));
  add_tuning_callbacks(s, &list);
  if (s->group.several()) list.push_back(make_rank_times(s));
  list.push_back(s->checkpoint);
  if (const int64_t every = set.get_int("checkpoint.save_every_epochs"); every > 0) {
    list.push_back(std::make_shared<train::LambdaCallback>(nullptr, [s, every](TrainState& state) {
      if (state.cur_epoch_num % every != 0) return;
      const double start = now_seconds();
      s->checkpoint->save(state);
      if (s->progress) s->progress->save_took(now_seconds() - start);
    }));
  }
  return list;
}

// Uses the settings in the run folder, not the command line, which may name a checkpoint to start from.
std::string resume_command(const Session& s) {
  return fmt::format("{} train --config {} --resume", s.request.program, shell_word(s.run_dir + "/config.resolved.yaml"));
}

// A save that fails during the run is retried at the next interval; after the last one there is no retry. The most important error comes first.
void check_saved(const Session& s) {
  if (s.checkpoint && !s.checkpoint->last_error().empty()) {
    const std::string& last = s.checkpoint->latest_ckpt_file_name();
    throw IoError(
        "the last checkpoint was not saved: " + s.checkpoint->last_error(), s.run_dir + "/checkpoints",
        fmt::format("{}; then continue with: {}", last.empty() ? "free space or fix the permissions" : "the previous one is " + last, resume_command(s)));
  }
  s.group.from_first("records", [&] {
    if (const std::string missing = s.folder->missing(); !missing.empty())
      throw IoError("training was not affected, but its records are incomplete: cannot write " + missing, s.run_dir,
                    "free space or fix the permissions; then continue with: " + resume_command(s));
    return "";
  });
  if (s.best && !s.best->last_error().empty())
    throw IoError("the best checkpoint was not saved: " + s.best->last_error(), s.run_dir + "/checkpoints",
                  "free space or fix the permissions; the last checkpoint was saved");
}

// Written last: if it exists, everything else is complete. A failure to write it must not hide what was saved.
void write_stop(const Session& s) {
  if (!s.folder->started()) return;
  const int number = s.report.stopped_by_signal;
  const char* reason = number == SIGINT ? "SIGINT" : number == SIGHUP ? "SIGHUP" : "SIGTERM";
  const nlohmann::ordered_json j = {{"reason", reason}, {"checkpoint", s.report.checkpoint}, {"step", s.steps_done}, {"command", s.report.resume_command}};
  try {
    train::write_file_atomically(s.folder->file("resume.json"), j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n", "resume.json");
  } catch (const IoError& e) { log::warn("train", e.what()); }
}

void finish_stopped(Session* s) {
  TrainReport& r = s->report;
  r.resume_command = resume_command(*s);
  check_saved(*s);
  s->say(fmt::format("stopped by signal after saving {}", r.checkpoint));
  if (!s->group.first()) return;
  write_stop(*s);
  s->progress->print_command("resume with: ", r.resume_command);
}

// The parts of the plot that are known only at the end of a run.
void finish_plot(Session* s) {
  const int64_t n = s->confusion != nullptr ? s->confusion->num_classes() : 0;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t>& row = s->plot.confusion.emplace_back();
    for (int64_t j = 0; j < n; ++j) row.push_back(s->confusion->count(i, j));
  }
  if (n > 0) s->plot.class_names = s->data.class_names;
  for (auto i = static_cast<int64_t>(s->plot.class_names.size()); i < n; ++i) s->plot.class_names.push_back(std::to_string(i));
  if (s->plot.loss[0].values.size() == 1 && s->step_losses.size() > 1) {
    s->plot.unit = "step";
    for (Curve* curve : {&s->plot.loss[1], &s->plot.accuracy[0]}) {  // measured after the last step
      curve->values.insert(curve->values.begin(), s->step_losses.size() - 1, NAN);
    }
    s->plot.loss[0].values = s->step_losses;
  }
  if (!s->folder->started()) return;
  write_plot(s->plot, s->report.plot);
  record_plot(s);
  try {
    s->measures_plot = write_measures_plot(*s);
    write_report_page(*s);
    s->report.page = s->run_dir + "/report.html";
  } catch (const IoError& e) {  // a missing page must not change how the run ends
    log::warn("app", fmt::format("no report: {}", e.what()));
  }
}

void finish(Session* s) {
  TrainReport& r = s->report;
  const bool first = s->group.first();
  if (first) s->progress->finish();
  if (first && s->folder->started()) {
    write_repro(s);
    tell_of_measured_kernels(s);
    track_end(s, r.stopped_by_signal == 0 ? MlflowRun::Status::kFinished : MlflowRun::Status::kKilled);
  }
  r.run_dir = s->run_dir;
  r.checkpoint = s->checkpoint && !s->checkpoint->latest_ckpt_file_name().empty() ? s->checkpoint->latest_ckpt_file_name() : s->resumed_from;
  r.metrics_file = s->run_dir + "/metrics.csv";
  r.samples_per_second = s->step_seconds > 0 ? static_cast<double>(s->samples_trained) / s->step_seconds : 0;
  if (r.stopped_by_signal != 0) return finish_stopped(s);
  r.plot = s->run_dir + "/report.png";
  if (first) finish_plot(s);
  check_saved(*s);
  if (const std::string best = best_text(*s); !best.empty()) {
    s->say(best);
    if (first && s->folder->started()) s->folder->log(best);
  }
  for (const auto& [name, value] : r.metrics) s->say(fmt::format("{}: {:.4f}", name, value));
  s->say(fmt::format("trained {} samples in {:.1f} s ({:.0f} samples/s without evaluation)", s->samples_trained, r.train_seconds, r.samples_per_second));
  for (const std::string& line : optimizer_lines(*s)) {
    s->say(line);
    if (first && s->folder->started()) s->folder->log(line);
  }
  s->say("checkpoint: " + r.checkpoint);
  if (!r.best_checkpoint.empty()) s->say("best:       " + r.best_checkpoint);
  s->say("metrics:    " + r.metrics_file);
  s->say("plot:       " + r.plot);
  if (!r.page.empty()) s->say("report:     " + r.page);
  if (first)
    s->progress->print_command(
        "next:       ", fmt::format("{} eval --checkpoint {}", s->request.program, shell_word(r.best_checkpoint.empty() ? r.checkpoint : r.best_checkpoint)));
}

// The end of a run need not be the end of an interval. Its evaluation still belongs to the row, the curves and the log.
void final_eval(Session* s) {
  run_eval(s);
  if (s->best && s->checkpoint) s->best->see_after_end(s->metrics);
  if (!s->group.first() || !s->folder->started() || s->recorded_at == s->steps_done) return;
  s->folder->event("eval", s->epoch, s->steps_done, {s->metrics.begin(), s->metrics.end()});
  const std::string line = fmt::format("evaluation at the end: loss {:.4f}, accuracy {:.4f}", s->metrics.at("loss"), s->metrics.at("accuracy"));
  s->folder->log(line);
  for (const auto& [name, value] : s->metrics) s->folder->scalar("eval/" + name, s->steps_done, value);
  if (s->last_row.empty()) return;  // nothing was trained
  std::erase_if(s->last_row, [](const auto& column) { return column.first.starts_with("eval_"); });
  for (const auto& [name, value] : s->metrics) s->last_row.emplace_back("eval_" + name, value);
  s->folder->epoch_row(s->epoch, s->last_row);
  track_epoch(s);
  s->plot.loss[1].values.back() = s->metrics.at("loss");
  s->plot.accuracy[0].values.back() = s->metrics.at("accuracy");
}

TrainReport dry_run(Session* s) {
  const auto it = s->data.train->create_iterator({.num_epochs = 1});
  TensorList batch;
  it->next(&batch);
  batch = copy_ahead(batch, current_device());
  if (s->data.prepare) batch[0] = s->data.prepare(batch[0]);
  nn::Cell& net = *s->network;
  net.set_train(true);
  train::StepRunner run(s->model->train_step());
  // A step that only accumulates gradients and one that updates have separate graphs. The first run of each compiles it.
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
  if (s->group.first()) std::fputs(text.c_str(), stdout);
  return {};
}

// Whether this rank was asked to stop. The step communicates it to the others.
class Stop {
 public:
  explicit Stop(Session* s) : s_(s), file_(s->settings.get_string("dist.stop_file")) {}

  bool asked() {
    look_at_file();
    return SignalGuard::received() != 0;
  }
  /// Returns, after the last step and on all ranks, the signal that ended the run or came too late for that. 0: none.
  int number() const {
    SignalGuard::disarm();
    return s_->group.any_signal(SignalGuard::received());
  }

 private:
  // At most once a second: the file may be on a slow disk.
  void look_at_file() {
    if (file_.empty() || !s_->group.first() || now_seconds() < next_look_) return;
    next_look_ = now_seconds() + 1;
    std::error_code error;
    if (std::filesystem::exists(file_, error)) SignalGuard::stop(SIGTERM);
  }
  Session* s_;
  std::string file_;
  double next_look_ = 0;
};

void tell_of_error(Session* s, const Error& e) {
  if (s->folder && s->folder->started()) {
    s->folder->log(std::string("error: ") + e.what());
    track_end(s, MlflowRun::Status::kFailed);
  }
  if (s->rank_log) s->rank_log->line(std::string("error: ") + e.what());
}

void run_steps(Session* s, Stop* stop) {
  const Settings& settings = s->settings;
  train::TrainOptions& o = s->options;
  o.dataset_sink_mode = settings.get_bool("train.sink_mode");
  o.sink_size = settings.get_int("train.sink_size");
  o.on_corrupt = on_corrupt(settings);
  o.max_corrupt = settings.get_int("data.max_corrupt");
  o.max_steps = settings.get_int("train.max_steps");
  o.settings_hash = settings.hash();
  if (s->group.several()) o.plan = {"data: " + without_times(s->data.fingerprint)};  // times differ between copies
  o.stop_requested = [stop] { return stop->asked(); };
  try {
    const int64_t epochs = settings.get_int("train.epochs");
    // A run that a signal stopped after its last step is resumed like any other: only the evaluation remains. If the settings differ from those it was trained
    // with, it is evaluated and otherwise left unchanged.
    const bool done = o.initial_epoch >= epochs || (o.max_steps > 0 && o.initial_total >= o.max_steps);
    if (done) s->say("all steps are already trained; raise train.epochs or train.max_steps to continue");
    s->steps_done = std::max<int64_t>(0, o.initial_total);
    if (!done || s->same_settings) s->model->train(epochs, s->data.train, make_callbacks(s), o);
  } catch (const CommError& e) {
    tell_of_error(s, e);
    const std::string saved = s->checkpoint ? s->checkpoint->latest_ckpt_file_name() : "";
    throw CommError(e.code(), e.message(), e.where(),
                    saved.empty() ? e.fix() : fmt::format("{}; the last checkpoint is {}: {}", e.fix(), saved, resume_command(*s)));
  } catch (const Error& e) {
    tell_of_error(s, e);
    const bool untrained = s->steps_done == std::max<int64_t>(0, o.initial_total);
    // A run that failed to start leaves no folder. Logs of ranks and non-finite values are kept, as they show more than a failed start.
    if (untrained && s->folder && !s->group.several() && e.exit_code() != 6) s->folder->discard();
    if (untrained) name_image_size(*s, e);
    throw;
  }
}

// "momentum, learning rate 0.05 (cosine, 1 epoch of warm-up), bf16 O2; cpu (avx512), batch size 32; no training algorithms": lets a reader of the first lines
// check that this is the intended run.
std::string recipe_text(const Settings& settings) {
  std::string text =
      fmt::format("{}, learning rate {} ({}", settings.get_string("optimizer.name"), settings.get_float("lr.max"), settings.get_string("lr.schedule"));
  if (const double warmup = settings.get_float("lr.warmup_epochs"); warmup > 0) text += fmt::format(", {} epoch{} of warm-up", warmup, warmup == 1 ? "" : "s");
  const std::string level = settings.get_string("train.amp_level");
  text += level == "O0" ? "), float32; " : fmt::format("), {} {}; ", half_type(settings), level);
  const Device device = current_device();
  text += device.is_cpu() ? fmt::format("cpu ({})", cpu_isa_name(cpu_isa())) : device.str();
  text += fmt::format(", batch size {}; ", settings.get_int("train.batch_size"));
  std::vector<std::string> algorithms;
  for (const train::BoostAlgorithmPtr& a : train::in_order(make_boosts(settings)))
    if (a->idle().empty()) algorithms.push_back(a->name());
  return text + (algorithms.empty() ? "no training algorithms" : fmt::format("training algorithms: {}", fmt::join(algorithms, ", ")));
}

void introduce(Session* s) {
  const Settings& settings = s->settings;
  s->say(fmt::format("{}: {} parameters; {}", net_name(settings), s->network->num_parameters() + s->frozen.elements, s->data.description));
  if (const std::string frozen = frozen_text(*s); !frozen.empty()) {
    s->say(frozen);
    s->start_notes.push_back(frozen);
  }
  s->say("training: " + recipe_text(settings));
  if (s->parts.virtual_ranks > 1)
    s->say(fmt::format("{}, {} virtual ranks of {} samples: global batch {}", s->group.text(), s->parts.virtual_ranks, settings.get_int("train.batch_size"),
                       s->global_batch()));
  s->say("run folder: " + s->run_dir);
  s->plot.title = fmt::format("{} on {}", net_name(settings), s->data.description);
  s->plot.loss = {{"training", {}}, {"evaluation", {}}};
  s->plot.accuracy = {{"evaluation", {}}};
}

TrainReport train_in(const Settings& settings, const TrainRequest& request, Group& group) {
  Session s(settings, request, group);
  if (!request.lr_find.empty()) {
    find_rate(&s, build);
    return s.report;
  }
  std::optional<SignalGuard> guard;  // from the start: reading a large dataset takes a while
  if (!request.dry_run) guard.emplace(group.several() ? settings.get_float("dist.term_grace") : 0);
  build(&s);
  if (request.dry_run) {
    load_start(&s);
    return dry_run(&s);
  }
  if (const int number = group.any_signal(SignalGuard::received()); number != 0) {
    if (group.first()) std::fputs("stopped by signal before the training began; nothing was written\n", stdout);
    s.report.stopped_by_signal = number;
    return s.report;
  }
  open_folder(&s);
  make_progress(&s);
  introduce(&s);
  load_start(&s);
  const double start = now_seconds();
  Stop stop(&s);
  run_steps(&s, &stop);
  s.report.train_seconds = now_seconds() - start;
  s.report.stopped_by_signal = stop.number();
  if (s.report.stopped_by_signal == 0 && s.evaluated_at != s.steps_done && settings.get_int("train.eval_interval") >= 0) final_eval(&s);
  if (s.report.stopped_by_signal == 0 && restore_best(&s)) run_eval(&s);
  s.report.metrics = s.metrics;
  finish(&s);
  return s.report;
}

}  // namespace

TrainReport train(const Settings& settings, const TrainRequest& request) {
  const DeviceScope asked(device_of(settings));
  Group group(settings);
  const DeviceScope own(group.device(current_device(), settings));
  try {
    return train_in(settings, request, group);
  } catch (const std::exception& e) {
    group.tell(e);
    throw;
  }
}

}  // namespace sindri::app
