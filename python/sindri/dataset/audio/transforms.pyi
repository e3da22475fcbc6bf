"""The audio transforms.

Written by scripts/python_stubs.py; do not edit."""


from sindri.dataset.audio._effects import *
from sindri.dataset.audio._filters import *
from sindri.dataset.audio._spectrum import *
from sindri.dataset.audio import _effects as _effects, _filters as _filters, _spectrum as _spectrum

__all__ = [
    "AllpassBiquad", "AmplitudeToDB", "Angle", "BandBiquad", "BandpassBiquad", "BandrejectBiquad", "BassBiquad", "Biquad", "ComplexNorm",
    "ComputeDeltas", "Contrast", "DBToAmplitude", "DCShift", "DeemphBiquad", "EqualizerBiquad", "Fade", "Filtfilt", "FrequencyMasking", "Gain",
    "HighpassBiquad", "LFCC", "LFilter", "LowpassBiquad", "MFCC", "Magphase", "MaskAlongAxis", "MelScale", "MelSpectrogram", "MuLawDecoding",
    "MuLawEncoding", "Overdrive", "Resample", "RiaaBiquad", "SlidingWindowCmn", "SpectralCentroid", "Spectrogram", "TimeMasking", "TrebleBiquad",
    "Vol",
]
