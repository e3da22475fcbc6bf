// Settings of fine-tuning, early stopping and the best checkpoint: lists of strings, and rules between them.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "sindri/app/settings.h"

namespace sindri::app {

/// The "unit" of settings that hold a list of strings, written as a list or separated by commas (Settings::get_texts).
inline constexpr const char* kTexts = "texts";
inline bool is_texts(const SettingSpec& spec) { return std::string_view(spec.unit) == kTexts; }

/// Returns whether a setting was added with fine-tuning: hashes of earlier settings do not include it.
bool is_of_tuning(const SettingSpec& spec);
/// Checks the rules between them and other settings. `fail(setting, message, fix)` throws.
void validate_tuning(const Settings& s, const std::function<void(const char*, const std::string&, const std::string&)>& fail);
/// Returns the metric whose best evaluation is kept or waited for; empty for none.
std::string watched_metric(const Settings& s);

}  // namespace sindri::app
