// Graph passes: each rewrites a graph into one that computes the same values. Their order is fixed in src/graph/compile.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/graph/graph.h"

namespace sindri {

/// What a pass may know besides the graph.
struct PassContext {
  std::string dump_dir;  ///< text of the graph before and after each pass goes here; empty: nowhere
  std::string dump_prefix = "fn";  ///< start of those file names
  bool verify = false;  ///< check the graph after each pass
  std::vector<std::string> disabled = {};  ///< pass names to leave out; "all" for every one, "rounding" for those that do not keep bits
};

/// A rewrite of graphs, by name.
class SINDRI_API Pass {
 public:
  virtual ~Pass() = default;
  virtual const char* name() const = 0;
  /// False when results may differ in the last bits (other order of sums, fewer roundings). Disabled together by the name "rounding".
  virtual bool keeps_bits() const { return true; }
  /// Returns true when it changed the graph.
  virtual bool run(Graph& graph, const PassContext& context) = 0;
};
using PassList = std::vector<std::unique_ptr<Pass>>;

/// The passes compile runs, in order.
SINDRI_API PassList default_passes();
/// Runs them in order, leaving out disabled ones; dumps and verifies as the context says.
/// Throws SettingsError when `disabled` names no known pass, IoError when a dump cannot be written.
SINDRI_API void run_passes(Graph& graph, const PassList& passes, const PassContext& context);

}  // namespace sindri
