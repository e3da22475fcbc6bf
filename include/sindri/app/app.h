// What the `sindri` program does, as C++ calls: each verb of the command line is one function here.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sindri/app/settings.h"
#include "sindri/export.h"
#include "sindri/train/callback.h"

namespace sindri::app {

/// What a training takes besides its settings.
struct TrainRequest {
  std::string program = "sindri";  ///< as it was called, in words of a shell, for the commands that a run suggests
  std::string command_line;  ///< recorded in env.json
  bool resume = false;  ///< continue from the newest good checkpoint of train.run_dir
  std::string checkpoint;  ///< start from these weights, all of which must fit, or resume from this file when `resume`; see also train.init_from
  bool allow_batch_change = false;  ///< resume with another number of samples per step: the position in the data is kept by samples
  bool dry_run = false;  ///< open the data, build the net, run two steps, report memory and time, write nothing
  bool quiet = false;  ///< plain lines instead of a live progress line
  /// A file: trains some steps with rising learning rates, writes the curve of the loss there as CSV and prints a suggestion for lr.max; no run folder.
  std::string lr_find;
};

/// What a training left behind.
struct TrainReport {
  std::string run_dir, checkpoint, metrics_file, picture;
  std::string best_checkpoint;  ///< of the best evaluation, where it is kept (train.early_stop, checkpoint.keep_best)
  std::string page;  ///< report.html; empty on other ranks than 0 and where nothing was trained
  train::MetricValues metrics;  ///< of the last evaluation
  double train_seconds = 0, samples_per_second = 0;
  int stopped_by_signal = 0;  ///< 0, or SIGINT, SIGTERM, SIGHUP; then run_dir is empty when nothing had begun
  std::string resume_command;  ///< set when stopped
};

/// Trains as the settings say and leaves a run folder (quality: config.resolved.yaml, env.json, repro.json, metrics.jsonl,
/// metrics.csv, log.txt, checkpoints/, TensorBoard events, report.png). SIGINT, SIGTERM, SIGUSR1 and SIGHUP finish the step, save, write resume.json and
/// return. A process that is one of several (settings dist.*) is joined with the others (comm::init): all return the same report, rank 0 writes the folder.
SINDRI_API TrainReport train(const Settings& settings, const TrainRequest& request);

/// Metrics of a checkpoint on the evaluation data; of several ranks, each of which takes a part of it, all have those of the whole.
SINDRI_API train::MetricValues evaluate(const Settings& settings, const std::string& checkpoint);

/// One classified image.
struct Prediction {
  std::string file;
  std::vector<std::pair<std::string, double>> classes;  ///< names and probabilities, best first
};
/// The `top` most probable classes of each image. `images`: files; folders, for the images that lie in them; patterns such as "photos/*.jpg"; "-" for an
/// image on the standard input. A file that is no image is a DataError that names it, or with data.on_corrupt other than fail left out with a warning.
/// `each` sees every prediction as soon as it is there.
SINDRI_API std::vector<Prediction> predict(const Settings& settings, const std::string& checkpoint, const std::vector<std::string>& images, int top = 5,
                                           const std::function<void(const Prediction&)>& each = nullptr);

/// Table of cells with output shapes, parameters and multiply-adds, and the totals. Without a name: of the settings' net, else the list of all nets.
SINDRI_API std::string summary(const std::string& net, const Settings& settings, bool all_cells = false);

/// One line per op with its kernels, in the order in which they are asked, or all that the registry knows of one op. Throws ValueError for
/// an unknown name.
SINDRI_API std::string ops(const std::string& name = "");
/// docs/ops.md: the table of all ops with attributes, defaults, and what they compute.
SINDRI_API std::string ops_markdown();

/// doctor_text(examine()), see inspect.h.
SINDRI_API std::string doctor();
/// What the program looks at before a verb: SINDRI_ variables with a value that means nothing (SettingsError) or a name that nothing reads
/// (a warning), and a limit of address space that is too low for any work (DeviceError). Under such a limit it also starts the kernels'
/// threads and tells malloc to use one arena.
SINDRI_API void check_environment();

/// Loads the libraries that SINDRI_LIBRARIES names, whose registrars add training algorithms. Throws SettingsError where one cannot be loaded.
SINDRI_API void load_libraries();

/// "sindri 0.1.0", with a newline.
SINDRI_API std::string version_text();

/// The settings file (config.resolved.yaml) of the run folder that holds the checkpoint; empty when there is none. Throws
/// CheckpointError when the checkpoint does not exist.
SINDRI_API std::string settings_file_of(const std::string& checkpoint);

/// The settings file that is installed (or stands in the sources) under a name: "quickstart", or a file of configs/ without its ".yaml". Throws
/// SettingsError with the nearest name where there is none.
SINDRI_API std::string named_settings_file(const std::string& name);

/// The folder of the launch scripts (run_stage_1.sh, run_node1.sh, ...) and the example rank tables, absolute. Throws IoError if they are not installed.
SINDRI_API std::string scripts_folder();

/// The folder of the documentation, absolute: README.md lists its pages. Throws IoError if it is not installed.
SINDRI_API std::string docs_folder();

/// `text` as one word of a shell command line: quoted where it must be.
SINDRI_API std::string shell_word(const std::string& text);

}  // namespace sindri::app
