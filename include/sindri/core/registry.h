// Things chosen by name: each says by itself what it is called, what it does, which settings it takes and how it is made.
//
//   // include/sindri/optim/registry.h: what the things are
//   using MakeOptimizer = std::shared_ptr<Optimizer>(Params, const OptimizerOptions&, const SettingValues&);
//   SINDRI_API Registry<MakeOptimizer>& optimizers();
//
//   // beside the thing, here or in a user's library
//   const auto& kSignSgd = optim::optimizers().add({
//       .name = "sign_sgd",
//       .doc = "p -= lr·sign(g)",
//       .settings = {{.name = "threshold", .type = SettingType::kFloat, .fallback = "0", .doc = "smaller gradients are 0", .min = 0}},
//       .make = [](optim::Params params, const optim::OptimizerOptions& o, const SettingValues& v) -> std::shared_ptr<optim::Optimizer> { … },
//   });
//
// Facts of a kind beside these (what a training algorithm excludes) stand in a struct of the kind's own, Registry's second parameter.
// Tables of settings, their documentation and the checks of values are made from the registries. Things are added at start-up, before
// main or from one thread before others read.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/setting.h"

namespace sindri {

/// What is known of a registered thing without making one.
struct SINDRI_API Registered {
  std::string name, doc;
  std::vector<SettingSpec> settings;
  bool code_only = false;  ///< settings files do not offer it
  /// A rule over several settings: throws ValueError, whose `where` is the name of the setting at fault.
  std::function<void(const SettingValues&)> check = nullptr;

  const SettingSpec* find(const std::string& setting) const;  ///< null where it is not declared
};

/// The part that does not depend on how things are made.
class SINDRI_API RegistryBase {
 public:
  /// `kind` in messages: "optimizer".
  explicit RegistryBase(const char* kind) : kind_(kind) {}
  RegistryBase(const RegistryBase&) = delete;
  RegistryBase& operator=(const RegistryBase&) = delete;
  const char* kind() const { return kind_; }
  /// Sorted.
  std::vector<std::string> names() const;
  /// Those that settings files offer, sorted.
  std::vector<std::string> offered() const;
  bool has(const std::string& name) const;
  /// Throws ValueError with the nearest names.
  const Registered& info(const std::string& name) const;
  /// The thing's settings, those that were given and the others' defaults, in agreement with each other. Throws ValueError as SettingValues,
  /// and where the thing's check does; `where` is "thing.setting" then.
  SettingValues values(const std::string& name, const std::map<std::string, SettingValue>& given) const;
  size_t size() const { return infos_.size(); }
  /// The settings of all that settings files offer as rows "section.key", each key once, with the widest of ranges and choices, and whose it is where some do not have it; `chooser` is the setting that names the
  /// thing. Throws ValueError where two things declare a key with different types or units.
  std::vector<SettingSpec> rows(const std::string& section, const std::string& chooser) const;
  /// For things that are used beside each other: rows "section.thing.key" of each, led by its switch "section.thing.enabled".
  std::vector<SettingSpec> switched_rows(const std::string& section) const;

 protected:
  size_t index(const std::string& name) const;
  void add_info(Registered info, bool can_be_made);

 private:
  const char* kind_;
  std::deque<Registered> infos_;  // addresses stay
};

/// A kind of which nothing more is to be known.
struct NoFacts {};

/// Things by name, with their documentation and settings, to which each file adds its own at start-up.
template <class Make, class Facts = NoFacts> class Registry final : public RegistryBase {
 public:
  /// One registered thing.
  struct Entry {
    std::string name, doc;
    std::vector<SettingSpec> settings = {};
    bool code_only = false;
    std::function<void(const SettingValues&)> check = nullptr;  ///< see Registered
    Facts facts = {};
    std::function<Make> make = nullptr;
  };
  using RegistryBase::RegistryBase;

  /// Throws ValueError for a name that is taken or badly written, of the thing (letters, digits, '_') or of a setting (lower case, not "enabled"),
  /// for a default that does not fit its setting, for `needs` that is not declared, and without `make`.
  const Entry& add(Entry e) {
    add_info({e.name, e.doc, e.settings, e.code_only, e.check}, e.make != nullptr);
    return entries_.emplace_back(std::move(e));
  }
  /// Throws ValueError with the nearest names.
  const Entry& find(const std::string& name) const { return entries_[index(name)]; }
  /// Makes the thing of that name from its own arguments and the settings given, the others being at their defaults. Throws ValueError
  /// as values().
  template <class... Args> auto make(const std::string& name, const std::map<std::string, SettingValue>& settings, Args&&... args) const {
    const Entry& e = find(name);
    return e.make(std::forward<Args>(args)..., values(name, settings));
  }

 private:
  std::deque<Entry> entries_;
};

}  // namespace sindri
