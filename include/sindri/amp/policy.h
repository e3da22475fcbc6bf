// Policies of mixed precision by name. This table serves train.amp_level in settings files, Model(amp_level=…) and the
// functions of amp, in C++ and in Python. docs/guide/mixed_precision.md explains them.
#pragma once
#include <string>
#include <vector>

#include "sindri/amp/amp.h"
#include "sindri/export.h"

namespace sindri::amp {

/// How a policy applies to a network.
enum class Casts : uint8_t {
  kNone,  ///< not at all
  kOps,  ///< casts ops when they are bound, by their class (Level): "ops_O2". C++ and settings files mean this by "O2"
  /// Runs Cells and everything in them in one type, by their class, as MindSpore's levels do: "cells_O2". Python means
  /// this by "O2".
  kCells,
};

/// A precision policy under the name that settings files and Python use.
struct SINDRI_API NamedPolicy {
  std::string name, doc;  ///< as find_policy knows it; one line of documentation
  Casts casts = Casts::kNone;
  Level level = Level::kO0;  ///< level that the policy applies
  /// kCells: classes of Cells that run in half and whose outputs are float32 again; all others run in float32. Empty:
  /// all run in half.
  std::vector<std::string> half_cells = {};
  /// kCells: classes of Cells that compute in float32 between half activations.
  std::vector<std::string> float_cells = {};
  bool keeps_batchnorm = true;  ///< batch norm's parameters stay float32, unless keep_batchnorm_fp32 is false
  bool scales_loss = false;  ///< float16 uses a dynamic loss scale

  bool casts_batchnorm() const { return level >= Level::kO2; }  ///< whether keep_batchnorm_fp32 has an effect
  /// Whether Cells other than the listed ones are cast, so that the inputs of a loss must be cast to float32.
  bool casts_all() const { return casts == Casts::kOps || casts_batchnorm(); }
  /// Whether the policy uses a DynamicLossScaleManager with default settings. bfloat16 has the range of float32, so its
  /// gradients do not underflow.
  bool provides_loss_scale(DType half) const { return scales_loss && half != DType::kBFloat16; }
  /// Options for AmpScope and Cells.
  Options options(DType half, std::optional<bool> keep_batchnorm_fp32 = {}) const;
};

/// All policies: O0, ops_O1 … ops_O3, cells_O1 … cells_O3.
SINDRI_API const std::vector<NamedPolicy>& policies();
/// Returns the policy of a name. `short_names` selects whether "O1" … "O3" mean ops_O1 … or cells_O1 …; full names do
/// not depend on it. "auto" is the policy of MindSpore 1 on its accelerators (cells_O2 for device_target "GPU",
/// cells_O3 for "Ascend") and of MindSpore 2 on a CPU (ops_O1). Throws ValueError, listing the names, for any other.
SINDRI_API const NamedPolicy& find_policy(const std::string& name, Casts short_names, const std::string& device_target = "CPU");
/// Names that find_policy knows with these short names, separated by '|'.
SINDRI_API std::string policy_names(Casts short_names);
/// Default half type. On a CPU it is bfloat16: CPUs have instructions for bfloat16 rather than for float16, and it
/// needs no loss scale. On other targets it is float16.
SINDRI_API DType default_half(const std::string& device_target);

}  // namespace sindri::amp
