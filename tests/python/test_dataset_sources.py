"""sindri.dataset: sources and the files that they read. Row orders and sizes without a comment were recorded from MindSpore 2.10.0."""
import json
import zlib

import numpy as np
import pytest

import sindri as ms
import sindri.dataset as ds
from dataset_rows import Pairs, fresh_settings, numbers, seven, values  # noqa: F401


class Counting:
    """An iterable with a length."""

    def __init__(self, n=5):
        self.n = n

    def __iter__(self):
        return iter([(np.array([i + 1]),) for i in range(self.n)])

    def __len__(self):
        return self.n


class Restarting:
    """An iterator that restarts whenever iter() is called."""

    def __init__(self, n=5):
        self.n = n

    def __iter__(self):
        self.next = 0
        return self

    def __next__(self):
        if self.next == self.n:
            raise StopIteration
        self.next += 1
        return (np.array(self.next - 1),)


class Once(Restarting):
    def __init__(self, n=5):
        super().__init__(n)
        self.next = 0

    def __iter__(self):
        return self


def test_running_generators_give_all_rows_in_each_pass():
    sources = {"generator": seven, "list": lambda: iter(list(seven())), "map": lambda: map(lambda row: row, seven()), "zip": lambda: zip(range(7)),
               "restarting": lambda: Restarting(7)}
    for name, make in sources.items():
        data = ds.GeneratorDataset(make(), ["a"])
        assert data.output_types() == [np.dtype("int64")] and data.output_shapes() == [[]], name
        assert data.get_dataset_size() == 7, name
        assert values(data) == values(data) == list(range(7)), name
        iterator = ds.GeneratorDataset(make(), ["a"]).batch(3).create_tuple_iterator(num_epochs=2, output_numpy=True)
        assert [[row[0].tolist() for row in iterator] for _ in range(2)] == [[[0, 1, 2], [3, 4, 5], [6]]] * 2, name
    data = ds.GeneratorDataset(seven(), ["a"])
    next(iter(data))  # a pass that ends early
    assert values(data) == list(range(7))
    assert values(ds.GeneratorDataset(seven(), ["a"], num_samples=2).repeat(2)) == [0, 1, 0, 1]
    parts = ds.GeneratorDataset(seven(), ["a"]).split([3, 4], randomize=False)
    assert [values(part) for part in parts] == [[0, 1, 2], [3, 4, 5, 6]]


def test_rows_of_a_running_generator_are_kept_as_they_were():
    def one_array():
        array = np.zeros(2)
        for i in range(3):
            array[:] = i
            yield (array,)

    def doubled(x):
        x *= 2
        return x

    data = ds.GeneratorDataset(one_array(), ["a"]).map(doubled, "a")
    assert data.get_dataset_size() == 3
    assert values(data) == values(data) == [[0, 0], [2, 2], [4, 4]]

    def broken():
        yield (np.array(1),)
        raise KeyError("gone")

    data = ds.GeneratorDataset(broken(), ["a"])
    for _ in range(2):
        with pytest.raises(KeyError, match="gone"):
            values(data)


def test_sources_that_run_dry_are_no_silent_end():
    data = ds.GeneratorDataset(Once(), ["a"])
    assert data.output_shapes() == [[]] and values(data) == [0, 1, 2, 3, 4], "reading the first row does not consume it"
    data = ds.GeneratorDataset(Once(), ["a"])
    assert data.get_dataset_size() == 5
    with pytest.raises(RuntimeError, match="the source gave no rows, in an earlier pass 5"):
        values(data)
    lengths = iter([5, 3, 5])
    data = ds.GeneratorDataset(lambda: Restarting(next(lengths)), ["a"])
    data._text = False  # reading the first row's type would call the function, too
    assert len(values(data)) == 5
    with pytest.warns(RuntimeWarning, match="gave 3 rows, in an earlier pass 5"):
        assert len(values(data)) == 3
    assert len(values(data)) == 5
    shared = Once()
    data = ds.GeneratorDataset(lambda: shared, ["a"])
    assert data.output_shapes() == [[]] and values(data) == [0, 1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="gave no rows"):
        values(data)


def test_batches_of_a_sampler():
    # Recorded from MindSpore 2.10.0.
    def make(**options):
        return ds.GeneratorDataset(Pairs(6), ["a", "b"], batch_sampler=[[0, 1], [4, 5, 3]], **options)

    assert values(make()) == [[[0, 1], [1, 2]], [[4, 5], [5, 6], [3, 4]]]
    assert (make().get_dataset_size(), make().get_batch_size(), make().output_shapes()) == (2, -1, [[2, 2], [2]])
    data = make(collate_fn=lambda a, b: (np.stack(a) * 10, np.stack(b))).map(lambda b: b + 1, "b")
    assert values(data) == [[[0, 10], [10, 20]], [[40, 50], [50, 60], [30, 40]]] and values(make(), 1) == [[0, .5], [2, 2.5, 1.5]]

    def batches():
        yield [2]
        yield [1, 0]

    running = ds.GeneratorDataset(Pairs(3), ["a", "b"], batch_sampler=batches())
    assert running.get_dataset_size() == 2 and values(running, 1) == values(running, 1) == [[1], [.5, 0]]
    assert [values(part, 1) for part in make().split([1, 1], randomize=False)] == [[[0, .5]], [[2, 2.5, 1.5]]]
    with pytest.raises(ValueError, match="excludes"):
        make().use_sampler(ds.SequentialSampler())
    for options in ({"shuffle": True}, {"num_samples": 1}, {"sampler": [1]}, {"num_shards": 2, "shard_id": 0}):
        with pytest.raises(ValueError, match="excludes"):
            make(**options)
    with pytest.raises(ValueError, match="needs a batch_sampler"):
        ds.GeneratorDataset(Pairs(), ["a", "b"], collate_fn=lambda *x: x)
    with pytest.raises(ValueError, match="__getitem__"):
        ds.GeneratorDataset(seven, ["a"], batch_sampler=[[0]])
    with pytest.raises(TypeError, match="lists of indices"):
        values(ds.GeneratorDataset(Pairs(), ["a", "b"], batch_sampler=[0, 1]))


@pytest.mark.parametrize("rows, length", [(5, 6), (5, 2), (0, 4)])
def test_a_length_that_is_wrong_is_an_error(rows, length):
    class Source(Restarting):
        def __len__(self):
            return length

    with pytest.raises(RuntimeError):
        values(ds.GeneratorDataset(Source(rows), ["a"]))
    assert values(ds.GeneratorDataset(type("Right", (Restarting,), {"__len__": lambda self: 5})(), ["a"])) == [0, 1, 2, 3, 4]


def test_generator_of_random_access_object():
    data = ds.GeneratorDataset(Pairs(), ["a", "b"], shuffle=False)
    assert values(data) == [[i, i + 1] for i in range(10)]
    data = ds.GeneratorDataset(Pairs(), ["a", "b"], shuffle=False)
    assert data.output_types() == [np.dtype("int32"), np.dtype("float64")]
    assert data.output_shapes() == [[2], []]
    assert data.get_col_names() == ["a", "b"]
    assert (data.get_dataset_size(), len(data), data.get_batch_size(), data.get_repeat_count()) == (10, 10, 1, 1)
    assert data.num_classes() is None and data.get_class_indexing() == {}
    assert data.batch(4).output_shapes() == [[4, 2], [4]]


@pytest.mark.parametrize("source, rows", [(seven, list(range(7))), ([[1], [2], [3]], [1, 2, 3]), ([1, 2, 3], [1, 2, 3]),
                                          (Counting(), [[i] for i in range(1, 6)])])
def test_generator_forms(source, rows):
    data = ds.GeneratorDataset(source, ["x"], **({} if source is seven or isinstance(source, Counting) else {"shuffle": False}))
    assert values(data) == rows
    assert values(data) == rows  # a second pass starts again
    assert data.get_dataset_size() == len(rows)


def test_generator_rows_may_be_lists_or_dicts():
    class Lists:
        def __getitem__(self, i):
            return [np.array([i]), i * 2]

        def __len__(self):
            return 3

    rows = ds.GeneratorDataset(Lists(), ["a", "b"], shuffle=False).create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [[column.tolist() for column in row] for row in rows] == [[[0], 0], [[1], 2], [[2], 4]]
    for wrap in (lambda data: data, lambda data: data.filter(lambda b: True)):
        assert values(wrap(ds.GeneratorDataset([{"a": 1, "b": 2}, {"b": 4}], ["b"], shuffle=False))) == [2, 4]
    with pytest.raises(RuntimeError, match="no value for the column 'c'"):
        values(ds.GeneratorDataset([{"a": 1}], ["a", "c"]))


def test_generator_function_is_not_run_more_than_it_is_read():
    calls = []

    def source():
        calls.append(1)
        for i in range(3):
            yield (np.array(i),)

    iterator = ds.GeneratorDataset(source, ["x"]).map(lambda x: x * 2, "x").batch(2).create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [[row[0].tolist() for row in iterator] for _ in range(2)] == [[[0, 2], [4]], [[0, 2], [4]]]
    assert len(calls) == 2


def test_endless_generator():
    def source():
        i = 0
        while True:
            yield (np.array(i),)
            i += 1

    assert values(ds.GeneratorDataset(source, ["x"]).take(3)) == [0, 1, 2]
    assert values(ds.GeneratorDataset(source, ["x"], num_samples=2)) == [0, 1]
    assert values(ds.GeneratorDataset(source, ["x"]).skip(4).batch(2).take(2)) == [[4, 5], [6, 7]]


def test_generator_passes_may_differ_in_length():
    lengths = iter([1, 3])

    def source():
        return [(np.array(i),) for i in range(next(lengths))]

    iterator = ds.GeneratorDataset(source, ["x"]).create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [len(list(iterator)), len(list(iterator))] == [1, 3]


def test_generator_values():
    class Mixed:
        def __getitem__(self, i):
            return 1.5, True, ms.Tensor(np.array([i], np.int32)), np.uint16(7), np.int8(-3), np.uint32(4000000000)

        def __len__(self):
            return 2

    data = ds.GeneratorDataset(Mixed(), list("abcdef"), shuffle=False)
    # int8 and uint16 are stored as int32, uint32 as int64, because tensors lack these types.
    assert data.output_types() == [np.dtype(t) for t in ("float64", "bool", "int32", "int32", "int32", "int64")]
    row = next(data.create_tuple_iterator(output_numpy=True))
    assert [column.tolist() for column in row] == [1.5, True, [0], 7, -3, 4000000000]


def test_generator_column_types_convert():
    data = ds.GeneratorDataset([1, 2], ["x"], column_types=[ms.float32], shuffle=False)
    assert data.output_types() == [np.dtype("float32")]
    assert values(data) == [1.0, 2.0]


@pytest.mark.parametrize("options", [{"sampler": ds.SequentialSampler()}, {"num_shards": 2, "shard_id": 0}])
def test_generator_without_random_access_refuses(options):
    with pytest.raises(RuntimeError):  # MindSpore 1.x
        ds.GeneratorDataset(seven, ["x"], **options)
    with pytest.raises(ValueError):  # MindSpore 2.x
        ds.GeneratorDataset(seven, ["x"], **options)


def test_generator_bad_arguments():
    with pytest.raises(ValueError, match="column_names or schema"):
        ds.GeneratorDataset(seven)
    with pytest.raises(TypeError, match="__getitem__"):
        ds.GeneratorDataset(5, ["x"])
    with pytest.raises(ValueError, match="2 column_types for 1"):
        ds.GeneratorDataset(seven, ["x"], column_types=[ms.int32, ms.int32])
    with pytest.raises(RuntimeError, match="2 values .* 1 column"):
        values(ds.GeneratorDataset(Pairs(), ["a"]))
    with pytest.raises(RuntimeError, match="gave 1 values for 2"):
        values(ds.GeneratorDataset(seven, ["a", "b"]))
    with pytest.raises(TypeError, match="did you mean 'column_names'"):
        ds.GeneratorDataset(seven, column_name=["x"])


def test_generator_schema(tmp_path):
    schema = ds.Schema()
    schema.add_column("x", ms.int32, [1])
    schema.add_column("y", "float32")
    assert json.loads(schema.to_json()) == {"columns": {"x": {"type": "int32", "shape": [1], "rank": 1}, "y": {"type": "float32"}}}
    path = tmp_path / "schema.json"
    path.write_text(schema.to_json())
    data = ds.GeneratorDataset(lambda: iter([([5], 2)]), schema=ds.Schema(str(path)))
    assert data.get_col_names() == ["x", "y"] and data.output_types() == [np.dtype("int32"), np.dtype("float32")]
    with pytest.raises(ValueError, match="'x' already"):
        schema.add_column("x", ms.int32)
    with pytest.raises(TypeError):
        schema.add_column("z", "quaternion")


def test_numpy_slices():
    assert next(ds.NumpySlicesDataset({"a": [1, 2], "b": [[3, 4], [5, 6]]},
                                      shuffle=False).create_dict_iterator(output_numpy=True))["b"].tolist() == [3, 4]
    assert ds.NumpySlicesDataset(([1, 2], [3.0, 4.0]), shuffle=False).get_col_names() == ["column_0", "column_1"]
    assert ds.NumpySlicesDataset([[1, 2], [3, 4]], shuffle=False).output_shapes() == [[2]]
    assert ds.NumpySlicesDataset([1.0, 2.0]).output_types() == [np.dtype("float64")]
    with pytest.raises(ValueError, match="2 column_names for 1"):
        ds.NumpySlicesDataset([1], ["a", "b"])
    with pytest.raises(ValueError, match="'b' has 1 rows"):
        ds.NumpySlicesDataset({"a": [1, 2], "b": [1]})
    with pytest.raises(TypeError):
        ds.NumpySlicesDataset(5)


def test_numpy_slices_does_not_copy():
    array = np.arange(4, dtype=np.float32)
    data = ds.NumpySlicesDataset(array, ["x"], shuffle=False)
    assert data.get_dataset_size() == 4
    array[2] = 9
    assert values(data) == [0, 1, 9, 3]


def test_padded_dataset_makes_equal_shards():
    def shard(i):
        data = numbers(5) + ds.PaddedDataset([{"x": np.array(100)}])
        data.use_sampler(ds.DistributedSampler(2, i, shuffle=False))
        return values(data), data.get_dataset_size()

    assert [shard(0), shard(1)] == [([0, 2, 4], 3), ([1, 3, 100], 3)]
    with pytest.raises(ValueError, match="shuffle=False"):
        (numbers(5) + numbers(1)).use_sampler(ds.DistributedSampler(2, 0))
    with pytest.raises(TypeError):
        (numbers(5) + numbers(1)).use_sampler(ds.SequentialSampler())
    with pytest.raises(ValueError):
        ds.PaddedDataset([])


def test_digits():
    train, test = ds.DigitsDataset(usage="train"), ds.DigitsDataset(usage="test", shuffle=False)
    assert (len(train), len(test)) == (1438, 359)  # 1,797 digits; every fifth is in the test set
    assert test.output_types() == [np.dtype("uint8"), np.dtype("int32")] and test.output_shapes() == [[8, 8, 1], []]


def cifar_file(path, labels, seed=0):
    pixels = np.random.default_rng(seed).integers(0, 256, (len(labels), 3072), dtype=np.uint8)
    path.write_bytes(b"".join(bytes([label]) + row.tobytes() for label, row in zip(labels, pixels)))
    return pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)


def test_cifar10(tmp_path):
    images = cifar_file(tmp_path / "data_batch_1.bin", [3, 9, 0])
    cifar_file(tmp_path / "test_batch.bin", [5], seed=1)
    data = ds.Cifar10Dataset(str(tmp_path), "train", shuffle=False)
    rows = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert [int(row["label"]) for row in rows] == [3, 9, 0]
    assert all(np.array_equal(row["image"], image) for row, image in zip(rows, images))
    assert data.output_types() == [np.dtype("uint8"), np.dtype("int32")]
    assert data.num_classes() == 10
    assert len(ds.Cifar10Dataset(dataset_dir=str(tmp_path))) == 4
    with pytest.raises(ValueError, match="usage"):
        ds.Cifar10Dataset(str(tmp_path), "valid")
    with pytest.raises(RuntimeError):
        len(ds.Cifar10Dataset(str(tmp_path / ".."), "train"))


def test_mnist(tmp_path):
    pixels = np.arange(2 * 784, dtype=np.uint8).reshape(2, 28, 28)
    header = b"".join(n.to_bytes(4, "big") for n in (2051, 2, 28, 28))
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(header + pixels.tobytes())
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes((2049).to_bytes(4, "big") + (2).to_bytes(4, "big") + bytes([7, 2]))
    row = next(ds.MnistDataset(str(tmp_path), shuffle=False).create_dict_iterator(output_numpy=True))
    assert np.array_equal(row["image"], pixels[0][:, :, None]) and row["label"] == 7 and row["label"].dtype == np.int32
    assert isinstance(ds.FashionMnistDataset(str(tmp_path)), ds.MnistDataset)


def png(pixels):
    """Returns the bytes of an RGB image file."""
    def chunk(name, body):
        return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")

    height, width = pixels.shape[:2]
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture
def folder(tmp_path):
    """Returns a folder with two classes, b with two images and a with one; image k is filled with 10 * k."""
    for k, name in enumerate(["b/0.png", "b/1.png", "a/0.png"]):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(png(np.full((4, 6, 3), 10 * k, np.uint8)))
    return tmp_path


def test_image_folder(folder):
    data = ds.ImageFolderDataset(str(folder), shuffle=False, decode=True)
    rows = list(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert [(int(row["label"]), int(row["image"][0, 0, 0])) for row in rows] == [(0, 20), (1, 0), (1, 10)]
    assert data.get_class_indexing() == {"a": 0, "b": 1} and data.num_classes() == 2
    assert data.output_shapes() == [[4, 6, 3], []]
    data = ds.ImageFolderDataset(folder, class_indexing={"b": 7}, shuffle=False).map(ds.vision.Decode(), "image")
    assert data.get_class_indexing() == {"b": 7} and values(data, 1) == [7, 7]
    assert len(ds.ImageFolderDataset(str(folder), extensions=[".png"])) == 3


def test_image_folder_takes_every_file_and_follows_links(tmp_path):
    """As MindSpore 2.10.0 without `extensions`, except for folders, broken links and dot files, which it counts and cannot read."""
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    for path in (root / "a" / "sub", elsewhere / "c"):
        path.mkdir(parents=True)
    for name in ("1.jpg", "2.JPEG", "3.gif", "4.ppm", "hash", "readme.txt", ".hidden.jpg", "sub/5.jpg"):
        (root / "a" / name).write_bytes(b"x")
    (elsewhere / "6.jpg").write_bytes(b"y")
    (elsewhere / "c" / "7.jpg").write_bytes(b"z")
    (root / "a" / "link.jpg").symlink_to(elsewhere / "6.jpg")
    (root / "a" / "broken.jpg").symlink_to(elsewhere / "nothing.jpg")
    (root / "c").symlink_to(elsewhere / "c")
    data = ds.ImageFolderDataset(str(root), shuffle=False)
    assert len(data) == 8 and data.get_class_indexing() == {"a": 0, "c": 1}
    assert [(bytes(row["image"]), int(row["label"])) for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)][-3:] == [(b"y", 0), (b"x", 0), (b"z", 1)]
    assert len(ds.ImageFolderDataset(str(root), extensions=[".jpg"])) == 4  # .hidden.jpg matches, too


def test_image_folder_errors(folder):
    for make in (ds.ImageFolderDataset, ds.MnistDataset, ds.FashionMnistDataset, ds.Cifar10Dataset, ds.Cifar100Dataset):
        for error in (RuntimeError, ValueError):  # of 1.x and of 2.x
            with pytest.raises(error, match="nowhere.*missing"):
                make(str(folder / "nowhere"))
        (folder / "file").touch()
        with pytest.raises(ValueError, match="a file"):
            make(str(folder / "file"))
    with pytest.raises(RuntimeError):
        len(ds.ImageFolderDataset(str(folder), extensions=[".jpg"]))
    with pytest.raises(TypeError):
        ds.ImageFolderDataset(5)
    with pytest.raises(TypeError):
        ds.ImageFolderDataset(str(folder), class_indexing={"a": "x"})


@pytest.mark.parametrize("options", [{"shuffle": True, "sampler": ds.SequentialSampler()},
                                     {"num_shards": 2, "shard_id": 0, "sampler": ds.SequentialSampler()},
                                     {"num_shards": 2}, {"num_shards": 2, "shard_id": 2}])
def test_options_that_exclude_each_other(options):
    for kind in (ValueError, RuntimeError):
        with pytest.raises(kind):
            ds.NumpySlicesDataset([1, 2], **options)


@pytest.mark.parametrize("name, part", [("TFRecordDataset", "record files"), ("MindDataset", "record files"), ("CLUEDataset", "BERT")])
def test_record_files_are_not_there_yet(name, part):
    with pytest.raises(NotImplementedError, match=part):
        getattr(ds, name)("file")


def test_csv(tmp_path):
    def file(name, text):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    def read(*arguments, **options):
        data = ds.CSVDataset(*arguments, shuffle=False, **options)
        return data.get_col_names(), [[column.tolist() for column in row] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]

    # Recorded from MindSpore 2.10.0.
    plain, named = file("plain.csv", 'a;1;"x;y"\r\n\r\nb;2;z\r\n'), file("named.csv", "p,q\n1,2\n3,4\n")
    assert read(plain, ";", ["", 0], ["u", "v", "w"]) == (["u", "v", "w"], [["a", 1, "x;y"], ["b", 2, "z"]])
    assert read(named) == (["p", "q"], [["1", "2"], ["3", "4"]]) and read(named, num_shards=2, shard_id=1)[1] == [["3", "4"]]
    data = ds.CSVDataset(named, column_defaults=[0, 0.5], shuffle=False)
    assert (data.output_types(), data.output_shapes(), len(data)) == ([np.dtype("int32"), np.dtype("float32")], [[], []], 2)
    assert sorted(values(ds.CSVDataset([named], column_defaults=[0]).batch(2))[0]) == [1, 3]
    for text, defaults in (("1,2\n3\n", [0]), ("1,x\n", [0, 0]), ("3000000000,1\n", [0, 0]), ('a "b",1\n"c"d,1\n', [])):
        with pytest.raises(RuntimeError, match=r"bad.csv, line \d"):
            read(file("bad.csv", text), column_defaults=defaults, column_names=["a", "b"])
    for options in ({"field_delim": ";;"}, {"column_names": ["a", "a"]}, {"column_defaults": [0] * 3}):
        with pytest.raises(ValueError):
            read(named, **options)


@pytest.mark.parametrize("error", [IndexError, ValueError, KeyError])
def test_an_error_without_text_says_where_it_was_raised(error):
    class Source:
        def __len__(self):
            return 10

        def __getitem__(self, index):
            if index == 4:
                raise error
            return (np.float32(index),)

    with pytest.raises(error, match="row 4"):
        list(ds.GeneratorDataset(Source(), ["x"], shuffle=False).create_tuple_iterator(output_numpy=True))
