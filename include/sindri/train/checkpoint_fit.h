// Which entries of a checkpoint fit which parameters: one rule for C++ networks and Python's.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/dtype.h"
#include "sindri/core/shape.h"
#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/training_state.h"

namespace sindri::train {

/// A parameter that wants a value.
struct WantedParam {
  std::string name;
  DType dtype;
  Shape shape;
};
/// What fits, in the parameters' types and shapes, and what does not.
struct CheckpointFit {
  LoadReport report;  ///< names as the parameters have them, those left over in alphabetical order
  std::vector<std::pair<std::string, Tensor>> values;
};
/// Matches entries with parameters by name, as load_param_into_net does; assigns nothing. Strict: types must agree, else widths of floats and of
/// integers are cast.
SINDRI_API CheckpointFit fit_checkpoint(const std::vector<WantedParam>& params, const std::vector<CheckpointEntry>& entries, bool strict);

/// What a checkpoint of a training holds beside Parameters: the random state and the position.
SINDRI_API std::vector<CheckpointEntry> training_state_entries(const TrainPosition& position);
/// A position, and values for parameters and the random state ("sindri.rng_state").
struct ReadState {
  TrainPosition position;
  std::vector<std::pair<std::string, Tensor>> values;
};
/// Reads a training's checkpoint; of a folder the newest good one. Errors as load_training_state has them; with others_allowed the file may hold
/// more than the training wants. A table of learning rates of another length is left out. dec_key and dec_mode: of an encrypted file (cipher.h); no key:
/// it is none. `more`: what is wanted beside, once it is known what the file holds (optim::Optimizer::expect_state).
using MoreWanted = std::function<std::vector<WantedParam>(const std::vector<CheckpointEntry>& entries)>;
SINDRI_API ReadState read_training_state(const std::string& path, std::vector<WantedParam> wanted, bool others_allowed, const std::string& dec_key = "",
                                         const std::string& dec_mode = "AES-GCM", const MoreWanted& more = {});

}  // namespace sindri::train
