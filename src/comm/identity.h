// How a process finds its rank: the sources of an identity, in order, from the environment (docs/guide/distributed.md
// has the table for users).
#pragma once

#include <map>
#include <string>

#include "src/comm/session.h"

namespace sindri::comm {

using Environment = std::map<std::string, std::string>;

/// Returns the environment variables of this process.
Environment process_environment();

/// Returns the first complete source among these, in order: SINDRI_RANK …; a rank table with RANK_ID or (SERVER_ID,
/// DEVICE_NUM, DEVICE_ID); RANK … (torchrun); Open MPI; Slurm; RANK_ID, RANK_SIZE, or MS_ROLE and its scheduler; one
/// rank. Reads the table's file, nothing else. Empty variables count as unset. Throws SettingsError for values that are
/// not numbers or out of range, for two complete sources that disagree (both are printed), and for errors of the rank
/// table. Throws CommError kLaunchedAlone if a launcher says that there are several tasks but nothing says how they
/// connect (with `options.backend` "mpi" they connect through MPI).
Identity find_identity(const Environment& environment, const Options& options);

/// Returns the job's token: SINDRI_JOB_TOKEN, else dist.job_id, else a token derived from what only the ranks of this job
/// share (the rank table's bytes; else address and size, which keeps strangers and other jobs apart but is not a secret).
std::string job_token(const Environment& environment, const Options& options, const Identity& identity);

}  // namespace sindri::comm
