// The verb report: its flags, and the calls that it makes.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

class ReportVerbs {
 public:
  void add_to(CLI::App* app);
  bool parsed() const { return report_->parsed(); }
  /// Returns the exit code.
  int run();

 private:
  CLI::App *report_ = nullptr, *compare_ = nullptr;
  std::vector<std::string> runs_;
  std::optional<double> loss_, accuracy_;
  std::string plot_, against_ = "epochs", json_;
};
