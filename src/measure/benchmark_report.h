// A benchmark's result, and its table and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/measure/contestants.h"
#include "src/measure/measure.h"

namespace sindri::measure {

struct BenchmarkOutcome {
  std::vector<BenchmarkRun> runs;
  std::vector<Skipped> skipped;
  int rounds = 0;
  double block_seconds = 0;
};

/// "graph" with batch and threads: "graph, batch 64, 2 threads".
std::string label(const BenchmarkRun& r);
BenchmarkReport make_report(const BenchmarkRequest& request, const BenchmarkOutcome& outcome);
/// Returns {"cpu", "instruction_set", "threads", "cores", "memory_gib"}.
nlohmann::ordered_json machine_record(int threads);
nlohmann::ordered_json workload_record(const Workload& w);

}  // namespace sindri::measure
