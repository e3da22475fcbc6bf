// Reads the small part of YAML that settings need: a mapping of sections to mappings of keys to scalars or lists of scalars.
#pragma once

#include <string>
#include <vector>

namespace sindri::app {

/// A value of the file, or the head of a mapping (which comes before its contents).
struct YamlItem {
  enum Kind { kScalar, kList, kSection };
  std::string name;  // keys joined by dots
  Kind kind = kScalar;
  std::vector<std::string> values;  // one for a scalar
  bool quoted = false;  // written in quotes: always text
  int line = 0, column = 0;  // of the key, from 1
};

/// Returns all values of `text`, in order. `origin` names the file in errors. Throws SettingsError (see Settings::load_yaml).
std::vector<YamlItem> parse_settings_yaml(const std::string& text, const std::string& origin);

}  // namespace sindri::app
