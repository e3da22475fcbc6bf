"""Dense and dropout layers, and layers that reshape, pad or compute norms."""
from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence, Tuple, Union

import numpy as np

from sindri import _core, context
from sindri.common import dtype as mstype
from sindri.common.initializer import HeUniform, Uniform, initializer
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_choice, check_float, check_int, fail, is_int
from sindri.nn._padding import same_pads
from sindri.nn.cell import Cell
from sindri.nn.layer.activation import get_activation
from sindri.ops._util import filled, is_long, rounded_once
from sindri.ops.function.pooling_func import windows

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "Flatten", "Unflatten", "Identity", "Dense", "ClipByNorm", "Norm", "OneHot", "Pad",
           "Tril", "Triu", "Roll", "L1Regularizer", "BiDense", "Unfold"]

_ops = _core.ops
Init = Any  # a name, a number, an Initializer or a Tensor


def dense_inits(weight_init: Init, bias_init: Init, fan_in: int) -> Tuple[Init, Init]:
    """Replaces None by the default of MindSpore's major version: U(±1/sqrt(fan_in)) for weight and bias in era 2, N(0, 0.01) and zeros in era 1."""
    old = context.era() == 1
    if weight_init is None:
        weight_init = "normal" if old else HeUniform(math.sqrt(5))
    if bias_init is None:
        bias_init = "zeros" if old or not fan_in else Uniform(1 / math.sqrt(fan_in))
    return weight_init, bias_init


class Dense(Cell):
    """Fully connected layer: y = activation(x·Wᵀ + b).

    Input: x [..., in_channels]. Output: [..., out_channels].

    By default `weight` [out_channels, in_channels] and `bias` [out_channels] are drawn from U(±1/sqrt(in_channels)); with
    SINDRI_MINDSPORE_ERA=1, `weight` is drawn from N(0, 0.01) and `bias` is zeros.

    Args:
        in_channels (int): The size of the input's last dimension.
        out_channels (int): The size of the output's last dimension.
        weight_init (str, float, Initializer, Tensor): How `weight` is initialised. Default: None, as above.
        bias_init (str, float, Initializer, Tensor): How `bias` is initialised. Default: None, as above.
        has_bias (bool): Whether the layer has a bias. Default: True.
        activation (str, Cell): A name for `get_activation`, or a Cell. Default: None.
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a size is below 1, a given weight has another shape, or the input's last dimension is not `in_channels`.
        KeyError: If the activation is unknown.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.Dense(3, 2, weight_init="ones", bias_init="zeros", activation="relu")
        >>> print(net(ms.Tensor([[1.0, 2.0, 3.0], [-1.0, -1.0, 0.0]])))
        [[6. 6.]
         [0. 0.]]
    """

    def __init__(self, in_channels: int, out_channels: int, weight_init: Init = None, bias_init: Init = None, has_bias: bool = True,
                 activation: Union[str, Cell, Callable, None] = None, dtype: Any = mstype.float32) -> None:
        super().__init__()
        self.in_channels = check_int(self.cls_name, "in_channels", in_channels, 1)
        self.out_channels = check_int(self.cls_name, "out_channels", out_channels, 1)
        self.has_bias = check_bool(self.cls_name, "has_bias", has_bias)
        weight_init, bias_init = dense_inits(weight_init, bias_init, self.in_channels)
        self.weight = Parameter(initializer(weight_init, (self.out_channels, self.in_channels), dtype), name="weight")
        self.bias: Optional[Parameter]
        if has_bias:
            self.bias = Parameter(initializer(bias_init, (self.out_channels,), dtype), name="bias")
        else:
            self.bias = None
        if isinstance(activation, str):
            activation = get_activation(activation, self.cls_name)
        if activation is not None and not callable(activation):
            fail(TypeError, f"{self.cls_name}: activation must be a str or a Cell, got {activation!r}")
        self.activation: Any = activation
        self.activation_flag = activation is not None

    def construct(self, x: Tensor) -> Tensor:
        shape = x.shape
        if not shape or shape[-1] != self.in_channels:
            fail(ValueError, f"{self.cls_name}: the input's last dimension must be in_channels={self.in_channels}, got shape {tuple(shape)}",
                 "flatten the input first (nn.Flatten), or set in_channels" if len(shape) == 4 else "")
        if len(shape) != 2:
            x = _ops.reshape(x, (-1, self.in_channels))
        x = _ops.matmul(x, self.weight, False, True)
        if self.has_bias:
            x = _ops.add(x, self.bias)
        if len(shape) != 2:
            x = _ops.reshape(x, tuple(shape[:-1]) + (self.out_channels,))
        return self.activation(x) if self.activation_flag else x

    def extend_repr(self) -> str:
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            text += f", has_bias={self.has_bias}"
        return text + (f", activation={self.activation}" if self.activation_flag else "")


class _DropoutBase(Cell):
    """Base of dropout layers: keeps an element or channel with probability keep_prob and scales it by 1/keep_prob; the identity in inference."""

    def __init__(self, keep_prob: float, p: Optional[float]) -> None:
        super().__init__()
        if p is None:
            if isinstance(keep_prob, int) and not isinstance(keep_prob, bool) and keep_prob != 1:
                fail(TypeError, f"keep_prob must be a float, got {keep_prob} of type int", self.cls_name)
            self.keep_prob = check_float(self.cls_name, "keep_prob", keep_prob, above=0, most=1)
        else:
            self.keep_prob = 1 - check_float(self.cls_name, "p", p, least=0, below=1)
        self.p = p

    def extend_repr(self) -> str:
        return f"keep_prob={self.keep_prob}" if self.p is None else f"p={self.p}"


class Dropout(_DropoutBase):
    """Zeroes random elements in training and scales the others by 1/keep_prob; the identity in inference.

    Args:
        keep_prob (float): The probability to keep an element, in (0, 1]. Default: 0.5.
        p (float): The probability to drop an element, in [0, 1); overrides `keep_prob`. Default: None.
        dtype (DType): Stored without effect. Default: float32.

    Raises:
        TypeError: If a probability is not a number, or `keep_prob` is an int other than 1.
        ValueError: If a probability is out of range.

    Examples:
        >>> import sindri as ms
        >>> dropout = ms.nn.Dropout(p=0.5)
        >>> print(dropout(ms.Tensor([1.0, 2.0])))
        [1. 2.]
        >>> y = dropout.set_train()(ms.ops.ones((100,), ms.float32))
        >>> sorted(set(y.asnumpy().tolist()))
        [0.0, 2.0]
    """

    def __init__(self, keep_prob: float = 0.5, p: Optional[float] = None, dtype: Any = mstype.float32) -> None:
        super().__init__(keep_prob, p)
        self.dtype = dtype

    def construct(self, x: Tensor) -> Tensor:
        return _ops.dropout(x, self.keep_prob) if self.training and self.keep_prob < 1 else x


class _ChannelDropout(_DropoutBase):
    """Dropout of whole channels (axis 1) of a batched input; `_ranks` lists the accepted ranks."""

    _ranks: Tuple[int, ...] = ()

    def __init__(self, p: float = 0.5) -> None:
        if p == 1:  # the dropout kernel accepts no keep probability of 0
            Cell.__init__(self)
            self.keep_prob, self.p = 0.0, 1.0
        else:
            super().__init__(1.0, p)

    def construct(self, x: Tensor) -> Tensor:
        rank = len(x.shape)
        if rank not in self._ranks:
            fail(ValueError, f"{self.cls_name}: the input must have {' or '.join(map(str, self._ranks))} dimensions, got shape {tuple(x.shape)}")
        if not self.training or self.keep_prob == 1:
            return x
        if self.keep_prob == 0:
            return _ops.mul(x, 0.0)
        batched = rank == max(self._ranks)
        shape = tuple(x.shape[:2]) + (1,) * (rank - 2) if batched else tuple(x.shape[:1]) + (1,) * (rank - 1)
        return _ops.mul(x, _ops.dropout(_ops.full(shape, 1.0, x.dtype), self.keep_prob))


class Dropout1d(_ChannelDropout):
    """Zeroes random channels of an input [N, C, L] or [C, L] in training; the identity in inference.

    Args:
        p (float): The probability to drop a channel, in [0, 1]. Default: 0.5.

    Raises:
        TypeError: If `p` is not a number.
        ValueError: If `p` is out of range, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.Dropout1d(0.5).set_train()(ms.ops.ones((2, 3, 4), ms.float32)).shape
        (2, 3, 4)
    """

    _ranks = (2, 3)


class Dropout2d(_ChannelDropout):
    """Zeroes random channels of an input [N, C, H, W] or [C, H, W] in training; the identity in inference.

    Args:
        p (float): The probability to drop a channel, in [0, 1]. Default: 0.5.

    Raises:
        TypeError: If `p` is not a number.
        ValueError: If `p` is out of range, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.Dropout2d(0.5).set_train()(ms.ops.ones((2, 3, 4, 4), ms.float32)).shape
        (2, 3, 4, 4)
    """

    _ranks = (3, 4)


class Dropout3d(_ChannelDropout):
    """Zeroes random channels of an input [N, C, D, H, W] or [C, D, H, W] in training; the identity in inference.

    Args:
        p (float): The probability to drop a channel, in [0, 1]. Default: 0.5.

    Raises:
        TypeError: If `p` is not a number.
        ValueError: If `p` is out of range, or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.Dropout3d(0.5).set_train()(ms.ops.ones((2, 3, 4, 4, 4), ms.float32)).shape
        (2, 3, 4, 4, 4)
    """

    _ranks = (4, 5)


class Flatten(Cell):
    """Flattens the dimensions from start_dim to end_dim into one; by default all except axis 0.

    Args:
        start_dim (int): The first dimension to flatten. Default: 1.
        end_dim (int): The last dimension to flatten. Default: -1.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If an axis is out of range, or `start_dim` comes after `end_dim`.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.Flatten()(ms.ops.ones((2, 3, 4), ms.float32)).shape
        (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = check_int("Flatten", "start_dim", start_dim), check_int("Flatten", "end_dim", end_dim)

    def construct(self, x: Tensor) -> Tensor:
        rank = max(len(x.shape), 1)
        if not (-rank <= self.start_dim < rank and -rank <= self.end_dim < rank):
            fail(ValueError, f"Flatten: start_dim {self.start_dim} and end_dim {self.end_dim} must be axes of the input, got shape {tuple(x.shape)}")
        if self.start_dim % rank > self.end_dim % rank:
            fail(ValueError, f"Flatten: start_dim {self.start_dim} is greater than end_dim {self.end_dim} for shape {tuple(x.shape)}")
        return _ops.flatten(x, self.start_dim, self.end_dim) if x.shape else _ops.reshape(x, (1,))


class Unflatten(Cell):
    """Splits one dimension into several.

    Args:
        axis (int): The dimension to split.
        unflattened_size (tuple, list): Its new sizes; one may be -1.

    Raises:
        TypeError: If `unflattened_size` is not a tuple or list of ints.
        ValueError: If `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.Unflatten(1, (3, -1))(ms.ops.ones((2, 12), ms.float32)).shape
        (2, 3, 4)
    """

    def __init__(self, axis: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.axis = check_int("Unflatten", "axis", axis)
        if not isinstance(unflattened_size, (tuple, list)):
            fail(TypeError, f"Unflatten: unflattened_size must be a tuple or a list, got {unflattened_size!r}")
        self.unflattened_size = tuple(check_int("Unflatten", "unflattened_size", s, -1) for s in unflattened_size)

    def construct(self, x: Tensor) -> Tensor:
        shape = tuple(x.shape)
        if not -len(shape) <= self.axis < len(shape):
            fail(ValueError, f"Unflatten: axis {self.axis} is not one of shape {shape}")
        axis = self.axis % len(shape)
        return _ops.reshape(x, shape[:axis] + self.unflattened_size + shape[axis + 1:])


class Identity(Cell):
    """Returns its input.

    Args:
        *args: Ignored.
        **kwargs: Ignored.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Identity()(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, x: Tensor) -> Tensor:
        return x


class ClipByNorm(Cell):
    """Scales x so that its L2 norm is at most clip_norm; called as `(x, clip_norm)`, where clip_norm is a number or a Tensor.

    The output has x's type.

    Args:
        axis (int, tuple): The dimensions of each norm. Default: None, all.

    Raises:
        TypeError: If `axis` is not None, an int or a tuple of ints.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.ClipByNorm()(ms.Tensor([3.0, 4.0]), 1.0).asnumpy().round(4))
        [0.6 0.8]
    """

    def __init__(self, axis: Any = None) -> None:
        super().__init__()
        if axis is None:
            axis = ()
        elif is_int(axis):
            axis = (axis,)
        elif not (isinstance(axis, tuple) and all(is_int(a) for a in axis)):
            fail(TypeError, f"ClipByNorm: axis must be None, an int or a tuple of ints, got {axis!r}")
        self.axis = axis

    def construct(self, x: Tensor, clip_norm: Union[Tensor, float]) -> Tensor:
        return _ops.clip_by_axes_norm(x, clip_norm if isinstance(clip_norm, Tensor) else float(clip_norm), self.axis)


class Norm(Cell):
    """L2 norm over some dimensions.

    Args:
        axis (int, tuple): The dimensions. Default: (), all.
        keep_dims (bool): Whether they are kept with size 1. Default: False.

    Raises:
        TypeError: If `keep_dims` is not a bool.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Norm(axis=1)(ms.Tensor([[3.0, 4.0], [6.0, 8.0]])))
        [ 5. 10.]
    """

    def __init__(self, axis: Union[int, Tuple[int, ...]] = (), keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, check_bool("Norm", "keep_dims", keep_dims)
        self._axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def construct(self, x: Tensor) -> Tensor:
        return _ops.norm(x, 2.0, self._axes, self.keep_dims)

    def extend_repr(self) -> str:
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class OneHot(Cell):
    """One-hot vectors of integer indices.

    The output has a new dimension of size `depth`. It is `on_value` at the index and `off_value` elsewhere; an index out of range gives
    only `off_value`.

    Args:
        axis (int): The position of the new dimension; -1 is the last. Default: -1.
        depth (int): The number of classes. Default: 1.
        on_value (float): The value at the index. Default: 1.0.
        off_value (float): The value elsewhere. Default: 0.0.
        dtype (DType): The type of the output. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `depth` is below 1 or `axis` is out of range.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.OneHot(depth=3)(ms.Tensor([0, 2])))
        [[1. 0. 0.]
         [0. 0. 1.]]
    """

    def __init__(self, axis: int = -1, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = mstype.float32) -> None:
        super().__init__()
        self.axis, self.depth = check_int("OneHot", "axis", axis, -1), check_int("OneHot", "depth", depth, 1)
        self.dtype = dtype
        self.on_value, self.off_value = on_value, off_value
        self._values = tuple(v.item() if isinstance(v, Tensor) else v for v in (on_value, off_value))
        for v in self._values:
            check_float("OneHot", "a value", v)

    def construct(self, indices: Tensor) -> Tensor:
        if self.dtype is mstype.int64 and any(is_long(v) for v in self._values):  # the op takes floats
            on, off = (filled((), v, self.dtype) for v in self._values)
            y = _ops.where(_ops.one_hot(indices, self.depth, 1.0, 0.0, mstype.bool_), on, off)
        else:
            y = _ops.one_hot(indices, self.depth, float(self._values[0]), float(self._values[1]), self.dtype)
        rank = len(indices.shape)
        if self.axis in (-1, rank):
            return y
        if self.axis > rank:
            fail(ValueError, f"OneHot: axis must be from -1 to {rank} for indices of shape {tuple(indices.shape)}, got {self.axis}")
        return _ops.transpose(y, tuple(range(self.axis)) + (rank,) + tuple(range(self.axis, rank)))


class Pad(Cell):
    """Pads every dimension, with zeros or mirrored values.

    Args:
        paddings (tuple): (before, after) for each dimension.
        mode (str): "CONSTANT" pads with zeros, "REFLECT" mirrors without the edge, "SYMMETRIC" with it. Default: "CONSTANT".

    Raises:
        TypeError: If `paddings` is not a tuple or list of pairs of ints.
        ValueError: If the mode is unknown, a padding is negative or an entry is not a pair.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Pad(((0, 0), (1, 2)), mode="SYMMETRIC")(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[1. 1. 2. 3. 3. 2.]]
    """

    def __init__(self, paddings: Sequence[Sequence[int]], mode: str = "CONSTANT") -> None:
        super().__init__()
        self.mode = check_choice("Pad", "mode", mode, ("CONSTANT", "REFLECT", "SYMMETRIC"))
        if not isinstance(paddings, (tuple, list)) or not all(isinstance(p, (tuple, list)) for p in paddings):
            fail(TypeError, f"Pad: paddings must be a tuple of (before, after), got {paddings!r}")
        if not all(len(p) == 2 for p in paddings):
            fail(ValueError, f"Pad: every padding must be (before, after), got {paddings!r}")
        self.paddings = paddings
        self._pads = tuple(check_int("Pad", "a padding", v, 0) for p in paddings for v in p)
        self._mode = mode.lower()

    def construct(self, x: Tensor) -> Tensor:
        return _ops.pad(x, self._pads, 0.0, self._mode)


class _Triangle(Cell):
    """Zeroes the elements of the last two dimensions on one side of a diagonal."""

    _mask = staticmethod(np.tril)

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        if len(x.shape) < 2:
            fail(ValueError, f"{self.cls_name}: the input must have at least 2 dimensions, got shape {tuple(x.shape)}")
        mask = Tensor(self._mask(np.ones(tuple(x.shape[-2:]), np.bool_), k))
        return _ops.where(mask, x, _ops.zeros_like(x))


class Tril(_Triangle):
    """Zeroes the elements above diagonal k of the last two dimensions.

    Inputs:
        x (Tensor): Shape [..., n, m].
        k (int): The diagonal; above the main diagonal if positive, below it if negative. Default: 0.

    Outputs:
        Tensor of the shape of x.

    Raises:
        ValueError: If the input has fewer than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Tril()(ms.Tensor([[1, 2], [3, 4]])))
        [[1 0]
         [3 4]]
    """

    _mask = staticmethod(np.tril)


class Triu(_Triangle):
    """Zeroes the elements below diagonal k of the last two dimensions.

    Inputs:
        x (Tensor): Shape [..., n, m].
        k (int): The diagonal; above the main diagonal if positive, below it if negative. Default: 0.

    Outputs:
        Tensor of the shape of x.

    Raises:
        ValueError: If the input has fewer than 2 dimensions.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Triu()(ms.Tensor([[1, 2], [3, 4]])))
        [[1 2]
         [0 4]]
    """

    _mask = staticmethod(np.triu)


class Roll(Cell):
    """Rolls elements along dimensions; those shifted past the end reappear at the start.

    Args:
        shift (int, tuple): By how many places to roll.
        axis (int, tuple): The dimension of each shift.

    Raises:
        ValueError: If `shift` and `axis` have different lengths.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Roll(1, 0)(ms.Tensor([1, 2, 3])))
        [3 1 2]
    """

    def __init__(self, shift: Union[int, Tuple[int, ...]], axis: Union[int, Tuple[int, ...]]) -> None:
        super().__init__()
        self.shift = (shift,) if isinstance(shift, int) else tuple(shift)
        self.axis = (axis,) if isinstance(axis, int) else tuple(axis)
        if len(self.shift) != len(self.axis):
            fail(ValueError, f"Roll: shift and axis must be equally many, got {self.shift} and {self.axis}")

    def construct(self, x: Tensor) -> Tensor:
        for shift, axis in zip(self.shift, self.axis):
            size = x.shape[axis]
            if size and shift % size:
                back = size - shift % size
                first, second = _ops.split(x, (back, size - back), axis)
                x = _ops.concat([second, first], axis)
        return x


class L1Regularizer(Cell):
    """L1 penalty: scale·sum(|weights|).

    Args:
        scale (float): The factor, above 0.

    Raises:
        TypeError: If `scale` is not a number.
        ValueError: If `scale` is not above 0.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.L1Regularizer(0.5)(ms.Tensor([1.0, -3.0])))
        2.0
    """

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = check_float("L1Regularizer", "scale", scale, above=0)

    def construct(self, weights: Tensor) -> Tensor:
        return _ops.mul(_ops.sum(_ops.abs(weights)), self.scale)


class BiDense(Cell):
    """Bilinear layer: y = x1·W·x2 + b, one bilinear form per output.

    Inputs: x1 [..., in1_channels], x2 [..., in2_channels]. Output: [..., out_channels].

    Args:
        in1_channels (int): The size of x1's last dimension.
        in2_channels (int): The size of x2's last dimension.
        out_channels (int): The size of the output's last dimension.
        weight_init (str, float, Initializer, Tensor): How `weight` [out, in1, in2] is initialised. Default: None, U(±1/sqrt(in1)).
        bias_init (str, float, Initializer, Tensor): How `bias` [out] is initialised. Default: None, U(±1/sqrt(in1)).
        has_bias (bool): Whether the layer has a bias. Default: True.
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a size is below 1, or the inputs have other shapes.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.BiDense(2, 3, 4)
        >>> net(ms.ops.ones((5, 2), ms.float32), ms.ops.ones((5, 3), ms.float32)).shape
        (5, 4)
    """

    def __init__(self, in1_channels: int, in2_channels: int, out_channels: int, weight_init: Init = None, bias_init: Init = None,
                 has_bias: bool = True, dtype: Any = mstype.float32) -> None:
        super().__init__()
        who = self.cls_name
        self.in1_channels, self.in2_channels = check_int(who, "in1_channels", in1_channels, 1), check_int(who, "in2_channels", in2_channels, 1)
        self.out_channels, self.has_bias = check_int(who, "out_channels", out_channels, 1), check_bool(who, "has_bias", has_bias)
        bound = Uniform(1 / math.sqrt(in1_channels))
        shape = (out_channels, in1_channels, in2_channels)
        self.weight = Parameter(initializer(bound if weight_init is None else weight_init, shape, dtype), name="weight")
        self.bias: Optional[Parameter] = None
        if has_bias:
            self.bias = Parameter(initializer(bound if bias_init is None else bias_init, (out_channels,), dtype), name="bias")

    def construct(self, input1: Tensor, input2: Tensor) -> Tensor:
        lead = tuple(input1.shape[:-1])
        if tuple(input2.shape[:-1]) != lead or input1.shape[-1:] != (self.in1_channels,) or input2.shape[-1:] != (self.in2_channels,):
            fail(ValueError, f"BiDense: the inputs must be [..., {self.in1_channels}] and [..., {self.in2_channels}], got shapes "
                 f"{tuple(input1.shape)} and {tuple(input2.shape)}")
        return _ops.reshape(self._form(input1, input2, self.weight, self.bias), lead + (self.out_channels,))

    @rounded_once()
    def _form(self, input1: Tensor, input2: Tensor, weight: Tensor, bias: Optional[Tensor]) -> Tensor:
        left = _ops.reshape(_ops.transpose(weight, (1, 0, 2)), (self.in1_channels, -1))
        rows = _ops.reshape(_ops.matmul(_ops.reshape(input1, (-1, self.in1_channels)), left), (-1, self.out_channels, self.in2_channels))
        y = _ops.sum(_ops.mul(rows, _ops.reshape(input2, (-1, 1, self.in2_channels))), (2,))
        return y if bias is None else _ops.add(y, bias)

    def extend_repr(self) -> str:
        return (f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}, out_channels={self.out_channels}, has_bias={self.has_bias}")


class Unfold(Cell):
    """Extracts windows of an input [N, C, H, W] as columns [N, kh·kw·C, OH, OW].

    The channels of one window element are adjacent.

    Args:
        ksizes (tuple, list): The window, [1, rows, columns, 1].
        strides (tuple, list): The distance between windows, [1, rows, columns, 1].
        rates (tuple, list): The dilation, [1, rows, columns, 1].
        padding (str): "same" or "valid", in upper or lower case. Default: "valid".

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a list has another form, the padding is unknown or the input does not have 4 dimensions.

    Examples:
        >>> import sindri as ms
        >>> unfold = ms.nn.Unfold([1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1])
        >>> unfold(ms.ops.ones((1, 3, 4, 4), ms.float32)).shape
        (1, 12, 2, 2)
    """

    def __init__(self, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str = "valid") -> None:
        super().__init__()
        for name, v in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
            if not isinstance(v, (tuple, list)):
                fail(TypeError, f"Unfold: {name} must be a tuple or a list, got {v!r}")
            if len(v) != 4 or v[0] != 1 or v[3] != 1:
                fail(ValueError, f"Unfold: {name} must be [1, rows, columns, 1], got {v!r}")
        self.ksizes, self.strides, self.rates = ksizes, strides, rates
        self.padding = check_choice("Unfold", "padding", padding.lower() if isinstance(padding, str) else padding, ("same", "valid"))
        self._window = tuple((check_int("Unfold", "ksizes", ksizes[i], 1), check_int("Unfold", "strides", strides[i], 1),
                              check_int("Unfold", "rates", rates[i], 1)) for i in (1, 2))

    def construct(self, input_x: Tensor) -> Tensor:
        if len(input_x.shape) != 4:
            fail(ValueError, f"Unfold: the input must have 4 dimensions, got shape {tuple(input_x.shape)}")
        (kh, sh, rh), (kw, sw, rw) = self._window
        height, width = input_x.shape[2:]
        pads = same_pads(height, kh, sh, rh) + same_pads(width, kw, sw, rw) if self.padding == "same" else (0, 0, 0, 0)
        taken = windows(_ops.pad(input_x, (0, 0, 0, 0) + pads), (kh, kw), (sh, sw), (rh, rw), 0, "nn.Unfold")
        n, c, _, _, oh, ow = taken.shape
        return _ops.reshape(_ops.transpose(taken, (0, 2, 3, 1, 4, 5)), (n, kh * kw * c, oh, ow))
