// The settings of Thor as a registered optimizer.
#include "optim/optimizer_impl.h"
#include "sindri/core/error.h"
#include "sindri/optim/formula.h"
#include "sindri/optim/registry.h"
#include "sindri/optim/thor.h"

namespace sindri::optim {

namespace {

/// λ·decay^((step + 1)/steps), as MindSpore's get_thor_damping counts.
struct FallingDamping {
  double damping, decay, steps;
  template <class T> T operator()(const T& step) const { return formula::pow(decay, (step + 1.0) / steps) * damping; }
};

LearningRate damping_of(const SettingValues& v) {
  const std::vector<double>& damping = v.get_list("damping");
  if (damping.empty()) throw ValueError("damping is an empty list", "damping", "give one number, or one for each update");
  if (damping.size() > 1) return std::vector<float>(damping.begin(), damping.end());
  const double decay = v.get_float("damping_decay");
  if (decay == 1) return damping[0];
  return schedule_of(FallingDamping{damping[0], decay, static_cast<double>(v.get_int("damping_decay_steps"))});
}

const auto& kThor = optimizers().add({
    .name = "thor",
    .doc = "natural gradients from Kronecker factors in blocks, with momentum (Chen et al. 2021)",
    .settings =
        {momentum_setting("0.9"),
         nesterov_setting("momentum"),
         {.name = "damping",
          .type = SettingType::kFloatList,
          .fallback = "0.03",
          .doc = "added to the curvature before inversion: one value, or one per update",
          .min = 0,
          .max = 1e15},
         {.name = "damping_decay",
          .type = SettingType::kFloat,
          .fallback = "1",
          .doc = "factor applied to the damping every damping_decay_steps",
          .min = 1e-30,
          .max = 1},
         {.name = "damping_decay_steps",
          .type = SettingType::kInt,
          .fallback = "1000",
          .doc = "number of updates over which damping_decay applies once; the decay is smooth",
          .min = 1,
          .unit = "updates"},
         {.name = "frequency",
          .type = SettingType::kInt,
          .fallback = "100",
          .doc = "number of updates between refreshes of the curvature and its inverse",
          .min = 1,
          .unit = "updates"},
         {.name = "batch_size",
          .type = SettingType::kInt,
          .fallback = "0",
          .doc = "number of items that a rank's loss averages over; 0: the samples of its batch",
          .min = 0},
         {.name = "block_size",
          .type = SettingType::kInt,
          .fallback = "128",
          .doc = "width of the diagonal blocks kept of each factor; 0: the whole factor",
          .min = 0},
         {.name = "factor_decay",
          .type = SettingType::kFloat,
          .fallback = "0",
          .doc = "decay rate of the factors' running average at a refresh",
          .min = 0,
          .max = 0.999999},
         {.name = "kl_clip",
          .type = SettingType::kFloat,
          .fallback = "0",
          .doc = "largest length of a step in the metric of the curvature (KL clipping); 0: unlimited",
          .min = 0},
         {.name = "trace_rule",
          .type = SettingType::kFloatList,
          .fallback = "[]",
          .doc = "two relative changes of the trace: if the change is at most the first, the curvature is kept; if below the second, it is kept permanently"},
         {.name = "fold_bias", .type = SettingType::kBool, .fallback = "false", .doc = "treat a layer's bias as a column of its weight"},
         {.name = "damping_form",
          .type = SettingType::kString,
          .fallback = "factored",
          .doc = "joint: adds the damping to the product of both factors, using eigenvectors instead of inverses",
          .choices = "factored|joint"},
         {.name = "statistics",
          .type = SettingType::kString,
          .fallback = "standard",
          .doc = "batch_mean: convolutions compute their factors from means over the batch",
          .choices = "standard|batch_mean"},
         {.name = "stagger", .type = SettingType::kInt, .fallback = "0", .doc = "number of steps that a refresh is spread over; 0: one step", .min = 0},
         {.name = "reduce",
          .type = SettingType::kString,
          .fallback = "factor_mean",
          .doc = "what ranks average: the factors, or the inverses that each rank computes",
          .choices = "factor_mean|inverse_mean"},
         {.name = "distribute",
          .type = SettingType::kString,
          .fallback = "auto",
          .doc = "which ranks invert: every rank all factors (replicate), each rank a share (shard), or the faster of the two (auto)",
          .choices = "auto|shard|replicate"},
         {.name = "split_indices", .type = SettingType::kIntList, .fallback = "[]", .doc = "last layer of each bucket in which factors are averaged"},
         {.name = "compat",
          .type = SettingType::kString,
          .fallback = "",
          .doc = "mindspore: compute what MindSpore 2.10 computes on a GPU, for comparison",
          .choices = "mindspore"},
         {.name = "clip_each", .type = SettingType::kBool, .fallback = "false", .doc = "limit the norm of each tensor's step, before momentum, to 1"},
         loss_scale_setting()},
    .make = make_from_settings<Thor,
                               [](auto& o, const SettingValues& v) {
                                 o.momentum = v.get_float("momentum");
                                 o.use_nesterov = v.get_bool("nesterov");
                                 o.damping = damping_of(v);
                                 o.frequency = v.get_int("frequency");
                                 o.batch_size = v.get_int("batch_size");
                                 o.block_size = v.get_int("block_size");
                                 o.factor_decay = v.get_float("factor_decay");
                                 o.kl_clip = v.get_float("kl_clip");
                                 o.trace_rule = v.get_list("trace_rule");
                                 o.fold_bias = v.get_bool("fold_bias");
                                 o.damping_form = v.get_string("damping_form");
                                 o.statistics = v.get_string("statistics");
                                 o.stagger = v.get_int("stagger");
                                 o.reduce = v.get_string("reduce");
                                 o.distribute = v.get_string("distribute");
                                 o.compat = v.get_string("compat");
                                 const auto& split = v.get_list("split_indices");
                                 o.split_indices.assign(split.begin(), split.end());
                                 o.enable_clip_grad = v.get_bool("clip_each");
                               }>,
});

}  // namespace

}  // namespace sindri::optim
