// See sindri/core/name_pattern.h.
#include "sindri/core/name_pattern.h"

#include <fmt/format.h>

#include <set>

#include "sindri/core/error.h"
#include "sindri/core/nearest.h"

namespace sindri {

namespace {

// Greedy, with one place to backtrack to: linear in both lengths for usual patterns, never more than their product.
bool wildcard(const std::string& pattern, const std::string& text) {
  size_t p = 0, t = 0, star = std::string::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// Returns the names and the names of all enclosing Cells.
std::vector<std::string> with_holders(const std::vector<std::string>& names) {
  std::set<std::string> out;
  for (const std::string& name : names) {
    for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) out.insert(name.substr(0, dot));
    out.insert(name);
  }
  return {out.begin(), out.end()};
}

}  // namespace

bool name_matches(const std::string& pattern, const std::string& name) {
  if (pattern.empty()) return false;
  return wildcard(pattern, name) || wildcard(pattern + ".*", name);
}

std::vector<int> match_names(const std::vector<std::string>& patterns, const std::vector<std::string>& names, const std::string& what) {
  std::vector<int> out(names.size(), -1);
  for (size_t p = 0; p < patterns.size(); ++p) {
    if (patterns[p].empty()) throw ValueError(fmt::format("{}: a pattern is empty", what), "", "name a parameter or a part, or omit it");
    bool any = false;
    for (size_t i = 0; i < names.size(); ++i) {
      if (!name_matches(patterns[p], names[i])) continue;
      any = true;
      if (out[i] < 0) out[i] = static_cast<int>(p);
    }
    if (any) continue;
    const std::string near = did_you_mean(patterns[p], with_holders(names));
    throw ValueError(fmt::format("{}: nothing is named '{}'", what, patterns[p]), "",
                     near.empty() ? "`sindri summary NET --all` lists the parts of a net" : near);
  }
  return out;
}

}  // namespace sindri
