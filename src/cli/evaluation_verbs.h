// The verbs eval and predict: their flags, and the calls that they make.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "sindri/app/settings.h"

class EvaluationVerbs {
 public:
  /// `add_common` adds the flags of settings and devices.
  void add_to(CLI::App* app, const std::function<void(CLI::App* verb)>& add_common);
  bool parsed() const { return eval_->parsed() || predict_->parsed(); }
  /// Returns the settings file of the checkpoint's run; empty if there is none.
  std::string settings_file() const;
  /// Returns the exit code.
  int run(const sindri::app::Settings& settings);

 private:
  int run_eval(const sindri::app::Settings& settings);
  int run_predict(const sindri::app::Settings& settings);

  CLI::App *eval_ = nullptr, *predict_ = nullptr;
  std::string checkpoint_, json_file_, plot_, files_from_;
  std::vector<std::string> images_;
  int top_ = 5;
  bool per_class_ = false;
};
