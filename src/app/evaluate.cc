// The verb eval, and code that it shares with train and predict: weights, classes, evaluation.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "sindri/app/app.h"
#include "sindri/app/evaluation.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/core/nearest.h"
#include "sindri/device/device.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/fine_tune.h"
#include "sindri/train/model.h"
#include "sindri/train/training_state.h"
#include "src/app/build.h"
#include "src/app/data.h"
#include "src/app/session.h"
#include "src/core/installation.h"
#include "src/train/atomic_file.h"
#include "src/train/first_rank.h"

namespace sindri::app {

namespace fs = std::filesystem;

void require_checkpoint(const std::string& path) {
  if (!train::file_exists(path, "checkpoint"))
    throw CheckpointError("the checkpoint does not exist", path, "check the path; a run keeps its checkpoints in RUN/checkpoints/");
  const std::string suffix = fs::path(path).extension().string();
  if (suffix == ".yaml" || suffix == ".yml")
    throw CheckpointError("this is a settings file, not a checkpoint", path, "give settings with --config FILE, and weights with --checkpoint FILE.ckpt");
}

std::vector<std::string> load_weights(const train::LoadedCheckpoint& file, nn::Cell& network) {
  try {
    train::load_param_into_net(network.parameters_and_names(), file, true);
    return train::class_names_of(file);
  } catch (const CheckpointError& e) {
    if (e.code() != ErrorCode::kCheckpointMismatch) throw;
    throw CheckpointError(e.code(), e.message(), e.where(),
                          "give the net and the number of classes it was trained with: --set model.name=NET --set model.num_classes=N; config.resolved.yaml in "
                          "the checkpoint's run folder names both. To train another number of classes from these weights: --set train.init_from=FILE");
  }
}

// Describes the difference between the classes of weights and of data; empty if there is none, or if one side has no names.
std::string class_difference(const std::vector<std::string>& weights, const std::vector<std::string>& data) {
  if (weights.empty() || data.empty() || weights == data) return "";
  const std::string what = "the classes of the data are not those the weights were trained with: ";
  if (weights.size() != data.size()) return what + fmt::format("they were {} and are {} now", weights.size(), data.size());
  const size_t i = static_cast<size_t>(std::mismatch(weights.begin(), weights.end(), data.begin()).first - weights.begin());
  return what + fmt::format("label {} was '{}' and is '{}' now", i, weights[i], data[i]);
}

void check_classes(const std::vector<std::string>& weights, const std::vector<std::string>& data, const std::string& checkpoint) {
  if (const std::string difference = class_difference(weights, data); !difference.empty())
    throw CheckpointError(ErrorCode::kCheckpointMismatch, difference, checkpoint,
                          "labels are the positions of the class folders in byte order: use the folder names from training");
}

dataset::OnCorrupt on_corrupt(const Settings& s) {
  const std::string& policy = s.get_string("data.on_corrupt");
  return policy == "skip" ? dataset::OnCorrupt::kSkip : policy == "replace" ? dataset::OnCorrupt::kReplace : dataset::OnCorrupt::kFail;
}

dataset::OnCorrupt on_corrupt_in_eval(const Settings& s) {
  return on_corrupt(s) == dataset::OnCorrupt::kFail ? dataset::OnCorrupt::kFail : dataset::OnCorrupt::kSkip;
}

std::string why_not_in_parts(const Settings& settings, const std::map<std::string, nn::MetricPtr>& metrics) {
  if (on_corrupt(settings) != dataset::OnCorrupt::kFail) return "with data.on_corrupt other than fail, the skipped samples depend on the parts";
  for (const auto& [name, metric] : metrics) {
    if (!metric->adds_up()) return fmt::format("the metric {} keeps every sample", name);
  }
  return "";
}

train::MetricValues evaluate_with(train::Model& model, const Data& data, const Settings& settings, const Group& group) {
  comm::Communicator* const ranks = data.eval_in_parts ? group.world() : nullptr;
  return model.eval(data.eval, on_corrupt_in_eval(settings), settings.get_int("data.max_corrupt"), ranks);
}

namespace {

constexpr int64_t kMostClasses = 4096;

train::LoadedCheckpoint load_on_all(const std::string& path, const Group& group, bool each_by_itself) {
  train::LoadedCheckpoint file;
  if (!group.several() || each_by_itself) return train::load_weights_file(path);
  group.from_first("checkpoint", [&] {
    file = train::load_weights_file(path);
    return "";
  });
  train::broadcast_checkpoint(*group.world(), &file);
  return file;
}

// `by_class`: null for the metrics alone.
train::MetricValues evaluate_in(const Settings& settings, const std::string& checkpoint, const Group& group, Evaluation* by_class) {
  const auto options_for = [&](int64_t classes) {
    train::ModelOptions options;
    options.metrics = make_metrics(settings, classes);
    options.amp = amp_options(settings);
    return options;
  };
  Parts parts{.rank = group.rank(), .ranks = group.size()};
  if (const std::string why = group.several() ? why_not_in_parts(settings, make_metrics(settings, 2)) : ""; !why.empty()) {
    if (group.first()) log::warn("eval", fmt::format("every rank evaluates all of the data: {}", why));
    parts = {};
  }
  const Data data = open_data(settings, image_shape(settings), false, parts);
  const nn::CellPtr network = make_network(settings, data.num_classes);
  const train::LoadedCheckpoint file = load_on_all(checkpoint, group, settings.get_bool("dist.load_local"));
  const std::vector<std::string> names = load_weights(train::with_weights(file, settings.get_string("train.eval_weights")), *network);
  check_classes(names, data.folder_names, checkpoint);
  set_mode(settings.get_string("train.mode") == "graph" ? Mode::kGraph : Mode::kPynative);
  const int64_t classes = class_count(settings, data.num_classes);
  train::ModelOptions options = options_for(classes);
  const auto confusion = std::make_shared<nn::ConfusionMatrix>(by_class != nullptr ? classes : 2);
  if (by_class != nullptr) {
    if (classes > kMostClasses)
      throw SettingsError(
          fmt::format("a report of {} classes would have {} pairs of them, at most {} classes are reported", classes, classes * classes, kMostClasses),
          "model.num_classes", "evaluate without the report by class");
    options.metrics["confusion_matrix"] = confusion;
  }
  options.prepare = data.prepare;
  train::Model model(network, make_loss(settings), nullptr, options);
  train::MetricValues values = evaluate_with(model, data, settings, group);
  if (by_class == nullptr) return values;
  values.erase("confusion_matrix");  // its scalar value repeats the accuracy
  by_class->checkpoint = checkpoint;
  by_class->metrics = values;
  std::vector<std::string> shown = names.empty() ? data.class_names : names;
  for (auto i = static_cast<int64_t>(shown.size()); i < classes; ++i) shown.push_back(std::to_string(i));
  shown.resize(static_cast<size_t>(classes));
  for (int64_t i = 0; i < classes; ++i) {
    std::vector<int64_t>& row = by_class->confusion.emplace_back();
    for (int64_t j = 0; j < classes; ++j) row.push_back(confusion->count(i, j));
    for (const int64_t v : row) by_class->samples += v;
  }
  by_class->classes = class_scores(by_class->confusion, shown);
  return values;
}

train::MetricValues evaluate_or_tell(const Settings& settings, const std::string& checkpoint, Evaluation* by_class) {
  const DeviceScope asked(device_of(settings));
  Group group(settings);
  const DeviceScope own(group.device(current_device(), settings));
  try {
    return evaluate_in(settings, checkpoint, group, by_class);
  } catch (const std::exception& e) {
    group.tell(e);
    throw;
  }
}

}  // namespace

train::MetricValues evaluate(const Settings& settings, const std::string& checkpoint) { return evaluate_or_tell(settings, checkpoint, nullptr); }

Evaluation evaluate_classes(const Settings& settings, const std::string& checkpoint) {
  Evaluation out;
  evaluate_or_tell(settings, checkpoint, &out);
  return out;
}

std::string shell_word(const std::string& text) {
  if (!text.empty() && text.find_first_of(" \t\n\"'$\\*?[](){}<>|&;#~`!") == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string settings_file_of(const std::string& checkpoint) {
  require_checkpoint(checkpoint);
  std::error_code error;
  const fs::path named(checkpoint), real = fs::canonical(named, error);  // launch scripts link to the run folder's checkpoints
  for (const fs::path& path : {named, error ? named : real}) {
    const fs::path folder = path.parent_path();
    for (const fs::path& base : {folder, folder.parent_path()}) {
      const fs::path file = base / "config.resolved.yaml";
      if (train::file_exists(file.string(), "settings file")) return file.string();
    }
  }
  return "";
}

std::string named_settings_file(const std::string& name) {
  const std::string folder = find_installed("configs", "configs"), file = (name == "quickstart" ? "digits" : name) + ".yaml";
  std::vector<std::string> names{"quickstart"};
  std::error_code error;  // no folder: no names
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename() == file) return entry.path().string();
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin() + 1, names.end());
  if (name.find('/') != std::string::npos || name.ends_with(".yaml"))
    throw SettingsError(fmt::format("no installed settings are named '{}'", name), name, "pass a file with --config FILE");
  if (folder.empty())
    throw SettingsError(fmt::format("no settings named '{}': neither the sources nor an installation is found", name), name, "give a file with --config FILE");
  const std::string near = did_you_mean(name, names);
  throw SettingsError(fmt::format("no settings named '{}' in {}", name, folder), name, near.empty() ? fmt::format("one of: {}", fmt::join(names, ", ")) : near);
}

std::string scripts_folder() {
  const std::string file = find_installed("scripts/launch_lib.sh", "scripts/launch_lib.sh");
  if (file.empty())
    throw IoError("the launch scripts are not installed", "share/sindri/scripts", "install the package sindri or the wheel, or use scripts/ of the sources");
  return fs::canonical(file).parent_path().string();
}

std::string docs_folder() {
  const std::string file = find_installed("docs/README.md", "docs/README.md");
  if (file.empty())
    throw IoError("the documentation is not installed", "share/sindri/docs", "install the package sindri or the wheel, or use docs/ of the sources");
  return fs::canonical(file).parent_path().string();
}

}  // namespace sindri::app
