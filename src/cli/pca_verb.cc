// See pca_verb.h.
#include "src/cli/pca_verb.h"

#include <fmt/format.h>

#include "sindri/app/inspect.h"
#include "sindri/boost/dim_reduce.h"
#include "src/cli/process.h"

void PcaVerb::add_to(CLI::App* app) {
  verb_ = app->add_subcommand("pca",
                              "Compute the principal components of weight snapshots, for dimension-reduction training\n\nExamples:\n"
                              "  sindri pca runs/stage_1/checkpoints --config configs/digits.yaml --components 32 --out pca_mat.npy\n"
                              "  sindri pca device0_stage_1/checkpoint_stage_1/checkpoint_pca --components 32\n");
  verb_->add_option("snapshots", snapshots_, "folder with *.ckpt, or a pattern of file names")->type_name("DIR|PATTERN")->required();
  verb_
      ->add_option("--config", config_,
                   "settings of the run, whose network's trained weights become the columns; not needed if the snapshots hold only a network")
      ->type_name("FILE");
  verb_->add_option("--set", settings_, "a setting, as for sindri train")->type_name("KEY=VALUE");
  verb_->add_option("--components", components_, "components, the rows of the matrix")->type_name("K")->check(CLI::Range(1, 4096))->capture_default_str();
  verb_->add_option("--memory-mb", memory_mb_, "memory for snapshots; those that do not fit are read again")
      ->type_name("MB")
      ->check(CLI::Range(0, 1 << 24))
      ->capture_default_str();
  verb_->add_option("--out", out_, "file for the matrix, float32 [K, weights]; the columns' names are written next to it as .json")
      ->type_name("FILE")
      ->capture_default_str()
      ->group("Output");
}

// Of the network that the settings describe, else of the first snapshot.
sindri::boost::Columns PcaVerb::columns_of(const std::string& file) const {
  if (config_.empty() && settings_.empty()) return sindri::boost::snapshot_columns(file);
  sindri::app::Settings settings;
  if (!config_.empty()) settings.load_yaml(config_);
  for (const std::string& s : settings_) settings.set(s);
  settings.validate();
  return sindri::app::trained_weights(settings);
}

int PcaVerb::run() {
  const std::vector<std::string> files = sindri::boost::snapshot_files(snapshots_);
  const sindri::boost::Columns columns = columns_of(files.front());
  print_out(fmt::format("{} snapshots, {} to {}; {} weights\n", files.size(), files.front(), files.back(), sindri::boost::column_count(columns)));
  const sindri::boost::Subspace s = sindri::boost::principal_components(files, columns, components_, memory_mb_);
  sindri::boost::save_subspace(out_, s, columns);
  double sum = 0;
  for (size_t i = 0; i < s.ratios.size(); ++i) {
    sum += s.ratios[i];
    if (i < 5 || i + 1 == s.ratios.size())
      print_out(fmt::format("component {:>3}: {:6.2f} % of the variance, {:6.2f} % so far\n", i + 1, 100 * s.ratios[i], 100 * sum));
  }
  print_out(fmt::format("matrix: {}\n", out_));
  return 0;
}
