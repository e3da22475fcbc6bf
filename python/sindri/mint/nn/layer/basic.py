"""Linear, embedding, dropout, and layers of mindspore.mint.nn that reshape and resize."""
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


def drawn(weight_init: Any, bias_init: Any, shape: Tuple[int, ...], outputs: int, bias: bool, dtype: Any) -> Tuple[Parameter, Optional[Parameter]]:
    """(weight, bias or None), by default both from U(±1/sqrt(fan_in)), fan_in being the product of shape[1:], as in PyTorch."""
    dtype, fan_in = dtype or mstype.float32, math.prod(shape[1:])
    weight = Parameter(initializer(HeUniform(math.sqrt(5)) if weight_init is None else weight_init, shape, dtype), name="weight")
    if not bias:
        return weight, None
    if bias_init is None:
        bias_init = Uniform(1 / math.sqrt(fan_in)) if fan_in else "zeros"
    return weight, Parameter(initializer(bias_init, (outputs,), dtype), name="bias")


class Linear(Cell):
    """input [..., in_features] -> [..., out_features], input·weightᵀ + bias. Parameters `weight` [out, in] and, with bias, `bias` [out]."""

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
    """Rows of `weight` [num_embeddings, embedding_dim], at first from N(0, 1) and row padding_idx zeros; arguments as functional.embedding.

    _weight: the initial weight instead; _freeze: it gets no gradient. `sparse` has no effect: gradients are dense.
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
    """In training, elements set to 0 with probability p and the others divided by 1 - p."""

    _drop: Any = staticmethod(F.dropout)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = check_float(self.cls_name, "p", p, least=0, most=1), check_bool(self.cls_name, "inplace", inplace)

    def construct(self, input: Tensor) -> Tensor:
        return self._drop(input, self.p, self.training, self.inplace)

    def extend_repr(self) -> str:
        return f"p={self.p}"


class Dropout2d(Dropout):
    """In training, whole channels of [n, c, ...] set to 0 with probability p and the others divided by 1 - p."""

    _drop: Any = staticmethod(F.dropout2d)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__(p, inplace)


class Flatten(Cell):
    """Dimensions start_dim to end_dim as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = check_int("Flatten", "start_dim", start_dim), check_int("Flatten", "end_dim", end_dim)

    def construct(self, input: Tensor) -> Tensor:
        return F.flatten(input, self.start_dim, self.end_dim)


class Identity(Cell):
    """The input; any arguments are accepted and ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return input


class Fold(Cell):
    """Columns of windows added up to images; see functional.fold."""

    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.output_size, self.kernel_size, self.dilation, self.padding, self.stride = output_size, kernel_size, dilation, padding, stride

    def construct(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


class Unfold(Cell):
    """Windows of images as columns; see functional.unfold."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def construct(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class PixelShuffle(Cell):
    """[..., c·r², h, w] -> [..., c, h·r, w·r] with r = upscale_factor."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = check_int("PixelShuffle", "upscale_factor", upscale_factor, 1)

    def construct(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)


class Upsample(Cell):
    """Spatial dimensions resized; arguments as functional.interpolate."""

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
    """Images [n, c, h, w] resized by their nearest pixels."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Images [n, c, h, w] resized linearly in both directions, with aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)
