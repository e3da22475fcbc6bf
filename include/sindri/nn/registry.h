// Losses and metrics by name, for settings files, programs and Python.
//
//   // next to the loss, in Sindri or in your library
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

/// Makes the rule of a loss from its settings.
using MakeLoss = LossRule(const SettingValues& settings);
/// Makes a metric from its settings.
using MakeMetric = MetricPtr(const SettingValues& settings);

/// Registered losses: "mse", "cross_entropy", "huber", …. src/nn/loss_rules*.cc add those of the library.
SINDRI_API Registry<MakeLoss>& losses();
/// Registered metrics: "accuracy", "F1", "topk", …. src/nn/metric.cc adds those of the library.
SINDRI_API Registry<MakeMetric>& metrics();

/// Makes the Cell of a registered loss, which takes the rule's inputs. reduction is "mean", "sum" or "none"; `optional`
/// holds tensors by the names that the rule gives. Throws ValueError, with the nearest names, for an unknown name, and
/// for unknown settings and values out of range.
SINDRI_API CellPtr make_loss(const std::string& name, const std::map<std::string, SettingValue>& settings = {}, const std::string& reduction = "mean",
                             std::map<std::string, Tensor> optional = {});

/// Computes the loss from the rule's inputs and optional tensors (undefined: omitted). reduction is "mean", "sum" or
/// "none"; "" returns the terms unreduced, or the mean if the rule has its own reduction. Half types are computed in
/// float32 and rounded once; the result has the common floating type. Throws the same errors as the rule.
SINDRI_API Tensor compute_loss(const LossRule& rule, std::vector<Tensor> tensors, const std::string& reduction);

}  // namespace sindri::nn
