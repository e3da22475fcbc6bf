"""Filters for waveforms [..., time]: difference equations, and the biquads of the Audio EQ Cookbook (Bristow-Johnson) and of SoX."""
from __future__ import annotations

import math
from typing import Any, Sequence, Tuple

import numpy as np

from sindri._check import check_bool, check_float, check_int, fail, is_number
from sindri.dataset.audio._base import WaveOperation

__all__ = ["AllpassBiquad", "BandBiquad", "BandpassBiquad", "BandrejectBiquad", "BassBiquad", "Biquad", "DeemphBiquad", "EqualizerBiquad", "Filtfilt",
           "HighpassBiquad", "LFilter", "LowpassBiquad", "RiaaBiquad", "TrebleBiquad"]


def filtered(waves: np.ndarray, a: Sequence[float], b: Sequence[float]) -> np.ndarray:
    """Returns y with sum(a[i]·y[t - i]) = sum(b[i]·x[t - i]) along the last dimension, float64."""
    waves = np.asarray(waves, np.float64)
    lead, order = float(a[0]), len(a) - 1
    driven = np.zeros_like(waves)
    for i, weight in enumerate(b[:waves.shape[-1]]):
        driven[..., i:] += weight / lead * waves[..., :waves.shape[-1] - i]
    back = [float(v) / lead for v in a[1:]]
    rows = driven.reshape(-1, waves.shape[-1])
    for row in rows if any(back) else ():
        past = [0.0] * order
        out = row.tolist()  # Python floats: a loop over array elements takes ten times as long
        if order == 2:
            first, second = back
            y1 = y2 = 0.0
            for t, v in enumerate(out):
                y1, y2 = v - first * y1 - second * y2, y1
                out[t] = y1
        else:
            for t, v in enumerate(out):
                now = v - sum([c * y for c, y in zip(back, past)])
                past = [now, *past[:-1]]
                out[t] = now
        row[:] = out
    return rows.reshape(waves.shape)


class _Filter(WaveOperation):
    """A filter given by its coefficients; the output is clipped to [-1, 1] if `clamp` is set."""

    a: Sequence[float]
    b: Sequence[float]
    clamp = True

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        out = filtered(wave, self.a, self.b)
        return np.clip(out, -1.0, 1.0) if self.clamp else out


class LFilter(_Filter):
    """Filters a waveform with a difference equation: sum(a[i]·y[t - i]) = sum(b[i]·x[t - i]).

    Args:
        a_coeffs (sequence of float): The denominator a, lowest delay first.
        b_coeffs (sequence of float): The numerator b, lowest delay first.
        clamp (bool): Whether to clip the output to [-1, 1]. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the coefficients have different lengths or a_coeffs[0] is 0.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.LFilter([1.0, -0.5], [0.5, 0.0])(np.array([1.0, 0.0, 0.0], np.float32)).tolist()
        [0.5, 0.25, 0.125]
    """

    def __init__(self, a_coeffs: Sequence[float], b_coeffs: Sequence[float], clamp: bool = True):
        who = type(self).__name__
        for name, values in (("a_coeffs", a_coeffs), ("b_coeffs", b_coeffs)):
            if not isinstance(values, (list, tuple)) or not all(is_number(v) for v in values):
                fail(TypeError, f"{name} must be a list or tuple of numbers, got {values!r}", who)
        if len(a_coeffs) != len(b_coeffs) or not a_coeffs or a_coeffs[0] == 0:
            fail(ValueError, f"a_coeffs {list(a_coeffs)} and b_coeffs {list(b_coeffs)} must have the same length, and a_coeffs[0] must not be 0", who)
        self.a, self.b, self.clamp = a_coeffs, b_coeffs, check_bool(who, "clamp", clamp)


class Filtfilt(LFilter):
    """Filters as LFilter, forwards and then backwards in time, which adds no delay.

    Args:
        a_coeffs (sequence of float): The denominator a, lowest delay first.
        b_coeffs (sequence of float): The numerator b, lowest delay first.
        clamp (bool): Whether to clip the output to [-1, 1]. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the coefficients have different lengths or a_coeffs[0] is 0.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.Filtfilt([1.0, 0.0], [0.5, 0.0])(np.array([1.0, 0.0, 0.0], np.float32)).tolist()
        [0.25, 0.0, 0.0]
    """

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        out = filtered(filtered(wave, self.a, self.b)[..., ::-1], self.a, self.b)[..., ::-1]
        return np.clip(out, -1.0, 1.0) if self.clamp else out


class Biquad(_Filter):
    """Filters with a filter of order 2 and clips the output to [-1, 1].

    Args:
        b0 (float): The numerator's coefficient of delay 0.
        b1 (float): The numerator's coefficient of delay 1.
        b2 (float): The numerator's coefficient of delay 2.
        a0 (float): The denominator's coefficient of delay 0.
        a1 (float): The denominator's coefficient of delay 1.
        a2 (float): The denominator's coefficient of delay 2.

    Raises:
        TypeError: If an argument is not a number.
        ValueError: If `a0` is 0.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.Biquad(0.5, 0.5, 0.0, 1.0, 0.0, 0.0)(np.array([1.0, 0.0, 0.0], np.float32)).tolist()
        [0.5, 0.5, 0.0]
    """

    def __init__(self, b0: float, b1: float, b2: float, a0: float, a1: float, a2: float):
        values = [check_float("Biquad", name, v) for name, v in zip(("b0", "b1", "b2", "a0", "a1", "a2"), (b0, b1, b2, a0, a1, a2))]
        if a0 == 0:
            fail(ValueError, "a0 must not be 0", "Biquad")
        self.b, self.a = values[:3], values[3:]


class _Cookbook(_Filter):
    """A biquad given by its frequency and Q; subclasses return (b, a) from cos(w0) and alpha = sin(w0)/(2Q)."""

    def _set(self, sample_rate: int, frequency: float, q: float, **other: Any) -> None:
        who = type(self).__name__
        if check_int(who, "sample_rate", sample_rate) == 0:
            fail(ValueError, "sample_rate must not be 0", who)
        check_float(who, "frequency", frequency)
        check_float(who, "Q", q, above=0.0, most=1.0)
        w0 = 2 * math.pi * frequency / sample_rate
        self.b, self.a = self._coefficients(math.cos(w0), math.sin(w0) / 2 / q, **other)

    def _coefficients(self, cos: float, alpha: float, **other: Any) -> Tuple[list, list]:
        raise NotImplementedError


def _poles(cos: float, alpha: float) -> list:
    return [1 + alpha, -2 * cos, 1 - alpha]


class LowpassBiquad(_Cookbook):
    """Passes low frequencies.

    Args:
        sample_rate (int): The sample rate in hertz.
        cutoff_freq (float): The cutoff frequency in hertz.
        Q (float): The quality factor, above 0 and at most 1. Default: 0.707.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.LowpassBiquad(16000, 1000.0)(np.zeros((1, 100), np.float32)).shape
        (1, 100)
    """

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707):
        self._set(sample_rate, cutoff_freq, Q)

    def _coefficients(self, cos: float, alpha: float, **other: Any) -> Tuple[list, list]:
        return [(1 - cos) / 2, 1 - cos, (1 - cos) / 2], _poles(cos, alpha)


class HighpassBiquad(_Cookbook):
    """Passes high frequencies.

    Args:
        sample_rate (int): The sample rate in hertz.
        cutoff_freq (float): The cutoff frequency in hertz.
        Q (float): The quality factor, above 0 and at most 1. Default: 0.707.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.HighpassBiquad(16000, 1000.0)(np.zeros((1, 100), np.float32)).shape
        (1, 100)
    """

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707):
        self._set(sample_rate, cutoff_freq, Q)

    def _coefficients(self, cos: float, alpha: float, **other: Any) -> Tuple[list, list]:
        return [(1 + cos) / 2, -1 - cos, (1 + cos) / 2], _poles(cos, alpha)


class BandpassBiquad(_Cookbook):
    """Passes frequencies around a centre.

    Args:
        sample_rate (int): The sample rate in hertz.
        central_freq (float): The centre in hertz.
        Q (float): The quality factor, above 0 and at most 1. Default: 0.707.
        const_skirt_gain (bool): Whether the peak gain is Q; otherwise it is 1. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.BandpassBiquad(16000, 1000.0)(np.zeros((1, 100), np.float32)).shape
        (1, 100)
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707, const_skirt_gain: bool = False):
        peak = Q if check_bool("BandpassBiquad", "const_skirt_gain", const_skirt_gain) else 1.0
        self._set(sample_rate, central_freq, Q, peak=peak)

    def _coefficients(self, cos: float, alpha: float, **other: Any) -> Tuple[list, list]:
        top = alpha * other["peak"]
        return [top, 0.0, -top], _poles(cos, alpha)


class BandrejectBiquad(_Cookbook):
    """Removes frequencies around a centre.

    Args:
        sample_rate (int): The sample rate in hertz.
        central_freq (float): The centre in hertz.
        Q (float): The quality factor, above 0 and at most 1. Default: 0.707.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.BandrejectBiquad(16000, 1000.0)(np.zeros((1, 100), np.float32)).shape
        (1, 100)
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707):
        self._set(sample_rate, central_freq, Q)

    def _coefficients(self, cos: float, alpha: float, **other: Any) -> Tuple[list, list]:
        return [1.0, -2 * cos, 1.0], _poles(cos, alpha)


class AllpassBiquad(_Cookbook):
    """Shifts phases around a centre frequency and preserves amplitudes.

    Args:
        sample_rate (int): The sample rate in hertz.
        central_freq (float): The centre in hertz.
        Q (float): The quality factor, above 0 and at most 1. Default: 0.707.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.AllpassBiquad(16000, 1000.0)(np.zeros((1, 100), np.float32)).shape
        (1, 100)
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707):
        self._set(sample_rate, central_freq, Q)

    def _coefficients(self, cos: float, alpha: float, **other: Any) -> Tuple[list, list]:
        return _poles(cos, alpha)[::-1], _poles(cos, alpha)


class BandBiquad(_Cookbook):
    """Passes frequencies around a centre with a bandwidth of central_freq / Q, as SoX's band.

    Args:
        sample_rate (int): The sample rate in hertz.
        central_freq (float): The centre in hertz.
        Q (float): The quality factor, above 0 and at most 1. Default: 0.707.
        noise (bool): Uses the form for sounds without pitch. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.BandBiquad(16000, 1000.0)(np.zeros((1, 100), np.float32)).shape
        (1, 100)
    """

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707, noise: bool = False):
        check_bool("BandBiquad", "noise", noise)
        self._set(sample_rate, central_freq, Q, decay=lambda: math.exp(-2 * math.pi * central_freq / Q / sample_rate), noise=noise)

    def _coefficients(self, cos: float, alpha: float, **other: Any) -> Tuple[list, list]:
        a2 = other["decay"]()
        a1 = -4 * a2 / (1 + a2) * cos
        top = math.sqrt(1 - a1 * a1 / (4 * a2)) * (1 - a2)
        if other["noise"]:
            top = math.sqrt(((1 + a2) ** 2 - a1 * a1) * (1 - a2) / (1 + a2))
        return [top, 0.0, 0.0], [1.0, a1, a2]


def _amplitude(gain: float) -> float:
    return math.exp(gain / 40 * math.log(10))


class EqualizerBiquad(_Cookbook):
    """Boosts or attenuates frequencies around a centre.

    Args:
        sample_rate (int): The sample rate in hertz.
        center_freq (float): The centre in hertz.
        gain (float): The gain at the centre in decibels.
        Q (float): The quality factor, above 0 and at most 1. Default: 0.707.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.EqualizerBiquad(16000, 1000.0, 6.0)(np.zeros((1, 100), np.float32)).shape
        (1, 100)
    """

    def __init__(self, sample_rate: int, center_freq: float, gain: float, Q: float = 0.707):
        self._set(sample_rate, center_freq, Q, size=_amplitude(check_float("EqualizerBiquad", "gain", gain)))

    def _coefficients(self, cos: float, alpha: float, **other: Any) -> Tuple[list, list]:
        size = other["size"]
        return [1 + alpha * size, -2 * cos, 1 - alpha * size], _poles(cos, alpha / size)


def _shelf(cos: float, alpha: float, size: float, side: int) -> Tuple[list, list]:
    """Returns the coefficients of a low shelf (side 1) or a high shelf (side -1)."""
    more, less, root = size + 1, size - 1, 2 * math.sqrt(size) * alpha
    cos *= side
    b = [size * (more - less * cos + root), 2 * size * (less - more * cos) * side, size * (more - less * cos - root)]
    return b, [more + less * cos + root, -2 * (less + more * cos) * side, more + less * cos - root]


class BassBiquad(_Cookbook):
    """Boosts or attenuates low frequencies.

    Args:
        sample_rate (int): The sample rate in hertz.
        gain (float): The gain in decibels.
        central_freq (float): The upper end of the low frequencies in hertz. Default: 100.0.
        Q (float): The quality factor, above 0 and at most 1. Default: 0.707.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.BassBiquad(16000, 6.0)(np.zeros((1, 100), np.float32)).shape
        (1, 100)
    """

    def __init__(self, sample_rate: int, gain: float, central_freq: float = 100.0, Q: float = 0.707):
        self._set(sample_rate, central_freq, Q, size=_amplitude(check_float("BassBiquad", "gain", gain)))

    def _coefficients(self, cos: float, alpha: float, **other: Any) -> Tuple[list, list]:
        return _shelf(cos, alpha, other["size"], 1)


class TrebleBiquad(_Cookbook):
    """Boosts or attenuates high frequencies.

    Args:
        sample_rate (int): The sample rate in hertz.
        gain (float): The gain in decibels.
        central_freq (float): The lower end of the high frequencies in hertz. Default: 3000.
        Q (float): The quality factor, above 0 and at most 1. Default: 0.707.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.TrebleBiquad(16000, 6.0)(np.zeros((1, 100), np.float32)).shape
        (1, 100)
    """

    def __init__(self, sample_rate: int, gain: float, central_freq: float = 3000, Q: float = 0.707):
        self._set(sample_rate, central_freq, Q, size=_amplitude(check_float("TrebleBiquad", "gain", gain)))

    def _coefficients(self, cos: float, alpha: float, **other: Any) -> Tuple[list, list]:
        return _shelf(cos, alpha, other["size"], -1)


class DeemphBiquad(_Filter):
    """Removes the pre-emphasis of compact discs (IEC 60908).

    Args:
        sample_rate (int): The sample rate in hertz: 44100 or 48000.

    Raises:
        TypeError: If `sample_rate` is not an int.
        ValueError: If `sample_rate` has another value.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.DeemphBiquad(44100)(np.zeros((1, 100), np.float32)).shape
        (1, 100)
    """

    def __init__(self, sample_rate: int):
        known = {44100: (5283, 0.4845, -9.477), 48000: (5356, 0.479, -9.62)}
        if check_int("DeemphBiquad", "sample_rate", sample_rate) not in known:
            fail(ValueError, f"sample_rate must be 44100 or 48000, got {sample_rate}", "DeemphBiquad")
        frequency, slope, gain = known[sample_rate]
        size, w0 = _amplitude(gain), 2 * math.pi * frequency / sample_rate
        alpha = math.sin(w0) / 2 * math.sqrt((size + 1 / size) * (1 / slope - 1) + 2)
        self.b, self.a = _shelf(math.cos(w0), alpha, size, -1)


class RiaaBiquad(_Filter):
    """Applies the playback equalisation of vinyl records.

    Args:
        sample_rate (int): The sample rate in hertz: 44100, 48000, 88200 or 96000.

    Raises:
        TypeError: If `sample_rate` is not an int.
        ValueError: If `sample_rate` has another value.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.RiaaBiquad(44100)(np.zeros((1, 100), np.float32)).shape
        (1, 100)
    """

    def __init__(self, sample_rate: int):
        known = {44100: (-0.2014898, 0.9233820, 0.7083149, 0.9924091), 48000: (-0.1766069, 0.9321590, 0.7396325, 0.9931330),
                 88200: (-0.1168735, 0.9648312, 0.8590646, 0.9964002), 96000: (-0.1141486, 0.9676817, 0.8699137, 0.9966946)}
        if check_int("RiaaBiquad", "sample_rate", sample_rate) not in known:
            fail(ValueError, f"sample_rate must be one of {sorted(known)}, got {sample_rate}", "RiaaBiquad")
        zeros, poles = known[sample_rate][:2], known[sample_rate][2:]
        b, a = np.poly(zeros), np.poly(poles)
        turn = np.exp(-2j * math.pi * 1000 / sample_rate * np.arange(3))  # the gain is 1 at 1 kHz
        self.b, self.a = (b * abs(a @ turn) / abs(b @ turn)).tolist(), a.tolist()
