"""Loss functions of sindri.ops. `reduction` is 'mean', 'sum' or 'none'; another name raises ValueError."""
from __future__ import annotations

import math
from typing import Optional, Union

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, core, exported, in_common_type, is_float, perm_moving, reduced, wide
from sindri.ops.function.nn_func import cosine_similarity


def _same_shape(input: Tensor, target: Tensor, where: str) -> None:
    """TypeError unless both are tensors, ValueError unless they have one shape: one that broadcasts is more often forgotten than meant."""
    if not isinstance(input, Tensor) or not isinstance(target, Tensor):
        fail(TypeError, f"expected two tensors, got {type(input).__name__} and {type(target).__name__}", where, "ops.full_like makes one of a number")
    if input.shape != target.shape:
        fail(ValueError, f"expected one shape, got {input.shape} and {target.shape}", where, "reshape or broadcast the target first")


def _rows(logits: Tensor, where: str) -> Tensor:
    """[n, c, d1, …] (or [c]) -> [n·d1·…, c]."""
    rank = len(logits.shape)
    if rank < 1:
        fail(ValueError, f"expected at least one dimension, got {logits.shape}", where)
    if rank < 3:
        return logits if rank == 2 else core.expand_dims(logits, 0)
    moved = core.transpose(logits, perm_moving(rank, [1], [rank - 1]))
    return core.reshape(moved, (math.prod(moved.shape[:-1]), moved.shape[-1]))


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """-log softmax(input) at the target: input [n, c] (or [c], [n, c, d1, …]), target class indices [n, …] or probabilities of input's shape.
    weight [c] scales classes; 'mean' divides by the sum of the weights that counted. Raises ValueError, TypeError, and DataError for an index
    that is neither a class nor ignore_index."""
    where = "ops.cross_entropy"
    if is_float(target.dtype):
        return _dense_cross_entropy(input, target, weight, reduction, label_smoothing, where)
    if weight is None:
        logits, labels = _rows(input, where), _int_labels(target)
        loss = core.softmax_cross_entropy_sparse(logits, labels, float(label_smoothing), int(ignore_index))
        return _mean_of_counted(loss, labels, ignore_index, reduction, target.shape, where)
    return nll_loss(core.log_softmax(input, 1 if len(input.shape) > 1 else 0), target, weight, ignore_index, reduction, label_smoothing)


def _int_labels(target: Tensor) -> Tensor:
    labels = core.reshape(target, (-1,))
    return labels if labels.dtype in (mstype.int32, mstype.int64) else core.cast(labels, mstype.int32)


def _mean_of_counted(loss: Tensor, labels: Tensor, ignore_index: int, reduction: str, shape: tuple, where: str) -> Tensor:
    check_choice(where, "reduction", reduction, ("none", "mean", "sum"))
    if reduction == "none":
        return core.reshape(loss, shape)
    if reduction == "sum":
        return core.sum(loss)
    return _mean_by(loss, core.cast(core.not_equal(labels, ignore_index), mstype.float32))


def _mean_by(loss: Tensor, weights: Union[Tensor, float]) -> Tensor:
    """The sum of the losses divided by the sum of their weights (or by a number), in loss's type."""
    terms = wide(loss)
    count = core.sum(core.cast(wide(weights), terms.dtype)) if isinstance(weights, Tensor) else weights
    return core.cast(core.div(core.sum(terms), count), loss.dtype)


def _dense_cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor], reduction: str, smoothing: float, where: str) -> Tensor:
    if input.shape != target.shape:
        fail(ValueError, f"probabilities {target.shape} must have the shape of the logits {input.shape}", where)
    axis = 1 if len(input.shape) > 1 else 0
    if smoothing:
        target = core.add(core.mul(target, 1 - smoothing), smoothing / input.shape[axis])
    terms = core.mul(core.log_softmax(input, axis), target)
    if weight is not None:
        terms = core.mul(terms, core.reshape(weight, [-1 if d == axis else 1 for d in range(len(input.shape))]))
    loss = core.neg(core.sum(terms, [axis]))
    check_choice(where, "reduction", reduction, ("none", "mean", "sum"))
    if reduction == "none":
        return loss
    return core.sum(loss) if reduction == "sum" else _mean_by(loss, float(math.prod(input.shape) // input.shape[axis]))


def nll_loss(inputs: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean",
             label_smoothing: float = 0.0) -> Tensor:
    """-inputs at the target: inputs [n, c] (or [c], [n, c, d1, …]) log-probabilities, target class indices. weight [c] scales classes; 'mean'
    divides by the sum of the weights that counted. Raises ValueError, and DataError for an index that is neither a class nor ignore_index."""
    where = "ops.nll_loss"
    check_choice(where, "reduction", reduction, ("none", "mean", "sum"))
    rows = _rows(inputs, where)
    labels = core.check_labels(_int_labels(target), rows.shape[1], int(ignore_index))
    counted = core.not_equal(labels, ignore_index)
    safe = core.where(counted, labels, 0)
    picked = core.neg(core.squeeze(core.gather_elements(rows, core.expand_dims(safe, 1), 1), 1))
    scale = core.cast(counted, rows.dtype)
    if weight is not None:
        scale = core.mul(scale, core.gather(weight, safe, 0))
    loss = core.mul(picked, scale)
    if label_smoothing:
        all_terms = wide(rows if weight is None else core.mul(rows, weight))
        smooth = core.where(counted, core.neg(core.sum(all_terms, [1])), core.full((), 0.0, all_terms.dtype))
        loss = core.add(core.mul(loss, 1 - label_smoothing), core.cast(core.mul(smooth, label_smoothing / rows.shape[1]), loss.dtype))
    if reduction == "none":
        return core.reshape(loss, target.shape)
    return core.sum(loss) if reduction == "sum" else _mean_by(loss, scale)


def softmax_cross_entropy_pair(logits: Tensor, labels: Tensor) -> tuple:
    """(loss [n], its gradient softmax(logits) - labels) for logits and probabilities [n, c]."""
    return core.softmax_cross_entropy_dense(logits, labels), core.sub(core.softmax(logits, -1), core.cast(labels, logits.dtype))


def sparse_softmax_cross_entropy(logits: Tensor, labels: Tensor, is_grad: bool = False) -> Tensor:
    """The mean over the rows of logits [n, c] with class indices [n]; is_grad: the gradient of that mean instead."""
    if not is_grad:
        return core.mean(core.softmax_cross_entropy_sparse(logits, _int_labels(labels)))
    x = wide(logits)
    hot = core.one_hot(_int_labels(labels), logits.shape[1], 1.0, 0.0, x.dtype)
    return core.cast(core.div(core.sub(core.softmax(x, -1), hot), float(logits.shape[0])), logits.dtype)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """(input - target)²."""
    return reduced(core.square(core.sub(input, target)), reduction, "ops.mse_loss")


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """|input - target|."""
    return reduced(core.abs(core.sub(input, target)), reduction, "ops.l1_loss")


def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """d²/(2·beta) for |d| < beta, |d| - beta/2 else, d = input - target."""
    _same_shape(input, target, "ops.smooth_l1_loss")
    d = core.abs(core.sub(input, target))
    if beta == 0:
        return reduced(d, reduction, "ops.smooth_l1_loss")
    small = core.minimum(d, float(beta))  # d²/(2·beta) of the part below beta, and 1 for each above
    return reduced(core.add(core.div(core.square(small), 2.0 * beta), core.sub(d, small)), reduction, "ops.smooth_l1_loss")


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """d²/2 for |d| <= delta, delta·(|d| - delta/2) else, d = input - target."""
    d = core.abs(core.sub(input, target))
    small = core.minimum(d, float(delta))
    return reduced(core.add(core.mul(core.square(small), 0.5), core.mul(core.sub(d, small), float(delta))), reduction, "ops.huber_loss")


def l2_half(x: Tensor) -> Tensor:
    """Half the sum of squares."""
    return core.mul(core.sum(core.square(x)), 0.5)


def binary_cross_entropy(logits: Tensor, labels: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean") -> Tensor:
    """-weight·(y·log(p) + (1 - y)·log(1 - p)) of probabilities p; logarithms are taken of p + 1e-12, as MindSpore's CPU kernel does. Raises
    ValueError for a p outside [0, 1]; NaN passes, as it does in other losses."""
    _same_shape(logits, labels, "ops.binary_cross_entropy")
    eps, logits = 1e-12, core.check_probabilities(logits)
    positive = core.mul(labels, core.log(core.add(logits, eps)))
    negative = core.mul(core.sub(1.0, labels), core.log(core.add(core.sub(1.0, logits), eps)))
    loss = core.neg(core.add(positive, negative))
    return reduced(loss if weight is None else core.mul(loss, weight), reduction, "ops.binary_cross_entropy")


def binary_cross_entropy_with_logits(logits: Tensor, label: Tensor, weight: Optional[Tensor] = None, pos_weight: Optional[Tensor] = None,
                                     reduction: str = "mean") -> Tensor:
    """-weight·(pos_weight·y·log(s) + (1 - y)·log(1 - s)) with s = sigmoid(logits), without overflow. Missing weights mean ones."""
    _same_shape(logits, label, "ops.binary_cross_entropy_with_logits")
    logits, label = in_common_type(logits, label)
    stay = core.softplus(core.neg(logits))  # -log(s)
    factor = 1.0 if pos_weight is None else core.add(core.mul(core.sub(pos_weight, 1.0), label), 1.0)
    loss = core.add(core.mul(core.sub(1.0, label), logits), stay if pos_weight is None else core.mul(factor, stay))
    return reduced(loss if weight is None else core.mul(loss, weight), reduction, "ops.binary_cross_entropy_with_logits")


def sigmoid_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """-(y·log(s) + (1 - y)·log(1 - s)) per element with s = sigmoid(logits)."""
    return binary_cross_entropy_with_logits(logits, labels, reduction="none")


def kl_div(logits: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
    """labels·(log(labels) - logits), logits log-probabilities, 0 where labels are 0. reduction 'batchmean' divides the sum by the first dimension."""
    check_choice("ops.kl_div", "reduction", reduction, ("none", "mean", "sum", "batchmean"))
    _same_shape(logits, labels, "ops.kl_div")
    positive = core.greater(labels, 0)
    loss = core.where(positive, core.mul(labels, core.sub(core.log(core.where(positive, labels, 1.0)), logits)), core.full((), 0.0, logits.dtype))
    if reduction == "batchmean":
        return _mean_by(loss, float(logits.shape[0]))
    return reduced(loss, reduction, "ops.kl_div")


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """1 - cos for target 1, max(0, cos - margin) for target -1."""
    axis = 1 if len(input1.shape) > 1 else 0
    cos = cosine_similarity(input1, input2, axis, 1e-8)
    zero = core.full((), 0.0, cos.dtype)
    apart = core.where(core.equal(target, -1), core.maximum(core.sub(cos, margin), 0.0), zero)
    return reduced(core.add(core.where(core.equal(target, 1), core.sub(1.0, cos), zero), apart), reduction, "ops.cosine_embedding_loss")


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """max(0, -target·(input1 - input2) + margin)."""
    return reduced(core.relu(core.add(core.neg(core.mul(target, core.sub(input1, input2))), float(margin))), reduction, "ops.margin_ranking_loss")


def hinge_embedding_loss(inputs: Tensor, targets: Tensor, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """inputs where targets are 1, max(0, margin - inputs) where they are -1."""
    zero = core.full((), 0.0, inputs.dtype)
    loss = core.add(core.where(core.equal(targets, 1), inputs, zero),
                    core.where(core.equal(targets, -1), core.relu(core.sub(float(margin), inputs)), zero))
    return reduced(loss, reduction, "ops.hinge_embedding_loss")


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target·input))."""
    _same_shape(input, target, "ops.soft_margin_loss")
    return reduced(core.softplus(core.neg(core.mul(input, target))), reduction, "ops.soft_margin_loss")


def gaussian_nll_loss(x: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> Tensor:
    """(log(v) + (x - target)²/v)/2 with v = max(var, eps), eps without gradient; full adds log(2·pi)/2."""
    v = core.add(var, core.stop_gradient(core.sub(core.maximum(var, eps), var)))
    loss = core.mul(core.add(core.log(v), core.div(core.square(core.sub(x, target)), v)), 0.5)
    return reduced(core.add(loss, 0.5 * math.log(2 * math.pi)) if full else loss, reduction, "ops.gaussian_nll_loss")


def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: Union[float, Tensor] = 1.0, p: int = 2, eps: float = 1e-6,
                        swap: bool = False, reduction: str = "mean") -> Tensor:
    """max(0, |anchor - positive| - |anchor - negative| + margin) with p-norms over the last dimension; swap: the nearer of anchor and positive
    to the negative counts. The inputs broadcast. Raises ValueError unless p is positive and they have equally many dimensions."""
    if not p > 0:
        fail(ValueError, f"p: expected a positive number, got {p}", "ops.triplet_margin_loss", "use 1 or 2")
    if not len(anchor.shape) == len(positive.shape) == len(negative.shape):
        fail(ValueError, f"expected equally many dimensions, got {anchor.shape}, {positive.shape} and {negative.shape}", "ops.triplet_margin_loss",
             "reshape them first")

    def distance(a: Tensor, b: Tensor) -> Tensor:
        d = core.abs(core.add(core.sub(a, b), eps))
        return core.norm(d, float(p), [-1]) if p in (1, 2) else core.pow(core.sum(core.pow(d, float(p)), [-1]), 1.0 / p)
    apart = distance(anchor, negative)
    if swap:
        apart = core.minimum(apart, distance(positive, negative))
    return reduced(core.relu(core.add(core.sub(distance(anchor, positive), apart), margin)), reduction, "ops.triplet_margin_loss")


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean") -> Tensor:
    """The mean over classes of binary_cross_entropy_with_logits, times weight."""
    loss = binary_cross_entropy_with_logits(input, target, reduction="none")
    return reduced(core.mean(loss if weight is None else core.mul(loss, weight), [-1]), reduction, "ops.multilabel_soft_margin_loss")


def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Optional[Tensor] = None,
                      reduction: str = "mean") -> Tensor:
    """The sum over the other classes of max(0, margin - x[y] + x[c])^p, times weight[y], divided by the number of classes."""
    target = core.ravel_indices([_int_labels(target)], input.shape[1:], False, (1,))
    own = core.gather_elements(input, core.expand_dims(target, 1), 1)
    terms = core.relu(core.add(core.sub(input, own), float(margin)))
    terms = terms if p == 1 else core.pow(terms, float(p))
    if weight is not None:
        terms = core.mul(terms, core.expand_dims(core.gather(weight, target, 0), 1))
    others = core.one_hot(target, input.shape[1], 0.0, 1.0, input.dtype)
    return reduced(core.div(core.sum(core.mul(terms, others), [1]), float(input.shape[1])), reduction, "ops.multi_margin_loss")


__all__ = exported(globals())
