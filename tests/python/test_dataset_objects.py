"""Columns of Python objects (dicts, text from a map), rows that wait for the training loop, tokenizers, and sources with little information about themselves.
Values
were recorded from MindSpore 2.10.0 unless noted.
"""
import warnings

import numpy as np
import pytest

import sindri as ms
import sindri.dataset as ds
from sindri.dataset import text


def source(rows, names, **kwargs):
    return ds.GeneratorDataset(rows, names, shuffle=False, **kwargs)


def rows_of(data, numpy=True):
    return list(data.create_dict_iterator(num_epochs=1, output_numpy=numpy))


ROWS = [(np.array([1, 2]), {"a": np.array([1., 2.]), "b": [1, 2]}), (np.array([3, 4]), {"a": np.array([3.]), "b": "t", "c": {"d": 5}})]


def test_a_dict_in_a_column_stays_one():
    got = rows_of(source(ROWS, ["x", "d"]))
    assert [sorted(row["d"]) for row in got] == [["a", "b"], ["a", "b", "c"]]
    assert np.array_equal(got[0]["d"]["a"], [1., 2.]) and isinstance(got[0]["d"]["b"], list)
    assert [type(v) for v in got[0]["d"]["b"]] == [np.ndarray] * 2 and [int(v) for v in got[0]["d"]["b"]] == [1, 2]
    assert got[1]["d"]["b"] == "t" and int(got[1]["d"]["c"]["d"]) == 5
    tensors = rows_of(source(ROWS, ["x", "d"]), numpy=False)
    assert isinstance(tensors[0]["d"]["a"], ms.Tensor) and isinstance(tensors[0]["d"]["b"][1], ms.Tensor) and isinstance(tensors[1]["d"]["b"], np.ndarray)
    data = source(ROWS, ["x", "d"])
    assert data.output_types() == [np.int64, np.dtype(object)] and data.output_shapes() == [[2], [0]] and len(data) == 2
    assert ROWS[0][1]["b"] == [1, 2]  # the source's object is not modified


def test_dicts_pass_through_the_operations():
    data = source(ROWS, ["x", "d"]).map(lambda d: d["a"] * 2, "d")
    assert [row["d"].tolist() for row in rows_of(data)] == [[2., 4.], [6.]]
    data = source(ROWS, ["x", "d"]).map(lambda x: {"k": x + 1, "n": len(x)}, "x")
    assert [row["x"]["k"].tolist() for row in rows_of(data)] == [[2, 3], [4, 5]]
    assert len(rows_of(source(ROWS, ["x", "d"]).filter(lambda d: "c" in d, "d"))) == 1
    assert len(rows_of(source(ROWS, ["x", "d"]).shuffle(2).repeat(2).take(3))) == 3
    zipped = ds.zip((source(ROWS, ["x", "d"]), source([(np.array(7),), (np.array(8),)], ["y"])))
    assert [(int(row["y"]), sorted(row["d"])) for row in rows_of(zipped)] == [(7, ["a", "b"]), (8, ["a", "b", "c"])]
    assert [int(row["d"]["a"]) for row in rows_of(source([{"a": 1}, {"a": 2}], ["d"]))] == [1, 2]  # the dict is the only column
    assert [int(row["a"]) for row in rows_of(source([{"a": 1}, {"a": 2}], ["a"]))] == [1, 2]  # Sindri's rule: a dict names columns
    with pytest.raises(TypeError, match="column 'd' holds dicts, of which no batch can be made"):
        rows_of(source(ROWS, ["x", "d"]).batch(2))
    with pytest.raises(TypeError, match="column 'd' of a batch is a dict"):
        rows_of(source(ROWS, ["x", "d"]).batch(2, per_batch_map=lambda x, d, info: (x, {"n": len(d)})))


def test_a_map_may_return_text():
    def data(function, *args, **kwargs):
        return source([(np.array([i, i + 1]),) for i in range(4)], ["x"]).map(function, *args, **kwargs)

    assert [str(row["x"]) for row in rows_of(data(lambda x: f"v{x[0]}", "x"))] == ["v0", "v1", "v2", "v3"]
    assert rows_of(data(lambda x: np.array(["a", "b"]), "x"))[0]["x"].tolist() == ["a", "b"]
    assert rows_of(data(lambda x: ["a", "b"], "x"))[3]["x"].tolist() == ["a", "b"]
    assert rows_of(data(lambda x: b"abc", "x"))[0]["x"].dtype == "S3"
    got = rows_of(data(lambda x: (f"v{x[0]}", x + 1), "x", ["t", "y"]).batch(2))
    assert [row["t"].tolist() for row in got] == [["v0", "v1"], ["v2", "v3"]] and [row["y"].tolist() for row in got] == [[[1, 2], [2, 3]], [[3, 4], [4, 5]]]
    # Text as input of a later operation, a second map that returns text, a size that has to be counted, and types requested first.
    chain = data(lambda x: f"one {x[0]}", "x").map(text.WhitespaceTokenizer(), "x").map(lambda words: words[1], "x").filter(lambda word: word != "2")
    assert chain.output_types()[0].kind == "U" and len(chain) == 3
    assert [str(row["x"]) for row in rows_of(chain)] == ["0", "1", "3"]
    assert [[str(row[0]) for row in chain] for _ in range(2)] == [["0", "1", "3"]] * 2
    iterator = data(lambda x: str(x[0]), "x").create_tuple_iterator(num_epochs=2)
    assert [[str(row[0]) for row in iterator] for _ in range(2)] == [["0", "1", "2", "3"]] * 2
    with pytest.raises(TypeError, match="gave a str after rows of numbers"):
        rows_of(data(lambda x: "late" if x[0] == 3 else x, "x", num_parallel_workers=1))
    with pytest.raises(ms.DTypeError, match="NoneType, a Python object that no column holds"):
        rows_of(data(lambda x: None, "x"))


def test_two_iterators_of_a_map_that_turns_out_to_give_text():
    data = source([(np.array(i),) for i in range(3)], ["x"]).map(lambda x: str(x), "x")
    first, second = data.create_tuple_iterator(num_epochs=1), data.create_tuple_iterator(num_epochs=1)
    assert [str(row[0]) for row in first] == ["0", "1", "2"] == [str(row[0]) for row in second]


def test_rows_of_numbers_are_computed_once():
    calls = []
    data = source([(np.array(i),) for i in range(5)], ["x"]).map(lambda x: calls.append(int(x)) or x, "x", num_parallel_workers=1)
    assert len(rows_of(data)) == 5 and sorted(calls) == [0, 1, 2, 3, 4]


def test_weights_for_the_first_rows_only():
    def drawn(weights, **kwargs):
        data = ds.GeneratorDataset([(np.array(i),) for i in range(6)], ["x"], sampler=ds.WeightedRandomSampler(weights, **kwargs))
        return [int(row["x"]) for row in rows_of(data)]

    assert set(drawn([0.5, 0., 1.], num_samples=6)) <= {0, 2} and len(drawn([1., 1.])) == 6
    assert sorted(drawn([1., 2., 3.], num_samples=3, replacement=False)) == [0, 1, 2]
    for weights, kwargs in (([1.] * 7, {}), ([1., 1.], {"replacement": False})):
        with pytest.raises(RuntimeError):
            drawn(weights, **kwargs)


def test_shuffle_of_a_source_that_can_only_be_iterated_keeps_its_order():
    def rows():
        for i in range(5):
            yield (np.array(i),)

    class Iterable:
        def __iter__(self):
            return rows()

    for given in (rows, Iterable()):
        with pytest.warns(RuntimeWarning, match="shuffle=True has no effect"):
            data = ds.GeneratorDataset(given, ["x"], shuffle=True)
        assert [int(row["x"]) for row in rows_of(data)] == [0, 1, 2, 3, 4]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ds.GeneratorDataset(given, ["x"], shuffle=False)
        with pytest.raises(TypeError, match="shuffle"):
            ds.GeneratorDataset(given, ["x"], shuffle=3)


class Policy:
    def __init__(self):
        self.value = 0

    def apply(self, x):
        return (np.array(self.value + int(x)),)

    def update(self, data):
        self.value = data["loss"]


def test_sync_wait_lets_transforms_follow_the_training():
    policy = Policy()
    data = ds.NumpySlicesDataset(list(range(8)), ["x"], shuffle=False).sync_wait(condition_name="policy", callback=policy.update)
    data = data.map(policy.apply, ["x"]).batch(2)
    assert data.get_dataset_size() == 4 and data.get_col_names() == ["x"]
    for _ in range(2):
        policy.value, seen = 0, []
        for i, row in enumerate(data.create_dict_iterator(num_epochs=1, output_numpy=True)):
            seen.append(row["x"].tolist())
            data.sync_update(condition_name="policy", data={"loss": (i + 1) * 100})
        assert seen == [[0, 1], [102, 103], [204, 205], [306, 307]]


def test_sync_wait_holds_rows_back(monkeypatch):
    monkeypatch.setitem(ds.config._settings, "callback_timeout", 1)
    data = ds.NumpySlicesDataset(list(range(6)), ["x"], shuffle=False).sync_wait("p", num_batch=2).batch(2)
    rows = data.create_tuple_iterator(num_epochs=1)
    next(rows), next(rows)
    with pytest.warns(RuntimeWarning, match=r"no call of sync_update for 1 seconds, rows no longer wait \| sync_wait\('p'\)"):
        assert next(rows)[0].asnumpy().tolist() == [4, 5]
    opened = ds.NumpySlicesDataset(list(range(6)), ["x"], shuffle=False).sync_wait("p")
    opened.disable_sync()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(rows_of(opened)) == 6
    for call, kind, message in ((lambda: data.sync_update("q"), RuntimeError, "no sync_wait has the condition 'q', known are p"),
                                (lambda: data.sync_wait("p"), RuntimeError, "there is a condition 'p' already"),
                                (lambda: data.sync_wait("r", num_batch=0), ValueError, "num_batch"), (lambda: data.sync_wait(3), TypeError, "condition_name"),
                                (lambda: data.sync_wait("r", callback=3), TypeError, "callback"),
                                (lambda: data.shuffle(2), RuntimeError, "shuffle before sync_wait")):
        with pytest.raises(kind, match=message):
            call()


def test_engine_has_the_configuration():
    from sindri.dataset import engine
    assert engine.config is ds.config


WORDS = "Welcome  to Beijing! 北京欢迎您 123 café"


@pytest.mark.parametrize("arguments, tokens", [
    ((r"\s+",), ["Welcome", "to", "Beijing!", "北京欢迎您", "123", "café"]),
    ((r"\s+", r"\s+"), ["Welcome", "  ", "to", " ", "Beijing!", " ", "北京欢迎您", " ", "123", " ", "café"]),
    ((r"[\p{Han}]", r"[\p{Han}]"), ["Welcome  to Beijing! ", "北", "京", "欢", "迎", "您", " 123 café"]),
    ((r"\P{Han}",), ["北京欢迎您"]), ((r"\p{Lu}|\p{N}+",), ["elcome  to ", "eijing! 北京欢迎您 ", " café"]),  # Sindri's rule: Python's patterns
    (("x",), [WORDS]), (("(o)", "o"), ["Welc", "o", "me  t", "o", " Beijing! 北京欢迎您 123 café"]), (("",), list(WORDS)),
    ((r"\W", "[!]"), ["Welcome", "to", "Beijing", "!", "北京欢迎您", "123", "café"]),
    ((r"\s", r"\s{2}"), ["Welcome", "to", "Beijing!", "北京欢迎您", "123", "café"])])
def test_regex_tokenizer(arguments, tokens):
    assert text.RegexTokenizer(*arguments)(np.array(WORDS)).tolist() == tokens


def test_regex_tokenizer_edges():
    words, begin, end = text.RegexTokenizer(r"\s+", r"\s+", True)(np.array(WORDS))
    assert len(words) == 11 and begin.tolist() == [0, 7, 9, 11, 12, 20, 21, 36, 37, 40, 41] and end.tolist() == [7, 9, 11, 12, 20, 21, 36, 37, 40, 41, 46]
    assert begin.dtype == np.uint32
    for given, tokens in (("", [""]), ("   ", [""]), (" a  b ", ["a", "b"])):
        assert text.RegexTokenizer(r"\s+")(np.array(given)).tolist() == tokens
    for pattern in ("[", r"\p{Nothing}"):
        with pytest.raises(RuntimeError, match="is not a regular expression"):
            text.RegexTokenizer(pattern)
    data = ds.NumpySlicesDataset([WORDS], ["t"]).map(text.RegexTokenizer(" "), "t")
    assert len(rows_of(data)[0]["t"]) == 6


@pytest.mark.parametrize("given, tokens", [
    (WORDS, ["Welcome", "  ", "to", " ", "Beijing", "!", " ", "北京欢迎您", " ", "123", " ", "café"]), ("", [""]), ("   ", ["   "]), ("a1b2", ["a", "1", "b", "2"]),
    ("Привет мир", ["Привет", " ", "мир"]), ("日本語カタカナひらがな", ["日本語", "カタカナ", "ひらがな"]), ("abc,def.", ["abc", ",", "def", "."]),
    ("a\tb\n", ["a", "\t", "b", "\n"]), ("한국어 text", ["한국어", " ", "text"]), ("x=1+2", ["x", "=1+2"]), ("αβγ latin", ["αβγ", " ", "latin"]),
    ("a\u0310b", ["a", "\u0310", "b"]), ("👍 ok", ["👍", " ", "ok"]), ("क्षि", ["क्षि"]), ("- a -", ["-", " ", "a", " ", "-"]), ("。、", ["。、"])])
def test_unicode_script_tokenizer(given, tokens):
    assert text.UnicodeScriptTokenizer(True)(np.array(given)).tolist() == tokens
    assert text.UnicodeScriptTokenizer()(np.array(given)).tolist() == ([t for t in tokens if not t.isspace()] or [""])


def test_unicode_script_tokenizer_offsets():
    words, begin, end = text.UnicodeScriptTokenizer(False, True)(np.array(WORDS))
    assert words.tolist() == ["Welcome", "to", "Beijing", "!", "北京欢迎您", "123", "café"]
    assert begin.tolist() == [0, 9, 12, 19, 21, 37, 41] and end.tolist() == [7, 11, 19, 20, 36, 40, 46]
