// Run folders beside each other: how many epochs and seconds each took to a loss and an accuracy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri::app {

/// What a run folder says of its epochs.
struct RunHistory {
  std::string folder;
  std::string optimizer;  ///< by its name in settings
  std::vector<int64_t> epochs = {};  ///< numbers, rising
  std::vector<double> train_loss = {}, accuracy = {}, eval_loss = {};  ///< NaN where an epoch has none
  std::vector<double> steps = {};  ///< up to the end of each epoch
  std::vector<double> seconds = {};  ///< of training, evaluations left out, up to the end of each epoch
};

/// Reads metrics.jsonl and config.resolved.yaml of a run folder; of an epoch that was run twice the later. Throws IoError where they are not there,
/// DataError for a folder without a finished epoch.
SINDRI_API RunHistory read_run_history(const std::string& folder);

/// How far a run came.
struct RunGoal {
  double final_loss = 0, best_accuracy = 0;  ///< best_accuracy NaN without evaluations
  std::optional<int64_t> epochs_to_loss = {}, epochs_to_accuracy = {};
  std::optional<double> seconds_to_loss = {}, seconds_to_accuracy = {};
};

/// Runs, what they are measured by, and how far each came.
struct RunComparison {
  std::vector<RunHistory> runs = {};
  double loss = 0, accuracy = 0;  ///< accuracy NaN where a run has no evaluations
  std::vector<RunGoal> goals = {};
};

/// Without a goal given: the highest of the runs' last training losses, the lowest of their best accuracies, which all reach. Throws ValueError for fewer than
/// two folders, and as read_run_history.
SINDRI_API RunComparison compare_runs(const std::vector<std::string>& folders, std::optional<double> loss = {}, std::optional<double> accuracy = {});
SINDRI_API std::string comparison_text(const RunComparison& c);
SINDRI_API std::string comparison_json(const RunComparison& c);
/// Curves of training loss and accuracy against epochs, steps or seconds, as a PNG. Throws ValueError for another word, IoError.
SINDRI_API void write_comparison_picture(const RunComparison& c, const std::string& path, const std::string& against = "epochs");

}  // namespace sindri::app
