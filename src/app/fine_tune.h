// What a training does beyond training all of a net to its last epoch: weights to begin with, frozen parts, the best checkpoint, an early end.
#pragma once

#include <string>

#include "src/app/session.h"

namespace sindri::app {

/// Freezes what train.freeze names. Before the optimizer is made.
void freeze_parts(Session* s);
/// Takes the weights of s->start_file over, as train.init_* say, and tells what became of the names.
void init_from(Session* s, const std::string& path);
/// "frozen: 18 parameters (…)", empty where nothing is.
std::string frozen_text(const Session& s);
/// Puts what was said before the run folder was opened into its log, and watches for the best evaluation (train.early_stop, checkpoint.keep_best): behind
/// the recorder.
void add_tuning_callbacks(Session* s, std::vector<train::CallbackPtr>* list);
/// Whether the training ends with the weights of its best evaluation: then they are loaded, on every rank, and the report's checkpoint is theirs. The
/// caller evaluates.
bool restore_best(Session* s);
/// What came of the watch, in words; empty without one.
std::string best_text(const Session& s);

}  // namespace sindri::app
