// Networks by name: those that come with Sindri, and those that libraries add (registry.h).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sindri/models/registry.h"

namespace sindri::models {

/// Zero or empty: the network's own default. What is behind the sizes are settings that many networks declare; `settings` holds others.
struct ModelOptions {
  int64_t num_classes = 0;  ///< default 1000 for ImageNet networks, 10 for the others
  int64_t in_channels = 0;  ///< image channels
  /// ResNets: "mindspore" (as MindSpore's model zoo: pad_mode same, batch norm eps 1e-4) or "torchvision" (explicit padding k/2, eps
  /// 1e-5). Default: mindspore for ImageNet networks, torchvision for CIFAR ones. The others have MindSpore's form only.
  std::string variant = "";
  /// Initializer aliases for convolutions and dense layers; "torch" stands for PyTorch's layer default, HeUniform(sqrt(5)).
  std::string conv_init = "", dense_init = "";
  bool zero_init_residual = false;  ///< ResNets: the last batch norm of every block starts with gamma 0
  std::map<std::string, SettingValue> settings = {};
};

/// Makes a network. Throws ValueError for an unknown name or variant (with the nearest names), or an option that it does not declare.
SINDRI_API nn::CellPtr create(const std::string& name, const ModelOptions& options = {});
/// The same from settings that are complete (RegistryBase::values). Sizes of 0: the network's own.
SINDRI_API nn::CellPtr create(const std::string& name, NetworkSize size, const SettingValues& settings);
/// Names create knows, sorted: digits lenet mlp resnet18 … resnet152 resnet18_cifar resnet20 resnet32 resnet56 seresnet50.
SINDRI_API std::vector<std::string> names();
/// Shape of one input image [C, H, W] the network is made for. Throws ValueError for an unknown name.
SINDRI_API Shape input_shape(const std::string& name);
/// Classes it has unless told otherwise. Throws ValueError for an unknown name.
SINDRI_API int64_t default_num_classes(const std::string& name);

}  // namespace sindri::models
