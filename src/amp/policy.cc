// The table of policies.
#include "sindri/amp/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "sindri/core/error.h"

namespace sindri::amp {

namespace {

std::vector<NamedPolicy> table() {
  const std::vector<std::string> products = {"Conv1d", "Conv2d", "Conv1dTranspose", "Conv2dTranspose", "Dense", "LSTMCell", "RNNCell", "GRUCell"};
  const std::vector<std::string> norms = {"BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm"};
  return {
      {.name = "O0", .doc = "nothing is cast"},
      {.name = "ops_O1",
       .doc = "convolutions and matrix products in half; softmax, norms and losses in float32; other ops at the widest of their inputs",
       .casts = Casts::kOps,
       .level = Level::kO1},
      {.name = "ops_O2",
       .doc = "all ops in half but softmax, layer norm and losses; batch norm's parameters and statistics in float32",
       .casts = Casts::kOps,
       .level = Level::kO2,
       .scales_loss = true},
      {.name = "ops_O3", .doc = "as ops_O2, and batch norm's parameters in half", .casts = Casts::kOps, .level = Level::kO3, .keeps_batchnorm = false},
      {.name = "cells_O1", .doc = "Cells of products run in half", .casts = Casts::kCells, .level = Level::kO1, .half_cells = products},
      {.name = "cells_O2", .doc = "all Cells run in half but norms", .casts = Casts::kCells, .level = Level::kO2, .float_cells = norms, .scales_loss = true},
      {.name = "cells_O3", .doc = "all Cells run in half", .casts = Casts::kCells, .level = Level::kO3, .keeps_batchnorm = false},
  };
}

constexpr const char* kShort[] = {"O1", "O2", "O3"};

std::string full_name(const std::string& name, Casts short_names, const std::string& device_target) {
  if (name == "auto") return device_target == "GPU" ? "cells_O2" : device_target == "Ascend" ? "cells_O3" : "ops_O1";
  const bool is_short = std::find(std::begin(kShort), std::end(kShort), name) != std::end(kShort);
  return is_short ? (short_names == Casts::kOps ? "ops_" : "cells_") + name : name;
}

}  // namespace

const std::vector<NamedPolicy>& policies() {
  static const std::vector<NamedPolicy>& all = *new std::vector<NamedPolicy>(table());
  return all;
}

const NamedPolicy& find_policy(const std::string& name, Casts short_names, const std::string& device_target) {
  const std::string full = full_name(name, short_names, device_target);
  for (const NamedPolicy& p : policies())
    if (p.name == full) return p;
  std::string known = policy_names(short_names);
  for (size_t at = 0; (at = known.find('|', at)) != std::string::npos;) known.replace(at, 1, ", ");
  throw ValueError(fmt::format("amp_level '{}' is not known", name), "", "use one of " + known);
}

std::string policy_names(Casts short_names) {
  std::string out = "O0|O1|O2|O3";
  if (short_names == Casts::kCells) out += "|auto";
  for (const NamedPolicy& p : policies())
    if (p.casts != Casts::kNone) out += "|" + p.name;
  return out;
}

DType default_half(const std::string& device_target) { return device_target == "CPU" ? DType::kBFloat16 : DType::kFloat16; }

Options NamedPolicy::options(DType half, std::optional<bool> keep_batchnorm_fp32) const {
  Options o{.level = level, .dtype = half, .keep_batchnorm_fp32 = keep_batchnorm_fp32};
  if (casts != Casts::kCells) return o;
  o.by_cells = true;
  o.white_list = half_cells;
  if (casts_batchnorm() && keep_batchnorm_fp32.value_or(keeps_batchnorm)) o.black_list = find_policy("cells_O2", Casts::kCells).float_cells;
  return o;
}

}  // namespace sindri::amp
