// Settings of a training run: a declarative table of names, types, defaults and ranges. Values come from a YAML file, then the
// environment, then --set arguments. Later values win, and every value remembers its origin.
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

/// The settings of a run: one value for each row of the table schema().
///
///   Settings s;                                   // defaults
///   s.load_yaml("configs/digits.yaml");
///   s.load_environment();
///   s.set("train.epochs=3");
///   s.validate();
///
/// The environment variable for "train.epochs" is SINDRI_TRAIN__EPOCHS: upper case, dots as "__". For "dist.backend",
/// SINDRI_DIST_BACKEND works too. Other variables without "__" are not settings (SINDRI_LOG, SINDRI_NUM_THREADS, …), except
/// SINDRI_DEVICE_TARGET and SINDRI_DEVICE_ID. Functions throw SettingsError with kSettings, kUnknownSetting or kDuplicateSetting;
/// `where` is file:line:column, the variable, or the --set argument.
class SINDRI_API Settings {
 public:
  Settings();

  /// The table in printed order: the rows of settings_schema.cc with the settings of registered components
  /// (SettingSpec::chosen_by), then those of the registered algorithms (boost.h). If components have different defaults for a row,
  /// the row lists each default with its component.
  static const std::vector<SettingSpec>& schema();
  /// The registry from which a setting chooses ("optimizer.name"). Throws InternalError for another setting.
  static const RegistryBase& registry_of(const std::string& chooser);
  /// The registry whose components a section ("boost") enables independently; null for other sections.
  static const RegistryBase* switched_registry(const std::string& section);

  /// Reads a file: at most 1 MB, depth 64, UTF-8; no anchors, aliases, tags or duplicate keys. If `configs/NAME.yaml` does not
  /// exist, reads the installed example of that name. Throws SettingsError if the file does not exist, IoError if it cannot be
  /// read.
  void load_yaml(const std::string& path);
  /// Reads text in memory; `origin` replaces the file name in messages.
  void load_yaml_text(const std::string& text, const std::string& origin);
  /// Reads SINDRI_SECTION__KEY variables of this process.
  void load_environment();
  /// Reads "NAME=value" strings as variables.
  void load_environment(const std::vector<std::string>& variables);
  /// Sets one value from "section.key=value", the form of --set. `flag` becomes its origin.
  void set(const std::string& assignment, const std::string& flag = "--set");
  /// Checks rules between settings (Nesterov needs a momentum, warm-up fits into the epochs, given settings belong to the chosen
  /// optimizer, …).
  void validate() const;

  bool get_bool(const std::string& name) const;
  int64_t get_int(const std::string& name) const;
  double get_float(const std::string& name) const;
  std::string get_string(const std::string& name) const;
  std::vector<double> get_floats(const std::string& name) const;
  std::vector<int64_t> get_ints(const std::string& name) const;

  /// The strings in a list of strings, such as names of parts ("train.freeze").
  std::vector<std::string> get_texts(const std::string& name) const;

  SettingValue get(const std::string& name) const;  ///< of any type

  /// The value as set() accepts it.
  std::string value_text(const std::string& name) const;
  /// The settings of the component chosen by `chooser` ("optimizer.name"), with its own defaults for those not given. Throws the
  /// same errors as RegistryBase::values.
  SettingValues chosen(const std::string& chooser) const;
  /// The settings in `section` ("boost.average"), whose last part is the name of a component that is enabled independently of
  /// others.
  std::map<std::string, SettingValue> switched(const std::string& section, const RegistryBase& registry) const;

  /// Origin of a value: "default", "digits.yaml:3:11", "SINDRI_TRAIN__EPOCHS" or "--set".
  const std::string& origin(const std::string& name) const;
  bool is_default(const std::string& name) const { return origin(name) == "default"; }
  /// Text for --print-config: the YAML of to_yaml() with the origin after each value ("  epochs: 3   # digits.yaml:3:11").
  std::string print() const;
  /// All values as YAML that load_yaml reads back to the same values.
  std::string to_yaml() const;
  /// The settings hash of repro.json and checkpoints: xxh64, as 16 hex digits, of the settings that affect trained weights
  /// (SettingSpec::changes_result; of algorithms, only enabled ones).
  std::string hash() const;
  /// Markdown of the table: the text of docs/settings.md, which a test compares.
  static std::string schema_markdown();

 private:
  using Value = SettingValue;
  struct Slot {
    Value value;
    std::string origin = "default";
    bool own_default = false;  // not given: the chosen component's default applies
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

/// The half type of train.amp_dtype. auto gives f16 for convolutional networks with batch norm on CUDA devices, else bf16. The
/// network is recognised by model.name, so a network that a program constructs itself gets bf16.
SINDRI_API std::string half_type(const Settings& settings);
/// Whether loss_scale.type is auto and selects a dynamic scale. It does if the amp level uses one with its half type and
/// optimizer.loss_scale is 1.
SINDRI_API bool scales_by_default(const Settings& settings);
/// The training algorithms that the settings enable (`boost.<name>.enabled`), in order of their names.
SINDRI_API std::vector<train::BoostAlgorithmPtr> make_boosts(const Settings& settings);
/// A line for every registered algorithm. The active ones come first, in order, with the stages they wrap and their settings. The
/// line of an inactive one says why it is not active.
SINDRI_API std::string explain_boosts(const Settings& settings);

}  // namespace sindri::app
