// Networks by name, for settings files, programs and Python.
//
//   // next to the network, in Sindri or in your library
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

/// Size of a network, in addition to its settings.
struct NetworkSize {
  int64_t in_channels = 0;  ///< channels of the images, at least 1
  int64_t num_classes = 0;  ///< at least 1
};
/// Facts about a network that are known without creating it.
struct NetworkFacts {
  Shape input = {};  ///< shape [C, H, W] of the images that it is designed for
  int64_t num_classes = 0;  ///< default number of classes
  bool conv_norm = false;  ///< convolutions with batch norm, for which float16 is fastest on GPUs (train.amp_dtype auto)
};
/// Makes a Cell that maps images [N, C, H, W] to scores [N, num_classes].
using MakeNetwork = nn::CellPtr(const NetworkSize& size, const SettingValues& settings);

/// Registered networks: "lenet", "resnet50", …. Each file of models/ adds its own.
SINDRI_API Registry<MakeNetwork, NetworkFacts>& networks();

/// The setting "variant". `choices` are the libraries whose form the network has, "mindspore" or
/// "mindspore|torchvision"; an empty value selects the form in which it was published.
SINDRI_API SettingSpec variant_setting(const char* choices);
/// The setting "conv_init", an initializer alias; "torch" is PyTorch's layer default, HeUniform(sqrt(5)), and an empty
/// value selects the network's own.
SINDRI_API SettingSpec conv_init_setting();
/// The same for dense layers, "dense_init".
SINDRI_API SettingSpec dense_init_setting();

}  // namespace sindri::models
