// `sindri run` and `sindri launch-script` as C++ functions: the ranks of a job are started, monitored and ended together.
// docs/guide/distributed.md describes them for users.
#pragma once

#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri::app {

/// A job. Patterns may contain {rank}, {local} and {device}.
struct LaunchRequest {
  int ranks = 0;  ///< 0: the number in the hosts or the table
  int world = 0;  ///< engine local: number of ranks of the whole job, if only `ranks` of them are started here; 0: all are
  int first_rank = 0;  ///< first rank that is started here, if `world` is larger than `ranks`
  std::string master;  ///< "host:port" of rank 0, if `world` is larger than `ranks`
  std::string hosts;  ///< "a:4,b:4": starts ranks with mpirun, in a Slurm allocation with srun
  std::string rank_table;  ///< rank table; the ranks of this server are started. Empty: RANK_TABLE_FILE
  std::string engine = "auto";  ///< auto, local, mpi, slurm
  std::string log_dir = "rank_logs";  ///< folder for rank_<r>.log of every rank
  std::string log_file;  ///< pattern that replaces log_dir, relative to the ranks' folders: "log.txt"
  std::string work_dir;  ///< pattern of the ranks' folders, which are created: "train_parallel{local}"; empty: the caller's
  std::string env_file;  ///< file for each rank's environment, without the job's token
  std::string interface;  ///< subnet for mpirun, "10.0.0.0/24"
  std::vector<int> shown = {0};  ///< local ranks whose output is shown in addition to being logged
  std::string bind = "none";  ///< none; core: a share of the cores for each rank, if there are at least as many cores as ranks
  int max_restarts = 0;  ///< restarts after exit code 7 or a signal
  double timeout = 0;  ///< seconds; 0: none
  double term_grace = 30;  ///< seconds from a signal until ranks are killed
  bool with_parent = false;  ///< kill the ranks when the process that started this one ends
  bool dry_run = false;  ///< print what would be done
  std::vector<std::string> command;  ///< program and arguments
  std::string launcher;  ///< path of the `sindri` program, for ranks that run it and for ranks started by mpirun
};

/// Starts the ranks, shows the output of those in `shown` and waits. Returns the exit code: 0 for success, the exit code of the
/// rank that caused the failure (128 + s for signal s), 130 or 143 if a signal stopped the job, and 124 after the timeout. Throws
/// SettingsError for a request that cannot work, before anything starts. Handles the process's signals meanwhile; for programs,
/// not for libraries.
SINDRI_API int launch(const LaunchRequest& request);

/// The part of a launch that mpirun or srun starts in place of a rank: sets up logs and identity, and records the rank's end in
/// `log_dir`.
SINDRI_API int launch_inside(const LaunchRequest& request);

/// Options of a script for a batch system.
struct ScriptRequest {
  int nodes = 1, ranks_per_node = 1;
  int cpus_per_rank = 1;
  std::string name = "sindri";
  std::string run_dir;  ///< of the training run (train.run_dir), where resume.json is read
  std::string backend = "mpi";  ///< mpi, gloo
  std::string time = "24:00:00";  ///< Slurm: time limit of a job
  std::string partition;  ///< Slurm; empty: the default partition
  std::string image;  ///< Kubernetes: container image
  std::string volume_claim;  ///< Kubernetes: claim of the shared volume, mounted at `mount`
  std::string mount = "/data";
  int restarts = 3;  ///< Kubernetes: runPolicy.backoffLimit
  std::vector<std::string> command;
};
/// An sbatch script that requeues itself until training has finished. Throws SettingsError.
SINDRI_API std::string slurm_script(const ScriptRequest& request);
/// A kubeflow.org/v2beta1 MPIJob. Throws SettingsError.
SINDRI_API std::string mpijob(const ScriptRequest& request);
/// Writes a script atomically. Throws IoError.
SINDRI_API void write_script(const std::string& text, const std::string& path);

}  // namespace sindri::app
