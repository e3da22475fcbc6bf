"""Transformer layers. They come with the BERT parts; until then constructing one raises NotYetError."""
from __future__ import annotations

from typing import Any

from sindri.common.not_yet import not_yet
from sindri.nn.cell import Cell

__all__ = ["AttentionMask", "VocabEmbedding", "MultiHeadAttention", "FeedForward", "TransformerEncoder", "TransformerDecoder",
           "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer", "TransformerOpParallelConfig", "EmbeddingOpParallelConfig",
           "TransformerRecomputeConfig", "MoEConfig", "OpParallelConfig", "FixedSparseAttention", "CrossEntropyLoss"]


class _NotYetCell(Cell):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        not_yet(f"nn.transformer.{type(self).__name__}", "BERT")


class _NotYetConfig:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        not_yet(f"nn.transformer.{type(self).__name__}", "BERT")


class AttentionMask(_NotYetCell):
    """Lower triangular mask times that of the padding."""


class VocabEmbedding(_NotYetCell):
    """Embedding of tokens that gives the table too."""


class MultiHeadAttention(_NotYetCell):
    """Attention with several heads."""


class FeedForward(_NotYetCell):
    """Two dense layers."""


class TransformerEncoder(_NotYetCell):
    """Encoder layers one after the other."""


class TransformerDecoder(_NotYetCell):
    """Decoder layers one after the other."""


class TransformerEncoderLayer(_NotYetCell):
    """Attention and feed-forward."""


class TransformerDecoderLayer(_NotYetCell):
    """Attention to itself and to the encoder, and feed-forward."""


class Transformer(_NotYetCell):
    """Encoder and decoder."""


class FixedSparseAttention(_NotYetCell):
    """Attention within fixed blocks."""


class CrossEntropyLoss(_NotYetCell):
    """Masked mean cross entropy of tokens."""


class OpParallelConfig(_NotYetConfig):
    """How operators are split."""


class EmbeddingOpParallelConfig(_NotYetConfig):
    """How embeddings are split."""


class TransformerRecomputeConfig(_NotYetConfig):
    """What is computed again in the backward pass."""


class TransformerOpParallelConfig(_NotYetConfig):
    """How a transformer is split."""


class MoEConfig(_NotYetConfig):
    """Experts of a layer."""
