// Fine-tuning: initialising from the weights of another run, and freezing parts of a network. sindri/optim/groups.h sets separate
// learning rates for parts.
//
//   auto net = models::create("resnet18_cifar", {.num_classes = 20});
//   train::init_weights(*net, train::load_weights_file("cifar.ckpt"));           // the head, of 10 classes there, keeps its initial values
//   train::freeze(*net, {"conv1", "bn1d", "layer1"});
//   auto params = optim::grouped_by_name(net->trainable_params(), {{.pattern = "end_point", .lr_factor = 10}}, 0.01, 1e-4);
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/nn/cell.h"
#include "sindri/train/checkpoint.h"

namespace sindri::train {

/// Required agreement between the weights and the network.
enum class InitMatch {
  kAll,  ///< every name and shape
  kHead,  ///< the same, but the last layer may be missing in the weights or have another number of classes
  kAny,  ///< at least one parameter; the others keep their initial values
};

/// Options of init_weights().
struct InitOptions {
  InitMatch match = InitMatch::kHead;  ///< required agreement
  /// Patterns (sindri/core/name_pattern.h) of parts that are neither loaded from the weights nor reported as missing in them.
  std::vector<std::string> skip = {};
};

/// Result of init_weights(), by name.
struct SINDRI_API InitReport {
  LoadReport names;  ///< without the names below
  std::vector<LoadReport::Mismatch> replaced;  ///< of the last layer, which keeps its initial values. `found` is "nothing" if the weights lack that layer
  std::vector<std::string> skipped;  ///< parameters that match InitOptions::skip
  /// "120 of 122 parameters are loaded; …" and a line for every other name, with the nearest name on the other side (weights or
  /// network).
  std::string table() const;
};

/// The parameters of the last layer, which distinguishes the classes: those directly in the last Cell with trainable parameters.
SINDRI_API std::vector<std::string> head_parameters(nn::Cell& network);

/// Assigns weights to the network by name; float widths are cast. Optimizer state and counters in the file are ignored. Throws
/// CheckpointError(kCheckpointMismatch) with the table if too little matches (InitOptions::match); nothing is then assigned.
/// Throws ValueError for a pattern of `skip` that matches nothing in the network and nothing in the weights.
SINDRI_API InitReport init_weights(nn::Cell& network, const LoadedCheckpoint& weights, const InitOptions& options = {});

/// Loads weights from a file: .safetensors by that extension, else .ckpt, including MindSpore's. Throws the same errors as
/// load_checkpoint.
SINDRI_API LoadedCheckpoint load_weights_file(const std::string& path);
/// Reads a .safetensors file (github.com/huggingface/safetensors). The header is bounded and checked against the file before
/// anything else is read. Element types that tensors lack are widened (CheckpointEntry::stored_type). The format has no checksums
/// (LoadedCheckpoint::notice). Throws CheckpointError(kCheckpointCorrupt) for damage, CheckpointError(kCheckpoint) for content
/// that Sindri cannot represent, IoError if the file cannot be read.
SINDRI_API LoadedCheckpoint load_safetensors(const std::string& path);

/// Behaviour in training of a batch norm whose gamma and beta are frozen.
enum class FrozenNorm {
  kFixed,  ///< uses its moving statistics, which do not change: the part computes the same function as in the run it comes from
  kBatch,  ///< uses the batch's statistics and continues to update the moving statistics
};

/// Parameters that freeze() froze.
struct FreezeReport {
  std::vector<std::string> parameters;  ///< names of all frozen parameters
  int64_t elements = 0;  ///< number of their elements
  std::vector<std::string> fixed_norms;  ///< batch norms with fixed statistics
};

/// Freezes the parameters that the patterns (sindri/core/name_pattern.h) match: optimizers made afterwards do not receive them,
/// and no gradients are computed for them. Call it before making a Model. Throws ValueError, with the nearest names, for a
/// pattern that matches no trainable parameter, and if no parameter would remain trainable.
SINDRI_API FreezeReport freeze(nn::Cell& network, const std::vector<std::string>& patterns, FrozenNorm norm = FrozenNorm::kFixed);

}  // namespace sindri::train
