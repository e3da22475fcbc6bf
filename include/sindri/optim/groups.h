// Groups of parameters by their names, with rates and decays of their own: what fine-tuning asks for, where the parts that were trained before learn
// slower than those that are new (Howard and Ruder 2018, arXiv:1801.06146).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sindri/export.h"
#include "sindri/optim/optimizer.h"

namespace sindri::optim {

/// What the parameters that a pattern means (sindri/core/name_pattern.h) are trained with.
struct GroupRule {
  std::string pattern;
  double lr_factor = 1;  ///< times the optimizer's learning rate, at every step; at least 0
  std::optional<double> weight_decay = {};  ///< in place of the optimizer's
};

/// "layer1 lr=0.1", "end_point lr=10 weight_decay=0": a pattern, and behind blanks what differs. Throws ValueError for text of another form, a factor
/// or decay that is no number or negative, and where neither is given.
SINDRI_API GroupRule parse_group_rule(const std::string& text);

/// Parameters in groups; the first rule whose pattern means a parameter holds for it, and what none means keeps the optimizer's rate and decay. The order
/// of updates stays that of `params`. As without groups, nothing decays whose name contains "beta" or "gamma", unless `decay_all` (FTRL, and SGD
/// with decay_all). Throws ValueError for
/// a pattern that means no parameter, with the nearest names.
SINDRI_API Params grouped_by_name(const std::vector<Parameter*>& params, const std::vector<GroupRule>& rules, const LearningRate& learning_rate,
                                  const WeightDecay& weight_decay, bool decay_all = false);

/// `rate` times `factor`, at every step.
SINDRI_API LearningRate scaled_rate(const LearningRate& rate, double factor);

}  // namespace sindri::optim
