"""Boosted training (MindSpore: mindspore.boost): AutoBoost and the boosted training cells with the algorithms that are registered, and by themselves
GradientAccumulation, LessBN, GradientFreeze, AdaSum and GroupLossScaleManager. What MindSpore has beside these for its own use (OptimizerProcess,
ParameterProcess, FreezeOpt, freeze_cell, DimReduce) raises NotYetError when used: Model(boost_level=…) does what it is for."""
from typing import Any

from sindri.boost.auto_boost import AutoBoost
from sindri.boost.boost_cell_wrapper import BoostTrainOneStepCell, BoostTrainOneStepWithLossScaleCell
from sindri.boost.boost_cell_wrapper import averaged_weights as averaged_weights
from sindri.boost.adasum import AdaSum
from sindri.boost.grad_accumulation import GradientAccumulation
from sindri.boost.grad_freeze import GradientFreeze
from sindri.boost.group_loss_scale import GroupLossScaleManager
from sindri.boost.less_batch_normalization import LessBN
from sindri.common.not_yet import not_yet

__all__ = ['AutoBoost', 'OptimizerProcess', 'ParameterProcess', 'BoostTrainOneStepCell', 'BoostTrainOneStepWithLossScaleCell', 'LessBN',
           'GradientFreeze', 'FreezeOpt', 'freeze_cell', 'GradientAccumulation', 'AdaSum', 'DimReduce', 'GroupLossScaleManager']


class OptimizerProcess:
    """Adds gradient centralisation to an optimizer's groups. Not yet there: raises NotYetError."""

    def __init__(self, opt: Any):
        not_yet('boost.OptimizerProcess', 'boost')


class ParameterProcess:
    """Cuts parameters into units for freezing. Not yet there: raises NotYetError."""

    def __init__(self) -> None:
        not_yet('boost.ParameterProcess', 'boost')


class FreezeOpt:
    """Optimizer variants for freezing. Not yet there: raises NotYetError."""

    def __init__(self, opt: Any, train_parameter_groups: Any = None, train_strategy: Any = None):
        not_yet('boost.FreezeOpt', 'boost')


def freeze_cell(reducer_flag: bool, network: Any, optimizer: Any, sens: Any, grad: Any, use_grad_accumulation: bool, mean: Any = None,
                degree: Any = None, max_accumulation_step: int = 1) -> Any:
    """Training steps per variant of freezing. Not yet there: raises NotYetError."""
    not_yet('boost.freeze_cell', 'boost')


class DimReduce:
    """Training in a subspace. Not yet there: raises NotYetError."""

    def __init__(self, network: Any, optimizer: Any, weight: Any, pca_mat_local: Any, n_components: int, rho: float, gamma: float, alpha: float,
                 sigma: float, rank: int, rank_size: int):
        not_yet('boost.DimReduce', 'boost')
