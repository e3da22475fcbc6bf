// "Did you mean": the nearest known names to a misspelt one.
#pragma once

#include <string>

#include "sindri/core/nearest.h"

namespace sindri {

/// Levenshtein distance.
int edit_distance(const std::string& a, const std::string& b);

}  // namespace sindri
