// The table of settings: the one place that knows their names, defaults, ranges and meaning.
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

// Settings that name a registered thing, whose own settings are rows of the same section.
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

// Sections of registered things that are used beside each other, each with a switch.
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
       .doc = "the device that computes: CPU, GPU, or another that `sindri doctor` lists (also gpu, cuda:1); one that is not there is an error; empty: the "
              "CPU, in a program of one's own its current device",
       .changes_result = false},
      {.name = "device_id", .type = kInt, .fallback = "0", .doc = "which of the target's devices", .min = 0, .max = 4095, .changes_result = false},

      {.name = "model.name", .type = kString, .fallback = "", .doc = "the net, see below; `sindri summary` lists them with the images they were designed for"},
      {.name = "model.num_classes", .type = kInt, .fallback = "0", .doc = "width of the last layer; 0: as many as the data has", .min = 0, .max = 1e6},

      {.name = "data.path", .type = kString, .fallback = "", .doc = "folder (or, for digits, file) with the data"},
      {.name = "data.kind", .type = kString, .fallback = "auto", .doc = "what the data is, see below; auto looks at what the folder holds"},
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
       .doc = "height and width the net sees; 0: as the net was designed for",
       .min = 0,
       .max = 4096,
       .unit = "pixels"},
      {.name = "data.device_input",
       .type = kString,
       .fallback = "auto",
       .doc =
           "images travel to the device as bytes and are normalised there; auto: on, except on the CPU and with data.mixup or data.cutmix; the results are the "
           "same",
       .choices = "auto|on|off",
       .changes_result = false},
      {.name = "data.augment", .type = kBool, .fallback = "true", .doc = "random crop and flip of training images, but for kinds that say otherwise"},
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
       .doc = "mixup (arXiv:1710.09412) of training batches: images and one-hot labels are blended with another sample's by a weight from Beta(a, a), this "
              "is a; 0: none",
       .min = 0,
       .max = 100},
      {.name = "data.cutmix",
       .type = kFloat,
       .fallback = "0",
       .doc = "CutMix (arXiv:1905.04899) of training batches: a box of another sample's image is pasted in, whose sides are those of the image times "
              "1 - Beta(a, a), this is a; labels are mixed by area; 0: none",
       .min = 0,
       .max = 100},
      {.name = "data.cutmix_prob", .type = kFloat, .fallback = "1", .doc = "share of the images that CutMix changes", .min = 0, .max = 1},
      {.name = "data.mean",
       .type = kFloatList,
       .fallback = "[]",
       .doc = "per channel, subtracted from pixels scaled to 0..1; empty: the data set's own",
       .min = -10,
       .max = 10},
      {.name = "data.std",
       .type = kFloatList,
       .fallback = "[]",
       .doc = "per channel, divides after data.mean; empty: the data set's own",
       .min = 1e-6,
       .max = 10},
      {.name = "data.on_corrupt",
       .type = kString,
       .fallback = "fail",
       .doc = "a sample that cannot be read ends the run, is left out, or is replaced by the next good one",
       .choices = "fail|skip|replace"},
      {.name = "data.fingerprint",
       .type = kString,
       .fallback = "files",
       .doc = "what a resumed run compares to see that the data is the same: names, sizes and times of image files, or all their contents",
       .choices = "files|contents",
       .changes_result = false},
      {.name = "data.max_corrupt",
       .type = kInt,
       .fallback = "-1",
       .doc = "with skip or replace, more bad samples than this end the run; -1: 100 or 0.1 % of all, the larger",
       .min = -1,
       .max = 1e9,
       .unit = "samples"},

      {.name = "train.epochs", .type = kInt, .fallback = "10", .doc = "passes over the training data", .min = 1, .max = 1e6},
      {.name = "train.max_steps",
       .type = kInt,
       .fallback = "0",
       .doc = "stop after this many steps, which lr.schedule then covers (see lr.total_steps); 0: no limit",
       .min = 0,
       .max = 1e12,
       .unit = "steps",
       .changes_result = false},
      {.name = "train.batch_size",
       .type = kInt,
       .fallback = "32",
       .doc = "samples per step; of each virtual rank where there are several (dist.virtual_ranks)",
       .min = 1,
       .max = 65536,
       .unit = "samples"},
      {.name = "train.micro_batches",
       .type = kInt,
       .fallback = "1",
       .doc = "parts of a batch that run one after the other; their gradients are averaged",
       .min = 1,
       .max = 65536},
      {.name = "train.run_dir", .type = kString, .fallback = "", .doc = "run folder; empty: runs/<model>-NNN, the next free number", .changes_result = false},
      {.name = "train.mode",
       .type = kString,
       .fallback = "graph",
       .doc = "graph traces the whole step once; pynative runs op by op",
       .choices = "graph|pynative"},
      {.name = "train.seed", .type = kInt, .fallback = "1", .doc = "of initial weights, shuffling, augmentation and dropout", .min = 0, .max = 4294967295.0},
      {.name = "train.sink_mode", .type = kBool, .fallback = "false", .doc = "several steps per host call (dataset_sink_mode); callbacks see the last of them"},
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
       .doc = "evaluate every so many epochs; 0: only at the end; -1: never",
       .min = -1,
       .max = 1e6,
       .unit = "epochs",
       .changes_result = false},
      {.name = "train.eval_weights",
       .type = kString,
       .fallback = "trained",
       .doc = "evaluate and predict with the trained weights, or with those that the training algorithm of this name keeps, e.g. average",
       .changes_result = false},
      {.name = "train.amp_level",
       .type = kString,
       .fallback = "O0",
       .doc = "mixed precision: O0 none; O1 convolutions and matrix products in half; O2 all but softmax, losses and batch norm's parameters; O3 those too; "
              "ops_O1 … are their full names; cells_O1 … are MindSpore's levels, which mark Cells by their class (docs/guide/mixed_precision.md)",
       .choices = amp_levels().c_str()},
      {.name = "train.amp_dtype",
       .type = kString,
       .fallback = "auto",
       .doc = "the half type of amp_level; auto: f16 for networks of convolutions with batch norm on GPUs, bf16 for others and on the CPU",
       .choices = "auto|bf16|f16"},
      {.name = "train.keep_batchnorm_fp32",
       .type = kString,
       .fallback = "auto",
       .doc = "batch norm's parameters and statistics in float32; auto: at every level but O3",
       .choices = "auto|true|false"},
      {.name = "train.nan_policy",
       .type = kString,
       .fallback = "stop",
       .doc = "what a loss that is not finite does: end the run, or leave out the step's update",
       .choices = "stop|skip"},
      {.name = "train.max_skipped",
       .type = kFloat,
       .fallback = "0.5",
       .doc = "with nan_policy skip, a larger share of steps left out, of an epoch or of the run, ends the run; 1: never",
       .min = 0,
       .max = 1},

      {.name = "train.init_from",
       .type = kString,
       .fallback = "",
       .doc = "weights to begin with: a checkpoint of Sindri or MindSpore (.ckpt), or .safetensors; a last layer of another number of classes begins anew; a "
              "training that is resumed does not read it again"},
      {.name = "train.init_match",
       .type = kString,
       .fallback = "head",
       .doc = "what must fit between the weights and the net: all names and shapes; all but the last layer (head); any one parameter, the others keeping their "
              "first values",
       .choices = "all|head|any"},
      {.name = "train.init_skip",
       .type = kString,
       .fallback = "",
       .doc = "parts that are not taken from the weights: names of parameters or of what holds them, `*` for any text and `?` for one character",
       .unit = kTexts},
      {.name = "train.freeze",
       .type = kString,
       .fallback = "",
       .doc = "parts that are not trained, named as in train.init_skip; `sindri summary NET --all` lists the parts of a net",
       .unit = kTexts},
      {.name = "train.frozen_bn",
       .type = kString,
       .fallback = "fixed",
       .doc =
           "what batch norm does in training where its gamma and beta are frozen: use its moving averages, which stay (fixed), or the batch's statistics, and "
           "move them (batch)",
       .choices = "fixed|batch"},
      {.name = "train.early_stop.metric",
       .type = kString,
       .fallback = "",
       .doc = "end the training where this metric of the evaluations gets no better: accuracy, loss, top_5_accuracy or one of metrics.*; empty: never",
       .changes_result = false},
      {.name = "train.early_stop.patience",
       .type = kInt,
       .fallback = "5",
       .doc = "evaluations without a better value after which the training ends",
       .min = 1,
       .max = 1e6,
       .unit = "evaluations",
       .changes_result = false},
      {.name = "train.early_stop.min_delta",
       .type = kFloat,
       .fallback = "0",
       .doc = "what a better value must exceed the best one by",
       .min = 0,
       .max = 1e9,
       .changes_result = false},
      {.name = "train.early_stop.mode",
       .type = kString,
       .fallback = "auto",
       .doc = "whether the largest or the smallest value is the best; auto: the smallest of loss, the largest of others",
       .choices = "auto|max|min",
       .changes_result = false},
      {.name = "train.early_stop.restore_best",
       .type = kBool,
       .fallback = "true",
       .doc = "end with the weights of the best evaluation, which checkpoints/best.ckpt keeps, also where the epochs run out first",
       .changes_result = false},

      {.name = "optimizer.name", .type = kString, .fallback = "momentum", .doc = "update rule, see below"},
      {.name = "optimizer.weight_decay",
       .type = kFloat,
       .fallback = "0.0001",
       .doc = "added to the gradient as weight_decay * weight; not for batch norm's gamma and beta",
       .min = 0,
       .max = 10},
      {.name = "optimizer.clip_global_norm",
       .type = kFloat,
       .fallback = "0",
       .doc = "gradients are scaled down so that their common L2 norm is at most this; 0: off",
       .min = 0,
       .max = 1e9},
      {.name = "optimizer.groups",
       .type = kString,
       .fallback = "",
       .doc = "rates and decays of parts, each as `PATTERN lr=FACTOR weight_decay=NUMBER` with one of the two or both; the pattern as in train.init_skip, the "
              "factor times the learning rate; the first pattern that means a parameter holds for it",
       .unit = kTexts},

      {.name = "loss_scale.type",
       .type = kString,
       .fallback = "auto",
       .doc = "scale that a step checks for overflow and may leave itself out by; auto: dynamic at amp_level O2 with f16, else none",
       .choices = "auto|none|fixed|dynamic"},
      {.name = "loss_scale.init",
       .type = kFloat,
       .fallback = "0",
       .doc = "the fixed scale, or the first dynamic one; 0: 128 fixed, 2^24 dynamic",
       .min = 0,
       .max = 1e30},
      {.name = "loss_scale.factor",
       .type = kFloat,
       .fallback = "2",
       .doc = "dynamic: divides the scale at an overflow, multiplies it after loss_scale.window steps without",
       .min = 1.0001,
       .max = 65536},
      {.name = "loss_scale.window",
       .type = kInt,
       .fallback = "2000",
       .doc = "dynamic: steps without overflow before the scale grows",
       .min = 1,
       .max = 2147483647,
       .unit = "steps"},

      {.name = "lr.schedule", .type = kString, .fallback = "constant", .doc = "course of the learning rate after the warm-up, see below"},
      {.name = "lr.init", .type = kFloat, .fallback = "0", .doc = "at the start of the warm-up", .min = 0, .max = 1000},
      {.name = "lr.max", .type = kFloat, .fallback = "0.1", .doc = "after the warm-up; the rate itself when constant", .min = 0, .max = 1000},
      {.name = "lr.total_steps",
       .type = kInt,
       .fallback = "0",
       .doc =
           "steps that the schedule covers, warm-up included; 0: those that the run trains. Set it where train.max_steps cuts one training into several runs",
       .min = 0,
       .max = 1e12,
       .unit = "steps"},
      {.name = "lr.warmup_epochs", .type = kFloat, .fallback = "0", .doc = "linear rise from lr.init to lr.max", .min = 0, .max = 1e6, .unit = "epochs"},

      {.name = "loss.name",
       .type = kString,
       .fallback = "softmax_cross_entropy",
       .doc = "what is minimised, see below; losses of values see the labels one-hot"},

      {.name = "checkpoint.save_every_steps",
       .type = kInt,
       .fallback = "0",
       .doc = "save after so many steps; 0: not by steps",
       .min = 0,
       .max = 1e12,
       .unit = "steps",
       .changes_result = false},
      {.name = "checkpoint.save_every_epochs",
       .type = kInt,
       .fallback = "1",
       .doc = "save after so many epochs; 0: not by epochs (the end of a run always saves)",
       .min = 0,
       .max = 1e6,
       .unit = "epochs",
       .changes_result = false},
      {.name = "checkpoint.keep_max",
       .type = kInt,
       .fallback = "5",
       .doc = "older checkpoints of the run beyond this number are deleted",
       .min = 1,
       .max = 1e6,
       .unit = "files",
       .changes_result = false},
      {.name = "checkpoint.keep_best",
       .type = kString,
       .fallback = "",
       .doc = "keep the checkpoint of the evaluation with the best value of this metric as checkpoints/best.ckpt, beside the others; empty: of "
              "train.early_stop.metric, where that is set and its best is restored",
       .changes_result = false},
      {.name = "checkpoint.prefix",
       .type = kString,
       .fallback = "",
       .doc = "file name before -EPOCH_STEP.ckpt; empty: the net's name",
       .changes_result = false},
      {.name = "checkpoint.compat",
       .type = kString,
       .fallback = "current",
       .doc = "mindspore1: without trailer and integrity entry, with a .sum file beside it, for MindSpore 1.x and 2.0",
       .choices = "current|mindspore1",
       .changes_result = false},

      {.name = "log.every",
       .type = kInt,
       .fallback = "0",
       .doc = "plain progress lines: one per so many steps; 0: one where none came for 10 s in the first epoch, for 60 s later",
       .min = 0,
       .max = 1e9,
       .unit = "steps",
       .changes_result = false},
      {.name = "log.style",
       .type = kString,
       .fallback = "sindri",
       .doc =
           "lines of `sindri train` and `sindri eval`: ours, or MindSpore's (`epoch: 1 step: 5004, loss is 4.41`, the epoch's time, `result: {…} ckpt=FILE`)",
       .choices = "sindri|mindspore",
       .changes_result = false},
      {.name = "log.histograms",
       .type = kInt,
       .fallback = "1",
       .doc = "distributions of the weights in the TensorBoard event file, behind every so many epochs; 0: none",
       .min = 0,
       .max = 1e6,
       .unit = "epochs",
       .changes_result = false},
      {.name = "log.mlflow",
       .type = kString,
       .fallback = "",
       .doc = "folder of an MLflow file store, such as mlruns, which gets the run: its main settings, and the columns of metrics.csv; empty: none",
       .changes_result = false},
      {.name = "log.mlflow_experiment", .type = kString, .fallback = "sindri", .doc = "name of the experiment there", .changes_result = false},
  };
}

// The fixed rows with those of registered things behind their section, and with the things' names as choices; algorithms last.
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

// A table for each state of the registries; earlier ones stay, as Settings may be reading them.
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
      "Made from the table in `src/app/settings_schema.cc` and from what registered things declare: the test `Settings.DocumentationIsUpToDate` compares the "
      "two and writes a fresh copy.\n\n"
      "A value comes from the YAML file (`--config`), then from the environment (`train.epochs` is `SINDRI_TRAIN__EPOCHS`; `dist.backend` also\n"
      "`SINDRI_DIST_BACKEND`), then from\n"
      "`--set train.epochs=3`; later wins. `--print-config` shows each value and where it came from.\n";
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
