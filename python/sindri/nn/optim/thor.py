"""THOR: natural gradients from Kronecker-factored curvature, which is refreshed at intervals."""
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


# Methods of MindSpore's THOR classes, 1.1 to 2.10: there, a subclass that replaces one of them changes the algorithm.
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
    """Second-order optimizer with Kronecker-factored curvature (Chen et al., AAAI 2021; MindSpore: nn.thor).

    The natural gradient of weights of matrix products, convolutions and embeddings is U = G⁻¹·dW·A⁻¹; weight decay and momentum follow. The
    network is not changed. Gradient calls record how its weights are used (sindri.autograd.ParamUse), so any Cell and any form of training step
    works: Model, a training cell, a Cell of the script that takes gradients and calls the optimizer, a loop around value_and_grad.

    State: `moments.<param>`, `momentum`; from the first refresh also `matrix_a_inv.<param>`, `matrix_g_inv.<param>` and `thor_ready`.
    Updates are counted, and those whose number is a multiple of the frequency refresh; select_variant(step) sets the number of the next one. Of
    several gradient calls before an update the latest counts, as in MindSpore.

    Args:
        net (Cell): As in `thor`, like all other arguments.
        learning_rate (float, Tensor, LearningRateSchedule): The learning rate.
        damping (float, Tensor, list, LearningRateSchedule): The damping of the curvature.
        momentum (float): The momentum.
        weight_decay (float): The weight decay. Default: 0.0.
        loss_scale (float): The loss scale. Default: 1.0.
        batch_size (int): The items of a batch. Default: 32.
        use_nesterov (bool): Whether to use Nesterov's momentum. Default: False.
        decay_filter (Callable): Selects the parameters that decay. Default: None.
        split_indices (list): The last layers of the buckets of factors. Default: None.
        enable_clip_grad (bool): Whether to clip each tensor's step. Default: False.
        frequency (int): The updates between refreshes. Default: None, 100.
        block_size (int): The width of diagonal blocks. Default: 128.
        factor_decay (float): The decay of the factors' average. Default: 0.0.
        kl_clip (float): The largest step in the metric of the curvature. Default: 0.0.
        trace_rule (tuple): When curvature is kept. Default: None.
        fold_bias (bool): Whether a bias is a column of the weight. Default: False.
        damping_form (str): "factored" or "joint". Default: "factored".
        statistics (str): "standard" or "batch_mean". Default: "standard".
        stagger (int): The steps over which a refresh is divided. Default: 0.
        reduce (str): "factor_mean" or "inverse_mean". Default: "factor_mean".
        distribute (str): "auto", "replicate" or "shard". Default: "auto".
        compat (str): "" or "mindspore". Default: "".

    Raises:
        TypeError: As `thor`.
        ValueError: As `thor`.

    Examples:
        >>> import sindri as ms
        >>> optimizer = ms.nn.THOR(ms.nn.Dense(3, 2), learning_rate=0.1, damping=0.03, momentum=0.9)
        >>> optimizer.get_frequency()
        100
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
        self.__dict__["_cell_native"].count_every_update(True)  # in MindSpore 1's era too, in which THOR's cov_step counts updates
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
        """Returns groups by decay: without a filter every parameter decays; with one, the others are in a group without decay. The network's order is kept."""
        decayed = [p for p in params if decay_filter is None or decay_filter(p)]
        others = [p for p in params if not any(p is d for d in decayed)]
        groups: list = [{"params": decayed}] if decayed else []
        if others:
            groups.append({"params": others, "weight_decay": 0.0})
        return groups + [{"order_params": params}]

    def _damping(self, damping: Any) -> Any:
        """Returns the damping as a float, a list of floats or a Cell of the step."""
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
        """Returns the number of updates from one refresh of the curvature to the next.

        Returns:
            int.
        """
        return self.frequency

    def take_frequency(self, frequency: int) -> None:
        """Sets the frequency of a script that passes it to the model (MindSpore 1.2).

        Args:
            frequency (int): The number of updates from one refresh to the next, at least 1.

        Raises:
            TypeError: If `frequency` is not an int.
            ValueError: If it is below 1, or the optimizer was created with another frequency.
        """
        frequency = _whole("frequency", frequency, 1)
        if self._frequency_given and frequency != self.frequency:
            fail(ValueError, f"thor: the model's frequency is {frequency}, the optimizer was given {self.frequency}", "give it once")
        self.__dict__["frequency"] = frequency
        self.__dict__["_cell_native"].set_frequency(frequency)

    @property
    def cov_step(self) -> Parameter:
        """Parameter: The number of updates so far, at which the damping is read: global_step, under its name in MindSpore's scripts."""
        return self.global_step

    def curvature(self) -> list:
        """Returns the preconditioned parameters; empty before the first step.

        Returns:
            List of (parameter, kind, width of A, width of G, bytes of the inverses).
        """
        return self.__dict__["_cell_native"].curvature()

    def variant(self, step: int) -> int:
        """Returns 0 if the step computes and inverts the curvature factors, 1 if it uses the existing inverses.

        Args:
            step (int): The number of the step.

        Returns:
            int.
        """
        return self.__dict__["_cell_native"].variant(step)

    def remeasures(self, step: int) -> bool:
        """Returns whether the step computes curvature factors, of all layers or of some of them.

        Args:
            step (int): The number of the step.

        Returns:
            bool.
        """
        return self.variant(step) != 1

    def _wants_uses_now(self) -> bool:
        """Returns whether the update reads uses: between refreshes the layers are known and nothing of the step is needed."""
        return self.current_variant != 1 or not self.__dict__["_cell_native"].knows_layers()

    def precondition(self, gradients: Tuple[Tensor, ...], uses: Any) -> Tuple[Tensor, ...]:
        """Returns the natural gradients, and the plain gradients of parameters without curvature.

        Args:
            gradients (tuple): The gradients.
            uses (tuple): The sindri.autograd.ParamUse records.

        Returns:
            Tuple of Tensor.
        """
        native = self.__dict__["_cell_native"]
        out = native.precondition(tuple(gradients), tuple(tuple(use) for use in uses), self.current_variant, self.__dict__["_cell_skip"],
                                  self._group())
        self._take_over(native.new_states())
        return out

    @staticmethod
    def _group() -> str:
        """Returns the ranks over which factors are averaged, if gradients are."""
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
        self.__dict__["_cell_skip"] = skip  # state created in this step must not use its values if the step is skipped
        try:
            super()._apply_unless(skip, gradients, inv_scale, uses)
        finally:
            self.__dict__["_cell_skip"] = None


class ThorAscend(THOR):
    """THOR with the arguments of MindSpore's class for Ascend, which has no use_nesterov: decay_filter is the eighth. The computation is the same.

    Args:
        net (Cell): As in thor.
        learning_rate (float, Tensor, LearningRateSchedule): As in thor.
        damping (float, Tensor, list, LearningRateSchedule): As in thor.
        momentum (float): As in thor.
        weight_decay (float): As in thor. Default: 0.0.
        loss_scale (float): As in thor. Default: 1.0.
        batch_size (int): As in thor. Default: 32.
        decay_filter (Callable): As in thor. Default: None.
        split_indices (list): As in thor. Default: None.
        enable_clip_grad (bool): As in thor. Default: False.
        frequency (int): As in thor. Default: None.

    Raises:
        TypeError: As in thor.
        ValueError: As in thor.

    Examples:
        >>> import sindri as ms
        >>> optimizer = ms.nn.ThorAscend(ms.nn.Dense(3, 2), 0.1, 0.03, 0.9, frequency=10)
        >>> optimizer.get_frequency()
        10
    """

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
    """Returns the second-order optimizer THOR for a network (MindSpore: nn.thor).

    Args:
        net (Cell): The network; its trainable parameters are optimized. It is not changed.
        learning_rate (float, Tensor, LearningRateSchedule): A number, a Tensor (one value, or one per update) or a schedule.
        damping (float, Tensor, list, LearningRateSchedule): Added to the curvature before it is inverted: a number, a Tensor or list with one
            value per update, or a schedule.
        momentum (float): The momentum of the preconditioned gradients, at least 0.
        weight_decay (float): The decay of parameters that `decay_filter` accepts (all without a filter), added after preconditioning.
            Default: 0.0.
        loss_scale (float): The factor by which the loss was multiplied; the loss-scale manager's value. Default: 1.0.
        batch_size (int): The number of items over which the loss is averaged, on one rank. Default: 32.
        use_nesterov (bool): Whether to use Nesterov's momentum. Default: False.
        decay_filter (Callable): A function of a Parameter that returns whether it decays. Default: None.
        split_indices (list): The last layers, counted from 0, of the buckets in which factors are averaged over ranks; None is one bucket. If
            the last number exceeds the number of layers, the list counts trainable parameters instead, as published BERT settings do.
            Default: None.
        enable_clip_grad (bool): Whether each tensor's step before momentum is limited to a norm of 1. Default: False.
        frequency (int): The number of updates from one refresh of the curvature to the next, at least 1. Default: None, 100 or that of a
            ModelThor.
        block_size (int): The width of the diagonal blocks of a factor that are kept; 0 keeps the whole factor. Default: 128.
        factor_decay (float): The fraction of the factors' running average that remains at a refresh. Default: 0.0.
        kl_clip (float): The largest length of a step in the metric of the curvature (KAISA's κ); 0 disables the limit. Default: 0.0.
        trace_rule (tuple): (ω1, ω2): curvature whose trace changed by at most ω1 is kept; if it changed by less than ω2, it is kept
            permanently. Default: None.
        fold_bias (bool): Whether the bias added to a layer's result is treated as a column of its weight. Default: False.
        damping_form (str): "factored" adds √λ each to A and G; "joint" adds λ to A⊗G, with eigenvectors instead of inverses.
            Default: "factored".
        statistics (str): "standard", or "batch_mean": convolutions use the factors of the means over the batch. Default: "standard".
        stagger (int): The number of steps of the interval over which a refresh is divided; 0 refreshes in one step. Default: 0.
        reduce (str): The reduction over ranks: "factor_mean", or "inverse_mean" for the mean of every rank's inverses.
            Default: "factor_mean".
        distribute (str): Which rank inverts: "replicate" inverts all factors on every rank, "shard" a share on each rank, "auto" chooses the
            faster by the width of the blocks. Default: "auto".
        compat (str): "mindspore" computes what MindSpore 2.10 does on a GPU, for comparison. Default: "".

    Returns:
        THOR.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a number is out of range, the network has no trainable parameters or, in the step that needs it, the list of dampings is
            shorter than the run.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
        >>> optimizer = nn.thor(net, learning_rate=0.1, damping=0.03, momentum=0.9, batch_size=8, frequency=10)
        >>> step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
        >>> loss = step(ms.ops.ones((8, 3), ms.float32), ms.ops.zeros((8,), ms.int32))
        >>> [(a, g) for _, _, a, g, _ in optimizer.curvature()]
        [(3, 4), (4, 2)]
    """
    return THOR(net, learning_rate, damping, momentum, weight_decay, loss_scale, batch_size, use_nesterov, decay_filter, split_indices, enable_clip_grad, frequency,
                block_size=block_size, factor_decay=factor_decay, kl_clip=kl_clip, trace_rule=trace_rule, fold_bias=fold_bias, damping_form=damping_form,
                statistics=statistics, stagger=stagger, reduce=reduce, distribute=distribute, compat=compat)
