// A checkpoint of a training as its callbacks see it.
#pragma once

#include <string>

#include "sindri/train/callback.h"

namespace sindri::train {

/// The states of callbacks as text for TrainPosition::callbacks.
std::string states_of(const std::vector<Callback*>& callbacks);
/// Hands each its own. Throws ValueError for texts that are not theirs.
void load_states(const std::vector<Callback*>& callbacks, const std::string& text);
/// Writes all that the training needs in order to continue after this step. Losses must be settled and ranks merged. Throws as save_training_state.
void save_train_state(const TrainState& s, const std::string& path, bool save_optimizer, bool mindspore1);

/// `f` on rank 0 alone, its text on every rank; what it throws is thrown everywhere.
std::string on_first_rank(const TrainState& s, const char* what, const std::function<std::string()>& f);

}  // namespace sindri::train
