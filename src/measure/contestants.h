// The contestants of a benchmark: our own steps and the peers' modes, each a separate process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/measure/child_process.h"
#include "src/measure/measure.h"

namespace sindri::measure {

/// A run that failed or for which no time was left, and why.
struct Skipped {
  std::string framework, mode, reason;
};

/// Writes the peers' programs to a folder that is removed with this object, and defines how to start each contestant.
class ContestantFactory {
 public:
  /// Throws Error (usage) if a framework to compare with is not known, does not build the net, or has no Python set.
  explicit ContestantFactory(const BenchmarkRequest& request);
  ~ContestantFactory();
  ContestantFactory(const ContestantFactory&) = delete;
  ContestantFactory& operator=(const ContestantFactory&) = delete;

  /// Framework, mode, batch and threads of every contestant, in the order of a round.
  const std::vector<BenchmarkRun>& plan() const { return plan_; }
  std::unique_ptr<ChildProcess> start(const BenchmarkRun& run);
  /// Returns a framework's Python, empty if none is set. fix() says how to set a missing one.
  static std::string python(const std::string& framework);
  static std::string fix(const std::string& framework);

 private:
  void add_peer(const std::string& framework);
  ChildOptions own(const BenchmarkRun& run) const;
  ChildOptions peer(const BenchmarkRun& run) const;
  const BenchmarkRequest& request_;
  std::string folder_;
  std::vector<BenchmarkRun> plan_;
};

/// The peers' programs (scripts/peers), from a file that CMake generates.
extern const char* const kPytorchPeer;
extern const char* const kMindsporePeer;

}  // namespace sindri::measure
