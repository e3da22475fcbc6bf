// The networks by name, for settings files, programs and Python.
//
//   // beside the network, here or in a user's library
//   const auto& kTiny = models::networks().add({
//       .name = "tiny",
//       .doc = "one hidden layer",
//       .settings = {{.name = "hidden", .type = SettingType::kInt, .fallback = "32", .doc = "width of the hidden layer", .min = 1, .max = 4096}},
//       .facts = {.input = {1, 8, 8}, .num_classes = 10},
//       .make = [](const models::NetworkSize& size, const SettingValues& v) -> nn::CellPtr { … },
//   });
#pragma once
#include "sindri/core/registry.h"
#include "sindri/core/shape.h"
#include "sindri/nn/cell.h"

namespace sindri::models {

/// What a network is made for, besides its own settings.
struct NetworkSize {
  int64_t in_channels = 0;  ///< of the images, at least 1
  int64_t num_classes = 0;  ///< at least 1
};
/// What is known of a network without making it: the images it was designed for, and its classes.
struct NetworkFacts {
  Shape input = {};  ///< one image it was designed for, [C, H, W]
  int64_t num_classes = 0;  ///< unless told otherwise
  bool conv_norm = false;  ///< convolutions with batch norm: what float16 is fastest for on GPUs (train.amp_dtype auto)
};
/// A Cell from images [N, C, H, W] to scores [N, num_classes].
using MakeNetwork = nn::CellPtr(const NetworkSize& size, const SettingValues& settings);

/// "lenet", "resnet50", …: each file of models/ adds its own.
SINDRI_API Registry<MakeNetwork, NetworkFacts>& networks();

/// The settings that several networks declare alike. `choices`: the libraries whose form it has, "mindspore" or "mindspore|torchvision"; empty stands
/// for the one it was published in.
SINDRI_API SettingSpec variant_setting(const char* choices);
/// Initializer aliases; "torch" stands for PyTorch's layer default, HeUniform(sqrt(5)), and empty for the network's own.
SINDRI_API SettingSpec conv_init_setting();
SINDRI_API SettingSpec dense_init_setting();

}  // namespace sindri::models
