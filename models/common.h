// Weight initialisation from the settings that networks share.
#pragma once
#include <string>

#include "sindri/models/registry.h"
#include "sindri/nn/initializer.h"

namespace sindri::models {

/// The initializer that a setting names: an alias or "torch". Returns `otherwise` if alias is empty. Throws ValueError for an unknown alias.
nn::Init init_or(const std::string& alias, const nn::Init& otherwise);
/// PyTorch's default for the bias of a dense layer: U(-1/sqrt(fan_in), 1/sqrt(fan_in)).
nn::Init torch_bias(int64_t fan_in);

/// Checks for Registered: check_inits checks that conv_init and dense_init name initializers, check_dense_init only checks dense_init.
void check_inits(const SettingValues& settings);
void check_dense_init(const SettingValues& settings);

}  // namespace sindri::models
