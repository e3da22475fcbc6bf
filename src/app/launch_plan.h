// What a launch comes to, before anything starts: which ranks, with which environment, where, by which engine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sindri/app/launch.h"
#include "sindri/core/error.h"

namespace sindri::app {

/// A rank that this launcher starts as its child.
struct PlannedRank {
  int rank = 0, local = 0, device = 0;
  std::string directory;  ///< absolute, or empty: the launcher's
  std::string log, env_file;  ///< absolute, or env_file empty
  std::string result;  ///< where the program leaves the code of its error (comm::leave_code); absolute
  std::map<std::string, std::string> environment;  ///< set for it
  std::vector<int> cores;  ///< empty: all of the launcher's
};

struct LaunchPlan {
  std::string engine;  ///< local, mpi, slurm
  int size = 1;
  std::vector<PlannedRank> ranks;  ///< engine local: those of this host
  std::vector<std::string> command;  ///< of every rank (local), or the whole mpirun or srun line
  std::map<std::string, std::string> environment;  ///< of that line
  std::string log_dir;  ///< absolute
  std::vector<std::string> notes;
  std::vector<int> shown = {0};  ///< indices into `ranks` whose output goes to the terminal, too
  std::vector<std::string> scratch;  ///< folders for what Open MPI keeps while the job runs: the launcher makes and removes them
};

/// Throws SettingsError. `attempt` counts restarts.
LaunchPlan plan_launch(const LaunchRequest& request, int attempt);
/// The plan of launch_inside: one rank, as Open MPI or Slurm numbers it.
LaunchPlan plan_inside(const LaunchRequest& request);
/// The commands and environments of --dry-run, secrets left out.
std::string describe(const LaunchPlan& plan);

/// Cores this process may use, in order.
std::vector<int> usable_cores();
std::string host_name();
/// Whether PATH names a folder with this program.
bool in_path(const std::string& program);

/// What the launchers and their tools throw at bad input: what is wrong, where, and how to put it right.
SettingsError refuse(const std::string& what, const std::string& where, const std::string& fix);

}  // namespace sindri::app
