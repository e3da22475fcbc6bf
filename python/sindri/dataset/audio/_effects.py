"""Transforms of waveforms [..., time] and masks for spectrograms [..., freq, time]."""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, Optional

import numpy as np

from sindri._check import check_bool, check_float, check_int32, fail
from sindri.dataset.audio._base import WaveOperation
from sindri.dataset.audio.utils import FadeShape, GainType, ResampleMethod, member

__all__ = ["Contrast", "DCShift", "Fade", "FrequencyMasking", "Gain", "MaskAlongAxis", "MuLawDecoding", "MuLawEncoding", "Overdrive", "Resample",
           "TimeMasking", "Vol"]


class Resample(WaveOperation):
    """Resamples a waveform from orig_freq to new_freq samples a second with a windowed sinc filter (Smith, Digital Audio Resampling).

    lowpass_filter_width: zero crossings on each side. rolloff: the cutoff frequency as a fraction of the lower Nyquist frequency. beta: parameter of the
    Kaiser window (None: 14.769656459379492). Raises TypeError, ValueError.
    """

    def __init__(self, orig_freq: float = 16000, new_freq: float = 16000, resample_method: ResampleMethod = ResampleMethod.SINC_INTERPOLATION,
                 lowpass_filter_width: int = 6, rolloff: float = 0.99, beta: Optional[float] = None):
        who = "Resample"
        old, new = (int(check_float(who, n, v, above=0.0)) for n, v in (("orig_freq", orig_freq), ("new_freq", new_freq)))
        if old < 1 or new < 1:
            fail(ValueError, f"orig_freq and new_freq must be at least 1, got {orig_freq} and {new_freq}", who)
        divisor = math.gcd(old, new)
        self.old, self.new = old // divisor, new // divisor
        method: Any = member(who, "resample_method", resample_method, ResampleMethod)
        crossings = check_int32(who, "lowpass_filter_width", lowpass_filter_width, 1)
        base = min(self.old, self.new) * check_float(who, "rolloff", rolloff, above=0.0, most=1.0)
        shape = 14.769656459379492 if beta is None else check_float(who, "beta", beta)
        self.width = math.ceil(crossings * self.old / base)
        t = np.arange(-self.width, self.width + self.old)[None, :] / self.old - np.arange(self.new)[:, None] / self.new
        t = np.clip(t * base, -crossings, crossings)
        window = np.cos(t * np.pi / crossings / 2) ** 2
        if method is ResampleMethod.KAISER_WINDOW:
            window = np.i0(shape * np.sqrt(1 - (t / crossings) ** 2)) / np.i0(shape)
        self.kernel = np.sinc(t) * window * base / self.old  # [new, 2·width + old]

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        if self.old == self.new:
            return wave
        length = wave.shape[-1]
        x = np.pad(wave, [(0, 0)] * (wave.ndim - 1) + [(self.width, self.width + self.old)])
        blocks = np.lib.stride_tricks.sliding_window_view(x, self.kernel.shape[1], axis=-1)[..., ::self.old, :]
        out = (blocks @ self.kernel.T).reshape(*wave.shape[:-1], -1)
        return out[..., :math.ceil(self.new * length / self.old)]


_RISES: Dict[FadeShape, Callable[[np.ndarray], np.ndarray]] = {
    FadeShape.LINEAR: lambda t: t, FadeShape.EXPONENTIAL: lambda t: 2.0 ** (t - 1) * t, FadeShape.LOGARITHMIC: lambda t: np.log10(0.1 + t) + 1,
    FadeShape.QUARTER_SINE: lambda t: np.sin(t * np.pi / 2), FadeShape.HALF_SINE: lambda t: np.sin(t * np.pi - np.pi / 2) / 2 + 0.5,
}


class Fade(WaveOperation):
    """Fades in over the first fade_in_len samples and fades out over the last fade_out_len. As in MindSpore, the logarithmic curve reaches 1.04.

    Raises TypeError or ValueError. Calls raise ValueError for waveforms shorter than a fade."""

    def __init__(self, fade_in_len: int = 0, fade_out_len: int = 0, fade_shape: FadeShape = FadeShape.LINEAR):
        self.lengths = check_int32("Fade", "fade_in_len", fade_in_len), check_int32("Fade", "fade_out_len", fade_out_len)
        self.rise = _RISES[member("Fade", "fade_shape", fade_shape, FadeShape)]  # type: ignore[index]

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        start, end = self.lengths
        if max(start, end) > wave.shape[-1]:
            fail(ValueError, f"fade_in_len {start} and fade_out_len {end} must be at most the {wave.shape[-1]} samples", "Fade")
        out = wave.copy()
        if start:
            out[..., :start] *= self.rise(np.linspace(0.0, 1.0, start))
        if end:
            out[..., wave.shape[-1] - end:] *= self.rise(1.0 - np.linspace(0.0, 1.0, end))
        return out


class Vol(WaveOperation):
    """Multiplies a waveform by gain, given as an amplitude, a power or decibels, and clips it to [-1, 1]. Raises TypeError, ValueError."""

    def __init__(self, gain: float, gain_type: GainType = GainType.AMPLITUDE):
        kind: Any = member("Vol", "gain_type", gain_type, GainType)
        if kind is GainType.DB:
            self.factor = 10.0 ** (check_float("Vol", "gain", gain) / 20)
        elif kind is GainType.POWER:
            self.factor = math.sqrt(check_float("Vol", "gain", gain, above=0.0))
        else:
            self.factor = check_float("Vol", "gain", gain, 0.0)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        return np.clip(wave * self.factor, -1.0, 1.0)


class Gain(WaveOperation):
    """Amplifies a waveform by gain_db decibels. Raises TypeError."""

    def __init__(self, gain_db: float = 1.0):
        self.factor = 10.0 ** (check_float("Gain", "gain_db", gain_db) / 20)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        return wave * self.factor


class MuLawEncoding(WaveOperation):
    """Encodes a waveform within [-1, 1] as int32 values below quantization_channels by the mu law. Raises TypeError, ValueError."""

    def __init__(self, quantization_channels: int = 256):
        self.mu = check_int32("MuLawEncoding", "quantization_channels", quantization_channels, 1) - 1.0

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        x = self._checked(values[0]).astype(np.float64)
        bent = np.sign(x) * np.log1p(self.mu * np.abs(x)) / np.log1p(self.mu) if self.mu else x
        return ((bent + 1) / 2 * self.mu + 0.5).astype(np.int32)


class MuLawDecoding(WaveOperation):
    """Decodes the values of MuLawEncoding to a float32 waveform. Raises TypeError, ValueError."""

    def __init__(self, quantization_channels: int = 256):
        self.mu = check_int32("MuLawDecoding", "quantization_channels", quantization_channels, 2) - 1.0

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        x = wave / self.mu * 2 - 1
        return np.sign(x) * np.expm1(np.abs(x) * np.log1p(self.mu)) / self.mu


class DCShift(WaveOperation):
    """Adds shift to a waveform and clips it to [-1, 1].

    limiter_gain: compresses samples near the limit that the shift moves towards, instead of clipping them. Raises TypeError, ValueError."""

    def __init__(self, shift: float, limiter_gain: Optional[float] = None):
        self.shift = check_float("DCShift", "shift", shift, -2.0, 2.0)
        self.limit = None if limiter_gain is None else check_float("DCShift", "limiter_gain", limiter_gain)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        shifted = np.clip(wave + self.shift, -1.0, 1.0)
        if self.limit is None or self.shift == 0:
            return shifted
        side, edge = math.copysign(1.0, self.shift), 1.0 - (abs(self.shift) - self.limit)
        x = side * wave
        pressed = np.minimum((x - edge) * self.limit / (1.0 - edge) + edge + abs(self.shift), edge)
        return np.where(x > edge, side * pressed, shifted)


class Contrast(WaveOperation):
    """SoX's contrast: raises the loudness of a waveform without clipping; enhancement_amount from 0 to 100. Raises TypeError, ValueError."""

    def __init__(self, enhancement_amount: float = 75.0):
        self.amount = check_float("Contrast", "enhancement_amount", enhancement_amount, 0.0, 100.0) / 750

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        turned = wave * np.pi / 2
        return np.sin(turned + self.amount * np.sin(turned * 4))


class Overdrive(WaveOperation):
    """SoX's overdrive: gain (dB) and color (even harmonics), both from 0 to 100. Raises TypeError, ValueError."""

    def __init__(self, gain: float = 20.0, color: float = 20.0):
        self.gain = 10.0 ** (check_float("Overdrive", "gain", gain, 0.0, 100.0) / 20)
        self.color = check_float("Overdrive", "color", color, 0.0, 100.0) / 200

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        x = np.clip(wave * self.gain + self.color, -1.0, 1.0)
        bent = x - x ** 3 / 3
        steps = np.diff(bent, axis=-1, prepend=0.0)
        level, moving = np.zeros(wave.shape[:-1]), np.empty_like(wave)
        for t in range(wave.shape[-1]):  # removes the mean: a filter of order 1
            level = moving[..., t] = steps[..., t] + 0.995 * level
        return np.clip(wave * 0.5 + moving * 0.75, -1.0, 1.0)


class MaskAlongAxis(WaveOperation):
    """Sets mask_width positions from mask_start of a spectrogram [..., freq, time] to mask_value, along the frequencies (axis 1) or along time (axis 2).

    Raises TypeError, ValueError. Calls raise ValueError for a mask that exceeds the axis."""

    _least_dims = 2

    def __init__(self, mask_start: int, mask_width: int, mask_value: float, axis: int):
        who = "MaskAlongAxis"
        self.start, self.width = check_int32(who, "mask_start", mask_start), check_int32(who, "mask_width", mask_width, 1)
        self.value, self.axis = check_float(who, "mask_value", mask_value), check_int32(who, "axis", axis, 1, 2) - 3

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        return _masked(type(self).__name__, wave.copy(), self.start, self.width, self.value, self.axis)


def _masked(who: str, x: np.ndarray, start: int, width: int, value: float, axis: int) -> np.ndarray:
    if start + width > x.shape[axis]:
        fail(ValueError, f"a mask of {width} from {start} exceeds the axis of size {x.shape[axis]}", who)
    np.swapaxes(x, axis, -1)[..., start:start + width] = value
    return x


class _Masking(WaveOperation):
    """Masks along one axis: fixed, or drawn separately for each spectrogram of the array."""

    _least_dims = 2
    _random = True
    _axis = -1

    def _set(self, iid_masks: bool, param: int, mask_start: int, mask_value: float) -> None:
        who = type(self).__name__
        self.iid, self.param = check_bool(who, "iid_masks", iid_masks), check_int32(who, "mask_param", param)
        self.start, self.value = check_int32(who, "mask_start", mask_start), check_float(who, "mask_value", mask_value)

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        who, wave = type(self).__name__, self._checked(values[0])
        out = wave.astype(wave.dtype if wave.dtype.kind == "f" else np.float32)
        size = out.shape[self._axis]
        if self.param > size:
            fail(ValueError, f"mask_param must be at most {size}, got {self.param}", who)
        if not self.iid:
            return _masked(who, out, self.start, self.param, self.value, self._axis)
        for one in out.reshape(-1, *out.shape[-2:]):
            width = int(rng.integers(0, self.param + 1))
            _masked(who, one, int(rng.integers(0, size - width + 1)), width, self.value, self._axis)
        return out


class FrequencyMasking(_Masking):
    """Sets freq_mask_param frequencies of [..., freq, time] from mask_start to mask_value. iid_masks: the mask's width, at most freq_mask_param, and its
    position are drawn for each spectrogram. Raises TypeError, ValueError."""

    _axis = -2

    def __init__(self, iid_masks: bool = False, freq_mask_param: int = 0, mask_start: int = 0, mask_value: float = 0.0):
        self._set(iid_masks, freq_mask_param, mask_start, mask_value)


class TimeMasking(_Masking):
    """Sets time_mask_param frames of [..., freq, time] from mask_start to mask_value. iid_masks: the mask's width, at most time_mask_param, and its
    position are drawn for each spectrogram. Raises TypeError, ValueError."""

    _axis = -1

    def __init__(self, iid_masks: bool = False, time_mask_param: int = 0, mask_start: int = 0, mask_value: float = 0.0):
        self._set(iid_masks, time_mask_param, mask_start, mask_value)
