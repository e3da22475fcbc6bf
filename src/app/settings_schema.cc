// The table of settings: the only place that defines their names, defaults, ranges and meaning.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>

#include "sindri/amp/policy.h"
#include "sindri/app/settings.h"
#include "sindri/core/error.h"
#include "sindri/dataset/registry.h"
#include "sindri/models/registry.h"
#include "sindri/nn/registry.h"
#include "sindri/optim/registry.h"
#include "sindri/train/boost.h"
#include "src/app/settings_dist.h"
#include "src/app/settings_tune.h"

namespace sindri::app {

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();

// Settings that name a registered component, whose own settings are rows of the same section.
struct Chooser {
  const char* setting;
  const RegistryBase& (*registry)();
};
constexpr Chooser kChoosers[] = {
    {"model.name", []() -> const RegistryBase& { return models::networks(); }},
    {"data.kind", []() -> const RegistryBase& { return dataset::kinds(); }},
    {"optimizer.name", []() -> const RegistryBase& { return optim::optimizers(); }},
    {"lr.schedule", []() -> const RegistryBase& { return optim::schedules(); }},
    {"loss.name", []() -> const RegistryBase& { return nn::losses(); }},
};

// Sections of registered components that can be used together, each with a switch.
struct Switched {
  const char* section;
  const RegistryBase& (*registry)();
  bool changes_result;
};
constexpr Switched kSwitched[] = {
    {"metrics", []() -> const RegistryBase& { return nn::metrics(); }, false},
    {"boost", []() -> const RegistryBase& { return train::boosts(); }, true},
};

const std::string& amp_levels() {
  static const std::string& names = *new std::string(amp::policy_names(amp::Casts::kOps));
  return names;
}

std::vector<SettingSpec> fixed_rows() {
  using enum SettingType;
  return {
      {.name = "device_target",
       .type = kString,
       .fallback = "",
       .doc = "device to run on: CPU, GPU, or another name that `sindri doctor` lists (also gpu, cuda:1); a missing device is an error; empty: the CPU, or in "
              "your own program its current device",
       .changes_result = false},
      {.name = "device_id", .type = kInt, .fallback = "0", .doc = "which of the target's devices", .min = 0, .max = 4095, .changes_result = false},

      {.name = "model.name",
       .type = kString,
       .fallback = "",
       .doc = "the network, see below; `sindri summary` lists the networks with the image sizes they were designed for"},
      {.name = "model.num_classes", .type = kInt, .fallback = "0", .doc = "width of the last layer; 0: as many as the data has", .min = 0, .max = 1e6},

      {.name = "data.path", .type = kString, .fallback = "", .doc = "folder (or, for digits, file) with the data"},
      {.name = "data.kind", .type = kString, .fallback = "auto", .doc = "format of the data, see below; auto: detected from the folder's contents"},
      {.name = "data.workers",
       .type = kInt,
       .fallback = "0",
       .doc = "threads that decode and augment; 0: one per usable core",
       .min = 0,
       .max = 256,
       .unit = "threads",
       .changes_result = false},
      {.name = "data.image_size",
       .type = kInt,
       .fallback = "0",
       .doc = "height and width of the network's input; 0: the size it was designed for",
       .min = 0,
       .max = 4096,
       .unit = "pixels"},
      {.name = "data.device_input",
       .type = kString,
       .fallback = "auto",
       .doc = "copy images to the device as bytes and normalise them there; auto: on, except on the CPU and with data.mixup or data.cutmix; results are "
              "bitwise identical either way",
       .choices = "auto|on|off",
       .changes_result = false},
      {.name = "data.augment", .type = kBool, .fallback = "true", .doc = "random crop and flip of training images, except for kinds marked as not augmented"},
      {.name = "data.rand_augment",
       .type = kInt,
       .fallback = "0",
       .doc = "RandAugment (arXiv:1909.13719) on training images, after crop and flip: operations per image, each one of 14; for RGB images; 0: none",
       .min = 0,
       .max = 20},
      {.name = "data.rand_augment_magnitude", .type = kInt, .fallback = "9", .doc = "strength of RandAugment's operations", .min = 0, .max = 30},
      {.name = "data.mixup",
       .type = kFloat,
       .fallback = "0",
       .doc = "mixup (arXiv:1710.09412) of training batches: blends images and one-hot labels with another sample's, weighted by a draw from Beta(a, a); this "
              "value is a; 0: none",
       .min = 0,
       .max = 100},
      {.name = "data.cutmix",
       .type = kFloat,
       .fallback = "0",
       .doc = "CutMix (arXiv:1905.04899) of training batches: pastes in a box of another sample's image, whose sides are the image's times 1 - Beta(a, a); "
              "this value is a; labels are mixed by area; 0: none",
       .min = 0,
       .max = 100},
      {.name = "data.cutmix_prob", .type = kFloat, .fallback = "1", .doc = "share of the images that CutMix changes", .min = 0, .max = 1},
      {.name = "data.mean",
       .type = kFloatList,
       .fallback = "[]",
       .doc = "per channel, subtracted from pixels scaled to 0..1; empty: the dataset's mean",
       .min = -10,
       .max = 10},
      {.name = "data.std",
       .type = kFloatList,
       .fallback = "[]",
       .doc = "per channel, divides the pixels after data.mean is subtracted; empty: the dataset's standard deviation",
       .min = 1e-6,
       .max = 10},
      {.name = "data.on_corrupt",
       .type = kString,
       .fallback = "fail",
       .doc = "what to do with an unreadable sample: end the run, skip it, or replace it by the next readable one",
       .choices = "fail|skip|replace"},
      {.name = "data.fingerprint",
       .type = kString,
       .fallback = "files",
       .doc = "how a resumed run checks that the data is unchanged: by names, sizes and times of the image files, or by their contents",
       .choices = "files|contents",
       .changes_result = false},
      {.name = "data.max_corrupt",
       .type = kInt,
       .fallback = "-1",
       .doc = "with skip or replace, end the run after more unreadable samples than this; -1: the larger of 100 and 0.1 % of all samples",
       .min = -1,
       .max = 1e9,
       .unit = "samples"},

      {.name = "train.epochs", .type = kInt, .fallback = "10", .doc = "passes over the training data", .min = 1, .max = 1e6},
      {.name = "train.max_steps",
       .type = kInt,
       .fallback = "0",
       .doc = "stop after this many steps; lr.schedule then covers them (see lr.total_steps); 0: no limit",
       .min = 0,
       .max = 1e12,
       .unit = "steps",
       .changes_result = false},
      {.name = "train.batch_size",
       .type = kInt,
       .fallback = "32",
       .doc = "samples per step; with several virtual ranks, samples per virtual rank (dist.virtual_ranks)",
       .min = 1,
       .max = 65536,
       .unit = "samples"},
      {.name = "train.micro_batches",
       .type = kInt,
       .fallback = "1",
       .doc = "number of parts that a batch is split into; they run in sequence and their gradients are averaged",
       .min = 1,
       .max = 65536},
      {.name = "train.run_dir", .type = kString, .fallback = "", .doc = "run folder; empty: runs/<model>-NNN, the next free number", .changes_result = false},
      {.name = "train.mode",
       .type = kString,
       .fallback = "graph",
       .doc = "graph: trace the whole step once and run it compiled; pynative: run op by op",
       .choices = "graph|pynative"},
      {.name = "train.seed",
       .type = kInt,
       .fallback = "1",
       .doc = "seed of initial weights, shuffling, augmentation and dropout",
       .min = 0,
       .max = 4294967295.0},
      {.name = "train.sink_mode",
       .type = kBool,
       .fallback = "false",
       .doc = "run several steps per host call (dataset_sink_mode); callbacks see the last of them"},
      {.name = "train.sink_size",
       .type = kInt,
       .fallback = "-1",
       .doc = "steps per call in sink mode; -1: a whole epoch",
       .min = -1,
       .max = 1e9,
       .unit = "steps"},
      {.name = "train.eval_interval",
       .type = kInt,
       .fallback = "1",
       .doc = "number of epochs between evaluations; 0: only at the end; -1: never",
       .min = -1,
       .max = 1e6,
       .unit = "epochs",
       .changes_result = false},
      {.name = "train.eval_weights",
       .type = kString,
       .fallback = "trained",
       .doc = "weights for evaluation and prediction: the trained ones, or those kept by the named boost algorithm, e.g. average",
       .changes_result = false},
      {.name = "train.amp_level",
       .type = kString,
       .fallback = "O0",
       .doc = "mixed precision: O0: none; O1: convolutions and matrix products in half; O2: everything except softmax, losses and batch norm's parameters; O3: "
              "batch norm's parameters too; ops_O1 … are the full names of these levels; cells_O1 … are MindSpore's levels, which select Cells by their class "
              "(docs/guide/mixed_precision.md)",
       .choices = amp_levels().c_str()},
      {.name = "train.amp_dtype",
       .type = kString,
       .fallback = "auto",
       .doc = "the half type of amp_level; auto: f16 for convolutional networks with batch norm on GPUs, bf16 for other networks and on the CPU",
       .choices = "auto|bf16|f16"},
      {.name = "train.keep_batchnorm_fp32",
       .type = kString,
       .fallback = "auto",
       .doc = "keep batch norm's parameters and statistics in float32; auto: at every level except O3",
       .choices = "auto|true|false"},
      {.name = "train.nan_policy",
       .type = kString,
       .fallback = "stop",
       .doc = "what to do if the loss is not finite: end the run, or skip the step's update",
       .choices = "stop|skip"},
      {.name = "train.max_skipped",
       .type = kFloat,
       .fallback = "0.5",
       .doc = "with nan_policy skip, end the run if more than this share of an epoch's or the run's steps is skipped; 1: never",
       .min = 0,
       .max = 1},

      {.name = "train.init_from",
       .type = kString,
       .fallback = "",
       .doc = "initial weights: a checkpoint of Sindri or MindSpore (.ckpt), or a .safetensors file; a last layer for another number of classes keeps its "
              "random initial weights; a resumed run does not read the file again"},
      {.name = "train.init_match",
       .type = kString,
       .fallback = "head",
       .doc = "how closely the weights must match the network: all names and shapes (all); all except the last layer (head); at least one parameter, with the "
              "others keeping their initial values (any)",
       .choices = "all|head|any"},
      {.name = "train.init_skip",
       .type = kString,
       .fallback = "",
       .doc = "parts not loaded from the file: names of parameters or of the Cells that hold them, with `*` for any text and `?` for one character",
       .unit = kTexts},
      {.name = "train.freeze",
       .type = kString,
       .fallback = "",
       .doc = "parts to freeze, named as in train.init_skip; `sindri summary NET --all` lists the parts of a network",
       .unit = kTexts},
      {.name = "train.frozen_bn",
       .type = kString,
       .fallback = "fixed",
       .doc = "what batch norm with frozen gamma and beta uses in training: its moving statistics, which then stay fixed (fixed), or the batch's statistics, "
              "which also update the moving ones (batch)",
       .choices = "fixed|batch"},
      {.name = "train.early_stop.metric",
       .type = kString,
       .fallback = "",
       .doc = "stop training when this evaluation metric stops improving: accuracy, loss, top_5_accuracy or one of metrics.*; empty: never",
       .changes_result = false},
      {.name = "train.early_stop.patience",
       .type = kInt,
       .fallback = "5",
       .doc = "number of evaluations without improvement after which training stops",
       .min = 1,
       .max = 1e6,
       .unit = "evaluations",
       .changes_result = false},
      {.name = "train.early_stop.min_delta",
       .type = kFloat,
       .fallback = "0",
       .doc = "smallest change that counts as an improvement",
       .min = 0,
       .max = 1e9,
       .changes_result = false},
      {.name = "train.early_stop.mode",
       .type = kString,
       .fallback = "auto",
       .doc = "whether the largest or the smallest value is best; auto: the smallest for loss, the largest for other metrics",
       .choices = "auto|max|min",
       .changes_result = false},
      {.name = "train.early_stop.restore_best",
       .type = kBool,
       .fallback = "true",
       .doc = "restore the weights of the best evaluation at the end, from checkpoints/best.ckpt, even if the epochs run out first",
       .changes_result = false},

      {.name = "optimizer.name", .type = kString, .fallback = "momentum", .doc = "update rule, see below"},
      {.name = "optimizer.weight_decay",
       .type = kFloat,
       .fallback = "0.0001",
       .doc = "adds weight_decay * weight to the gradient; not applied to batch norm's gamma and beta",
       .min = 0,
       .max = 10},
      {.name = "optimizer.clip_global_norm",
       .type = kFloat,
       .fallback = "0",
       .doc = "scale gradients down so that their global L2 norm is at most this; 0: off",
       .min = 0,
       .max = 1e9},
      {.name = "optimizer.groups",
       .type = kString,
       .fallback = "",
       .doc = "learning rates and weight decays of parts, each as `PATTERN lr=FACTOR weight_decay=NUMBER` with one or both of the two; patterns as in "
              "train.init_skip; FACTOR multiplies the learning rate; the first matching pattern applies to a parameter",
       .unit = kTexts},

      {.name = "loss_scale.type",
       .type = kString,
       .fallback = "auto",
       .doc = "loss scaling with an overflow check that skips the update; auto: dynamic at amp_level O2 with f16, otherwise none",
       .choices = "auto|none|fixed|dynamic"},
      {.name = "loss_scale.init",
       .type = kFloat,
       .fallback = "0",
       .doc = "the fixed scale, or the initial dynamic scale; 0: 128 if fixed, 2^24 if dynamic",
       .min = 0,
       .max = 1e30},
      {.name = "loss_scale.factor",
       .type = kFloat,
       .fallback = "2",
       .doc = "dynamic: divides the scale at an overflow, and multiplies it after loss_scale.window steps without one",
       .min = 1.0001,
       .max = 65536},
      {.name = "loss_scale.window",
       .type = kInt,
       .fallback = "2000",
       .doc = "dynamic: steps without overflow before the scale grows",
       .min = 1,
       .max = 2147483647,
       .unit = "steps"},

      {.name = "lr.schedule", .type = kString, .fallback = "constant", .doc = "learning-rate schedule after the warm-up, see below"},
      {.name = "lr.init", .type = kFloat, .fallback = "0", .doc = "learning rate at the start of the warm-up", .min = 0, .max = 1000},
      {.name = "lr.max",
       .type = kFloat,
       .fallback = "0.1",
       .doc = "learning rate after the warm-up; with the constant schedule, the learning rate",
       .min = 0,
       .max = 1000},
      {.name = "lr.total_steps",
       .type = kInt,
       .fallback = "0",
       .doc = "number of steps that the schedule covers, including the warm-up; 0: the steps that the run trains. Set it if train.max_steps splits one "
              "training into several runs",
       .min = 0,
       .max = 1e12,
       .unit = "steps"},
      {.name = "lr.warmup_epochs",
       .type = kFloat,
       .fallback = "0",
       .doc = "length of the linear rise from lr.init to lr.max",
       .min = 0,
       .max = 1e6,
       .unit = "epochs"},

      {.name = "loss.name",
       .type = kString,
       .fallback = "softmax_cross_entropy",
       .doc = "the loss to minimise, see below; regression losses receive one-hot labels"},

      {.name = "checkpoint.save_every_steps",
       .type = kInt,
       .fallback = "0",
       .doc = "number of steps between checkpoints; 0: not by steps",
       .min = 0,
       .max = 1e12,
       .unit = "steps",
       .changes_result = false},
      {.name = "checkpoint.save_every_epochs",
       .type = kInt,
       .fallback = "1",
       .doc = "number of epochs between checkpoints; 0: not by epochs (a run always saves at its end)",
       .min = 0,
       .max = 1e6,
       .unit = "epochs",
       .changes_result = false},
      {.name = "checkpoint.keep_max",
       .type = kInt,
       .fallback = "5",
       .doc = "number of checkpoints to keep; older ones of the run are deleted",
       .min = 1,
       .max = 1e6,
       .unit = "files",
       .changes_result = false},
      {.name = "checkpoint.keep_best",
       .type = kString,
       .fallback = "",
       .doc = "also keep the checkpoint with the best value of this metric as checkpoints/best.ckpt; empty: use train.early_stop.metric if it is set and "
              "restore_best is true",
       .changes_result = false},
      {.name = "checkpoint.prefix",
       .type = kString,
       .fallback = "",
       .doc = "file name before -EPOCH_STEP.ckpt; empty: the network's name",
       .changes_result = false},
      {.name = "checkpoint.compat",
       .type = kString,
       .fallback = "current",
       .doc = "mindspore1: write no trailer and no integrity entry, but a .sum file next to the checkpoint, for MindSpore 1.x and 2.0",
       .choices = "current|mindspore1",
       .changes_result = false},

      {.name = "log.every",
       .type = kInt,
       .fallback = "0",
       .doc = "number of steps between plain progress lines; 0: by time, one per 10 s in the first epoch and one per 60 s afterwards",
       .min = 0,
       .max = 1e9,
       .unit = "steps",
       .changes_result = false},
      {.name = "log.style",
       .type = kString,
       .fallback = "sindri",
       .doc = "format of the lines of `sindri train` and `sindri eval`: Sindri's, or MindSpore's (`epoch: 1 step: 5004, loss is 4.41`, the epoch's time, "
              "`result: {…} ckpt=FILE`)",
       .choices = "sindri|mindspore",
       .changes_result = false},
      {.name = "log.histograms",
       .type = kInt,
       .fallback = "1",
       .doc = "number of epochs between histograms of the weights in the TensorBoard event file; 0: none",
       .min = 0,
       .max = 1e6,
       .unit = "epochs",
       .changes_result = false},
      {.name = "log.mlflow",
       .type = kString,
       .fallback = "",
       .doc = "folder of an MLflow file store, such as mlruns, to record the run in: its main settings and the columns of metrics.csv; empty: none",
       .changes_result = false},
      {.name = "log.mlflow_experiment", .type = kString, .fallback = "sindri", .doc = "name of the MLflow experiment", .changes_result = false},
  };
}

// Returns the fixed rows. Rows of registered components follow their section, and the components' names are added as choices; algorithms come last.
std::vector<SettingSpec> all_rows() {
  static std::deque<std::string>& names = *new std::deque<std::string>();  // the tables point to them
  std::vector<SettingSpec> out = fixed_rows();
  for (const SettingSpec& spec : dist_rows()) out.push_back(spec);
  for (const Chooser& chooser : kChoosers) {
    const std::string setting = chooser.setting, section = setting.substr(0, setting.find('.'));
    const RegistryBase& registry = chooser.registry();
    for (SettingSpec& spec : out) {
      if (spec.name != setting) continue;
      std::vector<std::string> choices = registry.offered();
      if (spec.fallback[0] != '\0' && !registry.has(spec.fallback)) choices.insert(choices.begin(), spec.fallback);  // "auto"
      spec.choices = names.emplace_back(fmt::format("{}", fmt::join(choices, "|"))).c_str();
    }
    const auto last = std::find_if(out.rbegin(), out.rend(), [&](const SettingSpec& s) { return std::string(s.name).starts_with(section + "."); });
    const std::vector<SettingSpec> own = registry.rows(section, setting);
    for (const SettingSpec& spec : own) {
      if (std::any_of(out.begin(), out.end(), [&](const SettingSpec& s) { return std::string_view(s.name) == spec.name; }))
        throw ValueError(fmt::format("one of kind {} declares the setting '{}', which all of them have", registry.kind(), spec.name), setting,
                         "give it another name");
    }
    out.insert(last.base(), own.begin(), own.end());
  }
  for (const Switched& s : kSwitched) {
    for (SettingSpec& spec : s.registry().switched_rows(s.section)) {
      spec.changes_result = spec.changes_result && s.changes_result;
      out.push_back(spec);
    }
  }
  return out;
}

}  // namespace

// A table for each state of the registries. Earlier ones are kept, as Settings may be reading them.
const std::vector<SettingSpec>& Settings::schema() {
  static std::mutex mutex;
  static std::deque<std::pair<size_t, std::vector<SettingSpec>>>& tables = *new std::deque<std::pair<size_t, std::vector<SettingSpec>>>();
  size_t things = 0;
  for (const Chooser& chooser : kChoosers) things += chooser.registry().size();
  for (const Switched& s : kSwitched) things += s.registry().size();
  const std::lock_guard lock(mutex);
  if (tables.empty() || tables.back().first != things) tables.emplace_back(things, all_rows());
  return tables.back().second;
}

const RegistryBase& Settings::registry_of(const std::string& chooser) {
  for (const Chooser& c : kChoosers)
    if (chooser == c.setting) return c.registry();
  throw InternalError("the setting " + chooser + " chooses nothing that is registered");
}

const RegistryBase* Settings::switched_registry(const std::string& section) {
  for (const Switched& s : kSwitched)
    if (section == s.section) return &s.registry();
  return nullptr;
}

namespace {
const char* type_name(SettingType type) {
  switch (type) {
    case SettingType::kBool: return "true or false";
    case SettingType::kInt: return "whole number";
    case SettingType::kFloat: return "number";
    case SettingType::kString: return "text";
    case SettingType::kFloatList: return "list of numbers";
    case SettingType::kIntList: return "list of whole numbers";
  }
  return "";
}

std::string allowed(const SettingSpec& spec) {
  if (is_texts(spec)) return "list of texts";
  if (spec.choices[0] != '\0') {
    std::string s;
    for (const char* p = spec.choices; *p != '\0'; ++p) s += *p == '|' ? ", " : std::string(1, *p);
    return s;
  }
  if (spec.min == -kInf && spec.max == kInf) return type_name(spec.type);
  if (spec.max == kInf) return fmt::format("{}, at least {}", type_name(spec.type), spec.min);
  if (spec.min == -kInf) return fmt::format("{}, at most {}", type_name(spec.type), spec.max);
  return fmt::format("{}, {} .. {}", type_name(spec.type), spec.min, spec.max);
}
}  // namespace

std::string Settings::schema_markdown() {
  std::string out =
      "# Settings\n\n"
      "This page is generated from the table in `src/app/settings_schema.cc` and from the declarations of registered things.\n"
      "The test `Settings.DocumentationIsUpToDate` compares it with them and writes a fresh copy.\n\n"
      "A value is read from the YAML file (`--config`), then from the environment (`train.epochs` is `SINDRI_TRAIN__EPOCHS`;\n"
      "`dist.backend` also `SINDRI_DIST_BACKEND`), then from `--set train.epochs=3`; later sources win. `--print-config`\n"
      "shows each value and its source.\n";
  std::string section;
  const auto things = [&out](const std::string& of) {
    for (const Chooser& chooser : kChoosers) {
      const std::string setting = chooser.setting;
      if (setting.substr(0, setting.find('.')) != of) continue;
      out += fmt::format("\n| `{}` | is | its settings |\n| --- | --- | --- |\n", setting);
      for (const std::string& name : chooser.registry().offered()) {
        const Registered& thing = chooser.registry().info(name);
        std::string keys;
        for (const SettingSpec& s : thing.settings) keys += fmt::format("{}{}", keys.empty() ? "" : ", ", s.name);
        out += fmt::format("| {} | {} | {} |\n", name, thing.doc, keys);
      }
    }
  };
  for (const SettingSpec& spec : schema()) {
    const std::string name = spec.name, head = name.find('.') == std::string::npos ? "outside of sections" : name.substr(0, name.find('.'));
    if (head != section) {
      things(section);
      section = head;
      out += fmt::format("\n## {}\n\n| setting | default | allowed | unit | meaning |\n| --- | --- | --- | --- | --- |\n", section);
    }
    const std::string fallback = spec.fallback[0] == '\0' ? "(empty)" : fmt::format("`{}`", spec.fallback);
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", name, fallback, allowed(spec), is_texts(spec) ? "" : spec.unit, spec.doc);
  }
  things(section);
  return out;
}

}  // namespace sindri::app
