// Diagnosis of failed jobs: the ranks' call logs (`comm_<rank>.json`), the exit guard, and a launcher's reports about ended
// ranks.
#pragma once

#include <map>
#include <string>

#include "sindri/core/error.h"
#include "sindri/export.h"

namespace sindri::comm {

/// Sets the folder for call logs if SINDRI_COMM_LOG_DIR does not. Without either it is `sindri-comm-<job id>` in the system's
/// temporary folder.
SINDRI_API void set_call_log_folder(const std::string& folder);
/// Aligns the call logs of a folder and reports the first call that some rank did not enter, and what that rank did instead.
/// Throws IoError if the folder has no logs or cannot be read.
SINDRI_API std::string trace_report(const std::string& folder);
/// After this call, a process whose job has failed exits with code 7 five seconds after the failure is established, whatever its
/// code is doing. For programs only: a library does not end processes.
SINDRI_API void arm_exit_guard();
/// Reports that leaving the group failed while the process was already exiting. Turns exit code 0 into 7; other codes stay.
SINDRI_API void fail_at_exit();
/// Reports to the job how a rank ended ("signal 9"); `environment` is the one that the rank was started with. The other ranks
/// only see that its connections closed, and wait half a second for a better reason. Takes up to two seconds and never throws;
/// has no effect if the job's store is gone.
SINDRI_API void report_rank_end(const std::map<std::string, std::string>& environment, const std::string& how);
/// Writes the code of the error that ends a program to the file SINDRI_RESULT_FILE, which `sindri run` names for each rank: exit
/// code 7 alone does not say whether a retry may succeed. Has no effect without that variable; never throws.
SINDRI_API void leave_code(ErrorCode code);

}  // namespace sindri::comm
