// The data of Optimizer, and helpers of the rules in this folder.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sindri/optim/registry.h"

namespace sindri::optim {

/// A gradient times `scale` and, if it is defined, the scalar inv_scale.
Tensor unscaled(Tensor grad, double scale, const Tensor& inv_scale);
/// Whether a parameter of that name is excluded from weight decay: beta and gamma of normalisation layers, recognised by name as in MindSpore.
bool skips_decay(const std::string& name);
/// Throws ValueError for betas outside (0, 1) or eps <= 0.
void check_betas(const std::string& optimizer, double beta1, double beta2, double eps);

/// The options that all optimizers have, from the Options of one of them.
template <class Options> OptimizerOptions shared_options(const Options& o) {
  OptimizerOptions out{.learning_rate = o.learning_rate, .weight_decay = o.weight_decay, .grad_clip = o.grad_clip};
  if constexpr (requires { o.loss_scale; }) out.loss_scale = o.loss_scale;
  return out;
}

/// The Options of an optimizer: the shared ones from `o`, the settings that several optimizers declare alike (loss_scale, betas, eps), and
/// those that `own` reads.
template <class Options> Options options_of(const OptimizerOptions& o, const SettingValues& v, void (*own)(Options&, const SettingValues&) = nullptr) {
  Options out{};
  out.learning_rate = o.learning_rate;
  out.weight_decay = o.weight_decay;
  out.grad_clip = o.grad_clip;
  if constexpr (requires { out.loss_scale; }) out.loss_scale = v.get_float("loss_scale");
  if constexpr (requires { out.beta1; }) out.beta1 = v.get_float("beta1"), out.beta2 = v.get_float("beta2"), out.eps = v.get_float("eps");
  if (own != nullptr) own(out, v);
  return out;
}

/// The make function of a registered optimizer.
template <class T, void (*own)(typename T::Options&, const SettingValues&) = nullptr>
std::shared_ptr<Optimizer> make_from_settings(Params params, const OptimizerOptions& o, const SettingValues& v) {
  return std::make_shared<T>(std::move(params), options_of<typename T::Options>(o, v, own));
}

/// The learning rate of one group: a schedule, a number or a table. Numbers and tables are stored in a Parameter, so that they can change without a new graph.
struct Rate {
  std::unique_ptr<Parameter> slot;
  std::shared_ptr<LearningRateSchedule> schedule;
  bool dynamic() const { return schedule != nullptr || slot->shape().rank() == 1; }
};

struct Optimizer::Impl {
  struct Group {
    size_t rate = 0;  // index into rates
    WeightDecay weight_decay;
    bool centralize = false;
  };
  OptimizerOptions options;
  DType scalar = DType::kFloat32;
  bool grouped = false, group_lr = false;
  bool counts_every_update = true;
  bool prepared = false;  // unscaling, clipping and decay were applied before gradients arrive here
  std::vector<Rate> rates;  // rates[0] is the optimizer's own
  std::vector<Group> groups;
  std::vector<size_t> group_of;  // per parameter, in update order
  std::vector<std::vector<Parameter*>> state_of;
  std::vector<std::unique_ptr<Parameter>> slots, shared;
};

}  // namespace sindri::optim
