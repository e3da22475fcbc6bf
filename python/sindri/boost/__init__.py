"""Boosted training (MindSpore: mindspore.boost): AutoBoost and the boosted training cells with the algorithms that are registered (gradient
accumulation, averaged weights), GradientAccumulation by itself; the other names raise NotYetError when used."""
from typing import Any

from sindri.boost.auto_boost import AutoBoost
from sindri.boost.boost_cell_wrapper import BoostTrainOneStepCell, BoostTrainOneStepWithLossScaleCell
from sindri.boost.boost_cell_wrapper import averaged_weights as averaged_weights
from sindri.boost.grad_accumulation import GradientAccumulation
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


class LessBN:
    """A network with fewer batch norms. Not yet there: raises NotYetError."""

    def __init__(self, network: Any, fn_flag: bool = False):
        not_yet('boost.LessBN', 'boost')


class GradientFreeze:
    """Training that leaves out leading layers now and then. Not yet there: raises NotYetError."""

    def __init__(self, param_groups: int, freeze_type: int, freeze_p: float, total_steps: int):
        not_yet('boost.GradientFreeze', 'boost')


class FreezeOpt:
    """Optimizer variants for freezing. Not yet there: raises NotYetError."""

    def __init__(self, opt: Any, train_parameter_groups: Any = None, train_strategy: Any = None):
        not_yet('boost.FreezeOpt', 'boost')


def freeze_cell(reducer_flag: bool, network: Any, optimizer: Any, sens: Any, grad: Any, use_grad_accumulation: bool, mean: Any = None,
                degree: Any = None, max_accumulation_step: int = 1) -> Any:
    """Training steps per variant of freezing. Not yet there: raises NotYetError."""
    not_yet('boost.freeze_cell', 'boost')


class AdaSum:
    """Adaptive summation of updates over servers. Not yet there: raises NotYetError."""

    def __init__(self, rank: int, device_number: int, group_number: int, parameter_tuple: Any):
        not_yet('boost.AdaSum', 'boost')


class DimReduce:
    """Training in a subspace. Not yet there: raises NotYetError."""

    def __init__(self, network: Any, optimizer: Any, weight: Any, pca_mat_local: Any, n_components: int, rho: float, gamma: float, alpha: float,
                 sigma: float, rank: int, rank_size: int):
        not_yet('boost.DimReduce', 'boost')


class GroupLossScaleManager:
    """A loss scale per group of layers. Not yet there: raises NotYetError."""

    def __init__(self, init_loss_scale: int, loss_scale_groups: int):
        not_yet('boost.GroupLossScaleManager', 'boost')
