// The folder a run leaves behind: settings, environment, metrics, log, TensorBoard events and checkpoints; one writer at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sindri/app/settings.h"
#include "sindri/export.h"

namespace sindri::app {

/// Names and numbers of one event or row, in the order they are written.
using EventValues = std::vector<std::pair<std::string, double>>;

/// What repro.json records beside what the program knows by itself (build flags, instruction set, threads, settings hash).
struct ReproInfo {
  std::map<std::string, int64_t> seeds = {};
  std::string revision = {};  ///< version of Sindri, with the commit where it is known
  int64_t world_size = 1;
  std::string data_fingerprint = {};
  std::string loss_bits_hash = {};  ///< LossHash::hex()
  std::map<std::string, std::string> kernel_choices = {};  ///< kernel_choices()
  std::map<std::string, std::string> kernel_choice_origins = {};  ///< kernel_choice_origins()
};

/// Where a run goes on. What the folder holds of later steps is of a process that was killed, and is written again.
struct ResumePoint {
  int64_t step = 0;  ///< steps done in all
  int64_t epochs = 0;  ///< epochs whose row is written
  bool evaluated = true;  ///< the last of them at its end; what else is of an evaluation at that step is dropped
  bool within_epoch = false;  ///< steps of an epoch without a row are done
};

/// Creates the folder and holds a lock on it (flock on "lock") until destroyed. Throws IoError: kRunFolderBusy when
/// another process trains there, kIo when the folder cannot be made or written.
///
///   config.resolved.yaml  env.json  repro.json  metrics.jsonl  metrics.csv  log.txt  checkpoints/  events.out.tfevents.*
class SINDRI_API RunFolder {
 public:
  /// `path` empty: `runs/<name>-001`, or the next free number. A folder that exists is continued. What is in it
  /// stays untouched until start(); a folder that is not started leaves nothing behind.
  RunFolder(const std::string& path, const std::string& name);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string checkpoints() const { return file("checkpoints"); }
  /// True when the folder was there before and holds metrics of an earlier run.
  bool continued() const { return continued_; }

  /// Opens the files; a run that goes on continues them behind `point`, exactly as if it had never stopped. Throws IoError, before anything
  /// is changed, when something that is there cannot be read.
  void start(const std::optional<ResumePoint>& point = {});

  bool started() const;
  /// For a training that failed before its first step: takes everything away that this object has written, the folder too where it made that and nothing else
  /// lies in it. A folder that was there before stays as start() left it. Nothing may be written afterwards.
  void discard();

  void write_settings(const Settings& settings);
  /// env.json: program, command line, machine, instruction set, threads, SINDRI_ and OMP_ variables.
  void write_environment(const std::string& command_line = "");
  void write_repro(const ReproInfo& info, const Settings& settings);
  /// The kernel choices repro.json of an earlier run in this folder recorded; empty when there is none.
  std::map<std::string, std::string> recorded_kernel_choices() const;

  // From here on a write that fails does not end the training: it is logged once and tried again with the next one.

  /// One line of metrics.jsonl, {"event": kind, "time": …, "epoch": …, "step": …, values}, on disk (to the kernel) when this returns.
  /// NaN and infinities become the strings "NaN", "Infinity", "-Infinity": JSON has no numbers for them.
  void event(const std::string& kind, int64_t epoch, int64_t step, const EventValues& values);
  /// What the optimizer or a training algorithm measured: an event "measures", and a point of each curve for TensorBoard. `at_epoch_end`: at the end of
  /// its epoch rather than in its last step, so that a run resumed before that end measures again.
  void measures(int64_t epoch, int64_t step, const EventValues& values, bool at_epoch_end);
  /// One row of metrics.csv, which is rewritten in one step: a name that is new widens the header, an epoch that was there is replaced.
  void epoch_row(int64_t epoch, const EventValues& values);
  /// A line of log.txt, with the time before it.
  void log(const std::string& line);
  // What TensorBoard shows.

  /// A point of a curve.
  void scalar(const std::string& tag, int64_t step, double value);
  /// Points of several curves at one step, as one event.
  void scalars(int64_t step, const EventValues& values);
  /// The distribution of those values that are finite.
  void histogram(const std::string& tag, int64_t step, const std::vector<double>& values);
  void image(const std::string& tag, int64_t step, int64_t height, int64_t width, const std::string& png);
  /// Whether start() kept events of an earlier process with this tag.
  bool holds_events(const std::string& tag) const;
  /// Shown as Markdown.
  void text(const std::string& tag, int64_t step, const std::string& markdown);

  /// Tries again what could not be written; the first file that still lacks something, with the reason. Empty when all is there.
  std::string missing();
  /// Rows of metrics.csv, those of earlier processes included; "epoch" comes first.
  std::vector<EventValues> epoch_rows() const;

 private:
  struct Impl;
  std::string path_;
  bool continued_ = false;
  std::unique_ptr<Impl> impl_;
};

/// Running hash of float32 loss bits, for repro.json: equal hashes mean equal losses bit by bit.
class SINDRI_API LossHash {
 public:
  void add(float loss);
  /// Goes on from what hex() gave.
  void restore(const std::string& hex);
  std::string hex() const;

 private:
  uint64_t state_ = 0;
};

}  // namespace sindri::app
