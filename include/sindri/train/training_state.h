// Everything a training needs to go on: parameters, optimizer state, random state, position in the data.
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

/// Where in a training a checkpoint was made.
struct TrainPosition {
  int64_t epoch = 0;  ///< epochs completed
  int64_t step_in_epoch = 0;  ///< steps completed in the epoch after those
  int64_t step = 0;  ///< steps completed in all
  std::string dataset_state = {};  ///< of the data iterator
  std::string settings_hash = {};  ///< of the settings it was trained with; empty when unknown
  std::string data_fingerprint = {};  ///< of the data it was trained on; empty when unknown
  std::vector<std::string> class_names = {};  ///< by label; empty when unknown
  StepCounts counts = {};
  std::string record = {};  ///< see TrainState::record
  std::string callbacks = {};  ///< the states of callbacks, for TrainOptions::callbacks; empty when there are none
  bool epoch_open = false;  ///< the epochs' last has all its steps, and its end is still to come: for TrainOptions::epoch_not_ended
  int64_t samples = 0;  ///< trained on in all, by all ranks; 0 when unknown, as are those below
  int64_t global_batch = 0;  ///< samples of a step, of all ranks
  int64_t virtual_ranks = 0;  ///< parts of the global batch
  int64_t ranks = 0;  ///< that there were when it was saved
  /// What ranks had each for themselves: moving averages of virtual ranks, optimizer states of groups. For Model::restore_of_ranks.
  std::vector<std::pair<std::string, Tensor>> of_ranks = {};
};

/// What save_training_state leaves out, and for whom it writes.
struct SaveStateOptions {
  bool save_optimizer = true;
  bool mindspore1 = false;  ///< see CheckpointConfig
  LossScaleManager* loss_scale_manager = nullptr;  ///< whose state is saved with the optimizer's
  std::vector<Parameter*> algorithm_state = {};  ///< of training algorithms, likewise
};

/// Writes a MindSpore-readable .ckpt: the network's parameters, the optimizer's state, the random state and the position.
SINDRI_API void save_training_state(const std::string& path, nn::Cell& network, optim::Optimizer* optimizer, const TrainPosition& position,
                                    const SaveStateOptions& options = {});
/// Loads all of it back. Throws CheckpointError when anything is missing, left over or of another shape; only a table of learning
/// rates may have another length (training goes on for more epochs than planned): then the optimizer keeps its own.
SINDRI_API TrainPosition load_training_state(const std::string& path, nn::Cell& network, optim::Optimizer& optimizer,
                                             LossScaleManager* loss_scale_manager = nullptr, const std::vector<Parameter*>& algorithm_state = {});
/// The same, of a file that is loaded.
SINDRI_API TrainPosition load_training_state(const LoadedCheckpoint& file, nn::Cell& network, optim::Optimizer& optimizer,
                                             LossScaleManager* loss_scale_manager = nullptr, const std::vector<Parameter*>& algorithm_state = {});
/// Where it was made. Throws CheckpointError for a file without a training's state.
SINDRI_API TrainPosition position_of(const LoadedCheckpoint& file);
/// The entries of a checkpoint with other weights in place of the trained ones: those that the training algorithm `which` keeps under its
/// own name, a dot and that of the parameter; as it is for "trained", and, with a warning, where the algorithm has taken in none yet
/// (BoostFacts::weights_count): evaluation within the training does the same. Throws CheckpointError where the file has none, ValueError for an algorithm
/// that keeps no weights (check_keeps_weights).
SINDRI_API LoadedCheckpoint with_weights(LoadedCheckpoint file, const std::string& which);
/// Loads the network's parameters only (strict); optimizer entries in the file are ignored. `which`: see with_weights. Returns the names of
/// the classes the network was trained to tell apart, by label; empty where the file has none.
SINDRI_API std::vector<std::string> load_weights(const std::string& path, nn::Cell& network, const std::string& which = "trained");
/// Writes those weights and the names of the classes, and nothing else, to a checkpoint of their own. Returns its path. Throws CheckpointError where the
/// algorithm has taken in none yet.
SINDRI_API std::string export_weights(const std::string& checkpoint, const std::string& which, const std::string& output);
/// Those names, of a file that is loaded.
SINDRI_API std::vector<std::string> class_names_of(const LoadedCheckpoint& checkpoint);

}  // namespace sindri::train
