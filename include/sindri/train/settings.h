// Settings of a training run: one declarative table of names, types, defaults and ranges, filled from a YAML file, then the
// environment, then --set arguments; later wins, and every value remembers where it came from.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sindri/export.h"

namespace sindri::train {

/// What a setting holds.
enum class SettingType { kBool, kInt, kFloat, kString, kFloatList, kIntList };

/// One row of the table.
struct SettingSpec {
  const char* name;  ///< "section.key", of an algorithm "boost.algorithm.key"
  SettingType type;
  const char* fallback;  ///< default, as it would be written in YAML
  const char* doc;
  double min = -std::numeric_limits<double>::infinity();  ///< numbers and list elements: smallest and largest allowed
  double max = std::numeric_limits<double>::infinity();
  const char* choices = "";  ///< strings: the allowed values, separated by '|'; empty: any text
  const char* unit = "";
  bool changes_result = true;  ///< false: says where files go or how often something is written; trained weights do not depend on it
};

/// The value of one setting; numbers of a list, whole or not, are doubles.
using SettingValue = std::variant<bool, int64_t, double, std::string, std::vector<double>>;
/// `text` as a value of this setting. Throws SettingsError, with `where`, for another type or a value out of range.
SINDRI_API SettingValue parse_setting(const SettingSpec& spec, const std::string& text, const std::string& where);

/// Values for every name of the table.
///
///   Settings s;                                   // defaults
///   s.load_yaml("configs/digits.yaml");
///   s.load_environment();
///   s.set("train.epochs=3");
///   s.validate();
///
/// In the environment "train.epochs" is SINDRI_TRAIN__EPOCHS: upper case, dots as "__". Variables without "__" are not
/// settings (SINDRI_LOG, SINDRI_NUM_THREADS, …). Errors are SettingsError with kSettings, kUnknownSetting or kDuplicateSetting;
/// `where` is file:line:column, the variable, or the --set argument.
class SINDRI_API Settings {
 public:
  Settings();

  /// The table, in the order it is printed: settings_schema.cc, then those of the registered algorithms (boost.h).
  static const std::vector<SettingSpec>& schema();

  /// Reads a file: at most 1 MB, depth 64, UTF-8; no anchors, aliases, tags or duplicate keys. Throws IoError when it cannot be read.
  void load_yaml(const std::string& path);
  /// The same for text in memory; `origin` stands for the file name in messages.
  void load_yaml_text(const std::string& text, const std::string& origin);
  /// Reads SINDRI_SECTION__KEY variables of this process.
  void load_environment();
  /// The same for "NAME=value" strings.
  void load_environment(const std::vector<std::string>& variables);
  /// One "section.key=value", as --set takes it.
  void set(const std::string& assignment);
  /// Rules between settings (Nesterov needs a momentum, warm-up fits into the epochs, …).
  void validate() const;

  bool get_bool(const std::string& name) const;
  int64_t get_int(const std::string& name) const;
  double get_float(const std::string& name) const;
  const std::string& get_string(const std::string& name) const;
  const std::vector<double>& get_floats(const std::string& name) const;
  std::vector<int64_t> get_ints(const std::string& name) const;

  /// The value as set() takes it.
  std::string value_text(const std::string& name) const;

  /// "default", "digits.yaml:3:11", "SINDRI_TRAIN__EPOCHS" or "--set".
  const std::string& origin(const std::string& name) const;
  bool is_default(const std::string& name) const { return origin(name) == "default"; }
  /// What --print-config shows: YAML as from to_yaml, with the origin of each value behind it ("  epochs: 3   # digits.yaml:3:11").
  std::string print() const;
  /// All values as YAML that load_yaml reads back to the same values.
  std::string to_yaml() const;
  /// xxh64 of the settings that the trained weights depend on (SettingSpec::changes_result; of algorithms those that are on), 16 hex
  /// digits: the settings hash of repro.json and checkpoints.
  std::string hash() const;
  /// Markdown of the table (docs/settings.md is its output, compared by a test).
  static std::string schema_markdown();

 private:
  using Value = SettingValue;
  struct Slot {
    Value value;
    std::string origin = "default";
  };
  struct Source;
  void assign(const std::string& name, const Source& source);
  const Value& value(const std::string& name, SettingType type) const;
  std::string text(const SettingSpec& spec) const;
  std::string yaml(bool with_origins) const;
  [[noreturn]] void fail(const char* name, const std::string& message, const std::string& fix) const;
  void validate_precision() const;
  void validate_boosts() const;
  bool counts(const SettingSpec& spec) const;
  std::map<std::string, Slot> slots_;
};

}  // namespace sindri::train
