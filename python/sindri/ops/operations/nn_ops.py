"""Network primitives: activations, convolution, pooling, normalisation, losses, and the updates of optimizers."""
from __future__ import annotations

import math
from typing import Any

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.common.not_yet import not_yet
from sindri.ops import function as F
from sindri.ops._util import Parameter, Tensor, as_tensor, core, need_divisor, pair, volume_pads
from sindri.ops.function import loss_func as L
from sindri.ops.function import volume_func as V
from sindri.ops.primitive import REQUIRED, like, primitive

# Activations.


def _gelu(x: Tensor) -> Tensor:
    """Computes x·Φ(x), where Φ is the standard normal distribution function, approximated by tanh.

    Args:
        x (Tensor): The input, of any shape.

    Returns:
        A tensor of x's shape and type.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.GeLU()(ms.Tensor([-1.0, 0.0, 1.0])).asnumpy().round(4))
        [-0.1588  0.      0.8412]
    """
    return core.gelu(x, True)


ReLU = primitive("ReLU", core.relu)
ReLU6 = primitive("ReLU6", core.relu6)
LeakyReLU = primitive("LeakyReLU", F.leaky_relu, alpha=0.2)
PReLU = primitive("PReLU", F.prelu)
Elu = primitive("Elu", F.elu, alpha=1.0)
SeLU = primitive("SeLU", F.selu)
CeLU = primitive("CeLU", F.celu, alpha=1.0)
GeLU = Gelu = primitive("GeLU", _gelu)
FastGeLU = FastGelu = primitive("FastGeLU", F.fast_gelu)
HSwish = primitive("HSwish", core.hswish)
HSigmoid = primitive("HSigmoid", core.hsigmoid)
HShrink = primitive("HShrink", F.hardshrink, lambd=0.5)
SoftShrink = primitive("SoftShrink", F.softshrink, lambd=0.5)
Mish = primitive("Mish", F.mish)
SiLU = primitive("SiLU", core.silu)
Sigmoid = primitive("Sigmoid", core.sigmoid)
Tanh = primitive("Tanh", core.tanh)
Softplus = primitive("Softplus", core.softplus)
Softsign = primitive("Softsign", F.softsign)
Softmax = primitive("Softmax", F.softmax, (), ("axis",), axis=-1)
LogSoftmax = primitive("LogSoftmax", F.log_softmax, axis=-1)
GLU = primitive("GLU", F.glu, axis=-1)

# Dense, convolution, pooling.
Dense = primitive("Dense", F.dense)
BiasAdd = primitive("BiasAdd", F.bias_add, data_format="NCHW")


def _conv2d(x: Tensor, w: Tensor, out_channel: int, kernel_size: Any, mode: int, pad_mode: str, pad: Any, stride: Any, dilation: Any, group: int,
            data_format: str) -> Tensor:
    """Convolves images [n, c, h, w] with a weight [out_channel, c/group, kh, kw].

    Args:
        x (Tensor): The images.
        w (Tensor): The weight.
        out_channel (int): The number of output channels.
        kernel_size (int or sequence of ints): The size of the kernel.
        mode (int): Must be 1, the ordinary convolution.
        pad_mode (str): "valid", "same" or "pad".
        pad (int or sequence of ints): The padding for "pad": one number or (top, bottom, left, right).
        stride (int or sequence of ints): The stride.
        dilation (int or sequence of ints): The dilation.
        group (int): The number of groups of channels.
        data_format (str): "NCHW" or "NHWC".

    Returns:
        A tensor of shape [n, out_channel, h', w'].

    Raises:
        ValueError: If the shapes are incompatible or `mode` is not 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Conv2D(out_channel=4, kernel_size=3)(ms.ops.ones((1, 2, 5, 5)), ms.ops.ones((4, 2, 3, 3))).shape)
        (1, 4, 3, 3)
    """
    if mode != 1:
        fail(ValueError, f"mode {mode} is not known", "ops.Conv2D", "use 1, the ordinary convolution")
    if w.shape[0] != out_channel or list(w.shape[2:]) != pair(kernel_size, "kernel_size", "ops.Conv2D"):
        fail(ValueError, f"weight {w.shape} does not fit out_channel {out_channel} and kernel_size {kernel_size}", "ops.Conv2D")
    return F.in_nchw(lambda image: F.conv2d(image, w, None, stride, pad_mode, pad, dilation, group), x, data_format, "ops.Conv2D")


_ANY_CONV = ("kernel_size", "pad", "stride", "dilation", "pad_list")
Conv2D = primitive("Conv2D", _conv2d, (), _ANY_CONV, out_channel=REQUIRED, kernel_size=REQUIRED, mode=1, pad_mode="valid", pad=0, stride=1,
                   dilation=1, group=1,
                   data_format="NCHW")


def _conv2d_transpose(dout: Tensor, w: Tensor, input_size: Any, out_channel: int, kernel_size: Any, pad_mode: str, pad: Any, pad_list: Any, mode: int,
                      stride: Any, dilation: Any, group: int, data_format: str) -> Tensor:
    """Applies a transposed convolution: the gradient of a convolution with respect to its input.

    Args:
        dout (Tensor): The gradient of the convolution's output, [n, out_channel, h', w'].
        w (Tensor): The weight of the convolution.
        input_size (sequence of ints): The shape of the convolution's input (NCHW).
        out_channel (int): The number of channels of `dout`.
        kernel_size (int or sequence of ints): The size of the kernel.
        pad_mode (str): "valid", "same" or "pad".
        pad (int or sequence of ints): The padding for "pad".
        pad_list (sequence of ints): The padding (top, bottom, left, right), which implies "pad".
        mode (int): No effect.
        stride (int or sequence of ints): The stride.
        dilation (int or sequence of ints): The dilation.
        group (int): The number of groups of channels.
        data_format (str): Must be "NCHW".

    Returns:
        A tensor of shape `input_size`.

    Raises:
        ValueError: If the shapes are incompatible or `data_format` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Conv2DTranspose(1, 2)(ms.ops.ones((1, 1, 1, 1)), ms.ops.ones((1, 1, 2, 2)), (1, 1, 2, 2)).shape)
        (1, 1, 2, 2)
    """
    check_choice("ops.Conv2DTranspose", "data_format", data_format, ("NCHW",))
    return F.conv2d_transpose_of(dout, w, input_size, "pad" if pad_list is not None else pad_mode, pad if pad_list is None else pad_list, stride,
                                 dilation, group)


Conv2DTranspose = Conv2DBackpropInput = primitive("Conv2DTranspose", _conv2d_transpose, (), _ANY_CONV, out_channel=REQUIRED, kernel_size=REQUIRED,
                                                  pad_mode="valid", pad=0, pad_list=None, mode=1, stride=1, dilation=1, group=1, data_format="NCHW")


def _depthwise(x: Tensor, w: Tensor, channel_multiplier: int, kernel_size: Any, mode: int, pad_mode: str, pad: Any, stride: Any, dilation: Any,
               group: int) -> Tensor:
    """Convolves each channel of images [n, c, h, w] with its own channel_multiplier filters.

    Args:
        x (Tensor): The images.
        w (Tensor): The weight, [channel_multiplier, c, kh, kw].
        channel_multiplier (int): The number of filters per channel.
        kernel_size (int or sequence of ints): The size of the kernel.
        mode (int): No effect.
        pad_mode (str): "valid", "same" or "pad".
        pad (int or sequence of ints): The padding for "pad".
        stride (int or sequence of ints): The stride.
        dilation (int or sequence of ints): The dilation.
        group (int): No effect.

    Returns:
        A tensor of shape [n, c·channel_multiplier, h', w'].

    Raises:
        ValueError: If the shapes are incompatible.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.DepthwiseConv2dNative(1, 3)(ms.ops.ones((1, 2, 5, 5)), ms.ops.ones((1, 2, 3, 3))).shape)
        (1, 2, 3, 3)
    """
    c = x.shape[1]
    filters = core.reshape(core.transpose(w, [1, 0, 2, 3]), (c * channel_multiplier, 1) + w.shape[2:])
    return F.conv2d(x, filters, None, stride, pad_mode, pad, dilation, c)


DepthwiseConv2dNative = primitive("DepthwiseConv2dNative", _depthwise, (), _ANY_CONV, channel_multiplier=REQUIRED, kernel_size=REQUIRED, mode=3,
                                  pad_mode="valid", pad=0, stride=1, dilation=1, group=1)


def _max_pool(x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, data_format: str) -> Tensor:
    """Computes the maxima of windows of images [n, c, h, w].

    Args:
        x (Tensor): The images.
        kernel_size (int or sequence of ints): The window.
        strides (int or sequence of ints): The step of the windows.
        pad_mode (str): "valid", or "same" to pad with -inf.
        data_format (str): "NCHW" or "NHWC".

    Returns:
        The maxima.

    Raises:
        ValueError: If the window does not fit or a mode is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.MaxPool(kernel_size=2, strides=2)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[4.]]]]
    """
    return F.pool(core.max_pool2d, x, kernel_size, strides, pad_mode, data_format, "ops.MaxPool")


def _avg_pool(x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, data_format: str) -> Tensor:
    """Computes the means of windows of images [n, c, h, w].

    Args:
        x (Tensor): The images.
        kernel_size (int or sequence of ints): The window.
        strides (int or sequence of ints): The step of the windows.
        pad_mode (str): "valid" or "same", whose padding does not count.
        data_format (str): "NCHW" or "NHWC".

    Returns:
        The means.

    Raises:
        ValueError: If the window does not fit or a mode is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.AvgPool(kernel_size=2, strides=2)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[2.5]]]]
    """
    return F.pool(core.avg_pool2d, x, kernel_size, strides, pad_mode, data_format, "ops.AvgPool")


def _max_pool_with_argmax(x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, data_format: str) -> tuple:
    """Computes the maxima of windows of images [n, c, h, w] and their positions.

    Args:
        x (Tensor): The images.
        kernel_size (int or sequence of ints): The window.
        strides (int or sequence of ints): The step of the windows.
        pad_mode (str): "valid" or "same".
        data_format (str): Must be "NCHW".

    Returns:
        (maxima, int32 positions in the flat sample [c, h, w]).

    Raises:
        ValueError: If the window does not fit or a mode is another string.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.MaxPoolWithArgmax(kernel_size=2, strides=2)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[[4.]]]] [[[[3]]]]
    """
    check_choice("ops.MaxPoolWithArgmax", "data_format", data_format, ("NCHW",))
    places = []

    def run(image: Tensor, kernel: list, stride: list, pads: list) -> Tensor:
        y, place = F.max_pool_with_places(image, kernel, stride, pads)
        size = image.shape[2] * image.shape[3]
        channel = core.reshape(core.arange(0, image.shape[1] * size, size), (-1, 1, 1))
        places.append(core.cast(core.add(place, channel), mstype.int32))
        return y
    return F.pool(run, x, kernel_size, strides, pad_mode, data_format, "ops.MaxPoolWithArgmax"), places[0]


def _conv3d(x: Tensor, w: Tensor, out_channel: int, kernel_size: Any, mode: int, pad_mode: str, pad: Any, stride: Any, dilation: Any, group: int,
            data_format: str) -> Tensor:
    """Convolves volumes [n, c, d, h, w] with a weight [out_channel, c/group, kd, kh, kw].

    Args:
        x (Tensor): The volumes.
        w (Tensor): The weight.
        out_channel (int): The number of output channels.
        kernel_size (int or sequence of ints): The size of the kernel.
        mode (int): Must be 1, the ordinary convolution.
        pad_mode (str): "valid", "same" or "pad".
        pad (int or sequence of ints): The padding for "pad".
        stride (int or sequence of ints): The stride.
        dilation (int or sequence of ints): The dilation.
        group (int): The number of groups of channels.
        data_format (str): Must be "NCDHW".

    Returns:
        A tensor of shape [n, out_channel, d', h', w'].

    Raises:
        ValueError: If the shapes are incompatible, `mode` is not 1 or `data_format` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.Conv3D(out_channel=4, kernel_size=2)(ms.ops.ones((1, 1, 3, 3, 3)), ms.ops.ones((4, 1, 2, 2, 2))).shape)
        (1, 4, 2, 2, 2)
    """
    check_choice("ops.Conv3D", "data_format", data_format, ("NCDHW",))
    if mode != 1:
        fail(ValueError, f"mode {mode} is not known", "ops.Conv3D", "use 1, the ordinary convolution")
    if w.shape[0] != out_channel or list(w.shape[2:]) != V._triple(kernel_size, "kernel_size", "ops.Conv3D"):
        fail(ValueError, f"weight {w.shape} does not fit out_channel {out_channel} and kernel_size {kernel_size}", "ops.Conv3D")
    return V.conv3d(x, w, None, stride, pad_mode, pad, dilation, group)


def _window3d(x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, pad_list: Any, data_format: str, where: str) -> tuple:
    """Returns (kernel, stride, pads) of a pooling of volumes."""
    check_choice(where, "data_format", data_format, ("NCDHW",))
    kernel, stride = V._triple(kernel_size, "kernel_size", where), V._triple(strides, "strides", where)
    return kernel, stride, volume_pads(pad_mode, pad_list, x.shape[2:], kernel, stride, (1, 1, 1), where)


def _max_pool3d(x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, pad_list: Any, ceil_mode: Any, data_format: str) -> Tensor:
    """Computes the maxima of windows of volumes [n, c, d, h, w].

    Args:
        x (Tensor): The volumes.
        kernel_size (int or sequence of ints): The window.
        strides (int or sequence of ints): The step of the windows.
        pad_mode (str): "valid", "same" or "pad", in any case.
        pad_list (int or sequence of ints): The padding for "pad".
        ceil_mode (bool): Whether partial windows at the end count.
        data_format (str): Must be "NCDHW".

    Returns:
        The maxima.

    Raises:
        ValueError: If the shapes are incompatible or a mode is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.MaxPool3D(kernel_size=2, strides=2)(ms.ops.ones((1, 1, 2, 2, 2))))
        [[[[[1.]]]]]
    """
    kind = lambda v, k, s, p: core.max_pool2d(v, k, s, p, bool(ceil_mode))
    kernel, stride, pads = _window3d(x, kernel_size, strides, pad_mode, pad_list, data_format, "ops.MaxPool3D")
    return V._pool3d(kind, x, kernel, stride, pads, "ops.MaxPool3D")


def _avg_pool3d(x: Tensor, kernel_size: Any, strides: Any, pad_mode: str, pad: Any, ceil_mode: bool, count_include_pad: bool, divisor_override: int,
                data_format: str) -> Tensor:
    """Computes the means of windows of volumes [n, c, d, h, w].

    Args:
        x (Tensor): The volumes.
        kernel_size (int or sequence of ints): The window.
        strides (int or sequence of ints): The step of the windows.
        pad_mode (str): "valid", "same" or "pad".
        pad (int or sequence of ints): The padding for "pad".
        ceil_mode (bool): Whether partial windows at the end count.
        count_include_pad (bool): Whether padding counts in the divisor.
        divisor_override (int): A divisor of the sums; 0 divides by the size of the window.
        data_format (str): Must be "NCDHW".

    Returns:
        The means.

    Raises:
        TypeError: If `divisor_override` is not an int.
        ValueError: If `divisor_override` is negative, the shapes are incompatible or a mode is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.AvgPool3D(kernel_size=2, strides=2)(ms.ops.ones((1, 1, 2, 2, 2))))
        [[[[[1.]]]]]
    """
    kernel, stride, pads = _window3d(x, kernel_size, strides, pad_mode, pad, data_format, "ops.AvgPool3D")
    divisor = need_divisor(divisor_override, "ops.AvgPool3D")
    return V._mean_pool3d(x, kernel, stride, pads, ceil_mode, count_include_pad, divisor, "ops.AvgPool3D")


_ANY_POOL = ("kernel_size", "strides")
_ANY_POOL3 = (*_ANY_POOL, "pad_list", "pad", "ceil_mode")
Conv3D = primitive("Conv3D", _conv3d, (), _ANY_CONV, out_channel=REQUIRED, kernel_size=REQUIRED, mode=1, pad_mode="valid", pad=0, stride=1, dilation=1,
                   group=1, data_format="NCDHW")
MaxPool3D = primitive("MaxPool3D", _max_pool3d, (), _ANY_POOL3, kernel_size=1, strides=1, pad_mode="VALID", pad_list=0, ceil_mode=None,
                      data_format="NCDHW")
AvgPool3D = primitive("AvgPool3D", _avg_pool3d, (), _ANY_POOL3, kernel_size=1, strides=1, pad_mode="valid", pad=0, ceil_mode=False,
                      count_include_pad=True, divisor_override=0, data_format="NCDHW")
MaxPool = primitive("MaxPool", _max_pool, (), _ANY_POOL, kernel_size=1, strides=1, pad_mode="valid", data_format="NCHW")
AvgPool = primitive("AvgPool", _avg_pool, (), _ANY_POOL, kernel_size=1, strides=1, pad_mode="valid", data_format="NCHW")
MaxPoolWithArgmax = primitive("MaxPoolWithArgmax", _max_pool_with_argmax, (), _ANY_POOL, kernel_size=1, strides=1, pad_mode="valid",
                              data_format="NCHW")
AdaptiveAvgPool2D = primitive("AdaptiveAvgPool2D", F.adaptive_avg_pool2d, output_size=REQUIRED)
AdaptiveAvgPool3D = primitive("AdaptiveAvgPool3D", F.adaptive_avg_pool3d, output_size=REQUIRED)
AdaptiveMaxPool2D = primitive("AdaptiveMaxPool2D", F.adaptive_max_pool2d, output_size=REQUIRED)

# Normalisation and dropout.


def _batch_norm(x: Tensor, scale: Tensor, bias: Tensor, mean: Any, variance: Any, is_training: bool, epsilon: float, momentum: float,
                data_format: str) -> tuple:
    """Normalises per channel: (x - mean)/sqrt(variance + epsilon)·scale + bias.

    With `is_training`, batch statistics are used, and the Parameters `mean` and `variance` move towards them by
    `momentum`.

    Args:
        x (Tensor): The input, [n, c, …].
        scale (Tensor): The scale, [c].
        bias (Tensor): The shift, [c].
        mean (Parameter): The moving mean, [c].
        variance (Parameter): The moving variance, [c].
        is_training (bool): Whether to use batch statistics.
        epsilon (float): A value added to the variance.
        momentum (float): The weight of the batch in the update.
        data_format (str): "NCHW" or "NHWC".

    Returns:
        (result, mean, variance, mean, variance).

    Raises:
        ValueError: If `data_format` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.BatchNorm()(ms.Tensor([[1.0], [3.0]]), ms.Tensor([1.0]), ms.Tensor([0.0]), ms.Tensor([2.0]), ms.Tensor([4.0]))[0].asnumpy().round(4))
        [[-0.5]
         [ 0.5]]
    """
    check_choice("ops.BatchNorm", "data_format", data_format, ("NCHW", "NHWC"))
    if data_format == "NHWC":
        x = core.transpose(x, [0, 3, 1, 2])
    if is_training:
        y, m, v = core.batch_norm_train(x, scale, bias, float(epsilon))
        F.update_running(mean, variance, m, v, float(momentum), math.prod(x.shape) // x.shape[1])
    else:
        y, m, v = core.batch_norm_infer(x, scale, bias, mean, variance, float(epsilon)), mean, variance
    return core.transpose(y, [0, 2, 3, 1]) if data_format == "NHWC" else y, m, v, m, v


BatchNorm = primitive("BatchNorm", _batch_norm, is_training=False, epsilon=1e-05, momentum=0.1, data_format="NCHW")
LayerNorm = primitive("LayerNorm", F.layer_norm_with_stats, begin_norm_axis=1, begin_params_axis=1, epsilon=1e-07)
RmsNorm = primitive("RmsNorm", F.rms_norm, epsilon=1e-06)
L2Normalize = primitive("L2Normalize", F.l2_normalize, (), ("axis",), axis=0, epsilon=1e-4)
LRN = primitive("LRN", F.lrn, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS")
Dropout = primitive("Dropout", F.dropout_with_mask, keep_prob=0.5, Seed0=0, Seed1=0)
DropoutGenMask = primitive("DropoutGenMask", F.dropout_bits, Seed0=0, Seed1=0)
DropoutDoMask = primitive("DropoutDoMask", F.dropout_of_bits)
Dropout2D = primitive("Dropout2D", F.dropout2d_with_mask, keep_prob=0.5)
Dropout3D = primitive("Dropout3D", F.dropout2d_with_mask, keep_prob=0.5)

# Losses.
L2Loss = primitive("L2Loss", L.l2_half)
SoftmaxCrossEntropyWithLogits = primitive("SoftmaxCrossEntropyWithLogits", L.softmax_cross_entropy_pair)
SparseSoftmaxCrossEntropyWithLogits = primitive("SparseSoftmaxCrossEntropyWithLogits", L.sparse_softmax_cross_entropy, is_grad=False)
SigmoidCrossEntropyWithLogits = primitive("SigmoidCrossEntropyWithLogits", L.sigmoid_cross_entropy)
BCEWithLogitsLoss = primitive("BCEWithLogitsLoss", L.binary_cross_entropy_with_logits, reduction="mean")
BinaryCrossEntropy = primitive("BinaryCrossEntropy", L.binary_cross_entropy, reduction="mean")
KLDivLoss = primitive("KLDivLoss", L.kl_div, reduction="mean")
SmoothL1Loss = primitive("SmoothL1Loss", L.smooth_l1_loss, beta=1.0, reduction="none")
SoftMarginLoss = primitive("SoftMarginLoss", L.soft_margin_loss, reduction="mean")
MultiMarginLoss = primitive("MultiMarginLoss",
                            like(L.multi_margin_loss, lambda x, target, weight=None, **kw: L.multi_margin_loss(x, target, weight=weight, **kw)), p=1,
                            margin=1.0, reduction="mean")

TripletMarginLoss = primitive("TripletMarginLoss",
                              like(L.triplet_margin_loss, lambda x, positive, negative, margin, **kw: L.triplet_margin_loss(x, positive, negative, margin, **kw)),
                              p=2, swap=False, eps=1e-6, reduction="mean")
CTCGreedyDecoder = primitive("CTCGreedyDecoder", F.ctc_greedy_decoder, merge_repeated=True)
CTCLossV2 = primitive("CTCLossV2", L.ctc_loss, blank=0, reduction="none", zero_infinity=False)


def _nll(logits: Tensor, labels: Tensor, weight: Tensor, reduction: str, ignore_index: int) -> tuple:
    """Computes the negative log likelihood: -logits at the labels.

    Args:
        logits (Tensor): The log probabilities, [n, c].
        labels (Tensor): The class indices, [n].
        weight (Tensor): The class weights, [c].
        reduction (str): "mean", "sum" or "none".
        ignore_index (int): The class index that does not count.

    Returns:
        (loss, sum of the weights that counted).

    Raises:
        ValueError: If the shapes are incompatible or `reduction` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(*ms.ops.NLLLoss()(ms.Tensor([[-0.5, -1.5]]), ms.Tensor([0]), ms.Tensor([1.0, 1.0])))
        0.5 1.0
    """
    counted = core.not_equal(labels, ignore_index)
    weights = core.gather(weight, core.where(counted, labels, 0), 0)
    total = core.sum(core.where(counted, weights, core.full((), 0.0, weights.dtype)))
    return L.nll_loss(logits, labels, weight, ignore_index, reduction), total


NLLLoss = primitive("NLLLoss", _nll, reduction="mean", ignore_index=-100)

# --- updates of optimizers: they write Parameters in place ------------------------------------------------------------------------------


def _state(where: str, *slots: Any) -> None:
    for slot in slots:
        if not isinstance(slot, Parameter):
            fail(TypeError, f"expected a Parameter, got {type(slot).__name__}", where)


def _number(value: Any) -> Tensor:
    return core.cast(as_tensor(value), mstype.float32)


def _apply_momentum(var: Parameter, accum: Parameter, lr: Any, grad: Tensor, momentum: Any, use_nesterov: bool = False,
                    gradient_scale: float = 1.0) -> Parameter:
    """Applies a momentum update: accum = momentum·accum + g, var -= lr·accum, with g = gradient_scale·grad.

    With `use_nesterov`, var -= lr·(g + momentum·accum).

    Args:
        var (Parameter): The parameter, changed in place.
        accum (Parameter): The momentum, changed in place.
        lr (Tensor or number): The learning rate.
        grad (Tensor): The gradient.
        momentum (Tensor or number): The momentum factor.
        use_nesterov (bool): Whether to use Nesterov momentum. Default: False.
        gradient_scale (float): The factor of the gradient. Default: 1.0.

    Returns:
        `var`.

    Raises:
        TypeError: If `var` or `accum` is not a Parameter.

    Examples:
        >>> import sindri as ms
        >>> w, v = ms.Parameter(ms.Tensor([1.0]), name="w"), ms.Parameter(ms.Tensor([0.0]), name="v")
        >>> print(ms.ops.ApplyMomentum()(w, v, 0.1, ms.Tensor([2.0]), 0.9).asnumpy())
        [0.8]
    """
    _state("ops.ApplyMomentum", var, accum)
    new, velocity = core.momentum_update(var, accum, grad, _number(lr), _number(momentum), 0.0, float(gradient_scale), use_nesterov)
    accum.assign(velocity)
    return var.assign(new)


def _apply_momentum_with_decay(weight_decay: Any, loss_scale: Any, var: Parameter, accum: Parameter, lr: Any, grad: Tensor,
                               momentum: Any) -> Parameter:
    """Applies a momentum update with the gradient (weight_decay·var + grad)·loss_scale.

    Args:
        weight_decay (Tensor or number): The weight decay factor.
        loss_scale (Tensor or number): The reciprocal of the scale of the loss.
        var (Parameter): The parameter, changed in place.
        accum (Parameter): The momentum, changed in place.
        lr (Tensor or number): The learning rate.
        grad (Tensor): The gradient.
        momentum (Tensor or number): The momentum factor.

    Returns:
        `var`.

    Raises:
        TypeError: If `var` or `accum` is not a Parameter.

    Examples:
        >>> import sindri as ms
        >>> w, v = ms.Parameter(ms.Tensor([1.0]), name="w"), ms.Parameter(ms.Tensor([0.0]), name="v")
        >>> print(ms.ops.FusedWeightScaleApplyMomentum()(0.0, 0.5, w, v, 0.1, ms.Tensor([4.0]), 0.9).asnumpy())
        [0.8]
    """
    decayed = core.mul(core.add(core.mul(core.cast(var, grad.dtype), weight_decay), grad), loss_scale)
    return _apply_momentum(var, accum, lr, core.cast(decayed, grad.dtype), momentum)


def _sgd(parameters: Parameter, gradient: Tensor, learning_rate: Any, accum: Parameter, momentum: Any, stat: Parameter, dampening: float,
         weight_decay: float,
         nesterov: bool) -> Parameter:
    """Applies stochastic gradient descent with momentum, with g = gradient + weight_decay·parameters.

    accum = momentum·accum + (1 - dampening)·g, in the first step (stat 1) accum = g; then parameters -=
    learning_rate·accum.

    Args:
        parameters (Parameter): The parameter, changed in place.
        gradient (Tensor): The gradient.
        learning_rate (Tensor or number): The learning rate.
        accum (Parameter): The momentum, changed in place.
        momentum (Tensor or number): The momentum factor.
        stat (Parameter): Ones before the first step; zeros after it.
        dampening (float): Dampening for momentum.
        weight_decay (float): The weight decay factor.
        nesterov (bool): Whether to use Nesterov momentum.

    Returns:
        `parameters`.

    Raises:
        TypeError: If a state is not a Parameter.

    Examples:
        >>> import sindri as ms
        >>> w, v, s = (ms.Parameter(ms.Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "v"), (1.0, "s")))
        >>> print(ms.ops.SGD()(w, ms.Tensor([2.0]), 0.1, v, 0.9, s).asnumpy())
        [0.8]
    """
    _state("ops.SGD", parameters, accum, stat)
    g = core.add(gradient, core.mul(parameters, weight_decay)) if weight_decay else gradient
    moved = core.add(core.mul(accum, momentum), core.mul(g, 1 - dampening))
    velocity = core.where(core.greater(stat, 0), g, moved)
    step = core.add(g, core.mul(velocity, momentum)) if nesterov else velocity
    accum.assign(velocity)
    stat.assign(core.zeros_like(stat))
    return parameters.assign(core.sub(parameters, core.mul(step, learning_rate)))


def _moments(m: Parameter, v: Parameter, grad: Tensor, beta1: Any, beta2: Any) -> tuple:
    one = lambda beta: core.sub(1.0, beta) if isinstance(beta, Tensor) else 1 - beta
    new_m = core.add(core.mul(m, beta1), core.mul(grad, one(beta1)))
    new_v = core.add(core.mul(v, beta2), core.mul(core.square(grad), one(beta2)))
    m.assign(new_m)
    v.assign(new_v)
    return new_m, new_v


def _quotient(moved: Tensor, root: Tensor) -> Tensor:
    """Returns moved / root, and 0 where `moved` is 0: there root is 0 as well if no epsilon is added."""
    still = core.equal(moved, 0)
    return core.where(still, moved, core.div(moved, core.where(still, 1.0, root)))


def _adam(var: Parameter, m: Parameter, v: Parameter, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any,
          gradient: Tensor,
          use_nesterov: bool) -> tuple:
    """Applies an Adam update with bias correction.

    Args:
        var (Parameter): The parameter, changed in place.
        m (Parameter): The first moment, changed in place.
        v (Parameter): The second moment, changed in place.
        beta1_power (Tensor or number): Beta1 to the power of this step's number.
        beta2_power (Tensor or number): Beta2 to the power of this step's number.
        lr (Tensor or number): The learning rate.
        beta1 (Tensor or number): The decay of the first moment.
        beta2 (Tensor or number): The decay of the second moment.
        epsilon (Tensor or number): A value added to the root.
        gradient (Tensor): The gradient.
        use_nesterov (bool): Whether to use Nesterov momentum.

    Returns:
        (var, m, v).

    Raises:
        TypeError: If a state is not a Parameter.

    Examples:
        >>> import sindri as ms
        >>> w, m, v = (ms.Parameter(ms.Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "m"), (0.0, "v")))
        >>> print(ms.ops.Adam()(w, m, v, 0.9, 0.999, 0.1, 0.9, 0.999, 1e-8, ms.Tensor([2.0]))[0].asnumpy().round(4))
        [0.9]
    """
    _state("ops.Adam", var, m, v)
    grad = core.cast(gradient, var.dtype)
    new_m, new_v = _moments(m, v, grad, beta1, beta2)
    rate = core.div(core.mul(core.sqrt(core.sub(1.0, as_tensor(beta2_power))), lr), core.sub(1.0, as_tensor(beta1_power)))
    if use_nesterov:
        new_m = core.add(core.mul(new_m, beta1), core.mul(grad, core.sub(1.0, as_tensor(beta1))))
    var.assign(core.sub(var, _quotient(core.mul(new_m, rate), core.add(core.sqrt(new_v), epsilon))))
    return var, m, v


def _adam_weight_decay(var: Parameter, m: Parameter, v: Parameter, lr: Any, beta1: Any, beta2: Any, epsilon: Any, decay: Any,
                       gradient: Tensor) -> tuple:
    """Applies an Adam update with weight decay and without bias correction: var -= lr·(m/(sqrt(v) + epsilon) +
    decay·var).

    Args:
        var (Parameter): The parameter, changed in place.
        m (Parameter): The first moment, changed in place.
        v (Parameter): The second moment, changed in place.
        lr (Tensor or number): The learning rate.
        beta1 (Tensor or number): The decay of the first moment.
        beta2 (Tensor or number): The decay of the second moment.
        epsilon (Tensor or number): A value added to the root.
        decay (Tensor or number): The weight decay factor.
        gradient (Tensor): The gradient.

    Returns:
        (var, m, v).

    Raises:
        TypeError: If a state is not a Parameter.

    Examples:
        >>> import sindri as ms
        >>> w, m, v = (ms.Parameter(ms.Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "m"), (0.0, "v")))
        >>> print(ms.ops.AdamWeightDecay()(w, m, v, 0.1, 0.9, 0.999, 1e-8, 0.0, ms.Tensor([2.0]))[0].asnumpy().round(4))
        [0.6838]
    """
    _state("ops.AdamWeightDecay", var, m, v)
    new_m, new_v = _moments(m, v, core.cast(gradient, m.dtype), beta1, beta2)
    step = core.add(_quotient(new_m, core.add(core.sqrt(new_v), epsilon)), core.mul(core.cast(var, m.dtype), decay))
    var.assign(core.cast(core.sub(core.cast(var, m.dtype), core.mul(step, lr)), var.dtype))
    return var, m, v


def _cast_adam_weight_decay(var: Parameter, m: Parameter, v: Parameter, lr: Any, beta1: Any, beta2: Any, epsilon: Any, decay: Any, gradient: Tensor,
                            global_norm: Any) -> tuple:
    """Applies AdamWeightDecay to gradient / global_norm, computed in the type of m.

    Args:
        var (Parameter): The parameter, float16 or float32, changed in place.
        m (Parameter): The first moment, changed in place.
        v (Parameter): The second moment, changed in place.
        lr (Tensor or number): The learning rate.
        beta1 (Tensor or number): The decay of the first moment.
        beta2 (Tensor or number): The decay of the second moment.
        epsilon (Tensor or number): A value added to the root.
        decay (Tensor or number): The weight decay factor.
        gradient (Tensor): The gradient, float16 or float32.
        global_norm (Tensor or number): The divisor of the gradient.

    Returns:
        (var, m, v).

    Raises:
        TypeError: If a state is not a Parameter, or `var` or `gradient` has another type.

    Examples:
        >>> import sindri as ms
        >>> w, m, v = (ms.Parameter(ms.Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "m"), (0.0, "v")))
        >>> print(ms.ops.FusedCastAdamWeightDecay()(w, m, v, 0.1, 0.9, 0.999, 1e-8, 0.0, ms.Tensor([2.0]), 1.0)[0].asnumpy().round(4))
        [0.6838]
    """
    _state("ops.FusedCastAdamWeightDecay", var, m, v)
    for name, t in (("var", var), ("gradient", gradient)):
        if t.dtype not in (mstype.float16, mstype.float32):
            fail(TypeError, f"{name} must be float16 or float32, got {t.dtype}", "ops.FusedCastAdamWeightDecay")
    norm = core.cast(core.reshape(as_tensor(global_norm), ()), m.dtype)
    return _adam_weight_decay(var, m, v, lr, beta1, beta2, epsilon, decay, core.div(core.cast(gradient, m.dtype), norm))


def _lamb(var: Parameter, m: Parameter, v: Parameter, lr: Any, beta1: Any, beta2: Any, epsilon: Any, decay: Any, global_step: Any,
          gradient: Tensor) -> Parameter:
    """Applies a LAMB update: u = m̂/(sqrt(v̂) + epsilon) + decay·var, var -= lr·|var|/|u|·u. The ratio is 1 if a norm is
    0.

    Args:
        var (Parameter): The parameter, changed in place.
        m (Parameter): The first moment, changed in place.
        v (Parameter): The second moment, changed in place.
        lr (Tensor or number): The learning rate.
        beta1 (Tensor or number): The decay of the first moment.
        beta2 (Tensor or number): The decay of the second moment.
        epsilon (Tensor or number): A value added to the root.
        decay (Tensor or number): The weight decay factor.
        global_step (Tensor or number): The number of the step, counted from 1.
        gradient (Tensor): The gradient.

    Returns:
        `var`.

    Raises:
        TypeError: If a state is not a Parameter.

    Examples:
        >>> import sindri as ms
        >>> w, m, v = (ms.Parameter(ms.Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "m"), (0.0, "v")))
        >>> print(ms.ops.Lamb()(w, m, v, 0.1, 0.9, 0.999, 1e-8, 0.0, 1, ms.Tensor([2.0])).asnumpy().round(4))
        [0.9]
    """
    _state("ops.Lamb", var, m, v)
    new_m, new_v = _moments(m, v, core.cast(gradient, m.dtype), beta1, beta2)
    correct = lambda x, beta: core.div(x, core.sub(1.0, core.pow(_number(beta), _number(global_step))))
    step = core.add(_quotient(correct(new_m, beta1), core.add(core.sqrt(correct(new_v, beta2)), epsilon)), core.mul(var, decay))
    size, step_size = core.norm(var), core.norm(step)
    usable = core.logical_and(core.greater(size, 0), core.greater(step_size, 0))
    ratio = core.where(usable, core.div(size, core.where(usable, step_size, 1.0)), 1.0)
    return var.assign(core.sub(var, core.mul(core.mul(step, ratio), lr)))


def _adagrad(var: Parameter, accum: Parameter, lr: Any, grad: Tensor, update_slots: bool) -> tuple:
    """Applies an Adagrad update: accum += grad², var -= lr·grad/sqrt(accum).

    Args:
        var (Parameter): The parameter, changed in place.
        accum (Parameter): The sum of squares, changed in place.
        lr (Tensor or number): The learning rate.
        grad (Tensor): The gradient.
        update_slots (bool): Whether `accum` is updated.

    Returns:
        (var, accum).

    Raises:
        TypeError: If a state is not a Parameter.

    Examples:
        >>> import sindri as ms
        >>> w, a = ms.Parameter(ms.Tensor([1.0]), name="w"), ms.Parameter(ms.Tensor([0.0]), name="a")
        >>> print(ms.ops.ApplyAdagrad()(w, a, 0.1, ms.Tensor([2.0]))[0].asnumpy())
        [0.9]
    """
    _state("ops.ApplyAdagrad", var, accum)
    total = core.add(accum, core.square(grad)) if update_slots else accum.value()
    accum.assign(total)
    var.assign(core.sub(var, _quotient(core.mul(grad, lr), core.sqrt(total))))
    return var, accum


def _rmsprop(var: Parameter, mean_square: Parameter, moment: Parameter, learning_rate: Any, grad: Tensor, decay: float, momentum: float,
             epsilon: float) -> Parameter:
    """Applies an RMSProp update.

    mean_square = decay·mean_square + (1 - decay)·grad², moment = momentum·moment + lr·grad/sqrt(mean_square +
    epsilon), var -= moment.

    Args:
        var (Parameter): The parameter, changed in place.
        mean_square (Parameter): The mean square, changed in place.
        moment (Parameter): The momentum, changed in place.
        learning_rate (Tensor or number): The learning rate.
        grad (Tensor): The gradient.
        decay (float): The decay of the mean square.
        momentum (float): The momentum factor.
        epsilon (float): A value added to the mean square.

    Returns:
        `var`.

    Raises:
        TypeError: If a state is not a Parameter.

    Examples:
        >>> import sindri as ms
        >>> w, s, m = (ms.Parameter(ms.Tensor([x]), name=n) for x, n in ((1.0, "w"), (0.0, "s"), (0.0, "m")))
        >>> print(ms.ops.ApplyRMSProp()(w, s, m, 0.1, ms.Tensor([2.0]), 0.75, 0.0, 1e-10).asnumpy().round(4))
        [0.8]
    """
    _state("ops.ApplyRMSProp", var, mean_square, moment)
    square = core.add(core.mul(mean_square, decay), core.mul(core.square(grad), 1 - decay))
    step = core.add(core.mul(moment, momentum), _quotient(core.mul(grad, learning_rate), core.sqrt(core.add(square, epsilon))))
    mean_square.assign(square)
    moment.assign(step)
    return var.assign(core.sub(var, step))


def _descent(var: Parameter, alpha: Any, delta: Tensor) -> Parameter:
    """Applies gradient descent: var -= alpha·delta.

    Args:
        var (Parameter): The parameter, changed in place.
        alpha (Tensor or number): The learning rate.
        delta (Tensor): The gradient.

    Returns:
        `var`.

    Raises:
        TypeError: If `var` is not a Parameter.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ApplyGradientDescent()(ms.Parameter(ms.Tensor([1.0])), 0.5, ms.Tensor([1.0])).asnumpy())
        [0.5]
    """
    _state("ops.ApplyGradientDescent", var)
    return var.assign(core.sub(var, core.mul(delta, alpha)))


ApplyMomentum = primitive("ApplyMomentum", _apply_momentum, ("use_locking",), use_nesterov=False, use_locking=False, gradient_scale=1.0)
FusedWeightScaleApplyMomentum = primitive("FusedWeightScaleApplyMomentum", _apply_momentum_with_decay)
SGD = primitive("SGD", _sgd, dampening=0.0, weight_decay=0.0, nesterov=False)
Adam = primitive("Adam", _adam, ("use_locking",), use_locking=False, use_nesterov=False)
AdamWeightDecay = primitive("AdamWeightDecay", _adam_weight_decay, ("use_locking",), use_locking=False)
FusedCastAdamWeightDecay = primitive("FusedCastAdamWeightDecay", _cast_adam_weight_decay, ("use_locking",), use_locking=False)
Lamb = primitive("Lamb", _lamb)
ApplyAdagrad = primitive("ApplyAdagrad", _adagrad, update_slots=True)
ApplyRMSProp = primitive("ApplyRMSProp", _rmsprop, ("use_locking",), use_locking=False)
ApplyGradientDescent = primitive("ApplyGradientDescent", _descent)


class LSTM:
    """A recurrent layer as an operator; not available yet: it comes with the recurrent layers.

    Raises:
        NotYetError: When it is constructed.

    Examples:
        >>> import sindri as ms
        >>> try:
        ...     ms.ops.LSTM(2, 3)
        ... except Exception as e:
        ...     print(type(e).__name__)
        NotYetError
    """

    def __init__(self, *args: Any, **kwargs: Any):
        not_yet("ops.LSTM", "recurrent layers")


__all__ = [name for name, value in list(globals().items()) if isinstance(value, type) and value.__module__ == __name__]
