"""Image transforms applied to Pillow images, batches, and arrays of other channel counts and element types: the cases that test_pillow_images.py compares with
MindSpore 2.10.0's results (tests/reference/make_pillow_expectations.py).
"""
import base64
import zlib

import numpy as np

# Random transforms have ranges of one value, or nearly so if both packages need low < high.
ON_PILLOW = """
V.AdjustBrightness(1.5)
V.AdjustContrast(0.5)
V.AdjustGamma(0.7, 1.1)
V.AdjustHue(0.2)
V.AdjustSaturation(0.5)
V.AutoContrast(5.0, (10,))
V.CenterCrop((5, 20))
V.Equalize()
V.FiveCrop(4)
V.Grayscale(1)
V.Grayscale(3)
V.Invert()
V.Pad((1, 2, 3, 4), 7)
V.Pad((1, 2, 3, 4), 7, V.Border.REFLECT)
V.Pad(2, 7, V.Border.EDGE)
V.Perspective([[0, 0], [12, 0], [12, 8], [0, 8]], [[1, 1], [11, 2], [12, 7], [2, 8]])
V.Perspective([[0, 0], [12, 0], [12, 8], [0, 8]], [[1, 1], [11, 2], [12, 7], [2, 8]], V.Inter.NEAREST)
V.Perspective([[0, 0], [12, 0], [12, 8], [0, 8]], [[1, 1], [11, 2], [12, 7], [2, 8]], V.Inter.BICUBIC)
V.RandomAffine((15, 15 + 1e-5))
V.RandomAffine((-40, -40 + 1e-5), None, (1.1, 1.1), (5, 5 + 1e-5, 3, 3 + 1e-5), V.Inter.BILINEAR, 9)
V.RandomAffine((5, 5 + 1e-5), None, (0.8, 0.8), None, V.Inter.BICUBIC)
V.RandomColor((1.5, 1.5))
V.RandomCrop((9, 13))
V.RandomCrop((13, 17), 2, fill_value=3)
V.RandomGrayscale(1.0)
V.RandomHorizontalFlip(1.0)
V.RandomLighting(0.0)
V.RandomResizedCrop((5, 6), (1.0, 1.0), (13 / 9, 13 / 9))
V.RandomRotation((30, 30 + 1e-5), V.Inter.BICUBIC, False, (3, 4))
V.RandomRotation((30, 30 + 1e-5), V.Inter.BILINEAR, False, fill_value=5)
V.RandomRotation((30, 30 + 1e-5), V.Inter.BILINEAR, True, (3, 4), fill_value=(1, 2, 3))
V.RandomRotation((30, 30 + 1e-5), V.Inter.NEAREST, True)
V.RandomSharpness((1.5, 1.5))
V.RandomVerticalFlip(1.0)
V.Resize((5, 6), V.Inter.ANTIALIAS)
V.Resize((5, 6), V.Inter.BICUBIC)
V.Resize((5, 6), V.Inter.NEAREST)
V.Resize(5)
V.TenCrop(4)
V.ToNumpy()
V.ToPIL()
""".strip().splitlines()

# Transforms without a form for Pillow images: they read the pixels and return an array. (NormalizePad belongs here, too, but MindSpore 2.10.0 mixes up the
# channels
# of its result.)
TO_ARRAYS = """
T.TypeCast(np.float32)
V.AdjustSharpness(1.5)
V.Affine(15, (0.1, -0.1), 1.1, (5, 3))
V.ConvertColor(V.ConvertMode.COLOR_RGB2BGR)
V.Crop((1, 2), (4, 5))
V.GaussianBlur(3)
V.HWC2CHW()
V.HorizontalFlip()
V.Normalize([120.0, 110.0, 100.0], [50.0, 50.0, 40.0])
V.PadToSize((20, 20))
V.Posterize(3)
V.RandomInvert(1.0)
V.Rescale(1 / 255, 0.5)
V.ResizedCrop(1, 2, 4, 5, (6, 7))
V.Rotate(30.0, V.Inter.BILINEAR, True)
V.Solarize((10, 100))
V.ToTensor()
V.ToType(np.float32)
V.VerticalFlip()
""".strip().splitlines()

# `x` is the array; means and deviations are given per channel.
ON_ARRAYS = """
V.CenterCrop((12, 5))
V.CenterCrop(5)
V.ConvertColor(V.ConvertMode.COLOR_RGB2RGBA)
V.ConvertColor(V.ConvertMode.COLOR_RGB2BGRA)
V.ConvertColor(V.ConvertMode.COLOR_GRAY2RGBA)
V.HorizontalFlip()
V.Normalize([120.0], [50.0])
V.Normalize([120.0 + i for i in range(x.shape[-1])], [50.0] * x.shape[-1])
V.Normalize([120.0 + i for i in range(9)], [50.0] * 9, False)
V.RandomCrop((9, 13))
V.RandomHorizontalFlip(1.0)
V.RandomResizedCrop((5, 6), (1.0, 1.0), (13 / 9, 13 / 9))
V.Rescale(1 / 255, 0.5)
V.Resize((5, 6))
V.Resize((5, 6), V.Inter.AREA)
V.Resize((5, 6), V.Inter.CUBIC)
V.Resize((5, 6), V.Inter.NEAREST)
V.Resize((5, 6), V.Inter.PILCUBIC)
V.Resize(5)
V.Rotate(30.0, V.Inter.BILINEAR)
V.VerticalFlip()
""".strip().splitlines()


def _waves(*shape):
    """Returns smooth uint8 values over the whole range."""
    places = np.indices(shape).astype(np.float64)
    phase = sum(p * step for p, step in zip(places, (0.61, 0.37, 0.9, 1.3, 0.5)))
    return np.round(127.5 + 127.5 * np.sin(phase)).astype(np.uint8)


def images(image_module):
    rgb = _waves(9, 13, 3)
    return {"RGB": image_module.fromarray(rgb), "L": image_module.fromarray(rgb[..., 0].copy()), "RGBA": image_module.fromarray(_waves(9, 13, 4)),
            "1": image_module.fromarray(rgb[..., 1] > 128)}


def arrays():
    out = {f"{c} channels": _waves(9, 13, c) for c in (1, 2, 4, 5)}
    out.update({f"{c} channels float32": _waves(9, 13, c).astype(np.float32) for c in (2, 4)})
    out.update({"grey": _waves(9, 13), "RGB": _waves(9, 13, 3), "RGB float32": _waves(9, 13, 3).astype(np.float32), "grey float32": _waves(9, 13).astype(np.float32)})
    out.update({"batch": _waves(2, 9, 13, 3), "batch float32": _waves(2, 9, 13, 3).astype(np.float32), "batch of one channel": _waves(2, 9, 13, 1),
                "batch of RGBA": _waves(2, 9, 13, 4), "batch of batches": _waves(2, 2, 9, 13, 3), "empty batch": _waves(2, 9, 13, 3)[:0]})
    whole = _waves(9, 13, 3)
    out.update({name: whole.astype(name) for name in ("int16", "uint16", "int32", "int64", "float16", "float64")})
    out["bool"] = whole > 128
    return out


def _recorded(value, image_module):
    if isinstance(value, tuple):
        return [_recorded(v, image_module) for v in value]
    kind = value.mode if isinstance(value, image_module.Image) else "array"
    array = np.ascontiguousarray(value)
    return {"kind": kind, "dtype": str(array.dtype), "shape": list(np.shape(value)), "values": base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()}


def values_of(recorded):
    return np.frombuffer(zlib.decompress(base64.b64decode(recorded["values"])), recorded["dtype"]).reshape(recorded["shape"])


def results(V, T, image_module):
    """Returns case -> result, or {"raises": ...}."""
    cases = [(text, name, x) for text in ON_PILLOW for name, x in images(image_module).items()]
    cases += [(text, name, x) for text in TO_ARRAYS for name, x in images(image_module).items() if name != "1"]
    cases += [(text, name, x) for text in ON_ARRAYS for name, x in arrays().items()]
    out = {}
    for text, name, x in cases:
        place = f"{text} of {'Pillow ' if isinstance(x, image_module.Image) else ''}{name}"
        try:
            out[place] = _recorded(eval(text, {"V": V, "T": T, "np": np, "x": x})(x), image_module)  # noqa: S307: the list above
        except Exception as e:  # noqa: BLE001: the kinds of errors are compared
            out[place] = {"raises": type(e).__name__}
    return out
