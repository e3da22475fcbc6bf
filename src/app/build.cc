// See build.h.
#include "src/app/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sindri/amp/policy.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/device/device.h"
#include "sindri/models/models.h"
#include "sindri/nn/registry.h"
#include "sindri/ops/elementwise.h"
#include "sindri/optim/groups.h"
#include "sindri/optim/registry.h"

namespace sindri::app {

Device device_of(const Settings& s) {
  const std::string target = s.get_string("device_target");
  const auto id = static_cast<int>(s.get_int("device_id"));
  const auto refuse = [&s](const std::string& message, const std::string& fix) {
    throw SettingsError("device_id: " + message, "device_id from " + s.origin("device_id"), fix);
  };
  if (target.empty()) {
    if (id != 0) refuse("it needs a device_target", "set device_target, or remove device_id");
    return current_device();
  }
  if (target.find(':') != std::string::npos && id != 0) refuse(fmt::format("device_target ({}) already contains the number", target), "remove one of the two");
  try {
    return find_device(target, id);
  } catch (DeviceError& e) {
    e.add_where("device_target from " + s.origin("device_target"));
    throw;
  }
}

std::string net_name(const Settings& s) {
  const std::string& name = s.get_string("model.name");
  if (name.empty())
    throw SettingsError("model.name is not set", "settings",
                        fmt::format("--set model.name=NET with NET one of: {}", fmt::join(models::networks().offered(), ", ")));
  return name;
}

Shape image_shape(const Settings& s) {
  Shape shape = models::input_shape(net_name(s));
  if (const int64_t side = s.get_int("data.image_size"); side > 0) shape[1] = shape[2] = side;
  return shape;
}

int64_t class_count(const Settings& s, int64_t data_classes) {
  const int64_t wanted = s.get_int("model.num_classes");
  if (wanted > 0 && data_classes > wanted)
    throw SettingsError(fmt::format("model.num_classes is {}, the data has {} classes", wanted, data_classes),
                        "model.num_classes, from " + s.origin("model.num_classes"), "omit it to use the number of classes in the data");
  return wanted > 0 ? wanted : data_classes;
}

void check_unused_classes(const Settings& s, int64_t data_classes) {
  // Pretrained heads of the largest public label sets (ImageNet: 21,841 classes) are loaded and then trained on data with few classes. More classes than kMost
  // are considered a mistake.
  constexpr int64_t kMost = 100'000;
  const int64_t wanted = s.get_int("model.num_classes");
  if (data_classes <= 0 || wanted / 100 < data_classes) return;
  const std::string found = fmt::format("model.num_classes is {}, the data has {} classes: ", wanted, data_classes);
  if (wanted > kMost)
    throw SettingsError(found + "nearly all of the last layer, its gradients and its checkpoints would be unused",
                        "model.num_classes, from " + s.origin("model.num_classes"),
                        fmt::format("omit it to use the number of classes in the data; up to {} are accepted with a warning", kMost));
  log::warn("train", found + "most of the last layer's memory and time is wasted");
}

nn::CellPtr make_network(const Settings& s, int64_t num_classes) {
  nn::CellPtr network = models::create(net_name(s), {.num_classes = class_count(s, num_classes)}, s.chosen("model.name"));
  for (const train::BoostAlgorithmPtr& a : make_boosts(s)) a->prepare(*network);
  return network;
}

bool mixes_samples(const Settings& s) { return s.get_float("data.mixup") > 0 || s.get_float("data.cutmix") > 0; }

namespace {

// The rule that a loss of class numbers uses for probabilities [N, C]. label_smoothing acts on them as on one-hot rows.
nn::LossRule of_probabilities(const Settings& s, const std::string& name, const nn::LossRule& rule) {
  if (name == "cross_entropy") return rule;  // accepts probabilities itself
  if (name != "softmax_cross_entropy") {
    throw SettingsError(
        fmt::format("{}, from {}, mixes labels, and the loss {} accepts class numbers only", s.get_float("data.mixup") > 0 ? "data.mixup" : "data.cutmix",
                    s.origin(s.get_float("data.mixup") > 0 ? "data.mixup" : "data.cutmix"), name),
        "loss.name, from " + s.origin("loss.name"), "set loss.name to softmax_cross_entropy or cross_entropy, or do not mix");
  }
  nn::LossRule dense = nn::losses().make("softmax_cross_entropy_dense", {});
  const double share = s.chosen("loss.name").get_float("label_smoothing");
  if (share == 0) return dense;
  dense.terms = [share, plain = dense.terms](Span<const Tensor> t) {
    const double most = 1 - 1 / static_cast<double>(t[0].dim(1));
    if (share > most) throw ValueError(fmt::format("loss.label_smoothing must be from 0 to {:.4g} (the uniform distribution), got {}", most, share));
    const double off = share / static_cast<double>(t[0].dim(1) - 1);
    return plain(std::vector<Tensor>{t[0], ops::add(ops::mul(t[1], 1 - share - off), off)});
  };
  return dense;
}

// One rule for both kinds of labels: mixed training batches hold probabilities, evaluation has class numbers.
nn::LossRule of_either(const nn::LossRule& classes, const nn::LossRule& probabilities) {
  const auto mixed = [](Span<const Tensor> t) { return t[1].rank() == t[0].rank() && is_floating(t[1].dtype()); };
  nn::LossRule both = classes;
  if (classes.terms) both.terms = [mixed, classes, probabilities](Span<const Tensor> t) { return mixed(t) ? probabilities.terms(t) : classes.terms(t); };
  if (classes.reduced)
    both.reduced = [mixed, classes, probabilities](Span<const Tensor> t, const std::string& how) {
      return mixed(t) ? probabilities.reduced(t, how) : classes.reduced(t, how);
    };
  return both;
}

}  // namespace

nn::CellPtr make_loss(const Settings& s) {
  const std::string& name = s.get_string("loss.name");
  nn::LossRule rule = nn::losses().find(name).make(s.chosen("loss.name"));
  const bool one_hot = rule.labels == nn::LossLabels::kOneHot;
  nn::LossRule classes = one_hot ? nn::of_class_numbers(rule) : rule;
  if (mixes_samples(s)) classes = of_either(classes, one_hot ? rule : of_probabilities(s, name, rule));
  return std::make_shared<nn::RuleLoss>(name, "mean", std::move(classes));
}

std::map<std::string, nn::MetricPtr> make_metrics(const Settings& s, int64_t num_classes) {
  std::map<std::string, nn::MetricPtr> out = {{"accuracy", nn::make_metric("accuracy")}, {"loss", nn::make_metric("loss")}};
  if (num_classes > 5) out["top_5_accuracy"] = nn::make_metric("top_5_accuracy");
  for (const std::string& name : nn::metrics().offered()) {
    const std::string section = "metrics." + name;
    if (s.get_bool(section + ".enabled")) out[name] = nn::metrics().make(name, s.switched(section, nn::metrics()));
  }
  return out;
}

constexpr int64_t kMostRates = 100'000'000;

// The schedule covers the steps that will be trained. With gradient accumulation it has one rate per update.
std::vector<float> learning_rates(const Settings& s, int64_t steps_per_epoch, int64_t steps_per_update) {
  const double top = s.get_float("lr.max");
  const double per_epoch = static_cast<double>(steps_per_epoch) / static_cast<double>(steps_per_update);
  const auto warmup = static_cast<int64_t>(std::llround(s.get_float("lr.warmup_epochs") * per_epoch));
  const int64_t epochs_steps = s.get_int("train.epochs") * steps_per_epoch, most = s.get_int("train.max_steps");
  const int64_t trained = most > 0 ? std::min(most, epochs_steps) : epochs_steps, covered = s.get_int("lr.total_steps");
  const int64_t steps = covered > 0 ? covered : trained;
  const int64_t total = std::max<int64_t>(1, steps / steps_per_update);
  const auto schedule = optim::schedules()
                            .find(s.get_string("lr.schedule"))
                            .make({.learning_rate = top, .steps = std::max<int64_t>(1, total - warmup), .warmup_steps = warmup, .steps_per_epoch = per_epoch},
                                  s.chosen("lr.schedule"));
  if (schedule->fixed() && warmup == 0) return {static_cast<float>(schedule->rate(0))};
  if (total > kMostRates)
    throw SettingsError(fmt::format("{} steps ({} epochs of {}) are {} updates: the table of their learning rates, which every checkpoint stores, would need "
                                    "{:.1f} GB",
                                    steps, s.get_int("train.epochs"), steps_per_epoch, total, static_cast<double>(total) * 4e-9),
                        "train.epochs, from " + s.origin("train.epochs"), "lower it, or use lr.schedule: constant without a warm-up, which needs no table");
  const auto rise = optim::schedules().make("warm_up", {{"first", s.get_float("lr.init")}, {"warmup_steps", std::max<int64_t>(1, warmup)}},
                                            optim::Course{.learning_rate = top});
  std::vector<float> rates(static_cast<size_t>(total));
  for (int64_t i = 0; i < total; ++i) rates[static_cast<size_t>(i)] = static_cast<float>(i < warmup ? rise->rate(i + 1) : schedule->rate(i - warmup));
  return rates;
}

std::shared_ptr<optim::Optimizer> make_optimizer(const Settings& s, nn::Cell& network, const std::vector<float>& rates) {
  const optim::LearningRate lr = rates.size() == 1 ? optim::LearningRate(static_cast<double>(rates[0])) : optim::LearningRate(rates);
  const optim::OptimizerOptions options = {
      .learning_rate = lr, .weight_decay = s.get_float("optimizer.weight_decay"), .grad_clip = {.global_norm = s.get_float("optimizer.clip_global_norm")}};
  const auto& entry = optim::optimizers().find(s.get_string("optimizer.name"));
  const SettingValues own = s.chosen("optimizer.name");
  std::vector<optim::GroupRule> rules;
  for (const std::string& text : s.get_texts("optimizer.groups")) rules.push_back(optim::parse_group_rule(text));
  try {
    // Optimizers whose weight decay also applies to all parameters if there are no groups.
    const bool decay_all = entry.name == "ftrl" || (entry.name == "sgd" && own.get_bool("decay_all"));
    return entry.make(optim::grouped_by_name(network.trainable_params(), rules, lr, options.weight_decay, decay_all), options, own);
  } catch (const ValueError& e) {
    if (rules.empty()) throw;
    throw SettingsError(e.message(), "optimizer.groups, from " + s.origin("optimizer.groups"), e.fix());
  }
}

amp::Options amp_options(const Settings& s) {
  const std::string keep = s.get_string("train.keep_batchnorm_fp32");
  return amp::find_policy(s.get_string("train.amp_level"), amp::Casts::kOps)
      .options(amp::parse_half(half_type(s)), keep == "auto" ? std::nullopt : std::optional<bool>(keep == "true"));
}

std::shared_ptr<train::LossScaleManager> make_loss_scale(const Settings& s) {
  const std::string& type = s.get_string("loss_scale.type");
  const double init = s.get_float("loss_scale.init");
  if (type == "fixed") return std::make_shared<train::FixedLossScaleManager>(init == 0 ? 128 : init);
  if (type != "dynamic" && !scales_by_default(s)) return nullptr;
  return std::make_shared<train::DynamicLossScaleManager>(init == 0 ? 0x1p24 : init, s.get_float("loss_scale.factor"), s.get_int("loss_scale.window"));
}

}  // namespace sindri::app
