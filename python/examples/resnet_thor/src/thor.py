"""THOR with the arguments of MindSpore 1.1: parameters and the layers' matrices instead of the network."""
from __future__ import annotations

from typing import Any, Callable, Iterable, Sequence

from sindri import Parameter, nn

from .grad_reducer_thor import reduction
from .thor_layer import BLOCK, Curvature, Settings


class _Trained(nn.Cell):
    """Wraps an optimizer's parameters in a Cell, which nn.THOR expects."""

    def __init__(self, params: list[Parameter]) -> None:
        super().__init__()
        self.__dict__["list_of_params"] = params

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Returns the parameters."""
        return list(self.__dict__["list_of_params"])


def _declared(params: Sequence[Parameter], matrices: Iterable[Parameter], name: str) -> list[Curvature]:
    """Returns the matrices as a list. Raises ValueError for a parameter that is not a layer's matrix, and for a matrix whose layer's weight is not trained."""
    weights = {p.name for p in params}
    found: list[Curvature] = []
    for m in matrices:
        if not isinstance(m, Curvature):
            raise ValueError(f"{name}: {m.name} is not of a Conv2d_thor or Dense_thor | THOR")
        if m.name.rpartition("matrix_")[0] + "weight" not in weights:
            raise ValueError(f"{name}: the weight of the layer of {m.name} is not among the parameters | THOR")
        found.append(m)
    return found


def _common(matrices: Sequence[Curvature]) -> Settings:
    """Returns the settings of the layers that declare the matrices. Raises ValueError if they differ."""
    first = matrices[0].settings
    if any(m.settings[1:] != first[1:] or m.settings.damping is not first.damping for m in matrices):
        raise ValueError("the layers differ in damping, loss_scale, frequency or batch_size | THOR | create all layers in one call of resnet50")
    return first


class THOR(nn.THOR):
    """Applies G⁻¹·dW·A⁻¹ to the weights of layers with matrices, then weight decay and momentum; other parameters use their gradient.

    matrix_A and matrix_G are the layers' Parameters of these names, which hold damping, frequency, loss scale and batch size of the network. A_inv_max
    and G_inv_max may be empty. decay_filter(parameter) returns whether the parameter decays; by default all do. Raises ValueError if there are no matrices,
    if A and G belong to different layers, if the layers' settings differ, or if the loss scale is not that of the layers.
    """

    def __init__(self, params: Iterable[Parameter], learning_rate: Any, momentum: float, matrix_A: Iterable[Parameter], matrix_G: Iterable[Parameter],
                 A_inv_max: Iterable[Parameter] = (), G_inv_max: Iterable[Parameter] = (), weight_decay: float = 0.0, loss_scale: float = 1.0,
                 use_nesterov: bool = False, decay_filter: Callable[[Parameter], bool] = lambda p: True, split_indices: Sequence[int] = ()) -> None:
        trained = list(params)
        a, g = _declared(trained, matrix_A, "matrix_A"), _declared(trained, matrix_G, "matrix_G")
        if not a or [m.name.replace("matrix_A", "") for m in a] != [m.name.replace("matrix_G", "") for m in g]:
            raise ValueError(f"matrix_A has {len(a)} and matrix_G {len(g)} matrices, which must belong to the same layers | THOR")
        of_layers = _common(a + g)
        if of_layers.loss_scale != loss_scale:
            raise ValueError(f"loss_scale is {loss_scale} and {of_layers.loss_scale} in the layers | THOR | set both to that of the loss-scale manager")
        super().__init__(_Trained(trained), learning_rate, of_layers.damping, momentum, weight_decay, loss_scale, of_layers.batch_size, use_nesterov,
                         decay_filter, frequency=of_layers.frequency, block_size=BLOCK, **reduction(len(a), split_indices))


THOR_GPU = THOR  # they differ only in the devices' memory layouts, which the library handles
