// The verb comm-bench: its flags, and the call behind it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sindri/comm/benchmark.h"

class CommVerbs {
 public:
  void add_to(CLI::App* app);
  bool parsed() const { return bench_->parsed(); }
  /// Returns the exit code.
  int run();

 private:
  CLI::App* bench_ = nullptr;
  sindri::comm::BenchmarkRequest request_;
  std::vector<std::string> sizes_, compare_;
  std::string backend_ = "auto", json_file_;
  bool keep_ = false;
};
