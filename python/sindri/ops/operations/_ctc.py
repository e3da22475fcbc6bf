"""CTCLoss for labels in coordinate form, as in TensorFlow's ctc_loss: the blank is the last class, and the gradient is
returned with the loss.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from sindri import _core
from sindri._check import fail
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, core, wide
from sindri.ops.primitive import primitive

_WHERE = "ops.CTCLoss"
_FAR = -1e30  # the log of a probability of 0; finite, so that sums of it have gradients


def _check_types(x: Tensor, indices: Tensor, values: Tensor, steps: Tensor) -> None:
    shapes = (x.shape, indices.shape, values.shape, steps.shape)
    if [len(s) for s in shapes] != [3, 2, 1, 1] or indices.shape[1] != 2 or indices.shape[0] != values.shape[0] or steps.shape[0] != x.shape[1]:
        fail(ValueError, f"expected x [t, n, c], labels_indices [k, 2], labels_values [k] and sequence_length [n], got {', '.join(map(str, shapes))}", _WHERE)
    if not x.dtype.is_floating:
        fail(TypeError, f"x must be floating point, got {x.dtype}", _WHERE)
    for name, t, wanted in (("labels_indices", indices, mstype.int64), ("labels_values", values, mstype.int32), ("sequence_length", steps, mstype.int32)):
        if t.dtype != wanted:
            fail(TypeError, f"{name} must be {wanted}, got {t.dtype}", _WHERE)


def _check_values(time: int, blank: int, collapse: bool, longer: bool) -> Any:
    """Returns the checks that need values, for host_call: RuntimeError as in MindSpore's kernel."""
    def check(given: list) -> None:
        indices, values, steps = (t.asnumpy() for t in given)
        for n, count in enumerate(steps):
            if not 0 < count <= time:
                fail(RuntimeError, f"sequence_length {count} of sample {n} is outside [1, {time}]", _WHERE)
        if len(indices) and not (0 <= indices[:, 0].min() and indices[:, 0].max() < len(steps)):
            fail(RuntimeError, f"labels_indices name a sample outside [0, {len(steps)})", _WHERE)
        for n, count in enumerate(steps):
            row = values[indices[:, 0] == n]
            ends = row >= blank
            if (row < 0).any() or (ends[:-1] & ~ends[1:]).any():
                fail(RuntimeError, f"labels {row.tolist()} of sample {n} have one outside [0, {blank})", _WHERE)
            row = row[~ends]
            length = len(row) - (int((row[1:] == row[:-1]).sum()) if collapse else 0)
            if length > count and not longer:
                fail(RuntimeError, f"sample {n} has {length} labels for {count} steps", _WHERE, "set ignore_longer_outputs_than_inputs to allow it")
    return check


def _repeats(sample: Tensor, labels: Tensor) -> Tensor:
    """Returns whether each label but the first equals the preceding one of the same sample."""
    k = labels.shape[0]
    return core.logical_and(*(core.equal(core.slice(t, [1], [k]), core.slice(t, [0], [k - 1])) for t in (sample, labels)))


def _sums(flags: Tensor, sample: Tensor, count: int) -> Tensor:
    """Returns the number of flags of each sample."""
    return core.scatter_add(core.full((count,), 0, mstype.int64), sample, core.cast(flags, mstype.int64))


def _in_order(indices: Tensor, values: Tensor, blank: int, count: int, collapse: bool) -> tuple:
    """Returns (labels sample by sample, others after the last; the sample of each; whether it counts; the number of
    labels of each sample).
    """
    k = values.shape[0]
    place, sample = core.arange(0, k, 1, mstype.int64), core.reshape(core.slice(indices, [0, 0], [k, 1]), (k,))
    if not k:
        return values, sample, core.cast(values, mstype.bool_), core.full((count,), 0, mstype.int64)
    _, order = core.topk(core.add(core.mul(sample, k), place), k, 0, False)
    sample, values = core.gather(sample, order, 0), core.gather(values, order, 0)
    keep = core.less(values, blank)
    if collapse:
        keep = core.logical_and(keep, core.concat([core.full((1,), True, mstype.bool_), core.logical_not(_repeats(sample, values))], 0))
    _, order = core.topk(core.where(keep, place, core.add(place, k)), k, 0, False)
    return core.gather(values, order, 0), core.gather(sample, order, 0), core.gather(keep, order, 0), _sums(keep, sample, count)


def _once_each(log_probs: Tensor, labels: Tensor, sample: Tensor, counts: Tensor, lengths: Tensor, steps: Tensor, blank: int) -> Tensor:
    """Returns the losses if a label takes one step and only blanks repeat: alpha[k] is the log probability of k labels so far."""
    time, count, k = log_probs.shape[0], log_probs.shape[1], labels.shape[0]
    before = core.sub(core.cumsum(lengths, 0), lengths)
    column = core.sub(core.arange(0, k, 1, mstype.int64), core.gather(before, sample, 0))
    cell = core.where(counts, core.add(core.mul(sample, k), column), count * k)
    table = core.scatter_add(core.full((count * k + 1,), 0, mstype.int64), cell, core.cast(labels, mstype.int64))
    table = core.reshape(core.slice(table, [0], [count * k]), (count, k))
    alpha = core.concat([core.full((count, 1), 0.0, log_probs.dtype), core.full((count, k), _FAR, log_probs.dtype)], 1)
    for t in range(time):
        now = core.reshape(core.slice(log_probs, [t, 0, 0], [t + 1, count, log_probs.shape[2]]), log_probs.shape[1:])
        stays = core.add(alpha, core.slice(now, [0, blank], [count, blank + 1]))
        moves = core.add(core.slice(alpha, [0, 0], [count, k]), core.gather_elements(now, table, 1))
        moves = core.concat([core.full((count, 1), _FAR, log_probs.dtype), moves], 1)
        following = core.logsumexp(core.stack([stays, moves], 0), [0])
        alpha = core.where(core.reshape(core.greater(steps, t), (count, 1)), following, alpha)
    return core.neg(core.reshape(core.gather_elements(alpha, core.reshape(lengths, (count, 1)), 1), (count,)))


def _ctc(x: Tensor, labels_indices: Tensor, labels_values: Tensor, sequence_length: Tensor, preprocess_collapse_repeated: bool, ctc_merge_repeated: bool,
         ignore_longer_outputs_than_inputs: bool) -> tuple:
    """Computes the connectionist temporal classification loss of softmax(x), with its gradient.

    The blank is the last class. The loss is infinite, with gradient 0, if a sample has too few steps. It is
    differentiable once, through the loss alone.

    Args:
        x (Tensor): The logits, [t, n, c].
        labels_indices (Tensor): The (sample, position) of each label, int64 [k, 2].
        labels_values (Tensor): The labels, int32 [k].
        sequence_length (Tensor): The number of steps of each sample, int32 [n].
        preprocess_collapse_repeated (bool): Whether repeated labels are merged first.
        ctc_merge_repeated (bool): Whether repetitions in the steps are merged; False gives each label one step, so
            that repeated ones are separate labels.
        ignore_longer_outputs_than_inputs (bool): Whether more labels than steps are accepted.

    Returns:
        (negative log likelihoods [n], their gradient with respect to x).

    Raises:
        TypeError: If a type is incompatible.
        ValueError: If a shape is incompatible.
        RuntimeError: If a label or length is out of range, or there are more labels than steps.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.CTCLoss()(ms.ops.zeros((2, 1, 2)), ms.Tensor([[0, 0]], ms.int64), ms.Tensor([0], ms.int32), ms.Tensor([2], ms.int32))[0].asnumpy().round(4))
        [0.2877]
    """
    _check_types(x, labels_indices, labels_values, sequence_length)
    time, count, classes = x.shape
    blank = classes - 1
    check = _check_values(time, blank, preprocess_collapse_repeated, ignore_longer_outputs_than_inputs)
    given = [labels_indices, labels_values, sequence_length]
    _core.host_call(given, hash((_WHERE, time, blank, preprocess_collapse_repeated, ignore_longer_outputs_than_inputs)), check)

    def losses(logits: Tensor) -> Tensor:
        log_probs = core.log_softmax(wide(logits), -1)
        labels, sample, counts, lengths = _in_order(labels_indices, labels_values, blank, count, preprocess_collapse_repeated)
        k, needed = labels.shape[0], lengths
        if ctc_merge_repeated or k == 0:
            loss = core.ctc_loss(log_probs, labels, sequence_length, lengths, blank, True)
            if k > 1:  # a blank between equal labels
                flags = core.logical_and(_repeats(sample, labels), core.slice(counts, [1], [k]))
                needed = core.add(lengths, _sums(flags, core.slice(sample, [1], [k]), count))
        else:
            loss = _once_each(log_probs, labels, sample, counts, lengths, sequence_length, blank)
        return core.where(core.greater(needed, sequence_length), float("inf"), loss)

    def forward(inputs: Any) -> tuple:
        tape = _core.Tape()
        with tape:
            loss = losses(inputs[0])
        (slope,), _ = tape.backward([loss], None, [inputs[0]], [])
        return core.cast(loss, x.dtype), slope

    def backward(inputs: Any, outputs: Any, douts: Any) -> list:
        return [None if douts[0] is None else core.mul(outputs[1], core.reshape(douts[0], (1, count, 1)))]

    return tuple(_core.custom_gradient(forward, [x], backward))


CTCLoss = primitive("CTCLoss", _ctc, preprocess_collapse_repeated=False, ctc_merge_repeated=True, ignore_longer_outputs_than_inputs=False)
__all__ = ["CTCLoss"]
