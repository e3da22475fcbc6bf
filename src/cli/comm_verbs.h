// The verbs comm-bench and comm-trace: their flags, and the calls that they make.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sindri/comm/benchmark.h"

class CommVerbs {
 public:
  /// Returns comm-bench, to which the caller adds the settings flags.
  CLI::App* add_to(CLI::App* app);
  bool parsed() const { return bench_->parsed() || trace_->parsed(); }
  /// Returns the exit code.
  int run(const sindri::comm::Options& options);

 private:
  int run_bench(const sindri::comm::Options& options);
  CLI::App *bench_ = nullptr, *trace_ = nullptr;
  sindri::comm::BenchmarkRequest request_;
  std::vector<std::string> sizes_, compare_;
  std::string json_file_;
  bool keep_ = false;
  std::string folder_;
};
