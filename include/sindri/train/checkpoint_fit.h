// Matching of a checkpoint's entries with parameters: the same rule for networks in C++ and in Python.
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

/// A parameter to be loaded.
struct WantedParam {
  std::string name;
  DType dtype;
  Shape shape;
};
/// The matching values, in the parameters' types and shapes, and a report.
struct CheckpointFit {
  LoadReport report;  ///< names in the parameters' form; entries without a parameter in alphabetical order
  std::vector<std::pair<std::string, Tensor>> values;
};
/// Matches entries with parameters by name, as load_param_into_net does, without assigning. Strict: types must be equal.
/// Otherwise widths of floats and of integers are cast.
SINDRI_API CheckpointFit fit_checkpoint(const std::vector<WantedParam>& params, const std::vector<CheckpointEntry>& entries, bool strict);

/// Entries of a training checkpoint besides its Parameters: random state and position.
SINDRI_API std::vector<CheckpointEntry> training_state_entries(const TrainPosition& position);
/// A position, with values for parameters and the random state ("sindri.rng_state").
struct ReadState {
  TrainPosition position;
  std::vector<std::pair<std::string, Tensor>> values;
};
/// Returns further parameters to load, given the file's entries.
using MoreWanted = std::function<std::vector<WantedParam>(const std::vector<CheckpointEntry>& entries)>;
/// Reads a training checkpoint, or the newest good one of a folder. others_allowed: the file may hold more than the run expects.
/// A table of learning rates of another length is omitted. dec_key and dec_mode: key and mode of an encrypted file (cipher.h); an
/// empty key means that it is not encrypted. `more`: further parameters that depend on the file's contents
/// (optim::Optimizer::expect_state). Throws the same errors as load_training_state.
SINDRI_API ReadState read_training_state(const std::string& path, std::vector<WantedParam> wanted, bool others_allowed, const std::string& dec_key = "",
                                         const std::string& dec_mode = "AES-GCM", const MoreWanted& more = {});

}  // namespace sindri::train
