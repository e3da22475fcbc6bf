// Patterns for the dotted names of parameters and cells, with which settings files and programs select parts of a network.
#pragma once

#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri {

/// Whether `pattern` matches `name` or the name of a cell that contains it: "layer1" matches "layer1.0.conv1.weight". `*` matches
/// any text, including dots; `?` matches one character.
SINDRI_API bool name_matches(const std::string& pattern, const std::string& name);

/// Returns for every name the index of the first pattern that matches it, or -1. Throws ValueError for an empty pattern and for
/// one that matches nothing; the error lists the nearest names of parameters and cells. `what` describes the patterns in messages
/// ("frozen parts").
SINDRI_API std::vector<int> match_names(const std::vector<std::string>& patterns, const std::vector<std::string>& names, const std::string& what);

}  // namespace sindri
