// The folder of a run: settings, environment, metrics, log, TensorBoard events and checkpoints. It has one writer at a time.
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

/// Names and values of an event or row, in the order in which they are written.
using EventValues = std::vector<std::pair<std::string, double>>;

/// Content of repro.json besides what the program itself knows (build flags, instruction set, threads, settings hash).
struct ReproInfo {
  std::map<std::string, int64_t> seeds = {};  ///< by purpose
  std::string revision = {};  ///< version of Sindri, with the commit if known
  int64_t world_size = 1;  ///< number of ranks
  std::string data_fingerprint = {};  ///< fingerprint of the data
  std::string loss_bits_hash = {};  ///< LossHash::hex()
  std::map<std::string, std::string> kernel_choices = {};  ///< kernel_choices()
  std::map<std::string, std::string> kernel_choice_origins = {};  ///< kernel_choice_origins()
};

/// Position at which a run resumes. Entries of later steps in the folder come from a process that was killed, and are written
/// again.
struct ResumePoint {
  int64_t step = 0;  ///< steps done in total
  int64_t epochs = 0;  ///< epochs whose row is written
  /// Whether the run evaluates at the end of the last epoch. If not, any entries of an evaluation at that step are dropped: it
  /// was made only because the run had ended.
  bool evaluated = true;
  bool within_epoch = false;  ///< whether steps of an epoch without a row are done
};

/// The folder of a run. Creates it and holds a lock on it (flock on "lock") until destroyed. Throws IoError: kRunFolderBusy if
/// another process trains there, kIo if the folder cannot be created or written.
///
///   config.resolved.yaml  env.json  repro.json  metrics.jsonl  metrics.csv  log.txt  checkpoints/  events.out.tfevents.*
class SINDRI_API RunFolder {
 public:
  /// `path` empty: `runs/<name>-001`, or the next free number. An existing folder is continued. Its content stays untouched until
  /// start(); a folder that is not started leaves no files.
  RunFolder(const std::string& path, const std::string& name);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::string& path() const { return path_; }
  /// Path of a file in the folder.
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string checkpoints() const { return file("checkpoints"); }
  /// Whether the folder existed before and holds metrics of an earlier run.
  bool continued() const { return continued_; }

  /// Opens the files. A resumed run continues them after `point`, as if it had never stopped. Throws IoError, before anything is
  /// changed, if an existing file cannot be read.
  void start(const std::optional<ResumePoint>& point = {});

  /// Whether start() has been called.
  bool started() const;
  /// For a run that failed before its first step: removes everything that this object has written, and the folder if this object
  /// created it and it holds nothing else. A folder that existed before keeps the content that start() left. Do not write to the
  /// folder afterwards.
  void discard();

  /// Writes config.resolved.yaml.
  void write_settings(const Settings& settings);
  /// Writes env.json: program, command line, machine, instruction set, threads, SINDRI_ and OMP_ variables.
  void write_environment(const std::string& command_line = "");
  /// Writes repro.json.
  void write_repro(const ReproInfo& info, const Settings& settings);
  /// The kernel choices in repro.json of an earlier run in this folder; empty if there is none.
  std::map<std::string, std::string> recorded_kernel_choices() const;

  // For the following functions a failed write does not end the run: it is logged once and tried again with the next one.

  /// Appends a line to metrics.jsonl, {"event": kind, "time": …, "epoch": …, "step": …, values}; the operating system has the
  /// line when the function returns. NaN and infinities become the strings "NaN", "Infinity" and "-Infinity", since JSON has no
  /// numbers for them.
  void event(const std::string& kind, int64_t epoch, int64_t step, const EventValues& values);
  /// Records measurements of the optimizer or of a training algorithm: an event "measures", and a TensorBoard point for each
  /// curve. `at_epoch_end`: measured at the end of the epoch rather than in its last step, so that a run resumed before that end
  /// measures again.
  void measures(int64_t epoch, int64_t step, const EventValues& values, bool at_epoch_end);
  /// Writes a row of metrics.csv, which is rewritten atomically: a new name widens the header, an existing epoch is replaced.
  void epoch_row(int64_t epoch, const EventValues& values);
  /// Appends a line to log.txt, preceded by the time.
  void log(const std::string& line);
  // TensorBoard events.

  /// Adds a point to a curve.
  void scalar(const std::string& tag, int64_t step, double value);
  /// Adds points to several curves at one step, as one event.
  void scalars(int64_t step, const EventValues& values);
  /// Adds the distribution of the finite values.
  void histogram(const std::string& tag, int64_t step, const std::vector<double>& values);
  /// Adds a PNG image of `width` x `height` pixels.
  void image(const std::string& tag, int64_t step, int64_t height, int64_t width, const std::string& png);
  /// Whether start() kept events of an earlier process with this tag.
  bool holds_events(const std::string& tag) const;
  /// Adds a text, shown as Markdown.
  void text(const std::string& tag, int64_t step, const std::string& markdown);

  /// Tries again to write what is missing. Returns the first file that is still incomplete, with the reason; empty if there is
  /// none.
  std::string missing();
  /// Rows of metrics.csv, including those of earlier processes; "epoch" comes first.
  std::vector<EventValues> epoch_rows() const;

 private:
  struct Impl;
  std::string path_;
  bool continued_ = false;
  std::unique_ptr<Impl> impl_;
};

/// Running hash of the bits of float32 losses, for repro.json: equal hashes mean bitwise identical losses.
class SINDRI_API LossHash {
 public:
  void add(float loss);  ///< appends a loss
  /// Continues from a result of hex().
  void restore(const std::string& hex);
  /// The hash as hexadecimal text.
  std::string hex() const;

 private:
  uint64_t state_ = 0;
};

}  // namespace sindri::app
