// Softmax, cross entropy and connectionist temporal classification.
#pragma once
#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::ops {

SINDRI_API Tensor softmax(const Tensor& x, int64_t axis = -1);  ///< e^x / sum(e^x) along `axis`.
SINDRI_API Tensor log_softmax(const Tensor& x, int64_t axis = -1);  ///< log(softmax(x)) along `axis`, computed without overflow.
/// Cross entropy -sum_c q_c log softmax(logits)_c per row: logits [N, C] float, labels [N] int32 or int64 in [0, C) ->
/// [N]. With label_smoothing s, q is 1 - s on the label plus s/C everywhere (PyTorch's CrossEntropyLoss). Rows labelled
/// ignore_index give 0. Throws DataError (label out of range), naming the row and the value.
SINDRI_API Tensor softmax_cross_entropy_sparse(const Tensor& logits, const Tensor& labels, double label_smoothing = 0, int64_t ignore_index = -100);
/// Cross entropy for labels [N, C] of probabilities: logits [N, C] -> [N]. labels_grad: the labels have a gradient too,
/// -log softmax(logits).
SINDRI_API Tensor softmax_cross_entropy_dense(const Tensor& logits, const Tensor& labels, bool labels_grad = false);
/// Connectionist temporal classification (Graves et al. 2006): log_probs [T, N, C] float, targets [N, S] int32 or int64
/// (or concatenated, [sum of target_lengths]), input_lengths and target_lengths [N] -> negative log likelihoods [N] of
/// the targets with any repeats and blanks. If there are too few steps, the result is infinite; zero_infinity replaces
/// it by 0 without a gradient. Labels may be any class; `blank` means no label. Throws DataError for a label outside
/// [0, C), an input length outside [0, T] or a target length outside [0, S].
SINDRI_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank = 0,
                           bool zero_infinity = false);
/// Forward variables of ctc_loss, log alpha [N, T, 2S + 1], for targets [N, S]: for each step and each state of the
/// target with its blanks, the log of the total probability of all paths that are in this state at this step; -inf
/// beyond a sample's steps and states. Has no gradient.
SINDRI_API Tensor ctc_log_alpha(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank = 0);
/// Returns the labels, int32 or int64, unchanged. Throws DataError (label out of range) for a label that is neither in
/// [0, classes) nor ignore_index.
SINDRI_API Tensor check_labels(const Tensor& labels, int64_t classes, int64_t ignore_index = -100);
/// Returns floating x unchanged, and passes its gradient. Throws ValueError for an element outside [0, 1]; NaN passes.
SINDRI_API Tensor check_probabilities(const Tensor& x);

}  // namespace sindri::ops
