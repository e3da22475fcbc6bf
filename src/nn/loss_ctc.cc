// Connectionist temporal classification: losses of sequences, reduced as PyTorch and MindSpore do.
#include "src/nn/loss_rules.h"

namespace sindri::nn {

namespace {

// log_probs [T, N, C], targets [N, S] or concatenated, lengths [N]; or one sample without N: [T, C], [S], and lengths
// of one element. For "mean", each sample's loss is divided by its number of labels before averaging; a target without
// labels counts as having one.
Tensor ctc(Tensors t, int64_t blank, bool zero_infinity, const std::string& reduction) {
  const bool one = t[0].rank() == 2;
  const Tensor log_probs = one ? ops::expand_dims(t[0], 1) : t[0], targets = one && t[1].rank() == 1 ? ops::expand_dims(t[1], 0) : t[1];
  const Tensor steps = one ? ops::reshape(t[2], {1}) : t[2], lengths = one ? ops::reshape(t[3], {1}) : t[3];
  Tensor loss = ops::ctc_loss(log_probs, targets, steps, lengths, blank, zero_infinity);
  if (reduction == "mean") loss = ops::div(loss, ops::cast(maximum(lengths, 1), loss.dtype()));
  return reduction == "none" && one ? ops::reshape(loss, {}) : reduce_loss(loss, reduction);
}

const auto& kCtc = losses().add(
    {.name = "ctc",
     .doc = "negative log likelihood of a sequence of labels with any repeats and blanks (Graves et al. 2006)",
     .settings = {int_setting("blank", "0", "the class that stands for no label"), bool_setting("zero_infinity", "false", "0 where the steps are too few")},
     .code_only = true,
     .make = [](const SettingValues& v) -> LossRule {
       return {.labels = LossLabels::kOther,
               .inputs = {"log_probs", "targets", "input_lengths", "target_lengths"},
               .reduced = [blank = v.get_int("blank"), zero = v.get_bool("zero_infinity")](Tensors t, const std::string& reduction) {
                 return ctc(t, blank, zero, reduction);
               }};
     }});

}  // namespace

}  // namespace sindri::nn
