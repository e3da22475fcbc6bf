// BoostAlgorithm: what a training algorithm says of itself and does to a TrainStep. Algorithms register by name; the core names none.
//
//   ModelOptions o;
//   o.algorithms = {train::make_boost("grad_accumulation", {{"step", "4"}})};
//
// docs/contributing.md, "A training algorithm", shows how one is written.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sindri/export.h"
#include "sindri/nn/cell.h"
#include "sindri/optim/optimizer.h"
#include "sindri/train/callback.h"
#include "sindri/train/settings.h"
#include "sindri/train/train_step.h"

namespace sindri::train {

/// What an algorithm finds when a step is built. Parameters are owned by others and outlive it.
struct BuildContext {
  std::vector<Parameter*> parameters = {};  ///< trained, in the order of gradients and updates
  std::vector<std::pair<std::string, Parameter*>> network_state = {};  ///< every parameter and moving average of the network, by path
  /// Of each batch norm: its moving averages, and the weight that a step leaves to their old value.
  struct MovingAverage {
    Parameter* parameter;
    double momentum;
  };
  std::vector<MovingAverage> moving_averages = {};
  nn::Cell* network = nullptr;  ///< null where the network is defined in Python
  optim::Optimizer* optimizer = nullptr;  ///< likewise
};

/// Names and values of columns.
using EventColumns = std::vector<std::pair<std::string, double>>;

/// When on_event is called; always before the callbacks of that name.
enum class Event { kBegin, kEpochBegin, kStepBegin, kStepEnd, kEpochEnd, kEnd };

/// Values of an algorithm's settings: those given, checked, and defaults.
class SINDRI_API BoostSettings {
 public:
  /// `given`: texts by name, as in YAML. `prefix` stands before names in messages. Throws SettingsError for an unknown name, a wrong type or
  /// a value out of range.
  BoostSettings(const std::vector<SettingSpec>& specs, const std::map<std::string, std::string>& given, const std::string& prefix);
  bool get_bool(const std::string& name) const { return std::get<bool>(at(name)); }
  int64_t get_int(const std::string& name) const { return std::get<int64_t>(at(name)); }
  double get_float(const std::string& name) const { return std::get<double>(at(name)); }
  const std::string& get_string(const std::string& name) const { return std::get<std::string>(at(name)); }
  const std::vector<double>& get_floats(const std::string& name) const { return std::get<std::vector<double>>(at(name)); }

 private:
  const SettingValue& at(const std::string& name) const;
  std::map<std::string, SettingValue> values_;
};

/// A training algorithm. It wraps stages when the step is built; it may watch the loop; it owns its state.
class SINDRI_API BoostAlgorithm {
 public:
  BoostAlgorithm() = default;
  virtual ~BoostAlgorithm() = default;
  BoostAlgorithm(const BoostAlgorithm&) = delete;
  BoostAlgorithm& operator=(const BoostAlgorithm&) = delete;

  /// The name it is registered under.
  virtual std::string name() const = 0;
  /// Why it would change nothing, as it is set; empty: it does its work. One that is idle is not applied.
  virtual std::string idle() const { return ""; }
  /// Steps whose gradients it collects for one update.
  virtual int64_t steps_per_update() const { return 1; }
  /// Wraps stages. Called once; `step` outlives the algorithm's use and keeps its address.
  virtual void apply(TrainStep& step, const BuildContext& context) = 0;
  virtual void on_event(Event, TrainState&) {}
  /// What checkpoints keep, under names of its own; there after apply().
  virtual std::vector<Parameter*> state() { return {}; }
  /// Columns of metrics.csv at the end of an epoch.
  virtual EventColumns columns(const TrainState&) const { return {}; }
  /// Pairs of a parameter of the network and another value for it, to evaluate or save the network with; empty: it has none (yet).
  virtual std::vector<std::pair<Parameter*, Parameter*>> other_weights() { return {}; }

 private:
  friend SINDRI_API std::vector<std::shared_ptr<BoostAlgorithm>> apply_boosts(TrainStep& step, const BuildContext& context,
                                                                              const std::vector<std::shared_ptr<BoostAlgorithm>>& algorithms);
  bool applied_ = false;
};
using BoostAlgorithmPtr = std::shared_ptr<BoostAlgorithm>;

/// What is known of an algorithm before it is made.
struct BoostInfo {
  std::string name;  ///< of the section boost.<name> of the settings: lower case and '_'
  std::string doc;  ///< one line
  std::vector<SettingSpec> settings = {};  ///< names without the section
  std::vector<std::string> excludes = {};  ///< algorithms it cannot be used beside
  std::vector<std::string> precedes = {};  ///< algorithms that must be applied after it, so that they wrap it
  std::function<BoostAlgorithmPtr(const BoostSettings&)> make = nullptr;
};

/// Makes an algorithm known. Throws ValueError for a name that is taken or badly written. Settings are read from a table made at first use:
/// a library with algorithms of its own must be loaded before.
SINDRI_API void register_boost(BoostInfo info);
/// At namespace scope: `static const BoostRegistrar registrar{{.name = "…", …}};`
struct BoostRegistrar {
  explicit BoostRegistrar(BoostInfo info) { register_boost(std::move(info)); }
};
/// All of them, by name.
SINDRI_API const std::map<std::string, BoostInfo>& boost_registry();
/// An algorithm by name, with settings as texts. Throws ValueError for an unknown name, SettingsError for its settings.
SINDRI_API BoostAlgorithmPtr make_boost(const std::string& name, const std::map<std::string, std::string>& settings = {});
/// Those that the settings switch on (boost.<name>.enabled), in the order of their names.
SINDRI_API std::vector<BoostAlgorithmPtr> make_boosts(const Settings& settings);

/// The algorithms in the order in which they are applied: as given, but each behind those that must precede it. Throws ValueError for a null
/// one, two of one name, two of which one excludes the other, and orders that contradict each other.
SINDRI_API std::vector<BoostAlgorithmPtr> in_order(const std::vector<BoostAlgorithmPtr>& algorithms);
/// Orders them and applies those that are not idle. Returns the ones applied. Throws ValueError as in_order, and for one that is part of another
/// step.
SINDRI_API std::vector<BoostAlgorithmPtr> apply_boosts(TrainStep& step, const BuildContext& context, const std::vector<BoostAlgorithmPtr>& algorithms);
/// A line for every registered algorithm: those that are active in their order, with what they wrap and their settings, and why each of the
/// others is not.
SINDRI_API std::string explain_boosts(const Settings& settings);

/// While it lives, the network has the other weights of an algorithm (BoostAlgorithm::other_weights).
class SINDRI_API OtherWeights {
 public:
  explicit OtherWeights(BoostAlgorithm& algorithm);
  ~OtherWeights();
  OtherWeights(const OtherWeights&) = delete;
  OtherWeights& operator=(const OtherWeights&) = delete;

 private:
  std::vector<std::pair<Parameter*, Tensor>> before_;
};

}  // namespace sindri::train
