// The verb comm-bench: its flags, and the call behind it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sindri/comm/benchmark.h"

class CommVerbs {
 public:
  /// Returns the verb, which has the flags of settings beside its own.
  CLI::App* add_to(CLI::App* app);
  bool parsed() const { return bench_->parsed(); }
  /// Returns the exit code.
  int run(const sindri::comm::Options& options);

 private:
  CLI::App* bench_ = nullptr;
  sindri::comm::BenchmarkRequest request_;
  std::vector<std::string> sizes_, compare_;
  std::string json_file_;
  bool keep_ = false;
};
