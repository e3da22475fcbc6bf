// The checkpoint files PREFIX-EPOCH_STEP.ckpt of one prefix in one folder: which there are, which names are free, and which are kept.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri::train {

/// The numbers in the name of a checkpoint.
struct EpochStep {
  int64_t epoch = 0, step = 0;
  auto operator<=>(const EpochStep&) const = default;
};
/// Those of a file name of exactly this prefix: files of "net-large" are not of "net", and must not be rotated away with them.
SINDRI_API std::optional<EpochStep> checkpoint_numbers(const std::string& name, const std::string& prefix);
/// Paths of a prefix's checkpoints, the least recently written first; equal times happen on coarse clocks, then the numbers decide.
/// Throws IoError.
SINDRI_API std::vector<std::string> checkpoint_files(const std::string& folder, const std::string& prefix);
/// The prefix, or PREFIX_N behind the highest N (1 without one) under which the folder has checkpoints. Throws IoError.
SINDRI_API std::string free_checkpoint_prefix(const std::string& folder, const std::string& prefix);
/// Removes a checkpoint, and the .sum file beside it; one that somebody else has removed is no error, another failure is a warning.
SINDRI_API void remove_checkpoint(const std::string& path);

/// Whether a checkpoint is due so long after the last: every_steps > 0 overrides every_seconds; both 0: never.
SINDRI_API bool checkpoint_due(int64_t every_steps, int64_t every_seconds, int64_t steps_since, double seconds_since);

/// Which of a prefix's files are kept: keep_max > 0 overrides keep_per_n_minutes; both 0: all.
struct CheckpointsKept {
  int64_t keep_max = 0, keep_per_n_minutes = 0;
};
/// Places of the files to remove, of those with these ages in minutes, oldest first and without the newest, which always stays. keep_max - 1 of
/// them stay, or, of those younger than keep_per_n_minutes, the oldest (MindSpore's rule).
SINDRI_API std::vector<size_t> checkpoints_to_remove(const std::vector<double>& ages, const CheckpointsKept& kept);
/// Removes what is not kept of the prefix's files now that `newest` is on disk. Throws IoError.
SINDRI_API void rotate_checkpoints(const std::string& folder, const std::string& prefix, const std::string& newest, const CheckpointsKept& kept);

}  // namespace sindri::train
