// Components chosen by name. Each declares its name, documentation, settings and how it is made.
//
//   // include/sindri/optim/registry.h: defines the kind
//   using MakeOptimizer = std::shared_ptr<Optimizer>(Params, const OptimizerOptions&, const SettingValues&);
//   SINDRI_API Registry<MakeOptimizer>& optimizers();
//
//   // next to the implementation, here or in a user's library
//   const auto& kSignSgd = optim::optimizers().add({
//       .name = "sign_sgd",
//       .doc = "p -= lr·sign(g)",
//       .settings = {{.name = "threshold", .type = SettingType::kFloat, .fallback = "0", .doc = "smaller gradients are 0", .min = 0}},
//       .make = [](optim::Params params, const optim::OptimizerOptions& o, const SettingValues& v) -> std::shared_ptr<optim::Optimizer> { … },
//   });
//
// Facts that only one kind of component has (such as what a training algorithm excludes) are in a struct, the second template
// parameter of Registry. Tables of settings, their documentation and the checks of values are generated from the registries.
// Entries are added at start-up: before main, or from one thread before others read.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/setting.h"

namespace sindri {

/// Everything known about a registered component without making one.
struct SINDRI_API Registered {
  std::string name, doc;  ///< doc: a short description for listings and settings tables
  std::vector<SettingSpec> settings;
  bool code_only = false;  ///< not available in settings files
  /// A rule over several settings. Throws ValueError whose `where` is the name of the setting at fault.
  std::function<void(const SettingValues&)> check = nullptr;

  const SettingSpec* find(const std::string& setting) const;  ///< null if it is not declared
};

/// The part of a registry that does not depend on how components are made.
class SINDRI_API RegistryBase {
 public:
  /// `kind` is what messages call a component: "optimizer".
  explicit RegistryBase(const char* kind) : kind_(kind) {}
  RegistryBase(const RegistryBase&) = delete;
  RegistryBase& operator=(const RegistryBase&) = delete;
  const char* kind() const { return kind_; }
  /// All names, sorted.
  std::vector<std::string> names() const;
  /// The names available in settings files, sorted.
  std::vector<std::string> offered() const;
  /// Whether a component of this name is registered.
  bool has(const std::string& name) const;
  /// The component's description. Throws ValueError, with the nearest names, for an unknown name.
  const Registered& info(const std::string& name) const;
  /// The component's settings: the given values, and defaults for the others. Throws the same errors as the constructor of SettingValues. Throws ValueError if
  /// the component's check fails; `where` is then "component.setting".
  SettingValues values(const std::string& name, const std::map<std::string, SettingValue>& given) const;
  size_t size() const { return infos_.size(); }  ///< number of registered components
  /// The settings of all components available in settings files as rows "section.key", each key once. A row has the union of the ranges and choices, and names
  /// the components it belongs to if not all have it. `chooser` is the setting that selects the component. Throws ValueError if two components declare a key
  /// with different types or units.
  std::vector<SettingSpec> rows(const std::string& section, const std::string& chooser) const;
  /// For components that are used together: the rows "section.component.key" of each, preceded by its switch "section.component.enabled".
  std::vector<SettingSpec> switched_rows(const std::string& section) const;

 protected:
  size_t index(const std::string& name) const;
  void add_info(Registered info, bool can_be_made);

 private:
  const char* kind_;
  std::deque<Registered> infos_;  // a deque: addresses stay valid
};

/// Facts of a kind of component that has none.
struct NoFacts {};

/// Components by name, with their documentation and settings. Each file adds its own at start-up.
template <class Make, class Facts = NoFacts> class Registry final : public RegistryBase {
 public:
  /// One registered component.
  struct Entry {
    std::string name, doc;
    std::vector<SettingSpec> settings = {};
    bool code_only = false;
    std::function<void(const SettingValues&)> check = nullptr;  ///< see Registered
    Facts facts = {};  ///< facts that only this kind has
    std::function<Make> make = nullptr;  ///< makes the component
  };
  using RegistryBase::RegistryBase;

  /// Registers a component. Throws ValueError if the component's name is taken or is not made of letters, digits and '_', and if a setting's name is "enabled"
  /// or is not made of lower-case letters, digits and '_'. Also throws it for a default outside its setting's range, for a `needs` that is not declared, and
  /// without `make`.
  const Entry& add(Entry e) {
    add_info({e.name, e.doc, e.settings, e.code_only, e.check}, e.make != nullptr);
    return entries_.emplace_back(std::move(e));
  }
  /// The entry of that name. Throws ValueError, with the nearest names, for an unknown name.
  const Entry& find(const std::string& name) const { return entries_[index(name)]; }
  /// Makes the component of that name from its own arguments and the given settings, with defaults for the others. Throws the same errors as values().
  template <class... Args> auto make(const std::string& name, const std::map<std::string, SettingValue>& settings, Args&&... args) const {
    const Entry& e = find(name);
    return e.make(std::forward<Args>(args)..., values(name, settings));
  }

 private:
  std::deque<Entry> entries_;
};

}  // namespace sindri
