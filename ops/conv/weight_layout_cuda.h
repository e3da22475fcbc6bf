// Converts convolution weights between Sindri's order [O, C, KH, KW] and that of channels-last libraries, [O, KH, KW, C].
#pragma once

#include "src/device/cuda/kernel_spec.h"

namespace sindri::cuda {

/// to[o, t, c] = from[o, c, t] for a weight [outputs, channels, taps]. `from` and `to` must not overlap.
void weight_to_rows(const Call& call, const void* from, void* to, int64_t outputs, int64_t channels, int64_t taps, DType dtype);
/// to[o, c, t] = from[o, t, c].
void rows_to_weight(const Call& call, const void* from, void* to, int64_t outputs, int64_t channels, int64_t taps, DType dtype);

}  // namespace sindri::cuda
