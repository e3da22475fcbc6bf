// Networks by name: Sindri's and those that libraries add (registry.h).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sindri/models/registry.h"

namespace sindri::models {

/// Options of create. Zero or empty selects the network's default. The fields after the sizes are settings that many
/// networks declare; `settings` holds any others.
struct ModelOptions {
  int64_t num_classes = 0;  ///< default 1000 for ImageNet networks, 10 for the others
  int64_t in_channels = 0;  ///< channels of the images
  /// ResNets: "mindspore" (as in MindSpore's model zoo: pad_mode same, batch norm eps 1e-4) or "torchvision" (explicit
  /// padding k/2, eps 1e-5). Default: mindspore for ImageNet networks, torchvision for CIFAR networks. Other networks
  /// have MindSpore's form only.
  std::string variant = "";
  /// Initializer aliases for convolutions and dense layers; "torch" is PyTorch's layer default, HeUniform(sqrt(5)).
  std::string conv_init = "", dense_init = "";
  bool zero_init_residual = false;  ///< ResNets: initialises gamma of each block's last batch norm to 0
  std::map<std::string, SettingValue> settings = {};  ///< further settings of the network, by name
};

/// Creates a network. Throws ValueError for an unknown name or variant (with the nearest names), and for an option that
/// the network does not declare.
SINDRI_API nn::CellPtr create(const std::string& name, const ModelOptions& options = {});
/// Creates a network from complete settings (RegistryBase::values). Sizes of 0 select the network's default. Throws
/// ValueError for an unknown name and negative sizes.
SINDRI_API nn::CellPtr create(const std::string& name, NetworkSize size, const SettingValues& settings);
/// Names that create knows, sorted: digits lenet mlp resnet18 … resnet152 resnet18_cifar resnet20 resnet32 resnet56
/// seresnet50.
SINDRI_API std::vector<std::string> names();
/// Shape [C, H, W] of the images that the network is designed for. Throws ValueError for an unknown name.
SINDRI_API Shape input_shape(const std::string& name);
/// Number of classes by default. Throws ValueError for an unknown name.
SINDRI_API int64_t default_num_classes(const std::string& name);

}  // namespace sindri::models
