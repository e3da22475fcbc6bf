// The plan of a launch, made before anything starts: ranks, environments, hosts and engine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sindri/app/launch.h"
#include "sindri/core/error.h"

namespace sindri::app {

/// A rank that this launcher starts as a child process.
struct PlannedRank {
  int rank = 0, local = 0, device = 0;
  std::string directory;  ///< absolute, or empty: the launcher's
  std::string log, env_file;  ///< absolute; env_file may be empty
  std::string result;  ///< file where the program writes its error code (comm::leave_code); absolute
  std::map<std::string, std::string> environment;  ///< variables set for it
  std::vector<int> cores;  ///< empty: all of the launcher's
};

struct LaunchPlan {
  std::string engine;  ///< local, mpi, slurm
  int size = 1;
  std::vector<PlannedRank> ranks;  ///< engine local: the ranks of this host
  std::vector<std::string> command;  ///< the command of every rank (local), or the whole mpirun or srun command line
  std::map<std::string, std::string> environment;  ///< environment of that command line
  std::string log_dir;  ///< absolute
  std::vector<std::string> notes;
  std::vector<int> shown = {0};  ///< indices into `ranks` whose output is also shown on the terminal
  std::vector<std::string> scratch;  ///< folders for Open MPI's temporary files: the launcher creates and removes them
};

/// Throws SettingsError. `attempt` counts restarts.
LaunchPlan plan_launch(const LaunchRequest& request, int attempt);
/// Returns the plan of launch_inside: one rank, as numbered by Open MPI or Slurm.
LaunchPlan plan_inside(const LaunchRequest& request);
/// Returns the commands and environments of --dry-run, without secrets.
std::string describe(const LaunchPlan& plan);

/// Returns the cores that this process may use, in order.
std::vector<int> usable_cores();
std::string host_name();
/// Returns whether a folder in PATH holds this program.
bool in_path(const std::string& program);

/// Returns the error of the launchers and their tools for bad input: what is wrong, where, and how to fix it.
SettingsError refuse(const std::string& what, const std::string& where, const std::string& fix);

}  // namespace sindri::app
