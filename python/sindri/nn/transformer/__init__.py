"""Transformer layers. They are not available yet: constructing one raises NotYetError."""
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
    """Lower triangular mask multiplied by that of the padding; not available yet.

    Raises:
        NotYetError: Always.
    """


class VocabEmbedding(_NotYetCell):
    """Embedding of tokens that also returns the table; not available yet.

    Raises:
        NotYetError: Always.
    """


class MultiHeadAttention(_NotYetCell):
    """Multi-head attention; not available yet.

    Raises:
        NotYetError: Always.
    """


class FeedForward(_NotYetCell):
    """Two dense layers; not available yet.

    Raises:
        NotYetError: Always.
    """


class TransformerEncoder(_NotYetCell):
    """Encoder layers in sequence; not available yet.

    Raises:
        NotYetError: Always.
    """


class TransformerDecoder(_NotYetCell):
    """Decoder layers in sequence; not available yet.

    Raises:
        NotYetError: Always.
    """


class TransformerEncoderLayer(_NotYetCell):
    """Self-attention and feed-forward; not available yet.

    Raises:
        NotYetError: Always.
    """


class TransformerDecoderLayer(_NotYetCell):
    """Self-attention, attention to the encoder and feed-forward; not available yet.

    Raises:
        NotYetError: Always.
    """


class Transformer(_NotYetCell):
    """Encoder and decoder; not available yet.

    Raises:
        NotYetError: Always.
    """


class FixedSparseAttention(_NotYetCell):
    """Attention within fixed blocks; not available yet.

    Raises:
        NotYetError: Always.
    """


class CrossEntropyLoss(_NotYetCell):
    """Masked mean cross entropy of tokens; not available yet.

    Raises:
        NotYetError: Always.
    """


class OpParallelConfig(_NotYetConfig):
    """How operators are split; not available yet.

    Raises:
        NotYetError: Always.
    """


class EmbeddingOpParallelConfig(_NotYetConfig):
    """How embeddings are split; not available yet.

    Raises:
        NotYetError: Always.
    """


class TransformerRecomputeConfig(_NotYetConfig):
    """Which values are recomputed in the backward pass; not available yet.

    Raises:
        NotYetError: Always.
    """


class TransformerOpParallelConfig(_NotYetConfig):
    """How a transformer is split; not available yet.

    Raises:
        NotYetError: Always.
    """


class MoEConfig(_NotYetConfig):
    """The experts of a layer; not available yet.

    Raises:
        NotYetError: Always.
    """
