// "Did you mean": hints for misspelt names of ops, settings, nets and the like.
#pragma once

#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri {

/// "did you mean 'x' or 'y'?"; lists all of few names when none is near; empty without names.
SINDRI_API std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

}  // namespace sindri
