// Fine-tuning: the weights of another training to begin with, and parts of a network that stay as they are. Rates of their own for parts:
// sindri/optim/groups.h.
//
//   auto net = models::create("resnet18_cifar", {.num_classes = 20});
//   train::init_weights(*net, train::load_weights_file("cifar.ckpt"));           // the head, of 10 classes there, stays new
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

/// What must fit between the weights and the network.
enum class InitMatch {
  kAll,  ///< every name and shape
  kHead,  ///< all but the last layer, where the weights have one of another number of classes, or none
  kAny,  ///< one parameter at least; what does not fit keeps its first values
};

/// Which weights of a file init_weights() takes.
struct InitOptions {
  InitMatch match = InitMatch::kHead;
  std::vector<std::string> skip = {};  ///< parts, by pattern (sindri/core/name_pattern.h), that are not taken from the weights, nor missed in them
};

/// What became of the names.
struct SINDRI_API InitReport {
  LoadReport names;  ///< without those below
  std::vector<LoadReport::Mismatch> replaced;  ///< of the last layer: it begins anew. `found` is "nothing" where the weights have none
  std::vector<std::string> skipped;  ///< parameters that InitOptions::skip means
  /// "120 of 122 parameters are taken over; …" and a line for every name that was not, with the nearest name of the other side.
  std::string table() const;
};

/// The parameters of the last layer, which tells the classes apart: those that the last Cell with trainable ones holds itself.
SINDRI_API std::vector<std::string> head_parameters(nn::Cell& network);

/// Assigns weights to the network by name; float widths are cast. Optimizer state and counters in the file are passed over. Throws
/// CheckpointError(kCheckpointMismatch) with the table where too little fits (InitOptions::match), then nothing is assigned; ValueError for a pattern of
/// `skip` that means nothing in either.
SINDRI_API InitReport init_weights(nn::Cell& network, const LoadedCheckpoint& weights, const InitOptions& options = {});

/// Weights of a file, whose name tells its format: ".safetensors", else .ckpt, MindSpore's own among them. Throws as load_checkpoint.
SINDRI_API LoadedCheckpoint load_weights_file(const std::string& path);
/// Reads a .safetensors file (github.com/huggingface/safetensors): the header is read with bounds and checked against the file before anything else is.
/// Element types that tensors do not have are widened, as CheckpointEntry::stored_type says. Such a file has no checksums (LoadedCheckpoint::notice).
/// Throws CheckpointError(kCheckpointCorrupt) for damage, CheckpointError(kCheckpoint) for what Sindri cannot hold, IoError when it cannot be read.
SINDRI_API LoadedCheckpoint load_safetensors(const std::string& path);

/// What batch norm does in training where its gamma and beta are frozen.
enum class FrozenNorm {
  kFixed,  ///< it uses its moving averages, which stay: the part computes what it did in the training it comes from
  kBatch,  ///< it uses the batch's statistics, and the moving averages go on
};

/// Which parameters freeze() stopped, by the patterns that named them.
struct FreezeReport {
  std::vector<std::string> parameters;  ///< those that are frozen now
  int64_t elements = 0;  ///< in them
  std::vector<std::string> fixed_norms;  ///< batch norms with fixed statistics
};

/// Parameters that the patterns (sindri/core/name_pattern.h) mean are no longer trained: no optimizer made after this gets them, and no gradient is
/// computed for them. Call it before Model is made. Throws ValueError for a pattern that means no trainable parameter, with the nearest names, and when
/// none would be left to train.
SINDRI_API FreezeReport freeze(nn::Cell& network, const std::vector<std::string>& patterns, FrozenNorm norm = FrozenNorm::kFixed);

}  // namespace sindri::train
