// The verbs benchmark and profile: their flags, and the calls that they make.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "src/measure/measure.h"

class MeasureVerbs {
 public:
  void add_to(CLI::App* app);
  bool parsed() const { return benchmark_->parsed() || profile_->parsed(); }
  /// Returns the exit code.
  int run(const std::string& command_line);

 private:
  void add_workload_flags(CLI::App* verb);
  int run_benchmark(const std::string& command_line);
  int run_profile(const std::string& command_line);

  CLI::App *benchmark_ = nullptr, *profile_ = nullptr;
  sindri::measure::BenchmarkRequest request_;
  sindri::measure::ProfileRequest profiled_;
  std::vector<int64_t> batches_ = {32};
  std::vector<int> threads_;
  std::string json_file_, worker_;
  bool quiet_ = false, planned_ = false;
};
