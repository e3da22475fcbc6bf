// The policies of mixed precision by name: the one table behind train.amp_level of settings files, Model(amp_level=…) and the functions of
// amp, in C++ and in Python. docs/guide/mixed_precision.md explains them.
#pragma once
#include <string>
#include <vector>

#include "sindri/amp/amp.h"
#include "sindri/export.h"

namespace sindri::amp {

/// How a policy reaches a network.
enum class Casts : uint8_t {
  kNone,
  kOps,  ///< ops are cast where they are bound, by their class (Level): "ops_O2". What C++ and settings files mean by "O2"
  kCells,  ///< Cells run in a type with all that is in them, by their class, as MindSpore's levels do: "cells_O2". What Python means by "O2"
};

/// A precision policy with the name that settings files and Python know it by.
struct SINDRI_API NamedPolicy {
  std::string name, doc;
  Casts casts = Casts::kNone;
  Level level = Level::kO0;
  /// kCells: classes of Cells that run in half, and whose outputs are float32 again, beside all others in float32; empty: all run in half.
  std::vector<std::string> half_cells = {};
  /// kCells: classes of Cells whose arithmetic stays in float32 between half activations.
  std::vector<std::string> float_cells = {};
  bool keeps_batchnorm = true;  ///< batch norm's parameters stay float32, unless keep_batchnorm_fp32 says otherwise
  bool scales_loss = false;  ///< float16 comes with a dynamic loss scale

  bool casts_batchnorm() const { return level >= Level::kO2; }  ///< whether there is anything that keep_batchnorm_fp32 decides
  bool casts_all() const { return casts == Casts::kOps || casts_batchnorm(); }  ///< not the listed Cells alone: a loss must be given float32
  /// Whether a DynamicLossScaleManager of default settings goes with it: bfloat16 has the range of float32, so its gradients do not vanish.
  bool brings_loss_scale(DType half) const { return scales_loss && half != DType::kBFloat16; }
  /// For AmpScope and Cells.
  Options options(DType half, std::optional<bool> keep_batchnorm_fp32 = {}) const;
};

/// All of them: O0, ops_O1 … ops_O3, cells_O1 … cells_O3.
SINDRI_API const std::vector<NamedPolicy>& policies();
/// The policy of a name. A full name means the same everywhere; "O1" … "O3" are those of `short_names`; "auto" is MindSpore 1's on its
/// accelerators, cells_O2 for device_target "GPU" and cells_O3 for "Ascend", and MindSpore 2's on a CPU, ops_O1. Throws ValueError with the names.
SINDRI_API const NamedPolicy& find_policy(const std::string& name, Casts short_names, const std::string& device_target = "CPU");
/// The names find_policy knows with these short names, separated by '|'.
SINDRI_API std::string policy_names(Casts short_names);
/// The half type where the user names none: CPUs have instructions for bfloat16 rather than float16, and it needs no loss scale.
SINDRI_API DType default_half(const std::string& device_target);

}  // namespace sindri::amp
