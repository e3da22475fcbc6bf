// Comparison of run folders: epochs and seconds that each run took to reach a loss and an accuracy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri::app {

/// Values by epoch from a run folder.
struct RunHistory {
  std::string folder;
  std::string optimizer;  ///< its name in the settings
  std::vector<int64_t> epochs = {};  ///< epoch numbers, ascending
  std::vector<double> train_loss = {}, accuracy = {}, eval_loss = {};  ///< NaN for an epoch without the value
  std::vector<double> steps = {};  ///< total at the end of each epoch
  std::vector<double> seconds = {};  ///< of training without evaluations, up to the end of each epoch
};

/// Reads metrics.jsonl and config.resolved.yaml of a run folder. For an epoch that was run twice the later values count. Throws
/// IoError if a file is missing, DataError for a folder without a finished epoch.
SINDRI_API RunHistory read_run_history(const std::string& folder);

/// What a run reached, and when.
struct RunGoal {
  double final_loss = 0, best_accuracy = 0;  ///< best_accuracy: NaN without evaluations
  std::optional<int64_t> epochs_to_loss = {}, epochs_to_accuracy = {};  ///< unset if not reached
  std::optional<double> seconds_to_loss = {}, seconds_to_accuracy = {};  ///< unset if not reached
};

/// Runs, the goals they are compared by, and what each reached.
struct RunComparison {
  std::vector<RunHistory> runs = {};
  double loss = 0, accuracy = 0;  ///< the goals; accuracy: NaN if a run has no evaluations
  std::vector<RunGoal> goals = {};
};

/// Compares runs. The default goals are those that all runs reach: the highest of their final training losses and the lowest of
/// their best accuracies. Throws ValueError for fewer than two folders, and the same errors as read_run_history.
SINDRI_API RunComparison compare_runs(const std::vector<std::string>& folders, std::optional<double> loss = {}, std::optional<double> accuracy = {});
/// The comparison as a table for the terminal.
SINDRI_API std::string comparison_text(const RunComparison& c);
/// The comparison as JSON.
SINDRI_API std::string comparison_json(const RunComparison& c);
/// Plots training loss and accuracy against epochs, steps or seconds, as a PNG. Throws ValueError for any other value of
/// `against`, and IoError if the file cannot be written.
SINDRI_API void write_comparison_plot(const RunComparison& c, const std::string& path, const std::string& against = "epochs");

}  // namespace sindri::app
