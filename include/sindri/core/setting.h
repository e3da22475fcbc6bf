// Settings as data: what a program, or something registered by name (registry.h), can be told, with type, default, range and meaning.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "sindri/export.h"

namespace sindri {

/// What a setting holds.
enum class SettingType { kBool, kInt, kFloat, kString, kFloatList, kIntList };

/// One setting: a row of the table of a training run ("section.key"), or one that a registered thing declares ("key").
struct SettingSpec {
  const char* name;
  SettingType type;
  const char* fallback;  ///< default, as it would be written in YAML
  const char* doc;
  double min = -std::numeric_limits<double>::infinity();  ///< numbers and list elements: smallest and largest allowed
  double max = std::numeric_limits<double>::infinity();
  const char* choices = "";  ///< strings: the allowed values, separated by '|'; empty: any text
  const char* unit = "";
  bool changes_result = true;  ///< false: says where files go or how often something is written; trained weights do not depend on it
  /// The setting that chooses whose this is ("optimizer.name"); its default is that of the chosen one. Empty: of no one thing.
  const char* chosen_by = "";
  /// Of a registered thing: another of its settings, without which this one does nothing. Settings files that set this one while that is 0
  /// are refused; code may.
  const char* needs = "";
};

/// Lists hold doubles, whole numbers among them too.
using SettingValue = std::variant<bool, int64_t, double, std::string, std::vector<double>>;

/// A value from text as settings files have it: whole numbers without leading zeros, finite numbers, lists as "[1, 2]" or "1, 2". Throws
/// ValueError as check_setting.
SINDRI_API SettingValue parse_setting(const SettingSpec& spec, const std::string& text);
/// The value, with an int where a float is wanted made one. Throws ValueError that names the setting (as `shown`, where that is given) for
/// another type and a value outside of range or choices.
SINDRI_API SettingValue check_setting(const SettingSpec& spec, SettingValue value, const std::string& shown = "");

/// Values for what something declares: its defaults, and over them those that were given.
class SINDRI_API SettingValues {
 public:
  /// Throws ValueError, naming `whose`, for names that are not declared and as check_setting.
  SettingValues(const std::string& whose, const std::vector<SettingSpec>& declared, const std::map<std::string, SettingValue>& given = {});

  /// These throw InternalError for a name that is not declared with that type.
  bool get_bool(const std::string& name) const;
  int64_t get_int(const std::string& name) const;
  double get_float(const std::string& name) const;
  const std::string& get_string(const std::string& name) const;
  const std::vector<double>& get_list(const std::string& name) const;

 private:
  template <class T> const T& get(const std::string& name) const;
  std::string whose_;
  std::map<std::string, SettingValue> values_;
};

}  // namespace sindri
