// `sindri msrun`, also installed as `msrun`: MindSpore's launcher as a front end of app::launch. docs/guide/distributed.md,
// "msrun".
#pragma once

#include <string>
#include <vector>

#include "sindri/app/launch.h"
#include "sindri/export.h"

namespace sindri::app {

/// Arguments of `msrun`, with MindSpore 2.10's names and defaults.
struct MsrunRequest {
  int worker_num = 8;  ///< ranks of the whole job
  int local_worker_num = 8;  ///< ranks started on this host
  std::string master_addr = "127.0.0.1";  ///< host of rank 0, for jobs on several hosts
  int master_port = 8118;  ///< port of rank 0
  int node_rank = -1;  ///< index of this host; -1: the only one
  std::string log_dir;  ///< folder of worker_<rank>.log and scheduler.log; empty: the current one
  bool join = false;  ///< wait for the workers and return the job's exit code
  int cluster_time_out = 600;  ///< seconds until all ranks have joined; negative: no limit
  bool bind_core = false;  ///< give each rank a share of the cores
  std::string rank_table_file;
  std::string worker_log_name = "worker";  ///< logs are NAME_<rank>.log; {ip} and {hostname} are replaced
  std::string tail_worker_log = "-1";  ///< local workers to show with `join`: "-1" for all, or "0,2"
  std::vector<std::string> command;  ///< the script, or a program, and its arguments
  std::string launcher;  ///< path of the `sindri` program
};

/// The launch request that the arguments correspond to. Throws SettingsError for arguments that contradict each other and for a
/// script that does not exist.
SINDRI_API LaunchRequest msrun_launch(const MsrunRequest& request);

/// Starts the workers. With `join` it returns the job's exit code; otherwise it returns 0 at once, and the launcher continues in
/// the background with its messages in scheduler.log.
SINDRI_API int msrun(const MsrunRequest& request);

/// The Python interpreter for scripts: SINDRI_PYTHON, else `python` or `python3` in PATH.
SINDRI_API std::string python_interpreter();

}  // namespace sindri::app
