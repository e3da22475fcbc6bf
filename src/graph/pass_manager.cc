// Runs passes in order, with dumps and checks between them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/graph/pass.h"
#include "src/core/descriptor.h"

namespace sindri {

namespace {

bool has(const std::vector<std::string>& list, const char* name) { return std::find(list.begin(), list.end(), name) != list.end(); }

void check_disabled(const PassList& passes, const std::vector<std::string>& disabled) {
  for (const std::string& d : disabled) {
    if (d == "all" || d == "rounding" || std::any_of(passes.begin(), passes.end(), [&](const auto& p) { return d == p->name(); })) continue;
    std::string known;
    for (const auto& p : passes) known += std::string(known.empty() ? "" : ", ") + p->name();
    throw SettingsError(fmt::format("there is no graph pass '{}' to disable", d), "CompileOptions::disable_passes or SINDRI_DISABLE_PASSES",
                        "the passes are: " + known + "; rounding for those that change the last bits; or all");
  }
}

// File 00 holds the graph as traced, file k the graph after pass k, so that consecutive files show what a pass did.
void dump(const Graph& graph, const PassContext& context, size_t index, const char* stage) {
  if (context.dump_dir.empty()) return;
  const std::filesystem::path file = std::filesystem::path(context.dump_dir) / fmt::format("{}_{:02}_{}.ir", context.dump_prefix, index, stage);
  std::error_code ignored;  // a folder that cannot be created is reported when the file is opened
  std::filesystem::create_directories(context.dump_dir, ignored);
  if (const int error = write_text_file(file.string(), graph.text()); error != 0)
    throw IoError(fmt::format("a graph dump cannot be written: {}", std::strerror(error)), file.string(), "check SINDRI_DUMP_GRAPH or save_graphs_path");
}

}  // namespace

void run_passes(Graph& graph, const PassList& passes, const PassContext& context) {
  check_disabled(passes, context.disabled);
  dump(graph, context, 0, "traced");
  if (context.verify) verify_graph(graph, "tracing");
  const bool none = has(context.disabled, "all");
  for (size_t i = 0; i < passes.size(); ++i) {
    Pass& pass = *passes[i];
    if (none || has(context.disabled, pass.name()) || (!pass.keeps_bits() && has(context.disabled, "rounding"))) continue;
    const size_t before = graph.order().size();
    const bool changed = pass.run(graph, context);
    if (log::enabled(log::Level::kDebug, "graph"))
      log::debug("graph", fmt::format("{}: {} {} nodes -> {}{}", graph.name, pass.name(), before, graph.order().size(), changed ? "" : ", unchanged"));
    dump(graph, context, i + 1, pass.name());
    if (context.verify) verify_graph(graph, pass.name());
  }
}

}  // namespace sindri
