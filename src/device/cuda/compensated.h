// Sums of many elements by one thread.
#pragma once

#include "src/device/cuda/language.h"

namespace sindri::cuda {

/// Adds what rounding left out as well (Kahan 1965). Infinities and NaN come out as a plain sum has them.
template <class S> struct Compensated {
  S sum = 0, lost = 0;
  SINDRI_DEVICE void add(S v) {
    const S corrected = v - lost, next = sum + corrected;
    lost = (next - sum) - corrected;
    if (!isfinite(lost)) lost = 0;  // the difference of infinities is NaN
    sum = next;
  }
};

}  // namespace sindri::cuda
