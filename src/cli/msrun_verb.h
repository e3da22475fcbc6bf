// The verb msrun: its flags, and the calls that it makes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sindri/app/msrun.h"

class MsrunVerb {
 public:
  void add_to(CLI::App* app);
  bool parsed() const { return verb_->parsed(); }
  /// Returns the exit code.
  int run();

 private:
  CLI::App* verb_ = nullptr;
  sindri::app::MsrunRequest request_;
  std::string join_ = "False", bind_core_ = "False", bind_numa_ = "False";
  int sim_level_ = -1, sim_rank_id_ = -1;
};

/// Returns whether the program was started as `msrun`, a link to it.
bool is_msrun(const char* program);
