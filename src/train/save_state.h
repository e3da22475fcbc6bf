// Checkpoints of a run, as callbacks write them.
#pragma once

#include <string>

#include "sindri/train/callback.h"

namespace sindri::train {

/// Returns the callbacks' states as text for TrainPosition::callbacks.
std::string states_of(const std::vector<Callback*>& callbacks);
/// Gives each callback its state. Throws ValueError if a callback does not accept its state.
void load_states(const std::vector<Callback*>& callbacks, const std::string& text);
/// Writes everything that the run needs in order to continue after this step. Losses must be settled and ranks merged. Throws the same errors as
/// save_training_state.
void save_train_state(const TrainState& s, const std::string& path, bool save_optimizer, bool mindspore1);

/// Runs `f` on rank 0 only and returns its text on every rank; an exception of `f` is thrown on every rank.
std::string on_first_rank(const TrainState& s, const char* what, const std::function<std::string()>& f);

}  // namespace sindri::train
