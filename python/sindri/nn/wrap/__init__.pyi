"""Cells around a network: training steps, loss scale, reduction of gradients.

Written by scripts/python_stubs.py; do not edit."""


from sindri.nn.wrap import cell_wrapper as cell_wrapper, grad_reducer as grad_reducer, loss_scale as loss_scale
from sindri.nn.wrap.cell_wrapper import *
from sindri.nn.wrap.grad_reducer import *
from sindri.nn.wrap.loss_scale import *

__all__ = [
    "ForwardValueAndGrad", "TrainOneStepCell", "WithLossCell", "WithGradCell", "WithEvalCell", "GetNextSingleOp", "ParameterUpdate",
    "VirtualDatasetCellTriple", "GradAccumulationCell", "MicroBatchInterleaved", "PipelineCell", "DistributedGradReducer", "PipelineGradReducer",
    "DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "TrainOneStepWithLossScaleCell",
]
