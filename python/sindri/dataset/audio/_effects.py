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
    """Resamples a waveform with a windowed sinc filter (Smith, Digital Audio Resampling).

    Args:
        orig_freq (float): The sample rate of the waveform. Default: 16000.
        new_freq (float): The sample rate of the result. Default: 16000.
        resample_method (ResampleMethod): The window of the filter. Default: ResampleMethod.SINC_INTERPOLATION.
        lowpass_filter_width (int): The number of zero crossings on each side, positive. Default: 6.
        rolloff (float): The cutoff frequency as a fraction of the lower Nyquist frequency, at most 1. Default: 0.99.
        beta (float, optional): The parameter of the Kaiser window. Default: None, which means 14.769656459379492.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.Resample(16000, 8000)(np.zeros((1, 100), np.float32)).shape
        (1, 50)
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
    """Fades in at the start and out at the end. As in MindSpore, the logarithmic curve reaches 1.04.

    Args:
        fade_in_len (int): The number of samples to fade in. Default: 0.
        fade_out_len (int): The number of samples to fade out. Default: 0.
        fade_shape (FadeShape): The curve. Default: FadeShape.LINEAR.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range; when called, if the waveform is shorter than a fade.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.Fade(3, 2)(np.ones(5, np.float32)).tolist()
        [0.0, 0.5, 1.0, 1.0, 0.0]
    """

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
    """Multiplies a waveform by a gain and clips it to [-1, 1].

    Args:
        gain (float): The gain. An amplitude must be at least 0 and a power positive.
        gain_type (GainType): The unit: AMPLITUDE, POWER or DB. Default: GainType.AMPLITUDE.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.Vol(2.0)(np.array([0.25, 0.75], np.float32)).tolist()
        [0.5, 1.0]
    """

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
    """Amplifies a waveform.

    Args:
        gain_db (float): The gain in decibels. Default: 1.0.

    Raises:
        TypeError: If `gain_db` is not a number.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.Gain(20.0)(np.array([0.5, 1.0], np.float32)).round(4).tolist()
        [5.0, 10.0]
    """

    def __init__(self, gain_db: float = 1.0):
        self.factor = 10.0 ** (check_float("Gain", "gain_db", gain_db) / 20)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        return wave * self.factor


class MuLawEncoding(WaveOperation):
    """Encodes a waveform within [-1, 1] by the mu law as int32 values from 0 to quantization_channels - 1.

    Args:
        quantization_channels (int): The number of values, positive. Default: 256.

    Raises:
        TypeError: If `quantization_channels` has another type.
        ValueError: If `quantization_channels` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.MuLawEncoding()(np.array([-1.0, 0.0, 1.0], np.float32)).tolist()
        [0, 128, 255]
    """

    def __init__(self, quantization_channels: int = 256):
        self.mu = check_int32("MuLawEncoding", "quantization_channels", quantization_channels, 1) - 1.0

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        x = self._checked(values[0]).astype(np.float64)
        bent = np.sign(x) * np.log1p(self.mu * np.abs(x)) / np.log1p(self.mu) if self.mu else x
        return ((bent + 1) / 2 * self.mu + 0.5).astype(np.int32)


class MuLawDecoding(WaveOperation):
    """Decodes the values of MuLawEncoding to a float32 waveform.

    Args:
        quantization_channels (int): The number of values, at least 2. Default: 256.

    Raises:
        TypeError: If `quantization_channels` has another type.
        ValueError: If `quantization_channels` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.MuLawDecoding()(np.array([0, 255], np.int32)).round(4).tolist()
        [-1.0, 1.0]
    """

    def __init__(self, quantization_channels: int = 256):
        self.mu = check_int32("MuLawDecoding", "quantization_channels", quantization_channels, 2) - 1.0

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        x = wave / self.mu * 2 - 1
        return np.sign(x) * np.expm1(np.abs(x) * np.log1p(self.mu)) / self.mu


class DCShift(WaveOperation):
    """Adds a constant to a waveform and clips it to [-1, 1].

    Args:
        shift (float): The constant, from -2 to 2.
        limiter_gain (float, optional): Compresses samples near the limit towards which the shift moves, instead of clipping them. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.DCShift(0.5)(np.array([0.25, 0.75], np.float32)).tolist()
        [0.75, 1.0]
    """

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
    """Raises the loudness of a waveform without clipping, as SoX's contrast.

    Args:
        enhancement_amount (float): The amount, from 0 to 100. Default: 75.0.

    Raises:
        TypeError: If `enhancement_amount` has another type.
        ValueError: If `enhancement_amount` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.Contrast()(np.array([-1.0, 0.0, 1.0], np.float32)).round(4).tolist()
        [-1.0, 0.0, 1.0]
    """

    def __init__(self, enhancement_amount: float = 75.0):
        self.amount = check_float("Contrast", "enhancement_amount", enhancement_amount, 0.0, 100.0) / 750

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        turned = wave * np.pi / 2
        return np.sin(turned + self.amount * np.sin(turned * 4))


class Overdrive(WaveOperation):
    """Distorts a waveform, as SoX's overdrive.

    Args:
        gain (float): The gain in decibels, from 0 to 100. Default: 20.0.
        color (float): The amount of even harmonics, from 0 to 100. Default: 20.0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.Overdrive()(np.zeros((1, 8), np.float32)).shape
        (1, 8)
    """

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
    """Sets a range of a spectrogram [..., freq, time] to a value.

    Args:
        mask_start (int): The first position of the range.
        mask_width (int): The number of positions, positive.
        mask_value (float): The value.
        axis (int): 1 for the frequencies, 2 for time.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range; when called, if the range exceeds the axis.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.MaskAlongAxis(0, 1, 9.0, 2)(np.zeros((1, 2, 2), np.float32)).tolist()
        [[[9.0, 0.0], [9.0, 0.0]]]
    """

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
    """Sets frequencies of a spectrogram [..., freq, time] to a value.

    Args:
        iid_masks (bool): Whether each spectrogram has a mask of random width, at most `freq_mask_param`, at a random position. Default: False.
        freq_mask_param (int): The number of frequencies. Default: 0.
        mask_start (int): The first frequency, without `iid_masks`. Default: 0.
        mask_value (float): The value. Default: 0.0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range; when called, if the mask exceeds the spectrogram.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.FrequencyMasking(freq_mask_param=1, mask_start=1)(np.ones((1, 3, 2), np.float32)).tolist()
        [[[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]]
    """

    _axis = -2

    def __init__(self, iid_masks: bool = False, freq_mask_param: int = 0, mask_start: int = 0, mask_value: float = 0.0):
        self._set(iid_masks, freq_mask_param, mask_start, mask_value)


class TimeMasking(_Masking):
    """Sets frames of a spectrogram [..., freq, time] to a value.

    Args:
        iid_masks (bool): Whether each spectrogram has a mask of random width, at most `time_mask_param`, at a random position. Default: False.
        time_mask_param (int): The number of frames. Default: 0.
        mask_start (int): The first frame, without `iid_masks`. Default: 0.
        mask_value (float): The value. Default: 0.0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range; when called, if the mask exceeds the spectrogram.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.TimeMasking(time_mask_param=1, mask_start=1)(np.ones((1, 1, 3), np.float32)).tolist()
        [[[1.0, 0.0, 1.0]]]
    """

    _axis = -1

    def __init__(self, iid_masks: bool = False, time_mask_param: int = 0, mask_start: int = 0, mask_value: float = 0.0):
        self._set(iid_masks, time_mask_param, mask_start, mask_value)
