// Vectorised loops of the optimizer updates, n elements in one pass. Outputs may be the memory of the states they replace.
#pragma once

#include <cstdint>

#include "ops/optimizer/update_rules.h"
#include "sindri/core/dtype.h"
#include "src/device/cpu/simd.h"

namespace sindri {

/// MomentumCoefficients and AdamCoefficients (optimizer_common.h) without their types; velocity is the Velocity's number.
struct MomentumScalars {
  int velocity;
  double lr, weight_decay, grad_scale, momentum, gain;
};
struct AdamScalars {
  double lr, l2, decay, grad_scale, beta1, beta2, eps;
  bool nesterov;
};

}  // namespace sindri

SINDRI_SIMD_DECLARE(void momentum_run(DType param_type, DType grad_type, const MomentumScalars& k, int64_t n, const void* p, const void* v, const void* g,
                                      void* new_p, void* new_v);)
SINDRI_SIMD_DECLARE(void adam_run(DType param_type, DType grad_type, const AdamScalars& k, int64_t n, const void* p, const void* m, const void* v,
                                  const void* g, void* new_p, void* new_m, void* new_v);)
/// in: param, states, grad; out: param, states.
SINDRI_SIMD_DECLARE(void rule_run(UpdateRuleId rule, DType param_type, DType grad_type, const double* numbers, int64_t n, const void* const* in,
                                  void* const* out);)
