// The verb pca: its flags, and the calls that it makes.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sindri/boost/dim_reduce.h"

class PcaVerb {
 public:
  void add_to(CLI::App* app);
  bool parsed() const { return verb_->parsed(); }
  /// Returns the exit code.
  int run();

 private:
  sindri::boost::Columns columns_of(const std::string& file) const;

  CLI::App* verb_ = nullptr;
  std::string snapshots_, config_, out_ = "pca_mat.npy";
  std::vector<std::string> settings_;
  int64_t components_ = 32, memory_mb_ = 4096;
};
