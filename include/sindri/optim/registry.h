// The optimizers by name, for settings files, programs and Python.
#pragma once
#include <memory>

#include "sindri/core/registry.h"
#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// What every optimizer is made from: what it trains; rate, weight decay and clipping; and the settings it declares. A loss scale is a
/// setting ("loss_scale") of those that divide by one.
using MakeOptimizer = std::shared_ptr<Optimizer>(Params params, const OptimizerOptions& options, const SettingValues& settings);

/// "momentum", "sgd", "adam", …: each file of optim/ adds its own.
SINDRI_API Registry<MakeOptimizer>& optimizers();

/// The settings that several declare alike.
SINDRI_API SettingSpec loss_scale_setting();
SINDRI_API SettingSpec beta1_setting();
SINDRI_API SettingSpec beta2_setting();
/// `fallback` must live as long as the program.
SINDRI_API SettingSpec eps_setting(const char* fallback);

}  // namespace sindri::optim
