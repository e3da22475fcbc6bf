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

/// Returns the device of device_target and device_id; without a target, the current device. Throws DeviceError if the device does not exist.
Device device_of(const Settings& s);
/// Returns the net's name; throws SettingsError if model.name is not set.
std::string net_name(const Settings& s);
/// Returns the net's input shape [C, H, W]: its own, or data.image_size.
Shape image_shape(const Settings& s);
/// Returns the net's number of classes: model.num_classes, else that of the data. Throws SettingsError if the data has more.
int64_t class_count(const Settings& s, int64_t data_classes);
/// Warns if the last layer is a hundred times as wide as the data needs; throws SettingsError if it is wider than any use.
void check_unused_classes(const Settings& s, int64_t data_classes);
/// num_classes: of the data; model.num_classes overrides it.
nn::CellPtr make_network(const Settings& s, int64_t num_classes);
/// Returns whether training batches hold mixed samples (data.mixup, data.cutmix), whose labels are probabilities [N, classes].
bool mixes_samples(const Settings& s);
/// Accepts class numbers [N] (also if the named loss uses one-hot rows) and, if samples are mixed, probabilities [N, classes] too. Throws SettingsError for a
/// loss that has no such form.
nn::CellPtr make_loss(const Settings& s);
/// Returns the metrics of evaluation: accuracy, loss, top_5_accuracy if there are more than 5 classes, and those that settings name.
std::map<std::string, nn::MetricPtr> make_metrics(const Settings& s, int64_t num_classes);
/// Returns one rate per update of the whole run, where each update takes `steps_per_update` steps; a single one if it never changes.
std::vector<float> learning_rates(const Settings& s, int64_t steps_per_epoch, int64_t steps_per_update = 1);
std::shared_ptr<optim::Optimizer> make_optimizer(const Settings& s, nn::Cell& network, const std::vector<float>& rates);

amp::Options amp_options(const Settings& s);
/// Null for none.
std::shared_ptr<train::LossScaleManager> make_loss_scale(const Settings& s);

}  // namespace sindri::app
