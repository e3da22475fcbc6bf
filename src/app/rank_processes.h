// The ranks of this host as processes: started, shown, watched, and ended together.
//
// All of them are in one process group, whose leader is a keeper: a process that only waits for the launcher's end and then kills the group. So nothing
// outlives the launcher, even if it is killed itself. Ranks also ask the kernel to end with it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/app/launch_plan.h"

namespace sindri::app {

/// The end of a rank.
struct RankEnd {
  int rank = 0;
  pid_t pid = -1;
  std::string host, log;
  bool ended = false, killed_by_us = false;
  int code = 0;  ///< exit code; for a signal 128 + its number
  int signal = 0;  ///< 0: no signal ended it
  int error = 0;  ///< code of the error that ended it (7003), if it reported one
  double when = 0;  ///< seconds since the epoch
  int64_t log_start = 0;  ///< byte of the log where this attempt starts
  bool failed() const { return ended && code != 0; }
};

/// The end of all ranks.
struct JobEnd {
  std::vector<RankEnd> ranks;
  int stop_signal = 0;  ///< the first signal that was passed on
  bool timed_out = false;
  int told = -1;  ///< index of the rank whose failure was printed
  int cause = -1;  ///< index into `ranks` of the one whose code is the job's; -1: none failed
};

struct JobOptions {
  double timeout = 0, term_grace = 30;
  bool append_logs = false;  ///< a restart continues the logs
  bool says_why = true;  ///< prints the first failure with the end of its log
  int first_stop_as = 0;  ///< signal to pass on for the first SIGINT or SIGTERM; 0: the same. mpirun would kill ranks a second after those
  bool ends_with_parent = false;  ///< kill the ranks when this process' parent is gone
};

/// Runs a plan's ranks to their end. Throws SettingsError if the program cannot be started and IoError for logs and folders; nothing is left running then.
JobEnd run_rank_processes(const LaunchPlan& plan, const JobOptions& options);

/// Returns the index of the rank whose code is the job's: the first that ended with neither 0 nor 7, else the first with 7. Ranks killed by the launcher count
/// only if there are no others.
int root_cause(const std::vector<RankEnd>& ranks);
/// Returns "rank 3 (host, pid 41) ended with exit code 7" and the last 20 lines of its log.
std::string failure_text(const RankEnd& end);
/// Returns whether it ended like a run that a signal asked to stop: 129, 130, 143.
bool was_stopped(const RankEnd& end);
/// Returns whether another attempt may help: exit 7, or death by a signal; not if would_come_again.
bool worth_restarting(const RankEnd& end);
/// Returns true for errors that a restart would repeat: ranks whose settings or calls differ (kCommMismatch), a rank's data (kRankData), a rank started alone
/// (kLaunchedAlone), and an impossible layout (kLayout).
bool would_come_again(const RankEnd& end);

}  // namespace sindri::app
