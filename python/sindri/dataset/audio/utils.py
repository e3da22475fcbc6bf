"""Enumerations of the audio transforms, and filter bank matrices."""
from __future__ import annotations

import enum
from typing import Callable, Dict, Optional

import numpy as np

from sindri._check import check_float, check_int32, fail

__all__ = ["BorderType", "DensityFunction", "FadeShape", "GainType", "Interpolation", "MelType", "Modulation", "NormMode", "NormType", "ResampleMethod",
           "ScaleType", "WindowType", "create_dct", "linear_fbanks", "melscale_fbanks"]


class BorderType(str, enum.Enum):
    """How a signal is extended past its ends."""
    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class DensityFunction(str, enum.Enum):
    """Probability densities of dither noise."""
    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(str, enum.Enum):
    """Curves for Fade."""
    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"


class GainType(str, enum.Enum):
    """Units of Vol's gain."""
    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(str, enum.Enum):
    """Interpolation between samples."""
    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(str, enum.Enum):
    """Mel scales."""
    HTK = "htk"
    SLANEY = "slaney"


class Modulation(str, enum.Enum):
    """Waveforms of modulation."""
    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(str, enum.Enum):
    """Scaling of the DCT matrix."""
    ORTHO = "ortho"
    NONE = "none"


class NormType(str, enum.Enum):
    """Scaling of mel filters: SLANEY gives each filter area 1."""
    SLANEY = "slaney"
    NONE = "none"


class ResampleMethod(str, enum.Enum):
    """Windows for the sinc filter of Resample."""
    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(str, enum.Enum):
    """The kind of AmplitudeToDB's input."""
    POWER = "power"
    MAGNITUDE = "magnitude"


class WindowType(str, enum.Enum):
    """Windows for the Fourier transform."""
    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"


def member(who: str, name: str, value: object, kind: type) -> object:
    """Returns `value`, which must be a member of `kind`. Raises TypeError."""
    if not isinstance(value, kind):
        fail(TypeError, f"{name} must be a {kind.__name__}, got {value!r}", who, f"use {kind.__name__}.{next(iter(kind)).name}")  # type: ignore[call-overload]
    return value


def create_dct(n_mfcc: int, n_mels: int, norm: NormMode = NormMode.NONE) -> np.ndarray:
    """Creates the matrix of the type 2 discrete cosine transform.

    Args:
        n_mfcc (int): The number of coefficients.
        n_mels (int): The number of input values.
        norm (NormMode): The scaling. Default: NormMode.NONE.

    Returns:
        numpy.ndarray: The matrix [n_mels, n_mfcc], float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> from sindri.dataset import audio
        >>> audio.create_dct(4, 8).shape
        (8, 4)
    """
    who = "create_dct"
    check_int32(who, "n_mfcc", n_mfcc, 1)
    check_int32(who, "n_mels", n_mels, 1)
    member(who, "norm", norm, NormMode)
    table = np.cos(np.pi / n_mels * np.outer(np.arange(n_mels) + 0.5, np.arange(n_mfcc)))
    if norm is NormMode.NONE:
        return (table * 2).astype(np.float32)
    table[:, 0] *= np.sqrt(0.5)
    return (table * np.sqrt(2 / n_mels)).astype(np.float32)


def _mel(hz: np.ndarray, scale: MelType) -> np.ndarray:
    if scale is MelType.HTK:
        return 2595.0 * np.log10(1.0 + hz / 700.0)
    return np.where(hz >= 1000.0, 15.0 + 27.0 * np.log(np.maximum(hz, 1000.0) / 1000.0) / np.log(6.4), 3.0 * hz / 200.0)


def _hertz(mel: np.ndarray, scale: MelType) -> np.ndarray:
    if scale is MelType.HTK:
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    return np.where(mel >= 15.0, 1000.0 * np.exp(np.log(6.4) / 27.0 * (mel - 15.0)), 200.0 * mel / 3.0)


def _triangles(bins: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Returns [bins, filters]: filter i rises from corner i to i + 1 and falls to i + 2."""
    widths = np.diff(corners)
    slopes = corners[None, :] - bins[:, None]
    return np.maximum(0.0, np.minimum(-slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:]))


def _check_range(who: str, f_min: float, f_max: float, sample_rate: int) -> None:
    check_int32(who, "sample_rate", sample_rate, 1)
    check_float(who, "f_min", f_min)
    if check_float(who, "f_max", f_max) <= f_min:
        fail(ValueError, f"f_max must be above f_min, got {f_max} and {f_min}", who)


def melscale_fbanks(n_freqs: int, f_min: float, f_max: float, n_mels: int, sample_rate: int, norm: NormType = NormType.NONE,
                    mel_type: MelType = MelType.HTK) -> np.ndarray:
    """Creates triangular filters with corners equally spaced on the mel scale.

    Args:
        n_freqs (int): The number of frequencies.
        f_min (float): The lowest frequency in hertz.
        f_max (float): The highest frequency in hertz.
        n_mels (int): The number of filters.
        sample_rate (int): The sample rate in hertz.
        norm (NormType): The scaling; SLANEY scales each filter to area 1. Default: NormType.NONE.
        mel_type (MelType): The mel scale. Default: MelType.HTK.

    Returns:
        numpy.ndarray: The filters [n_freqs, n_mels], float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> from sindri.dataset import audio
        >>> audio.melscale_fbanks(5, 0.0, 8000.0, 4, 16000).shape
        (5, 4)
    """
    who = "melscale_fbanks"
    check_int32(who, "n_freqs", n_freqs, 1)
    check_int32(who, "n_mels", n_mels, 1)
    _check_range(who, f_min, f_max, sample_rate)
    member(who, "norm", norm, NormType)
    member(who, "mel_type", mel_type, MelType)
    ends = _mel(np.array([f_min, f_max], np.float64), mel_type)
    corners = _hertz(np.linspace(ends[0], ends[1], n_mels + 2), mel_type)
    banks = _triangles(np.linspace(0.0, sample_rate // 2, n_freqs), corners)
    if norm is NormType.SLANEY:
        banks = banks * (2.0 / (corners[2:] - corners[:-2]))
    return banks.astype(np.float32)


def linear_fbanks(n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int) -> np.ndarray:
    """Creates triangular filters with corners equally spaced in hertz.

    Args:
        n_freqs (int): The number of frequencies.
        f_min (float): The lowest frequency in hertz.
        f_max (float): The highest frequency in hertz.
        n_filter (int): The number of filters.
        sample_rate (int): The sample rate in hertz.

    Returns:
        numpy.ndarray: The filters [n_freqs, n_filter], float32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> from sindri.dataset import audio
        >>> audio.linear_fbanks(3, 0.0, 8000.0, 1, 16000).shape
        (3, 1)
    """
    who = "linear_fbanks"
    check_int32(who, "n_freqs", n_freqs, 1)
    check_int32(who, "n_filter", n_filter, 1)
    _check_range(who, f_min, f_max, sample_rate)
    return _triangles(np.linspace(0.0, sample_rate // 2, n_freqs), np.linspace(f_min, f_max, n_filter + 2)).astype(np.float32)


def fourier_window(kind: WindowType, length: int, size: Optional[int] = None) -> np.ndarray:
    """Returns a periodic window of `length`, padded with zeros on both sides to `size`."""
    n = np.arange(length)
    turns = 2 * np.pi * n / length
    forms: Dict[WindowType, Callable[[], np.ndarray]] = {
        WindowType.HANN: lambda: 0.5 - 0.5 * np.cos(turns), WindowType.HAMMING: lambda: 0.54 - 0.46 * np.cos(turns),
        WindowType.BLACKMAN: lambda: 0.42 - 0.5 * np.cos(turns) + 0.08 * np.cos(2 * turns),
        WindowType.BARTLETT: lambda: 1 - np.abs(2 * n / length - 1), WindowType.KAISER: lambda: np.kaiser(length + 1, 12.0)[:-1]}
    before = ((size or length) - length) // 2
    return np.pad(forms[kind](), (before, (size or length) - length - before))
