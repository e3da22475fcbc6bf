"""sindri.dataset: operations, samplers, sizes, iterators. Row orders and sizes without a comment were recorded from MindSpore 2.10.0."""
import copy
import json

import numpy as np
import pytest

import sindri as ms
import sindri.dataset as ds
from dataset_rows import Pairs, fresh_settings, numbers, seven, values  # noqa: F401


class Ragged:
    def __getitem__(self, i):
        return np.arange(i + 1)

    def __len__(self):
        return 4


# Operations.


def test_batch():
    assert values(numbers(5).batch(2)) == [[0, 1], [2, 3], [4]]
    assert values(numbers(10).batch(4, True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [len(numbers(10).batch(4)), len(numbers(10).batch(4, drop_remainder=True)), numbers().batch(4).get_batch_size(),
            len(numbers().batch(4).repeat(3))] == [3, 2, 4, 9]


@pytest.mark.parametrize("size, kind", [(0, ValueError), (1.5, TypeError), ("a", TypeError), (True, TypeError)])
def test_batch_size_is_checked(size, kind):
    with pytest.raises(kind):
        numbers().batch(size)


def test_batch_of_rows_that_differ():
    for kind in ({}, {"per_batch_map": lambda x, info: x}):
        with pytest.raises(RuntimeError, match="rows before it"):
            values(ds.GeneratorDataset(Ragged(), ["x"], shuffle=False).batch(2, **kind))


def test_no_batches_is_an_error():
    # MindSpore returns 0 and reads nothing; here a size of 0 is an error, and Model.train needs a ValueError.
    for kind in (ValueError, RuntimeError):
        with pytest.raises(kind):
            numbers(3).batch(20, True).get_dataset_size()
    with pytest.raises(ds.EmptyDatasetError, match="3 rows, batch_size=20"):
        next(iter(numbers(3).batch(20, True)))


def test_columns_can_exchange_their_names():
    data = ds.NumpySlicesDataset({"a": np.arange(2), "b": np.arange(2.0)}, shuffle=False).rename(["a", "b"], ["b", "a"])
    assert data.get_col_names() == ["b", "a"] and data.output_types() == [np.dtype("int64"), np.dtype("float64")]
    assert next(data.create_dict_iterator(output_numpy=True))["b"].dtype == np.int64


def test_the_seed_set_last_holds():
    ds.config.set_seed(4)
    assert ds.config.get_seed() == 4
    ms.set_seed(9)
    assert ds.config.get_seed() == 9
    by_common = values(ds.NumpySlicesDataset(np.arange(20), ["x"]))
    ds.config.set_seed(9)
    assert values(ds.NumpySlicesDataset(np.arange(20), ["x"])) == by_common
    ds.config.set_seed(4)
    assert ds.config.get_seed() == 4 and values(ds.NumpySlicesDataset(np.arange(20), ["x"])) != by_common


def test_skipping_all_rows_leaves_none():
    for make in (lambda: numbers(3).skip(3), lambda: numbers(3).skip(9).batch(2, True).repeat(2), lambda: numbers(3).map(lambda x: x, "x").skip(5),
                 lambda: ds.GeneratorDataset(seven, ["x"]).skip(9), lambda: numbers(3).skip(1).skip(2)):
        assert (make().get_dataset_size(), values(make()), make().output_shapes(), make().output_types()) == (0, [], [], [])
    iterator = numbers(3).skip(5).create_dict_iterator(num_epochs=2)
    assert [list(iterator) for _ in range(3)] == [[], [], []]
    assert values(numbers(3).skip(3) + numbers(2)) == [0, 1]
    with pytest.raises(ds.EmptyDatasetError):
        numbers(5).skip(1).batch(7, True).get_dataset_size()
    with pytest.raises(ValueError, match="the dataset is empty"):
        ms.Model(ms.nn.Dense(1, 1)).train(1, numbers(3).skip(3))


def test_batch_size_of_a_function():
    data = numbers(7).batch(lambda info: info.get_batch_num() + 1)
    assert values(data) == [[0], [1, 2], [3, 4, 5], [6]]
    assert data.get_dataset_size() == 4


def test_per_batch_map():
    def number(x, info):
        return ([a * 10 + info.get_batch_num() for a in x],)

    assert values(numbers(5).batch(2, per_batch_map=number, input_columns=["x"])) == [[0, 10], [21, 31], [42]]
    data = numbers(5).batch(2, per_batch_map=lambda x, info: (x, [np.array(info.get_epoch_num())] * len(x)), input_columns=["x"],
                            output_columns=["x", "e"])
    assert data.get_col_names() == ["x", "e"]
    iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [[c.tolist() for c in row] for row in iterator] == [[[0, 1], [0, 0]], [[2, 3], [0, 0]], [[4], [0]]]
    assert [row[1].tolist() for row in iterator] == [[1, 1], [1, 1], [1]]
    with pytest.raises(ValueError):
        numbers().batch(2, input_columns=["x"])
    with pytest.raises(RuntimeError, match="gave 1 columns, expected 2"):
        values(numbers().batch(2, per_batch_map=lambda x, info: (x,), input_columns=["x"], output_columns=["a", "b"]))


def test_padded_batch():
    ragged = lambda: ds.GeneratorDataset(Ragged(), ["x"], shuffle=False)  # noqa: E731
    assert values(ragged().padded_batch(2, pad_info={})) == [[[0, 0], [0, 1]], [[0, 1, 2, 0], [0, 1, 2, 3]]]
    assert values(ragged().padded_batch(2, pad_info={"x": ([5], -1)})) == [[[0, -1, -1, -1, -1], [0, 1, -1, -1, -1]],
                                                                           [[0, 1, 2, -1, -1], [0, 1, 2, 3, -1]]]
    assert values(ragged().batch(3, drop_remainder=True, pad_info={"x": ([None], 9)})) == [[[0, 9, 9], [0, 1, 9], [0, 1, 2]]]
    assert ragged().padded_batch(3).get_dataset_size() == 2
    with pytest.raises(TypeError):
        ragged().padded_batch(2, pad_info=5)
    with pytest.raises(RuntimeError, match="no column 'y'"):
        values(ragged().padded_batch(2, pad_info={"y": ([5], 0)}))


def test_bucket_batch_by_length():
    data = ds.GeneratorDataset(Ragged(), ["x"], shuffle=False).bucket_batch_by_length(["x"], [3], [2, 1], element_length_function=len,
                                                                                      pad_info={"x": ([None], 0)})
    assert values(data) == [[[0, 0], [0, 1]], [[0, 1, 2]], [[0, 1, 2, 3]]]
    for pad_info, second in [(None, [[0, 1, 2, 0], [0, 1, 2, 3]]), ({"x": ([None], 0)}, [[0, 1, 2, 0, 0], [0, 1, 2, 3, 0]])]:
        data = ds.GeneratorDataset(Ragged(), ["x"], shuffle=False)
        data = data.bucket_batch_by_length(["x"], [3, 6], [2, 2, 1], pad_info=pad_info, pad_to_bucket_boundary=True)
        assert values(data) == [[[0, 0], [0, 1]], second]
    with pytest.raises(RuntimeError, match="last boundary 3"):
        values(ds.GeneratorDataset(Ragged(), ["x"], shuffle=False).bucket_batch_by_length(["x"], [3], [2, 2], pad_info={"x": ([None], 0)},
                                                                                          pad_to_bucket_boundary=True))
    with pytest.raises(ValueError, match="bucket_batch_sizes"):
        numbers().bucket_batch_by_length(["x"], [3], [2])
    with pytest.raises(ValueError, match="grow"):
        numbers().bucket_batch_by_length(["x"], [3, 2], [2, 2, 2])


def test_map_columns():
    three = lambda: ds.zip((numbers(), numbers().rename("x", "y"), numbers().rename("x", "z")))  # noqa: E731
    assert three().map(lambda a, b: a + b, ["z", "x"], ["s"]).get_col_names() == ["s", "y"]
    assert three().map(lambda a, b: (a, b, a), ["z", "x"], ["s", "t", "u"]).get_col_names() == ["s", "t", "u", "y"]
    assert three().map(lambda a, b: (a, b), ["z", "x"], ["s", "t"]).get_col_names() == ["t", "y", "s"]
    assert numbers().map(lambda x: (x, x + 1), ["x"], ["a", "b"], ["b", "a"]).get_col_names() == ["b", "a"]
    assert values(numbers(3).map(lambda x: (x, x + 1), ["x"], ["a", "b"]), 1) == [1, 2, 3]
    assert values(numbers(4).map([lambda x: (x, x + 1), lambda a, b: a * b], ["x"], ["p"])) == [0, 2, 6, 12]
    assert values(numbers(4).map(lambda x: x * 2, "x")) == [0, 2, 4, 6]
    assert values(numbers(4).map(input_columns="x", operations=lambda x: x * 2)) == [0, 2, 4, 6]
    assert values(numbers(4).map(lambda x: x * 2)) == [0, 2, 4, 6]
    assert values(numbers(2).map(lambda x: x + 1, "x", None, 2)) == [1, 2]  # 2.x: num_parallel_workers is the fourth argument
    assert values(numbers(4).batch(2).map(lambda x: x.sum(), "x")) == [1, 5]


def test_map_types():
    data = numbers(2).map([ds.transforms.TypeCast(ms.float16), lambda x: x + np.float16(0.5)], "x")
    assert data.output_types() == [np.dtype("float16")] and values(data) == [0.5, 1.5]
    assert ds.NumpySlicesDataset([1, 2]).map(ds.transforms.TypeCast(ms.bfloat16)).output_types() == [ms.bfloat16]


def test_map_errors():
    for operations in (None, "s", 5):
        with pytest.raises(ValueError):
            numbers().map(operations)
    with pytest.raises(ValueError, match="is a class"):
        numbers().map(ds.vision.HWC2CHW)
    with pytest.raises(ValueError, match="twice"):
        numbers().map(lambda x: x, ["x", "x"])
    for kind in (RuntimeError, ValueError):
        with pytest.raises(kind, match="no column 'y'"):
            values(numbers().map(lambda x: x, ["y"]))
    with pytest.raises(RuntimeError, match="gave 2 columns, expected 1"):
        values(numbers().map(lambda x: (x, x), ["x"]))
    with pytest.raises(RuntimeError, match="gave 1 columns, expected 2"):
        values(numbers().map(lambda x: [x, x], ["x"], ["a", "b"]))  # a list is one value
    with pytest.raises(RuntimeError, match="name of another column"):
        ds.zip((numbers(), numbers().rename("x", "y"))).map(lambda a: a, ["x"], ["y"]).get_col_names()
    with pytest.raises(TypeError, match="did you mean 'input_columns'"):
        numbers().map(lambda x: x, input_column="x")


def test_a_failed_use_leaves_the_data_set_usable():
    data = numbers(4)
    with pytest.raises(ValueError):
        data.batch(0)
    bad = data.map(lambda x: x, "y")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no column 'y'"):
            len(bad)
    assert len(data) == 4


def test_tree():
    data = numbers()
    first = data.batch(2)
    with pytest.raises(ValueError, match="not a tree.*NumpySlicesDataset.*BatchDataset.*TakeDataset"):
        data.take(1)
    assert len(first) == 5
    assert len(data) == 10  # reading a dataset does not count as a use in the tree
    assert values(data) == list(range(10))


def test_take_skip_repeat_shuffle():
    assert values(numbers().take(3)) == [0, 1, 2] and len(numbers().take(-1)) == 10
    assert values(numbers().skip(8)) == [8, 9]
    assert values(numbers(3).repeat(2)) == [0, 1, 2, 0, 1, 2]
    assert (numbers(3).repeat(2).get_repeat_count(), numbers(3).repeat(2).repeat(3).get_repeat_count(),
            numbers(3).repeat().get_repeat_count()) == (2, 6, -1)
    assert len(numbers(3).repeat(2)) == 6 and numbers(3).repeat().get_dataset_size() == -1
    endless = numbers(3).repeat().create_tuple_iterator(output_numpy=True)
    assert [int(next(endless)[0]) for _ in range(8)] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert values(numbers(3).batch(2).repeat(2)) == [[0, 1], [2], [0, 1], [2]]
    assert values(numbers(3).repeat(2).batch(4)) == [[0, 1, 2, 0], [1, 2]]
    assert values(numbers().shuffle(1)) == list(range(10))
    mixed = values(numbers(100).shuffle(10))
    assert sorted(mixed) == list(range(100)) and mixed != sorted(mixed)
    assert all(place <= value + 9 + 90 and value <= place + 9 for place, value in enumerate(mixed))  # a row comes out at most 9 positions early


@pytest.mark.parametrize("call", [lambda d: d.take(0), lambda d: d.take(-2), lambda d: d.skip(-1), lambda d: d.repeat(0), lambda d: d.shuffle(0)])
def test_counts_are_checked(call):
    with pytest.raises(ValueError):
        call(numbers())


def test_zip_and_concat():
    assert values(ds.zip((numbers(5), numbers(3).rename("x", "y"))), 1) == [0, 1, 2]
    assert numbers(5).zip(numbers(3).rename("x", "y")).get_col_names() == ["x", "y"]
    assert values(numbers(3) + numbers(2)) == [0, 1, 2, 0, 1]
    assert values(numbers(3).concat([numbers(1), numbers(2)])) == [0, 1, 2, 0, 0, 1]
    with pytest.raises(RuntimeError, match="column 'x'"):
        ds.zip((numbers(), numbers())).get_col_names()
    with pytest.raises(TypeError):
        ds.zip(numbers())
    with pytest.raises(RuntimeError, match="differ"):
        values(numbers(3) + numbers(2).rename("x", "y"))


def test_rename_and_project():
    two = lambda: ds.zip((numbers(2), numbers(2).rename("x", "y")))  # noqa: E731
    assert two().rename(["x", "y"], ["a", "b"]).get_col_names() == ["a", "b"]
    assert two().project("y").get_col_names() == ["y"] and two().project(["y", "x"]).get_col_names() == ["y", "x"]
    with pytest.raises(ValueError, match="1 input_columns and 2"):
        numbers().rename(["x"], ["y", "z"])
    with pytest.raises(RuntimeError, match="no column 'z'"):
        two().project("z").get_col_names()


def test_filter_and_flat_map():
    assert values(numbers().filter(lambda x: x % 2 == 0, ["x"])) == [0, 2, 4, 6, 8]
    assert numbers().filter(lambda x: x % 2 == 0, ["x"]).get_dataset_size() == 5
    data = numbers().filter(lambda x: x > 3).map(lambda x: x * 10, "x").shuffle(1).skip(1).repeat(2).batch(4)
    assert values(data) == [[50, 60, 70, 80], [90, 50, 60, 70], [80, 90]] and len(data) == 3
    assert values(numbers(3).flat_map(lambda x: ds.NumpySlicesDataset([int(x)] * 2, shuffle=False))) == [0, 0, 1, 1, 2, 2]
    with pytest.raises(TypeError):
        numbers().filter(5)
    with pytest.raises(TypeError):
        values(numbers().flat_map(lambda x: 5))
    with pytest.raises(ds.EmptyDatasetError):
        numbers().filter(lambda x: False).get_dataset_size()


def test_operations_run_in_python_agree_with_those_in_cpp():
    def tree(data):
        other = numbers(6).map(lambda x: x * 100, "x").rename("x", "y")
        data = ds.zip((data, other)).project(["y", "x"]).map(lambda y, x: x + y, ["y", "x"], ["s"])
        return (data.skip(1) + numbers(2).rename("x", "s")).take(6).batch(4).repeat(2)

    native, pulled = tree(numbers(8)), tree(numbers(8).filter(lambda x: True))
    assert native._native() is not None and pulled._native() is None
    assert values(native) == values(pulled) == [[101, 202, 303, 404], [505, 0], [101, 202, 303, 404], [505, 0]]
    assert len(native) == len(pulled) == 4


def test_apply():
    assert values(numbers().apply(lambda data: data.take(2))) == [0, 1]
    with pytest.raises(TypeError):
        numbers().apply(lambda data: 5)


def test_split():
    assert [values(part) for part in numbers().split([7, 3], randomize=False)] == [[0, 1, 2, 3, 4, 5, 6], [7, 8, 9]]
    assert [values(part) for part in numbers().split([0.66, 0.34], randomize=False)] == [[0, 1, 2, 3, 4, 5, 6], [7, 8, 9]]
    assert [values(part) for part in numbers().map(lambda x: x + 1).split([7, 3], randomize=False)] == [[1, 2, 3, 4, 5, 6, 7], [8, 9, 10]]
    for data in (numbers(), numbers().map(lambda x: x, "x"), numbers().filter(lambda x: True)):
        first, second = data.split([0.7, 0.3])
        a, b = values(first), values(second)
        assert len(first) == len(a) == 7 and len(second) == len(b) == 3 and sorted(a + b) == list(range(10)) and a != list(range(7))
        assert values(first) == a  # the parts do not change
    with pytest.raises(RuntimeError, match="add up to 11"):
        numbers().split([7, 4])
    with pytest.raises(ValueError, match="add up to 1"):
        numbers().split([0.7, 0.4])
    with pytest.raises(RuntimeError, match="less than one row"):
        numbers().split([0.99, 0.01])


# Samplers and shards.


def test_shards():
    assert [values(numbers(7, num_shards=3, shard_id=i)) for i in range(3)] == [[0, 3, 6], [1, 4, 0], [2, 5, 1]]
    ds.config.set_seed(5)
    parts = [values(ds.NumpySlicesDataset(np.arange(8), num_shards=2, shard_id=i)) for i in range(2)]
    assert sorted(parts[0] + parts[1]) == list(range(8)) and parts[0] != [0, 2, 4, 6]


def sampled(sampler, n=10, **options):
    return values(numbers(n, shuffle=None, sampler=sampler, **options))


def test_samplers():
    assert sampled(ds.SequentialSampler(3, 4)) == [3, 4, 5, 6]
    assert sampled(ds.SubsetSampler([3, 1])) == [3, 1] and sampled(ds.SubsetSampler(4)) == [4] and sampled([2, 0, 2]) == [2, 0, 2]
    assert sorted(sampled(ds.SubsetRandomSampler([3, 1, 7]))) == [1, 3, 7]
    assert sorted(sampled(ds.RandomSampler())) == list(range(10)) and len(sampled(ds.RandomSampler(True, 15))) == 15
    assert sampled(ds.DistributedSampler(3, 1, shuffle=False)) == [1, 4, 7, 0]
    assert sampled(ds.SequentialSampler(), num_samples=2) == [0, 1]
    assert sampled(ds.IterSampler([5, 6])) == [5, 6]
    weighted = sampled(ds.WeightedRandomSampler([0, 1, 0, 3] + [0] * 6, 200))
    assert set(weighted) == {1, 3} and 2 < weighted.count(3) / weighted.count(1) < 4.5
    labels = ds.NumpySlicesDataset({"x": np.arange(6), "label": [0, 1, 0, 1, 0, 1]}, sampler=ds.PKSampler(2))
    assert values(labels) == [0, 2, 1, 3]


def test_sampler_that_changes_each_epoch():
    class Growing(ds.Sampler):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def __iter__(self):
            assert self.dataset_size == 10
            self.calls += 1
            return iter(range(self.calls))

    data = numbers(shuffle=None, sampler=Growing()).map(lambda x: x * 2, "x").batch(2)
    iterator = data.create_tuple_iterator(num_epochs=3, output_numpy=True)
    epochs = [[row[0].tolist() for row in iterator] for _ in range(3)]
    rows = [sum(len(batch) for batch in epoch) for epoch in epochs]
    assert rows[1] == rows[0] + 1 and rows[2] == rows[0] + 2 and epochs[2][0] == [0, 2]
    assert list(iterator) == []


def test_sampler_children():
    sampler = ds.SequentialSampler(1, 3)
    sampler.add_child(ds.SubsetSampler([9, 8, 7, 6, 5]))
    assert sampled(sampler) == [8, 7, 6]
    with pytest.raises(RuntimeError, match="child"):
        sampler.add_child(ds.RandomSampler())
    child = ds.DistributedSampler(2, 1, shuffle=False)
    child.add_child(ds.SubsetSampler([4, 3, 2]))
    assert sampled(child) == [3, 4]


@pytest.mark.parametrize("make, kind", [(lambda: ds.DistributedSampler(2, 2), RuntimeError), (lambda: ds.DistributedSampler("2", 0), TypeError),
                                        (lambda: ds.SubsetSampler([-1]), ValueError),
                                        (lambda: ds.RandomSampler(1), TypeError), (lambda: ds.WeightedRandomSampler([0, 0]), ValueError),
                                        (lambda: ds.PKSampler(0), ValueError),
                                        (lambda: sampled(5), TypeError), (lambda: sampled(ds.SubsetSampler([10])), ValueError),
                                        (lambda: sampled(ds.IterSampler([10])), RuntimeError)])
def test_sampler_errors(make, kind):
    with pytest.raises(kind):
        make()


def test_use_sampler_replaces():
    data = numbers()
    batches = data.batch(2)
    assert len(batches) == 5
    data.use_sampler(ds.SubsetSampler([3, 1]))
    assert values(batches) == [[3, 1]]


# Iterators.


def test_rows():
    data = ds.GeneratorDataset(Pairs(), ["a", "b"], shuffle=False)
    row = next(data.create_tuple_iterator())
    assert type(row) is list and isinstance(row[0], ms.Tensor) and row[1].dtype == ms.float64
    row = next(data.create_dict_iterator())
    assert type(row) is dict and list(row) == ["a", "b"] and isinstance(row["a"], ms.Tensor)
    assert type(data.create_dict_iterator(output_numpy=True).get_next()["a"]) is np.ndarray
    assert [int(a[0]) for a, b in data] == list(range(10))
    assert [row[0].item() for row in data.create_tuple_iterator(columns="b", num_epochs=1)] == [i / 2 for i in range(10)]
    with pytest.raises(RuntimeError, match="no column 'c'"):
        data.create_tuple_iterator(columns=["c"])
    with pytest.raises(ValueError):
        data.create_dict_iterator(num_epochs=0)
    with pytest.raises(TypeError):
        data.create_dict_iterator(output_numpy=1)


@pytest.mark.parametrize("wrap", [lambda data: data, lambda data: data.filter(lambda x: True)], ids=["native", "python"])
def test_epochs(wrap):
    iterator = wrap(numbers(3)).create_dict_iterator(num_epochs=2, output_numpy=True)
    assert [[int(row["x"]) for row in iterator] for _ in range(4)] == [[0, 1, 2], [0, 1, 2], [], []]
    iterator = wrap(numbers(4)).create_dict_iterator(output_numpy=True)
    first = []
    for row in iterator:
        first.append(int(row["x"]))
        if len(first) == 2:
            break
    assert first == [0, 1] and [int(row["x"]) for row in iterator] == [2, 3] and len(list(iterator)) == 4
    iterator.close()
    iterator.close()
    with pytest.raises(RuntimeError, match="closed"):
        next(iterator)


def test_order_depends_on_seed_and_epoch_only():
    def two_epochs(workers, prefetch=None):
        ds.config.set_num_parallel_workers(workers)
        if prefetch:
            ds.config.set_prefetch_size(prefetch)
        data = ds.NumpySlicesDataset(np.arange(50), ["x"]).map(lambda x, rng: x * 1000 + rng.integers(1000), "x").shuffle(7).batch(8)
        iterator = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
        return [[row[0].tolist() for row in iterator] for _ in range(2)]

    ds.config.set_seed(3)
    first = two_epochs(1)
    assert first[0] != first[1]
    assert two_epochs(2) == two_epochs(2, 64) == first
    ds.config.set_seed(4)
    assert two_epochs(1) != first
    ds.config.set_seed(3)
    data = ds.NumpySlicesDataset(np.arange(50), ["x"])
    assert values(data) == values(data)  # as in MindSpore: each iterator starts with epoch 0


def test_seed_of_sindri_counts():
    def order():
        return values(ds.NumpySlicesDataset(np.arange(20)))

    ms.set_seed(11)
    first = order()
    assert order() == first and ds.config.get_seed() == 11
    ms.set_seed(12)
    assert order() != first
    ds.config.set_seed(5)
    assert ds.config.get_seed() == 5


def test_state():
    ds.config.set_seed(9)
    data = ds.NumpySlicesDataset(np.arange(20), ["x"]).batch(3)
    iterator = data.create_tuple_iterator(output_numpy=True)
    list(iterator)
    for _ in range(2):
        next(iterator)
    state = json.loads(json.dumps(iterator.state_dict()))
    rest = [next(iterator)[0].tolist() for _ in range(5)]
    again = data.create_tuple_iterator(output_numpy=True)
    again.load_state_dict(state)
    assert [next(again)[0].tolist() for _ in range(5)] == rest
    assert again.seed == 9 and again.stats()["batches"] == 5
    other = ds.NumpySlicesDataset(np.arange(20), ["x"]).batch(4).create_tuple_iterator()
    with pytest.raises(RuntimeError, match="another pipeline"):
        other.load_state_dict(state)


def test_a_state_of_one_shard_is_one_of_all():
    """The state that rank 0 saved resumes every rank at the same position of its shard."""
    def shard(number, count=2):
        return ds.NumpySlicesDataset(np.arange(24), ["x"], num_shards=count, shard_id=number).batch(3).create_tuple_iterator(output_numpy=True)

    ds.config.set_seed(9)
    saved, other, again = shard(0), shard(1), shard(1)
    for _ in range(2):
        next(saved), next(other)
    again.load_state_dict(saved.state_dict())
    assert [next(again)[0].tolist() for _ in range(2)] == [next(other)[0].tolist() for _ in range(2)]
    with pytest.raises(RuntimeError, match="another pipeline"):
        shard(1, 3).load_state_dict(saved.state_dict())


def test_output_shapes_estimate():
    data = ds.GeneratorDataset(Ragged(), ["x"], shuffle=False)
    assert data.output_shapes() == [[1]] and data.output_shapes(estimate=True) == [[None]]
    assert numbers(3).batch(2).output_shapes(estimate=True) == [[None]]


def test_copies():
    data = numbers(4).batch(2)
    twin = copy.deepcopy(data)
    assert values(twin) == values(data)
    assert values(copy.deepcopy(data).repeat(2)) == [[0, 1], [2, 3]] * 2 and len(data) == 2


def test_arrays_stay_valid():
    kept = [row[0] for row in numbers(64).batch(2).create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert np.concatenate(kept).tolist() == list(range(64))


# Settings.


def test_config():
    assert ds.config.get_num_parallel_workers() >= 1 and ds.config.get_prefetch_size() == 16
    ds.config.set_num_parallel_workers(3)
    ds.config.set_prefetch_size(64)
    assert ds.config.get_num_parallel_workers() == 3 and ds.config.get_prefetch_size() == 64
    for name, value in [("numa_enable", True), ("monitor_sampling_interval", 50), ("callback_timeout", 5), ("enable_shared_mem", False),
                        ("sending_batches", 3),
                        ("auto_num_workers", True), ("auto_offload", True), ("enable_autotune", True), ("autotune_interval", 2),
                        ("enable_watchdog", False),
                        ("fast_recovery", False), ("multiprocessing_timeout_interval", 9), ("dynamic_shape", True)]:
        before = getattr(ds.config, f"get_{name}")()
        getattr(ds.config, f"set_{name}")(value)
        assert getattr(ds.config, f"get_{name}")() == value
        getattr(ds.config, f"set_{name}")(before)
    for call, value, kind in [("set_seed", -1, ValueError), ("set_seed", 1.5, TypeError), ("set_seed", 2**32, ValueError),
                              ("set_prefetch_size", 0, ValueError),
                              ("set_num_parallel_workers", 0, ValueError), ("set_numa_enable", 1, TypeError),
                              ("set_error_samples_mode", 1, TypeError)]:
        with pytest.raises(kind):
            getattr(ds.config, call)(value)


def test_config_load(tmp_path):
    path = tmp_path / "settings.json"
    path.write_text('{"seed": 17, "numParallelWorkers": 2, "rowsPerBuffer": 1}')
    ds.config.load(str(path))
    assert ds.config.get_seed() == 17 and ds.config.get_num_parallel_workers() == 2
    path.write_text('{"sed": 17}')
    with pytest.raises(ValueError, match="'sed'"):
        ds.config.load(str(path))
    with pytest.raises(RuntimeError):
        ds.config.load(str(tmp_path / "nothing.json"))


def test_cache_passes_through():
    cache = ds.DatasetCache(session_id=5, size=0, spilling=False)
    assert values(numbers(3).map(lambda x: x + 1, "x", cache=cache)) == [1, 2, 3]
    with pytest.raises(TypeError):
        numbers(3).map(lambda x: x, "x", cache=5)
    with pytest.raises(ValueError):
        ds.DatasetCache(session_id=0)


def test_import_paths():
    import sindri.dataset.transforms.c_transforms as c_transforms
    import sindri.dataset.vision.c_transforms as vision_c
    import sindri.dataset.vision.py_transforms as vision_py
    from sindri.dataset.core import config
    from sindri.dataset.engine import datasets, iterators, samplers
    from sindri.dataset.vision.utils import Inter
    assert datasets.Cifar10Dataset is ds.Cifar10Dataset and samplers.DistributedSampler is ds.DistributedSampler and iterators.DictIterator
    assert vision_c.Resize is ds.vision.Resize is vision_py.Resize and Inter is ds.vision.Inter is vision_c.Inter
    assert c_transforms.TypeCast is ds.transforms.TypeCast is ds.transforms.transforms.TypeCast and config is ds.config
    assert ds.Shuffle.GLOBAL == "global" and ds.Shuffle.FILES == "files"
