// Registries and the values of declared settings.
#include "sindri/core/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"

namespace sindri {

namespace {

constexpr std::string_view kBlank = " \t";

std::string_view trimmed(std::string_view s) {
  const size_t a = s.find_first_not_of(kBlank), b = s.find_last_not_of(kBlank);
  return a == std::string_view::npos ? std::string_view() : s.substr(a, b - a + 1);
}

template <class T> bool read_number(std::string_view text, T* v) {
  if (text.starts_with("+-")) return false;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *v);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

const char* type_name(SettingType t) {
  switch (t) {
    case SettingType::kBool: return "true or false";
    case SettingType::kInt: return "a whole number";
    case SettingType::kFloat: return "a number";
    case SettingType::kString: return "text";
    case SettingType::kIntList: return "a list of whole numbers";
    default: return "a list of numbers";
  }
}

bool is_list(SettingType t) { return t == SettingType::kFloatList || t == SettingType::kIntList; }

std::vector<std::string> choices_of(const SettingSpec& spec) {
  std::vector<std::string> out(1);
  for (const char* c = spec.choices; *c != '\0'; ++c) {
    if (*c == '|') out.emplace_back();
    else out.back() += *c;
  }
  return out;
}

std::string shown_value(const SettingValue& v) {
  if (const bool* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
  if (const std::string* s = std::get_if<std::string>(&v)) return fmt::format("'{}'", *s);
  if (const int64_t* i = std::get_if<int64_t>(&v)) return fmt::format("{}", *i);
  if (const double* d = std::get_if<double>(&v)) return fmt::format("{}", *d);
  return fmt::format("[{}]", fmt::join(std::get<std::vector<double>>(v), ", "));
}

// One rejected setting: "<name>: expected <what it allows>, got <what was found>".
struct Refusal {
  const SettingSpec& spec;
  const std::string shown;

  [[noreturn]] void wrong(const std::string& expected, const std::string& got, const std::string& fix = "") const {
    throw ValueError(fmt::format("{}: expected {}, got {}", shown, expected, got), "",
                     fix.empty() ? fmt::format("the default is {}", spec.fallback[0] == '\0' ? "empty" : spec.fallback) : fix);
  }
  void in_range(double x) const {
    if (!(x >= spec.min && x <= spec.max)) wrong(fmt::format("{} to {}", spec.min, spec.max), fmt::format("{}", x));
  }
  void text(const std::string& s) const {
    const auto control = std::find_if(s.begin(), s.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (control != s.end())
      throw ValueError(fmt::format("{}: the text holds the control character 0x{:02x}", shown, static_cast<unsigned>(static_cast<unsigned char>(*control))), "",
                       "remove line breaks, tabs and other control characters");
    if (spec.choices[0] == '\0' || s == spec.fallback) return;  // a default may be empty in addition to the choices
    const std::vector<std::string> known = choices_of(spec);
    if (std::find(known.begin(), known.end(), s) == known.end())
      wrong(fmt::format("{}", fmt::join(known, ", ")), fmt::format("'{}'", s), did_you_mean(s, known));
  }
};

int64_t whole_number(const Refusal& refusal, std::string_view text) {
  // YAML 1.1 reads 010 as eight, YAML 1.2 as ten.
  if (const size_t digits = text.find_first_not_of("+-"); digits + 1 < text.size() && text[digits] == '0')
    refusal.wrong("a whole number without leading zeros", fmt::format("'{}'", text));
  int64_t v = 0;
  if (!read_number(text, &v)) refusal.wrong("a whole number", fmt::format("'{}'", text));
  return v;
}

double finite_number(const Refusal& refusal, std::string_view text) {
  double v = 0;
  if (!read_number(text, &v) || !std::isfinite(v)) refusal.wrong("a number", fmt::format("'{}'", text));
  return v;
}

std::vector<double> parse_list(const Refusal& refusal, std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = trimmed(text.substr(1, text.size() - 2));
  std::vector<double> out;
  for (bool more = !text.empty(); more;) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view element = trimmed(text.substr(0, comma));
    out.push_back(refusal.spec.type == SettingType::kIntList ? static_cast<double>(whole_number(refusal, element)) : finite_number(refusal, element));
    more = comma < text.size();
    text = trimmed(text.substr(std::min(comma + 1, text.size())));
  }
  return out;
}

SettingValue unchecked(const SettingSpec& spec, const std::string& text) {
  const Refusal refusal{spec, spec.name};
  switch (spec.type) {
    case SettingType::kBool:
      if (text != "true" && text != "True" && text != "false" && text != "False") refusal.wrong("true or false", fmt::format("'{}'", text));
      return text == "true" || text == "True";
    case SettingType::kInt: return whole_number(refusal, text);
    case SettingType::kFloat: return finite_number(refusal, text);
    case SettingType::kString: return text;
    default: return parse_list(refusal, text);
  }
}

}  // namespace

SettingValue parse_setting(const SettingSpec& spec, const std::string& text) { return check_setting(spec, unchecked(spec, text)); }

SettingValue check_setting(const SettingSpec& spec, SettingValue v, const std::string& shown) {
  const Refusal refusal{spec, shown.empty() ? spec.name : shown};
  if (spec.type == SettingType::kFloat && std::holds_alternative<int64_t>(v)) v = static_cast<double>(std::get<int64_t>(v));
  const size_t wanted = is_list(spec.type) ? 4 : static_cast<size_t>(spec.type);
  static_assert(static_cast<size_t>(SettingType::kString) == 3 && std::is_same_v<std::variant_alternative_t<3, SettingValue>, std::string>);
  if (v.index() != wanted) refusal.wrong(type_name(spec.type), shown_value(v));
  if (const int64_t* i = std::get_if<int64_t>(&v)) refusal.in_range(static_cast<double>(*i));
  if (const double* d = std::get_if<double>(&v)) refusal.in_range(*d);
  if (const std::string* s = std::get_if<std::string>(&v)) refusal.text(*s);
  if (const std::vector<double>* list = std::get_if<std::vector<double>>(&v)) {
    for (const double x : *list) {
      if (spec.type == SettingType::kIntList && x != std::floor(x)) refusal.wrong("a list of whole numbers", shown_value(v));
      refusal.in_range(x);
    }
  }
  return v;
}

SettingValues::SettingValues(const std::string& whose, const std::vector<SettingSpec>& declared, const std::map<std::string, SettingValue>& given)
    : whose_(whose) {
  std::vector<std::string> known;
  for (const SettingSpec& spec : declared) {
    known.emplace_back(spec.name);
    const auto it = given.find(spec.name);
    values_[spec.name] = check_setting(spec, it == given.end() ? unchecked(spec, spec.fallback) : it->second, fmt::format("{}.{}", whose, spec.name));
  }
  for (const auto& [name, value] : given) {
    if (!values_.contains(name)) throw ValueError(fmt::format("{} has no setting '{}'", whose, name), "", did_you_mean(name, known));
  }
}

template <class T> const T& SettingValues::get(const std::string& name) const {
  const auto it = values_.find(name);
  if (it == values_.end() || !std::holds_alternative<T>(it->second))
    throw InternalError(fmt::format("{} reads setting '{}', which it does not declare with this type", whose_, name));
  return std::get<T>(it->second);
}
bool SettingValues::get_bool(const std::string& name) const { return get<bool>(name); }
int64_t SettingValues::get_int(const std::string& name) const { return get<int64_t>(name); }
double SettingValues::get_float(const std::string& name) const { return get<double>(name); }
const std::string& SettingValues::get_string(const std::string& name) const { return get<std::string>(name); }
const std::vector<double>& SettingValues::get_list(const std::string& name) const { return get<std::vector<double>>(name); }

const SettingSpec* Registered::find(const std::string& setting) const {
  for (const SettingSpec& s : settings)
    if (setting == s.name) return &s;
  return nullptr;
}

std::vector<std::string> RegistryBase::names() const {
  std::vector<std::string> out;
  for (const Registered& r : infos_) out.push_back(r.name);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> RegistryBase::offered() const {
  std::vector<std::string> out = names();
  std::erase_if(out, [&](const std::string& name) { return info(name).code_only; });
  return out;
}

bool RegistryBase::has(const std::string& name) const {
  return std::any_of(infos_.begin(), infos_.end(), [&](const Registered& r) { return r.name == name; });
}

size_t RegistryBase::index(const std::string& name) const {
  for (size_t i = 0; i < infos_.size(); ++i)
    if (infos_[i].name == name) return i;
  throw ValueError(fmt::format("no {} is named '{}'", kind_, name), "", did_you_mean(name, names()));
}

const Registered& RegistryBase::info(const std::string& name) const { return infos_[index(name)]; }

SettingValues RegistryBase::values(const std::string& name, const std::map<std::string, SettingValue>& given) const {
  const Registered& thing = info(name);
  SettingValues out(name, thing.settings, given);
  if (thing.check == nullptr) return out;
  try {
    thing.check(out);
  } catch (const ValueError& e) { throw ValueError(e.message(), e.where().empty() ? name : name + "." + e.where(), e.fix()); }
  return out;
}

void RegistryBase::add_info(Registered info, bool can_be_made) {
  constexpr const char *kLower = "abcdefghijklmnopqrstuvwxyz0123456789_", *kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (info.name.empty()) throw ValueError(fmt::format("an entry of kind {} is registered without a name", kind_));
  if (info.name.find_first_not_of(kLetters) != std::string::npos)
    throw ValueError(fmt::format("'{}' is not a valid name for kind {}", info.name, kind_), "", "use letters, digits and '_'");
  if (has(info.name)) throw ValueError(fmt::format("two entries of kind {} are named '{}'", kind_, info.name), "", "give one another name");
  if (!can_be_made) throw ValueError(fmt::format("{} '{}' cannot be made", kind_, info.name), "", "set make");
  for (const SettingSpec& spec : info.settings) {
    const std::string key = spec.name;
    if (key.empty() || key.find_first_not_of(kLower) != std::string::npos || key == "enabled")
      throw ValueError(fmt::format("'{}' is not a valid setting name of {} '{}'", key, kind_, info.name), "",
                       "use lower-case letters, digits and '_', and not 'enabled'");
  }
  for (const SettingSpec& spec : info.settings) {
    if (spec.needs[0] != '\0' && info.find(spec.needs) == nullptr)
      throw ValueError(fmt::format("{} '{}' has no setting '{}', which '{}' needs", kind_, info.name, spec.needs, spec.name));
  }
  SettingValues(info.name, info.settings);  // reports defaults that violate their own ranges
  infos_.push_back(std::move(info));
}

namespace {

// Rows point to strings, which live as long as the process.
const char* kept(std::string text) {
  static std::deque<std::string>& all = *new std::deque<std::string>();
  for (const std::string& s : all)
    if (s == text) return s.c_str();
  return all.emplace_back(std::move(text)).c_str();
}

// The union of both choices; any text if either setting accepts any.
const char* either(const SettingSpec& a, const SettingSpec& b) {
  if (a.choices[0] == '\0' || b.choices[0] == '\0') return "";
  std::vector<std::string> all = choices_of(a);
  for (const std::string& choice : choices_of(b))
    if (std::find(all.begin(), all.end(), choice) == all.end()) all.push_back(choice);
  return kept(fmt::format("{}", fmt::join(all, "|")));
}

}  // namespace

std::vector<SettingSpec> RegistryBase::rows(const std::string& section, const std::string& chooser) const {
  struct Row {
    SettingSpec spec;
    std::vector<std::pair<std::string, std::vector<std::string>>> docs, fallbacks;  // text, and the entries that have it
  };
  const auto note = [](auto* list, const std::string& text, const std::string& whose) {
    for (auto& [known, names] : *list) {
      if (known != text) continue;
      names.push_back(whose);
      return;
    }
    list->push_back({text, {whose}});
  };
  std::vector<Row> rows;
  const std::vector<std::string> things = offered();
  for (const std::string& name : things) {
    for (const SettingSpec& s : info(name).settings) {
      auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return std::string(r.spec.name) == s.name; });
      if (row == rows.end()) {
        rows.push_back({s, {}, {}});
        row = rows.end() - 1;
      }
      if (row->spec.type != s.type) throw ValueError(fmt::format("two entries of kind {} declare the setting '{}' with different types", kind_, s.name));
      if (std::string_view(row->spec.unit) != s.unit)
        throw ValueError(fmt::format("two entries of kind {} declare the setting '{}' in different units", kind_, s.name), "", "give one another name");
      row->spec.choices = either(row->spec, s);
      row->spec.changes_result = row->spec.changes_result || s.changes_result;
      row->spec.min = std::min(row->spec.min, s.min);
      row->spec.max = std::max(row->spec.max, s.max);
      note(&row->docs, s.doc, name);
      note(&row->fallbacks, s.fallback, name);
    }
  }
  std::vector<SettingSpec> out;
  for (Row& r : rows) {
    std::string doc, fallback;
    for (const auto& [text, whose] : r.docs) {
      doc += fmt::format("{}{}", doc.empty() ? "" : "; ", text);
      if (whose.size() < things.size() || things.size() == 1) doc += fmt::format(" ({})", fmt::join(whose, ", "));
    }
    for (const auto& [text, whose] : r.fallbacks)
      fallback += r.fallbacks.size() == 1 ? text : fmt::format("{}{} ({})", fallback.empty() ? "" : ", ", text, fmt::join(whose, ", "));
    SettingSpec s = r.spec;
    s.name = kept(section + "." + s.name);
    s.doc = kept(doc);
    s.fallback = kept(fallback);
    s.chosen_by = kept(chooser);
    out.push_back(s);
  }
  return out;
}

std::vector<SettingSpec> RegistryBase::switched_rows(const std::string& section) const {
  std::vector<SettingSpec> out;
  for (const std::string& name : offered()) {
    const Registered& thing = info(name);
    out.push_back({.name = kept(fmt::format("{}.{}.enabled", section, name)), .type = SettingType::kBool, .fallback = "false", .doc = kept(thing.doc)});
    for (SettingSpec spec : thing.settings) {
      spec.name = kept(fmt::format("{}.{}.{}", section, name, spec.name));
      out.push_back(spec);
    }
  }
  return out;
}

}  // namespace sindri
