// The state of a training run that its parts (train.cc, start.cc, recorder.cc) share. Not for other verbs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sindri/app/app.h"
#include "sindri/app/plot.h"
#include "sindri/app/progress.h"
#include "sindri/app/run_folder.h"
#include "sindri/nn/metric.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/fine_tune.h"
#include "sindri/train/keep_best.h"
#include "sindri/train/model.h"
#include "sindri/train/training_state.h"
#include "src/app/data.h"
#include "src/app/group.h"

namespace sindri::app {

/// A run within one epoch has only the curve of its first steps.
constexpr size_t kPlottedSteps = 10000;

/// Everything that a run consists of. Folder and progress belong to rank 0; each other rank has a log.
struct Session {
  Session(const Settings& set, const TrainRequest& req, Group& ranks) : settings(set), request(req), group(ranks) {}
  const Settings& settings;
  const TrainRequest& request;
  Group& group;
  Parts parts;
  Shape image;
  Data data;
  nn::CellPtr network;
  std::shared_ptr<optim::Optimizer> optimizer;
  std::shared_ptr<nn::ConfusionMatrix> confusion;
  std::unique_ptr<train::Model> model;
  std::unique_ptr<RunFolder> folder;  // of rank 0 only
  std::unique_ptr<Progress> progress;  // of rank 0 only
  std::unique_ptr<RankLog> rank_log;  // of the other ranks
  std::string run_dir;
  std::shared_ptr<train::ModelCheckpoint> checkpoint;
  std::shared_ptr<train::KeepBest> best;  // null if no metric is watched
  train::FreezeReport frozen;
  std::vector<std::string> start_notes;  // lines for the log from before it was opened
  std::vector<float> rates;  // learning rate of each update; build() keeps existing rates
  int64_t steps_per_epoch = 0, steps_per_update = 1;
  train::TrainOptions options;
  std::optional<train::LoadedCheckpoint> start_file;  // checkpoint with the weights or the run to start from; on rank 0 only, until it is broadcast
  std::string resumed_from;  // checkpoint file
  bool same_settings = true;  // whether the settings are those of the run that is resumed
  LossHash loss_hash;
  RunPlot plot;
  TrainReport report;
  std::string measures_plot;  // file with the plot of the optimizer's measures; empty: none
  train::MetricValues metrics;  // of the last evaluation
  int64_t evaluations = 0, epoch = 0;
  int64_t steps_done = 0, evaluated_at = -1;  // steps trained in total, and at the last evaluation
  int64_t recorded_at = -1;  // steps_done at an evaluation that the run folder holds from an earlier process
  int64_t samples_trained = 0;
  int64_t measured_reported = 0;  // measured kernels that the log reports
  bool diverged = false;
  double step_seconds = 0;
  EventValues last_row;  // of metrics.csv
  std::map<int64_t, double> recorded_rates;  // samples per second of epochs that the run folder holds from an earlier process
  std::vector<double> step_losses;  // at most kPlottedSteps
  std::vector<std::vector<float>> step_times;  // seconds, by the step's variant (optimizer_report.h)

  double rate_at(int64_t step) const;
  /// Returns the loss to show and record for steps that have become known (dist.loss_scope).
  double shown_loss(const train::KnownSteps& known) const;
  /// Prints a line: on rank 0 on the terminal, on the others in their log.
  void say(const std::string& line);
  /// Returns the samples of a step, of all ranks.
  int64_t global_batch() const { return parts.virtual_ranks * settings.get_int("train.batch_size"); }
};

// start.cc

/// Returns a dataset's fingerprint (Dataset::fingerprint) of names and sizes only.
std::string without_times(std::string fingerprint);
/// Reads the number of virtual ranks from the checkpoint that a run resumes from; it must be known before anything is built.
void look_at_start(Session* s);
/// Opens the run folder on rank 0; all ranks learn its path.
void open_folder(Session* s);
/// Loads weights to start from, or the whole state of a run to continue.
void load_start(Session* s);

// lr_find.cc

/// Trains with increasing learning rates and writes TrainRequest::lr_find. `build` makes the session's parts.
void find_rate(Session* s, const std::function<void(Session*)>& build);

// recorder.cc

/// Writes the results of each step and epoch to the terminal and to the run folder.
train::CallbackPtr make_recorder(Session* s);
/// Reports this rank's progress to the watch, and each rank's own time (dist.log_steps).
train::CallbackPtr make_rank_times(Session* s);
void write_repro(Session* s);
void tell_of_measured_kernels(Session* s);

// evaluate.cc

void require_checkpoint(const std::string& path);
/// Loads the weights and returns the names of the classes. If the checkpoint is of another net, the error suggests choosing that net, since the program can do
/// nothing else.
std::vector<std::string> load_weights(const train::LoadedCheckpoint& file, nn::Cell& network);
/// Describes the difference between the classes of weights and of data; empty if there is none, or if one side has no names.
std::string class_difference(const std::vector<std::string>& weights, const std::vector<std::string>& data);
void check_classes(const std::vector<std::string>& weights, const std::vector<std::string>& data, const std::string& checkpoint);
dataset::OnCorrupt on_corrupt(const Settings& s);
/// A metric must not count one sample twice, so evaluation skips the bad samples that training replaces.
dataset::OnCorrupt on_corrupt_in_eval(const Settings& s);
/// Returns the metrics of the evaluation data, on every rank. Each rank evaluates its part of the data only if the metrics allow that.
train::MetricValues evaluate_with(train::Model& model, const Data& data, const Settings& settings, const Group& group);
/// Returns why the ranks cannot evaluate one part of the data each; empty if they can.
std::string why_not_in_parts(const Settings& settings, const std::map<std::string, nn::MetricPtr>& metrics);

}  // namespace sindri::app
