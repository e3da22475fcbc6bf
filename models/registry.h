// What a network's file tells the registry: name, input, default classes, maker.
#pragma once
#include <string>
#include <vector>

#include "sindri/models/models.h"
#include "sindri/nn/initializer.h"

namespace sindri::models {

struct ModelEntry {
  std::string name;
  Shape input;  // one image [C, H, W]
  int64_t num_classes;
  /// Options arrive with num_classes and in_channels filled in.
  nn::CellPtr (*make)(const std::string& name, const ModelOptions& options);
};

/// Called by static initialisers of the networks' files; returns true so that it can initialise a constant.
bool register_models(std::vector<ModelEntry> entries);

/// The initializer an option names: an alias or "torch"; `otherwise` when empty.
nn::Init init_or(const std::string& alias, const nn::Init& otherwise);
/// PyTorch's default for the bias of a dense layer: U(-1/sqrt(fan_in), 1/sqrt(fan_in)).
nn::Init torch_bias(int64_t fan_in);
/// For networks of one form, MindSpore's: throws ValueError, naming the network, for another variant or zero_init_residual.
void refuse_resnet_options(const std::string& name, const ModelOptions& options);

}  // namespace sindri::models
