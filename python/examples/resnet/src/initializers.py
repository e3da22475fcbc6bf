"""Initial weights: some computed in NumPy, as in a migrated script, and some from sindri.common.initializer.

The NumPy ones use NumPy's global generator, which sindri.set_seed seeds.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

import sindri as ms

Array = np.ndarray[Any, Any]

_TRUNCATED_STD = 0.87962566103423978  # standard deviation of a standard normal distribution truncated at ±2


def gain_of(nonlinearity: str, slope: float = 0.0) -> float:
    """Returns the gain of a layer's initial weights for the nonlinearity that follows. Raises ValueError for an unknown nonlinearity."""
    gains = {
        "linear": 1.0,
        "conv2d": 1.0,
        "sigmoid": 1.0,
        "tanh": 5.0 / 3.0,
        "relu": math.sqrt(2.0),
        "leaky_relu": math.sqrt(2.0 / (1.0 + slope * slope)),
    }
    if nonlinearity not in gains:
        raise ValueError(f"nonlinearity '{nonlinearity}' is not known | gain_of | use one of {', '.join(gains)}")
    return gains[nonlinearity]


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Returns (fan_in, fan_out) of a Dense [out, in] or Conv2d [out, in, kh, kw] weight. Raises ValueError for fewer than two dimensions."""
    if len(shape) < 2:
        raise ValueError(f"a weight of shape {tuple(shape)} has no fan | fans | at least two dimensions are needed")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def kaiming_normal(shape: tuple[int, ...], slope: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Array:
    """Returns a float32 array with He's normal initialization, of standard deviation gain / sqrt(fan)."""
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode must be 'fan_in' or 'fan_out', got '{mode}' | kaiming_normal")
    fan = fans(shape)[mode == "fan_out"]
    return np.asarray(np.random.normal(0.0, gain_of(nonlinearity, slope) / math.sqrt(fan), shape), np.float32)


def variance_scaling(shape: tuple[int, ...]) -> Array:
    """Returns a float32 array from a normal distribution truncated at two standard deviations; its variance after truncation is 1 / fan_in."""
    draw = np.random.standard_normal(math.prod(shape))
    while (outside := np.abs(draw) > 2.0).any():
        draw[outside] = np.random.standard_normal(int(outside.sum()))
    return (draw / (_TRUNCATED_STD * math.sqrt(fans(shape)[0]))).reshape(shape).astype(np.float32)


def init_weight(net: ms.nn.Cell, conv_init: str = "XavierUniform", dense_init: str = "TruncatedNormal") -> None:
    """Initializes the weights of all convolutions and dense layers of a network; 'default' keeps the layers' initial weights.

    conv_init: default, XavierUniform, HeNormal (fan_out, as in PyTorch's ResNet), VarianceScaling. dense_init: default, TruncatedNormal, Normal,
    HeUniform (PyTorch's Linear). Raises ValueError for another name.
    """
    init = ms.common.initializer
    convs = {
        "default": None,
        "XavierUniform": lambda w: init.initializer(init.XavierUniform(), w.shape, w.dtype),
        "HeNormal": lambda w: ms.Tensor(kaiming_normal(w.shape, mode="fan_out", nonlinearity="relu")),
        "VarianceScaling": lambda w: ms.Tensor(variance_scaling(w.shape)),
    }
    denses = {
        "default": None,
        "TruncatedNormal": lambda w: init.initializer(init.TruncatedNormal(), w.shape, w.dtype),
        "Normal": lambda w: init.initializer(init.Normal(0.01), w.shape, w.dtype),
        "HeUniform": lambda w: init.initializer(init.HeUniform(math.sqrt(5)), w.shape, w.dtype),
    }
    for name, table in ((conv_init, convs), (dense_init, denses)):
        if name not in table:
            raise ValueError(f"initial values '{name}' are not known | init_weight | use one of {', '.join(table)}")
    for _, cell in net.cells_and_names():
        draw = convs[conv_init] if isinstance(cell, ms.nn.Conv2d) else denses[dense_init] if isinstance(cell, ms.nn.Dense) else None
        if draw is not None:
            cell.weight.set_data(draw(cell.weight))
