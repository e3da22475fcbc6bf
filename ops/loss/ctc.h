// Shared by the ops of connectionist temporal classification (Graves et al. 2006): attributes, and the batch as kernels read it.
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
  int64_t steps = 0;  ///< number of valid steps, from the first of the T
  std::vector<int64_t> classes;  ///< class of each state
  /// Whether a path may reach state s from s - 2, skipping the blank between two different labels.
  bool skips(size_t s) const { return s >= 2 && classes[s] != classes[s - 2]; }
};

/// The possible errors of a batch: an invalid number of steps, an invalid number of labels, or an invalid label.
enum class CtcFault : int { kSteps, kLength, kLabel };
/// Throws the DataError for `number` of a sample. `bound`: T, the largest number of labels, or the number of classes.
[[noreturn]] SINDRI_API void throw_ctc_fault(const char* op, CtcFault fault, int64_t number, int64_t bound, int64_t sample, int64_t samples);

/// The samples of targets [N, S], or of concatenated targets, with their lengths; `in` starts with log_probs. Throws DataError for a length or a
/// label out of range, naming the sample.
std::vector<CtcSample> ctc_samples(const KernelQuery& q, Span<const Buffer> in);

}  // namespace sindri::ops
