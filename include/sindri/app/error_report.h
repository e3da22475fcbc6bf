// Formatting of exceptions on stderr.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

#include "sindri/core/error.h"
#include "sindri/export.h"

namespace sindri::app {

/// Formats an error with one part per line, without a final newline:
///
///   error[E3004] record 18 of train-00003.tfrecord is corrupt (expected 0x77aa, got 0x1b2c)
///     where: data/train-00003.tfrecord, byte 1048576
///     fix: re-create the shard, or set data.on_corrupt: skip
///
/// Control characters, which may come from a file's content, are shown as '?'. An exception that is not an Error is shown as an
/// internal error, E1001 (std::bad_alloc as E5002). columns: lines are folded between words to this width; 0: not folded.
SINDRI_API std::string format_error_report(const std::exception& e, size_t columns = 0);
/// Exit code of the program for any exception.
SINDRI_API int exit_code_of(const std::exception& e);

}  // namespace sindri::app
