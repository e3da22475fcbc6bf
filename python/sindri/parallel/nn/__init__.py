"""Cells for parallel training: pipelines, gradient accumulation, and the transformer of 1.5 to 1.8."""
from typing import TYPE_CHECKING, Any

from sindri.common.not_yet import not_yet

if TYPE_CHECKING:
    from sindri.nn import GradAccumulationCell as GradAccumulation
    from sindri.nn import MicroBatchInterleaved, PipelineCell, PipelineGradReducer
    from sindri.nn.transformer import AttentionMask, CrossEntropyLoss, Transformer, TransformerOpParallelConfig, VocabEmbedding

__all__ = ['Pipeline', 'PipelineCell', 'GradAccumulation', 'MicroBatchInterleaved', 'PipelineGradReducer', 'Transformer', 'AttentionMask',
           'VocabEmbedding', 'CrossEntropyLoss', 'TransformerOpParallelConfig']


def __getattr__(name: str) -> Any:
    # The wrappers live beside the other wrapper cells and the transformer in its package; this module only gives them their second path.
    if name in ('PipelineCell', 'MicroBatchInterleaved', 'PipelineGradReducer', 'GradAccumulationCell'):
        from sindri import nn
        return getattr(nn, name)
    if name == 'GradAccumulation':
        from sindri import nn
        return nn.GradAccumulationCell
    if name in __all__:
        from sindri.nn import transformer
        return getattr(transformer, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


class Pipeline:
    """PipelineCell with stages given by a dict. Not yet there: raises NotYetError."""

    def __init__(self, network: Any, micro_size: int, stage_config: Any = None, segment_config: Any = None):
        not_yet('parallel.nn.Pipeline', 'distributed')

