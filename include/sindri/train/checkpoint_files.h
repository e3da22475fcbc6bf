// The checkpoint files PREFIX-EPOCH_STEP.ckpt of a prefix in a folder: listing, free names, and rotation.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sindri/export.h"

namespace sindri::train {

/// The numbers in a checkpoint's name.
struct EpochStep {
  int64_t epoch = 0, step = 0;
  auto operator<=>(const EpochStep&) const = default;
};
/// Parses the numbers in a checkpoint's file name; nullopt if its prefix is not exactly `prefix`. Files of "net-large" do not belong to "net" and must not be
/// removed with its files.
SINDRI_API std::optional<EpochStep> checkpoint_numbers(const std::string& name, const std::string& prefix);
/// Paths of a prefix's checkpoints, least recently written first. If times are equal, as on coarse clocks, the numbers decide.
/// Throws IoError.
SINDRI_API std::vector<std::string> checkpoint_files(const std::string& folder, const std::string& prefix);
/// A free prefix: `prefix` itself, or PREFIX_N after the highest N (1 if there is none) under which the folder has checkpoints.
/// Throws IoError.
SINDRI_API std::string free_checkpoint_prefix(const std::string& folder, const std::string& prefix);
/// Removes a checkpoint and its .sum file. A file that is already gone is not an error; any other failure is a warning.
SINDRI_API void remove_checkpoint(const std::string& path);

/// Whether a checkpoint is due this many steps and seconds after the last: every_steps > 0 overrides every_seconds; both 0:
/// never.
SINDRI_API bool checkpoint_due(int64_t every_steps, int64_t every_seconds, int64_t steps_since, double seconds_since);

/// Number of files of a prefix to keep: keep_max > 0 overrides keep_per_n_minutes; both 0: all.
struct CheckpointsKept {
  int64_t keep_max = 0, keep_per_n_minutes = 0;
};
/// Indices of the files to remove. `ages`: minutes, oldest first, without the newest file, which always stays. With keep_max the newest keep_max - 1 of them
/// stay. With keep_per_n_minutes, of the files younger than this number of minutes only the oldest stays; all older files stay (MindSpore's rule).
SINDRI_API std::vector<size_t> checkpoints_to_remove(const std::vector<double>& ages, const CheckpointsKept& kept);
/// Removes the prefix's files that are not kept, now that `newest` is on disk. Throws IoError.
SINDRI_API void rotate_checkpoints(const std::string& folder, const std::string& prefix, const std::string& newest, const CheckpointsKept& kept);

}  // namespace sindri::train
