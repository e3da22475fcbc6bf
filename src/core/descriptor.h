// Files that never get the numbers of the standard streams. A process may run without them (a daemon, `prog <&- >&- 2>&-`): the next file it
// opens is then descriptor 0, 1 or 2, and what anybody prints or logs is written into that file.
#pragma once

#include <string>
#include <string_view>

#include "sindri/export.h"

namespace sindri {

/// open(2) with O_CLOEXEC, whose result is at least 3, or -1 with errno. Every file the library opens for writing comes from here.
SINDRI_API int open_file(const std::string& path, int flags, unsigned mode = 0) noexcept;
/// The same for a descriptor made otherwise: moved where it is 0, 1 or 2. -1 (of a call that failed, or with errno set by this one) stays.
SINDRI_API int above_standard_streams(int fd) noexcept;
/// Makes or replaces a file; 0, or the errno of what failed.
SINDRI_API int write_text_file(const std::string& path, std::string_view text) noexcept;

}  // namespace sindri
