// The multi-label margin loss: a margin between each class of a sample and each class that the sample does not have.
#include "src/nn/loss_rules.h"

namespace sindri::nn {

namespace {

// x [N, C]; target [N, C]: class indices up to the first negative one; [C] is one sample. Let y range over these
// classes and i over all other classes: the loss is sum over y and i of max(0, 1 - (x[y] - x[i])), divided by C. Uses
// tensors [N, C, C].
Tensor multilabel_margin(Tensors t) {
  check_same_shape("MultilabelMarginLoss", t[0], t[1]);
  if (t[0].rank() != 1 && t[0].rank() != 2) throw ShapeError(fmt::format("MultilabelMarginLoss: x must be [N, C] or [C], got {}", t[0].meta().str()));
  const bool one = t[0].rank() == 1;
  const Tensor x = one ? ops::expand_dims(t[0], 0) : t[0], target = one ? ops::expand_dims(t[1], 0) : t[1];
  const int64_t C = x.dim(1);
  const Tensor ended = ops::cumsum(ops::cast(ops::less(target, ops::scalar_like(target, 0)), DType::kFloat32), 1);
  const Tensor named = ops::equal(ended, ops::scalar_like(ended, 0));
  const Tensor safe = ops::ravel_indices({ops::where(named, target, ops::zeros_like(target))}, {C}, false, {1});
  const Tensor counts = ops::cast(named, x.dtype());
  const Tensor hot = ops::mul(ops::one_hot(safe, C, 1, 0, x.dtype()), ops::expand_dims(counts, 2));  // [N, which, C]
  const Tensor other = ops::cast(ops::equal(ops::max(hot, {1}), ops::scalar_like(x, 0)), x.dtype());  // [N, C]
  const Tensor own = ops::gather_elements(x, safe, 1);
  const Tensor margins = ops::relu(1.0 - ops::sub(ops::expand_dims(own, 2), ops::expand_dims(x, 1)));
  const Tensor mask = ops::mul(ops::expand_dims(counts, 2), ops::expand_dims(other, 1));
  const Tensor loss = ops::div(ops::sum(ops::mul(margins, mask), {1, 2}), static_cast<double>(C));
  return one ? ops::squeeze(loss, 0) : loss;
}

const auto& kMultilabelMargin = losses().add({.name = "multilabel_margin",
                                              .doc = "mean of max(0, 1 - (x[y] - x[i])) over classes y of the sample and others i",
                                              .code_only = true,
                                              .make = [](const SettingValues&) -> LossRule {
                                                return {.labels = LossLabels::kOther, .inputs = {"x", "target"}, .terms = multilabel_margin};
                                              }});

}  // namespace

}  // namespace sindri::nn
