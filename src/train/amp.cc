// The functions of mindspore.amp over the casting scopes.
#include "sindri/train/amp.h"

#include <fmt/format.h>

#include "sindri/core/error.h"
#include "sindri/nn/loss.h"

namespace sindri::train {

std::vector<std::string> get_white_list() { return {"Conv2d", "Dense"}; }
std::vector<std::string> get_black_list() { return {"BatchNorm1d", "BatchNorm2d", "LayerNorm"}; }

nn::CellPtr auto_mixed_precision(nn::CellPtr network, const std::string& amp_level, DType dtype) {
  if (network == nullptr) throw ValueError("auto_mixed_precision needs a network");
  network->set_mixed_precision({.level = amp::parse_level(amp_level), .dtype = dtype});
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

TrainNetwork build_train_network(nn::CellPtr network, optim::Optimizer& optimizer, nn::CellPtr loss_fn, const std::string& level, DType dtype,
                                 std::optional<bool> keep_batchnorm_fp32, std::shared_ptr<LossScaleManager> loss_scale_manager) {
  if (network == nullptr) throw ValueError("build_train_network needs a network");
  TrainNetwork t;
  t.cell = loss_fn == nullptr ? network : nn::WithLossCell::make(network, loss_fn);
  const amp::Options amp{.level = amp::parse_level(level), .dtype = dtype, .keep_batchnorm_fp32 = keep_batchnorm_fp32};
  const bool narrow = amp.level == amp::Level::kO2 && dtype == DType::kFloat16 && optimizer.base_options().loss_scale == 1;
  if (loss_scale_manager == nullptr && narrow) loss_scale_manager = std::make_shared<DynamicLossScaleManager>();
  t.step = make_train_step(*t.cell, optimizer, {.amp = amp, .loss_scale_manager = std::move(loss_scale_manager)});
  t.cell->set_train(true);
  return t;
}

}  // namespace sindri::train
