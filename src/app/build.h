// Network, loss, learning rate and optimizer from settings.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sindri/amp/amp.h"
#include "sindri/app/settings.h"
#include "sindri/core/device.h"
#include "sindri/nn/cell.h"
#include "sindri/nn/metric.h"
#include "sindri/optim/optimizer.h"
#include "sindri/train/loss_scale.h"

namespace sindri::app {

/// The device of device_target and device_id; without a target the current one. Throws DeviceError when it is not there.
Device device_of(const Settings& s);
/// Name of the net; throws SettingsError when model.name is not set.
std::string net_name(const Settings& s);
/// [C, H, W] the net sees: its own, or data.image_size.
Shape image_shape(const Settings& s);
/// Classes the net tells apart: model.num_classes, else those of the data. Throws SettingsError when the data has more.
int64_t class_count(const Settings& s, int64_t data_classes);
/// Warns where the last layer is a hundred times as wide as the data asks for; throws SettingsError where it is beyond any purpose.
void check_unused_classes(const Settings& s, int64_t data_classes);
/// num_classes: of the data; model.num_classes overrides it.
nn::CellPtr make_network(const Settings& s, int64_t num_classes);
/// Takes class numbers, also where the loss named has them one-hot.
/// Whether training batches hold mixed samples (data.mixup, data.cutmix), whose labels are probabilities [N, classes].
bool mixes_samples(const Settings& s);
/// Takes class numbers [N], and where samples are mixed probabilities [N, classes] too. Throws SettingsError for a loss that has no such form.
nn::CellPtr make_loss(const Settings& s);
/// What evaluation measures of so many classes: accuracy, loss, top_5_accuracy where there are more than 5 classes, and what settings name.
std::map<std::string, nn::MetricPtr> make_metrics(const Settings& s, int64_t num_classes);
/// One rate per update of the whole training, where each takes `steps_per_update` steps; a single one when it never changes.
std::vector<float> learning_rates(const Settings& s, int64_t steps_per_epoch, int64_t steps_per_update = 1);
std::shared_ptr<optim::Optimizer> make_optimizer(const Settings& s, nn::Cell& network, const std::vector<float>& rates);

amp::Options amp_options(const Settings& s);
/// Null for none.
std::shared_ptr<train::LossScaleManager> make_loss_scale(const Settings& s);

}  // namespace sindri::app
