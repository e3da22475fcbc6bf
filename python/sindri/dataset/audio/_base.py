"""Base class of the transforms of one numeric array."""
from __future__ import annotations

from typing import Any

import numpy as np

from sindri._check import fail
from sindri.dataset._transform import PyOperation

__all__ = ["WaveOperation"]


class WaveOperation(PyOperation):
    """Accepts an array [..., time] (spectrograms: [..., freq, time]), computes in float64 and returns the input's element type; float32 for integers.

    Calls raise TypeError for arrays that are not numeric and ValueError for too few dimensions."""

    _least_dims = 1
    _last = 0  # size of the last dimension; 0: any

    def _wave(self, wave: np.ndarray) -> Any:
        raise NotImplementedError

    def _checked(self, value: Any) -> np.ndarray:
        who, wave = type(self).__name__, np.asarray(value)
        if wave.dtype.kind not in "fiu":
            fail(TypeError, f"expected an array of numbers, got {wave.dtype} of shape {list(wave.shape)}", who)
        if wave.ndim < self._least_dims or (self._last and wave.shape[-1] != self._last):
            wanted = "[..., time]" if self._least_dims == 1 else "[..., freq, time]" if not self._last else "[..., 2]"
            fail(ValueError, f"expected shape {wanted}, got {list(wave.shape)}", who)
        return wave

    def _run(self, rng: Any, *values: Any) -> Any:
        wave = self._checked(values[0])
        out, kind = self._wave(wave.astype(np.float64)), wave.dtype if wave.dtype.kind == "f" else np.dtype(np.float32)
        return tuple(v.astype(kind) for v in out) if isinstance(out, tuple) else out.astype(kind)
