// The verbs eval and predict, and what training shares with them: weights, classes, evaluation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sindri/app/app.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/device/device.h"
#include "sindri/train/checkpoint.h"
#include "sindri/train/model.h"
#include "sindri/train/training_state.h"
#include "src/app/build.h"
#include "src/app/data.h"
#include "src/app/session.h"
#include "src/train/atomic_file.h"
#include "src/train/first_rank.h"

namespace sindri::app {

namespace fs = std::filesystem;

void require_checkpoint(const std::string& path) {
  if (!train::file_exists(path, "checkpoint"))
    throw CheckpointError("the checkpoint does not exist", path, "check the path; a run keeps its checkpoints in RUN/checkpoints/");
}

std::vector<std::string> load_weights(const train::LoadedCheckpoint& file, nn::Cell& network) {
  try {
    train::load_param_into_net(network.parameters_and_names(), file, true);
    return train::class_names_of(file);
  } catch (const CheckpointError& e) {
    if (e.code() != ErrorCode::kCheckpointMismatch) throw;
    throw CheckpointError(e.code(), e.message(), e.where(),
                          "give the net and the number of classes it was trained with: --set model.name=NET --set model.num_classes=N; config.resolved.yaml in "
                          "the checkpoint's run folder names both");
  }
}

// What differs between the classes of weights and of data, in words; empty when nothing does, or when one side has no names.
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
                          "labels are the places of the class folders in byte order: name the folders as they were in training");
}

dataset::OnCorrupt on_corrupt(const Settings& s) {
  const std::string& policy = s.get_string("data.on_corrupt");
  return policy == "skip" ? dataset::OnCorrupt::kSkip : policy == "replace" ? dataset::OnCorrupt::kReplace : dataset::OnCorrupt::kFail;
}

namespace {

// A metric must not count one sample twice, so evaluation leaves out the bad samples that training replaces.
dataset::OnCorrupt on_corrupt_in_eval(const Settings& s) {
  return on_corrupt(s) == dataset::OnCorrupt::kFail ? dataset::OnCorrupt::kFail : dataset::OnCorrupt::kSkip;
}

}  // namespace

std::string why_not_in_parts(const Settings& settings, const std::map<std::string, nn::MetricPtr>& metrics) {
  if (on_corrupt(settings) != dataset::OnCorrupt::kFail) return "with data.on_corrupt other than fail, which samples are left out depends on the parts";
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

train::LoadedCheckpoint load_on_all(const std::string& path, const Group& group, bool each_by_itself) {
  train::LoadedCheckpoint file;
  if (!group.several() || each_by_itself) return train::load_checkpoint(path);
  group.from_first("checkpoint", [&] {
    file = train::load_checkpoint(path);
    return "";
  });
  train::broadcast_checkpoint(*group.world(), &file);
  return file;
}

train::MetricValues evaluate_in(const Settings& settings, const std::string& checkpoint, const Group& group) {
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
  check_classes(load_weights(train::with_weights(file, settings.get_string("train.eval_weights")), *network), data.folder_names, checkpoint);
  set_mode(settings.get_string("train.mode") == "graph" ? Mode::kGraph : Mode::kPynative);
  train::Model model(network, make_loss(settings), nullptr, options_for(class_count(settings, data.num_classes)));
  return evaluate_with(model, data, settings, group);
}

}  // namespace

train::MetricValues evaluate(const Settings& settings, const std::string& checkpoint) {
  const DeviceScope device(device_of(settings));
  Group group(settings);
  try {
    return evaluate_in(settings, checkpoint, group);
  } catch (const std::exception& e) {
    group.tell(e);
    throw;
  }
}

std::vector<Prediction> predict(const Settings& settings, const std::string& checkpoint, const std::vector<std::string>& images, int top) {
  const DeviceScope device(device_of(settings));
  const Shape image = image_shape(settings);
  const train::LoadedCheckpoint weights = train::with_weights(train::load_checkpoint(checkpoint), settings.get_string("train.eval_weights"));
  std::vector<std::string> names = train::class_names_of(weights);
  int64_t classes = std::max(settings.get_int("model.num_classes"), static_cast<int64_t>(names.size()));
  try {
    const Data data = open_data(settings, image, false);
    if (const std::string difference = class_difference(names, data.folder_names); !difference.empty())
      log::warn("predict", difference + "; the names are those of the training");
    if (names.empty()) {
      names = data.class_names;
      classes = std::max(classes, data.num_classes);
    }
  } catch (const Error& e) {
    // The data need not be here to classify an image; its class names are then unknown.
    if (classes == 0) throw SettingsError("the number of classes is not known without the data: " + e.message(), e.where(), "--set model.num_classes=N");
  }
  const nn::CellPtr network = make_network(settings, classes);
  load_weights(weights, *network);
  set_mode(settings.get_string("train.mode") == "graph" ? Mode::kGraph : Mode::kPynative);
  train::ModelOptions options;
  options.amp = amp_options(settings);
  train::Model model(network, nullptr, nullptr, options);
  const std::vector<std::string> files = image_files(images);
  const auto it = open_images(settings, image, files)->create_iterator({.num_epochs = 1});
  std::vector<Prediction> out;
  std::vector<Tensor> batch;
  const auto next = [&] {
    try {
      return it->next(&batch);
    } catch (const DataError& e) {
      if (e.code() != ErrorCode::kDataCorrupt) throw;
      // The rows of this data set are the files.
      throw DataError(e.code(), "not an image that can be read: " + e.message(), files[out.size()], "give files of JPEG, PNG, BMP, WebP or TIFF images");
    }
  };
  for (size_t i = 0; next(); ++i) {
    const std::vector<double> logits = model.predict(batch[0]).to_vector<double>();
    const double largest = *std::max_element(logits.begin(), logits.end());
    double total = 0;
    std::vector<std::pair<double, size_t>> order;
    for (size_t c = 0; c < logits.size(); ++c) {
      order.emplace_back(-std::exp(logits[c] - largest), c);
      total -= order.back().first;
    }
    std::sort(order.begin(), order.end());
    Prediction p{files[i], {}};
    for (size_t k = 0; k < order.size() && k < static_cast<size_t>(top); ++k) {
      const size_t c = order[k].second;
      p.classes.emplace_back(c < names.size() ? names[c] : std::to_string(c), -order[k].first / total);
    }
    out.push_back(std::move(p));
  }
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
  const fs::path folder = fs::path(checkpoint).parent_path();
  for (const fs::path& base : {folder, folder.parent_path()}) {
    const fs::path file = base / "config.resolved.yaml";
    if (train::file_exists(file.string(), "settings file")) return file.string();
  }
  return "";
}

}  // namespace sindri::app
