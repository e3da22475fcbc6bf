// What programs around a job's failure use: the ranks' call logs (`comm_<rank>.json`), the exit guard, and what a launcher knows of a rank's end.
#pragma once

#include <map>
#include <string>

#include "sindri/core/error.h"
#include "sindri/export.h"

namespace sindri::comm {

/// Where call logs are written when SINDRI_COMM_LOG_DIR does not say; without either, a folder `sindri-comm-<job id>` of the system's temporary folder.
SINDRI_API void set_call_log_folder(const std::string& folder);
/// The logs of a folder, aligned: the first call that some rank did not enter, and what it did instead. Throws IoError when there are none.
SINDRI_API std::string trace_report(const std::string& folder);
/// From now on a process whose job has failed ends with code 7 five seconds after the verdict, whatever its code is doing. For programs: a library does
/// not end processes.
SINDRI_API void arm_exit_guard();
/// The group could not be left in order while the process was already ending: where its exit code would be 0 it becomes 7. Other codes stay.
SINDRI_API void fail_at_exit();
/// Tells the job of a rank, by the environment that it was started with, how it ended ("signal 9"): the others only see that its connections closed, and
/// their verdict waits half a second for better. Takes up to two seconds, never throws; nothing happens where the job's store is gone.
SINDRI_API void report_rank_end(const std::map<std::string, std::string>& environment, const std::string& how);
/// For programs that end because of an error: leaves its code in the file SINDRI_RESULT_FILE, which `sindri run` names to each rank. Exit code 7 alone does
/// not say whether another attempt may go better. Nothing happens without that variable; never throws.
SINDRI_API void leave_code(ErrorCode code);

}  // namespace sindri::comm
