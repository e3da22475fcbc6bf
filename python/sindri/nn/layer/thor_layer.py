"""The layers that MindSpore's conversion for THOR puts into a net, under their names. Curvature is read from the step (nn.thor), so these compute what
the plain layers do; parameters have the plain layers' names."""
from __future__ import annotations

from typing import Any, Optional, Union

from sindri.common import dtype as mstype
from sindri.nn.layer.basic import Dense
from sindri.nn.layer.conv import Conv2d
from sindri.nn.layer.embedding import Embedding, EmbeddingLookup

__all__ = ["DenseThor", "Conv2dThor", "EmbeddingThor", "EmbeddingLookupThor"]


class DenseThor(Dense):
    """Dense, with MindSpore's initial values for this name: N(0, 0.01) and zeros. The flag `thor` is kept and changes nothing."""

    def __init__(self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros", has_bias: bool = True,
                 activation: Any = None) -> None:
        super().__init__(in_channels, out_channels, weight_init, bias_init, has_bias, activation)
        self.thor = True


class Conv2dThor(Conv2d):
    """Conv2d, with MindSpore's initial values for this name: N(0, 0.01) and zeros. The flag `thor` is kept and changes nothing."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same", padding: Any = 0, dilation: Any = 1,
                 group: int = 1, has_bias: bool = False, weight_init: Any = "normal", bias_init: Any = "zeros") -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init)
        self.thor = True


class EmbeddingThor(Embedding):
    """Embedding. The flag `thor` is kept and changes nothing."""

    def __init__(self, vocab_size: int, embedding_size: int, use_one_hot: bool = False, embedding_table: Any = "normal", dtype: Any = mstype.float32,
                 padding_idx: Optional[int] = None) -> None:
        super().__init__(vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx)
        self.thor = True


class EmbeddingLookupThor(EmbeddingLookup):
    """EmbeddingLookup. The flag `thor` is kept and changes nothing."""

    def __init__(self, vocab_size: int, embedding_size: int, param_init: Any = "normal", target: str = "CPU", slice_mode: str = "batch_slice",
                 manual_shapes: Any = None, max_norm: Union[float, None] = None, sparse: bool = True, vocab_cache_size: int = 0) -> None:
        super().__init__(vocab_size, embedding_size, param_init, target, slice_mode, manual_shapes, max_norm, sparse, vocab_cache_size=vocab_cache_size)
        self.thor = True
