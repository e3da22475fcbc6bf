"""Audio transforms: the results of every call in audio_cases.py equal MindSpore 2.10's (expectations/audio.json, tests/reference/make_audio_expectations.py);
in pipelines; rejected arguments."""
import json
import os

import numpy as np
import pytest

import audio_cases
import sindri.dataset as ds
from sindri.dataset import audio

with open(os.path.join(os.path.dirname(__file__), "expectations", "audio.json"), encoding="utf-8") as _f:
    EXPECTED = json.load(_f)
W = audio_cases.names(audio)["W"]
S = np.ones((2, 8, 6), np.float32)


def compare(found, wanted):
    if isinstance(wanted, dict):
        assert (found["dtype"], found["shape"]) == (wanted["dtype"], wanted["shape"])
        values = np.array(wanted["values"])
        scale = max(np.abs(values).max(), 1e-3)  # MindSpore computes in float32
        np.testing.assert_allclose(np.array(found["values"]) / scale, values / scale, rtol=0, atol=2e-5)
    elif isinstance(wanted, list):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted):
            compare(a, b)
    else:
        assert found == wanted


@pytest.mark.parametrize("case", [c for c in audio_cases.CASES if c in EXPECTED])
def test_as_mindspore(case):
    compare(audio_cases.plain(eval(case, audio_cases.names(audio))), EXPECTED[case])


def test_every_transform_has_a_case():
    assert len(EXPECTED) > 80
    for name in [*audio.transforms.__all__, "create_dct", "linear_fbanks", "melscale_fbanks"]:
        assert any(case.startswith(name + "(") for case in EXPECTED) or name == "LFCC", name


def test_lfcc_is_the_dct_of_filtered_spectra():
    kwargs = {"n_fft": 16, "hop_length": 8}
    power = np.swapaxes(audio.Spectrogram(**kwargs)(W.astype(np.float64)), 1, 2) @ audio.linear_fbanks(9, 100.0, 4000.0, 6, 8000).astype(np.float64)
    for log in (False, True):
        levels = np.log(power + 1e-6) if log else 10 * np.log10(np.maximum(power, 1e-10))
        if not log:
            levels = np.maximum(levels, levels.max() - 80)
        wanted = np.swapaxes(levels @ audio.create_dct(4, 6, audio.NormMode.ORTHO).astype(np.float64), 1, 2)
        out = audio.LFCC(8000, 6, 4, 100.0, 4000.0, log_lf=log, speckwargs=kwargs)(W)
        assert out.shape == (2, 4, 21) and out.dtype == np.float32
        np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-4)


def test_filters_of_any_order_solve_their_equation():
    """a[0] y[t] = sum of b[i] x[t - i] - sum of a[i] y[t - i], for orders 0 to 4."""
    x = np.random.RandomState(0).uniform(-0.1, 0.1, (2, 3, 40))
    for order in range(5):
        a, b = [2.0, *[0.3 / (i + 1) for i in range(order)]], [0.5, *[0.2] * order]
        y = audio.LFilter(a, b, clamp=False)(x)
        for t in range(40):
            left = sum(a[i] * y[..., t - i] for i in range(min(order, t) + 1))
            np.testing.assert_allclose(left, sum(b[i] * x[..., t - i] for i in range(min(order, t) + 1)), atol=1e-12)


def test_resampling_keeps_a_tone():
    t = np.arange(800) / 800
    out = audio.Resample(800, 1200, lowpass_filter_width=24)(np.sin(2 * np.pi * 40 * t))
    assert out.shape == (1200,)
    np.testing.assert_allclose(out[100:-100], np.sin(2 * np.pi * 40 * np.arange(1200) / 1200)[100:-100], atol=2e-3)


def test_mu_law_there_and_back():
    x = np.linspace(-1, 1, 257).astype(np.float32)
    codes = audio.MuLawEncoding()(x)
    assert codes.dtype == np.int32 and codes.min() == 0 and codes.max() == 255
    assert np.abs(audio.MuLawDecoding()(codes) - x).max() < 0.025


@pytest.mark.parametrize("kind, axis", [(audio.FrequencyMasking, 1), (audio.TimeMasking, 2)])
def test_masks_are_drawn_for_each_spectrogram(kind, axis):
    ds.config.set_seed(5)
    size = S.shape[axis]
    fixed = kind(False, 3, 2, 9.0)(S)
    assert (np.moveaxis(fixed, axis, 0)[2:5] == 9).all() and (fixed == 9).sum() == 3 * S.size // size
    drawn = kind(True, 4, 0, 0.0)
    masks = np.concatenate([np.moveaxis(drawn(S) == 0, axis, 1).all(2) for _ in range(100)])
    widths = masks.sum(1)
    assert set(widths) == {0, 1, 2, 3, 4} and masks.any(0).all()
    assert all(np.flatnonzero(m).tolist() == list(range(m.argmax(), m.argmax() + w)) for m, w in zip(masks, widths) if w)
    assert (masks[0::2] != masks[1::2]).any()
    results = []
    for _ in range(2):
        ds.config.set_seed(5)
        results.append(kind(True, 4, 0, 0.0)(S))
    np.testing.assert_array_equal(*results)
    assert (S == 1).all()


def test_in_a_pipeline():
    """A list of transforms runs in order, and the rows do not depend on the number of workers."""
    waves = np.random.RandomState(1).uniform(-1, 1, (12, 400)).astype(np.float32)
    steps = [audio.LowpassBiquad(8000, 1000.0), audio.MelSpectrogram(8000, 64, n_mels=8), audio.AmplitudeToDB(), audio.FrequencyMasking(True, 3)]
    runs = []
    for workers in (1, 3):
        ds.config.set_seed(3)
        data = ds.NumpySlicesDataset({"wave": waves}, shuffle=False).map(steps, "wave", num_parallel_workers=workers)
        runs.append([row["wave"] for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)])
    hidden = 0
    for wave, row, other in zip(waves, *runs):
        full = audio.AmplitudeToDB()(audio.MelSpectrogram(8000, 64, n_mels=8)(audio.LowpassBiquad(8000, 1000.0)(wave)))
        assert row.shape == (8, 13) and row.dtype == np.float32
        np.testing.assert_array_equal(row, other)
        masked = (row == 0).all(1)
        hidden += masked.sum()
        np.testing.assert_allclose(row[~masked], full[~masked], atol=1e-4)
    assert 0 < hidden <= 12 * 3


REFUSED = {
    "rate 0": (lambda: audio.LowpassBiquad(0, 3.0), ValueError), "rate 3.5": (lambda: audio.LowpassBiquad(3.5, 3.0), TypeError),
    "Q 2": (lambda: audio.HighpassBiquad(8000, 3.0, 2.0), ValueError), "channels 0": (lambda: audio.MuLawEncoding(0), ValueError),
    "win_length": (lambda: audio.Spectrogram(16, 32), ValueError), "power": (lambda: audio.Spectrogram(power=-1.0), ValueError),
    "window": (lambda: audio.Spectrogram(window="hann"), TypeError), "riaa": (lambda: audio.RiaaBiquad(8000), ValueError),
    "deemph": (lambda: audio.DeemphBiquad(8000), ValueError), "lengths": (lambda: audio.LFilter([1.0], [1.0, 1.0]), ValueError),
    "a0": (lambda: audio.Biquad(1.0, 1.0, 1.0, 0.0, 1.0, 1.0), ValueError), "coefficients": (lambda: audio.LFilter(1.0, [1.0]), TypeError),
    "freq 0": (lambda: audio.Resample(0, 3), ValueError), "deltas": (lambda: audio.ComputeDeltas(2), ValueError),
    "amin": (lambda: audio.AmplitudeToDB(amin=0.0), ValueError), "contrast": (lambda: audio.Contrast(200.0), ValueError),
    "overdrive": (lambda: audio.Overdrive(300.0), ValueError), "shift": (lambda: audio.DCShift(3.0), ValueError),
    "n_mfcc": (lambda: audio.create_dct(0, 3), ValueError), "f_max": (lambda: audio.MelScale(4, 8000, 3000.0, 100.0, 9), ValueError),
    "norm": (lambda: audio.melscale_fbanks(33, 0.0, 4000.0, 6, 8000, "x"), TypeError), "gain": (lambda: audio.Vol(-1.0), ValueError),
    "fade": (lambda: audio.Fade(-1), ValueError), "mask": (lambda: audio.FrequencyMasking(False, -1, 0), ValueError),
    "axis": (lambda: audio.MaskAlongAxis(0, 4, 0.0, 3), ValueError), "dct_type": (lambda: audio.MFCC(dct_type=3), ValueError),
    "mask too wide": (lambda: audio.FrequencyMasking(False, 20)(S), ValueError), "mask outside": (lambda: audio.TimeMasking(False, 4, 3)(S), ValueError),
    "fade too long": (lambda: audio.Fade(200)(W), ValueError), "frequencies": (lambda: audio.MelScale(4, n_stft=9)(S), ValueError),
    "text": (lambda: audio.Vol(2.0)("a"), TypeError), "number": (lambda: audio.Vol(2.0)(np.float32(1)), ValueError),
    "no frequencies": (lambda: audio.AmplitudeToDB()(W[0]), ValueError), "no pairs": (lambda: audio.Angle()(W), ValueError),
    "too few to reflect": (lambda: audio.Spectrogram(64)(W[:, :20]), ValueError),
    "too few": (lambda: audio.Spectrogram(64, center=False)(W[:, :20]), ValueError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """The same error classes as in MindSpore if the arguments alone are wrong; MindSpore's RuntimeErrors from calls are ValueErrors here."""
    call, error = REFUSED[name]
    with pytest.raises(error, match=r" \| "):
        call()
