// Opens files that never get the descriptors of the standard streams. A process may run without these (a daemon, `prog
// <&- >&- 2>&-`): the next file it opens is then descriptor 0, 1 or 2, and all printed or logged text goes into it.
#pragma once

#include <string>
#include <string_view>

#include "sindri/export.h"

namespace sindri {

/// open(2) with O_CLOEXEC. Returns a descriptor of at least 3, or -1 with errno. The library opens every file for
/// writing through this function.
SINDRI_API int open_file(const std::string& path, int flags, unsigned mode = 0) noexcept;
/// Moves a descriptor that was made in another way if it is 0, 1 or 2, and returns it. Passes -1 on; returns -1 with errno if moving fails.
SINDRI_API int above_standard_streams(int fd) noexcept;
/// Creates or replaces a file. Returns 0, or the errno of the failure.
SINDRI_API int write_text_file(const std::string& path, std::string_view text) noexcept;

}  // namespace sindri
