// The functions of mindspore.amp, implemented with casting scopes.
#include "sindri/train/amp.h"

#include <fmt/format.h>

#include <cmath>

#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/nn/loss.h"

namespace sindri::train {

std::vector<std::string> get_white_list() { return amp::find_policy("cells_O1", amp::Casts::kOps).half_cells; }
std::vector<std::string> get_black_list() { return amp::find_policy("cells_O2", amp::Casts::kOps).float_cells; }

nn::CellPtr auto_mixed_precision(nn::CellPtr network, const std::string& amp_level, DType dtype) {
  if (network == nullptr) throw ValueError("auto_mixed_precision needs a network");
  network->set_mixed_precision(amp::find_policy(amp_level, amp::Casts::kOps).options(dtype));
  return network;
}

nn::CellPtr custom_mixed_precision(nn::CellPtr network, const std::vector<std::string>& white_list, const std::vector<std::string>& black_list, DType dtype) {
  if (network == nullptr) throw ValueError("custom_mixed_precision needs a network");
  if (white_list.empty() == black_list.empty())
    throw ValueError(fmt::format("custom_mixed_precision takes a white list or a black list, got {}", white_list.empty() ? "neither" : "both"));
  const amp::Level level = white_list.empty() ? amp::Level::kO3 : amp::Level::kO0;
  network->set_mixed_precision({.level = level, .dtype = dtype, .white_list = white_list, .black_list = black_list});
  return network;
}

std::shared_ptr<LossScaleManager> default_manager(const amp::NamedPolicy& policy, DType half, double own_scale) {
  if (!policy.provides_loss_scale(half) || own_scale != 1) return nullptr;
  return std::make_shared<DynamicLossScaleManager>();
}

void check_loss_scales(const std::string& manager, double scale, bool drops, const std::string& optimizer, double own, bool lenient) {
  const std::string own_text = own == std::floor(own) ? fmt::format("{:.1f}", own) : fmt::format("{}", own);
  if (drops) {
    if (own != 1)
      throw ValueError(fmt::format("gradients would be divided twice, by the scale of {} and by {}'s loss_scale {}", manager, optimizer, own_text), "",
                       fmt::format("leave {}'s loss_scale at 1, or give FixedLossScaleManager({}, drop_overflow_update=False)", optimizer, own_text));
    return;
  }
  if (own == scale) return;
  if (own == 1 && lenient) {
    log::warn("train",
              fmt::format("gradients are {0} times too large: without drop_overflow_update the optimizer divides them by the loss scale, and {1}'s is 1 | "
                          "give {1}(loss_scale={0}), or drop_overflow_update=True",
                          scale, optimizer));
    return;
  }
  throw ValueError(
      fmt::format("without drop_overflow_update the optimizer divides by the loss scale: {}'s is {}, {}'s {}", manager, scale, optimizer, own_text), "",
      fmt::format("give {}(loss_scale={}), or drop_overflow_update=True", optimizer, scale));
}

TrainNetwork build_train_network(nn::CellPtr network, optim::Optimizer& optimizer, nn::CellPtr loss_fn, const std::string& level, DType dtype,
                                 std::optional<bool> keep_batchnorm_fp32, std::shared_ptr<LossScaleManager> loss_scale_manager) {
  if (network == nullptr) throw ValueError("build_train_network needs a network");
  TrainNetwork t;
  t.cell = loss_fn == nullptr ? network : nn::WithLossCell::make(network, loss_fn);
  const amp::NamedPolicy& policy = amp::find_policy(level, amp::Casts::kOps);
  const amp::Options amp = policy.options(dtype, keep_batchnorm_fp32);
  if (loss_scale_manager == nullptr) loss_scale_manager = default_manager(policy, dtype, optimizer.base_options().loss_scale);
  t.step = make_train_step(*t.cell, optimizer, {.amp = amp, .loss_scale_manager = std::move(loss_scale_manager)});
  t.cell->set_train(true);
  return t;
}

}  // namespace sindri::train
