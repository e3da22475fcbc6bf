"""Linear, embedding and dropout layers of mindspore.mint.nn, and layers that reshape and resize."""
from __future__ import annotations

import math
from typing import Any, Optional, Tuple

from sindri._check import check_bool, check_float, check_int, fail
from sindri.common import dtype as mstype
from sindri.common.initializer import HeUniform, Normal, Uniform, initializer
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.mint.nn import functional as F
from sindri.nn.cell import Cell

__all__ = ["Linear", "Embedding", "Dropout", "Dropout2d", "Flatten", "Identity", "Fold", "Unfold", "PixelShuffle", "Upsample", "UpsamplingNearest2d",
           "UpsamplingBilinear2d"]


def drawn(weight_init: Any, bias_init: Any, shape: Tuple[int, ...], outputs: int, bias: bool, dtype: Any) -> Tuple[Parameter, Optional[Parameter]]:
    """Returns (weight, bias or None), by default both from U(±1/sqrt(fan_in)) as in PyTorch, where fan_in is the product
    of shape[1:].
    """
    dtype, fan_in = dtype or mstype.float32, math.prod(shape[1:])
    weight = Parameter(initializer(HeUniform(math.sqrt(5)) if weight_init is None else weight_init, shape, dtype), name="weight")
    if not bias:
        return weight, None
    if bias_init is None:
        bias_init = Uniform(1 / math.sqrt(fan_in)) if fan_in else "zeros"
    return weight, Parameter(initializer(bias_init, (outputs,), dtype), name="bias")


class Linear(Cell):
    """Computes input·weightᵀ + bias for inputs [..., in_features].

    Parameters: `weight` [out_features, in_features] and, with `bias`, `bias` [out_features].

    Args:
        in_features (int): The size of the input's last dimension.
        out_features (int): The size of the result's last dimension.
        bias (bool): Whether the layer has a bias. Default: True.
        weight_init (Tensor, str, number or Initializer): The initial weight; None means U(±1/sqrt(in_features)).
            Default: None.
        bias_init (Tensor, str, number or Initializer): The initial bias; None means U(±1/sqrt(in_features)).
            Default: None.
        dtype (dtype): The type of the parameters; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a size is below 1 or the input's last dimension is not `in_features`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Linear(2, 3)(ms.ops.ones((4, 2))).shape)
        (4, 3)
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, weight_init: Any = None, bias_init: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = check_int("Linear", "in_features", in_features, 1), check_int("Linear", "out_features", out_features, 1)
        self.has_bias = check_bool("Linear", "bias", bias)
        self.weight, self.bias = drawn(weight_init, bias_init, (out_features, in_features), out_features, bias, dtype)

    def construct(self, input: Tensor) -> Tensor:
        if not input.shape or input.shape[-1] != self.in_features:
            fail(ValueError, f"Linear: the input's last dimension must be in_features {self.in_features}, got shape {tuple(input.shape)}")
        return F.linear(input, self.weight, self.bias)

    def extend_repr(self) -> str:
        return f"input_features={self.in_features}, output_features={self.out_features}, has_bias={self.has_bias}"


class Embedding(Cell):
    """Looks up rows of the parameter `weight` [num_embeddings, embedding_dim]; see `functional.embedding`.

    The rows are initialised from N(0, 1); row `padding_idx` is zeros.

    Args:
        num_embeddings (int): The number of rows.
        embedding_dim (int): The size of a row.
        padding_idx (int): The row that gets no gradient, or None. Default: None.
        max_norm (float): The bound of a row's norm, or None. Default: None.
        norm_type (float): The order of the norm. Default: 2.0.
        scale_grad_by_freq (bool): Whether the gradient of a row is divided by how often the input names it.
            Default: False.
        sparse (bool): No effect: gradients are dense. Default: False.
        _weight (Tensor): The initial weight. Default: None.
        _freeze (bool): Whether the weight gets no gradient. Default: False.
        dtype (dtype): The type of the weight; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `padding_idx` is out of range or `_weight` has another shape.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Embedding(3, 2)(ms.Tensor([0, 2])).shape)
        (2, 2)
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: Optional[int] = None, max_norm: Optional[float] = None, norm_type: float = 2.0,
                 scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Optional[Tensor] = None, _freeze: bool = False, dtype: Any = None) -> None:
        super().__init__()
        rows, width = check_int("Embedding", "num_embeddings", num_embeddings, 1), check_int("Embedding", "embedding_dim", embedding_dim, 1)
        if padding_idx is not None and not -rows <= check_int("Embedding", "padding_idx", padding_idx) < rows:
            fail(ValueError, f"Embedding: padding_idx must be in [{-rows}, {rows}), got {padding_idx}")
        self.num_embeddings, self.embedding_dim, self.sparse = rows, width, check_bool("Embedding", "sparse", sparse)
        self.padding_idx = None if padding_idx is None else padding_idx % rows
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        if _weight is None:
            start = initializer(Normal(1.0), (rows, width), dtype or mstype.float32).init_data()
            if self.padding_idx is not None:
                start[self.padding_idx] = 0
        elif tuple(_weight.shape) != (rows, width):
            fail(ValueError, f"Embedding: _weight must have the shape ({rows}, {width}), got {tuple(_weight.shape)}")
        else:
            start = _weight if dtype is None else _weight.astype(dtype)
        self.weight = Parameter(start, name="weight", requires_grad=not check_bool("Embedding", "_freeze", _freeze))

    def construct(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq)

    def extend_repr(self) -> str:
        return f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, padding_idx={self.padding_idx}"


class Dropout(Cell):
    """Sets elements to 0 with probability p in training and divides the others by 1 - p.

    Args:
        p (float): The probability to drop an element. Default: 0.5.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Raises:
        ValueError: If `p` is not in [0, 1].

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Dropout(0.5).set_train(False)(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    _drop: Any = staticmethod(F.dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = check_float(self.cls_name, "p", p, least=0, most=1), check_bool(self.cls_name, "inplace", inplace)

    def construct(self, input: Tensor) -> Tensor:
        return self._drop(input, self.p, self.training, self.inplace)

    def extend_repr(self) -> str:
        return f"p={self.p}"


class Dropout2d(Dropout):
    """Sets whole channels of [n, c, ...] to 0 with probability p in training and divides the others by 1 - p.

    Args:
        p (float): The probability to drop a channel. Default: 0.5.
        inplace (bool): Whether the input itself is given the result. Default: False.

    Raises:
        ValueError: If `p` is not in [0, 1].

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Dropout2d(0.5).set_train(False)(ms.ops.ones((1, 1, 1, 2))))
        [[[[1. 1.]]]]
    """

    _drop: Any = staticmethod(F.dropout2d)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__(p, inplace)


class Flatten(Cell):
    """Flattens dimensions start_dim to end_dim into one.

    Args:
        start_dim (int): The first dimension to flatten. Default: 1.
        end_dim (int): The last dimension to flatten. Default: -1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Flatten()(ms.ops.ones((2, 3, 4))).shape)
        (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = check_int("Flatten", "start_dim", start_dim), check_int("Flatten", "end_dim", end_dim)

    def construct(self, input: Tensor) -> Tensor:
        return F.flatten(input, self.start_dim, self.end_dim)


class Identity(Cell):
    """Returns its input. Any constructor arguments are accepted and ignored.

    Args:
        *args: No effect.
        **kwargs: No effect.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Identity()(ms.Tensor([1, 2])))
        [1 2]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return input


class Fold(Cell):
    """Sums columns of windows to images; see `functional.fold`.

    Args:
        output_size (int or sequence of ints): The size of the images.
        kernel_size (int or sequence of ints): The window.
        dilation (int or sequence of ints): The distance of a window's elements. Default: 1.
        padding (int or sequence of ints): The padding. Default: 0.
        stride (int or sequence of ints): The step of the windows. Default: 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Fold((2, 2), (1, 2))(ms.Tensor([[[1.0, 3.0], [2.0, 4.0]]])))
        [[[[1. 2.]
           [3. 4.]]]]
    """

    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.output_size, self.kernel_size, self.dilation, self.padding, self.stride = output_size, kernel_size, dilation, padding, stride

    def construct(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


class Unfold(Cell):
    """Extracts windows of images as columns; see `functional.unfold`.

    Args:
        kernel_size (int or sequence of ints): The window.
        dilation (int or sequence of ints): The distance of a window's elements. Default: 1.
        padding (int or sequence of ints): The padding. Default: 0.
        stride (int or sequence of ints): The step of the windows. Default: 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Unfold((1, 2))(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])))
        [[[1. 3.]
          [2. 4.]]]
    """

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def construct(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class PixelShuffle(Cell):
    """Moves channels to blocks of pixels: [..., c·r², h, w] -> [..., c, h·r, w·r] with r = upscale_factor.

    Args:
        upscale_factor (int): The factor r.

    Raises:
        ValueError: If r² does not divide the number of channels.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.PixelShuffle(2)(ms.ops.ones((1, 4, 2, 3))).shape)
        (1, 1, 4, 6)
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = check_int("PixelShuffle", "upscale_factor", upscale_factor, 1)

    def construct(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)


class Upsample(Cell):
    """Resizes spatial dimensions; see `functional.interpolate`.

    Args:
        size (int or sequence of ints): The new sizes; either this or `scale_factor` is given. Default: None.
        scale_factor (number or sequence of numbers): The factors of the sizes. Default: None.
        mode (str): The mode. Default: "nearest".
        align_corners (bool): Whether the corners of input and result coincide. Default: None.
        recompute_scale_factor (bool): Whether to use the ratio of the sizes instead of `scale_factor`. Default: None.

    Raises:
        ValueError: If the arguments are incompatible; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.Upsample(size=4)(ms.Tensor([[[1.0, 2.0]]])))
        [[[1. 1. 2. 2.]]]
    """

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Optional[bool] = None,
                 recompute_scale_factor: Optional[bool] = None) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, input: Tensor) -> Tensor:
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor)

    def extend_repr(self) -> str:
        return f"size={self.size}, scale_factor={self.scale_factor}, mode={self.mode!r}, align_corners={self.align_corners}"


class UpsamplingNearest2d(Upsample):
    """Resizes images [n, c, h, w] by the nearest pixels.

    Args:
        size (int or sequence of ints): The new sizes; either this or `scale_factor` is given. Default: None.
        scale_factor (number or sequence of numbers): The factors of the sizes. Default: None.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.UpsamplingNearest2d(scale_factor=2)(ms.Tensor([[[[1.0, 2.0]]]])))
        [[[[1. 1. 2. 2.]
           [1. 1. 2. 2.]]]]
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Resizes images [n, c, h, w] linearly in both directions, with aligned corners.

    Args:
        size (int or sequence of ints): The new sizes; either this or `scale_factor` is given. Default: None.
        scale_factor (number or sequence of numbers): The factors of the sizes. Default: None.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.UpsamplingBilinear2d(size=(1, 3))(ms.Tensor([[[[1.0, 3.0]]]])))
        [[[[1. 2. 3.]]]]
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)
