// Properties of the machine.
#pragma once

#include <string>

#include "sindri/export.h"

namespace sindri {

/// Returns the processor's name, "AMD EPYC 9354", or "unknown".
SINDRI_API std::string cpu_model();
/// Main memory in GiB.
SINDRI_API double memory_gib();

}  // namespace sindri
