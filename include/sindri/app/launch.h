// What `sindri run` and `sindri launch-script` do, as C++ calls: the ranks of a job are started, watched and ended together.
// docs/guide/distributed.md describes them for users.
#pragma once

#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri::app {

/// A job. Patterns may hold {rank}, {local} and {device}.
struct LaunchRequest {
  int ranks = 0;  ///< 0: as many as the hosts or the table have
  int world = 0;  ///< engine local: ranks of the whole job, of which `ranks` are started here; 0: all of them
  int first_rank = 0;  ///< rank of the first one started here, where `world` is larger
  std::string master;  ///< "host:port" where rank 0 waits, where `world` is larger
  std::string hosts;  ///< "a:4,b:4": by mpirun, in a Slurm allocation by srun
  std::string rank_table;  ///< this server's share of it; empty: RANK_TABLE_FILE
  std::string engine = "auto";  ///< auto, local, mpi, slurm
  std::string log_dir = "rank_logs";  ///< rank_<r>.log of every rank
  std::string log_file;  ///< pattern in its place, from the ranks' folders: "log.txt"
  std::string work_dir;  ///< pattern of the ranks' folders, which are made: "train_parallel{local}"; empty: the caller's
  std::string env_file;  ///< each rank's environment is written there, but for the job's token
  std::string interface;  ///< subnet that mpirun is to use, "10.0.0.0/24"
  std::vector<int> shown = {0};  ///< local ranks whose output is shown, besides their logs
  std::string bind = "none";  ///< none, core: a share of the cores for each rank, where there are as many cores as ranks
  int max_restarts = 0;
  double timeout = 0;  ///< seconds; 0: none
  double term_grace = 30;  ///< seconds from a signal until ranks are killed
  bool with_parent = false;  ///< kill the ranks once the process that started this one is gone
  bool dry_run = false;  ///< print what would be done
  std::vector<std::string> command;  ///< program and arguments
  std::string launcher;  ///< path of the `sindri` program, for ranks that are it and ranks behind mpirun
};

/// Starts the ranks, shows the output of those in `shown` and waits. Returns the exit code: 0; that of the rank that is the cause (128 + s for signal s); 130 or 143 when
/// a signal stopped the job; 124 when the time is over. Throws SettingsError for a request that cannot work, before anything starts. Holds
/// the process' signals meanwhile; for programs, not for libraries.
SINDRI_API int launch(const LaunchRequest& request);

/// The part of a launch that runs behind mpirun or srun, in the place of one rank: logs, identity, and its end noted in `log_dir`.
SINDRI_API int launch_inside(const LaunchRequest& request);

/// A script for a batch system.
struct ScriptRequest {
  int nodes = 1, ranks_per_node = 1;
  int cpus_per_rank = 1;
  std::string name = "sindri";
  std::string run_dir;  ///< of the training (train.run_dir): where resume.json is looked for
  std::string backend = "mpi";  ///< mpi, gloo
  std::string time = "24:00:00";  ///< Slurm: limit of a job's time
  std::string partition;  ///< Slurm; empty: the default one
  std::string image;  ///< Kubernetes: of the containers
  std::string volume_claim;  ///< Kubernetes: of the shared volume, mounted at `mount`
  std::string mount = "/data";
  int restarts = 3;  ///< Kubernetes: runPolicy.backoffLimit
  std::vector<std::string> command;
};
/// An sbatch script that requeues itself until the training has ended. Throws SettingsError.
SINDRI_API std::string slurm_script(const ScriptRequest& request);
/// A kubeflow.org/v2beta1 MPIJob. Throws SettingsError.
SINDRI_API std::string mpijob(const ScriptRequest& request);
/// Writes a script whole or not at all. Throws IoError.
SINDRI_API void write_script(const std::string& text, const std::string& path);

}  // namespace sindri::app
