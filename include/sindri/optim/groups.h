// Parameter groups by name, with separate learning rates and weight decays. Fine-tuning uses them so that pretrained
// parts learn slower than new ones (Howard and Ruder 2018, arXiv:1801.06146).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// Training options of the parameters that a pattern matches (sindri/core/name_pattern.h).
struct GroupRule {
  std::string pattern;  ///< name of a parameter or of a part that contains it; * and ? match any text and any character
  double lr_factor = 1;  ///< factor of the optimizer's learning rate at every step, at least 0
  std::optional<double> weight_decay = {};  ///< replaces the optimizer's; unset: the optimizer's
};

/// Parses "layer1 lr=0.1" or "end_point lr=10 weight_decay=0": a pattern, followed by the values that differ, separated
/// by blanks. Throws ValueError for text of another form, for a factor or decay that is negative or not a number, and
/// if neither is given.
SINDRI_API GroupRule parse_group_rule(const std::string& text);

/// Groups parameters by the first rule whose pattern matches. Parameters that no rule matches keep the optimizer's rate
/// and decay. Parameters are updated in the order of `params`. As without groups, parameters whose names contain "beta"
/// or "gamma" do not decay, unless `decay_all` (FTRL, and SGD with decay_all). Throws ValueError, with the nearest
/// names, for a pattern that matches no parameter, and for negative factors and decays.
SINDRI_API Params grouped_by_name(const std::vector<Parameter*>& params, const std::vector<GroupRule>& rules, const LearningRate& learning_rate,
                                  const WeightDecay& weight_decay, bool decay_all = false);

/// Returns a rate that is `rate` times `factor` at every step.
SINDRI_API LearningRate scaled_rate(const LearningRate& rate, double factor);

}  // namespace sindri::optim
