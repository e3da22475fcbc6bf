"""Normalisation layers of mindspore.mint.nn. `momentum` is PyTorch's: the weight of the new statistics."""
from __future__ import annotations

from typing import Any, Optional, Tuple, Union

from sindri import ops
from sindri._check import check_bool, check_float, check_int, fail
from sindri.common import dtype as mstype
from sindri.common.initializer import initializer
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.communication import GlobalComm, get_group_size
from sindri.mint.nn import functional as F
from sindri.nn.cell import Cell
from sindri.nn.layer.normalization import normalize_over_ranks

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "GroupNorm", "LayerNorm"]


def _parameter(value: str, shape: Tuple[int, ...], name: str, dtype: Any, trained: bool = True) -> Parameter:
    return Parameter(initializer(value, shape, dtype), name=name, requires_grad=trained)


class _BatchNorm(Cell):
    """Normalises every channel by the batch's mean and variance in training and by the running ones otherwise.

    Parameters: `weight` and `bias` [num_features], with affine; `running_mean`, `running_var` [num_features] and the
    int64 scalar `num_batches_tracked`, which are not trained, with track_running_stats. Without it the batch's
    statistics are also used in evaluation. momentum None averages the running values over all batches. Raises
    ValueError for inputs of another rank or number of channels.
    """

    _ranks: Tuple[int, ...] = ()

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: Optional[float] = 0.1, affine: bool = True, track_running_stats: bool = True,
                 dtype: Any = None) -> None:
        super().__init__()
        who, kind = self.cls_name, dtype or mstype.float32
        self.num_features, self.eps = check_int(who, "num_features", num_features, 1), check_float(who, "eps", eps)
        self.momentum = None if momentum is None else check_float(who, "momentum", momentum)
        self.affine, self.track_running_stats = check_bool(who, "affine", affine), check_bool(who, "track_running_stats", track_running_stats)
        shape = (num_features,)
        self.weight = _parameter("ones", shape, "weight", kind) if affine else None
        self.bias = _parameter("zeros", shape, "bias", kind) if affine else None
        self.running_mean = _parameter("zeros", shape, "running_mean", kind, False) if track_running_stats else None
        self.running_var = _parameter("ones", shape, "running_var", kind, False) if track_running_stats else None
        self.num_batches_tracked = _parameter("zeros", (), "num_batches_tracked", mstype.int64, False) if track_running_stats else None

    def construct(self, input: Tensor) -> Tensor:
        shape = tuple(input.shape)
        if len(shape) not in self._ranks:
            fail(ValueError, f"{self.cls_name}: the input must have {' or '.join(map(str, self._ranks))} dimensions, got shape {shape}")
        if shape[1] != self.num_features:
            fail(ValueError, f"{self.cls_name}: num_features is {self.num_features}, the input {shape} has {shape[1]} channels")
        share: Any = self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.assign(ops.add(self.num_batches_tracked, 1))
            if share is None:
                share = ops.reciprocal(ops.cast(self.num_batches_tracked, mstype.float32))
        return self._normalize(input, 0.0 if share is None else share)

    def _normalize(self, input: Tensor, share: Any) -> Tensor:
        return F.batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, self.training or self.running_mean is None, share, self.eps)

    def extend_repr(self) -> str:
        return (f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"track_running_stats={self.track_running_stats}")


class BatchNorm1d(_BatchNorm):
    """Normalises [n, c] or [n, c, l] by the batch's statistics in training and by the running ones otherwise.

    In training the running statistics become (1 - momentum)·running + momentum·batch.

    Args:
        num_features (int): The number of channels.
        eps (float): A value added to the variance. Default: 1e-05.
        momentum (float): The weight of the batch in the update of the running statistics; None averages over all
            batches. Default: 0.1.
        affine (bool): Whether the layer has `weight` and `bias`. Default: True.
        track_running_stats (bool): Whether the layer has `running_mean`, `running_var` and `num_batches_tracked`;
            without them the batch's statistics are also used in evaluation. Default: True.
        dtype (dtype): The type of the parameters; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the input has another rank or number of channels; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.BatchNorm1d(2)(ms.ops.ones((4, 2))).shape)
        (4, 2)
    """

    _ranks = (2, 3)

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: Optional[float] = 0.1, affine: bool = True, track_running_stats: bool = True,
                 dtype: Any = None) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)


class BatchNorm2d(_BatchNorm):
    """Normalises [n, c, h, w] by the batch's statistics in training and by the running ones otherwise.

    In training the running statistics become (1 - momentum)·running + momentum·batch.

    Args:
        num_features (int): The number of channels.
        eps (float): A value added to the variance. Default: 1e-05.
        momentum (float): The weight of the batch in the update of the running statistics; None averages over all
            batches. Default: 0.1.
        affine (bool): Whether the layer has `weight` and `bias`. Default: True.
        track_running_stats (bool): Whether the layer has `running_mean`, `running_var` and `num_batches_tracked`;
            without them the batch's statistics are also used in evaluation. Default: True.
        dtype (dtype): The type of the parameters; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the input has another rank or number of channels; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.BatchNorm2d(2)(ms.ops.ones((4, 2, 3, 3))).shape)
        (4, 2, 3, 3)
    """

    _ranks = (4,)

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: Optional[float] = 0.1, affine: bool = True, track_running_stats: bool = True,
                 dtype: Any = None) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)


class BatchNorm3d(_BatchNorm):
    """Normalises [n, c, d, h, w] by the batch's statistics in training and by the running ones otherwise.

    In training the running statistics become (1 - momentum)·running + momentum·batch.

    Args:
        num_features (int): The number of channels.
        eps (float): A value added to the variance. Default: 1e-05.
        momentum (float): The weight of the batch in the update of the running statistics; None averages over all
            batches. Default: 0.1.
        affine (bool): Whether the layer has `weight` and `bias`. Default: True.
        track_running_stats (bool): Whether the layer has `running_mean`, `running_var` and `num_batches_tracked`;
            without them the batch's statistics are also used in evaluation. Default: True.
        dtype (dtype): The type of the parameters; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the input has another rank or number of channels; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.BatchNorm3d(2)(ms.ops.ones((4, 2, 3, 3, 3))).shape)
        (4, 2, 3, 3, 3)
    """

    _ranks = (5,)

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: Optional[float] = 0.1, affine: bool = True, track_running_stats: bool = True,
                 dtype: Any = None) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)


class SyncBatchNorm(_BatchNorm):
    """Normalises [n, c, ...] by the statistics of a group of ranks; see `BatchNorm2d`.

    Mean and variance are those of all ranks' batches, which may differ in size. In evaluation, and on one rank, it is
    BatchNorm2d.

    Args:
        num_features (int): The number of channels.
        eps (float): A value added to the variance. Default: 1e-05.
        momentum (float): The weight of the batch in the update of the running statistics; None averages over all
            batches. Default: 0.1.
        affine (bool): Whether the layer has `weight` and `bias`. Default: True.
        track_running_stats (bool): Whether the layer has `running_mean`, `running_var` and `num_batches_tracked`;
            without them the batch's statistics are also used in evaluation. Default: True.
        process_group (str): The group of ranks; None means all ranks. Default: None.
        dtype (dtype): The type of the parameters; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the input has another rank or number of channels; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.SyncBatchNorm(2)(ms.ops.ones((4, 2))).shape)
        (4, 2)
    """

    _ranks = (2, 3, 4, 5)

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: Optional[float] = 0.1, affine: bool = True, track_running_stats: bool = True,
                 process_group: Optional[str] = None, dtype: Any = None) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)
        self.process_group = process_group
        group = process_group or "world"
        self._sync_group = group if GlobalComm.INITED and (get_group_size(process_group) if process_group else get_group_size()) > 1 else None

    def _normalize(self, input: Tensor, share: Any) -> Tensor:
        if self._sync_group is None or not (self.training or self.running_mean is None):
            return super()._normalize(input, share)
        y, mean, var = normalize_over_ranks(input, self.weight, self.bias, self.eps, self._sync_group)
        for running, batch in ((self.running_mean, mean), (self.running_var, var)):
            if running is not None and self.training:
                running.assign(ops.add(ops.mul(running, 1 - share), ops.mul(ops.cast(ops.stop_gradient(batch), running.dtype), share)))
        return y


class GroupNorm(Cell):
    """Normalises groups of the channels (dimension 1), then multiplies by `weight` and adds `bias`, both [num_channels].

    Args:
        num_groups (int): The number of groups.
        num_channels (int): The number of channels.
        eps (float): A value added to the variance. Default: 1e-05.
        affine (bool): Whether `weight` and `bias` are trained. Default: True.
        dtype (dtype): The type of the parameters; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `num_groups` does not divide `num_channels`, or the input has another number of channels.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.GroupNorm(2, 4)(ms.Tensor([[1.0, 3.0, 5.0, 9.0]])).asnumpy().round(4))
        [[-1.  1. -1.  1.]]
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: Any = None) -> None:
        super().__init__()
        self.num_groups, self.num_channels = check_int("GroupNorm", "num_groups", num_groups, 1), check_int("GroupNorm", "num_channels", num_channels, 1)
        if num_channels % num_groups:
            fail(ValueError, f"GroupNorm: num_channels {num_channels} must be a multiple of num_groups {num_groups}")
        self.eps, self.affine = check_float("GroupNorm", "eps", eps), check_bool("GroupNorm", "affine", affine)
        self.weight = _parameter("ones", (num_channels,), "weight", dtype or mstype.float32, affine)
        self.bias = _parameter("zeros", (num_channels,), "bias", dtype or mstype.float32, affine)

    def construct(self, input: Tensor) -> Tensor:
        if len(input.shape) < 2 or input.shape[1] != self.num_channels:
            fail(ValueError, f"GroupNorm: the input must have {self.num_channels} channels, got shape {tuple(input.shape)}")
        return ops.cast(F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps), input.dtype)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}, eps={self.eps}, affine={self.affine}"


class LayerNorm(Cell):
    """Normalises the last dimensions, then multiplies by `weight` and adds `bias` of that shape.

    Args:
        normalized_shape: The sizes of the last dimensions.
        eps (float): A value added to the variance. Default: 1e-05.
        elementwise_affine (bool): Whether the layer has `weight` and `bias`. Default: True.
        bias (bool): Whether the layer has `bias`. Default: True.
        dtype (dtype): The type of the parameters; None means float32. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the input has other last dimensions; it is raised by the call.

    Examples:
        >>> import sindri as ms
        >>> print(ms.mint.nn.LayerNorm(3)(ms.Tensor([[1.0, 2.0, 3.0]])).asnumpy().round(4))
        [[-1.2247  0.      1.2247]]
    """

    def __init__(self, normalized_shape: Union[int, Tuple[int, ...]], eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
                 dtype: Any = None) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps = shape, check_float("LayerNorm", "eps", eps)
        self.elementwise_affine = check_bool("LayerNorm", "elementwise_affine", elementwise_affine)
        self.weight = _parameter("ones", shape, "weight", dtype or mstype.float32) if elementwise_affine else None
        self.bias = _parameter("zeros", shape, "bias", dtype or mstype.float32) if elementwise_affine and check_bool("LayerNorm", "bias", bias) else None

    def construct(self, input: Tensor) -> Tensor:
        if tuple(input.shape[max(0, len(input.shape) - len(self.normalized_shape)):]) != self.normalized_shape:
            fail(ValueError, f"LayerNorm: normalized_shape {self.normalized_shape} are not the last dimensions of {tuple(input.shape)}")
        return ops.cast(F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps), input.dtype)

    def extend_repr(self) -> str:
        return f"normalized_shape={self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
