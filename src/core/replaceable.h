// Checks whether a file that the user named for a result may be replaced.
#pragma once

#include <string>

#include "sindri/export.h"

namespace sindri {

enum class FileKind { kJson, kPng, kNpy };

/// Throws IoError if a result of this kind must not replace `path`: it is read-only, or it is neither empty nor of that
/// kind, such as a photo or a checkpoint that was named by mistake. Devices, pipes and paths that do not exist are
/// accepted. `what` names the result.
SINDRI_API void check_replaceable(const std::string& path, FileKind kind, const std::string& what);

}  // namespace sindri
