"""THOR: natural gradients from Kronecker-factored curvature, refreshed once in a while."""
from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Tuple

from sindri import _core, context
from sindri._check import check_bool, check_float, fail, is_number, warn_of_uncalled
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.communication.management import get_group_size
from sindri.nn.cell import Cell
from sindri.nn.learning_rate_schedule import LearningRateSchedule
from sindri.nn.optim.optimizer import NativeOptimizer

__all__ = ["thor", "THOR", "THOR_Ascend", "THOR_GPU", "ThorAscend", "ThorGpu"]


# What MindSpore's THOR classes are made of, 1.1 to 2.10: a subclass that replaces one of these changes the algorithm there.
_MINDSPORE_HOOKS = ("_define_gpu_operator", "_define_gpu_reducer", "_define_ascend_operator", "_define_ascend_reducer", "_get_pad_dim", "_get_weight_idx_map",
                    "_get_fc_matrix", "_process_matrix_init_and_weight_idx_map", "_process_batch_matmul", "_process_cholesky_pad", "_get_abs_max", "_get_fc_ainv_ginv",
                    "_process_conv_matmul_device_pad", "_get_ainv_ginv_amax_gmax_list", "_get_Ainv_Ginv_Amax_Gmax_list", "_get_ainv_ginv_list", "_process_layernorm",
                    "_process_thor_fc", "_get_second_gradients_one", "_get_second_gradients", "_get_second_grad_by_matmul", "_get_second_grad_by_layertype",
                    "_reshape_gradient")


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        fail(TypeError, f"thor: {name} must be an int, got {value!r}")
    if value < least:
        fail(ValueError, f"thor: {name} must be at least {least}, got {value}")
    return int(value)


class THOR(NativeOptimizer):
    """U = G⁻¹·dW·A⁻¹ for the weights of matrix products, convolutions and embeddings, then weight decay and momentum (Chen et al., AAAI 2021; MindSpore:
    nn.thor). The net stays as it is. Gradient calls record what its weights meet (sindri.autograd.ParamUse), so any Cell and any form of training step works:
    Model, a training cell, a Cell of the script that takes gradients and calls the optimizer, a loop around value_and_grad.

    The arguments are those of `thor`. State: `moments.<param>`, `momentum`; from the first refresh on `matrix_a_inv.<param>`, `matrix_g_inv.<param>` and
    `thor_ready`. Updates are counted, and those whose number is a multiple of the frequency refresh; select_variant(step) gives the next one another number.
    Of several gradient calls before an update the latest counts, as in MindSpore.
    """

    wants_uses = True
    current_variant: Optional[int] = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        warn_of_uncalled(cls, THOR, _MINDSPORE_HOOKS, "to change the algorithm, write an Optimizer whose construct does it")

    def __init__(self, net: Any, learning_rate: Any, damping: Any, momentum: float, weight_decay: float = 0.0, loss_scale: float = 1.0, batch_size: int = 32,
                 use_nesterov: bool = False, decay_filter: Optional[Callable[[Parameter], bool]] = None, split_indices: Optional[Sequence[int]] = None,
                 enable_clip_grad: bool = False, frequency: Optional[int] = None, *, block_size: int = 128, factor_decay: float = 0.0, kl_clip: float = 0.0,
                 trace_rule: Optional[Tuple[float, float]] = None, fold_bias: bool = False, damping_form: str = "factored", statistics: str = "standard",
                 stagger: int = 0, reduce: str = "factor_mean", distribute: str = "auto", compat: str = "") -> None:
        if not isinstance(net, Cell):
            fail(TypeError, f"thor: net must be a Cell, got {type(net).__name__}", "pass the network, not its parameters")
        if decay_filter is not None and not callable(decay_filter):
            fail(TypeError, f"thor: decay_filter must be a function of a Parameter, got {decay_filter!r}")
        momentum = check_float("thor", "momentum", momentum, least=0)
        weight_decay = check_float("thor", "weight_decay", weight_decay, least=0)
        self.use_nesterov, self.enable_clip_grad = check_bool("thor", "use_nesterov", use_nesterov), check_bool("thor", "enable_clip_grad", enable_clip_grad)
        self._frequency_given = frequency is not None
        self.frequency, batch_size = 100 if frequency is None else _whole("frequency", frequency, 1), _whole("batch_size", batch_size, 1)
        self.__dict__["_cell_making"] = True
        params = list(net.trainable_params())
        if not params:
            fail(ValueError, "thor: the net has no parameters to train", "has everything requires_grad=False?")
        self._build("thor", learning_rate, self._by_decay(params, decay_filter), weight_decay, loss_scale, momentum=momentum, nesterov=self.use_nesterov,
                    frequency=self.frequency, batch_size=batch_size, clip_each=self.enable_clip_grad, block_size=_whole("block_size", block_size, 0),
                    factor_decay=check_float("thor", "factor_decay", factor_decay, least=0), kl_clip=check_float("thor", "kl_clip", kl_clip, least=0),
                    trace_rule=[float(v) for v in trace_rule or ()], fold_bias=check_bool("thor", "fold_bias", fold_bias), damping_form=damping_form,
                    statistics=statistics, stagger=_whole("stagger", stagger, 0), reduce=reduce, distribute=distribute, compat=compat,
                    split_indices=self._split(split_indices))
        self.__dict__["_cell_native"].set_damping(self._damping(damping))
        self.__dict__["_cell_native"].count_every_update(True)  # in MindSpore 1's era too, where THOR has cov_step for it
        (self.momentum,) = self._shared_states()
        self.params = self.parameters
        self.moments = self._states(0)
        self.split_indices = self._split(split_indices)
        self.thor = True
        self.__dict__["_cell_making"], self.__dict__["_cell_made"] = False, True

    @staticmethod
    def _split(indices: Optional[Sequence[int]]) -> list:
        if indices is None:
            return []
        if not isinstance(indices, (list, tuple)):
            fail(TypeError, f"thor: split_indices must be a list of int, got {indices!r}")
        return [_whole("split_indices", i, 0) for i in indices]

    @staticmethod
    def _by_decay(params: list, decay_filter: Optional[Callable[[Parameter], bool]]) -> list:
        """Without a filter every parameter decays; groups leave the others as they are, in the order of the net."""
        decayed = [p for p in params if decay_filter is None or decay_filter(p)]
        others = [p for p in params if not any(p is d for d in decayed)]
        groups: list = [{"params": decayed}] if decayed else []
        if others:
            groups.append({"params": others, "weight_decay": 0.0})
        return groups + [{"order_params": params}]

    def _damping(self, damping: Any) -> Any:
        """A float, a list of them or a Cell of the step."""
        if isinstance(damping, LearningRateSchedule):
            return damping
        if is_number(damping):
            return check_float("thor", "damping", damping, least=0)
        values = damping.asnumpy() if isinstance(damping, Tensor) else damping
        try:
            values = [float(v) for v in values] if getattr(values, "ndim", 1) else float(values)
        except (TypeError, ValueError):
            fail(TypeError, f"thor: damping must be a number, a Tensor, a list of numbers or a LearningRateSchedule, got {damping!r}")
        if values == []:
            fail(ValueError, "thor: damping must hold at least one number", "give one for each update of the training")
        return values

    def get_frequency(self) -> int:
        """Updates from one refresh of the curvature to the next."""
        return self.frequency

    def take_frequency(self, frequency: int) -> None:
        """The frequency of a script that gives it to the model (MindSpore 1.2). Raises ValueError where the optimizer was given another."""
        frequency = _whole("frequency", frequency, 1)
        if self._frequency_given and frequency != self.frequency:
            fail(ValueError, f"thor: the model's frequency is {frequency}, the optimizer was given {self.frequency}", "give it once")
        self.__dict__["frequency"] = frequency
        self.__dict__["_cell_native"].set_frequency(frequency)

    @property
    def cov_step(self) -> Parameter:
        """The number of updates so far, which the damping is of: global_step, under the name of MindSpore's scripts."""
        return self.global_step

    def curvature(self) -> list:
        """(parameter, kind, width of A, width of G, bytes of the inverses) of everything preconditioned; empty before the first step."""
        return self.__dict__["_cell_native"].curvature()

    def variant(self, step: int) -> int:
        """0: the step takes the curvature and inverts it, 1: it uses what is there."""
        return self.__dict__["_cell_native"].variant(step)

    def measures_anew(self, step: int) -> bool:
        """Whether that step takes the curvature: of all layers, or of a part of them."""
        return self.variant(step) != 1

    def _wants_uses_now(self) -> bool:
        """Between refreshes it knows what the layers are, and needs nothing of the step."""
        return self.current_variant != 1 or not self.__dict__["_cell_native"].knows_layers()

    def precondition(self, gradients: Tuple[Tensor, ...], uses: Any) -> Tuple[Tensor, ...]:
        """The natural gradients, where a parameter has one."""
        native = self.__dict__["_cell_native"]
        out = native.precondition(tuple(gradients), tuple(tuple(use) for use in uses), self.current_variant, self.__dict__["_cell_skip"],
                                  self._group())
        self._take_over(native.new_states())
        return out

    @staticmethod
    def _group() -> str:
        """The ranks over which factors are averaged, where gradients are."""
        mode = context.get_auto_parallel_context("parallel_mode")
        return "world" if mode in ("data_parallel", "hybrid_parallel") and get_group_size() > 1 else ""

    def expect_state(self, held: dict) -> None:
        native = self.__dict__["_cell_native"]
        native.expect_state({name: (list(shape), dtype) for name, (shape, dtype) in held.items()})
        self._take_over(native.new_states())

    def _take_over(self, states: list) -> None:
        for state in states:
            self._params[state.name] = state

    def _apply_unless(self, skip: Tensor, gradients: Tuple[Tensor, ...], inv_scale: Optional[Tensor] = None, uses: Any = None) -> None:
        self.__dict__["_cell_skip"] = skip  # state that begins with this step must not take anything from it
        try:
            super()._apply_unless(skip, gradients, inv_scale, uses)
        finally:
            self.__dict__["_cell_skip"] = None


class ThorAscend(THOR):
    """THOR with the arguments of MindSpore's class for Ascend, which has no use_nesterov: decay_filter is the eighth. The same computation."""

    def __init__(self, net: Any, learning_rate: Any, damping: Any, momentum: float, weight_decay: float = 0.0, loss_scale: float = 1.0, batch_size: int = 32,
                 decay_filter: Optional[Callable[[Parameter], bool]] = None, split_indices: Optional[Sequence[int]] = None, enable_clip_grad: bool = False,
                 frequency: Optional[int] = None) -> None:
        super().__init__(net, learning_rate, damping, momentum, weight_decay, loss_scale, batch_size, False, decay_filter, split_indices, enable_clip_grad, frequency)


ThorGpu = THOR_GPU = THOR
THOR_Ascend = ThorAscend


def thor(net: Any, learning_rate: Any, damping: Any, momentum: float, weight_decay: float = 0.0, loss_scale: float = 1.0, batch_size: int = 32,
         use_nesterov: bool = False, decay_filter: Optional[Callable[[Parameter], bool]] = None, split_indices: Optional[Sequence[int]] = None,
         enable_clip_grad: bool = False, frequency: Optional[int] = None, *, block_size: int = 128, factor_decay: float = 0.0, kl_clip: float = 0.0,
         trace_rule: Optional[Tuple[float, float]] = None, fold_bias: bool = False, damping_form: str = "factored", statistics: str = "standard",
         stagger: int = 0, reduce: str = "factor_mean", distribute: str = "auto", compat: str = "") -> THOR:
    """The second-order optimizer for a net (MindSpore: nn.thor).

    Args:
        net: a Cell; its trainable parameters are optimized. It is not changed.
        learning_rate: a number, a Tensor (one, or one per update) or a LearningRateSchedule.
        damping: added to the curvature before it is inverted: a number, a Tensor or list with one per update, or a LearningRateSchedule.
        momentum: of the preconditioned gradients.
        weight_decay: of every parameter that decay_filter takes (all without one), added behind the preconditioning.
        loss_scale: the loss was multiplied by it; the same as the loss-scale manager's.
        batch_size: how many items the loss is the mean of, on one rank.
        use_nesterov: Nesterov's momentum.
        decay_filter: function of a Parameter: whether it decays.
        split_indices: last layers of the buckets in which factors are averaged over ranks, counted from 0; None: one bucket. A list whose last
            number is larger than that of the layers counts trainable parameters instead, as published BERT settings do.
        enable_clip_grad: each tensor's step before momentum has a norm of at most 1.
        frequency: updates from one refresh of the curvature to the next, at least 1; None: 100, or that of a ModelThor.
        block_size: width of the diagonal blocks that are kept of a factor; 0: all of it.
        factor_decay: how much of the factors' running average stays at a refresh.
        kl_clip: largest length of a step in the metric of the curvature (KAISA's κ); 0: any.
        trace_rule: (ω1, ω2): curvature whose trace changed by at most ω1 is kept, by less than ω2 for good.
        fold_bias: the bias added to a layer's result is a column of its weight.
        damping_form: "factored": A and G get √λ each; "joint": A⊗G gets λ, by eigenvectors instead of inverses.
        statistics: "standard", or "batch_mean": convolutions take the factors of the means over the batch.
        stagger: a refresh is divided over so many steps of the interval; 0: all in one step.
        reduce: over ranks "factor_mean", or "inverse_mean": the mean of every rank's own inverses.
        distribute: who inverts: "replicate" every rank all factors, "shard" each rank a share, "auto" what is quicker by the width of the blocks.
        compat: "mindspore" computes what MindSpore 2.10 does on a GPU, for comparison.

    Raises TypeError for wrong types, ValueError for numbers out of range, a net without trainable parameters, and, in the step that needs it, a damping
    that is shorter than the training.
    """
    return THOR(net, learning_rate, damping, momentum, weight_decay, loss_scale, batch_size, use_nesterov, decay_filter, split_indices, enable_clip_grad, frequency,
                block_size=block_size, factor_decay=factor_decay, kl_clip=kl_clip, trace_rule=trace_rule, fold_bias=fold_bias, damping_form=damping_form,
                statistics=statistics, stagger=stagger, reduce=reduce, distribute=distribute, compat=compat)
