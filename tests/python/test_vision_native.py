"""Image transforms run in C++ wherever they are called, and Python functions in worker processes."""
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import dataset_cases
import sindri.dataset as ds
from sindri import _core
from sindri.dataset import transforms, utils, vision
from sindri.dataset._transform import compile_operations

IMAGE = (np.arange(24 * 30 * 3) * 37 % 251).astype(np.uint8).reshape(24, 30, 3)
RANDOM = [vision.RandAugment(), vision.TrivialAugmentWide(), vision.AutoAugment(), vision.AutoAugment(vision.AutoAugmentPolicy.SVHN),
          vision.RandomAffine(20, (-.2, .2), (0.8, 1.2), 5), vision.RandomPerspective(prob=1.0), vision.RandomLighting(1.0),
          vision.RandomEqualize(), vision.RandomAutoContrast(), vision.RandomAdjustSharpness(2.0)]


@pytest.fixture(autouse=True)
def _settings():
    yield
    ds.config._settings.update(seed=None)


def in_cpp(operation, outputs=1):
    made = compile_operations([operation], outputs)
    return made is not None and all(not str(t).startswith("Function(") for t in made)


@pytest.mark.parametrize("text", dataset_cases.PICTURES)
def test_pipelines_give_what_a_call_gives(text):
    operation = eval(text, {"V": vision})
    assert in_cpp(operation)
    photo = np.kron(IMAGE, np.ones((3, 3, 1), np.uint8))
    data = ds.NumpySlicesDataset({"image": photo[None]}, shuffle=False).map(operation, "image")
    by_hand = operation(photo)
    assert data.output_shapes() in ([list(by_hand.shape)], [[None, None, 3]]) and data.output_types() == [by_hand.dtype]
    assert np.array_equal(next(iter(data.create_tuple_iterator(output_numpy=True)))[0], by_hand)
    assert np.array_equal(operation(photo[:, ::-1]), operation(np.ascontiguousarray(photo[:, ::-1]))), "any strides"


@pytest.mark.parametrize("operation", RANDOM, ids=lambda op: str(op._transform)[:40])
def test_random_transforms_in_cpp(operation):
    assert in_cpp(operation)
    images = np.stack([np.roll(IMAGE, i, axis=1) for i in range(24)])

    def read(workers):
        data = ds.NumpySlicesDataset({"image": images}, shuffle=False).map(operation, "image", num_parallel_workers=workers)
        return [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]

    ds.config.set_seed(3)
    first = read(1)
    assert all(map(np.array_equal, read(2), first)) and {image.shape for image in first} == {IMAGE.shape}
    by_hand = [operation(IMAGE) for _ in range(30)]
    assert len({image.tobytes() for image in by_hand}) > 1


def test_choices_and_parts_in_cpp():
    for operation in (transforms.RandomApply([vision.Invert(), vision.RandomVerticalFlip()]), transforms.RandomChoice([vision.Invert(), vision.Equalize()]),
                      transforms.RandomOrder([vision.Invert(), vision.RandomHorizontalFlip()]),
                      vision.UniformAugment([vision.Invert(), [vision.Equalize(), vision.Invert()]]),
                      vision.RandomSelectSubpolicy([[(vision.Invert(), 0.5)], [(vision.Equalize(), 1.0), (vision.Posterize(3), 0.3)]])):
        assert in_cpp(operation), operation
    assert not in_cpp(transforms.RandomApply([lambda x: x])) and not in_cpp(transforms.RandomChoice([vision.ToPIL(), vision.Invert()]))
    assert in_cpp(vision.FiveCrop(3), 5) and in_cpp(vision.SlicePatches(2, 2), 4)
    for operation, outputs in ((vision.FiveCrop((9, 10)), 5), (vision.TenCrop(9, True), 10), (vision.SlicePatches(5, 4, fill_value=9), 20)):
        names = [f"c{i}" for i in range(outputs)]
        data = ds.NumpySlicesDataset({"image": IMAGE[None]}, shuffle=False).map(operation, "image", names)
        assert all(map(np.array_equal, next(data.create_tuple_iterator(output_numpy=True)), operation(IMAGE)))


def test_random_resize_draws_its_interpolation():
    assert in_cpp(vision.RandomResize(5))
    ds.config.set_seed(1)
    seen = {vision.RandomResize((17, 40))(IMAGE).tobytes() for _ in range(40)}
    inters = (vision.Inter.NEAREST, vision.Inter.LINEAR, vision.Inter.CUBIC, vision.Inter.AREA)
    assert seen == {vision.Resize((17, 40), inter)(IMAGE).tobytes() for inter in inters}


def test_images_of_other_types():
    # Floats other than float32 are computed in float32; transforms that only move pixels accept any type.
    double = IMAGE.astype(np.float64) / 255
    for operation in (vision.Invert(), vision.AdjustBrightness(0.5), vision.GaussianBlur(3), vision.Rotate(30, vision.Inter.BILINEAR)):
        assert operation(double).dtype == np.float64
        assert np.allclose(operation(double), operation(double.astype(np.float32)), rtol=0, atol=1e-6)
    labels = np.arange(24 * 30).reshape(24, 30)
    for operation, want in ((vision.VerticalFlip(), labels[::-1]), (vision.HorizontalFlip(), labels[:, ::-1]), (vision.Crop((2, 3), 4), labels[2:6, 3:7]),
                            (vision.Pad(1), np.pad(labels, 1)), (vision.CenterCrop((20, 20)), labels[2:22, 5:25])):
        assert np.array_equal(operation(labels), want)
    with pytest.raises(TypeError, match="expected uint8"):
        vision.Invert()(labels)


def test_boxes_in_pipelines():
    boxes = np.array([[[1, 2, 3, 4]], [[10, 5, 8, 9]]], np.float32)
    data = ds.NumpySlicesDataset({"image": np.stack([IMAGE, IMAGE]), "box": boxes}, shuffle=False)
    data = data.map([vision.RandomHorizontalFlipWithBBox(1.0), vision.ResizeWithBBox((48, 60))], ["image", "box"])
    rows = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert rows[0][0].shape == (48, 60, 3) and rows[0][1].tolist() == [[52, 4, 6, 8]] and rows[1][1].tolist() == [[24, 10, 16, 18]]
    image, changed = vision.BoundingBoxAugment(vision.Invert(), 1.0)(IMAGE, boxes[0])
    want = IMAGE.copy()
    want[2:6, 1:4] = 255 - want[2:6, 1:4]
    assert np.array_equal(image, want) and np.array_equal(changed, boxes[0])
    ds.config.set_seed(1)
    for _ in range(20):
        image, kept = vision.RandomCropWithBBox(10)(IMAGE, boxes[1])
        assert image.shape == (10, 10, 3) and (kept >= 0).all() and (kept[:, :2] + kept[:, 2:4] <= 10).all()
    with pytest.raises(RuntimeError, match="2 columns"):
        vision.ResizeWithBBox(5)(IMAGE)
    with pytest.raises(ValueError, match="one column"):
        vision.BoundingBoxAugment(vision.FiveCrop(3))


def test_calls_let_other_threads_run():
    """Half a second of blurring in a thread, while this one keeps running."""
    large = np.zeros((1500, 1500, 3), np.uint8)
    blur, done = vision.GaussianBlur(31, 9.0), threading.Event()

    def work():
        blur(large)
        done.set()

    longest, last = 0.0, time.perf_counter()
    thread = threading.Thread(target=work)
    thread.start()
    began = last
    while not done.is_set():
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
        time.sleep(0.001)
    thread.join()
    assert longest < max(0.05, 0.5 * (time.perf_counter() - began))


def test_seekable_store(tmp_path):
    (tmp_path / "from" / "a").mkdir(parents=True)
    (tmp_path / "from" / "a" / "x.txt").write_bytes(b"text")
    report = utils.prepare_seekable(tmp_path / "from", str(tmp_path / "to"))
    assert report["files"] == 1 and report["unsuited"] == 1 and (tmp_path / "to" / "a" / "x.txt").read_bytes() == b"text"
    with pytest.raises(ValueError, match="inside each other"):
        utils.prepare_seekable(tmp_path / "from", tmp_path / "from" / "to")
    with pytest.raises(OSError):
        utils.prepare_seekable(tmp_path / "nothing", tmp_path / "to")
    with pytest.raises(TypeError):
        utils.prepare_seekable(3, "to")


# Worker processes.


def mapped(function, rows=8, workers=2, **options):
    data = ds.NumpySlicesDataset({"x": np.arange(rows)}, shuffle=False)
    return data.map(function, "x", num_parallel_workers=workers, python_multiprocessing=True, **options)


def read(data):
    return [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def gone(pid, seconds=5.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_functions_run_in_other_processes():
    seen = [int(v) for v in read(mapped(lambda x: np.asarray(os.getpid()), rows=40))]
    assert os.getpid() not in seen and 1 <= len(set(seen)) <= 2
    images = read(mapped(lambda x: (np.full((50, 60, 3), x, np.uint8)), rows=6))
    assert [int(i[0, 0, 0]) for i in images] == list(range(6)) and images[0].shape == (50, 60, 3)
    kept = []
    rows = read(mapped(lambda x: kept.append(x) or np.array([len(kept), int(kept[-1])]), rows=6, workers=1))
    assert [r.tolist() for r in rows] == [[i + 1, i] for i in range(6)], "a row that a function keeps is not overwritten"
    assert not kept, "it is the worker's"
    two = mapped(lambda x: (x, x * 2), output_columns=["a", "b"])
    assert [int(r[1]) for r in two.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [2 * i for i in range(8)]


def test_random_numbers_of_worker_processes_depend_on_the_row():
    import random

    def draw(x, rng):
        return np.array([random.random(), np.random.random(), rng.random()])

    ds.config.set_seed(5)
    one, two = read(mapped(draw, workers=1)), read(mapped(draw, workers=2))
    assert all(map(np.array_equal, one, two)) and len({r.tobytes() for r in one}) == 8
    assert all(len(set(column)) == 8 for column in np.stack(one).T)


def test_errors_of_worker_processes():
    def fails(x):
        if x == 3:
            raise KeyError("here it is")
        return x

    with pytest.raises(KeyError, match="here it is") as caught:
        read(mapped(fails))
    notes = "\n".join(caught.value.__notes__)
    assert "in worker process" in notes and "in fails" in notes and 'raise KeyError("here it is")' in notes and "row 3" in notes

    class Odd(Exception):  # cannot be pickled, because it is local
        pass

    def odd(x):
        raise Odd("strange")

    with pytest.raises(RuntimeError, match="Odd: strange"):
        read(mapped(odd))

    def bad(x):
        if x == 2:
            raise ds.BadSample("not this one")
        return x

    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
    try:
        assert [int(v) for v in read(mapped(bad, rows=5))] == [0, 1, 3, 4]
    finally:
        ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.RETURN)


def test_a_killed_worker_is_an_error():
    def dies(x):
        if x == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    began = time.monotonic()
    with pytest.raises(RuntimeError, match=r"worker process \d+ was ended by signal 9 \(SIGKILL\)"):
        read(mapped(dies))
    assert time.monotonic() - began < 5


def test_workers_end_with_the_data_set():
    data = mapped(lambda x: np.asarray(os.getpid()), rows=30)
    pids = {int(v) for v in read(data)}
    assert not any(gone(pid, 0.05) for pid in pids), "they stay for the next epoch"
    del data
    assert all(gone(pid) for pid in pids)


def test_no_worker_outlives_a_killed_parent():
    program = """
        import os, time, numpy as np, sindri.dataset as ds
        data = ds.NumpySlicesDataset({"x": np.arange(8)}, shuffle=False)
        data = data.map(lambda x: np.asarray(os.getpid()), "x", num_parallel_workers=2, python_multiprocessing=True)
        print(" ".join({str(int(row[0])) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)}), flush=True)
        time.sleep(60)
        """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    pids = [int(p) for p in child.stdout.readline().split()]
    assert pids
    child.kill()
    child.wait()
    child.stdout.close()
    assert all(gone(pid) for pid in pids)


def test_transforms_in_cpp_stay_out_of_worker_processes():
    data = ds.NumpySlicesDataset({"image": IMAGE[None]}, shuffle=False).map([vision.Invert(), vision.ToTensor()], "image", python_multiprocessing=True)
    assert np.array_equal(read(data)[0], vision.ToTensor()(255 - IMAGE))
    assert isinstance(_core.dataset.invert(), _core.dataset.Transform)
