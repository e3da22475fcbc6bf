// Whether a file that the user named for a result may be replaced.
#pragma once

#include <string>

#include "sindri/export.h"

namespace sindri {

enum class FileKind { kJson, kPng, kNpy };

/// Throws IoError where `path` is a file that a result of this kind should not replace: it is read-only, or it is neither empty nor of the kind, such
/// as a photo or a checkpoint that was named by mistake. Devices, pipes and paths that are not there pass. `what` names the result.
SINDRI_API void check_replaceable(const std::string& path, FileKind kind, const std::string& what);

}  // namespace sindri
