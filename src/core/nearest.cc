// See nearest.h.
#include "src/core/nearest.h"

#include <algorithm>
#include <numeric>

namespace sindri {

int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  std::vector<std::pair<int, std::string>> near;
  for (const std::string& k : known) {
    const int d = edit_distance(name, k);
    if (d <= std::max<int>(2, static_cast<int>(name.size()) / 3)) near.emplace_back(d, k);
  }
  std::sort(near.begin(), near.end());
  if (!near.empty()) {
    std::string s = "did you mean '" + near[0].second + "'";
    if (near.size() > 1) s += " or '" + near[1].second + "'";
    return s + "?";
  }
  if (known.empty() || known.size() > 16) return "";
  std::string s = "known: ";
  for (size_t i = 0; i < known.size(); ++i) s += (i > 0 ? ", " : "") + known[i];
  return s;
}

}  // namespace sindri
