"""Calls of dataset.audio that are compared with the real MindSpore. The same expressions run there (tests/reference/make_audio_expectations.py stores the
results
in expectations/audio.json) and here (test_audio.py)."""
import numpy as np


def names(audio):
    """Returns the namespace of the expressions: W float32 [2, 160], D the same in float64, S a power spectrogram [1, 9, 6], X a complex one [1, 9, 5, 2]."""
    r = np.random.RandomState(7)
    t = np.arange(160) / 160
    wave = np.stack([0.5 * np.sin(2 * np.pi * 9 * t) + 0.2 * r.uniform(-1, 1, 160), 0.3 * np.cos(2 * np.pi * 23 * t) + 0.4 * r.uniform(-1, 1, 160)])
    wave = np.round(wave * 4096) / 4096
    spectrum = np.round(r.uniform(0, 4, (1, 9, 6)) * 256) / 256
    found = {name: getattr(audio, name) for name in dir(audio) if name[0] != "_"}
    return {**found, "np": np, "W": wave.astype(np.float32), "D": wave, "S": spectrum.astype(np.float32),
            "X": (np.round(r.uniform(-2, 2, (1, 9, 5, 2)) * 256) / 256).astype(np.float32), "I": r.randint(0, 256, (2, 20)).astype(np.int32)}


CASES = """
create_dct(5, 8)
create_dct(5, 8, NormMode.ORTHO)
melscale_fbanks(n_freqs=33, f_min=20.0, f_max=4000.0, n_mels=6, sample_rate=8000)
melscale_fbanks(33, 0.0, 4000.0, 6, 8000, NormType.SLANEY, MelType.SLANEY)
melscale_fbanks(33, 0.0, 4000.0, 6, 8000, NormType.SLANEY, MelType.HTK)
linear_fbanks(n_freqs=17, f_min=0.0, f_max=4000.0, n_filter=5, sample_rate=8000)
Spectrogram(n_fft=16)(W)
Spectrogram(n_fft=16, win_length=12, hop_length=5, pad=3, window=WindowType.HAMMING, power=1.0, normalized=True)(W)
Spectrogram(n_fft=16, window=WindowType.BARTLETT, center=False)(W)
Spectrogram(n_fft=16, window=WindowType.BLACKMAN, pad_mode=BorderType.CONSTANT)(W)
Spectrogram(n_fft=16, window=WindowType.KAISER, pad_mode=BorderType.EDGE)(W)
Spectrogram(n_fft=16, pad_mode=BorderType.SYMMETRIC, onesided=False)(W)
Spectrogram(n_fft=16, power=0.0)(W)
Spectrogram(n_fft=16)(W[0])
MelScale(n_mels=4, sample_rate=8000, n_stft=9)(S)
MelScale(4, 8000, 100.0, 3000.0, 9, NormType.SLANEY, MelType.SLANEY)(S)
MelSpectrogram(sample_rate=8000, n_fft=16, n_mels=4)(W)
MelSpectrogram(8000, 16, 16, 8, 0.0, 4000.0, 2, 4, WindowType.HAMMING, 2.0, True, True, BorderType.CONSTANT, True, NormType.SLANEY, MelType.SLANEY)(W)
MFCC(8000, 3, 2, NormMode.ORTHO, False, {'n_fft': 16, 'n_mels': 5, 'win_length': 16, 'hop_length': 8, 'f_min': 0.0, 'f_max': 4000.0, 'pad': 0, 'window': WindowType.HANN, 'power': 2.0, 'normalized': False, 'center': True, 'pad_mode': BorderType.REFLECT, 'onesided': True, 'norm': NormType.NONE, 'mel_scale': MelType.HTK})(W)
MFCC(8000, 3, 2, NormMode.NONE, True, {'n_fft': 16, 'n_mels': 5, 'win_length': 16, 'hop_length': 8, 'f_min': 0.0, 'f_max': 4000.0, 'pad': 0, 'window': WindowType.HANN, 'power': 2.0, 'normalized': False, 'center': True, 'pad_mode': BorderType.REFLECT, 'onesided': True, 'norm': NormType.NONE, 'mel_scale': MelType.HTK})(W)
AmplitudeToDB()(S)
AmplitudeToDB(ScaleType.MAGNITUDE, 2.0, 1e-5, 10.0)(S)
AmplitudeToDB(top_db=6.0)(S[0])
DBToAmplitude(2.0, 0.5)(S)
Resample(160, 80)(W)
Resample(160, 100, ResampleMethod.SINC_INTERPOLATION, 4, 0.9)(W)
Resample(100, 160, ResampleMethod.KAISER_WINDOW, 6, 0.99)(W)
Resample(100, 160, ResampleMethod.KAISER_WINDOW, 6, 0.99, 12.0)(W)
Resample(16000, 16000)(W)
Resample(8000, 44100)(W[:, :20])
Fade(20, 30)(W)
Fade(20, 30, FadeShape.QUARTER_SINE)(W)
Fade(20, 30, FadeShape.HALF_SINE)(W)
Fade(20, 30, FadeShape.LOGARITHMIC)(W)
Fade(20, 30, FadeShape.EXPONENTIAL)(W)
Vol(2.5)(W)
Vol(4.0, GainType.POWER)(W)
Vol(3.0, GainType.DB)(W)
Gain(2.0)(W)
MuLawEncoding()(W)
MuLawEncoding(16)(W)
MuLawDecoding()(I)
MuLawDecoding(16)(I % 16)
Biquad(0.1, 0.2, 0.3, 1.0, 0.4, 0.1)(W)
Biquad(0.1, 0.2, 0.3, 2.0, 0.4, 0.1)(D)
LowpassBiquad(8000, 1200.0)(W)
LowpassBiquad(8000, 1200.0, 1.2)(D)
HighpassBiquad(8000, 1200.0)(W)
BandpassBiquad(8000, 1200.0)(W)
BandpassBiquad(8000, 1200.0, 0.5, True)(W)
BandrejectBiquad(8000, 1200.0)(W)
AllpassBiquad(8000, 1200.0)(W)
BandBiquad(8000, 1200.0)(W)
BandBiquad(8000, 1200.0, 0.707, True)(W)
EqualizerBiquad(8000, 1200.0, 5.0)(W)
BassBiquad(8000, 6.0)(W)
TrebleBiquad(8000, 6.0)(W)
DeemphBiquad(44100)(W)
DeemphBiquad(48000)(W)
RiaaBiquad(44100)(W)
RiaaBiquad(96000)(W)
LFilter([1.0, 0.2, -0.3], [0.5, 0.25, 0.125])(W)
LFilter([1.0, 0.2, -0.3], [2.5, 0.25, 0.125], False)(W)
LFilter([2.0, 0.2, -0.3], [2.5, 0.25, 0.125])(D)
Filtfilt([1.0, 0.2, -0.3], [0.5, 0.25, 0.125])(W)
Magphase()(X)
Magphase(2.0)(X)
Angle()(X)
ComplexNorm()(X)
ComplexNorm(2.0)(X)
DCShift(0.3)(W)
DCShift(0.9, 0.05)(W)
Contrast()(W)
Contrast(20.0)(W)
ComputeDeltas()(S)
ComputeDeltas(3, BorderType.REFLECT)(S)
Overdrive()(W)
SpectralCentroid(8000, 16)(W)
SlidingWindowCmn(4, 2)(S)
SlidingWindowCmn(4, 2, True, True)(S)
MaskAlongAxis(1, 2, 0.5, 1)(S)
MaskAlongAxis(0, 3, 0.0, 2)(S)
FrequencyMasking(False, 1, 2, 0.5)(S).shape
TimeMasking(True, 2, 0, 0.5)(S[None]).shape
""".strip().split("\n")


def plain(value):
    """Returns a result as JSON: arrays as {"dtype", "shape", "values"}."""
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "shape": list(value.shape), "values": [float(f"{v:.7g}") for v in value.astype(float).reshape(-1).tolist()]}
    return [plain(v) for v in value] if isinstance(value, (tuple, list)) else value
