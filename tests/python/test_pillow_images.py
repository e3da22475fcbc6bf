"""Image transforms compared with the results of MindSpore 2.10.0 and Pillow (expectations/pillow.json): Pillow images, batches, other channel counts and types.
"""
import json
import os

import numpy as np
import pytest

import pillow_cases
import sindri.dataset as ds
from sindri.dataset import transforms, vision

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed: its images are not compared (pip install pillow)")

with open(os.path.join(os.path.dirname(__file__), "expectations", "pillow.json"), encoding="utf-8") as f:
    EXPECTED = json.load(f)
GOT = pillow_cases.results(vision, transforms, Image)

# The engine has no 16-bit integer types and widens them to int32.
WIDENED = {"int16": "int32", "uint16": "int32"}
# Computed here although MindSpore rejects them: grey Pillow images with a fill value of three numbers, crops and Normalize of any number of channels, float16
# and int64
# if pixels are only moved or become float32.
MORE_THAN_MINDSPORE = ("CenterCrop", "ConvertColor", "HorizontalFlip", "Normalize", "PadToSize", "RandomAffine", "RandomCrop", "RandomHorizontalFlip", "RandomInvert",
                       "RandomResizedCrop", "RandomRotation", "Rescale", "Resize", "Rotate", "Solarize", "VerticalFlip")
# Different here. ConvertColor needs the channels that its mode's name implies. Bool images keep their type where MindSpore pads them as uint8, and Rotate
# rejects them;
# it accepts up to 4 channels, uint8 and floats. Pillow's filters are for uint8 and float32. int32 can hold values below 0, uint16 cannot.
# MindSpore treats the rows of a grey image as channels with is_hwc=False.
OTHER = [("ConvertColor", ""), ("CenterCrop((12, 5))", "bool"), ("RandomCrop", "bool"), ("Rotate", "bool"), ("Rotate", "5 channels"), ("Rotate", "int16"),
         ("PILCUBIC", "float"), ("PILCUBIC", "int"), ("PILCUBIC", "bool"), ("CUBIC", "uint16"), ("False)", "grey"), ("Resize", "bool")]
ONE_LEVEL = ("PILCUBIC",)


def is_other(name):
    call, given = name.rsplit(" of ", 1) if " of batch" not in name else name.split(" of ", 1)
    return any(part in call and kind in given for part, kind in OTHER)


def test_every_case_is_recorded():
    assert sorted(GOT) == sorted(EXPECTED) and len(EXPECTED) > 700


def same(name, got, want):
    if isinstance(want, list):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            same(name, g, w)
        return
    assert got["kind"] == want["kind"] and got["shape"] == want["shape"]
    assert got["dtype"] == WIDENED.get(want["dtype"], want["dtype"])
    g, w = pillow_cases.values_of(got), pillow_cases.values_of(want)
    if w.dtype.kind == "f":
        np.testing.assert_allclose(g, w, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(w).max()))
    else:
        np.testing.assert_array_less(np.abs(g.astype(np.int64) - w), 2 if any(part in name for part in ONE_LEVEL) else 1)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_case(name):
    got, want = GOT[name], EXPECTED[name]
    if "raises" in want:
        assert "raises" in got or name[2:name.index("(")] in MORE_THAN_MINDSPORE, got
    elif not is_other(name):
        assert "raises" not in got, (got, want)
        same(name, got, want)


def test_most_cases_are_compared():
    compared = [name for name, want in EXPECTED.items() if "raises" not in want and not is_other(name)]
    assert len(compared) > 480
    for part in ("batch", "RGBA", "float64", "2 channels", "Pillow L", "Pillow RGB"):
        assert sum(part in name for name in compared) > 8, part


def test_an_added_alpha_channel_is_opaque():
    """255 for bytes, 1 for floats, as recorded."""
    for mode in ("RGB2RGBA", "RGB2BGRA"):
        for kind in ("RGB", "RGB float32"):
            name = f"V.ConvertColor(V.ConvertMode.COLOR_{mode}) of {kind}"
            same(name, GOT[name], EXPECTED[name])
            assert set(pillow_cases.values_of(GOT[name])[..., 3].ravel().tolist()) == {255 if kind == "RGB" else 1.0}


def photo(height=30, width=40):
    return Image.fromarray(pillow_cases._waves(height, width, 3))


def test_random_transforms_of_pillow_images_draw_from_their_ranges():
    ds.config.set_seed(3)
    try:
        image = photo()
        turned = [np.asarray(vision.RandomRotation((0, 90), expand=True)(image)).shape[:2] for _ in range(20)]
        assert len(set(turned)) > 5
        white = Image.new("RGB", (40, 30), (255, 255, 255))
        columns = set()
        for _ in range(30):  # moved right by 0.1 to 0.3 of the width, and not down
            kept = np.asarray(vision.RandomAffine(0, (0.1, 0.3, 0, 0))(white))[..., 0] > 0
            assert kept.any(axis=1).all()
            columns.add(int(kept.any(axis=0).argmax()))
        assert min(columns) >= 4 and max(columns) <= 12 and len(columns) > 4
        moved = [vision.RandomPerspective(0.5, 1.0)(image) for _ in range(5)]
        assert len({m.tobytes() for m in moved}) == 5
        assert vision.RandomPerspective(0.0, 1.0, vision.Inter.NEAREST)(image).tobytes() == image.tobytes()
        assert vision.RandomPerspective(0.5, 0.0)(image) is image
        flips = sum(vision.RandomHorizontalFlip(0.25)(image).tobytes() != image.tobytes() for _ in range(400))
        assert 60 < flips < 140
        lit = np.asarray(vision.RandomLighting(0.5)(photo()), np.int64) - np.asarray(photo())
        assert lit.any() and np.abs(lit).max() < 60
        cropped = {vision.RandomCrop((30, 20))(image).tobytes() for _ in range(20)}
        assert len(cropped) > 8
        assert vision.RandomCrop((50, 60), pad_if_needed=True)(image).size == (60, 50)
        with pytest.raises(RuntimeError, match="larger than the image"):
            vision.RandomCrop(31)(image)
    finally:
        ds.config._settings.update(seed=None)


def test_pillow_images_keep_their_palette():
    image = photo().convert("P")
    for op in (vision.RandomHorizontalFlip(1.0), vision.RandomVerticalFlip(1.0), vision.Pad(2)):
        assert op(image).mode == "P" and op(image).getpalette() == image.getpalette()
    assert vision.RandomHorizontalFlip(1.0)(image).convert("RGB").tobytes() == image.transpose(Image.Transpose.FLIP_LEFT_RIGHT).convert("RGB").tobytes()


@pytest.mark.parametrize("op", [vision.RandomRotation(30, vision.Inter.AREA), vision.RandomAffine(30, resample=vision.Inter.AREA),
                                vision.Perspective([[0, 0], [9, 0], [9, 9], [0, 9]], [[1, 1], [9, 0], [9, 9], [0, 9]], vision.Inter.AREA)])
def test_filters_that_pillow_has_not(op):
    with pytest.raises(TypeError, match="AREA is not available for Pillow images"):
        op(photo())


def test_a_map_goes_from_pillow_images_to_arrays():
    """The chain of the published scripts, in a pipeline."""
    jpeg = np.frombuffer(vision.encode_png(np.asarray(photo())).tobytes(), np.uint8)
    mean, std = [120.0, 110.0, 100.0], [50.0, 50.0, 40.0]
    chain = [vision.Decode(to_pil=True), vision.Resize((20, 24)), vision.Rescale(1 / 255, 0.0), vision.Normalize([v / 255 for v in mean], [v / 255 for v in std]),
             vision.HWC2CHW()]
    data = ds.GeneratorDataset([(jpeg,)] * 4, ["image"], shuffle=False).map(chain, "image").batch(2)
    pixels = np.asarray(photo().resize((24, 20), Image.Resampling.BILINEAR), np.float32)
    want = ((pixels - np.float32(mean)) / np.float32(std)).transpose(2, 0, 1)
    rows = [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert [row.shape for row in rows] == [(2, 3, 20, 24)] * 2 and rows[0].dtype == np.float32
    np.testing.assert_allclose(rows[1][1], want, atol=1e-5)


def test_batches_in_a_pipeline_equal_single_images():
    images = pillow_cases._waves(6, 9, 13, 3)

    def read(data):
        return np.concatenate([row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)])

    for op in (vision.Resize((5, 6)), vision.CenterCrop(5), vision.HorizontalFlip(), vision.VerticalFlip(), vision.Rotate(20), vision.Normalize([120.0], [50.0]),
               vision.Rescale(0.5, 1.0), vision.Resize(5, vision.Inter.PILCUBIC)):
        single = ds.NumpySlicesDataset({"image": images}, shuffle=False).map(op, "image").batch(3)
        whole = ds.NumpySlicesDataset({"image": images}, shuffle=False).batch(3).map(op, "image")
        assert whole.output_shapes() == [[3, *op(images[0]).shape]]
        assert np.array_equal(read(single), read(whole)), op
    chain = [vision.Resize((8, 8)), vision.RandomHorizontalFlip(1.0), vision.Rescale(1 / 255, 0.0), vision.Normalize([0.5] * 3, [0.2] * 3)]
    single = ds.NumpySlicesDataset({"image": images}, shuffle=False).map(chain, "image").batch(3)
    whole = ds.NumpySlicesDataset({"image": images}, shuffle=False).batch(3).map(chain, "image")
    np.testing.assert_allclose(read(single), read(whole), atol=1e-6)
    flips = ds.NumpySlicesDataset({"image": images}, shuffle=False).batch(2).map(vision.RandomHorizontalFlip(0.5), "image").repeat(20)
    for batch in (row[0] for row in flips.create_tuple_iterator(num_epochs=1, output_numpy=True)):  # one draw per batch
        plain = [any(np.array_equal(image, whole) for whole in images) for image in batch]
        assert plain[0] == plain[1]
