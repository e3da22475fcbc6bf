"""Runs small calls of `mindspore`, the real one or Sindri under that name, and writes each result as one line of JSON.

    python run_cases.py < CASES > RESULTS        (one JSON text a line, in and out)

A case is a piece of Python whose last statement is an expression; its namespace is that of names(). A result is a list whose first element gives its kind:
["T", dtype, shape, values], ["P", ...] for Parameters and ["N", ...] for NumPy arrays (of more than 40 values, a sample and the mean), ["(", items...],
["[", items...], ["{", [key, item]...], a scalar as [its type, value], ["dtype", name], ["~", tolerance, numbers...] for statistics of random results,
["object", class name] and ["error", class name].

`isolated` runs the lines in child processes, so a call that crashes or hangs affects only itself.
"""
import ast
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time

import numpy as np

SAMPLE = 40
DIGITS = {"float16": 5, "bfloat16": 5, "float32": 8, "float64": 13, "complex64": 8, "complex128": 13}


class Stats(list):
    """Statistics of random values: a tolerance and numbers."""


def grid(*shape, s=0, lo=-2.0, hi=2.0, dtype=np.float32):
    """Returns numbers between lo and hi that float16 represents exactly, from a seed and a shape."""
    rng = np.random.RandomState(1000 * s + sum((i + 1) * n for i, n in enumerate(shape)) + 7)
    return (np.round(rng.uniform(lo, hi, shape) * 64) / 64).astype(dtype)


def names(ms):
    """Returns the cases' namespace. f, d, h, bf, i, l, i8, i16, u8 and b create tensors of the types they abbreviate, X a float32 tensor of a shape."""
    def make(dtype):
        return lambda values: ms.Tensor(np.asarray(values, dtype))

    def tensors(*shape, **kw):
        return ms.Tensor(grid(*shape, **kw))

    def whole(*shape, s=0, lo=-5, hi=6, dtype=np.int32):
        rng = np.random.RandomState(1000 * s + sum((i + 1) * n for i, n in enumerate(shape)) + 11)
        return ms.Tensor(rng.randint(lo, hi, shape).astype(dtype))

    def like(value):
        """Keeps only the type, shape and element type of a random result."""
        if isinstance(value, (tuple, list)):
            return type(value)(like(v) for v in value)
        return ms.ops.zeros_like(value) if isinstance(value, ms.Tensor) else type(value)

    def stats(value, tolerance=0.1):
        """Returns mean, deviation, minimum and maximum of a large random array."""
        a = np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value, np.float64)
        return Stats([tolerance * max(a.std(), 1e-12), a.mean(), a.std(), a.min(), a.max()])

    def fixed(net, scale=0.5, seed=5):
        """Returns the Cell with weights that do not depend on its initialisers."""
        rng = np.random.RandomState(seed)
        for p in net.get_parameters():
            value = np.round(rng.uniform(-scale, scale, p.shape) * 256) / 256
            p.set_data(ms.Tensor(value + (1.0 if "variance" in p.name else 0.0), p.dtype))
        return net

    def names_of(net):
        return [(p.name, list(p.shape), p.requires_grad) for p in net.get_parameters()]

    def train(make_optimizer, steps=3, shapes=((3, 2), (2,))):
        """Returns the parameters after some steps with given gradients."""
        params = [ms.Parameter(tensors(*shape, s=k), name=f"layer{k}.{'bias' if k else 'weight'}") for k, shape in enumerate(shapes)]
        optimizer = make_optimizer(params)
        for step in range(steps):
            optimizer(tuple(tensors(*shape, s=10 * step + k + 1) for k, shape in enumerate(shapes)))
        return [p.value() for p in params]

    def update(metric, *batches):
        metric.clear()
        for batch in batches:
            metric.update(*batch)
        return metric.eval()
    import mindspore.dataset as ds
    import mindspore.numpy
    from mindspore.common import initializer
    from mindspore.dataset import text, transforms, vision

    def slices(n, **options):
        """Returns rows 0 to n - 1 in one column."""
        return ds.NumpySlicesDataset(np.arange(n), ["x"], **({} if "sampler" in options else {"shuffle": False}), **options)

    def two(n):
        """Returns two columns: numbers, and pairs of floats."""
        return ds.NumpySlicesDataset({"a": np.arange(n), "b": np.arange(2 * n, dtype=np.float32).reshape(n, 2)}, shuffle=False)

    def ragged(n):
        """Row i has i + 1 elements."""
        return ds.GeneratorDataset([(np.arange(i + 1),) for i in range(n)], ["x"], shuffle=False)

    def count(n):
        for i in range(n):
            yield (np.array(i),)

    class Items:
        def __init__(self, n):
            self.n = n

        def __len__(self):
            return self.n

        def __getitem__(self, i):
            return np.array(i), np.array([i, i + 0.5])

    class Restart:
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            self.i = 0
            return self

        def __next__(self):
            self.i += 1
            if self.i > self.n:
                raise StopIteration
            return (np.array(self.i),)

    def rows(data):
        """Returns one pass, as lists."""
        found = [[column.tolist() for column in row] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        return [row[0] if len(row) == 1 else row for row in found]

    def head(data):
        """Returns a dataset's properties and its rows."""
        return [data.get_dataset_size(), data.get_col_names(), [str(t) for t in data.output_types()], data.output_shapes(), rows(data)]
    result = {name: make(dtype) for name, dtype in (
        ("f", np.float32), ("d", np.float64), ("h", np.float16), ("i", np.int32), ("l", np.int64), ("i8", np.int8), ("i16", np.int16), ("u8", np.uint8),
        ("u16", np.uint16), ("u32", np.uint32), ("u64", np.uint64), ("b", np.bool_))}
    return dict(
        result, ms=ms, nn=ms.nn, ops=ms.ops, P=ms.ops.operations, F=ms.ops.functional, mnp=mindspore.numpy, np=np, Tensor=ms.Tensor, Parameter=ms.Parameter,
        init=initializer, initializer=initializer.initializer, bf=lambda values: ms.Tensor(np.asarray(values, np.float32), ms.bfloat16),
        ds=ds, vision=vision, transforms=transforms, text=text, slices=slices, two=two, ragged=ragged, count=count, Items=Items, Restart=Restart, rows=rows,
        head=head, IMG=(np.arange(9 * 12 * 3) * 37 % 251).astype(np.uint8).reshape(9, 12, 3), X=tensors, I=whole, grid=grid, like=like, stats=stats, fixed=fixed, names_of=names_of, train=train, update=update,
        nan=float("nan"), inf=float("inf"))


def _number(value, digits):
    if isinstance(value, complex):
        return [_number(value.real, digits), _number(value.imag, digits)]
    if isinstance(value, bool) or isinstance(value, int):
        return value
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    return float(f"{value:.{digits}g}")


def _array(tag, dtype, array):
    digits = DIGITS.get(dtype, 8)
    flat = array.reshape(-1)
    if flat.dtype == object or flat.dtype.kind in "US":
        return [tag, dtype, list(array.shape), [str(v) for v in flat.tolist()]]
    if flat.size > SAMPLE:
        places = np.linspace(0, flat.size - 1, SAMPLE // 2).astype(int)
        mean = flat.astype(np.complex128 if flat.dtype.kind == "c" else np.float64).mean().item()
        return [tag, dtype, list(array.shape), [_number(v, digits) for v in flat[places].tolist()], _number(mean, 6)]
    return [tag, dtype, list(array.shape), [_number(v, digits) for v in flat.tolist()]]


def encode(ms, value):
    """Returns the stored form of a result."""
    if isinstance(value, Stats):
        return ["~", *[_number(float(v), 6) for v in value]]
    if isinstance(value, ms.Tensor):
        dtype = str(value.dtype).lower()
        array = value.astype(ms.float32).asnumpy() if dtype == "bfloat16" else value.asnumpy()
        return _array("P" if isinstance(value, ms.Parameter) else "T", dtype, array)
    if isinstance(value, np.ndarray):
        return _array("N", str(value.dtype), value)
    if isinstance(value, np.generic):
        return ["np." + type(value).__name__, _number(value.item(), 8) if not isinstance(value, np.str_) else str(value)]
    if isinstance(value, (tuple, list)):
        return ["(" if isinstance(value, tuple) else "[", *[encode(ms, v) for v in value]]
    if isinstance(value, dict):
        return ["{", *[[str(k), encode(ms, v)] for k, v in value.items()]]
    if value is None or isinstance(value, (bool, int, float, complex)):
        return [type(value).__name__, _number(value, 10) if value is not None else None]
    if isinstance(value, str):
        return ["str", value]
    if isinstance(value, type):
        return ["type", value.__name__]
    if type(value).__module__.split(".")[-1] in ("dtype", "typing") or isinstance(value, type(ms.float32)):
        return ["dtype", str(value)]
    return ["object", type(value).__name__]


def _settle(ms):
    """Collects the errors of calls that still run: the real package raises them in a later call."""
    for _ in range(5):
        try:
            (ms.Tensor(np.ones(2, np.float32)) + 1).asnumpy()
            return
        except Exception:  # from an earlier call
            pass


def run(ms, namespace, case):
    """Returns the result of one case."""
    ms.set_seed(1)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    scope = dict(namespace, __name__="cases")  # functions without a module cannot be differentiated in MindSpore
    try:
        body = ast.parse(case).body
        exec(compile(ast.Module(body[:-1], []), "case", "exec"), scope)
        return encode(ms, eval(compile(ast.Expression(body[-1].value), "case", "eval"), scope))
    except Exception as e:
        _settle(ms)
        return ["error", type(e).__name__, *([str(e)[:300]] if "COMPARE_ERRORS" in os.environ else [])]


def work():
    """Runs in the child: reads cases from standard input, writes results to standard output, discards all other output."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import warnings
    warnings.simplefilter("ignore")
    import mindspore as ms
    if hasattr(ms.runtime, "launch_blocking"):
        ms.runtime.launch_blocking()  # an error is reported by the call that caused it
    namespace = names(ms)
    print("null", file=out, flush=True)  # ready: the time before was the import
    for line in sys.stdin:
        print(json.dumps(run(ms, namespace, json.loads(line))), file=out, flush=True)
    os._exit(0)


def isolated(cases, python=sys.executable, env=None, chunk=400, seconds=30, start=120, report=None):
    """Returns {case: result} from child processes with `chunk` cases each. A case that ends its child or takes longer than `seconds` gets ["error", "crash"] or
    ["error", "timeout"]; the next child continues with the case after it."""
    cases, results = list(dict.fromkeys(cases)), {}
    while len(results) < len(cases):
        todo = cases[len(results):len(results) + chunk]
        with tempfile.TemporaryFile() as lines:  # a pipe could fill up while the child waits for its results to be read
            lines.write("".join(json.dumps(c) + "\n" for c in todo).encode())
            lines.seek(0)
            child = subprocess.Popen([python, os.path.abspath(__file__)], stdin=lines, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
        done = _collect(child, todo, seconds, start)
        for case, result in zip(todo, done):
            results[case] = result
        if report:
            report(len(results), len(cases))
    return results


def _collect(child, todo, seconds, start):
    os.set_blocking(child.stdout.fileno(), False)
    done, buffer, last, ready = [], b"", time.monotonic() + start, False
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while len(done) < len(todo):
            if not selector.select(max(0.0, last - time.monotonic())):
                done.append(["error", "timeout"])
                break
            piece = child.stdout.read()
            if not piece:
                done.append(["error", "crash"])
                break
            *lines, buffer = (buffer + piece).split(b"\n")
            done += [json.loads(line) for line in (lines if ready else lines[1:])]
            ready = ready or bool(lines)
            last = time.monotonic() + seconds
    child.kill()
    child.wait()
    child.stdout.close()
    return done


if __name__ == "__main__":
    work()
