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

/// Converts batches of bytes [N, H, W, C] to the net's input, f32 [N, C, H, W]; null: batches already have this form.
using Prepare = std::function<Tensor(const Tensor&)>;

struct Data {
  std::shared_ptr<dataset::Dataset> train, eval;  // columns image f32 [N, C, H, W], or u8 [N, H, W, C] for `prepare`; label i32 [N]
  Prepare prepare;
  std::vector<std::string> class_names;  // by label; numbers if the data has no names
  std::vector<std::string> folder_names;  // the same, empty if the data has no names
  std::string fingerprint;  // of the files, "sizes:HEX times:HEX" or "contents:HEX"; only with training data
  int64_t num_classes = 0;
  bool eval_in_parts = false;  // eval holds this rank's batches only
  std::string description;  // "imagefolder, 50000 training and 10000 evaluation samples"
};

/// Opens the data that `settings` name; image_shape is the net's [C, H, W]. train is null if only evaluation is requested. `parts`: this rank's share of a step
/// and, with several ranks, its batches of an evaluation.
Data open_data(const Settings& settings, const Shape& image_shape, bool with_train, const Parts& parts = {});
/// Applies the evaluation transforms to single images, batch size 1. Columns: image, and index, the position in `inputs`; `prepare` as in Data.
std::shared_ptr<dataset::Dataset> open_images(const Settings& settings, const Shape& image_shape, const std::vector<ImageInput>& inputs, Prepare* prepare);

}  // namespace sindri::app
