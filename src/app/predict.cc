// The verb predict: class probabilities of single images.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sindri/app/app.h"
#include "sindri/core/context.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/device/device.h"
#include "sindri/train/fine_tune.h"
#include "sindri/train/model.h"
#include "sindri/train/training_state.h"
#include "src/app/build.h"
#include "src/app/data.h"
#include "src/app/image_inputs.h"
#include "src/app/session.h"

namespace sindri::app {

namespace {

// Returns the `top` largest of softmax(logits), best first.
std::vector<std::pair<std::string, double>> best_classes(const std::vector<double>& logits, const std::vector<std::string>& names, int top) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  std::vector<std::pair<double, size_t>> order;
  for (size_t c = 0; c < logits.size(); ++c) {
    order.emplace_back(-std::exp(logits[c] - largest), c);
    total -= order.back().first;
  }
  std::sort(order.begin(), order.end());
  std::vector<std::pair<std::string, double>> out;
  for (size_t k = 0; k < order.size() && k < static_cast<size_t>(top); ++k) {
    const size_t c = order[k].second;
    out.emplace_back(c < names.size() ? names[c] : std::to_string(c), -order[k].first / total);
  }
  return out;
}

constexpr const char* kNoImageFix = "give files of JPEG, PNG, BMP, WebP or TIFF images, or skip such files: --set data.on_corrupt=skip";

}  // namespace

std::vector<Prediction> predict(const Settings& settings, const std::string& checkpoint, const std::vector<std::string>& images, int top,
                                const std::function<void(const Prediction&)>& each) {
  const DeviceScope device(device_of(settings));
  const Shape image = image_shape(settings);
  const std::vector<ImageInput> inputs = image_inputs(images);  // missing files are reported before a net is made
  const train::LoadedCheckpoint weights = train::with_weights(train::load_weights_file(checkpoint), settings.get_string("train.eval_weights"));
  std::vector<std::string> names = train::class_names_of(weights);
  int64_t classes = std::max(settings.get_int("model.num_classes"), static_cast<int64_t>(names.size()));
  try {
    const Data data = open_data(settings, image, false);
    if (const std::string difference = class_difference(names, data.folder_names); !difference.empty())
      log::warn("predict", difference + "; the names used are those of the weights");
    if (names.empty()) {
      names = data.class_names;
      classes = std::max(classes, data.num_classes);
    }
  } catch (const Error& e) {
    // An image can be classified without the data; its class names are then unknown.
    if (classes == 0) throw SettingsError("the number of classes is not known without the data: " + e.message(), e.where(), "--set model.num_classes=N");
  }
  const nn::CellPtr network = make_network(settings, classes);
  load_weights(weights, *network);
  set_mode(settings.get_string("train.mode") == "graph" ? Mode::kGraph : Mode::kPynative);
  train::ModelOptions options;
  options.amp = amp_options(settings);
  const std::shared_ptr<dataset::Dataset> files = open_images(settings, image, inputs, &options.prepare);
  train::Model model(network, nullptr, nullptr, options);
  const bool skips = on_corrupt(settings) != dataset::OnCorrupt::kFail;  // a prediction has no other image to replace a bad one
  const auto it = files->create_iterator(
      {.num_epochs = 1, .on_corrupt = skips ? dataset::OnCorrupt::kSkip : dataset::OnCorrupt::kFail, .max_corrupt = static_cast<int64_t>(inputs.size())});
  std::vector<Prediction> out;
  std::vector<Tensor> batch;
  size_t looked_at = 0;
  const auto next = [&] {
    try {
      return it->next(&batch);
    } catch (const DataError& e) {
      if (skips && e.code() == ErrorCode::kDataEmpty) return false;  // all are bad
      if (e.code() != ErrorCode::kDataCorrupt) throw;
      throw DataError(e.code(), "not a readable image: " + e.message(), inputs[looked_at].name, kNoImageFix);
    }
  };
  const auto leave_out = [&](size_t end) {
    for (; looked_at < end; ++looked_at) log::warn("predict", fmt::format("skipped, not a readable image: {}", inputs[looked_at].name));
  };
  while (next()) {
    const auto i = static_cast<size_t>(batch[1].to_vector<int64_t>()[0]);
    leave_out(i);
    looked_at = i + 1;
    out.push_back({inputs[i].name, best_classes(model.predict(batch[0]).to_vector<double>(), names, top)});
    if (each) each(out.back());
  }
  leave_out(inputs.size());
  if (out.empty())
    throw DataError(ErrorCode::kDataCorrupt, fmt::format("none of the {} files is a readable image", inputs.size()), inputs[0].name, kNoImageFix);
  return out;
}

}  // namespace sindri::app
