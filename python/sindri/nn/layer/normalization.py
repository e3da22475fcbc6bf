"""Batch, instance, layer and group normalisation."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Tuple

from sindri import _core
from sindri.common import dtype as mstype
from sindri.common.initializer import initializer
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.communication import GlobalComm, create_group, get_group_size, get_rank
from sindri._check import check_bool, check_float, check_int, fail, is_int
from sindri.nn.cell import Cell
from sindri.nn.layer.basic import Init
from sindri.nn.layer.conv import check_format

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm",
           "GroupNorm"]

_ops = _core.ops
_add, _mul = _ops.add, _ops.mul


class _BatchNorm(Cell):
    """Normalises each channel by the batch's mean and variance in training, otherwise by the moving statistics; see BatchNorm2d."""

    _ranks: Tuple[int, ...] = ()

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True, gamma_init: Init = "ones",
                 beta_init: Init = "zeros", moving_mean_init: Init = "zeros", moving_var_init: Init = "ones",
                 use_batch_statistics: Optional[bool] = None, data_format: str = "NCHW", dtype: Any = mstype.float32) -> None:
        super().__init__()
        who = self.cls_name
        self.num_features = check_int(who, "num_features", num_features, 1)
        self.eps = check_float(who, "eps", eps, above=0)
        self.momentum = check_float(who, "momentum", momentum, least=0, most=1)
        check_bool(who, "affine", affine)
        if use_batch_statistics is not None:
            check_bool(who, "use_batch_statistics", use_batch_statistics)
        self.use_batch_statistics = use_batch_statistics
        self.format = data_format
        self._nhwc = check_format(who, data_format)
        shape = (self.num_features,)
        self.gamma_init, self.beta_init = gamma_init, beta_init
        self.moving_mean_init, self.moving_var_init = moving_mean_init, moving_var_init
        # Drawn in the order of the C++ layer, so that random initial values are bitwise identical to its values; registered in MindSpore's order.
        gamma, beta = initializer(gamma_init, shape, dtype).init_data(), initializer(beta_init, shape, dtype).init_data()
        self.moving_mean = Parameter(initializer(moving_mean_init, shape, dtype), name="mean", requires_grad=False)
        self.moving_variance = Parameter(initializer(moving_var_init, shape, dtype), name="variance", requires_grad=False)
        self.gamma = Parameter(gamma, name="gamma", requires_grad=affine)
        self.beta = Parameter(beta, name="beta", requires_grad=affine)
        # Set by mixed precision: the op reads and writes half-precision activations with float32 parameters, without casts around it.
        self._mixed = False

    def construct(self, x: Tensor) -> Tensor:
        shape = x.shape
        if len(shape) not in self._ranks:
            wanted = " or ".join(map(str, self._ranks))
            fail(ValueError, f"{self.cls_name}: the input must have {wanted} dimensions, got shape {tuple(shape)}")
        if shape[-1 if self._nhwc else 1] != self.num_features:
            fail(ValueError, f"{self.cls_name}: num_features is {self.num_features}, the input {tuple(shape)} has "
                 f"{shape[-1 if self._nhwc else 1]} channels")
        if self._mixed:
            with _core.FullPrecisionScope():
                return self._normalize(x)
        return self._normalize(x)

    def _normalize(self, x: Tensor) -> Tensor:
        if self._nhwc:
            return _ops.transpose(self._normalize_channels(_ops.transpose(x, (0, 3, 1, 2))), (0, 2, 3, 1))
        return self._normalize_channels(x)

    def _normalize_channels(self, x: Tensor) -> Tensor:
        batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        if not batch:
            return _ops.batch_norm_infer(x, self.gamma, self.beta, self.moving_mean, self.moving_variance, self.eps)
        y, mean, var = _ops.batch_norm_train(x, self.gamma, self.beta, self.eps)
        count = x.size // self.num_features
        if count > 0:  # an empty batch has no statistics
            self._update_moving(mean, var, count / max(1, count - 1))
        return y

    def _update_moving(self, mean: Tensor, var: Tensor, factor: float) -> None:
        """Updates the moving statistics; `factor` is the ratio of the unbiased variance to `var`."""
        if _core.is_casting():
            with _core.FullPrecisionScope():  # the mean moves by less than a half type can represent
                self._blend(mean, var, factor)
        else:
            self._blend(mean, var, factor)

    def _blend(self, mean: Tensor, var: Tensor, factor: float) -> None:
        keep = self.momentum
        moving, variance = self.moving_mean, self.moving_variance
        moving.assign(_add(_mul(moving, keep), _mul(mean, 1 - keep)))
        variance.assign(_add(_mul(variance, keep), _mul(var, (1 - keep) * factor)))

    def extend_repr(self) -> str:
        return (f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={self.gamma}, beta={self.beta}, "
                f"moving_mean={self.moving_mean}, moving_variance={self.moving_variance}")


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of an input [N, C] or [N, C, L].

    Args:
        num_features (int): The number of channels C.
        eps (float): Added to the variance; above 0. Default: 1e-5.
        momentum (float): The weight of the old value in the moving statistics, in [0, 1]. Default: 0.9.
        affine (bool): Whether gamma and beta are trained. Default: True.
        gamma_init (str, float, Initializer, Tensor): How gamma is initialised. Default: "ones".
        beta_init (str, float, Initializer, Tensor): How beta is initialised. Default: "zeros".
        moving_mean_init (str, float, Initializer, Tensor): How the moving mean is initialised. Default: "zeros".
        moving_var_init (str, float, Initializer, Tensor): How the moving variance is initialised. Default: "ones".
        use_batch_statistics (bool): As in BatchNorm2d. Default: None.
        data_format (str): As in BatchNorm2d. Default: "NCHW".
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: As in BatchNorm2d.
        ValueError: As in BatchNorm2d.

    Examples:
        >>> import sindri as ms
        >>> norm = ms.nn.BatchNorm1d(1).set_train()
        >>> print(norm(ms.Tensor([[1.0], [3.0]])).asnumpy().round(3).ravel())
        [-1.  1.]
        >>> print(norm.moving_mean.asnumpy().round(3))
        [0.2]
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of an input [N, C, H, W].

    In training mode it normalises by the mean and variance of the batch and updates the moving statistics:
    moving = momentum·moving + (1 - momentum)·batch, with the unbiased batch variance. In inference mode it normalises by the moving
    statistics. `momentum` is the weight of the old value; PyTorch's is 1 minus it.

    Parameters, each [num_features]: `gamma` and `beta`, trained if `affine`, and `moving_mean` and `moving_variance`.

    Args:
        num_features (int): The number of channels C.
        eps (float): Added to the variance; above 0. Default: 1e-5.
        momentum (float): The weight of the old value in the moving statistics, in [0, 1]. Default: 0.9.
        affine (bool): Whether gamma and beta are trained. Default: True.
        gamma_init (str, float, Initializer, Tensor): How gamma is initialised. Default: "ones".
        beta_init (str, float, Initializer, Tensor): How beta is initialised. Default: "zeros".
        moving_mean_init (str, float, Initializer, Tensor): How the moving mean is initialised. Default: "zeros".
        moving_var_init (str, float, Initializer, Tensor): How the moving variance is initialised. Default: "ones".
        use_batch_statistics (bool): Whether the batch's statistics are used, and the moving ones updated; None follows the training flag.
            Default: None.
        data_format (str): "NCHW", or "NHWC" to normalise the last axis; "NHWC" needs device_target "GPU". Default: "NCHW".
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `num_features` is below 1, `momentum` is outside [0, 1], `eps` is not above 0, "NHWC" is used without the GPU, or the
            input has another rank or number of channels.

    Examples:
        >>> import sindri as ms
        >>> norm = ms.nn.BatchNorm2d(3)
        >>> norm(ms.ops.ones((2, 3, 4, 4), ms.float32)).shape
        (2, 3, 4, 4)
        >>> [p.name for p in norm.trainable_params()]
        ['gamma', 'beta']
    """

    _ranks = (4,)


class BatchNorm3d(Cell):
    """Batch normalisation of an input [N, C, D, H, W].

    A BatchNorm2d named `bn2d` computes it. So the Parameters are `bn2d.gamma` and so on, as in MindSpore's checkpoints.

    Args:
        num_features (int): As in BatchNorm2d.
        eps (float): As in BatchNorm2d. Default: 1e-5.
        momentum (float): As in BatchNorm2d. Default: 0.9.
        affine (bool): As in BatchNorm2d. Default: True.
        gamma_init (str, float, Initializer, Tensor): As in BatchNorm2d. Default: "ones".
        beta_init (str, float, Initializer, Tensor): As in BatchNorm2d. Default: "zeros".
        moving_mean_init (str, float, Initializer, Tensor): As in BatchNorm2d. Default: "zeros".
        moving_var_init (str, float, Initializer, Tensor): As in BatchNorm2d. Default: "ones".
        use_batch_statistics (bool): As in BatchNorm2d. Default: None.
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: As in BatchNorm2d.
        ValueError: As in BatchNorm2d.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.BatchNorm3d(3)(ms.ops.ones((2, 3, 4, 4, 4), ms.float32)).shape
        (2, 3, 4, 4, 4)
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True, gamma_init: Init = "ones",
                 beta_init: Init = "zeros", moving_mean_init: Init = "zeros", moving_var_init: Init = "ones",
                 use_batch_statistics: Optional[bool] = None, dtype: Any = mstype.float32) -> None:
        super().__init__()
        self.bn2d = BatchNorm2d(num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init, use_batch_statistics,
                                "NCHW", dtype)

    def construct(self, x: Tensor) -> Tensor:
        shape = tuple(x.shape)
        if len(shape) != 5:
            fail(ValueError, f"{self.cls_name}: the input must have 5 dimensions, got shape {shape}")
        return _ops.reshape(self.bn2d(_ops.reshape(x, (shape[0], shape[1], shape[2] * shape[3], shape[4]))), shape)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation of an input [N, C] or [N, C, H, W] over the ranks of a group.

    Mean and variance are those of the batches of all ranks in the group; the batches may differ in size. All ranks create the layer at the
    same time. In a group of one rank it is BatchNorm2d.

    Args:
        num_features (int): As in BatchNorm2d.
        eps (float): As in BatchNorm2d. Default: 1e-5.
        momentum (float): As in BatchNorm2d. Default: 0.9.
        affine (bool): As in BatchNorm2d. Default: True.
        gamma_init (str, float, Initializer, Tensor): As in BatchNorm2d. Default: "ones".
        beta_init (str, float, Initializer, Tensor): As in BatchNorm2d. Default: "zeros".
        moving_mean_init (str, float, Initializer, Tensor): As in BatchNorm2d. Default: "zeros".
        moving_var_init (str, float, Initializer, Tensor): As in BatchNorm2d. Default: "ones".
        use_batch_statistics (bool): As in BatchNorm2d. Default: None.
        process_groups (list): Lists of ranks. Each rank uses the list that contains it, or its own batch if there is none. Default: None,
            one group of all ranks.
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If `process_groups` is not None or a list of lists of ranks, or as in BatchNorm2d.
        ValueError: If a rank does not exist or is named twice, or as in BatchNorm2d.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.SyncBatchNorm(3)(ms.ops.ones((2, 3, 4, 4), ms.float32)).shape
        (2, 3, 4, 4)
    """

    _ranks = (2, 4)

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True, gamma_init: Init = "ones",
                 beta_init: Init = "zeros", moving_mean_init: Init = "zeros", moving_var_init: Init = "ones",
                 use_batch_statistics: Optional[bool] = None, process_groups: Optional[Sequence[Sequence[int]]] = None,
                 dtype: Any = mstype.float32) -> None:
        super().__init__(num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init, use_batch_statistics, "NCHW",
                         dtype)
        if process_groups is not None and not (isinstance(process_groups, (list, tuple))
                                               and all(isinstance(g, (list, tuple)) and all(is_int(r) for r in g) for g in process_groups)):
            fail(TypeError, f"SyncBatchNorm: process_groups must be a list of lists of ranks, got {process_groups!r}")
        ranks, count = [r for g in process_groups or () for r in g], get_group_size() if GlobalComm.INITED else 1
        if len(set(ranks)) != len(ranks):
            fail(ValueError, f"SyncBatchNorm: process_groups names a rank twice, got {process_groups!r}")
        if any(not 0 <= r < count for r in ranks):
            fail(ValueError, f"SyncBatchNorm: process_groups must hold ranks in [0, {count}), got {process_groups!r}")
        self.process_groups = process_groups
        self._sync_group = _sync_group(process_groups, count)

    def _normalize_channels(self, x: Tensor) -> Tensor:
        batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        if not batch or self._sync_group is None:
            return super()._normalize_channels(x)
        return self._normalize_over_ranks(x, self._sync_group)

    def _normalize_over_ranks(self, x: Tensor, group: str) -> Tensor:
        y, mean, unbiased = normalize_over_ranks(x, self.gamma, self.beta, self.eps, group)
        kept = self.moving_mean.dtype
        self._update_moving(_ops.cast(_ops.stop_gradient(mean), kept), _ops.cast(_ops.stop_gradient(unbiased), kept), 1.0)
        return y


def normalize_over_ranks(x: Tensor, gamma: Optional[Tensor], beta: Optional[Tensor], eps: float, group: str) -> Tuple[Tensor, Tensor, Tensor]:
    """Normalises x [N, C, ...] by the mean and variance of all ranks' batches.

    Computes in float32 at least. There are two all-reduces: of the sums for the mean, then of the squared differences from it. Their
    gradients are sums over ranks too, so that the gradient of x contains all ranks' losses.

    Args:
        x (Tensor): The input.
        gamma (Tensor): The scale [C], or None.
        beta (Tensor): The shift [C], or None.
        eps (float): Added to the variance.
        group (str): The group of ranks.

    Returns:
        (Normalised x, mean [C], unbiased variance [C]).
    """
    axes, features = tuple(i for i in range(len(x.shape)) if i != 1), x.shape[1]
    channels = (1, features) + (1,) * (len(x.shape) - 2)
    wide = mstype.float64 if x.dtype == mstype.float64 else mstype.float32
    full = _ops.cast(x, wide)
    mine = _ops.full((features,), x.size // features, wide)
    total, count = _ops.all_reduce((_ops.sum(full, axes), mine), group=group, what="SyncBatchNorm mean")
    mean = _ops.div(total, count)
    centred = _ops.sub(full, _ops.reshape(mean, channels))
    squares = _ops.all_reduce((_ops.sum(_mul(centred, centred), axes),), group=group, what="SyncBatchNorm variance")[0]
    var = _ops.div(squares, count)
    scale = _ops.rsqrt(_add(var, eps))
    scale = scale if gamma is None else _mul(scale, _ops.cast(gamma, wide))
    y = _mul(centred, _ops.reshape(scale, channels))
    y = y if beta is None else _add(y, _ops.reshape(_ops.cast(beta, wide), channels))
    return _ops.cast(y, x.dtype), mean, _mul(var, _ops.div(count, _ops.maximum(_ops.sub(count, 1.0), 1.0)))


def _sync_group(process_groups: Optional[Sequence[Sequence[int]]], count: int) -> Optional[str]:
    """Returns the engine's name of the group whose statistics this rank uses; None if that is this rank alone."""
    if count == 1:
        return None
    if process_groups is None:
        return "world"
    own = next((list(g) for g in process_groups if get_rank() in g), [])
    if len(own) < 2:
        return None
    name = "sync_batch_norm_" + "_".join(map(str, own))
    try:
        get_group_size(name)
    except ValueError:  # the first layer with this group
        create_group(name, own)
    return name


class _InstanceNorm(Cell):
    """Normalises each sample and channel over the remaining dimensions, then scales by `gamma` and shifts by `beta`, each [C].

    Statistics always come from the input. The moving statistics exist under BatchNorm's names and do not change.
    """

    _rank = 0

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True, gamma_init: Init = "ones",
                 beta_init: Init = "zeros", dtype: Any = mstype.float32) -> None:
        super().__init__()
        who = self.cls_name
        self.num_features = check_int(who, "num_features", num_features, 1)
        self.eps, self.momentum = check_float(who, "eps", eps, above=0), check_float(who, "momentum", momentum, least=0, most=1)
        shape = (self.num_features,)
        self.moving_mean = Parameter(initializer("zeros", shape, dtype), name="mean", requires_grad=False)
        self.moving_variance = Parameter(initializer("ones", shape, dtype), name="variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), name="gamma", requires_grad=check_bool(who, "affine", affine))
        self.beta = Parameter(initializer(beta_init, shape, dtype), name="beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Tensor:
        shape = tuple(x.shape)
        if len(shape) != self._rank or shape[1] != self.num_features:
            fail(ValueError, f"{self.cls_name}: the input must have {self._rank} dimensions and {self.num_features} channels, got shape {shape}")
        width = math.prod(shape[2:])
        ones, zeros = _in_type_of(x, *(_ops.full((width,), v, self.gamma.dtype) for v in (1.0, 0.0)))
        y = _ops.reshape(_ops.layer_norm(_ops.reshape(x, (-1, width)), ones, zeros, 1, self.eps), shape)
        channels = (1, self.num_features) + (1,) * (self._rank - 2)
        y = _ops.add(_ops.mul(y, _ops.reshape(self.gamma, channels)), _ops.reshape(self.beta, channels))
        return _ops.cast(y, x.dtype)  # half-precision inputs meet float32 parameters

    def extend_repr(self) -> str:
        return (f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={self.gamma}, beta={self.beta}, "
                f"moving_mean={self.moving_mean}, moving_variance={self.moving_variance}")


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of an input [N, C, L].

    Each sample and channel is normalised over the remaining dimensions. The statistics always come from the input; the moving statistics
    exist under BatchNorm's names and do not change.

    Args:
        num_features (int): The number of channels C.
        eps (float): Added to the variance; above 0. Default: 1e-5.
        momentum (float): Stored without effect; in [0, 1]. Default: 0.1.
        affine (bool): Whether gamma and beta are trained. Default: True.
        gamma_init (str, float, Initializer, Tensor): How gamma is initialised. Default: "ones".
        beta_init (str, float, Initializer, Tensor): How beta is initialised. Default: "zeros".
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a value is out of range, or the input has another rank or number of channels.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.InstanceNorm1d(1)(ms.Tensor([[[1.0, 3.0]]])).asnumpy().round(3))
        [[[-1.  1.]]]
    """

    _rank = 3


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of an input [N, C, H, W].

    Args:
        num_features (int): As in InstanceNorm1d.
        eps (float): As in InstanceNorm1d. Default: 1e-5.
        momentum (float): As in InstanceNorm1d. Default: 0.1.
        affine (bool): As in InstanceNorm1d. Default: True.
        gamma_init (str, float, Initializer, Tensor): As in InstanceNorm1d. Default: "ones".
        beta_init (str, float, Initializer, Tensor): As in InstanceNorm1d. Default: "zeros".
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: As in InstanceNorm1d.
        ValueError: As in InstanceNorm1d.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.InstanceNorm2d(3)(ms.ops.ones((2, 3, 4, 4), ms.float32)).shape
        (2, 3, 4, 4)
    """

    _rank = 4


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of an input [N, C, D, H, W].

    Args:
        num_features (int): As in InstanceNorm1d.
        eps (float): As in InstanceNorm1d. Default: 1e-5.
        momentum (float): As in InstanceNorm1d. Default: 0.1.
        affine (bool): As in InstanceNorm1d. Default: True.
        gamma_init (str, float, Initializer, Tensor): As in InstanceNorm1d. Default: "ones".
        beta_init (str, float, Initializer, Tensor): As in InstanceNorm1d. Default: "zeros".
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: As in InstanceNorm1d.
        ValueError: As in InstanceNorm1d.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.InstanceNorm3d(3)(ms.ops.ones((2, 3, 4, 4, 4), ms.float32)).shape
        (2, 3, 4, 4, 4)
    """

    _rank = 5


def _in_type_of(x: Tensor, *parameters: Tensor) -> Tuple[Tensor, ...]:
    """Returns the parameters of a normalisation in x's compute type: float64 for a float64 input, otherwise unchanged."""
    return tuple(_ops.cast(p, x.dtype) if x.dtype is mstype.float64 and p.dtype is not mstype.float64 else p for p in parameters)


class LayerNorm(Cell):
    """Layer normalisation: normalises the last dimensions, then scales by `gamma` and shifts by `beta`.

    Args:
        normalized_shape (tuple, list): The shape of gamma and beta, which are trained; the input's shape ends in it.
        begin_norm_axis (int): The first dimension to normalise. Default: -1.
        begin_params_axis (int): The first dimension that gamma and beta cover. Default: -1.
        gamma_init (str, float, Initializer, Tensor): How gamma is initialised. Default: "ones".
        beta_init (str, float, Initializer, Tensor): How beta is initialised. Default: "zeros".
        epsilon (float): Added to the variance; above 0. Default: 1e-7 (PyTorch: 1e-5).
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If `normalized_shape` is not a tuple or list, or another argument has another type.
        ValueError: If a size is below 1, `epsilon` is not above 0 or the input's shape does not end in `normalized_shape`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.LayerNorm((2,))(ms.Tensor([[1.0, 3.0], [0.0, 8.0]])).asnumpy().round(4))
        [[-1.  1.]
         [-1.  1.]]
    """

    def __init__(self, normalized_shape: Sequence[int], begin_norm_axis: int = -1, begin_params_axis: int = -1, gamma_init: Init = "ones",
                 beta_init: Init = "zeros", epsilon: float = 1e-7, dtype: Any = mstype.float32) -> None:
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            fail(TypeError,
                 f"LayerNorm: normalized_shape must be a tuple or a list, got {normalized_shape!r} of type {type(normalized_shape).__name__}")
        if not normalized_shape:
            fail(ValueError, "LayerNorm: normalized_shape must not be empty")
        self.normalized_shape = normalized_shape
        self._shape = tuple(check_int("LayerNorm", "normalized_shape", s, 1) for s in normalized_shape)
        self.begin_norm_axis = check_int("LayerNorm", "begin_norm_axis", begin_norm_axis)
        self.begin_params_axis = check_int("LayerNorm", "begin_params_axis", begin_params_axis)
        self.epsilon = check_float("LayerNorm", "epsilon", epsilon, above=0)
        self.gamma = Parameter(initializer(gamma_init, self._shape, dtype), name="gamma")
        self.beta = Parameter(initializer(beta_init, self._shape, dtype), name="beta")

    def construct(self, x: Tensor) -> Tensor:
        shape = tuple(x.shape)
        rank = len(shape)
        norm_axis, params_axis = self._axis(self.begin_norm_axis, rank, shape), self._axis(self.begin_params_axis, rank, shape)
        if shape[params_axis:] != self._shape:
            fail(ValueError, f"LayerNorm: normalized_shape is {self._shape}, the input {shape} has {shape[params_axis:]} from axis {params_axis} on")
        if norm_axis == params_axis:
            gamma, beta = _in_type_of(x, self.gamma, self.beta)
            return _ops.layer_norm(x, gamma, beta, norm_axis, self.epsilon)
        # The statistics cover other dimensions than the parameters: normalise without them, then scale.
        ones, zeros = _in_type_of(x, *(_ops.full(shape[norm_axis:], v, self.gamma.dtype) for v in (1.0, 0.0)))
        y = _ops.add(_ops.mul(_ops.layer_norm(x, ones, zeros, norm_axis, self.epsilon), self.gamma), self.beta)
        return _ops.cast(y, x.dtype)

    @staticmethod
    def _axis(axis: int, rank: int, shape: Tuple[int, ...]) -> int:
        if not -rank <= axis < rank:
            fail(ValueError, f"LayerNorm: axis {axis} is not one of the input's, got shape {shape}")
        return axis % rank

    def extend_repr(self) -> str:
        return (f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, begin_params_axis={self.begin_params_axis}, "
                f"gamma={self.gamma}, beta={self.beta}")


class GroupNorm(Cell):
    """Group normalisation of an input [N, C, ...]: normalises each group of channels, then scales by `gamma` and shifts by `beta`, each [C].

    Args:
        num_groups (int): The number of groups.
        num_channels (int): The number of channels C, a multiple of `num_groups`.
        eps (float): Added to the variance; above 0. Default: 1e-5.
        affine (bool): Whether gamma and beta are trained. Default: True.
        gamma_init (str, float, Initializer, Tensor): How gamma is initialised. Default: "ones".
        beta_init (str, float, Initializer, Tensor): How beta is initialised. Default: "zeros".
        dtype (DType): The type of the Parameters. Default: float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `num_channels` is not a multiple of `num_groups`, or the input has another rank or number of channels.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.GroupNorm(2, 4)(ms.ops.ones((1, 4, 3, 3), ms.float32)).shape
        (1, 4, 3, 3)
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, gamma_init: Init = "ones",
                 beta_init: Init = "zeros", dtype: Any = mstype.float32) -> None:
        super().__init__()
        self.num_groups = check_int("GroupNorm", "num_groups", num_groups, 1)
        self.num_channels = check_int("GroupNorm", "num_channels", num_channels, 1)
        if num_channels % num_groups:
            fail(ValueError, f"GroupNorm: num_channels {num_channels} must be a multiple of num_groups {num_groups}")
        self.eps, self.affine = check_float("GroupNorm", "eps", eps, above=0), check_bool("GroupNorm", "affine", affine)
        self.gamma = Parameter(initializer(gamma_init, (num_channels,), dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, (num_channels,), dtype), name="beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Tensor:
        shape = tuple(x.shape)
        if len(shape) < 2 or shape[1] != self.num_channels:
            fail(ValueError, f"GroupNorm: the input must be [N, {self.num_channels}, ...], got shape {shape}")
        width = math.prod(shape[1:]) // self.num_groups
        ones, zeros = _in_type_of(x, *(_ops.full((width,), v, self.gamma.dtype) for v in (1.0, 0.0)))
        y = _ops.reshape(_ops.layer_norm(_ops.reshape(x, (-1, width)), ones, zeros, 1, self.eps), shape)
        channels = (1, self.num_channels) + (1,) * (len(shape) - 2)
        return _ops.cast(_ops.add(_ops.mul(y, _ops.reshape(self.gamma, channels)), _ops.reshape(self.beta, channels)), x.dtype)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"
