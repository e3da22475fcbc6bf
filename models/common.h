// How the weights of networks start, from the settings they share.
#pragma once
#include <string>

#include "sindri/models/registry.h"
#include "sindri/nn/initializer.h"

namespace sindri::models {

/// The initializer a setting names: an alias or "torch"; `otherwise` when empty. Throws ValueError for an unknown alias.
nn::Init init_or(const std::string& alias, const nn::Init& otherwise);
/// PyTorch's default for the bias of a dense layer: U(-1/sqrt(fan_in), 1/sqrt(fan_in)).
nn::Init torch_bias(int64_t fan_in);

/// Checks for Registered: conv_init and dense_init name initializers; dense_init does.
void check_inits(const SettingValues& settings);
void check_dense_init(const SettingValues& settings);

}  // namespace sindri::models
