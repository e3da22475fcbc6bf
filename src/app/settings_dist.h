// The settings dist.*: how ranks find each other and what they do together.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sindri/app/dist.h"
#include "sindri/app/settings.h"

namespace sindri::app {

/// Returns their rows of the table.
std::vector<SettingSpec> dist_rows();
/// Checks the rules between them and other settings. `fail(setting, message, fix)` throws.
void validate_dist(const Settings& s, const std::function<void(const char*, const std::string&, const std::string&)>& fail);

}  // namespace sindri::app
