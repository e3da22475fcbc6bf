"""Spectra of waveforms and the features derived from them."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from sindri._check import check_bool, check_float, check_int32, fail
from sindri.dataset.audio._base import WaveOperation
from sindri.dataset.audio.utils import (BorderType, MelType, NormMode, NormType, ScaleType, WindowType, create_dct, fourier_window, linear_fbanks,
                                        melscale_fbanks, member)

__all__ = ["AmplitudeToDB", "Angle", "ComplexNorm", "ComputeDeltas", "DBToAmplitude", "LFCC", "MFCC", "Magphase", "MelScale", "MelSpectrogram",
           "SlidingWindowCmn", "SpectralCentroid", "Spectrogram"]

_PAD_MODES: Dict[BorderType, Any] = {BorderType.CONSTANT: "constant", BorderType.EDGE: "edge", BorderType.REFLECT: "reflect",
                                     BorderType.SYMMETRIC: "symmetric"}


def _padded(x: np.ndarray, before: int, after: int, mode: BorderType) -> np.ndarray:
    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(before, after)], mode=_PAD_MODES[mode])


class Spectrogram(WaveOperation):
    """Computes the spectrogram [..., freq, frames] of [..., time]: the magnitudes, raised to `power`, of the Fourier transforms of windows.

    Args:
        n_fft (int): The number of samples of a Fourier transform. Default: 400.
        win_length (int, optional): The number of samples of a window, at most `n_fft`. Default: None, which means `n_fft`.
        hop_length (int, optional): The number of samples between windows. Default: None, half of the window.
        pad (int): The number of zeros to add on both sides of the waveform. Default: 0.
        window (WindowType): The window. Default: WindowType.HANN.
        power (float): The exponent of the magnitudes; 0 returns real and imaginary parts [..., freq, frames, 2]. Default: 2.0.
        normalized (bool): Whether to divide by the norm of the window. Default: False.
        center (bool): Whether to extend the waveform, so that frame t is centred on sample t·hop_length. Default: True.
        pad_mode (BorderType): The extension of the waveform for `center`. Default: BorderType.REFLECT.
        onesided (bool): Whether to return only frequencies up to half the sample rate. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range; when called, if the waveform is too short.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.Spectrogram(n_fft=8)(np.zeros((1, 16), np.float32)).shape
        (1, 5, 5)
    """

    def __init__(self, n_fft: int = 400, win_length: Optional[int] = None, hop_length: Optional[int] = None, pad: int = 0,
                 window: WindowType = WindowType.HANN, power: float = 2.0, normalized: bool = False, center: bool = True,
                 pad_mode: BorderType = BorderType.REFLECT, onesided: bool = True):
        who = type(self).__name__
        self.n_fft = check_int32(who, "n_fft", n_fft, 1)
        length = self.n_fft if win_length is None else check_int32(who, "win_length", win_length, 1)
        if length > self.n_fft:
            fail(ValueError, f"win_length must be at most n_fft, got {length} and {self.n_fft}", who)
        self.hop = max(1, length // 2) if hop_length is None else check_int32(who, "hop_length", hop_length, 1)
        self.pad, self.power = check_int32(who, "pad", pad), check_float(who, "power", power, 0.0)
        self.window = fourier_window(member(who, "window", window, WindowType), length, self.n_fft)  # type: ignore[arg-type]
        self.scale = np.sqrt(np.sum(self.window ** 2)) if check_bool(who, "normalized", normalized) else 1.0
        self.center, self.onesided = check_bool(who, "center", center), check_bool(who, "onesided", onesided)
        self.pad_mode: Any = member(who, "pad_mode", pad_mode, BorderType)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        if self.pad:
            wave = _padded(wave, self.pad, self.pad, BorderType.CONSTANT)
        if self.center:
            if self.pad_mode is BorderType.REFLECT and wave.shape[-1] <= self.n_fft // 2:
                fail(ValueError, f"{wave.shape[-1]} samples are too few to reflect {self.n_fft // 2}", type(self).__name__, "use another pad_mode")
            wave = _padded(wave, self.n_fft // 2, self.n_fft // 2, self.pad_mode)
        if wave.shape[-1] < self.n_fft:
            fail(ValueError, f"{wave.shape[-1]} samples are fewer than n_fft, {self.n_fft}", type(self).__name__, "use center=True or a smaller n_fft")
        frames = np.lib.stride_tricks.sliding_window_view(wave, self.n_fft, axis=-1)[..., ::self.hop, :] * self.window
        spectrum = np.swapaxes((np.fft.rfft if self.onesided else np.fft.fft)(frames, axis=-1), -1, -2) / self.scale
        if self.power == 0:
            return np.stack([spectrum.real, spectrum.imag], -1)
        return np.abs(spectrum) ** self.power


class MelScale(WaveOperation):
    """Converts a spectrogram [..., freq, time] to [..., n_mels, time] with triangular filters on the mel scale.

    Args:
        n_mels (int): The number of filters. Default: 128.
        sample_rate (int): The sample rate in hertz. Default: 16000.
        f_min (float): The lowest frequency in hertz. Default: 0.0.
        f_max (float, optional): The highest frequency in hertz. Default: None, half the sample rate.
        n_stft (int): The number of input frequencies. Default: 201.
        norm (NormType): The scaling of the filters. Default: NormType.NONE.
        mel_type (MelType): The mel scale. Default: MelType.HTK.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range; when called, if the number of frequencies is not `n_stft`.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.MelScale(n_mels=4, n_stft=5)(np.zeros((5, 3), np.float32)).shape
        (4, 3)
    """

    _least_dims = 2

    def __init__(self, n_mels: int = 128, sample_rate: int = 16000, f_min: float = 0.0, f_max: Optional[float] = None, n_stft: int = 201,
                 norm: NormType = NormType.NONE, mel_type: MelType = MelType.HTK):
        who = type(self).__name__
        check_int32(who, "sample_rate", sample_rate, 1)
        highest = float(sample_rate // 2) if f_max is None else f_max
        self.banks = melscale_fbanks(n_stft, f_min, highest, n_mels, sample_rate, norm, mel_type).astype(np.float64)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        if wave.shape[-2] != len(self.banks):
            fail(ValueError, f"expected {len(self.banks)} frequencies, got shape {list(wave.shape)}", type(self).__name__, "pass their number as n_stft")
        return np.swapaxes(np.swapaxes(wave, -1, -2) @ self.banks, -1, -2)


class MelSpectrogram(WaveOperation):
    """Applies Spectrogram and then MelScale.

    Args:
        sample_rate (int): As of MelScale. Default: 16000.
        n_fft (int): As of Spectrogram. Default: 400.
        win_length (int, optional): As of Spectrogram. Default: None.
        hop_length (int, optional): As of Spectrogram. Default: None.
        f_min (float): As of MelScale. Default: 0.0.
        f_max (float, optional): As of MelScale. Default: None.
        pad (int): As of Spectrogram. Default: 0.
        n_mels (int): As of MelScale. Default: 128.
        window (WindowType): As of Spectrogram. Default: WindowType.HANN.
        power (float): The exponent of the magnitudes, positive. Default: 2.0.
        normalized (bool): As of Spectrogram. Default: False.
        center (bool): As of Spectrogram. Default: True.
        pad_mode (BorderType): As of Spectrogram. Default: BorderType.REFLECT.
        onesided (bool): As of Spectrogram. Default: True.
        norm (NormType): As of MelScale. Default: NormType.NONE.
        mel_scale (MelType): As `mel_type` of MelScale. Default: MelType.HTK.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range; when called, if the waveform is too short.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.MelSpectrogram(n_fft=64, n_mels=4)(np.zeros((1, 128), np.float32)).shape
        (1, 4, 5)
    """

    def __init__(self, sample_rate: int = 16000, n_fft: int = 400, win_length: Optional[int] = None, hop_length: Optional[int] = None, f_min: float = 0.0,
                 f_max: Optional[float] = None, pad: int = 0, n_mels: int = 128, window: WindowType = WindowType.HANN, power: float = 2.0,
                 normalized: bool = False, center: bool = True, pad_mode: BorderType = BorderType.REFLECT, onesided: bool = True,
                 norm: NormType = NormType.NONE, mel_scale: MelType = MelType.HTK):
        if power == 0:
            fail(ValueError, "power must be above 0", "MelSpectrogram")
        self.spectrogram = Spectrogram(n_fft, win_length, hop_length, pad, window, power, normalized, center, pad_mode, onesided)
        self.mel = MelScale(n_mels, sample_rate, f_min, f_max, n_fft // 2 + 1 if onesided else n_fft, norm, mel_scale)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        return self.mel._wave(self.spectrogram._wave(wave))


class AmplitudeToDB(WaveOperation):
    """Converts a spectrogram [..., freq, time] to decibels: 10·log10 of a power or 20·log10 of a magnitude. The result is limited to `top_db` below the
    largest value of a sample (of up to three dimensions).

    Args:
        stype (ScaleType): The input: POWER or MAGNITUDE. Default: ScaleType.POWER.
        ref_value (float): The value of 0 decibels, positive. Default: 1.0.
        amin (float): The lower limit of the input, positive. Default: 1e-10.
        top_db (float): The range of the result in decibels, positive. Default: 80.0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.AmplitudeToDB()(np.array([[1.0, 100.0]], np.float32)).round(4).tolist()
        [[0.0, 20.0]]
    """

    _least_dims = 2

    def __init__(self, stype: ScaleType = ScaleType.POWER, ref_value: float = 1.0, amin: float = 1e-10, top_db: float = 80.0):
        who = "AmplitudeToDB"
        self.factor = 10.0 if member(who, "stype", stype, ScaleType) is ScaleType.POWER else 20.0
        self.ref, self.amin = check_float(who, "ref_value", ref_value, above=0.0), check_float(who, "amin", amin, above=0.0)
        self.top = check_float(who, "top_db", top_db, above=0.0)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        out = self.factor * (np.log10(np.maximum(wave, self.amin)) - np.log10(max(self.ref, self.amin)))
        axes = tuple(range(-min(3, out.ndim), 0))
        return np.maximum(out, out.max(axis=axes, keepdims=True) - self.top)


class DBToAmplitude(WaveOperation):
    """Converts decibels x to ref·(10^(x/10))^power.

    Args:
        ref (float): The value at 0 decibels.
        power (float): 1 returns powers, 0.5 returns amplitudes.

    Raises:
        TypeError: If an argument is not a number.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.DBToAmplitude(1.0, 1.0)(np.array([0.0, 10.0], np.float32)).round(4).tolist()
        [1.0, 10.0]
    """

    def __init__(self, ref: float, power: float):
        self.ref, self.power = check_float("DBToAmplitude", "ref", ref), check_float("DBToAmplitude", "power", power)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        return self.ref * (10.0 ** (wave / 10)) ** self.power


def _cepstrum(spectrum: np.ndarray, log: bool, dct: np.ndarray) -> np.ndarray:
    levels = np.log(spectrum + 1e-6) if log else AmplitudeToDB()._wave(spectrum)
    return np.swapaxes(np.swapaxes(levels, -1, -2) @ dct, -1, -2)


class MFCC(WaveOperation):
    """Computes mel-frequency cepstral coefficients [..., n_mfcc, frames]: the discrete cosine transform of MelSpectrogram's logarithm.

    Args:
        sample_rate (int): The sample rate in hertz. Default: 16000.
        n_mfcc (int): The number of coefficients, at most `n_mels`. Default: 40.
        dct_type (int): The type of cosine transform; only 2. Default: 2.
        norm (NormMode): The scaling of the cosine transform. Default: NormMode.ORTHO.
        log_mels (bool): Uses log(x + 1e-6) instead of decibels. Default: False.
        melkwargs (dict, optional): Arguments of MelSpectrogram. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.MFCC(n_mfcc=4, melkwargs={"n_fft": 64, "n_mels": 8})(np.zeros((1, 128), np.float32)).shape
        (1, 4, 5)
    """

    def __init__(self, sample_rate: int = 16000, n_mfcc: int = 40, dct_type: int = 2, norm: NormMode = NormMode.ORTHO, log_mels: bool = False,
                 melkwargs: Optional[Dict[str, Any]] = None):
        who = "MFCC"
        if dct_type != 2:
            fail(ValueError, f"dct_type must be 2, got {dct_type!r}", who)
        given = {"n_mels": 128, **(melkwargs or {})}
        if check_int32(who, "n_mfcc", n_mfcc, 1) > given["n_mels"]:
            fail(ValueError, f"n_mfcc must be at most n_mels, got {n_mfcc} and {given['n_mels']}", who)
        self.mel, self.log = MelSpectrogram(sample_rate, **given), check_bool(who, "log_mels", log_mels)
        self.dct = create_dct(n_mfcc, given["n_mels"], norm).astype(np.float64)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        return _cepstrum(self.mel._wave(wave), self.log, self.dct)


class LFCC(WaveOperation):
    """Computes cepstral coefficients as MFCC, with filters equally spaced in hertz.

    Args:
        sample_rate (int): The sample rate in hertz. Default: 16000.
        n_filter (int): The number of filters. Default: 128.
        n_lfcc (int): The number of coefficients. Default: 40.
        f_min (float): The lowest frequency in hertz. Default: 0.0.
        f_max (float, optional): The highest frequency in hertz. Default: None, half the sample rate.
        dct_type (int): The type of cosine transform; only 2. Default: 2.
        norm (NormMode): The scaling of the cosine transform. Default: NormMode.ORTHO.
        log_lf (bool): Uses log(x + 1e-6) instead of decibels. Default: False.
        speckwargs (dict, optional): Arguments of Spectrogram. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.LFCC(n_filter=8, n_lfcc=4, speckwargs={"n_fft": 64})(np.zeros((1, 128), np.float32)).shape
        (1, 4, 5)
    """

    def __init__(self, sample_rate: int = 16000, n_filter: int = 128, n_lfcc: int = 40, f_min: float = 0.0, f_max: Optional[float] = None, dct_type: int = 2,
                 norm: NormMode = NormMode.ORTHO, log_lf: bool = False, speckwargs: Optional[Dict[str, Any]] = None):
        who = "LFCC"
        if dct_type != 2:
            fail(ValueError, f"dct_type must be 2, got {dct_type!r}", who)
        self.spectrogram, self.log = Spectrogram(**(speckwargs or {})), check_bool(who, "log_lf", log_lf)
        if check_int32(who, "n_lfcc", n_lfcc, 1) > self.spectrogram.n_fft:
            fail(ValueError, f"n_lfcc must be at most n_fft, got {n_lfcc} and {self.spectrogram.n_fft}", who)
        highest = float(sample_rate // 2) if f_max is None else f_max
        self.banks = linear_fbanks(self.spectrogram.n_fft // 2 + 1, f_min, highest, n_filter, sample_rate).astype(np.float64)
        self.dct = create_dct(n_lfcc, n_filter, norm).astype(np.float64)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        spectrum = np.swapaxes(np.swapaxes(self.spectrogram._wave(wave), -1, -2) @ self.banks, -1, -2)
        return _cepstrum(spectrum, self.log, self.dct)


class SpectralCentroid(WaveOperation):
    """Computes the mean frequency of each frame in hertz, weighted by magnitude, shape [..., 1, frames].

    Args:
        sample_rate (int): The sample rate in hertz.
        n_fft (int): As of Spectrogram. Default: 400.
        win_length (int, optional): As of Spectrogram. Default: None.
        hop_length (int, optional): As of Spectrogram. Default: None.
        pad (int): As of Spectrogram. Default: 0.
        window (WindowType): As of Spectrogram. Default: WindowType.HANN.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range; when called, if the waveform is too short.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.SpectralCentroid(16000, n_fft=8)(np.ones((1, 16), np.float32)).shape
        (1, 1, 5)
    """

    def __init__(self, sample_rate: int, n_fft: int = 400, win_length: Optional[int] = None, hop_length: Optional[int] = None, pad: int = 0,
                 window: WindowType = WindowType.HANN):
        check_int32("SpectralCentroid", "sample_rate", sample_rate, 1)
        self.spectrogram = Spectrogram(n_fft, win_length, hop_length, pad, window, 1.0)
        self.frequencies = np.linspace(0.0, sample_rate // 2, n_fft // 2 + 1)[:, None]

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        spectrum = self.spectrogram._wave(wave)
        with np.errstate(invalid="ignore"):  # NaN for a silent frame
            return (self.frequencies * spectrum).sum(-2, keepdims=True) / spectrum.sum(-2, keepdims=True)


class Angle(WaveOperation):
    """Computes the angles of complex numbers [..., 2] in radians.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.Angle()(np.array([[1.0, 0.0], [0.0, 1.0]])).round(4).tolist()
        [0.0, 1.5708]
    """

    _last = 2

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        return np.arctan2(wave[..., 1], wave[..., 0])


class ComplexNorm(WaveOperation):
    """Computes the absolute values of complex numbers [..., 2], raised to a power.

    Args:
        power (float): The exponent, at least 0. Default: 1.0.

    Raises:
        TypeError: If `power` has another type.
        ValueError: If `power` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.ComplexNorm()(np.array([[3.0, 4.0]], np.float32)).tolist()
        [5.0]
    """

    _last = 2

    def __init__(self, power: float = 1.0):
        self.power = check_float(type(self).__name__, "power", power, 0.0)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        return np.hypot(wave[..., 0], wave[..., 1]) ** self.power


class Magphase(ComplexNorm):
    """Returns the absolute values of complex numbers [..., 2], raised to a power, and their angles in radians.

    Args:
        power (float): The exponent, at least 0. Default: 1.0.

    Raises:
        TypeError: If `power` has another type.
        ValueError: If `power` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> magnitudes, angles = audio.Magphase()(np.array([[3.0, 0.0]], np.float32))
        >>> magnitudes.tolist(), angles.tolist()
        ([3.0], [0.0])
    """

    def _wave(self, wave: np.ndarray) -> Any:
        return super()._wave(wave), np.arctan2(wave[..., 1], wave[..., 0])


class ComputeDeltas(WaveOperation):
    """Computes the slopes along time of a least-squares line through `win_length` frames.

    Args:
        win_length (int): The number of frames, at least 3. Default: 5.
        pad_mode (BorderType): The extension at both ends. Default: BorderType.EDGE.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.ComputeDeltas(win_length=3)(np.array([[0.0, 2.0, 4.0]], np.float32)).tolist()
        [[1.0, 2.0, 1.0]]
    """

    def __init__(self, win_length: int = 5, pad_mode: BorderType = BorderType.EDGE):
        self.reach = (check_int32("ComputeDeltas", "win_length", win_length, 3) - 1) // 2
        self.pad_mode: Any = member("ComputeDeltas", "pad_mode", pad_mode, BorderType)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        n, length = self.reach, wave.shape[-1]
        x = _padded(wave, n, n, self.pad_mode)
        total = sum(k * (x[..., n + k:n + k + length] - x[..., n - k:n - k + length]) for k in range(1, n + 1))
        return total / (n * (n + 1) * (2 * n + 1) / 3)


def _span(t: int, frames: int, size: int, least: int, center: bool) -> Tuple[int, int]:
    """Returns the range of frames that the mean around frame t covers."""
    start = t - size // 2 if center else t - size
    end = start + size if center else t + 1
    if start < 0:
        start, end = 0, end - start
    if not center and end > t:
        end = max(t + 1, least)
    if end > frames:
        start, end = max(0, start - (end - frames)), frames
    return start, end


class SlidingWindowCmn(WaveOperation):
    """Subtracts the mean over a window along the second-to-last dimension of [..., freq, time], as Kaldi does.

    Args:
        cmn_window (int): The length of the window. Default: 600.
        min_cmn_window (int): The length at the start, without `center`. Default: 100.
        center (bool): Whether the window is centred on the frame; otherwise it precedes the frame. Default: False.
        norm_vars (bool): Whether to divide by the standard deviation too. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import audio
        >>> audio.SlidingWindowCmn()(np.array([[[1.0], [3.0]]], np.float32)).tolist()
        [[[-1.0], [1.0]]]
    """

    _least_dims = 2

    def __init__(self, cmn_window: int = 600, min_cmn_window: int = 100, center: bool = False, norm_vars: bool = False):
        who = "SlidingWindowCmn"
        self.size, self.least = check_int32(who, "cmn_window", cmn_window), check_int32(who, "min_cmn_window", min_cmn_window)
        self.center, self.norm_vars = check_bool(who, "center", center), check_bool(who, "norm_vars", norm_vars)

    def _wave(self, wave: np.ndarray) -> np.ndarray:
        frames, out = wave.shape[-2], np.empty_like(wave)
        for t in range(frames):
            start, end = _span(t, frames, self.size, self.least, self.center)
            window = wave[..., start:end, :]
            out[..., t, :] = wave[..., t, :] - window.mean(-2)
            if self.norm_vars:
                out[..., t, :] = 0.0 if end - start == 1 else out[..., t, :] / np.sqrt(window.var(-2))
        return out
