// See plan_cache.h. The file: {"form": 1, "owners": {owner: {key: {"choice", "us", "workspace", "full", "at"}}}}.
#include "src/device/cuda/plan_cache.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <vector>

#include "sindri/core/log.h"
#include "sindri/op/kernel_choice.h"
#include "src/op/cache_file.h"

namespace sindri::cuda {

// In the type's namespace, where the library finds them.
static void to_json(nlohmann::json& j, const CachedChoice& c) {
  j = {{"choice", c.choice}, {"us", c.us}, {"workspace", c.workspace}, {"full", c.full}, {"at", c.at}};
}
static void from_json(const nlohmann::json& j, CachedChoice& c) {
  j.at("choice").get_to(c.choice);
  j.at("us").get_to(c.us);
  j.at("workspace").get_to(c.workspace);
  j.at("full").get_to(c.full);
  j.at("at").get_to(c.at);
}

namespace {

namespace fs = std::filesystem;

constexpr int kForm = 1;
constexpr size_t kMostOwners = 16, kMostChoices = 2048;

using Choices = std::map<std::string, CachedChoice>;
using Owners = std::map<std::string, Choices>;

struct Cache {
  std::mutex mutex;
  std::string file;  // the file that was read
  Owners owners;
  std::set<std::string> told;  // owners whose absence from the file was reported
  bool warned_of_writing = false;
};
Cache& cache() {
  static Cache* const c = new Cache;
  return *c;
}

// Returns no choices for a file of another form, and leaves the file to the Sindri that wrote it until this one replaces it.
Owners read(const std::string& file) {
  Owners out;
  std::error_code error;
  if (!fs::exists(file, error)) return out;
  try {
    if (!fs::is_regular_file(file)) throw std::runtime_error("it is not a regular file");
    std::ifstream f(file);
    if (!f) throw std::runtime_error("it cannot be opened");
    const nlohmann::json j = nlohmann::json::parse(f);
    if (j.at("form") == kForm) j.at("owners").get_to(out);
    return out;
  } catch (const std::exception& e) {
    const std::string aside = file + ".damaged";
    fs::rename(file, aside, error);
    log::warn("dispatch",
              fmt::format("the plan cache {} cannot be read ({}); plans are measured again{}", file, e.what(),
                          error ? "" : fmt::format(", and the file is kept as {}", aside)));
  }
  return {};
}

// Removes the entries that were measured first.
template <class Map, class F> void bound(Map* entries, size_t most, F&& at) {
  while (entries->size() > most)
    entries->erase(std::min_element(entries->begin(), entries->end(), [&](const auto& a, const auto& b) { return at(a.second) < at(b.second); }));
}
int64_t latest(const Choices& all) {
  int64_t at = 0;
  for (const auto& [key, c] : all) at = std::max(at, c.at);
  return at;
}

}  // namespace

std::optional<CachedChoice> cached_choice(const std::string& owner, const std::string& key) {
  const std::string file = plan_cache_file();
  if (file.empty()) return std::nullopt;
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  if (c.file != file) {
    c.owners = read(file);
    c.file = file;
  }
  const auto of = c.owners.find(owner);
  if (of == c.owners.end()) {
    if (!c.owners.empty() && c.told.insert(owner).second) {
      std::vector<std::string> names;
      for (const auto& [name, choices] : c.owners) names.push_back(name);
      log::info("dispatch", fmt::format("{} has plans of {}, none of {}", file, fmt::join(names, "; "), owner));
    }
    return std::nullopt;
  }
  const auto at = of->second.find(key);
  return at == of->second.end() ? std::nullopt : std::optional(at->second);
}

void keep_choice(const std::string& owner, const std::string& key, CachedChoice choice) {
  const std::string file = plan_cache_file();
  if (file.empty()) return;
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  const CacheLock one(file);
  c.owners = read(file);
  c.file = file;
  c.owners[owner][key] = std::move(choice);
  bound(&c.owners[owner], kMostChoices, [](const CachedChoice& one_of) { return one_of.at; });
  bound(&c.owners, kMostOwners, latest);
  const std::string text = nlohmann::json{{"form", kForm}, {"owners", c.owners}}.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (const std::string why = replace_cache_file(file, text + "\n"); !why.empty() && !c.warned_of_writing) {
    c.warned_of_writing = true;
    log::warn("dispatch", fmt::format("the plan cache {} cannot be written ({}): plans are measured again next time", file, why));
  }
}

}  // namespace sindri::cuda
