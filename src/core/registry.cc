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

template <class T> T parse_number(const SettingSpec& spec, std::string_view text, const char* expected) {
  T v{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    throw ValueError(fmt::format("{}: expected {}, got '{}'", spec.name, expected, text));
  return v;
}

std::vector<double> parse_list(const SettingSpec& spec, std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = trimmed(text.substr(1, text.size() - 2));
  std::vector<double> out;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    out.push_back(parse_number<double>(spec, trimmed(text.substr(0, comma)), "a list of numbers"));
    text = trimmed(text.substr(std::min(comma + 1, text.size())));
  }
  return out;
}

const char* type_name(SettingType t) {
  switch (t) {
    case SettingType::kBool: return "true or false";
    case SettingType::kInt: return "a whole number";
    case SettingType::kFloat: return "a number";
    case SettingType::kString: return "text";
    default: return "a list of numbers";
  }
}

bool among(const char* choices, const std::string& text) {
  return (std::string("|") + choices + "|").find("|" + text + "|") != std::string::npos && text.find('|') == std::string::npos;
}

// The value with an int where a float is wanted made one; checked.
SettingValue fitted(const std::string& whose, const SettingSpec& spec, SettingValue v) {
  const auto wrong = [&](const std::string& got) {
    throw ValueError(fmt::format("{}: {} must be {}, got {}", whose, spec.name, type_name(spec.type), got), "",
                     fmt::format("the default is {}", spec.fallback[0] == '\0' ? "empty" : spec.fallback));
  };
  const auto in_range = [&](double x) {
    if (!(x >= spec.min && x <= spec.max))
      throw ValueError(fmt::format("{}: {} must be in {} .. {}, got {}", whose, spec.name, spec.min, spec.max, x), "",
                       fmt::format("the default is {}", spec.fallback));
  };
  if (spec.type == SettingType::kFloat && std::holds_alternative<int64_t>(v)) v = static_cast<double>(std::get<int64_t>(v));
  switch (spec.type) {
    case SettingType::kBool:
      if (!std::holds_alternative<bool>(v)) wrong("another type");
      break;
    case SettingType::kInt:
      if (!std::holds_alternative<int64_t>(v)) wrong("another type");
      in_range(static_cast<double>(std::get<int64_t>(v)));
      break;
    case SettingType::kFloat:
      if (!std::holds_alternative<double>(v)) wrong("another type");
      in_range(std::get<double>(v));
      break;
    case SettingType::kString:
      if (!std::holds_alternative<std::string>(v)) wrong("another type");
      if (const auto& s = std::get<std::string>(v); spec.choices[0] != '\0' && s != spec.fallback && !among(spec.choices, s))
        throw ValueError(fmt::format("{}: {} must be one of {}, got '{}'", whose, spec.name, spec.choices, s));
      break;
    default:
      if (!std::holds_alternative<std::vector<double>>(v)) wrong("another type");
      for (double x : std::get<std::vector<double>>(v)) in_range(x);
  }
  return v;
}

}  // namespace

SettingValue parse_setting(const SettingSpec& spec, const std::string& text) {
  switch (spec.type) {
    case SettingType::kBool:
      if (text != "true" && text != "false") throw ValueError(fmt::format("{}: expected true or false, got '{}'", spec.name, text));
      return text == "true";
    case SettingType::kInt: return parse_number<int64_t>(spec, text, "a whole number");
    case SettingType::kFloat: return parse_number<double>(spec, text, "a number");
    case SettingType::kString: return text;
    default: return parse_list(spec, text);
  }
}

SettingValues::SettingValues(const std::string& whose, const std::vector<SettingSpec>& declared, const std::map<std::string, SettingValue>& given)
    : whose_(whose) {
  std::vector<std::string> known;
  for (const SettingSpec& spec : declared) {
    known.emplace_back(spec.name);
    const auto it = given.find(spec.name);
    values_[spec.name] = fitted(whose, spec, it == given.end() ? parse_setting(spec, spec.fallback) : it->second);
  }
  for (const auto& [name, value] : given) {
    if (!values_.contains(name)) throw ValueError(fmt::format("{} has no setting '{}'", whose, name), "", did_you_mean(name, known));
  }
}

template <class T> const T& SettingValues::get(const std::string& name) const {
  const auto it = values_.find(name);
  if (it == values_.end() || !std::holds_alternative<T>(it->second))
    throw InternalError(fmt::format("{} reads setting '{}', which it does not declare so", whose_, name));
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

bool RegistryBase::has(const std::string& name) const {
  return std::any_of(infos_.begin(), infos_.end(), [&](const Registered& r) { return r.name == name; });
}

size_t RegistryBase::index(const std::string& name) const {
  for (size_t i = 0; i < infos_.size(); ++i)
    if (infos_[i].name == name) return i;
  throw ValueError(fmt::format("no {} is named '{}'", kind_, name), "", did_you_mean(name, names()));
}

const Registered& RegistryBase::info(const std::string& name) const { return infos_[index(name)]; }

void RegistryBase::add_info(Registered info) {
  if (info.name.empty()) throw ValueError(fmt::format("an {} without a name is registered", kind_));
  if (has(info.name)) throw ValueError(fmt::format("two things of kind {} are named '{}'", kind_, info.name), "", "give one another name");
  SettingValues(info.name, info.settings);  // defaults that do not fit their own ranges show here
  infos_.push_back(std::move(info));
}

namespace {

// Rows point to texts, which stay for the life of the process.
const char* kept(std::string text) {
  static std::deque<std::string>& all = *new std::deque<std::string>();
  for (const std::string& s : all)
    if (s == text) return s.c_str();
  return all.emplace_back(std::move(text)).c_str();
}

}  // namespace

std::vector<SettingSpec> RegistryBase::rows(const std::string& section, const std::string& chooser) const {
  struct Row {
    SettingSpec spec;
    std::vector<std::pair<std::string, std::vector<std::string>>> docs, fallbacks;  // text, and whose it is
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
  for (const std::string& name : names()) {
    for (const SettingSpec& s : info(name).settings) {
      auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return std::string(r.spec.name) == s.name; });
      if (row == rows.end()) {
        rows.push_back({s, {}, {}});
        row = rows.end() - 1;
      }
      if (row->spec.type != s.type) throw ValueError(fmt::format("two of kind {} declare the setting '{}' with different types", kind_, s.name));
      row->spec.min = std::min(row->spec.min, s.min);
      row->spec.max = std::max(row->spec.max, s.max);
      note(&row->docs, s.doc, name);
      note(&row->fallbacks, s.fallback, name);
    }
  }
  std::vector<SettingSpec> out;
  for (Row& r : rows) {
    std::string doc, fallback;
    for (const auto& [text, whose] : r.docs) doc += fmt::format("{}{} ({})", doc.empty() ? "" : "; ", text, fmt::join(whose, ", "));
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

}  // namespace sindri
