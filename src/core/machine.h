// What the machine says of itself.
#pragma once

#include <string>

#include "sindri/export.h"

namespace sindri {

/// "AMD EPYC 9354", or "unknown".
SINDRI_API std::string cpu_model();
/// Main memory.
SINDRI_API double memory_gib();

}  // namespace sindri
