// The losses and metrics by name, for settings files, programs and Python.
//
//   // beside the loss, here or in a user's library
//   const auto& kLogCosh = nn::losses().add({
//       .name = "log_cosh",
//       .doc = "log(cosh(logits - labels))",
//       .make = [](const SettingValues&) -> nn::LossRule { return {.terms = [](Span<const Tensor> t) { return …; }}; },
//   });
#pragma once
#include <map>
#include <string>

#include "sindri/core/registry.h"
#include "sindri/nn/loss.h"
#include "sindri/nn/metric.h"

namespace sindri::nn {

using MakeLoss = LossRule(const SettingValues& settings);
using MakeMetric = MetricPtr(const SettingValues& settings);

/// "mse", "cross_entropy", "huber", …; src/nn/loss_rules*.cc add those of the library.
SINDRI_API Registry<MakeLoss>& losses();
/// "accuracy", "F1", "topk", …; src/nn/metric.cc adds those of the library.
SINDRI_API Registry<MakeMetric>& metrics();

/// The Cell of a registered loss: takes its inputs; reduction "mean", "sum" or "none". `optional` as the rule names them. Throws ValueError for an
/// unknown name with the nearest ones, for unknown settings and values out of range.
SINDRI_API CellPtr make_loss(const std::string& name, const std::map<std::string, SettingValue>& settings = {}, const std::string& reduction = "mean",
                             std::map<std::string, Tensor> optional = {});

/// The loss of a rule's inputs and optional tensors (undefined: left out). reduction "mean", "sum" or "none"; "": terms still to be reduced, or the mean
/// where the rule reduces in its own way. Half types are computed in float32 and rounded once; the result has the common floating type. Throws as the rule.
SINDRI_API Tensor compute_loss(const LossRule& rule, std::vector<Tensor> tensors, const std::string& reduction);

}  // namespace sindri::nn
