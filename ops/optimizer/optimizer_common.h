// Shared by the optimizer update ops: attribute structs, and the coefficients into which reference and vectorised kernels
// read their scalars. A kernel's outputs may be the memory of the states they replace (graphs donate it). So each kernel
// reads its scalars first, and then element i of every input before it writes element i of any output.
#pragma once

#include "sindri/op/attrs.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"

namespace sindri::ops {

/// The optional last inputs of every update op, for the docs.
#define SINDRI_UPDATE_CONTROLS_DOC "Optional last inputs: inv_scale, a scalar multiplying grad too; skip, a bool scalar: true returns the old values. "

/// The values of those inputs, for the kernels; `fixed` inputs precede them.
struct UpdateControls {
  double inv_scale = 1;
  bool skip = false;
};
UpdateControls update_controls(Span<const Buffer> in, size_t fixed);
/// Writes the outputs of a skipped update: output k is input k, possibly in the same memory.
void keep_states(Span<const Buffer> in, Span<const Buffer> out);
/// Binds `op` to `inputs`, followed by those of the two controls that are defined.
std::vector<Tensor> bind_update(const OpDef& op, Attrs attrs, std::vector<Tensor> inputs, const Tensor& inv_scale, const Tensor& skip);

struct MomentumAttrs {
  double weight_decay = 0;
  double grad_scale = 1;
  bool nesterov = false;
  SINDRI_ATTRS(MomentumAttrs, weight_decay, grad_scale, nesterov)
};

struct SgdAttrs {
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  double grad_scale = 1;
  bool nesterov = false;
  SINDRI_ATTRS(SgdAttrs, momentum, dampening, weight_decay, grad_scale, nesterov)
};

struct AdamAttrs {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double grad_scale = 1;
  bool nesterov = false;
  SINDRI_ATTRS(AdamAttrs, beta1, beta2, eps, weight_decay, grad_scale, nesterov)
};

struct AdamWeightDecayAttrs {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-6;
  double weight_decay = 0;
  double grad_scale = 1;
  SINDRI_ATTRS(AdamWeightDecayAttrs, beta1, beta2, eps, weight_decay, grad_scale)
};

/// The update of the velocity v, with g = grad·grad_scale + weight_decay·p.
enum class Velocity {
  kUpdate,  ///< v' = momentum·v + gain·g; p' = p - lr·v'
  kNesterov,  ///< v' = momentum·v + gain·g; p' = p - lr·(g + momentum·v')
  kFirst,  ///< v' = g; p' = p - lr·v'
  kFirstNesterov,
  kUnused,  ///< v' = v; p' = p - lr·g
};
struct MomentumCoefficients {
  Velocity velocity;
  double lr, weight_decay, grad_scale, momentum, gain;
};
MomentumCoefficients momentum_coefficients(const Attrs& attrs, Span<const Buffer> in);
MomentumCoefficients sgd_coefficients(const Attrs& attrs, Span<const Buffer> in);
/// The new value of sgd_update's `stat`, whose elements are all equal: 0, or the old one without momentum (`kept`).
void store_stat(bool kept, const Buffer& stat, const Buffer& new_stat);

/// g = grad·grad_scale + l2·p; m' = beta1·m + (1-beta1)·g; v' = beta2·v + (1-beta2)·g²; p' = p - lr·(m' / (sqrt(v') +
/// eps) + decay·p); with nesterov beta1·m' + (1-beta1)·g replaces m' in p'. Covers Adam (lr includes the bias
/// correction; weight decay is l2) and AdamWeightDecay (decay).
struct AdamCoefficients {
  double lr, l2, decay, grad_scale, beta1, beta2, eps;
  bool nesterov;
};
AdamCoefficients adam_coefficients(const Attrs& attrs, Span<const Buffer> in);
AdamCoefficients adam_weight_decay_coefficients(const Attrs& attrs, Span<const Buffer> in);

}  // namespace sindri::ops
