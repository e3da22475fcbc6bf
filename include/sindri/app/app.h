// The verbs of the `sindri` program as C++ functions.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sindri/app/settings.h"
#include "sindri/export.h"
#include "sindri/train/callback.h"

namespace sindri::app {

/// Options of a training run besides its settings.
struct TrainRequest {
  std::string program = "sindri";  ///< how the program was called, as shell words, for the commands that a run suggests
  std::string command_line;  ///< recorded in env.json
  bool resume = false;  ///< continue from the newest good checkpoint of train.run_dir
  /// Weights to start from, all of which must match; with `resume` the file to resume from. See also train.init_from.
  std::string checkpoint;
  /// Allows a resume with another number of samples per step; the position in the data is then counted in samples.
  bool allow_batch_change = false;
  bool dry_run = false;  ///< open the data, build the network, run two steps, report memory and time, write nothing
  bool quiet = false;  ///< plain lines instead of a live progress line
  /// Path of a CSV file: trains some steps with rising learning rates, writes the loss curve there and prints a suggestion for
  /// lr.max. Makes no run folder.
  std::string lr_find;
};

/// Results of a training run.
struct TrainReport {
  std::string run_dir, checkpoint, metrics_file, plot;  ///< paths of the run folder, checkpoint, metrics file and plot (report.png)
  std::string best_checkpoint;  ///< of the best evaluation, if it is kept (train.early_stop, checkpoint.keep_best)
  std::string page;  ///< report.html; empty on ranks other than 0 and if nothing was trained
  train::MetricValues metrics;  ///< of the last evaluation
  double train_seconds = 0, samples_per_second = 0;
  int stopped_by_signal = 0;  ///< 0, or SIGINT, SIGTERM, SIGHUP; run_dir is empty if training had not started
  std::string resume_command;  ///< set if the run was stopped
};

/// Trains with the given settings and writes a run folder: config.resolved.yaml, env.json, repro.json, metrics.jsonl,
/// metrics.csv, log.txt, checkpoints/, TensorBoard events and report.png. SIGINT, SIGTERM, SIGUSR1 and SIGHUP finish the step,
/// save, write resume.json and return. A process that is one of several ranks (settings dist.*) joins the others (comm::init);
/// all return the same report, and rank 0 writes the folder.
SINDRI_API TrainReport train(const Settings& settings, const TrainRequest& request);

/// Evaluates a checkpoint on the evaluation data. With several ranks, each evaluates a part of the data, and all return the
/// metrics over all of it.
SINDRI_API train::MetricValues evaluate(const Settings& settings, const std::string& checkpoint);

/// Prediction for one image.
struct Prediction {
  std::string file;
  std::vector<std::pair<std::string, double>> classes;  ///< names and probabilities, best first
};
/// The `top` most probable classes of each image. `images` lists files, folders (the images directly in them), patterns such as
/// "photos/*.jpg", and "-" for an image on standard input. `each` receives every prediction as soon as it is computed. Throws
/// DataError, naming the file, if a file is not an image; with data.on_corrupt other than fail, such a file is skipped with a
/// warning.
SINDRI_API std::vector<Prediction> predict(const Settings& settings, const std::string& checkpoint, const std::vector<std::string>& images, int top = 5,
                                           const std::function<void(const Prediction&)>& each = nullptr);

/// Table of the cells of a network with their output shapes, parameters and multiply-adds, and the totals. The network is `net`,
/// or model.name of the settings if `net` is empty. If both are empty, the text lists all networks.
SINDRI_API std::string summary(const std::string& net, const Settings& settings, bool all_cells = false);

/// Without a name: one line per op, with its kernels in the order in which they are tried. With a name: everything that the
/// registry knows about that op. Throws ValueError for an unknown name.
SINDRI_API std::string ops(const std::string& name = "");
/// Text of docs/ops.md: a table of all ops with attributes, defaults and formulas.
SINDRI_API std::string ops_markdown();

/// Text of `sindri doctor`: doctor_text(examine()), see inspect.h.
SINDRI_API std::string doctor();
/// Checks the environment before a verb runs. Throws SettingsError for SINDRI_ variables with an invalid value and DeviceError
/// for an address space limit that is too low for any work; warns of SINDRI_ variables with unknown names. Under such a limit it
/// also starts the kernels' threads and makes malloc use one arena.
SINDRI_API void check_environment();

/// Loads the libraries named in SINDRI_LIBRARIES, whose registrars add training algorithms. Throws SettingsError if one cannot be
/// loaded.
SINDRI_API void load_libraries();

/// Version line: "sindri 0.1.0", with a newline.
SINDRI_API std::string version_text();

/// The settings file (config.resolved.yaml) of the run folder that holds the checkpoint; empty if there is none. Throws
/// CheckpointError if the checkpoint does not exist.
SINDRI_API std::string settings_file_of(const std::string& checkpoint);

/// Path of the settings file that is installed (or in the source tree) under a name: "quickstart", or a file in configs/ without
/// ".yaml". Throws SettingsError with the nearest name if there is none.
SINDRI_API std::string named_settings_file(const std::string& name);

/// Absolute path of the folder with the launch scripts (run_stage_1.sh, run_node1.sh, ...) and the example rank tables. Throws
/// IoError if they are not installed.
SINDRI_API std::string scripts_folder();

/// Absolute path of the documentation, whose README.md lists the pages. Throws IoError if it is not installed.
SINDRI_API std::string docs_folder();

/// `text` as one word of a shell command line, quoted if necessary.
SINDRI_API std::string shell_word(const std::string& text);

}  // namespace sindri::app
