"""Boosted training (MindSpore: mindspore.boost): AutoBoost and the boosted training cells with all registered algorithms. GradientAccumulation, LessBN,
GradientFreeze with FreezeOpt and freeze_cell, AdaSum, DimReduce, GroupLossScaleManager, OptimizerProcess and ParameterProcess can be used on their own."""
from sindri.boost.auto_boost import AutoBoost
from sindri.boost.boost_cell_wrapper import BoostTrainOneStepCell, BoostTrainOneStepWithLossScaleCell
from sindri.boost.boost_cell_wrapper import averaged_weights as averaged_weights
from sindri.boost.adasum import AdaSum
from sindri.boost.dim_reduce import DimReduce
from sindri.boost.grad_accumulation import GradientAccumulation
from sindri.boost.base import OptimizerProcess, ParameterProcess
from sindri.boost.grad_freeze import FreezeOpt, GradientFreeze, freeze_cell
from sindri.boost.group_loss_scale import GroupLossScaleManager
from sindri.boost.less_batch_normalization import LessBN

__all__ = ['AutoBoost', 'OptimizerProcess', 'ParameterProcess', 'BoostTrainOneStepCell', 'BoostTrainOneStepWithLossScaleCell', 'LessBN',
           'GradientFreeze', 'FreezeOpt', 'freeze_cell', 'GradientAccumulation', 'AdaSum', 'DimReduce', 'GroupLossScaleManager']
