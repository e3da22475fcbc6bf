// Training and evaluation data from settings: source, augmentation, batches.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sindri/app/settings.h"
#include "sindri/dataset/dataset.h"
#include "src/app/group.h"
#include "src/app/image_inputs.h"

namespace sindri::app {

/// Batches of images as the net takes them, f32 [N, C, H, W], of bytes [N, H, W, C]; null: they are so already.
using Prepare = std::function<Tensor(const Tensor&)>;

struct Data {
  std::shared_ptr<dataset::Dataset> train, eval;  // columns image f32 [N, C, H, W], or u8 [N, H, W, C] for `prepare`; label i32 [N]
  Prepare prepare;
  std::vector<std::string> class_names;  // by label; numbers where the data has no names
  std::vector<std::string> folder_names;  // the same, empty where the data has no names
  std::string fingerprint;  // of the files, "sizes:HEX times:HEX" or "contents:HEX"; only with training data
  int64_t num_classes = 0;
  bool eval_in_parts = false;  // eval is this rank's batches only
  std::string description;  // "imagefolder, 50000 training and 10000 evaluation samples"
};

/// Opens what `settings` name; image_shape is [C, H, W] of the net. train stays null when only evaluation is asked for.
/// `parts`: this rank's share of a step and, where it is one of several, its batches of an evaluation.
Data open_data(const Settings& settings, const Shape& image_shape, bool with_train, const Parts& parts = {});
/// The evaluation transforms for single images, batch 1: columns image and index, the place in `inputs`; `prepare` as Data's.
std::shared_ptr<dataset::Dataset> open_images(const Settings& settings, const Shape& image_shape, const std::vector<ImageInput>& inputs, Prepare* prepare);

}  // namespace sindri::app
