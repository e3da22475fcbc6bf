// Settings as data: the settings of a program or of a registered component (registry.h), with type, default, range and meaning.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "sindri/export.h"

namespace sindri {

/// The type of a setting's value.
enum class SettingType { kBool, kInt, kFloat, kString, kFloatList, kIntList };

/// One setting: a row of a training run's table ("section.key"), or one declared by a registered component ("key").
struct SettingSpec {
  const char* name;  ///< "section.key" or "key"
  SettingType type;  ///< type of the value
  const char* fallback;  ///< default, as written in YAML
  const char* doc;  ///< one line for tables and help
  double min = -std::numeric_limits<double>::infinity();  ///< smallest allowed number or list element
  double max = std::numeric_limits<double>::infinity();  ///< largest allowed number or list element
  const char* choices = "";  ///< strings: the allowed values, separated by '|'; empty: any text
  const char* unit = "";  ///< unit of the value; empty: none
  bool changes_result = true;  ///< false: concerns where files go or how often something is written; trained weights do not depend on it
  /// The setting that selects the component this one belongs to ("optimizer.name"); its default is the selected component's. Empty:
  /// it does not depend on a selection.
  const char* chosen_by = "";
  /// Another setting of the same registered component, without which this one has no effect. Settings files that set this one while
  /// the other is 0 are rejected; code may do so.
  const char* needs = "";
};

/// Value of a setting. Lists hold doubles, also for whole numbers.
using SettingValue = std::variant<bool, int64_t, double, std::string, std::vector<double>>;

/// Parses a value as written in settings files: whole numbers without leading zeros, finite numbers, lists as "[1, 2]" or "1, 2".
/// Throws the same errors as check_setting.
SINDRI_API SettingValue parse_setting(const SettingSpec& spec, const std::string& text);
/// Returns the value, with an int converted if the setting is a float. Throws ValueError for a wrong type and for a value outside
/// the range or the choices. The message names the setting, or `shown` if it is not empty.
SINDRI_API SettingValue check_setting(const SettingSpec& spec, SettingValue value, const std::string& shown = "");

/// Values of declared settings: the given values, and defaults for the others.
class SINDRI_API SettingValues {
 public:
  /// Throws ValueError, naming `whose`, for names that are not declared, and the same errors as check_setting.
  SettingValues(const std::string& whose, const std::vector<SettingSpec>& declared, const std::map<std::string, SettingValue>& given = {});

  /// Return the value. Throw InternalError for a name that is not declared with that type.
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
