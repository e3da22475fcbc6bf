// Settings of a training run: one declarative table of names, types, defaults and ranges, filled from a YAML file, then the
// environment, then --set arguments; later wins, and every value remembers where it came from.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sindri/core/registry.h"
#include "sindri/export.h"
#include "sindri/train/boost.h"

namespace sindri::app {

using sindri::SettingSpec;
using sindri::SettingType;
using sindri::SettingValue;

/// Values for every name of the table.
///
///   Settings s;                                   // defaults
///   s.load_yaml("configs/digits.yaml");
///   s.load_environment();
///   s.set("train.epochs=3");
///   s.validate();
///
/// In the environment "train.epochs" is SINDRI_TRAIN__EPOCHS: upper case, dots as "__"; "dist.backend" is SINDRI_DIST_BACKEND too. Other variables without
/// "__" are not settings (SINDRI_LOG, SINDRI_NUM_THREADS, …), but for SINDRI_DEVICE_TARGET and SINDRI_DEVICE_ID. Errors are SettingsError with kSettings, kUnknownSetting or kDuplicateSetting;
/// `where` is file:line:column, the variable, or the --set argument.
class SINDRI_API Settings {
 public:
  Settings();

  /// The table, in the order it is printed: that of settings_schema.cc with what registered things declare (SettingSpec::chosen_by), then
  /// those of the registered algorithms (boost.h). The default of a thing's row names whose it is where they differ.
  static const std::vector<SettingSpec>& schema();
  /// The registry that a setting chooses from ("optimizer.name"). Throws InternalError for another setting.
  static const RegistryBase& registry_of(const std::string& chooser);
  /// The registry whose things a section ("boost") switches on beside each other; null for other sections.
  static const RegistryBase* switched_registry(const std::string& section);

  /// Reads a file: at most 1 MB, depth 64, UTF-8; no anchors, aliases, tags or duplicate keys. If `configs/NAME.yaml` does not exist, reads the
  /// installed example of that name. Throws SettingsError if there is no such file, IoError if it cannot be read.
  void load_yaml(const std::string& path);
  /// The same for text in memory; `origin` stands for the file name in messages.
  void load_yaml_text(const std::string& text, const std::string& origin);
  /// Reads SINDRI_SECTION__KEY variables of this process.
  void load_environment();
  /// The same for "NAME=value" strings.
  void load_environment(const std::vector<std::string>& variables);
  /// One "section.key=value", as --set takes it; `flag` is named where it came from.
  void set(const std::string& assignment, const std::string& flag = "--set");
  /// Rules between settings (Nesterov needs a momentum, warm-up fits into the epochs, what is set belongs to the optimizer chosen, …).
  void validate() const;

  bool get_bool(const std::string& name) const;
  int64_t get_int(const std::string& name) const;
  double get_float(const std::string& name) const;
  std::string get_string(const std::string& name) const;
  std::vector<double> get_floats(const std::string& name) const;
  std::vector<int64_t> get_ints(const std::string& name) const;

  /// The texts of a list of them, such as names of parts ("train.freeze").
  std::vector<std::string> get_texts(const std::string& name) const;

  SettingValue get(const std::string& name) const;  ///< of whatever type

  /// The value as set() takes it.
  std::string value_text(const std::string& name) const;
  /// The settings of the thing that `chooser` names ("optimizer.name"), those that were not given at its own defaults. Throws ValueError as
  /// RegistryBase::values.
  SettingValues chosen(const std::string& chooser) const;
  /// The settings of a thing that is switched on beside others, in `section` ("boost.average"), whose last part is its name.
  std::map<std::string, SettingValue> switched(const std::string& section, const RegistryBase& registry) const;

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
    bool own_default = false;  // not given: that of the thing chosen holds
  };
  struct Source;
  void assign(const std::string& name, const Source& source);
  Value value(const std::string& name, SettingType type) const;
  std::string text(const SettingSpec& spec) const;
  static std::string text(const SettingSpec& spec, const Value& value);
  std::string yaml(bool with_origins) const;
  [[noreturn]] void fail(const char* name, const std::string& message, const std::string& fix) const;
  void validate_precision() const;
  void validate_switched() const;
  bool counts(const SettingSpec& spec) const;
  void validate_chosen() const;
  void check_thing(const std::string& chooser, const std::string& section, const Registered& thing, const std::function<void()>& make_values) const;
  const Registered* chosen_thing(const std::string& chooser) const;
  bool applies(const SettingSpec& spec) const;
  Value own_default(const SettingSpec& spec) const;
  Value current(const SettingSpec& spec) const;
  std::map<std::string, Slot> slots_;
};

/// The half type of train.amp_dtype: what it names, or with auto f16 for networks of convolutions with batch norm on CUDA devices, else bf16. The network is known
/// by model.name, so one that a program makes itself counts as another.
SINDRI_API std::string half_type(const Settings& settings);
/// Whether loss_scale.type auto is a dynamic scale: that of the amp level with its half type, unless optimizer.loss_scale is a scale already.
SINDRI_API bool scales_by_default(const Settings& settings);
/// The training algorithms that the settings switch on (`boost.<name>.enabled`), in the order of their names.
SINDRI_API std::vector<train::BoostAlgorithmPtr> make_boosts(const Settings& settings);
/// A line for every registered algorithm: those that are active in their order, with what they wrap and their settings, and why each of the
/// others is not.
SINDRI_API std::string explain_boosts(const Settings& settings);

}  // namespace sindri::app
