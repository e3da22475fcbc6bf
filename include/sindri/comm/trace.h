// What ranks leave behind when a job fails: comm_<rank>.json, the last calls of each.
#pragma once

#include <string>

#include "sindri/export.h"

namespace sindri::comm {

/// Where call logs are written when SINDRI_COMM_LOG_DIR does not say; without either, a folder sindri-comm-<job id> of the system's temporary folder.
SINDRI_API void set_call_log_folder(const std::string& folder);
/// The logs of a folder, aligned: the first call that some rank did not enter, and what it did instead. Throws IoError when there are none.
SINDRI_API std::string trace_report(const std::string& folder);
/// From now on a process whose job has failed ends with code 7 five seconds after the verdict, whatever its code is doing. For programs: a library does
/// not end processes.
SINDRI_API void arm_exit_guard();

}  // namespace sindri::comm
