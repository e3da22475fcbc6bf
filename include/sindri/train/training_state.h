// Training state: everything a run needs to continue, namely parameters, optimizer state, random state and position in the data.
#pragma once
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/nn/cell.h"
#include "sindri/optim/optimizer.h"
#include "sindri/train/callback.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/loss_scale.h"

namespace sindri::train {

/// Position of a checkpoint in its run.
struct TrainPosition {
  int64_t epoch = 0;  ///< epochs completed
  int64_t step_in_epoch = 0;  ///< steps completed in the epoch after these
  int64_t step = 0;  ///< steps completed in total
  std::string dataset_state = {};  ///< state of the data iterator
  std::string settings_hash = {};  ///< hash of the settings; empty if unknown
  std::string data_fingerprint = {};  ///< fingerprint of the data; empty if unknown
  std::vector<std::string> class_names = {};  ///< names by label; empty if unknown
  StepCounts counts = {};  ///< of skipped steps
  std::string record = {};  ///< see TrainState::record
  std::string callbacks = {};  ///< states of callbacks, for TrainOptions::callbacks; empty if there are none
  bool epoch_open = false;  ///< the last epoch has all its steps, but its end is still due: for TrainOptions::epoch_not_ended
  int64_t samples = 0;  ///< samples trained on in total, by all ranks; 0 if unknown, as for the following fields
  int64_t global_batch = 0;  ///< samples of a step on all ranks
  int64_t virtual_ranks = 0;  ///< parts of the global batch
  int64_t ranks = 0;  ///< number of ranks when it was saved
  /// Separate states of ranks: moving statistics of virtual ranks, optimizer states of groups. For Model::restore_of_ranks.
  std::vector<std::pair<std::string, Tensor>> of_ranks = {};
};

/// Options of save_training_state.
struct SaveStateOptions {
  bool save_optimizer = true;  ///< false: omits optimizer, loss scale, algorithm and random state
  bool mindspore1 = false;  ///< see CheckpointConfig
  LossScaleManager* loss_scale_manager = nullptr;  ///< whose state is saved with the optimizer's
  std::vector<Parameter*> algorithm_state = {};  ///< of training algorithms, saved with the optimizer's
};

/// Writes a .ckpt that MindSpore can read: the network's parameters, the optimizer's state, the random state and the position.
/// Throws the same errors as save_checkpoint.
SINDRI_API void save_training_state(const std::string& path, nn::Cell& network, optim::Optimizer* optimizer, const TrainPosition& position,
                                    const SaveStateOptions& options = {});
/// Loads everything that save_training_state writes. Throws CheckpointError if an entry is missing, left over or of another
/// shape. Only a table of learning rates may have another length, if the run continues for more epochs than planned; the
/// optimizer then keeps its own.
SINDRI_API TrainPosition load_training_state(const std::string& path, nn::Cell& network, optim::Optimizer& optimizer,
                                             LossScaleManager* loss_scale_manager = nullptr, const std::vector<Parameter*>& algorithm_state = {});
/// The same for a file that is already loaded.
SINDRI_API TrainPosition load_training_state(const LoadedCheckpoint& file, nn::Cell& network, optim::Optimizer& optimizer,
                                             LossScaleManager* loss_scale_manager = nullptr, const std::vector<Parameter*>& algorithm_state = {});
/// The position of a loaded checkpoint. Throws CheckpointError for a file without training state.
SINDRI_API TrainPosition position_of(const LoadedCheckpoint& file);
/// Replaces the trained weights among a checkpoint's entries by those that the training algorithm `which` keeps under its name, a
/// dot and the parameter's name. Returns the file unchanged for "trained" and, with a warning, if the algorithm has not
/// accumulated any yet (BoostFacts::weights_count); evaluation during the run does the same. Throws CheckpointError if the file
/// has none, and ValueError for an algorithm that keeps no weights (check_keeps_weights).
SINDRI_API LoadedCheckpoint with_weights(LoadedCheckpoint file, const std::string& which);
/// Loads the network's parameters only (strict) and ignores optimizer entries in the file. `which`: see with_weights. Returns the
/// names of the network's classes by label; empty if the file has none.
SINDRI_API std::vector<std::string> load_weights(const std::string& path, nn::Cell& network, const std::string& which = "trained");
/// Writes the weights `which` and the class names, and nothing else, to a separate checkpoint. Returns its path. Throws
/// ValueError for "trained", and CheckpointError if the algorithm has not accumulated any weights yet.
SINDRI_API std::string export_weights(const std::string& checkpoint, const std::string& which, const std::string& output);
/// The class names in a loaded checkpoint.
SINDRI_API std::vector<std::string> class_names_of(const LoadedCheckpoint& checkpoint);

}  // namespace sindri::train
