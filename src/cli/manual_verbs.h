// `sindri manual` and `sindri completion`: man pages and bash's completion, generated from the same descriptions as --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

class ManualVerbs {
 public:
  void add_to(CLI::App* app);
  bool parsed() const { return manual_->parsed() || completion_->parsed(); }
  /// `app` holds all verbs.
  int run(const CLI::App& app);

 private:
  CLI::App *manual_ = nullptr, *completion_ = nullptr;
  std::string verb_, folder_;
};
