// Suggestions for misspelt names of ops, settings, networks and the like.
#pragma once

#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri {

/// "did you mean 'x' or 'y'?" with the one or two nearest names. If none is near: all names, if there are at most 16; else an
/// empty string.
SINDRI_API std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

}  // namespace sindri
