// Sums of many elements by one thread.
#pragma once

#include "src/device/cuda/language.h"

namespace sindri::cuda {

/// Compensated summation (Kahan 1965). Infinities and NaN propagate as in a plain sum.
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
