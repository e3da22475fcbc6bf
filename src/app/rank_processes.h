// The ranks of this host as processes: started, shown, watched, and ended together.
//
// All of them are in one process group, whose leader is a keeper: a process that does nothing but wait for the launcher's end and then kills the
// group. So nothing outlives the launcher, not even when it is killed itself; ranks moreover ask the kernel to die with it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/app/launch_plan.h"

namespace sindri::app {

/// How a rank ended.
struct RankEnd {
  int rank = 0;
  pid_t pid = -1;
  std::string host, log;
  bool ended = false, killed_by_us = false;
  int code = 0;  ///< exit code; of a signal 128 + its number
  int signal = 0;  ///< 0: it ended by itself
  int error = 0;  ///< code of the error that it ended by (7003), where it said so
  double when = 0;  ///< seconds since the epoch
  int64_t log_start = 0;  ///< byte of the log where this attempt begins
  bool failed() const { return ended && code != 0; }
};

/// How all of them did.
struct JobEnd {
  std::vector<RankEnd> ranks;
  int stop_signal = 0;  ///< the first signal that was passed on
  bool timed_out = false;
  int told = -1;  ///< index of the rank whose failure was printed
  int cause = -1;  ///< index into `ranks` of the one whose code is the job's; -1: none failed
};

struct JobOptions {
  double timeout = 0, term_grace = 30;
  bool append_logs = false;  ///< a restart goes on in the logs
  bool says_why = true;  ///< prints the first failure with the end of its log
  int first_stop_as = 0;  ///< signal to pass on for the first SIGINT or SIGTERM; 0: itself. mpirun kills ranks a second behind those
  bool ends_with_parent = false;  ///< kill the ranks when this process' parent is gone
};

/// Runs the ranks of a plan to their end. Throws SettingsError when the program cannot be started and IoError for logs and folders; nothing is left
/// running then.
JobEnd run_rank_processes(const LaunchPlan& plan, const JobOptions& options);

/// The index of the rank whose code is the job's: the first that ended with neither 0 nor 7, else the first with 7. Those killed by the launcher do not
/// count unless there is nothing else.
int root_cause(const std::vector<RankEnd>& ranks);
/// "rank 3 (host, pid 41) ended with exit code 7" and the last 20 lines of its log.
std::string failure_text(const RankEnd& end);
/// Whether it ended as trainings do that a signal asked to stop: 129, 130, 143.
bool was_stopped(const RankEnd& end);
/// Whether another attempt may help: exit 7, or death by a signal; not where would_come_again.
bool worth_restarting(const RankEnd& end);
/// An error of how the job was started, or of a rank that ended by an error of its own elsewhere: ranks that do not do the same, a rank's data, launched
/// alone, not possible in this layout.
bool would_come_again(const RankEnd& end);

}  // namespace sindri::app
