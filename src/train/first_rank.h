// Work that one rank does for all: rank 0 reads and writes files, and every rank learns the result.
#pragma once

#include <functional>
#include <string>

#include "sindri/comm/communicator.h"
#include "sindri/train/checkpoint.h"

namespace sindri::train {

/// Runs `f` on rank 0 only and returns its text on every rank. An exception of `f` is thrown on every rank, with the same code. The other ranks wait as long as
/// it takes, in calls of at most `seconds` each, so that a slow disk does not look like a rank that hangs. Collective.
SINDRI_API std::string from_first_rank(comm::Communicator& world, const char* what, const std::function<std::string()>& f, double seconds = 5);
/// Throws CommError(kCommMismatch) on every rank unless all pass the same text, one "name: value" per line. The error shows the first line that differs, and
/// the ranks of each version.
SINDRI_API void check_same_on_all(comm::Communicator& world, const char* what, const std::string& lines);
/// Throws CommError(kCommMismatch) on every rank unless all have traced the same graph (its text). The error shows the first line that differs, and the ranks
/// of each version. The start of a rank's random numbers, a constant added to the key, may differ. Collective.
SINDRI_API void check_same_graph(comm::Communicator& world, const std::string& text);
/// Broadcasts rank 0's entries to all ranks. Collective.
SINDRI_API void broadcast_checkpoint(comm::Communicator& world, LoadedCheckpoint* file);

}  // namespace sindri::train
