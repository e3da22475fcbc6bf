"""Cells for parallel training: pipelines, gradient accumulation, and the transformer of 1.5 to 1.8."""
from typing import Any

from sindri.common.not_yet import not_yet
from sindri.nn.transformer import AttentionMask, CrossEntropyLoss, Transformer, TransformerOpParallelConfig, VocabEmbedding
from sindri.nn.wrap.cell_wrapper import GradAccumulationCell, MicroBatchInterleaved, PipelineCell
from sindri.nn.wrap.grad_reducer import PipelineGradReducer

GradAccumulation = GradAccumulationCell

__all__ = ['Pipeline', 'PipelineCell', 'GradAccumulation', 'MicroBatchInterleaved', 'PipelineGradReducer', 'Transformer', 'AttentionMask',
           'VocabEmbedding', 'CrossEntropyLoss', 'TransformerOpParallelConfig']


class Pipeline:
    """PipelineCell with stages given by a dict; not available yet.

    Args:
        network (Cell): Ignored.
        micro_size (int): Ignored.
        stage_config (dict): Ignored. Default: None.
        segment_config (dict): Ignored. Default: None.

    Raises:
        NotYetError: Always.
    """

    def __init__(self, network: Any, micro_size: int, stage_config: Any = None, segment_config: Any = None):
        not_yet('parallel.nn.Pipeline', 'model parallel')
