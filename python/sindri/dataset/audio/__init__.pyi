"""Audio transforms (MindSpore: mindspore.dataset.audio), in NumPy: for arrays [..., time] and spectrograms [..., freq, time], called directly or in `map`.

Written by scripts/python_stubs.py; do not edit."""


from sindri.dataset.audio import transforms as transforms, utils as utils
from sindri.dataset.audio.transforms import *
from sindri.dataset.audio.utils import *

__all__ = [
    "AllpassBiquad", "AmplitudeToDB", "Angle", "BandBiquad", "BandpassBiquad", "BandrejectBiquad", "BassBiquad", "Biquad", "ComplexNorm",
    "ComputeDeltas", "Contrast", "DBToAmplitude", "DCShift", "DeemphBiquad", "EqualizerBiquad", "Fade", "Filtfilt", "FrequencyMasking", "Gain",
    "HighpassBiquad", "LFCC", "LFilter", "LowpassBiquad", "MFCC", "Magphase", "MaskAlongAxis", "MelScale", "MelSpectrogram", "MuLawDecoding",
    "MuLawEncoding", "Overdrive", "Resample", "RiaaBiquad", "SlidingWindowCmn", "SpectralCentroid", "Spectrogram", "TimeMasking", "TrebleBiquad",
    "Vol", "BorderType", "DensityFunction", "FadeShape", "GainType", "Interpolation", "MelType", "Modulation", "NormMode", "NormType",
    "ResampleMethod", "ScaleType", "WindowType", "create_dct", "linear_fbanks", "melscale_fbanks",
]
