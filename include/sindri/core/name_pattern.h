// Patterns for the dotted names of parameters and cells: how settings files and programs name parts of a network.
#pragma once

#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri {

/// Whether `pattern` means `name`: it is the name, or the name of what holds it ("layer1" means "layer1.0.conv1.weight"). In a pattern `*` stands for
/// any text, dots among it, and `?` for one character.
SINDRI_API bool name_matches(const std::string& pattern, const std::string& name);

/// For every name the place of the first pattern that means it; -1 for none. Throws ValueError, with the nearest of the names and of what holds them,
/// for an empty pattern and for one that means none of them; `what` says what the patterns are for ("frozen parts").
SINDRI_API std::vector<int> match_names(const std::vector<std::string>& patterns, const std::vector<std::string>& names, const std::string& what);

}  // namespace sindri
