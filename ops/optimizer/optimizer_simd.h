// Vectorised loops of the optimizer updates, n elements in one pass. Outputs may be the memory of the states they replace.
#pragma once

#include <cstdint>

#include "ops/optimizer/update_rules.h"
#include "sindri/core/dtype.h"
#include "src/device/cpu/simd.h"

/// in: param, states, grad; out: param, states.
SINDRI_SIMD_DECLARE(void rule_run(UpdateRuleId rule, DType param_type, DType grad_type, const double* numbers, int64_t n, const void* const* in,
                                  void* const* out);)
