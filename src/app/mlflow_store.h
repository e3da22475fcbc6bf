// The run in MLflow's format (log.mlflow): a folder of text files, which `mlflow ui` shows. Metrics are those of metrics.csv.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sindri/app/run_folder.h"

namespace sindri::app {

struct Session;

/// A run in a store: STORE/EXPERIMENT/RUN with meta.yaml, metrics/, params/ and tags/. Functions throw IoError.
class MlflowRun {
 public:
  enum class Status { kRunning = 1, kFinished = 3, kFailed = 4, kKilled = 5 };

  /// Continues an existing run, with its name and start time. `id`: 32 hexadecimal digits.
  MlflowRun(const std::string& store, const std::string& experiment, const std::string& id, const std::string& name);
  void params(const std::vector<std::pair<std::string, std::string>>& values);
  /// Writes values at a step; replaces existing values of that step and later ones. NaN values are skipped.
  void metrics(int64_t step, const EventValues& values);
  void status(Status status);
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_, experiment_id_, id_, name_;
  int64_t start_ = 0;
};

/// Called at the start of a run on rank 0, after every row of metrics.csv, and at the end. A failed write is a warning and does not end the run. Nothing
/// happens if log.mlflow is empty.
void track_begin(Session* s);
void track_epoch(Session* s);
void track_end(Session* s, MlflowRun::Status status);

}  // namespace sindri::app
