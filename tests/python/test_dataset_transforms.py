"""Transforms compared with MindSpore 2.10.0's results for the same inputs (expectations/dataset.json), and in pipelines."""
import copy
import inspect
import json
import os
import pickle
import zlib

import numpy as np
import pytest

import dataset_cases
import sindri as ms
import sindri.dataset as ds
from sindri.dataset import text, transforms, vision
from sindri.dataset.vision import c_transforms, py_transforms

with open(os.path.join(os.path.dirname(__file__), "expectations", "dataset.json"), encoding="utf-8") as f:
    EXPECTED = json.load(f)
GOT = dataset_cases.results(vision, transforms, text, ms)

# One level of difference: the rounding of Pillow's filter.
ONE_LEVEL = {"Resize pilcubic"}
CHECKSUMS = [name for name in EXPECTED if name.startswith("picture ")]


@pytest.fixture(autouse=True)
def _settings():
    yield
    ds.config._settings.update(seed=None)


def test_every_case_is_recorded():
    assert sorted(GOT) == sorted(EXPECTED) and len(EXPECTED) > 150 and len(CHECKSUMS) > 40


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_case(name):
    want, got = EXPECTED[name], GOT[name]
    if isinstance(want, dict) and "raises" in want:
        assert want["raises"] in [cls.__name__ for cls in type(got).__mro__], repr(got)
        return
    assert not isinstance(got, Exception), repr(got)
    same(got, want, name)


def same(got, want, name):
    if isinstance(want, list) and not (want and isinstance(want[0], (int, str))):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w, name)
    elif isinstance(want, dict) and "dtype" in want:
        assert (got["dtype"], got["shape"]) == (want["dtype"], want["shape"])
        if want["dtype"] == "text":
            assert got["values"] == want["values"]
        elif want["dtype"] == "uint8":
            assert np.abs(np.subtract(got["values"], want["values"], dtype=np.int32)).max() <= (1 if name in ONE_LEVEL else 0)
        else:
            np.testing.assert_allclose(got["values"], want["values"], rtol=1e-6, atol=0)
    else:
        assert got == want


IMAGE = (np.arange(9 * 12 * 3) * 37 % 251).astype(np.uint8).reshape(9, 12, 3)


def test_resize_of_the_shorter_edge_cuts_the_longer_one(monkeypatch):
    # 12 / 9 * 5 = 6.67. MindSpore 1.x rounds, 2.10.0 truncates.
    photo = np.zeros((427, 640, 3), np.uint8)
    for era, longer, wide in (("2", 6, 383), ("1", 7, 384)):
        monkeypatch.setenv("SINDRI_MINDSPORE_ERA", era)
        assert vision.Resize(5)(IMAGE).shape == (5, longer, 3) and vision.Resize(5)(IMAGE.transpose(1, 0, 2).copy()).shape == (longer, 5, 3)
        assert vision.Resize(5, vision.Inter.PILCUBIC)(IMAGE).shape == (5, longer, 3)
        assert vision.Resize(256)(photo).shape == (256, wide, 3)
        data = ds.NumpySlicesDataset({"image": photo[None]}, shuffle=False).map(vision.Resize(256), "image")
        assert data.output_shapes() == [[256, wide, 3]] and next(iter(data))[0].shape == (256, wide, 3)


def flips(transform, n=400):
    image = np.arange(6, dtype=np.uint8).reshape(1, 2, 3)
    return np.array([(transform() if isinstance(transform, type) else transform)(image).ravel()[0] != 0 for _ in range(n)])


def test_transforms_called_by_hand_draw_independently():
    ds.config.set_seed(7)
    one, other = vision.RandomHorizontalFlip(), vision.RandomHorizontalFlip()
    made_anew, drawn, beside = flips(vision.RandomHorizontalFlip), flips(one), flips(other)
    for share in (made_anew.mean(), drawn.mean(), (drawn == beside).mean()):
        assert abs(share - 0.5) < 0.115, "4.5 standard deviations"
    square = np.arange(4, dtype=np.uint8).reshape(2, 2)
    both = transforms.Compose([vision.RandomHorizontalFlip(), vision.RandomVerticalFlip()])
    assert {int(both(square)[0, 0]) for _ in range(60)} == {0, 1, 2, 3}
    text_choice = transforms.RandomChoice([text.CaseFold(), text.RegexReplace("A", "B")])
    assert {str(text_choice("A")) for _ in range(40)} == {"a", "B"}
    for seed in (ds.config.set_seed, ms.set_seed):
        ds.config._settings["seed"] = None
        again = []
        for _ in range(2):
            seed(7)
            again.append(np.concatenate([flips(vision.RandomHorizontalFlip, 50), flips(one, 50), flips(other, 50)]))
        assert np.array_equal(*again)


class ByHand:
    """Random access: an image that a transform, created for each row, flips or not."""

    def __init__(self, n=200):
        self.n = n

    def __getitem__(self, i):
        return (vision.RandomHorizontalFlip()(np.arange(6, dtype=np.uint8).reshape(1, 2, 3)),)

    def __len__(self):
        return self.n


def test_transforms_called_by_hand_in_a_pipeline_depend_on_the_row_alone(monkeypatch):
    ds.config.set_seed(3)
    flip = vision.RandomHorizontalFlip()
    images = np.tile(np.arange(6, dtype=np.uint8).reshape(1, 1, 2, 3), (200, 1, 1, 1))

    def epochs(data):
        iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
        return [[int(row[0].ravel()[0] != 0) for row in iterator] for _ in range(2)]

    makers = [lambda workers: ds.GeneratorDataset(ByHand(), ["image"], shuffle=False, num_parallel_workers=workers),
              lambda workers: ds.NumpySlicesDataset({"image": images}, shuffle=False).map(lambda x: flip(x), "image", num_parallel_workers=workers)]
    for make in makers:
        first, second = epochs(make(1))
        assert first != second and all(60 < sum(epoch) < 140 for epoch in (first, second))
        assert epochs(make(3)) == [first, second]
    monkeypatch.setattr(ds.config, "_pipeline_seed", lambda: None)
    data = makers[0](1)
    assert epochs(data) != epochs(data), "without a seed no pass repeats another"


def test_forked_processes_draw_for_themselves():
    ds.config.set_seed(5)
    flip = vision.RandomHorizontalFlip()

    def drawn():
        bits = []
        for _ in range(2):
            r, w = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.write(w, flips(flip, 64).astype(np.uint8).tobytes())
                os._exit(0)
            os.waitpid(pid, 0)
            bits.append(os.read(r, 64))
            os.close(r), os.close(w)
        return bits

    first, second = drawn()
    assert len(first) == 64 and first != second


def test_transforms_can_be_copied_and_pickled():
    for transform in (vision.Resize((4, 5)), vision.Normalize([1.0], [2.0]), transforms.Compose([vision.HWC2CHW(), vision.Rescale(2.0, 1.0)]),
                      vision.CenterCrop(4), transforms.TypeCast(ms.float32), vision.ToTensor()):
        for twin in (pickle.loads(pickle.dumps(transform)), copy.deepcopy(transform)):
            assert np.array_equal(twin(IMAGE), transform(IMAGE))
    assert list(inspect.signature(vision.Resize).parameters) == ["size", "interpolation"]
    flip = vision.RandomHorizontalFlip()
    assert not np.array_equal(flips(flip, 64), flips(copy.copy(flip), 64))


def test_crops_of_corners_and_middle():
    five = vision.FiveCrop((5, 6))(IMAGE)
    for part, (y, x) in zip(five, [(0, 0), (0, 6), (4, 0), (4, 6), (2, 3)]):
        assert np.array_equal(part, IMAGE[y:y + 5, x:x + 6])
    assert all(map(np.array_equal, vision.TenCrop((5, 6))(IMAGE), [*five, *vision.FiveCrop((5, 6))(IMAGE[:, ::-1])]))
    assert all(map(np.array_equal, vision.TenCrop((5, 6), True)(IMAGE)[5:], vision.FiveCrop((5, 6))(IMAGE[::-1])))
    with pytest.raises(ValueError, match="larger than the image"):
        vision.FiveCrop(40)(IMAGE)
    data = ds.NumpySlicesDataset({"image": IMAGE[None]}, shuffle=False).map(vision.FiveCrop(3), "image", ["a", "b", "c", "d", "e"])
    assert data.output_shapes() == [[3, 3, 3]] * 5


def test_random_warps():
    ds.config.set_seed(11)
    for make in (lambda: vision.RandomAffine(20, (-.2, .2, -.1, .1), (0.8, 1.2), 5), lambda: vision.RandomPerspective(prob=1.0),
                 lambda: vision.RandomAffine(0, translate=(0.3, 0.3))):
        one = make()
        first, second = one(IMAGE), one(IMAGE)
        assert first.shape == IMAGE.shape and first.dtype == np.uint8
        moved = isinstance(one, vision.RandomAffine) and one.translate[0][0] == 0.3
        assert np.array_equal(first, second) == moved
    right = vision.RandomAffine(0, translate=(0.25, 0.25))(IMAGE)
    assert np.array_equal(right[:, 3:], IMAGE[:, :-3]) and not right[:, :3].any()
    assert np.array_equal(vision.RandomPerspective(prob=0.0)(IMAGE), IMAGE)
    with pytest.raises(ValueError, match="translate"):
        vision.RandomAffine(0, translate=(0, 2))


def test_files_as_bytes(tmp_path):
    vision.write_file(str(tmp_path / "a"), np.arange(5, dtype=np.uint8))
    assert vision.read_file(str(tmp_path / "a")).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(TypeError):
        vision.write_file(str(tmp_path / "a"), np.arange(5.0))
    with pytest.raises(OSError):
        vision.read_file(str(tmp_path / "b"))


def test_errors_of_image_files_are_also_what_python_expects(tmp_path):
    path = tmp_path / "picture.png"
    vision.write_png(path, IMAGE)  # a path object is accepted
    assert np.array_equal(vision.read_image(path), IMAGE) and vision.read_image(path, vision.ImageReadMode.GRAYSCALE).shape == (9, 12, 1)
    for kind, call, words in [
            (OSError, lambda: vision.read_image(tmp_path / "none"), "cannot open .*none: No such file.* | read_image | check that the file exists"),
            (OSError, lambda: vision.write_jpeg(tmp_path / "no" / "x", IMAGE), "cannot create .*x: No such file.* | write_jpeg | check that its folder exists"),
            (TypeError, lambda: vision.encode_png(IMAGE / 2), "image must be uint8, got float64 | encode_png | round it and cast it to uint8"),
            (ValueError, lambda: vision.encode_jpeg(IMAGE[None]), r"image must be \[H, W\], .* got \[1, 9, 12, 3\] | encode_jpeg"),
            (ValueError, lambda: vision.encode_jpeg(IMAGE, 0), "quality must be from 1 to 100, got 0 | encode_jpeg"),
            (ValueError, lambda: vision.write_file("a\0b", np.zeros(1, np.uint8)), "holds a zero byte | write_file")]:
        with pytest.raises(kind, match=words.replace("|", "\\|")) as raised:
            call()
        assert isinstance(raised.value, RuntimeError)
    (tmp_path / "odd").write_bytes(b"nothing to see")
    with pytest.raises(ds.BadSample, match="odd: the file is not an image"):
        vision.read_image(tmp_path / "odd")
    assert sorted(os.listdir(tmp_path)) == ["odd", "picture.png"]


def test_files_whose_names_are_not_utf8(tmp_path):
    path = os.path.join(tmp_path, os.fsdecode(b"\xff.png"))
    vision.write_png(path, IMAGE)
    assert os.listdir(os.fsencode(tmp_path)) == [b"\xff.png"] and np.array_equal(vision.read_image(path), IMAGE)


def test_hue_turns_both_ways():
    # Half a turn of the hue maps (255, 0, 0) to its opposite; a turn back and forth restores the image.
    red = np.full((1, 1, 3), [255, 0, 0], np.uint8)
    assert np.abs(vision.AdjustHue(0.5)(red)[0, 0].astype(int) - [0, 255, 255]).max() <= 6
    assert np.abs(vision.AdjustHue(-0.25)(red)[0, 0].astype(int) - [128, 0, 255]).max() <= 12
    image = (IMAGE / 255).astype(np.float32)
    assert np.abs(vision.AdjustHue(0.25)(vision.AdjustHue(-0.25)(image)) - image).max() < 1e-5


def test_resize_as_pillow():
    # Recorded from Pillow 13.0: resize((5, 4), BILINEAR), resize((5, 4), BICUBIC) and row 4 of resize((14, 10), BICUBIC).
    linear = [[105, 126, 130, 135, 129], [126, 135, 124, 116, 118], [143, 134, 127, 120, 133], [120, 122, 120, 143, 113]]
    cubic = [[104, 126, 129, 136, 131], [124, 139, 125, 112, 114], [144, 132, 127, 122, 134], [119, 122, 119, 146, 111]]
    larger = [40, 165, 160, 150, 145, 106, 97, 83, 62, 178, 126, 75, 183, 134]
    assert vision.Resize((4, 5), vision.Inter.PILLINEAR)(IMAGE)[:, :, 0].tolist() == linear
    assert vision.Resize((4, 5), vision.Inter.PILCUBIC)(IMAGE)[:, :, 0].tolist() == cubic
    assert vision.Resize((10, 14), vision.Inter.PILCUBIC)(IMAGE)[4, :, 1].tolist() == larger
    with pytest.raises(TypeError, match="Pillow"):
        vision.Resize((4, 5), vision.Inter.ANTIALIAS)(IMAGE)


def test_normalize_pad():
    # (x - mean) / std in float32 and a channel of zeros. MindSpore 2.10.0 mixes up the channels of its result for [H, W, C].
    out = vision.NormalizePad([10., 20., 30.], [2., 4., 8.])(IMAGE)
    assert out.dtype == np.float32 and out.shape == (9, 12, 4)
    assert out[0, 1].tolist() == [(111 - 10) / 2, (148 - 20) / 4, (185 - 30) / 8, 0]
    assert vision.NormalizePad([10., 20., 30.], [2., 4., 8.], dtype="float16")(IMAGE).dtype == np.float16
    with pytest.raises(RuntimeError, match="3 channels"):
        vision.NormalizePad([10., 20., 30.], [2., 4., 8.])(IMAGE[:, :, 0])


def test_greyscale():
    # Pillow's fixed point: (19595 R + 38470 G + 7471 B + 32768) >> 16 for (0, 37, 74) and (111, 148, 185).
    out = vision.Grayscale()(IMAGE)
    assert out.shape == (9, 12, 1) and out[0, :2, 0].tolist() == [30, 141]
    assert vision.Grayscale(3)(IMAGE)[0, 0].tolist() == [30, 30, 30]
    assert vision.RandomGrayscale(1.0)(IMAGE).shape == (9, 12, 3) and np.array_equal(vision.RandomGrayscale(0.0)(IMAGE), IMAGE)
    with pytest.raises(RuntimeError, match="3 channels"):
        vision.Grayscale()(IMAGE[:, :, :1])


def test_old_modules():
    plane = IMAGE[:, :, 0]
    # Two numbers of padding: (left and right, top and bottom) in 2.x, (left and top, right and bottom) in 1.x.
    assert vision.Pad((1, 2))(plane).shape == (13, 14)
    assert c_transforms.Pad((1, 2))(plane).shape == (12, 15)
    assert c_transforms.Pad((1, 2), fill_value=9)(plane)[1, :2].tolist() == [9, plane[0, 0]]
    assert c_transforms.RandomCrop((12, 15), padding=(1, 2))(IMAGE).shape == (12, 15, 3)
    with pytest.raises(RuntimeError):
        vision.RandomCrop((12, 15), padding=(1, 2))(IMAGE)
    planes = IMAGE.transpose(2, 0, 1).astype(np.float32)
    assert py_transforms.Normalize([1., 2., 3.], [1., 1., 1.])(planes)[2, 0, 0] == planes[2, 0, 0] - 3
    with pytest.raises(ValueError, match="RGB"):
        c_transforms.Decode(rgb=False)
    assert c_transforms.Decode(True) and c_transforms.HWC2CHW is vision.HWC2CHW and py_transforms.ToTensor is vision.ToTensor


def test_inputs():
    assert np.array_equal(vision.HorizontalFlip()(ms.Tensor(IMAGE)), IMAGE[:, ::-1])
    with pytest.raises(TypeError):
        vision.HorizontalFlip()("image.png")
    with pytest.raises(RuntimeError, match="1 column"):
        vision.HorizontalFlip()(IMAGE, IMAGE)
    for op in (vision.VerticalFlip(), vision.Pad(1), vision.ToTensor()):
        with pytest.raises(RuntimeError, match="an image"):
            op(np.zeros(5, np.uint8))
    with pytest.raises(TypeError, match="uint8"):
        vision.Posterize(3)(IMAGE.astype(np.float32))
    assert np.array_equal(vision.Invert()(IMAGE.astype(np.float32)), 255 - IMAGE.astype(np.float32))


def png(pixels):
    """Returns the bytes of an RGB image file."""
    def chunk(name, body):
        return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")

    height, width = pixels.shape[:2]
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


RAW = np.frombuffer(png(IMAGE), np.uint8)


def test_decode():
    assert np.array_equal(vision.Decode()(RAW), IMAGE) and np.array_equal(vision.Decode()(png(IMAGE)), IMAGE)
    with pytest.raises(ds.BadSample):
        vision.Decode()(np.zeros(20, np.uint8))
    out = vision.RandomCropDecodeResize((3, 5), scale=(1, 1), ratio=(4 / 3, 4 / 3))(RAW)
    assert np.array_equal(out, vision.Resize((3, 5))(IMAGE))  # only the whole image fits


RANDOM = [vision.RandomCrop(5, padding=2), vision.RandomResizedCrop(6), vision.RandomHorizontalFlip(), vision.RandomVerticalFlip(),
          vision.RandomRotation(45),
          vision.RandomColorAdjust(0.5, 0.5, 0.5, 0.2), vision.RandomColor(), vision.RandomSharpness(), vision.RandomPosterize((1, 8)),
          vision.RandomSolarize(),
          vision.RandomInvert(), vision.RandomGrayscale(0.5), vision.CutOut(4, 2), vision.UniformAugment([vision.HorizontalFlip(), vision.Invert()]),
          vision.RandomSelectSubpolicy([[(vision.Invert(), 0.5)], [(vision.VerticalFlip(), 0.5), (vision.Posterize(2), 1.0)]]),
          transforms.RandomApply([vision.RandomCrop(5), vision.Invert()]),
          transforms.RandomChoice([vision.Resize((9, 12)), vision.RandomHorizontalFlip()]),
          transforms.RandomOrder([vision.HorizontalFlip(), vision.VerticalFlip(), vision.RandomInvert()])]


@pytest.mark.parametrize("op", RANDOM, ids=lambda op: type(op).__name__)
def test_random_transforms_depend_on_seed_and_row_only(op):
    images = np.stack([np.roll(IMAGE, i, axis=1) for i in range(24)])

    def read(workers, start=0, mode="native"):
        data = ds.NumpySlicesDataset({"image": images, "i": np.arange(24)}, sampler=ds.SequentialSampler(start), num_parallel_workers=workers)
        data = (data if mode == "native" else data.filter(lambda image, i: True)).map(op, "image", num_parallel_workers=workers)
        return [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]

    ds.config.set_seed(7)
    first = read(1)
    assert all(map(np.array_equal, read(2), first))
    assert len({image.tobytes() for image in first}) > 1
    ds.config.set_seed(8)
    assert not all(map(np.array_equal, read(1), first))
    pulled = read(1, mode="python")
    assert all(map(np.array_equal, read(1, mode="python"), pulled)) and {image.dtype for image in pulled} == {np.dtype("uint8")}


def test_random_statistics():
    ds.config.set_seed(1)
    flip, crop, erase = vision.RandomHorizontalFlip(0.25), vision.RandomCrop(11), vision.RandomErasing(1.0, value=9)
    flips = sum(flip(IMAGE)[0, 0, 0] != IMAGE[0, 0, 0] for _ in range(2000))
    assert 430 < flips < 570
    wide = np.arange(20, dtype=np.uint8)[None, :, None].repeat(20, axis=0)
    places = np.bincount([int(crop(wide)[0, 0, 0]) for _ in range(2000)], minlength=10)
    assert len(places) == 10 and places.min() > 140 and places.max() < 260
    erased = [(erase(np.zeros((1, 20, 20), np.float32)) == 9).mean() for _ in range(200)]
    assert 0.01 < min(erased) and max(erased) < 0.36


def test_mixing_batches():
    ds.config.set_seed(1)
    images = np.arange(4, dtype=np.float32).reshape(4, 1, 1, 1) * np.ones((1, 6, 8, 3), np.float32)
    data = ds.NumpySlicesDataset({"image": images, "label": np.arange(4, dtype=np.int32)}, shuffle=False).map(transforms.OneHot(4), "label").batch(4)
    image, label = next(data.map(vision.MixUpBatch(1.0), ["image", "label"]).create_tuple_iterator(output_numpy=True))
    assert label.dtype == np.float32 and np.allclose(label.sum(axis=1), 1)
    assert np.allclose(image[:, 0, 0, 0], label @ np.arange(4))  # the same weights for both
    for form in (vision.ImageBatchFormat.NHWC, vision.ImageBatchFormat.NCHW):
        batch = images if form == vision.ImageBatchFormat.NHWC else images.transpose(0, 3, 1, 2)
        image, label = vision.CutMixBatch(form)(batch, np.eye(4, dtype=np.int32))
        assert image.shape == batch.shape and np.allclose(image.mean(axis=(1, 2, 3)), label @ np.arange(4), atol=1e-6)
    with pytest.raises(RuntimeError, match="OneHot"):
        vision.MixUpBatch()(images, np.arange(4))


def test_pipeline_of_the_training_scripts():
    ds.config.set_seed(1)

    class Files:
        def __getitem__(self, i):
            return RAW, np.int64(i % 3)

        def __len__(self):
            return 7

    chain = [c_transforms.RandomCropDecodeResize(8, scale=(0.5, 1.0)), c_transforms.RandomHorizontalFlip(prob=0.5),
             c_transforms.Normalize([1., 2., 3.], [4., 5., 6.]),
             c_transforms.HWC2CHW()]
    data = ds.GeneratorDataset(Files(), ["image", "label"], shuffle=True)
    data = data.map(operations=chain, input_columns="image", num_parallel_workers=2).map(operations=transforms.TypeCast(ms.int32),
                                                                                         input_columns="label")
    data = data.batch(3, drop_remainder=True).repeat(2)
    assert data.get_dataset_size() == 4 and data.get_batch_size() == 3 and data.get_repeat_count() == 2
    assert data.output_types() == [np.dtype("float32"), np.dtype("int32")] and data.output_shapes() == [[3, 3, 8, 8], [3]]
    rows = list(data.create_dict_iterator(num_epochs=1))
    assert len(rows) == 4 and rows[0]["image"].shape == (3, 3, 8, 8) and rows[0]["label"].dtype == ms.int32


def test_transforms_with_several_columns():
    data = ds.NumpySlicesDataset({"a": [[1, 2]], "b": [[3, 4]]}).map(transforms.Concatenate(prepend=np.array([0])), ["a", "b"], ["c"])
    assert next(iter(data))[0].asnumpy().tolist() == [0, 1, 2, 3, 4]
    data = ds.NumpySlicesDataset([[1, 2, 3, 4]], ["a"]).map([transforms.Duplicate()], ["a"], ["a", "b"]).map(transforms.Slice(slice(1, 3)), "b")
    assert [column.asnumpy().tolist() for column in next(iter(data))] == [[1, 2, 3, 4], [2, 3]]
    data = ds.NumpySlicesDataset([IMAGE], ["image"]).map(vision.SlicePatches(3, 2), "image", [f"p{i}" for i in range(6)])
    assert len(data.get_col_names()) == 6 and data.output_shapes() == [[3, 6, 3]] * 6


# Text.


def test_text_pipeline(tmp_path):
    (tmp_path / "1.txt").write_text("hello world\n\nfoo bar\n", encoding="utf-8")
    (tmp_path / "2.txt").write_text("hello baz\n", encoding="utf-8")

    def lines(**options):
        return ds.TextFileDataset(str(tmp_path / "*.txt"), **options)

    assert [str(row[0]) for row in lines(shuffle=False)] == ["hello world", "foo bar", "hello baz"]
    data = lines()
    assert data.get_dataset_size() == 3 and data.get_col_names() == ["text"]
    assert data.output_types() == [np.dtype("U")] and data.output_shapes() == [[]]
    assert sorted(str(row[0]) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)) == ["foo bar", "hello baz", "hello world"]
    assert [len(lines(num_shards=2, shard_id=i)) for i in range(2)] == [2, 2] and len(lines(num_samples=2)) == 2
    words = lines(shuffle=False).map(text.WhitespaceTokenizer(), "text")
    vocab = text.Vocab.from_dataset(words, "text", special_tokens=["<pad>", "<unk>"])
    # By count, then by word.
    assert vocab.vocab() == {"<pad>": 0, "<unk>": 1, "hello": 2, "bar": 3, "baz": 4, "foo": 5, "world": 6}
    data = lines(shuffle=False).map([text.WhitespaceTokenizer(), text.Lookup(vocab), transforms.PadEnd([3], 0)], "text").batch(3)
    assert data.output_types() == [np.dtype("int32")]
    assert next(iter(data))[0].asnumpy().tolist() == [[2, 6, 0], [5, 3, 0], [2, 4, 0]]
    with pytest.raises(RuntimeError, match="'foo' is not in the vocabulary") as caught:
        list(lines(shuffle=False).map([text.WhitespaceTokenizer(), text.Lookup(text.Vocab.from_list(["hello", "world"]))], "text"))
    assert "row 1" in " ".join(caught.value.__notes__)
    with pytest.raises(ValueError, match="no file"):
        ds.TextFileDataset(str(tmp_path / "nothing"))


def test_text_from_generators():
    class Reviews:
        def __getitem__(self, i):
            return ["good film", "bad film"][i], np.int32(i)

        def __len__(self):
            return 2

    data = ds.GeneratorDataset(Reviews(), ["text", "label"], shuffle=False)
    assert data.output_types() == [np.dtype("U"), np.dtype("int32")]
    row = next(data.create_dict_iterator())
    assert str(row["text"]) == "good film" and isinstance(row["label"], ms.Tensor)
    data = data.map(text.PythonTokenizer(str.split), "text").shuffle(2).batch(2)
    assert sorted(map(tuple, next(iter(data))[0].tolist())) == [("bad", "film"), ("good", "film")]
    data = ds.NumpySlicesDataset({"w": ["a", "b", "c"]}, num_shards=2, shard_id=1, shuffle=False)
    assert [str(row[0]) for row in data] == ["b", "a"] and len(data) == 2
    vocab = ds.NumpySlicesDataset([["b", "a"], ["b", "c"]], ["w"]).build_vocab("w", None, 2, ["<u>"], True)
    assert vocab.vocab() == {"<u>": 0, "b": 1, "a": 2}
    assert text.Vocab.from_dataset(ds.NumpySlicesDataset([["b", "a"], ["b", "c"]], ["w"]), freq_range=(2, None)).vocab() == {"b": 0}


# Pillow.


def test_images_of_pillow():
    image_module = pytest.importorskip("PIL.Image")
    ds.config.set_seed(1)
    image = py_transforms.Decode()(RAW)
    assert isinstance(image, image_module.Image) and np.array_equal(np.asarray(image), IMAGE)
    for op in (vision.Resize(4), vision.Resize((4, 5), vision.Inter.ANTIALIAS), vision.RandomResizedCrop(4), *RANDOM[:8], vision.RandomGrayscale(0.5),
               vision.Grayscale(), vision.CenterCrop(4)):
        assert isinstance(op(image), image_module.Image), op
    for op in (vision.RandomPosterize((1, 8)), vision.RandomSolarize(), vision.RandomInvert(), vision.HorizontalFlip(), vision.Rotate(10)):
        assert isinstance(op(image), np.ndarray), op  # as in MindSpore, which has these for arrays only
    chain = [py_transforms.Decode(), vision.Resize(8), vision.RandomResizedCrop(6), vision.RandomHorizontalFlip(), vision.ToTensor(),
             py_transforms.Normalize([.5] * 3, [.5] * 3)]

    def read(workers):
        data = ds.GeneratorDataset([RAW] * 6, ["image"], shuffle=False).map(chain, "image", num_parallel_workers=workers).batch(3)
        return [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]

    first = read(1)
    assert first[0].shape == (3, 3, 6, 6) and all(map(np.array_equal, read(2), first))
    assert transforms.Compose(chain)(RAW).shape == (3, 6, 6)
    pillow = vision.ToPIL()
    # Recorded from MindSpore 2.10.0: sizes, the position of a smaller image, and Pillow's colours.
    assert vision.Resize(256)(pillow(np.zeros((427, 640, 3), np.uint8))).size == (383, 256)
    ones = np.full((5, 7), 255, np.uint8)
    for size, rows, columns in (((10, 10), (2, 6), (2, 8)), ((6, 8), (0, 4), (0, 6)), ((3, 12), (0, 2), (2, 8))):
        out = np.asarray(vision.CenterCrop(size)(pillow(ones)))
        assert out.shape == size
        found = np.argwhere(out)
        assert (found.min(0).tolist(), found.max(0).tolist()) == ([rows[0], columns[0]], [rows[1], columns[1]])
    from PIL import ImageOps
    assert np.array_equal(np.asarray(vision.Equalize()(pillow(IMAGE))), np.asarray(ImageOps.equalize(pillow(IMAGE))))
    assert vision.get_image_size(pillow(IMAGE)) == [9, 12] and vision.get_image_num_channels(pillow(IMAGE)) == 3


def test_pillow_is_not_needed():
    try:
        import PIL  # noqa: F401
    except ImportError:
        with pytest.raises(RuntimeError, match="Pillow is not installed"):
            vision.ToPIL()(IMAGE)
    else:
        assert vision.ToPIL()(IMAGE).size == (12, 9)
