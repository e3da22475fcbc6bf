// The verbs run, launch-script, ranktable, scripts and docs: their flags and the calls that they make.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sindri/app/launch.h"
#include "sindri/app/rank_table_tools.h"

class LaunchVerbs {
 public:
  void add_to(CLI::App* app);
  bool parsed() const { return run_->parsed() || script_->parsed() || table_->parsed() || folder_->parsed() || docs_->parsed(); }
  /// Removes the words after the first "--" from the command line of one of these verbs. They belong to another program; CLI11 parses only the words before.
  void take_command(std::vector<std::string>* arguments);
  /// Returns the exit code.
  int run();

 private:
  void add_run(CLI::App* app);
  void add_script(CLI::App* app);
  void add_table(CLI::App* app);
  int run_table();

  CLI::App *run_ = nullptr, *script_ = nullptr, *slurm_ = nullptr, *mpijob_ = nullptr;
  CLI::App *table_ = nullptr, *generate_ = nullptr, *merge_ = nullptr, *check_ = nullptr, *show_ = nullptr, *folder_ = nullptr, *docs_ = nullptr;
  sindri::app::LaunchRequest request_;
  sindri::app::ScriptRequest batch_;
  sindri::app::GenerateRequest table_request_;
  std::vector<std::string> files_, command_;
  std::string output_;
  bool by_address_ = false, inside_ = false;
};
