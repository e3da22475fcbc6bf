// What one rank does for all: files are read and written by rank 0, and every rank learns what came of it.
#pragma once

#include <functional>
#include <string>

#include "sindri/comm/communicator.h"
#include "sindri/train/checkpoint.h"

namespace sindri::train {

/// The text that `f` returns on rank 0, on every rank; `f` runs nowhere else. What it throws is thrown on every rank, with the same code. The other
/// ranks wait as long as it takes, in calls of at most `seconds` each: a slow disk is no rank that hangs. Collective.
SINDRI_API std::string from_first_rank(comm::Communicator& world, const char* what, const std::function<std::string()>& f, double seconds = 5);
/// Throws CommError(kCommMismatch) on every rank unless all give the same text, "name: value" a line: with the first line that differs and who has which.
SINDRI_API void check_same_on_all(comm::Communicator& world, const char* what, const std::string& lines);
/// Throws CommError(kCommMismatch) on every rank unless all have traced the same graph (its text): with the first line that differs and who has which.
/// Where a rank's random numbers begin, a constant that is added to the key, may differ. Collective.
SINDRI_API void check_same_graph(comm::Communicator& world, const std::string& text);
/// Gives every rank the entries that rank 0 has. Collective.
SINDRI_API void broadcast_checkpoint(comm::Communicator& world, LoadedCheckpoint* file);

}  // namespace sindri::train
