// Softmax and cross entropy.
#pragma once
#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

SINDRI_API Tensor softmax(const Tensor& x, int64_t axis = -1);  ///< e^x / sum(e^x) along `axis`
SINDRI_API Tensor log_softmax(const Tensor& x, int64_t axis = -1);  ///< log(softmax(x)), computed without overflow
/// -sum_c q_c log softmax(logits)_c per row: logits [N, C] float, labels [N] int32 or int64 in [0, C) -> [N]. q is 1 - s on the
/// label plus s/C everywhere with label_smoothing s (PyTorch's CrossEntropyLoss). Rows labelled ignore_index give 0.
/// Throws DataError (label out of range) naming the row and the value.
SINDRI_API Tensor softmax_cross_entropy_sparse(const Tensor& logits, const Tensor& labels, double label_smoothing = 0, int64_t ignore_index = -100);
/// As above for labels [N, C] of probabilities. labels_grad: labels have a gradient, too, -log softmax(logits).
SINDRI_API Tensor softmax_cross_entropy_dense(const Tensor& logits, const Tensor& labels, bool labels_grad = false);
/// Connectionist temporal classification (Graves et al. 2006): log_probs [T, N, C] float, targets [N, S] int32 or int64 (or one after the other,
/// [sum of target_lengths]), input_lengths and target_lengths [N] -> the negative log likelihoods [N] of the targets with any repeats and blanks.
/// Infinite where the steps are too few; zero_infinity: 0, and without gradient. Labels may be any class; `blank` stands for none.
/// Throws DataError for a label outside [0, C), an input length outside [0, T] or a target length outside [0, S].
SINDRI_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank = 0,
                           bool zero_infinity = false);
/// log alpha [N, T, 2S + 1] of it, targets [N, S]: the log probability of all paths that are at a state of the target with its blanks at a step; -inf
/// behind a sample's steps and states. Without gradient.
SINDRI_API Tensor ctc_log_alpha(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank = 0);
/// The labels as they are, int32 or int64. Throws DataError (label out of range) for one that is neither in [0, classes) nor ignore_index.
SINDRI_API Tensor check_labels(const Tensor& labels, int64_t classes, int64_t ignore_index = -100);
/// Floating x as it is. Throws ValueError for an element outside [0, 1]; NaN passes. The gradient passes, too.
SINDRI_API Tensor check_probabilities(const Tensor& x);

}  // namespace sindri::ops
