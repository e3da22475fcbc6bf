// Mixed precision of a network by itself, and the training step of a network with loss (MindSpore: mindspore.amp).
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

/// The classes of Cells that cells_O1 runs in half, and those that cells_O2 keeps in float32 (amp/policy.h): to start lists of one's own from.
SINDRI_API std::vector<std::string> get_white_list();
SINDRI_API std::vector<std::string> get_black_list();

/// Makes the network run at `level` wherever it is called, and give float32 results. Returns *network. Throws ValueError for an unknown level and
/// for one that marks Cells (NamedPolicy::options).
SINDRI_API nn::CellPtr auto_mixed_precision(nn::CellPtr network, const std::string& amp_level = "O0", DType dtype = DType::kBFloat16);
/// As auto_mixed_precision, with classes of Cells or names of ops instead of a level. White list: these run in half, all others in
/// float32. Black list: these run in float32, all others in half (softmax and losses stay in float32). Throws ValueError unless
/// exactly one list is given, and for names not found in the network.
SINDRI_API nn::CellPtr custom_mixed_precision(nn::CellPtr network, const std::vector<std::string>& white_list, const std::vector<std::string>& black_list,
                                              DType dtype = DType::kBFloat16);

/// What NamedPolicy::brings_loss_scale asks for: a DynamicLossScaleManager, or null; none where the optimizer divides by a scale of its own.
SINDRI_API std::shared_ptr<LossScaleManager> default_manager(const amp::NamedPolicy& policy, DType half, double own_scale = 1);
/// That gradients are divided once by what the loss is multiplied by: by the step where it drops what overflows, else by the optimizer, whose
/// loss_scale is `own`. Throws ValueError otherwise; with `lenient` an optimizer that divides by nothing is warned of only, as MindSpore's own
/// examples have it. `manager` and `optimizer` are names for messages.
SINDRI_API void check_loss_scales(const std::string& manager, double scale, bool drops, const std::string& optimizer, double own, bool lenient = false);

/// A training step for a network and its loss (null: the network's output is the loss), with the cell that joins them: both the
/// optimizer and the result of this function must be kept while the step is used.
struct TrainNetwork {
  nn::CellPtr cell;
  TrainStep step;
};
/// level: "O0" … "O3", which cast ops, or their full names. A null manager means that of the level (default_manager).
SINDRI_API TrainNetwork build_train_network(nn::CellPtr network, optim::Optimizer& optimizer, nn::CellPtr loss_fn = nullptr, const std::string& level = "O0",
                                            DType dtype = DType::kBFloat16, std::optional<bool> keep_batchnorm_fp32 = {},
                                            std::shared_ptr<LossScaleManager> loss_scale_manager = nullptr);

}  // namespace sindri::train
