// See settings.h.
#include "src/graph/settings.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "sindri/core/context.h"
#include "src/core/fork.h"

namespace sindri {

namespace {

void split_names(std::string_view list, std::vector<std::string>* out) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view item = list.substr(0, comma);
    if (!item.empty()) out->emplace_back(item);
    list = comma == std::string_view::npos ? "" : list.substr(comma + 1);
  }
}

// Two functions with the same name must not overwrite each other's files.
std::string unique_prefix(const std::string& name) {
  static std::mutex mutex;
  static const AtFork at_fork(mutex, AtFork::kSettings);
  static std::map<std::string, int> used;
  std::string file;
  for (char c : name) file += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' ? c : '_';
  const std::lock_guard lock(mutex);
  return fmt::format("{}_{}", file, used[file]++);
}

}  // namespace

bool env_flag(const char* name) {
  const char* v = std::getenv(name);
  return v != nullptr && std::string_view(v) != "" && std::string_view(v) != "0";
}

PassContext pass_context(const CompileOptions& opts) {
  PassContext c;
  c.disabled = opts.disable_passes;
  if (const char* list = std::getenv("SINDRI_DISABLE_PASSES")) split_names(list, &c.disabled);
  if (const char* dir = std::getenv("SINDRI_DUMP_GRAPH"); dir != nullptr && *dir != 0) c.dump_dir = dir;
  else if (context().save_graphs) c.dump_dir = context().save_graphs_path;
  if (!c.dump_dir.empty()) c.dump_prefix = unique_prefix(opts.name);
#ifdef NDEBUG
  c.verify = env_flag("SINDRI_VERIFY_GRAPH");
#else
  c.verify = true;
#endif
  return c;
}

}  // namespace sindri
