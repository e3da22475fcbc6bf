"""The layers that MindSpore's conversion for THOR inserts into a network, under their names.

nn.thor reads the curvature from the step. So these layers compute what the plain layers do, with the same Parameter names.
"""
from __future__ import annotations

from typing import Any, Optional, Union

from sindri.common import dtype as mstype
from sindri.nn.layer.basic import Dense
from sindri.nn.layer.conv import Conv2d
from sindri.nn.layer.embedding import Embedding, EmbeddingLookup

__all__ = ["DenseThor", "Conv2dThor", "EmbeddingThor", "EmbeddingLookupThor"]


class DenseThor(Dense):
    """Dense with MindSpore's initial values for this name: N(0, 0.01) and zeros. The attribute `thor` has no effect.

    Args:
        in_channels (int): As in Dense.
        out_channels (int): As in Dense.
        weight_init (str, float, Initializer, Tensor): How the weight is initialised. Default: "normal".
        bias_init (str, float, Initializer, Tensor): How the bias is initialised. Default: "zeros".
        has_bias (bool): As in Dense. Default: True.
        activation (str, Cell): As in Dense. Default: None.

    Raises:
        TypeError: As in Dense.
        ValueError: As in Dense.
        KeyError: As in Dense.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.DenseThor(3, 2)(ms.ops.ones((4, 3), ms.float32)).shape
        (4, 2)
    """

    def __init__(self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros", has_bias: bool = True,
                 activation: Any = None) -> None:
        super().__init__(in_channels, out_channels, weight_init, bias_init, has_bias, activation)
        self.thor = True


class Conv2dThor(Conv2d):
    """Conv2d with MindSpore's initial values for this name: N(0, 0.01) and zeros. The attribute `thor` has no effect.

    Args:
        in_channels (int): As in Conv2d.
        out_channels (int): As in Conv2d.
        kernel_size (int, tuple): As in Conv2d.
        stride (int, tuple): As in Conv2d. Default: 1.
        pad_mode (str): As in Conv2d. Default: "same".
        padding (int, tuple): As in Conv2d. Default: 0.
        dilation (int, tuple): As in Conv2d. Default: 1.
        group (int): As in Conv2d. Default: 1.
        has_bias (bool): As in Conv2d. Default: False.
        weight_init (str, float, Initializer, Tensor): How the weight is initialised. Default: "normal".
        bias_init (str, float, Initializer, Tensor): How the bias is initialised. Default: "zeros".

    Raises:
        TypeError: As in Conv2d.
        ValueError: As in Conv2d.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.Conv2dThor(3, 8, 3)(ms.ops.ones((1, 3, 4, 4), ms.float32)).shape
        (1, 8, 4, 4)
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same", padding: Any = 0, dilation: Any = 1,
                 group: int = 1, has_bias: bool = False, weight_init: Any = "normal", bias_init: Any = "zeros") -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init)
        self.thor = True


class EmbeddingThor(Embedding):
    """Embedding. The attribute `thor` has no effect.

    Args:
        vocab_size (int): As in Embedding.
        embedding_size (int): As in Embedding.
        use_one_hot (bool): As in Embedding. Default: False.
        embedding_table (str, float, Initializer, Tensor): As in Embedding. Default: "normal".
        dtype (DType): As in Embedding. Default: float32.
        padding_idx (int): As in Embedding. Default: None.

    Raises:
        TypeError: As in Embedding.
        ValueError: As in Embedding.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.EmbeddingThor(3, 2)(ms.Tensor([0, 2])).shape
        (2, 2)
    """

    def __init__(self, vocab_size: int, embedding_size: int, use_one_hot: bool = False, embedding_table: Any = "normal", dtype: Any = mstype.float32,
                 padding_idx: Optional[int] = None) -> None:
        super().__init__(vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx)
        self.thor = True


class EmbeddingLookupThor(EmbeddingLookup):
    """EmbeddingLookup. The attribute `thor` has no effect.

    Args:
        vocab_size (int): As in EmbeddingLookup.
        embedding_size (int): As in EmbeddingLookup.
        param_init (str, float, Initializer, Tensor): As in EmbeddingLookup. Default: "normal".
        target (str): As in EmbeddingLookup. Default: "CPU".
        slice_mode (str): As in EmbeddingLookup. Default: "batch_slice".
        manual_shapes (tuple): As in EmbeddingLookup. Default: None.
        max_norm (float): As in EmbeddingLookup. Default: None.
        sparse (bool): As in EmbeddingLookup. Default: True.
        vocab_cache_size (int): As in EmbeddingLookup. Default: 0.

    Raises:
        TypeError: As in EmbeddingLookup.
        ValueError: As in EmbeddingLookup.
        NotYetError: If `vocab_cache_size` is above 0.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.EmbeddingLookupThor(3, 2)(ms.Tensor([0, 2])).shape
        (2, 2)
    """

    def __init__(self, vocab_size: int, embedding_size: int, param_init: Any = "normal", target: str = "CPU", slice_mode: str = "batch_slice",
                 manual_shapes: Any = None, max_norm: Union[float, None] = None, sparse: bool = True, vocab_cache_size: int = 0) -> None:
        super().__init__(vocab_size, embedding_size, param_init, target, slice_mode, manual_shapes, max_norm, sparse, vocab_cache_size=vocab_cache_size)
        self.thor = True
