"""Python functions and sources inside the pipeline of C++ threads: exceptions, signals, threads, the end of the process."""
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import weakref

import numpy as np
import pytest

import sindri as ms
import sindri.dataset as ds


@pytest.fixture(autouse=True)
def _settings():
    yield
    ds.config._settings.update(seed=None, error_samples_mode=ds.config.ErrorSamplesMode.RETURN, debug_mode=False)


def numbers(n=10, **options):
    options.setdefault("shuffle", False)
    return ds.NumpySlicesDataset(np.arange(n), ["x"], **options)


def values(data):
    return [row[0].tolist() for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


class MyError(Exception):
    def __init__(self, number, text):
        super().__init__(number, text)
        self.number = number


def fails_at_three(x):
    if x == 3:
        raise MyError(3, "no threes")
    return x


def note_of(error):
    return " ".join(error.__notes__)


@pytest.mark.parametrize("wrap", [lambda data: data, lambda data: data.filter(lambda x: True)], ids=["native", "python"])
def test_exception_of_a_map_function(wrap):
    data = wrap(numbers(shuffle=False)).map([lambda x: x, fails_at_three], "x").batch(2)
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert next(iterator)[0].tolist() == [0, 1]
    for _ in range(2):  # the error persists, so that it cannot be mistaken for the end of the epoch
        with pytest.raises(MyError) as caught:
            next(iterator)
    assert caught.value.number == 3 and caught.value.args == (3, "no threes")
    assert "row 3" in note_of(caught.value) and "fails_at_three" in note_of(caught.value)
    assert any(frame.name == "fails_at_three" for frame in traceback.extract_tb(caught.value.__traceback__))


def test_exception_names_the_file(tmp_path):
    for name in ("a/1.png", "a/2.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"bytes")
    data = ds.ImageFolderDataset(str(tmp_path), shuffle=False).map(lambda x: 1 / 0, "image")
    with pytest.raises(ZeroDivisionError) as caught:
        values(data)
    assert "a/1.png" in note_of(caught.value) and "row 0" in note_of(caught.value)
    with pytest.raises(ds.BadSample, match="a/1.png") as caught:
        values(ds.ImageFolderDataset(str(tmp_path), shuffle=False).map(ds.vision.Decode(), "image"))
    assert isinstance(caught.value, ms.DataError) and caught.value.code == 3004


def test_exception_of_a_source():
    class Bad:
        def __getitem__(self, i):
            if i == 3:
                raise KeyError("bad row")
            return i

        def __len__(self):
            return 5

    with pytest.raises(KeyError, match="bad row") as caught:
        values(ds.GeneratorDataset(Bad(), ["x"], shuffle=False))
    assert "row 3" in note_of(caught.value)

    def source():
        yield (np.array(0),)
        raise MyError(1, "half way")

    for make in (source, Sized(source)):
        iterator = ds.GeneratorDataset(make, ["x"]).create_tuple_iterator(num_epochs=1, output_numpy=True)
        assert next(iterator)[0] == 0
        with pytest.raises(MyError) as caught:
            next(iterator)
        assert "row 1" in note_of(caught.value)


class Sized:
    """An iterable with a length, over a generator function."""

    def __init__(self, function, length=2):
        self.function, self.length = function, length

    def __iter__(self):
        return self.function()

    def __len__(self):
        return self.length


def test_source_shorter_than_it_says():
    with pytest.raises(RuntimeError, match="ended after 3 rows, expected 5"):
        values(ds.GeneratorDataset(Sized(lambda: iter([(1,), (2,), (3,)]), 5), ["x"]))


@pytest.mark.parametrize("wrap", [lambda data: data, lambda data: data.filter(lambda x: True)], ids=["native", "python"])
def test_stop_iteration_does_not_end_the_epoch(wrap):
    with pytest.raises(RuntimeError, match="StopIteration"):
        values(wrap(numbers()).map(lambda x: next(iter([])), "x"))


def test_exceptions_of_filters_and_batches():
    with pytest.raises(MyError) as caught:
        values(numbers().filter(fails_at_three))
    assert "row 3, filter" in note_of(caught.value)
    with pytest.raises(MyError):
        values(numbers().batch(2, per_batch_map=lambda x, info: [fails_at_three(v) for v in x]))
    with pytest.raises(TypeError, match="a Python object that no column holds"):
        values(numbers().map(lambda x: object(), "x"))


def test_error_of_the_first_row_wins():
    for _ in range(10):
        with pytest.raises(MyError) as caught:
            values(numbers(64).map(lambda x: (_ for _ in ()).throw(MyError(int(x), "any")), "x", num_parallel_workers=2).batch(16))
        assert caught.value.number == 0


def test_bad_samples_are_replaced_or_skipped():
    def odd_is_bad(x):
        if x % 2:
            raise ds.BadSample(f"{x} is odd")
        return x

    with pytest.raises(ds.BadSample, match="1 is odd"):
        values(numbers(6).map(odd_is_bad, "x"))
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.REPLACE)
    assert values(numbers(6).map(odd_is_bad, "x")) == [0, 2, 2, 4, 4, 0]
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
    assert values(numbers(6).map(odd_is_bad, "x").batch(2)) == [[0, 2], [4]]
    # Other exceptions never count as a bad sample.
    with pytest.raises(MyError):
        values(numbers(6).map(fails_at_three, "x").batch(2))


def test_bad_samples_are_counted():
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.REPLACE)
    iterator = numbers(6).map(lambda x: x if x != 4 else (_ for _ in ()).throw(ds.BadSample("four")), "x").create_tuple_iterator(num_epochs=1,
                                                                                                                                 output_numpy=True)
    assert [int(row[0]) for row in iterator] == [0, 1, 2, 3, 5, 5]
    (row, _, reason), = iterator.stats()["bad_samples"]
    assert row == 4 and "four" in reason and iterator.stats()["replaced"] == 1


def test_functions_get_and_give_arrays():
    seen = []

    def look(x, y):
        seen.append((type(x), x.dtype, y.shape, x.flags.writeable))
        return y[::-1], x.astype(np.float32) * 0.5

    data = ds.NumpySlicesDataset({"x": np.arange(3, dtype=np.int32), "y": np.arange(6).reshape(3, 2)}, shuffle=False)
    rows = list(data.map(look, ["x", "y"]).create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert seen[0] == (np.ndarray, np.dtype("int32"), (2,), True)
    assert [row[0].tolist() for row in rows] == [[1, 0], [3, 2], [5, 4]] and rows[2][1] == 1.0
    results = iter([True, 5, 2.5, ms.Tensor([1.5]), [1, 2], np.float16(3)])
    one_by_one = numbers(6).map(lambda x: next(results), "x", num_parallel_workers=1)  # one thread calls a list iterator
    kinds = [row[0].dtype for row in one_by_one.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert [str(kind) for kind in kinds] == ["bool", "int64", "float64", "float32", "int64", "float16"]


def test_what_passes_between_functions_may_be_anything():
    data = numbers(3).map([lambda x: {"value": int(x)}, lambda d: (d["value"], "text"), lambda v, t: v + len(t)], "x")
    assert values(data) == [4, 5, 6]


def test_rng_parameter():
    def draw(x, rng):
        return rng.integers(1 << 30)

    ds.config.set_seed(1)
    first = values(numbers(20).map(draw, "x", num_parallel_workers=1))
    assert values(numbers(20).map(draw, "x", num_parallel_workers=2)) == first and len(set(first)) == 20
    shards = [values(numbers(20, shuffle=False, num_shards=2, shard_id=i).map(draw, "x")) for i in range(2)]
    assert shards == [first[0::2], first[1::2]]  # a row's random numbers do not depend on the shards
    assert values(numbers(20).filter(lambda x: True).map(draw, "x")) == values(numbers(20).filter(lambda x: True).map(draw, "x"))
    ds.config.set_seed(2)
    assert values(numbers(20).map(draw, "x")) != first


def test_rng_streams_are_those_of_philox():
    from sindri.dataset import _transform
    for key in (0, 1, (1 << 64) - 1):
        reused = _transform._generators.take(key)
        expected = np.random.Generator(np.random.Philox(key=key))
        assert reused.integers(1 << 30, size=5).tolist() == expected.integers(1 << 30, size=5).tolist()
        assert reused.random() == expected.random()
        reused.integers(5, dtype=np.uint32)  # leaves half a word unused
        _transform._generators.give_back(reused)


def test_pipeline_inside_a_function():
    def total(x):
        return sum(values(numbers(int(x) + 1).map(lambda y: y * 2, "x")))

    assert values(numbers(5).map(total, "x", num_parallel_workers=2)) == [0, 2, 6, 12, 20]


def test_iterator_given_up_inside_a_function():
    """Its worker drops the last reference."""
    holder, dropped, done = [], threading.Event(), threading.Event()

    def drop(x):
        if x == 2:
            dropped.wait(30)
            holder.clear()
            done.set()
        return x

    iterator = numbers(64).map(drop, "x").create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(iterator)
    holder.append(iterator._reader._iterator)
    iterator._reader = None
    del iterator
    dropped.set()
    assert done.wait(30)
    ms._core.dataset.close_pending()


def test_functions_are_let_go():
    class Function:
        def __call__(self, x):
            return x

    function = Function()
    alive = weakref.ref(function)
    data = numbers().map(function, "x").batch(2)
    iterator = data.create_tuple_iterator(output_numpy=True)
    next(iterator)
    del function, iterator, data
    gc.collect()
    assert alive() is None


def test_threads_come_and_go():
    def threads():
        return len(os.listdir("/proc/self/task"))

    before = threads()
    for i in range(100):
        iterator = numbers(32).map(lambda x: x + 1, "x", num_parallel_workers=2).batch(4).create_tuple_iterator(output_numpy=True)
        if i % 3:
            next(iterator)
        if i % 2:
            iterator.close()
        del iterator
    gc.collect()
    deadline = time.monotonic() + 5  # a joined thread stays listed until the kernel removes it
    while threads() > before and time.monotonic() < deadline:
        time.sleep(0.001)
    assert threads() <= before


def test_several_threads_read():
    results = []

    def read():
        results.append(sum(values(numbers(200).map(lambda x: x + 1, "x"))))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [20100] * 4


def test_other_threads_run_while_the_pipeline_is_waited_for():
    release = threading.Event()
    timer = threading.Timer(0.05, release.set)
    timer.start()
    assert values(numbers(1).map(lambda x: x if release.wait(30) else 1 / 0, "x")) == [0]


def test_debug_mode_runs_one_row_at_a_time():
    ds.config.set_debug_mode(True)
    seen = set()
    values(numbers(30).map(lambda x: seen.add(threading.get_ident()) or x, "x", num_parallel_workers=2))
    assert len(seen) == 1


def run_script(text, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120, **options)


def test_interrupt_while_waiting():
    script = """
        import os, signal, threading, time
        import numpy as np
        import sindri.dataset as ds
        started, release = threading.Event(), threading.Event()
        def slow(x):
            started.set()
            release.wait(60)
            return x
        iterator = ds.NumpySlicesDataset(np.arange(4), ["x"], shuffle=False).map(slow, "x").create_tuple_iterator(output_numpy=True)
        threading.Thread(target=lambda: started.wait(60) and os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            next(iterator)
            print("no interrupt")
        except KeyboardInterrupt:
            print("interrupted")
        release.set()
        print(int(next(iterator)[0]))
    """
    done = run_script(script)
    assert done.stdout.split() == ["interrupted", "0"], done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("end", ["pass", "raise SystemExit(3)", "1 / 0", "os.kill(os.getpid(), signal.SIGINT)"])
def test_the_process_ends_with_open_iterators(end):
    done = run_script(f"""
        import os, signal
        import numpy as np
        import sindri.dataset as ds
        kept = []
        for n in range(3):
            data = ds.GeneratorDataset(list(range(1000)), ["x"]).map(lambda x: x + 1, "x", num_parallel_workers=2).batch(7)
            kept.append(data.create_dict_iterator())
            next(kept[-1])
        kept.append(kept)
        {end}
    """)
    codes = {"pass": (0,), "raise SystemExit(3)": (3,), "1 / 0": (1,)}.get(end, (1, 130, -signal.SIGINT))
    assert done.returncode in codes, done.stderr
    assert "terminate" not in done.stderr and "Fatal" not in done.stderr


def test_a_function_closes_the_iterator_that_is_waited_for():
    # Freed memory is overwritten and not kept for the thread, so that a use after free would show.
    done = run_script("""
        import time
        import numpy as np
        import sindri.dataset as ds
        def stop_early(x):
            if x == 5:
                time.sleep(0.02)
                iterator.close()
                time.sleep(0.05)  # the iterator ends in the background while the main thread waits
            return x
        for _ in range(5):
            data = ds.NumpySlicesDataset(np.arange(20), ["x"], shuffle=False).map(stop_early, "x", num_parallel_workers=2)
            iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
            try:
                print(sum(1 for _ in iterator))
            except (RuntimeError, ValueError) as e:
                print(e)
    """, env={**os.environ, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165:glibc.malloc.mxfast=0"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the iterator has been closed") == 5, done.stdout


def number_of_threads():
    return len(os.listdir("/proc/self/task"))


@pytest.mark.parametrize("mode", ["RETURN", "REPLACE", "SKIP"])
def test_a_pipeline_that_failed_is_let_go(mode):
    def fails(x):
        return fails_at_three(x)

    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode[mode])
    before, alive = number_of_threads(), weakref.ref(fails)
    for _ in range(5):
        data = numbers().map(fails, "x", num_parallel_workers=2).batch(2)
        iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        next(iterator)
        with pytest.raises(MyError) as caught:
            next(iterator)
        assert "row 3, map" in note_of(caught.value) and "fails" in note_of(caught.value)
        state = iterator.state_dict()
        assert (state["epoch"], state["batch"], iterator.stats()["batches"], iterator.seed) == (0, 1, 1, state["seed"])
    del fails, data, iterator, caught
    gc.collect()
    ms._core.dataset.close_pending()
    gc.collect()
    assert alive() is None
    deadline = time.monotonic() + 5
    while number_of_threads() > before and time.monotonic() < deadline:
        time.sleep(0.001)
    assert number_of_threads() <= before


def test_open_iterators_that_replace_take_no_notes_from_others():
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.REPLACE)
    other = numbers().create_tuple_iterator(num_epochs=1)
    next(other)
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.RETURN)
    with pytest.raises(MyError) as caught:
        values(numbers().map(fails_at_three, "x"))
    assert "row 3" in note_of(caught.value)


def test_an_error_does_not_wait_for_other_rows():
    release = threading.Event()
    data = numbers(4).map(lambda x: 1 / 0 if x == 0 else release.wait(60) and x, "x", num_parallel_workers=2)
    try:
        start = time.monotonic()
        with pytest.raises(ZeroDivisionError):
            values(data)
        assert time.monotonic() - start < 30
    finally:
        release.set()


def test_an_error_of_a_signal_handler_does_not_end_the_pipeline():
    done = run_script("""
        import signal, threading
        import numpy as np
        import sindri.dataset as ds
        class Late(Exception):
            pass
        def handler(*_):
            raise Late
        signal.signal(signal.SIGALRM, handler)
        release = threading.Event()
        data = ds.NumpySlicesDataset(np.arange(4), ["x"], shuffle=False).map(lambda x: x if release.wait(60) else x, "x")
        iterator = data.create_tuple_iterator(output_numpy=True)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            next(iterator)
        except Late:
            release.set()
        print([int(next(iterator)[0]) for _ in range(2)])
    """)
    assert done.stdout.split() == ["[0,", "1]"], done.stderr


def test_a_second_thread_in_a_pipeline_that_python_runs():
    inside, release = threading.Event(), threading.Event()

    def slow(x):
        inside.set()
        return release.wait(60)

    iterator = numbers(4).filter(slow).create_tuple_iterator(num_epochs=1, output_numpy=True)
    rows = []
    thread = threading.Thread(target=lambda: rows.append(int(next(iterator)[0])))
    thread.start()
    assert inside.wait(60)
    with pytest.raises(RuntimeError, match="this iterator is already producing a row"):
        next(iterator)
    release.set()
    thread.join(60)
    assert rows == [0] and [int(row[0]) for row in iterator] == [1, 2, 3]


def test_a_filter_closes_its_iterator():
    data = numbers(9).filter(lambda x: iterator.close() is None if x == 4 else True)
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    seen = []
    with pytest.raises(RuntimeError, match="the iterator has been closed"):
        seen.extend(int(row[0]) for row in iterator)


FORKED = """
    import os, signal
    import numpy as np
    import sindri.dataset as ds
    from sindri.dataset.engine import iterators

    class Rows:
        def __len__(self):
            return 40
        def __getitem__(self, i):
            return (np.array(i),)

    def make():
        data = ds.GeneratorDataset(Rows(), ["x"], shuffle=False, num_parallel_workers=2)
        return data.map(lambda x: x + 1, "x", num_parallel_workers=2).batch(4)

    data = make()
    reading = data.create_tuple_iterator(num_epochs=-1, output_numpy=True)
    next(reading)
    unread = data.create_tuple_iterator(num_epochs=1, output_numpy=True)

    def rows(iterator):
        return [x for row in iterator for x in row[0].tolist()]

    def refused():
        for use in (lambda: next(reading), reading.stats, reading.state_dict):
            try:
                use()
            except RuntimeError as e:
                assert "make a new iterator in this process" in str(e), e
            else:
                raise AssertionError("not refused")

    def let_go():
        global reading
        reading = None
        iterators._close_all()

    checks = [lambda: rows(make()), lambda: rows(data), lambda: rows(unread), refused, let_go]
    for k, check in enumerate(checks):
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)  # a hang ends the child
            result = check()
            os._exit(0 if result is None or result == list(range(1, 41)) else 1)
        assert os.waitpid(pid, 0)[1] == 0, k
    assert next(reading)[0].tolist() == [5, 6, 7, 8]
    if os.fork() == 0:
        signal.alarm(20)
        raise SystemExit(0)  # ends a process that holds its parent's iterators
    assert os.wait()[1] == 0
    print("fine")
"""


def test_forked_processes_make_their_own_iterators():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(FORKED)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["fine"]), done.stderr
