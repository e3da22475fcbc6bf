// Mixed precision of a network by itself, and the training step of a network with loss (MindSpore: mindspore.amp).
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sindri/amp/amp.h"
#include "sindri/export.h"
#include "sindri/nn/cell.h"
#include "sindri/train/train_step.h"

namespace sindri::train {

/// The classes of Cells that amp level O1 is about, and those that O2 keeps in float32: to start lists of one's own from.
SINDRI_API std::vector<std::string> get_white_list();
SINDRI_API std::vector<std::string> get_black_list();

/// Makes the network run at `level` wherever it is called, and give float32 results. Returns *network. Throws ValueError for an unknown level.
SINDRI_API nn::CellPtr auto_mixed_precision(nn::CellPtr network, const std::string& amp_level = "O0", DType dtype = DType::kBFloat16);
/// As auto_mixed_precision, with classes of Cells or names of ops instead of a level. White list: these run in half, all others in
/// float32. Black list: these run in float32, all others in half (softmax and losses stay in float32). Throws ValueError unless
/// exactly one list is given, and for names not found in the network.
SINDRI_API nn::CellPtr custom_mixed_precision(nn::CellPtr network, const std::vector<std::string>& white_list, const std::vector<std::string>& black_list,
                                              DType dtype = DType::kBFloat16);

/// A training step for a network and its loss (null: the network's output is the loss), with the cell that joins them: both the
/// optimizer and the result of this function must be kept while the step is used.
struct TrainNetwork {
  nn::CellPtr cell;
  TrainStep step;
};
/// level: "O0" … "O3". A null manager means none, at level O2 with float16 a DynamicLossScaleManager.
SINDRI_API TrainNetwork build_train_network(nn::CellPtr network, optim::Optimizer& optimizer, nn::CellPtr loss_fn = nullptr, const std::string& level = "O0",
                                            DType dtype = DType::kBFloat16, std::optional<bool> keep_batchnorm_fp32 = {},
                                            std::shared_ptr<LossScaleManager> loss_scale_manager = nullptr);

}  // namespace sindri::train
