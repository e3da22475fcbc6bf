"""Loss functions of sindri.ops.

They map MindSpore's arguments to the rules of the C++ library (include/sindri/nn/registry.h), whose arithmetic the
layers of sindri.nn share. `reduction` is 'mean', 'sum' or 'none'. Another name and shapes that do not fit raise
ValueError.
"""
from __future__ import annotations

from typing import Optional, Union

from sindri import _core
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, as_lengths, core, exported, wide

_rule = _core.loss_rule
_cross_entropy = _rule("cross_entropy", "ops.cross_entropy")
_nll = _rule("nll", "ops.nll_loss")
_softmax_cross_entropy = _rule("softmax_cross_entropy", "ops.SparseSoftmaxCrossEntropyWithLogits")
_mse = _rule("mse", "ops.mse_loss")
_l1 = _rule("l1", "ops.l1_loss")
_smooth_l1 = _rule("smooth_l1", "ops.smooth_l1_loss")
_huber = _rule("huber", "ops.huber_loss")
_binary_cross_entropy = _rule("binary_cross_entropy", "ops.binary_cross_entropy")
_binary_cross_entropy_with_logits = _rule("binary_cross_entropy_with_logits", "ops.binary_cross_entropy_with_logits")
_kl_div = _rule("kl_div", "ops.kl_div")
_cosine_embedding = _rule("cosine_embedding", "ops.cosine_embedding_loss")
_margin_ranking = _rule("margin_ranking", "ops.margin_ranking_loss")
_hinge_embedding = _rule("hinge_embedding", "ops.hinge_embedding_loss")
_soft_margin = _rule("soft_margin", "ops.soft_margin_loss")
_gaussian_nll = _rule("gaussian_nll", "ops.gaussian_nll_loss")
_triplet_margin = _rule("triplet_margin", "ops.triplet_margin_loss")
_multilabel_soft_margin = _rule("multilabel_soft_margin", "ops.multilabel_soft_margin_loss")
_multilabel_margin = _rule("multilabel_margin", "ops.multilabel_margin_loss")
_multi_margin = _rule("multi_margin", "ops.multi_margin_loss")
_ctc = _rule("ctc", "ops.ctc_loss")


def cross_entropy(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """Computes the cross entropy between logits and targets: -log softmax(input) at the target.

    Args:
        input (Tensor): The logits, [n, c], [c] or [n, c, d1, …].
        target (Tensor): Class indices [n, …], or probabilities of input's shape.
        weight (Tensor): The class weights, [c]; None means ones. Default: None.
        ignore_index (int): The class index that does not count. Default: -100.
        reduction (str): "mean" (divides by the sum of the weights that counted), "sum" or "none". Default: "mean".
        label_smoothing (float): The share of the uniform distribution in the targets. Default: 0.0.

    Returns:
        The loss: a scalar, or one value per target for "none".

    Raises:
        TypeError: If a type is not supported.
        ValueError: If the shapes are incompatible or `reduction` is another string.
        DataError: If a target is neither a class nor `ignore_index`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cross_entropy(ms.Tensor([[1.0, 2.0], [3.0, 1.0]]), ms.Tensor([1, 0])).asnumpy().round(4))
        0.2201
    """
    return _cross_entropy(input, target, weight, ignore_index, label_smoothing, reduction)


def nll_loss(inputs: Tensor, target: Tensor, weight: Optional[Tensor] = None, ignore_index: int = -100, reduction: str = "mean",
             label_smoothing: float = 0.0) -> Tensor:
    """Computes the negative log likelihood: -inputs at the target.

    Args:
        inputs (Tensor): The log probabilities, [n, c], [c] or [n, c, d1, …].
        target (Tensor): The class indices, [n, …].
        weight (Tensor): The class weights, [c]; None means ones. Default: None.
        ignore_index (int): The class index that does not count. Default: -100.
        reduction (str): "mean" (divides by the sum of the weights that counted), "sum" or "none". Default: "mean".
        label_smoothing (float): The share of the uniform distribution in the targets. Default: 0.0.

    Returns:
        The loss: a scalar, or one value per target for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.
        DataError: If a target is neither a class nor `ignore_index`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.nll_loss(ms.Tensor([[-0.5, -1.5], [-2.0, -0.25]]), ms.Tensor([0, 1])))
        0.375
    """
    return _nll(inputs, target, weight, ignore_index, label_smoothing, reduction)


def softmax_cross_entropy_pair(logits: Tensor, labels: Tensor) -> tuple:
    """Computes the cross entropy between logits and probabilities, with its gradient.

    Args:
        logits (Tensor): The logits, [n, c].
        labels (Tensor): The probabilities, [n, c].

    Returns:
        (loss [n], gradient softmax(logits) - labels).

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.SoftmaxCrossEntropyWithLogits()(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[0.0, 1.0]]))[0].asnumpy().round(4))
        [0.3133]
    """
    return core.softmax_cross_entropy_dense(logits, labels), core.sub(core.softmax(logits, -1), core.cast(labels, logits.dtype))


def sparse_softmax_cross_entropy(logits: Tensor, labels: Tensor, is_grad: bool = False) -> Tensor:
    """Computes the mean cross entropy between the rows of logits and class indices, or its gradient.

    Args:
        logits (Tensor): The logits, [n, c].
        labels (Tensor): The class indices, [n].
        is_grad (bool): Whether to return the gradient instead. Default: False.

    Returns:
        A scalar, or a tensor of logits' shape.

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.SparseSoftmaxCrossEntropyWithLogits()(ms.Tensor([[1.0, 2.0]]), ms.Tensor([1])).asnumpy().round(4))
        0.3133
    """
    labels = core.reshape(labels, (-1,))
    if not is_grad:
        return _softmax_cross_entropy(logits, labels, 0.0, "mean")
    x = wide(logits)
    hot = core.one_hot(labels, logits.shape[1], 1.0, 0.0, x.dtype)
    return core.cast(core.div(core.sub(core.softmax(x, -1), hot), float(logits.shape[0])), logits.dtype)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Computes the squared error (input - target)².

    Args:
        input (Tensor): The predictions.
        target (Tensor): The targets.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.mse_loss(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0])))
        2.5
    """
    return _mse(input, target, reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Computes the absolute error |input - target|.

    Args:
        input (Tensor): The predictions.
        target (Tensor): The targets.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.l1_loss(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0])))
        1.5
    """
    return _l1(input, target, reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """Computes d²/(2·beta) for |d| < beta, else |d| - beta/2, with d = input - target.

    Args:
        input (Tensor): The predictions.
        target (Tensor): The targets.
        beta (float): The bound between the quadratic and the linear part. Default: 1.0.
        reduction (str): "mean", "sum" or "none". Default: "none".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.smooth_l1_loss(ms.Tensor([0.5, 3.0]), ms.Tensor([0.0, 0.0])))
        [0.125 2.5  ]
    """
    return _smooth_l1(input, target, beta, reduction)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Computes d²/2 for |d| <= delta, else delta·(|d| - delta/2), with d = input - target.

    Args:
        input (Tensor): The predictions.
        target (Tensor): The targets.
        reduction (str): "mean", "sum" or "none". Default: "mean".
        delta (float): The bound between the quadratic and the linear part. Default: 1.0.

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.huber_loss(ms.Tensor([0.5, 3.0]), ms.Tensor([0.0, 0.0]), reduction="none"))
        [0.125 2.5  ]
    """
    return _huber(input, target, delta, reduction)


def l2_half(x: Tensor) -> Tensor:
    """Returns half the sum of squares.

    Args:
        x (Tensor): The tensor.

    Returns:
        A scalar.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.L2Loss()(ms.Tensor([3.0, 4.0])))
        12.5
    """
    return core.mul(core.sum(core.square(x)), 0.5)


def binary_cross_entropy(logits: Tensor, labels: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean") -> Tensor:
    """Computes -weight·(y·log(p) + (1 - y)·log(1 - p)) of probabilities p.

    1e-12 is added to the arguments of the logarithms, as in MindSpore's CPU kernel.

    Args:
        logits (Tensor): The probabilities p.
        labels (Tensor): The labels y.
        weight (Tensor): The weights, of a shape that broadcasts; None means ones. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If a probability is outside [0, 1] (NaN is accepted, as in other losses), the shapes are incompatible,
            or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.binary_cross_entropy(ms.Tensor([0.9, 0.2]), ms.Tensor([1.0, 0.0])).asnumpy().round(4))
        0.1643
    """
    return _binary_cross_entropy(logits, labels, weight, reduction)


def binary_cross_entropy_with_logits(logits: Tensor, label: Tensor, weight: Optional[Tensor] = None, pos_weight: Optional[Tensor] = None,
                                     reduction: str = "mean") -> Tensor:
    """Computes -weight·(pos_weight·y·log(s) + (1 - y)·log(1 - s)) with s = sigmoid(logits), without overflow.

    Args:
        logits (Tensor): The logits.
        label (Tensor): The labels y.
        weight (Tensor): The weights; None means ones. Default: None.
        pos_weight (Tensor): The weights of the positive labels; None means ones. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.binary_cross_entropy_with_logits(ms.Tensor([2.0, -1.0]), ms.Tensor([1.0, 0.0])).asnumpy().round(4))
        0.2201
    """
    return _binary_cross_entropy_with_logits(logits, label, weight, pos_weight, reduction)


def sigmoid_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Computes -(y·log(s) + (1 - y)·log(1 - s)) per element with s = sigmoid(logits).

    Args:
        logits (Tensor): The logits.
        labels (Tensor): The labels y.

    Returns:
        A tensor of logits' shape.

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.SigmoidCrossEntropyWithLogits()(ms.Tensor([0.0, 2.0]), ms.Tensor([1.0, 0.0])).asnumpy().round(4))
        [0.6931 2.1269]
    """
    return _binary_cross_entropy_with_logits(logits, labels)


def kl_div(logits: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
    """Computes labels·(log(labels) - logits), and 0 where labels are 0.

    Args:
        logits (Tensor): The log probabilities.
        labels (Tensor): The probabilities.
        reduction (str): "mean", "sum", "none", or "batchmean", which divides the sum by the first dimension.
            Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.kl_div(ms.Tensor([[-0.5, -1.0]]), ms.Tensor([[0.5, 0.5]]), "sum").asnumpy().round(4))
        0.0569
    """
    return _kl_div(logits, labels, False, reduction)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """Computes 1 - cos(input1, input2) for target 1, and max(0, cos - margin) for target -1.

    Args:
        input1 (Tensor): The first vectors.
        input2 (Tensor): The second vectors.
        target (Tensor): 1 or -1 for each pair.
        margin (float): The margin. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or one value per pair for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.cosine_embedding_loss(ms.Tensor([[1.0, 0.0]]), ms.Tensor([[0.0, 1.0]]), ms.Tensor([1])))
        1.0
    """
    return _cosine_embedding(input1, input2, target, margin, reduction)


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """Computes max(0, -target·(input1 - input2) + margin).

    Args:
        input1 (Tensor): The first scores.
        input2 (Tensor): The second scores.
        target (Tensor): 1 if the first score should be larger, else -1.
        margin (float): The margin. Default: 0.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.margin_ranking_loss(ms.Tensor([1.0, 3.0]), ms.Tensor([2.0, 1.0]), ms.Tensor([1.0, 1.0])))
        0.5
    """
    return _margin_ranking(input1, input2, target, margin, reduction)


def hinge_embedding_loss(inputs: Tensor, targets: Tensor, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """Computes `inputs` for targets 1, and max(0, margin - inputs) for targets -1.

    Args:
        inputs (Tensor): The distances.
        targets (Tensor): 1 or -1 for each element.
        margin (float): The margin. Default: 1.0.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.hinge_embedding_loss(ms.Tensor([0.5, 0.25]), ms.Tensor([1.0, -1.0]), reduction="none"))
        [0.5  0.75]
    """
    return _hinge_embedding(inputs, targets, margin, reduction)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Computes log(1 + exp(-target·input)).

    Args:
        input (Tensor): The scores.
        target (Tensor): 1 or -1 for each element.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.soft_margin_loss(ms.Tensor([1.0, -1.0]), ms.Tensor([1.0, 1.0])).asnumpy().round(4))
        0.8133
    """
    return _soft_margin(input, target, reduction)


def gaussian_nll_loss(x: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> Tensor:
    """Computes (log(v) + (x - target)²/v)/2 with v = max(var, eps). The lower bound has no gradient.

    Args:
        x (Tensor): The means.
        target (Tensor): The targets.
        var (Tensor): The variances.
        full (bool): Whether to add log(2·pi)/2. Default: False.
        eps (float): The least variance. Default: 1e-06.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or the elements for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.gaussian_nll_loss(ms.Tensor([1.0, 2.0]), ms.Tensor([0.0, 4.0]), ms.Tensor([1.0, 1.0])))
        1.25
    """
    return _gaussian_nll(x, target, var, full, eps, reduction)


def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: Union[float, Tensor] = 1.0, p: int = 2, eps: float = 1e-6,
                        swap: bool = False, reduction: str = "mean") -> Tensor:
    """Computes max(0, |anchor - positive| - |anchor - negative| + margin) with p-norms over the last dimension. The
    inputs broadcast.

    Args:
        anchor (Tensor): The anchors.
        positive (Tensor): Samples of the anchor's class.
        negative (Tensor): Samples of another class.
        margin (float or Tensor): The margin. Default: 1.0.
        p (int): The order of the norm. Default: 2.
        eps (float): A value added to the differences. Default: 1e-06.
        swap (bool): Whether the distance from the negative to the nearer of anchor and positive counts.
            Default: False.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or one value per triplet for "none".

    Raises:
        ValueError: If `p` is not positive, the numbers of dimensions differ or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.triplet_margin_loss(ms.Tensor([[0.0, 0.0]]), ms.Tensor([[1.0, 0.0]]), ms.Tensor([[0.0, 1.5]])).asnumpy().round(4))
        0.5
    """
    given, margin = (margin, 1.0) if isinstance(margin, Tensor) else (None, margin)
    return _triplet_margin(anchor, positive, negative, given, p, swap, eps, margin, reduction)


def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Optional[Tensor] = None, reduction: str = "mean") -> Tensor:
    """Computes the mean over classes of `binary_cross_entropy_with_logits`, times weight.

    Args:
        input (Tensor): The logits, [n, c].
        target (Tensor): The labels, [n, c].
        weight (Tensor): The class weights; None means ones. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or one value per sample for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.multilabel_soft_margin_loss(ms.Tensor([[2.0, -1.0]]), ms.Tensor([[1.0, 0.0]])).asnumpy().round(4))
        0.2201
    """
    return _multilabel_soft_margin(input, target, weight, reduction)


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Computes the sum over a sample's classes y and all other classes i of max(0, 1 - (x[y] - x[i])), divided by c.

    Args:
        input (Tensor): The scores, [n, c] or [c].
        target (Tensor): The class indices up to the first -1, of input's shape.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or one value per sample for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.multilabel_margin_loss(ms.Tensor([[0.1, 0.2, 0.8]]), ms.Tensor([[2, -1, -1]])).asnumpy().round(4))
        0.2333
    """
    return _multilabel_margin(input, target, reduction)


def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Optional[Tensor] = None,
                      reduction: str = "mean") -> Tensor:
    """Computes the sum over the other classes c of max(0, margin - x[y] + x[c])^p, times weight[y], divided by the
    number of classes.

    Args:
        input (Tensor): The scores, [n, c].
        target (Tensor): The class indices y, [n].
        p (int): The exponent. Default: 1.
        margin (float): The margin. Default: 1.0.
        weight (Tensor): The class weights, [c]; None means ones. Default: None.
        reduction (str): "mean", "sum" or "none". Default: "mean".

    Returns:
        The loss: a scalar, or one value per sample for "none".

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.multi_margin_loss(ms.Tensor([[0.1, 0.2, 0.8]]), ms.Tensor([2])).asnumpy().round(4))
        0.2333
    """
    return _multi_margin(input, target, weight, p, margin, reduction)


def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Union[Tensor, tuple], target_lengths: Union[Tensor, tuple], blank: int = 0,
             reduction: str = "mean", zero_infinity: bool = False) -> tuple:
    """Computes the connectionist temporal classification loss (Graves et al. 2006).

    It is the negative log likelihood of the targets under log_probs, with any repetitions and blanks. The gradient is
    taken with respect to `log_probs` as they are.

    Args:
        log_probs (Tensor): The log probabilities, [t, n, c].
        targets (Tensor): The labels, [n, s].
        input_lengths (Tensor or tuple of ints): The number of steps of each sample.
        target_lengths (Tensor or tuple of ints): The number of labels of each sample.
        blank (int): The class of the blank. Default: 0.
        reduction (str): "mean" (divides each sample's loss by its target length first), "sum" or "none".
            Default: "mean".
        zero_infinity (bool): Whether the loss is 0, without gradient, where there are too few steps. Default: False.

    Returns:
        (loss, log alpha [n, t, 2s + 1]).

    Raises:
        ValueError: If the shapes or `blank` are incompatible.
        RuntimeError: If a length or a label is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ctc_loss(ms.ops.log_softmax(ms.ops.zeros((2, 1, 2))), ms.Tensor([[1]]), (2,), (1,))[0].asnumpy().round(4))
        0.2877
    """
    steps, lengths = as_lengths(input_lengths), as_lengths(target_lengths)
    log_alpha = core.ctc_log_alpha(log_probs, targets, steps, lengths, blank)
    return _ctc(log_probs, targets, steps, lengths, blank, zero_infinity, reduction), log_alpha


__all__ = exported(globals())
