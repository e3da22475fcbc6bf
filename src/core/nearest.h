// "Did you mean": the nearest known names to a misspelt one.
#pragma once

#include <string>
#include <vector>

namespace sindri {

/// Levenshtein distance.
int edit_distance(const std::string& a, const std::string& b);
/// "did you mean 'x' or 'y'?"; lists all of few names when none is near; empty without names.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

}  // namespace sindri
