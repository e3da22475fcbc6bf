// The verb plan: its flags, and the call that it makes.
#pragma once

#include <CLI/CLI.hpp>

#include "src/measure/plan.h"

class PlanVerb {
 public:
  void add_to(CLI::App* app);
  bool parsed() const { return verb_->parsed(); }
  /// Returns the exit code.
  int run();

 private:
  CLI::App* verb_ = nullptr;
  CLI::Option* fusion_ = nullptr;
  sindri::measure::PlanRequest request_;
};
