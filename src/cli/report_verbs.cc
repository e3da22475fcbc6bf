// See report_verbs.h.
#include "src/cli/report_verbs.h"

#include "sindri/app/compare_runs.h"
#include "src/cli/checks.h"
#include "src/cli/process.h"
#include "src/train/output_file.h"

void ReportVerbs::add_to(CLI::App* app) {
  report_ = app->add_subcommand("report",
                                "Compare runs by their run folders\n\nExamples:\n  sindri report compare runs/momentum runs/thor\n"
                                "  sindri report compare runs/* --accuracy 0.9 --plot curves.png --against seconds\n");
  report_->require_subcommand(1);
  compare_ = report_->add_subcommand(
      "compare",
      "Print the epochs and seconds that each run takes to reach a loss and an accuracy\n\nExamples:\n  sindri report compare runs/momentum "
      "runs/thor\n  sindri report compare runs/a runs/b --loss 0.1 --json -\n");
  compare_->add_option("runs", runs_, "run folders, two or more")->type_name("RUN...")->required();
  compare_->add_option("--loss", loss_, "training loss to reach; default: the highest of the runs' last ones")->type_name("L")->check(kFinite);
  compare_->add_option("--accuracy", accuracy_, "accuracy to reach; default: the lowest of the runs' best ones")->type_name("A")->check(kFinite);
  compare_->add_option("--plot,--picture", plot_, "plot the curves as a PNG")->type_name("FILE")->group("Output");
  compare_->add_option("--against", against_, "horizontal axis of the curves")
      ->check(CLI::IsMember({"epochs", "steps", "seconds"}))
      ->capture_default_str()
      ->group("Output");
  compare_->add_option("--json", json_, "write the table and all epochs as JSON; -: to standard output instead of the text")
      ->type_name("FILE")
      ->group("Output");
}

int ReportVerbs::run() {
  const sindri::app::RunComparison c = sindri::app::compare_runs(runs_, loss_, accuracy_);
  print_out(json_ == "-" ? sindri::app::comparison_json(c) : sindri::app::comparison_text(c));
  if (!json_.empty() && json_ != "-") sindri::train::OutputFile(json_, "JSON file").write(sindri::app::comparison_json(c));
  if (!plot_.empty()) sindri::app::write_comparison_plot(c, plot_, against_);
  return 0;
}
