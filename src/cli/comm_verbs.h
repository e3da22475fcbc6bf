// The verbs comm-bench and comm-trace: their flags, and the calls behind them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sindri/comm/benchmark.h"

class CommVerbs {
 public:
  void add_to(CLI::App* app);
  bool parsed() const { return bench_->parsed() || trace_->parsed(); }
  /// Returns the exit code.
  int run();

 private:
  int run_bench();
  CLI::App *bench_ = nullptr, *trace_ = nullptr;
  sindri::comm::BenchmarkRequest request_;
  std::vector<std::string> sizes_, compare_;
  std::string backend_ = "auto", json_file_;
  bool keep_ = false;
  std::string folder_;
};
