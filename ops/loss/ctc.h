// What the ops of connectionist temporal classification share (Graves et al. 2006): attributes, and a batch as kernels read it.
#pragma once

#include <vector>

#include "sindri/export.h"
#include "sindri/op/attrs.h"
#include "sindri/op/kernel.h"
#include "sindri/op/op_def.h"

namespace sindri::ops {

struct CtcAttrs {
  int64_t blank = 0;
  bool zero_infinity = false;
  SINDRI_ATTRS(CtcAttrs, blank, zero_infinity)
};

/// The labels of one sample with blanks around each, l' in the paper: classes.size() is 2L + 1. The batch's log_probs are [T, N, C].
struct CtcSample {
  int64_t steps = 0;  ///< the first of the T that count
  std::vector<int64_t> classes;  ///< of each state
  /// Whether a path may come to state s from s - 2, past the blank between two labels that differ.
  bool skips(size_t s) const { return s >= 2 && classes[s] != classes[s - 2]; }
};

/// What may be wrong in a batch: a number of steps, of labels, or a label.
enum class CtcFault : int { kSteps, kLength, kLabel };
/// Throws the DataError for `number` of a sample. `bound`: T, the most labels, or classes.
[[noreturn]] SINDRI_API void throw_ctc_fault(const char* op, CtcFault fault, int64_t number, int64_t bound, int64_t sample, int64_t samples);

/// The samples of targets [N, S], or one after the other, and of their lengths: `in` begins with log_probs. Throws DataError for a length or a label
/// out of range, naming the sample.
std::vector<CtcSample> ctc_samples(const KernelQuery& q, Span<const Buffer> in);

}  // namespace sindri::ops
