// Training options besides training the whole net to its last epoch: initial weights, frozen parts, the best checkpoint, early stopping.
#pragma once

#include <string>

#include "src/app/session.h"

namespace sindri::app {

/// Freezes the parts that train.freeze names. Must run before the optimizer is made.
void freeze_parts(Session* s);
/// Loads the weights of s->start_file according to train.init_*, and reports which names were loaded.
void init_from(Session* s, const std::string& path);
/// Returns "frozen: 18 parameters (…)"; empty if none are frozen.
std::string frozen_text(const Session& s);
/// Adds callbacks that write earlier messages to the run folder's log and watch for the best evaluation (train.early_stop, checkpoint.keep_best). They run
/// after the recorder.
void add_tuning_callbacks(Session* s, std::vector<train::CallbackPtr>* list);
/// Returns whether the run ends with the weights of its best evaluation. If so, they are loaded on every rank, and the report names their checkpoint. The
/// caller evaluates.
bool restore_best(Session* s);
/// Describes the result of watching for the best evaluation; empty if it was not watched.
std::string best_text(const Session& s);

}  // namespace sindri::app
