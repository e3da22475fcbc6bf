// Scalars of the update rules, from attributes and scalar inputs.
#include "ops/optimizer/optimizer_common.h"

#include <cmath>
#include <cstring>

#include "sindri/op/bind.h"
#include "src/op/element.h"

namespace sindri::ops {

UpdateControls update_controls(Span<const Buffer> in, size_t fixed) {
  UpdateControls c;
  for (size_t i = fixed; i < in.size(); ++i) {
    if (in[i].meta->dtype == DType::kBool) c.skip = *in[i].as<const bool>();
    else c.inv_scale = load_element(in[i], 0);
  }
  return c;
}

void keep_states(Span<const Buffer> in, Span<const Buffer> out) {
  for (size_t k = 0; k < out.size(); ++k) {
    if (out[k].data != in[k].data && in[k].meta->numel() > 0) std::memcpy(out[k].data, in[k].data, static_cast<size_t>(in[k].meta->nbytes()));
  }
}

std::vector<Tensor> bind_update(const OpDef& op, Attrs attrs, std::vector<Tensor> inputs, const Tensor& inv_scale, const Tensor& skip) {
  if (inv_scale.defined()) inputs.push_back(inv_scale);
  if (skip.defined()) inputs.push_back(skip);
  return sindri::bind(op, std::move(attrs), Span<const Tensor>(inputs));
}

// in: param, velocity, grad, lr, momentum.
MomentumCoefficients momentum_coefficients(const Attrs& attrs, Span<const Buffer> in) {
  const auto& a = attrs.as<MomentumAttrs>();
  return {.velocity = a.nesterov ? Velocity::kNesterov : Velocity::kUpdate,
          .lr = load_element(in[3], 0),
          .weight_decay = a.weight_decay,
          .grad_scale = a.grad_scale * update_controls(in, 5).inv_scale,
          .momentum = load_element(in[4], 0),
          .gain = 1};
}

// in: param, accum, stat, grad, lr.
MomentumCoefficients sgd_coefficients(const Attrs& attrs, Span<const Buffer> in) {
  const auto& a = attrs.as<SgdAttrs>();
  const bool first = in[2].meta->numel() > 0 && load_element(in[2], 0) > 0;
  const Velocity with_momentum = first ? (a.nesterov ? Velocity::kFirstNesterov : Velocity::kFirst) : a.nesterov ? Velocity::kNesterov : Velocity::kUpdate;
  return {.velocity = a.momentum == 0 ? Velocity::kUnused : with_momentum,
          .lr = load_element(in[4], 0),
          .weight_decay = a.weight_decay,
          .grad_scale = a.grad_scale * update_controls(in, 5).inv_scale,
          .momentum = a.momentum,
          .gain = 1 - a.dampening};
}

void store_stat(bool kept, const Buffer& stat, const Buffer& new_stat) {
  const auto bytes = static_cast<size_t>(stat.meta->nbytes());
  if (bytes == 0) return;
  if (kept) {
    if (stat.data != new_stat.data) std::memcpy(new_stat.data, stat.data, bytes);
  } else if (stat.data != new_stat.data || load_element(stat, 0) != 0) {
    std::memset(new_stat.data, 0, bytes);
  }
}

// in: param, m, v, grad, lr, beta1_power, beta2_power.
AdamCoefficients adam_coefficients(const Attrs& attrs, Span<const Buffer> in) {
  const auto& a = attrs.as<AdamAttrs>();
  const double corrected = load_element(in[4], 0) * std::sqrt(1 - load_element(in[6], 0)) / (1 - load_element(in[5], 0));
  return {.lr = corrected,
          .l2 = a.weight_decay,
          .decay = 0,
          .grad_scale = a.grad_scale * update_controls(in, 7).inv_scale,
          .beta1 = a.beta1,
          .beta2 = a.beta2,
          .eps = a.eps,
          .nesterov = a.nesterov};
}

// in: param, m, v, grad, lr.
AdamCoefficients adam_weight_decay_coefficients(const Attrs& attrs, Span<const Buffer> in) {
  const auto& a = attrs.as<AdamWeightDecayAttrs>();
  return {.lr = load_element(in[4], 0),
          .l2 = 0,
          .decay = a.weight_decay,
          .grad_scale = a.grad_scale * update_controls(in, 5).inv_scale,
          .beta1 = a.beta1,
          .beta2 = a.beta2,
          .eps = a.eps,
          .nesterov = false};
}

}  // namespace sindri::ops
