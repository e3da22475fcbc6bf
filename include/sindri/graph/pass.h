// Graph passes: each rewrites a graph into one that computes the same values. src/graph/compile.cc fixes their order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/graph/graph.h"

namespace sindri {

/// Inputs of a pass besides the graph.
struct PassContext {
  std::string dump_dir;  ///< folder for the graph's text before and after each pass; empty: none
  std::string dump_prefix = "fn";  ///< prefix of the dumps' file names
  bool verify = false;  ///< check the graph after each pass
  std::vector<std::string> disabled = {};  ///< passes to skip; "all": every one, "rounding": those that may change rounding
};

/// A rewrite of graphs, by name.
class SINDRI_API Pass {
 public:
  virtual ~Pass() = default;
  /// Name of the pass, for dumps and PassContext::disabled.
  virtual const char* name() const = 0;
  /// Whether results are bitwise identical. False if the last bits may differ (another order of sums, fewer roundings); the name
  /// "rounding" disables all of these.
  virtual bool keeps_bits() const { return true; }
  /// Rewrites the graph. Returns whether it changed.
  virtual bool run(Graph& graph, const PassContext& context) = 0;
};
/// Passes in the order in which they run.
using PassList = std::vector<std::unique_ptr<Pass>>;

/// The passes that compile() runs, in order.
SINDRI_API PassList default_passes();
/// Runs the passes in order, except disabled ones; dumps and verifies as the context says. Throws SettingsError if `disabled`
/// names an unknown pass, IoError if a dump cannot be written.
SINDRI_API void run_passes(Graph& graph, const PassList& passes, const PassContext& context);

}  // namespace sindri
