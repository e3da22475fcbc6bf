// Mixed precision of a network, and the training step of a network with its loss (MindSpore: mindspore.amp).
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sindri/amp/policy.h"
#include "sindri/export.h"
#include "sindri/nn/cell.h"
#include "sindri/train/train_step.h"

namespace sindri::train {

/// The classes of Cells that cells_O1 runs in half precision, and those that cells_O2 keeps in float32 (amp/policy.h), as
/// starting points for custom lists.
SINDRI_API std::vector<std::string> get_white_list();
SINDRI_API std::vector<std::string> get_black_list();

/// Makes the network run at `level` wherever it is called and return float32 results (MindSpore: amp.auto_mixed_precision).
/// Returns *network. Throws ValueError for an unknown level and for one that marks Cells (NamedPolicy::options).
SINDRI_API nn::CellPtr auto_mixed_precision(nn::CellPtr network, const std::string& amp_level = "O0", DType dtype = DType::kBFloat16);
/// As auto_mixed_precision, with lists of Cell classes or op names instead of a level (MindSpore: amp.custom_mixed_precision).
/// White list: these run in half precision, all others in float32. Black list: these run in float32, all others in half precision
/// (softmax and losses stay in float32). Throws ValueError unless exactly one list is given, and for names not found in the
/// network.
SINDRI_API nn::CellPtr custom_mixed_precision(nn::CellPtr network, const std::vector<std::string>& white_list, const std::vector<std::string>& black_list,
                                              DType dtype = DType::kBFloat16);

/// The manager that NamedPolicy::provides_loss_scale asks for: a DynamicLossScaleManager, or null. Also null if the optimizer
/// divides by its own loss scale, `own_scale`.
SINDRI_API std::shared_ptr<LossScaleManager> default_manager(const amp::NamedPolicy& policy, DType half, double own_scale = 1);
/// Checks that gradients are divided by the loss scale exactly once: by the step if it skips overflows, else by the optimizer,
/// whose loss_scale is `own`. Throws ValueError otherwise. With `lenient`, an optimizer that does not divide only causes a
/// warning, since MindSpore's own examples do so. `manager` and `optimizer` are names for messages.
SINDRI_API void check_loss_scales(const std::string& manager, double scale, bool drops, const std::string& optimizer, double own, bool lenient = false);

/// A training step for a network and its loss, with the Cell that joins them. Both the optimizer and this object must be kept
/// while the step is used.
struct TrainNetwork {
  nn::CellPtr cell;
  TrainStep step;
};
/// Makes a training step (MindSpore: amp.build_train_network). loss_fn: null if the network's output is the loss. level: a full
/// policy name, or "O0" … "O3", which here cast ops. loss_scale_manager: null for the level's (default_manager).
SINDRI_API TrainNetwork build_train_network(nn::CellPtr network, optim::Optimizer& optimizer, nn::CellPtr loss_fn = nullptr, const std::string& level = "O0",
                                            DType dtype = DType::kBFloat16, std::optional<bool> keep_batchnorm_fp32 = {},
                                            std::shared_ptr<LossScaleManager> loss_scale_manager = nullptr);

}  // namespace sindri::train
