// Values of the settings table: reading them from text with checks, and printing them back.
#include "sindri/app/settings.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <set>

#include "sindri/amp/policy.h"
#include "sindri/core/device.h"
#include "sindri/core/error.h"
#include "sindri/models/registry.h"
#include "sindri/optim/registry.h"
#include "sindri/train/boost.h"
#include "src/app/settings_dist.h"
#include "src/app/settings_tune.h"
#include "src/app/settings_yaml.h"
#include "src/core/installation.h"
#include "src/core/nearest.h"
#include "src/train/atomic_file.h"

namespace sindri::app {

// The origin of a value and its original text.
struct Settings::Source {
  std::string origin;  // shown by print(): "digits.yaml:3:11", "SINDRI_TRAIN__EPOCHS", "--set"
  std::string where;  // in errors
  std::vector<std::string> values;  // one, or the elements of a list
  bool is_list = false;
  bool quoted = false;  // text in quotes is not a number
};

namespace {

const SettingSpec* find_spec(const std::string& name) {
  for (const SettingSpec& s : Settings::schema())
    if (name == s.name) return &s;
  return nullptr;
}

// "optimizer", "boost", "boost.average", …
std::vector<std::string> section_names() {
  std::set<std::string> s;
  for (const SettingSpec& spec : Settings::schema()) {
    const std::string name = spec.name;
    for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) s.insert(name.substr(0, dot));
  }
  return {s.begin(), s.end()};
}

// All but the last part of a name.
std::string section_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

// Returns the switch (NAME.enabled) of a setting in a section with switches; empty for other sections.
std::string switch_of(const std::string& name) {
  return Settings::switched_registry(name.substr(0, name.find('.'))) != nullptr ? section_of(name) + ".enabled" : "";
}

// Names of other programs, and the settings that they stand for.
const std::map<std::string, std::string>& other_names() {
  static const std::map<std::string, std::string> meant = {{"lr", "lr.max"},
                                                           {"learning_rate", "lr.max"},
                                                           {"base_lr", "lr.max"},
                                                           {"initial_lr", "lr.max"},
                                                           {"scheduler", "lr.schedule"},
                                                           {"lr_scheduler", "lr.schedule"},
                                                           {"warmup", "lr.warmup_epochs"},
                                                           {"wd", "optimizer.weight_decay"},
                                                           {"betas", "optimizer.beta1"},
                                                           {"epsilon", "optimizer.eps"},
                                                           {"device", "device_target"},
                                                           {"clip_grad", "optimizer.clip_global_norm"},
                                                           {"num_epochs", "train.epochs"},
                                                           {"max_epochs", "train.epochs"},
                                                           {"epoch", "train.epochs"},
                                                           {"steps", "train.max_steps"},
                                                           {"batch", "train.batch_size"},
                                                           {"bs", "train.batch_size"},
                                                           {"amp", "train.amp_level"},
                                                           {"precision", "train.amp_level"},
                                                           {"output_dir", "train.run_dir"},
                                                           {"classes", "model.num_classes"},
                                                           {"num_workers", "data.workers"},
                                                           {"dir", "data.path"},
                                                           {"root", "data.path"},
                                                           {"resize", "data.image_size"},
                                                           {"img_size", "data.image_size"},
                                                           {"pretrained", "train.init_from"},
                                                           {"weights", "train.init_from"},
                                                           {"param_groups", "optimizer.groups"},
                                                           {"patience", "train.early_stop.patience"},
                                                           {"early_stopping", "train.early_stop.metric"}};
  return meant;
}

// Returns the setting that another program's name stands for, or that has the same key in another section; empty if there is none.
std::string known_elsewhere(const std::string& name, const std::vector<std::string>& all) {
  const std::string key = name.substr(name.rfind('.') + 1);
  if (const auto it = other_names().find(key); it != other_names().end()) return it->second;
  for (const std::string& known : all) {
    if (known.substr(known.find('.') + 1) == key) return known;
  }
  return "";
}

// For a misspelt section: suggests the setting with this key, or with the nearest key, in the section with the nearest name. Empty if none is near.
std::string in_nearest_section(const std::string& section, const std::string& key, const std::vector<std::string>& all) {
  std::string nearest;
  int least = std::max<int>(2, static_cast<int>(section.size()) / 4) + 1;
  for (const std::string& known : section_names()) {
    const int distance = edit_distance(section, known);
    if (distance < least) least = distance, nearest = known;
  }
  if (nearest.empty()) return "";
  std::vector<std::string> keys;
  for (const std::string& name : all)
    if (name.starts_with(nearest + ".")) keys.push_back(name);
  const std::string same = nearest + "." + key;
  return std::find(keys.begin(), keys.end(), same) != keys.end() ? fmt::format("did you mean '{}'?", same) : did_you_mean(same, keys);
}

// For a misspelt key: suggests the setting with the nearest key, in any section. Empty if none is near.
std::string by_nearest_key(const std::string& key, const std::vector<std::string>& all) {
  std::vector<std::string> keys;
  for (const std::string& name : all) keys.push_back(name.substr(name.rfind('.') + 1));
  for (const auto& [other, name] : other_names()) keys.push_back(other);
  std::string nearest;
  int least = std::max<int>(1, static_cast<int>(key.size()) / 5) + 1;
  for (const std::string& known : keys) {
    const int distance = edit_distance(key, known);
    if (distance < least) least = distance, nearest = known;
  }
  const std::string meant = nearest.empty() ? "" : known_elsewhere(nearest, all);
  return meant.empty() ? "" : fmt::format("did you mean '{}'?", meant);
}

// Returns a suggestion for a misspelt name. Searches the keys of its section if that is known, else whole names.
std::string suggest(const std::string& name) {
  const std::string section = name.find('.') == std::string::npos ? name : section_of(name);
  std::vector<std::string> all, same_section;
  for (const SettingSpec& spec : Settings::schema()) {
    all.emplace_back(spec.name);
    if (all.back().starts_with(section + ".")) same_section.push_back(all.back());
  }
  const std::string key = name.substr(name.rfind('.') + 1);
  if (same_section.empty() && section != key) {
    if (const std::string near = in_nearest_section(section, key, all); !near.empty()) return near;
  }
  if (const std::string known = known_elsewhere(name, all); !known.empty()) return fmt::format("did you mean '{}'?", known);
  const std::string near = did_you_mean(name, same_section.empty() ? all : same_section);
  if (!near.empty()) return near;
  if (const std::string meant = by_nearest_key(key, all); !meant.empty()) return meant;
  return same_section.empty() ? did_you_mean(section, section_names()) : "see docs/settings.md for the names";
}

// Returns a suggestion for a misspelt section: the nearest section or, if none is near, that of suggest().
std::string suggest_section(const std::string& name, const std::vector<std::string>& sections) {
  // did_you_mean lists the candidates if none is near, so only sections within the same parent section are candidates.
  const size_t dot = name.rfind('.');
  std::vector<std::string> beside;
  for (const std::string& s : sections)
    if (dot == std::string::npos ? s.find('.') == dot : s.starts_with(name.substr(0, dot + 1))) beside.push_back(s);
  const std::string near = did_you_mean(name, beside), fix = near.empty() ? suggest(name) : near;
  return fix.empty() ? "see docs/settings.md for the names" : fix;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    out.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return out;
    start = end + 1;
  }
}

std::string trimmed(const std::string& s) {
  const size_t a = s.find_first_not_of(" \t"), b = s.find_last_not_of(" \t");
  return a == std::string::npos ? "" : s.substr(a, b - a + 1);
}

// Returns the shortest text that reads back as the same double; "5" stays "5".
std::string number_text(double v) { return fmt::format("{}", v); }

std::string yaml_text(const std::string& s) {
  const bool plain = !s.empty() && s.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+") == std::string::npos &&
      (std::isalpha(static_cast<unsigned char>(s[0])) != 0 || s[0] == '/' || s[0] == '.') && s != "true" && s != "false" && s != "null";
  if (plain) return s;
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else out += c;
  }
  return out + "\"";
}

// 0, off or empty.
bool is_nothing(const SettingValue& v) {
  if (const std::string* s = std::get_if<std::string>(&v)) return s->empty();
  if (const std::vector<double>* list = std::get_if<std::vector<double>>(&v)) return list->empty();
  if (const bool* b = std::get_if<bool>(&v)) return !*b;
  const double* d = std::get_if<double>(&v);
  return d != nullptr ? *d == 0 : std::get<int64_t>(v) == 0;
}

// Sources in the order of priority, lowest first: none, a file, the environment, the command line.
int level_of(const std::string& origin) {
  if (origin == "default") return 0;
  if (origin == "--set") return 3;
  return origin.find(':') == std::string::npos && origin.starts_with("SINDRI_") ? 2 : 1;
}

// By value, as a default may be written in several ways.
bool differs_from_default(const Settings& s, const SettingSpec& spec) { return s.get(spec.name) != parse_setting(spec, spec.fallback); }

}  // namespace

Settings::Settings() {
  for (const SettingSpec& spec : schema()) {
    if (spec.chosen_by[0] != '\0') slots_[spec.name] = {.value = {}, .own_default = true};
    else assign(spec.name, {.origin = "default", .where = "the table of settings", .values = {spec.fallback}});
  }
}

void Settings::assign(const std::string& name, const Source& source) {
  const SettingSpec* spec = find_spec(name);
  if (spec == nullptr) throw SettingsError(ErrorCode::kUnknownSetting, fmt::format("unknown setting {}", name), source.where, suggest(name));
  const bool needs_list = spec->type == SettingType::kFloatList || spec->type == SettingType::kIntList || is_texts(*spec);
  if (source.is_list && !needs_list)
    throw SettingsError(fmt::format("{}: expected one value, got a list of {}", name, source.values.size()), source.where, "write the value alone");
  if (source.quoted && spec->type != SettingType::kString) {
    throw SettingsError(fmt::format("{}: expected a value without quotes, got \"{}\"", name, source.values[0]), source.where, "remove the quotes");
  }
  if (is_texts(*spec) && source.is_list) {
    for (const std::string& text : source.values) {
      if (text.find(',') != std::string::npos || trimmed(text).empty())
        throw SettingsError(fmt::format("{}: '{}' is empty or contains a comma", name, text), source.where, "write one text per element");
    }
  }
  try {
    slots_[name] = {parse_setting(*spec, source.is_list ? fmt::format("{}", fmt::join(source.values, is_texts(*spec) ? ", " : ",")) : source.values[0]),
                    source.origin};
  } catch (const ValueError& e) { throw SettingsError(e.message(), source.where, e.fix()); }
}

// Pages and --help name examples as configs/NAME.yaml, as in the sources. Elsewhere this is the installed file of that name. Returns "" if `path` has another
// form or nothing is installed.
static std::string installed_example(const std::string& path) {
  const std::string folder = "configs/";
  return path.starts_with(folder) ? find_installed(path, path) : "";
}

void Settings::load_yaml(const std::string& named) {
  // A wrong name on the command line is a wrong setting; a disk that fails while it is read is not.
  struct stat file {};
  std::string path = named;
  if (stat(path.c_str(), &file) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    path = installed_example(named);
    if (path.empty())
      throw SettingsError("the settings file does not exist", named,
                          "check the path; configs/ of the sources, or share/sindri/configs of an installation, holds examples");
  }
  if (stat(path.c_str(), &file) == 0 && !S_ISREG(file.st_mode)) throw SettingsError("the settings file is not a regular file", path, "check the path");
  load_yaml_text(train::read_small_file(path, (1 << 20) + 1, "settings file"), path);
}

void Settings::load_yaml_text(const std::string& text, const std::string& origin) {
  const std::vector<std::string> sections = section_names();
  const std::string base = origin.substr(origin.rfind('/') + 1);
  for (const YamlItem& item : parse_settings_yaml(text, origin)) {
    const std::string position = fmt::format(":{}:{}", item.line, item.column), where = origin + position;
    const bool known_section = std::find(sections.begin(), sections.end(), item.name) != sections.end();
    if (item.kind == YamlItem::kSection) {
      if (known_section) continue;
      if (find_spec(item.name) != nullptr)
        throw SettingsError(fmt::format("{}: expected a value, got a mapping", item.name), where, "write the value after the colon");
      throw SettingsError(ErrorCode::kUnknownSetting, fmt::format("unknown section {}", item.name), where, suggest_section(item.name, sections));
    }
    if (known_section) throw SettingsError(fmt::format("{} is a section, not a setting", item.name), where, "write its keys indented below it");
    assign(item.name, {.origin = base + position, .where = where, .values = item.values, .is_list = item.kind == YamlItem::kList, .quoted = item.quoted});
  }
}

void Settings::load_environment() {
  std::vector<std::string> variables;
  for (char** p = environ; p != nullptr && *p != nullptr; ++p) variables.emplace_back(*p);
  load_environment(variables);
}

void Settings::load_environment(const std::vector<std::string>& variables) {
  for (const std::string& v : variables) {
    const size_t equals = v.find('=');
    if (equals == std::string::npos || !v.starts_with("SINDRI_")) continue;
    const std::string variable = v.substr(0, equals);
    std::string name = variable.substr(7);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name.starts_with("dist_test_")) continue;  // a variable of the tests (comm_options)
    if (name.starts_with("dist_") && !name.starts_with("dist__")) name.replace(0, 5, "dist.");
    else if (name.find("__") == std::string::npos && find_spec(name) == nullptr) continue;  // SINDRI_LOG and the like
    for (size_t dot = 0; (dot = name.find("__", dot)) != std::string::npos;) name.replace(dot, 2, ".");
    assign(name, {.origin = variable, .where = "environment variable " + variable, .values = {v.substr(equals + 1)}});
  }
}

void Settings::set(const std::string& assignment, const std::string& flag) {
  const std::string where = fmt::format("{} {}", flag, flag == "--set" ? assignment : assignment.substr(assignment.find('=') + 1));
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw SettingsError(fmt::format("expected section.key=value, got '{}'", assignment), where, "for example --set train.epochs=3");
  }
  assign(trimmed(assignment.substr(0, equals)), {.origin = flag, .where = where, .values = {assignment.substr(equals + 1)}});
}

void Settings::fail(const char* name, const std::string& message, const std::string& fix) const {
  throw SettingsError(fmt::format("{}: {}", name, message), fmt::format("{} from {}", name, origin(name)), fix);
}

// Returns whether device_target names a CUDA device, which need not exist yet.
static bool targets_cuda(const Settings& s) {
  std::string target = s.get_string("device_target");
  if (target.empty()) return current_device().kind == Device::kCuda;
  std::transform(target.begin(), target.end(), target.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  target = target.substr(0, target.find(':'));
  return target == "gpu" || target == "cuda";
}

std::string half_type(const Settings& s) {
  const std::string& named = s.get_string("train.amp_dtype");
  if (named != "auto") return named;
  const std::string& net = s.get_string("model.name");
  const bool conv_norm = !net.empty() && models::networks().find(net).facts.conv_norm;
  return conv_norm && targets_cuda(s) ? "f16" : "bf16";
}

bool scales_by_default(const Settings& s) {
  const amp::NamedPolicy& policy = amp::find_policy(s.get_string("train.amp_level"), amp::Casts::kOps);
  return s.get_string("loss_scale.type") == "auto" && policy.provides_loss_scale(amp::parse_half(half_type(s))) && s.get_float("optimizer.loss_scale") == 1;
}

// Mixed precision and loss scale: a setting without effect is an error.
void Settings::validate_precision() const {
  const std::string level = get_string("train.amp_level"), type = get_string("loss_scale.type");
  const amp::NamedPolicy& policy = amp::find_policy(level, amp::Casts::kOps);
  // Settings files of finished runs name bf16, the default of earlier versions, at O0 too.
  if (policy.casts == amp::Casts::kNone && get_string("train.amp_dtype") == "f16")
    fail("train.amp_dtype", "nothing is cast at train.amp_level O0", "set train.amp_level");
  if (!policy.casts_batchnorm() && get_string("train.keep_batchnorm_fp32") == "false")
    fail("train.keep_batchnorm_fp32", fmt::format("batch norm runs in float32 at train.amp_level {}", level), "remove it, or use O2 or O3");
  const bool dynamic = type == "dynamic" || scales_by_default(*this);
  const bool scales = dynamic || type == "fixed";
  if (!scales && get_float("loss_scale.init") != 0)
    fail("loss_scale.init", fmt::format("there is no loss scale with loss_scale.type {}", type), "use fixed or dynamic");
  if (dynamic && get_float("loss_scale.init") != 0 && get_float("loss_scale.init") < 1)
    fail("loss_scale.init", "a dynamic loss scale is at least 1", "raise it");
  for (const char* name : {"loss_scale.factor", "loss_scale.window"}) {
    if (!dynamic && differs_from_default(*this, *find_spec(name)))
      fail(name, fmt::format("only a dynamic loss scale uses it, loss_scale.type is {}", type), "set loss_scale.type=dynamic");
  }
  if (get_float("optimizer.loss_scale") == 1) return;
  if (scales) fail("optimizer.loss_scale", fmt::format("gradients would be divided by it and by the scale of loss_scale.type {}", type), "set one of the two");
}

// If the switch was not given, or came from a source of lower priority than the setting, the setting would silently have no effect: an error. If a source of
// equal or higher priority sets the switch to false, the setting is ignored: the command line may switch off what a file switches on.
void Settings::validate_switched() const {
  for (const SettingSpec& spec : schema()) {
    const std::string name = spec.name;
    if (switch_of(name).empty() || get_bool(switch_of(name)) || !differs_from_default(*this, spec)) continue;
    if (level_of(origin(switch_of(name))) >= level_of(origin(name))) continue;
    fail(spec.name, fmt::format("{} is off", section_of(name)), fmt::format("set {}.enabled=true, or remove it", section_of(name)));
  }
  for (const SettingSpec& spec : schema()) {
    const std::string name = spec.name, own = section_of(name);
    if (name != switch_of(name) || !get_bool(name)) continue;
    const RegistryBase& registry = *switched_registry(own.substr(0, own.find('.')));
    const Registered& thing = registry.info(own.substr(own.find('.') + 1));
    check_thing(name, own, thing, [&] { registry.values(thing.name, switched(own, registry)); });
  }
  train::in_order(make_boosts(*this));  // reports algorithms that exclude each other
  const std::string weights = get_string("train.eval_weights");
  if (weights == "trained") return;
  try {
    train::check_keeps_weights(weights);
  } catch (const ValueError& e) { fail("train.eval_weights", e.message(), e.fix()); }
}

// Settings must belong to the chosen component. Values that equal a default are allowed, as a file of all settings contains them.
void Settings::validate_chosen() const {
  std::set<std::string> choosers;
  for (const SettingSpec& spec : schema()) {
    if (spec.chosen_by[0] == '\0') continue;
    choosers.insert(spec.chosen_by);
    const auto slot = slots_.find(spec.name);
    if (slot == slots_.end() || slot->second.own_default || applies(spec)) continue;
    if (get_string(spec.chosen_by).empty()) continue;  // nothing is chosen yet
    const RegistryBase& registry = registry_of(spec.chosen_by);
    std::vector<std::string> whose;
    bool is_default = false;
    for (const std::string& name : registry.names()) {
      const SettingSpec* own = registry.info(name).find(std::string(spec.name).substr(std::string(spec.name).find('.') + 1));
      if (own == nullptr) continue;
      whose.push_back(name);
      is_default = is_default || parse_setting(*own, own->fallback) == slot->second.value;
    }
    if (!is_default)
      fail(spec.name, fmt::format("{} has no such setting", get_string(spec.chosen_by)), fmt::format("remove it, or use {}", fmt::join(whose, ", ")));
  }
  for (const std::string& chooser : choosers) {
    if (const Registered* thing = chosen_thing(chooser); thing != nullptr) check_thing(chooser, section_of(chooser), *thing, [&] { chosen(chooser); });
  }
}

// Checks a component's settings together. The error names `chooser` if the component does not say which of them is wrong; `section` holds them.
void Settings::check_thing(const std::string& chooser, const std::string& section, const Registered& thing, const std::function<void()>& make_values) const {
  try {
    make_values();
  } catch (const ValueError& e) {
    // Its check names the setting in `where`; an error in a single value starts with the setting's name.
    std::string at_fault = chooser, message = e.message();
    for (const SettingSpec& spec : thing.settings) {
      const std::string own = thing.name + "." + spec.name;
      const bool alone = message.starts_with(own + ":");
      if (alone) message = thing.name + message.substr(own.size());
      if (alone || e.where() == own) at_fault = section + "." + spec.name;
    }
    fail(at_fault.c_str(), message, e.fix().empty() ? "see docs/settings.md" : e.fix());
  }
  for (const SettingSpec& spec : thing.settings) {
    const std::string name = section + "." + spec.name, needed = section + "." + spec.needs;
    if (spec.needs[0] == '\0' || get(name) == parse_setting(spec, spec.fallback) || !is_nothing(get(needed))) continue;
    fail(name.c_str(), fmt::format("does nothing while {} is {}", needed, value_text(needed)), fmt::format("set {}, or remove it", needed));
  }
}

// Null if the chooser names none: it is empty, or selects automatically ("auto").
const Registered* Settings::chosen_thing(const std::string& chooser) const {
  const RegistryBase& registry = registry_of(chooser);
  const std::string name = get_string(chooser);
  return registry.has(name) ? &registry.info(name) : nullptr;
}

void Settings::validate() const {
  validate_chosen();
  if (get_float("lr.warmup_epochs") > static_cast<double>(get_int("train.epochs"))) {
    fail("lr.warmup_epochs", fmt::format("{} epochs of warm-up do not fit into {} epochs", get_float("lr.warmup_epochs"), get_int("train.epochs")),
         "lower it or raise train.epochs");
  }
  try {  // a schedule checks its settings together with the rate
    optim::schedules().find(get_string("lr.schedule")).make({.learning_rate = get_float("lr.max"), .steps = 1}, chosen("lr.schedule"));
  } catch (const ValueError& e) { fail("lr.schedule", e.message(), e.fix().empty() ? "see docs/settings.md" : e.fix()); }
  if (get_floats("data.mean").size() != get_floats("data.std").size()) {
    fail("data.std", fmt::format("data.mean has {} values, data.std {}", get_floats("data.mean").size(), get_floats("data.std").size()),
         "give both or neither, one value per channel");
  }
  if (get_float("data.mixup") > 0 && get_float("data.cutmix") > 0)
    fail("data.cutmix", fmt::format("data.mixup is {} as well, and a batch can be mixed in only one way", get_float("data.mixup")), "set one of the two to 0");
  validate_precision();
  validate_switched();
  validate_tuning(*this, [this](const char* name, const std::string& message, const std::string& fix) { fail(name, message, fix); });
  validate_dist(*this, [this](const char* name, const std::string& message, const std::string& fix) { fail(name, message, fix); });
  if (get_int("train.sink_size") == 0) fail("train.sink_size", "0 steps per call", "use -1 for a whole epoch, or a positive number");
  const std::string& prefix = get_string("checkpoint.prefix");
  if (prefix.find('/') != std::string::npos) fail("checkpoint.prefix", "a prefix must not contain '/'", "set train.run_dir for the folder");
  constexpr size_t kLongest = 180;  // file names have at most 255 bytes, including -EPOCH_STEP.ckpt.tmp.PID after the prefix
  if (prefix.size() > kLongest) fail("checkpoint.prefix", fmt::format("a prefix has at most {} bytes, this one {}", kLongest, prefix.size()), "shorten it");
}

bool Settings::applies(const SettingSpec& spec) const {
  if (spec.chosen_by[0] == '\0') return true;
  const std::string name = spec.name;
  const Registered* thing = chosen_thing(spec.chosen_by);
  return thing != nullptr && thing->find(name.substr(name.find('.') + 1)) != nullptr;
}

// Returns the chosen component's default. If it has no such setting, another component's default represents "nothing was set".
Settings::Value Settings::own_default(const SettingSpec& spec) const {
  const std::string name = spec.name, key = name.substr(name.find('.') + 1);
  const RegistryBase& registry = registry_of(spec.chosen_by);
  const Registered* thing = chosen_thing(spec.chosen_by);
  const SettingSpec* own = thing == nullptr ? nullptr : thing->find(key);
  for (const std::string& other : registry.names())
    if (own == nullptr) own = registry.info(other).find(key);
  return parse_setting(*own, own->fallback);
}

// A setting registered after this object was made has no slot: its default holds.
Settings::Value Settings::current(const SettingSpec& spec) const {
  const auto slot = slots_.find(spec.name);
  if (slot != slots_.end() && !slot->second.own_default) return slot->second.value;
  return spec.chosen_by[0] != '\0' ? own_default(spec) : parse_setting(spec, spec.fallback);
}

SettingValues Settings::chosen(const std::string& chooser) const {
  const RegistryBase& registry = registry_of(chooser);
  const Registered& thing = registry.info(get_string(chooser));
  const std::string section = chooser.substr(0, chooser.find('.') + 1);
  std::map<std::string, SettingValue> given;
  for (const SettingSpec& own : thing.settings) {
    const auto slot = slots_.find(section + own.name);
    if (slot != slots_.end() && !slot->second.own_default) given[own.name] = slot->second.value;
  }
  return registry.values(thing.name, given);
}

std::map<std::string, SettingValue> Settings::switched(const std::string& section, const RegistryBase& registry) const {
  std::map<std::string, SettingValue> out;
  for (const SettingSpec& own : registry.info(section.substr(section.rfind('.') + 1)).settings) out[own.name] = get(section + "." + own.name);
  return out;
}

Settings::Value Settings::value(const std::string& name, SettingType type) const {
  const SettingSpec* spec = find_spec(name);
  if (spec == nullptr) throw InternalError("the program asks for an unknown setting " + name, "", did_you_mean(name, section_names()));
  if (spec->type != type) throw InternalError("the program reads setting " + name + " as another type than its own");
  return current(*spec);
}

bool Settings::get_bool(const std::string& name) const { return std::get<bool>(value(name, SettingType::kBool)); }
int64_t Settings::get_int(const std::string& name) const { return std::get<int64_t>(value(name, SettingType::kInt)); }
double Settings::get_float(const std::string& name) const { return std::get<double>(value(name, SettingType::kFloat)); }
std::string Settings::get_string(const std::string& name) const { return std::get<std::string>(value(name, SettingType::kString)); }
std::vector<double> Settings::get_floats(const std::string& name) const {
  const SettingSpec* spec = find_spec(name);
  return std::get<std::vector<double>>(value(name, spec != nullptr && spec->type == SettingType::kIntList ? SettingType::kIntList : SettingType::kFloatList));
}
std::vector<int64_t> Settings::get_ints(const std::string& name) const {
  std::vector<int64_t> out;
  for (const double v : get_floats(name)) out.push_back(static_cast<int64_t>(v));
  return out;
}

std::vector<std::string> Settings::get_texts(const std::string& name) const {
  std::string all = trimmed(get_string(name));
  if (all.size() >= 2 && all.front() == '[' && all.back() == ']') all = trimmed(all.substr(1, all.size() - 2));
  std::vector<std::string> out;
  if (all.empty()) return out;
  for (const std::string& text : split(all, ',')) out.push_back(trimmed(text));
  return out;
}

SettingValue Settings::get(const std::string& name) const {
  const SettingSpec* spec = find_spec(name);
  if (spec == nullptr) throw InternalError("the program asks for an unknown setting " + name);
  return current(*spec);
}

std::string Settings::value_text(const std::string& name) const {
  const Value v = get(name);
  const std::string* plain = std::get_if<std::string>(&v);
  return plain != nullptr ? *plain : text(*find_spec(name), v);
}

const std::string& Settings::origin(const std::string& name) const {
  static const std::string kDefault = "default";
  const auto it = slots_.find(name);
  if (it == slots_.end() && find_spec(name) == nullptr) throw InternalError("the program asks for an unknown setting " + name);
  return it == slots_.end() ? kDefault : it->second.origin;
}

std::string Settings::text(const SettingSpec& spec) const { return text(spec, current(spec)); }

std::string Settings::text(const SettingSpec& spec, const Value& v) {
  switch (spec.type) {
    case SettingType::kBool: return std::get<bool>(v) ? "true" : "false";
    case SettingType::kInt: return std::to_string(std::get<int64_t>(v));
    case SettingType::kFloat: return number_text(std::get<double>(v));
    case SettingType::kString: return yaml_text(std::get<std::string>(v));
    default: break;
  }
  std::string s;
  for (const double x : std::get<std::vector<double>>(v)) s += (s.empty() ? "" : ", ") + number_text(x);
  return "[" + s + "]";
}

std::string Settings::print() const { return yaml(true); }
std::string Settings::to_yaml() const { return yaml(false); }

std::string Settings::yaml(bool with_origins) const {
  std::string out;
  std::vector<std::string> open;  // the parts of the section being written
  for (const SettingSpec& spec : schema()) {
    if (!applies(spec) && is_default(spec.name)) continue;
    std::vector<std::string> parts = split(spec.name, '.');
    const std::string key = parts.back();
    parts.pop_back();
    const auto common = std::mismatch(open.begin(), open.end(), parts.begin(), parts.end()).second;
    for (auto p = common; p != parts.end(); ++p) out += fmt::format("{:{}}{}:\n", "", 2 * (p - parts.begin()), *p);
    open = parts;
    const std::string line = fmt::format("{:{}}{}: {}", "", 2 * parts.size(), key, text(spec));
    out += with_origins ? fmt::format("{:<44}  # {}\n", line, origin(spec.name)) : line + "\n";
  }
  return out;
}

// The settings of an algorithm that is off do not affect the run.
bool Settings::counts(const SettingSpec& spec) const {
  const std::string name = spec.name;
  return spec.changes_result && applies(spec) && (switch_of(name).empty() || get_bool(switch_of(name)));
}

std::string Settings::hash() const {
  std::string text_of_all;
  for (const SettingSpec& spec : schema()) {
    // Settings for several ranks, fine-tuning settings and later additions are included only if they differ from their default. So hashes equal those of runs
    // from before these settings existed.
    const bool later = std::string_view(spec.name).starts_with("dist.") || std::string_view(spec.name) == "lr.total_steps" || is_of_tuning(spec);
    if (later && !differs_from_default(*this, spec)) continue;
    if (counts(spec)) text_of_all += fmt::format("{}: {}\n", spec.name, text(spec));
  }
  // A schedule covers the trained steps; a constant rate is the same for any number of them.
  if (get_int("train.max_steps") > 0 && get_string("lr.schedule") != "constant" && get_int("lr.total_steps") == 0)
    text_of_all += fmt::format("max_steps: {}\n", get_int("train.max_steps"));
  return fmt::format("{:016x}", XXH64(text_of_all.data(), text_of_all.size(), 0));
}

}  // namespace sindri::app
