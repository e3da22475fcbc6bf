"""Tensor indexing by NumPy's rules: random keys compared with NumPy, for reading, assignment, in-place changes and gradients, eagerly and in graphs."""
import numpy as np
import pytest

import sindri as ms
from sindri import Tensor

KEYS = 2400
IN_GRAPHS = 6  # every sixth of them, because each needs a separate graph


def index_array(rng, size, shape):
    """Returns positions in a dimension in one of the forms that a key may have: (NumPy's form, the tensor's form)."""
    a = rng.integers(-size, size, shape)
    form = rng.integers(0, 6)
    if form == 0:
        return a, Tensor(a)
    if form == 1:
        return a, Tensor(a.astype(np.int32))
    if form == 2 and a.ndim == 1:
        return a, a.tolist()
    if form == 3 and a.ndim == 1:
        return a, tuple(a.tolist())
    if form == 4 and a.ndim == 1 and len(a) <= size:
        return range(len(a)), range(len(a))
    return a, a


def mask_array(rng, shape, count):
    """Returns a mask with `count` True elements (or one, if the mask is too small): (NumPy's form, the tensor's form)."""
    n = int(np.prod(shape))
    mask = np.zeros(n, bool)
    mask[rng.permutation(n)[:count if count <= n else 1]] = True
    mask = mask.reshape(shape)
    form = rng.integers(0, 3)
    return mask, Tensor(mask) if form == 0 else mask.tolist() if form == 1 else mask


def number(rng, size):
    i = int(rng.integers(-size, size))
    return i, (i, np.int64(i), np.array(i), Tensor(i), Tensor(np.int32(i)))[rng.integers(0, 5)]


def random_slice(rng, size):
    def end():
        return None if rng.random() < 0.3 else int(rng.integers(-size - 1, size + 2))
    return slice(end(), end(), (None, 1, 2, -1, -2)[rng.integers(0, 5)])


def random_key(rng):
    """Returns (shape, NumPy's key, the same key for a tensor)."""
    shape = tuple(int(n) for n in rng.integers(1, 5, rng.integers(1, 5)))
    count = int(rng.integers(1, 4))
    plain, given, d, dots = [], [], 0, False
    while True:
        draw = rng.random()
        if draw < 0.1 and sum(k is None for k in plain) < 2:  # a tensor has at most 8 dimensions
            pair = None, None
        elif draw < 0.17 and not dots:
            pair, dots = (Ellipsis, Ellipsis), True
            d += int(rng.integers(0, len(shape) - d + 1))
        elif 0.17 <= draw < 0.22 and not any(k is True for k in plain):
            pair = True, (True, np.True_, Tensor(True))[rng.integers(0, 3)]
        elif d == len(shape) or draw < 0.26:
            break
        elif 0.26 <= draw < 0.45:
            pair, d = (lambda s: (s, s))(random_slice(rng, shape[d])), d + 1
        elif 0.45 <= draw < 0.65:
            pair, d = number(rng, shape[d]), d + 1
        elif 0.65 <= draw < 0.92:
            pair, d = index_array(rng, shape[d], (count, (1,), (2, count), (2, 1), (1, count), (count,))[rng.integers(0, 6)]), d + 1
        elif draw >= 0.92:
            k = int(rng.integers(1, len(shape) - d + 1))
            pair, d = mask_array(rng, shape[d:d + k], count), d + k
        else:
            continue
        plain.append(pair[0])
        given.append(pair[1])
    if len(plain) == 1 and rng.random() < 0.5 and not isinstance(given[0], tuple):
        return shape, plain[0] if not isinstance(plain[0], range) else list(plain[0]), given[0]
    return shape, tuple(list(k) if isinstance(k, range) else k for k in plain), tuple(given)


def all_keys():
    rng = np.random.default_rng(20)
    found = []
    while len(found) < KEYS:
        shape, plain, given = random_key(rng)
        values = np.round(rng.uniform(-2, 2, shape) * 16).astype(np.float32) / 16
        try:
            part = values[plain]
        except IndexError:  # masks and arrays that do not broadcast
            continue
        full = np.round(rng.uniform(-2, 2, part.shape) * 16).astype(np.float32) / 16
        new = (full, np.float32(1.5), full[:1] if part.ndim and part.shape[0] else full)[rng.integers(0, 3)]
        found.append((values, plain, given, np.asarray(new, np.float32)))
    return found


def read(x, key):
    return x[key]


def written(x, key, v):
    y = x * 1
    y[key] = v
    return y


def changed(x, key, v):
    y = x * 1
    y[key] += v
    return y


def sum_to(a, shape):
    extra = a.ndim - len(shape)
    a = a.sum(axis=tuple(range(extra))) if extra else a
    return a.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1 and a.shape[i] != 1), keepdims=True)


def expected(values, key, new):
    """Returns NumPy's results: the part, the values after assignment and after +=, the gradient of reading, the gradients of an assignment."""
    part = values[key]
    assigned, added = values.copy(), values.copy()
    assigned[key] = new
    added[key] += new
    weights = np.arange(part.size, dtype=np.float32).reshape(part.shape) % 7 + 1
    by_reading = np.zeros_like(values)
    np.add.at(by_reading, key, weights)
    places = np.arange(values.size).reshape(values.shape)[key]
    all_weights = np.arange(values.size, dtype=np.float32).reshape(values.shape) % 5 + 1
    owner = np.full(values.size, -1)
    owner[places.ravel()] = np.arange(places.size)  # of several writes to an element, the last one counts
    by_values = np.where(owner[places.ravel()] == np.arange(places.size), all_weights.ravel()[places.ravel()], 0).reshape(places.shape)
    by_x = np.where((owner < 0).reshape(values.shape), all_weights, 0)
    return part, assigned, added, weights, by_reading, all_weights, by_x, sum_to(by_values, new.shape)


def wrong(values, plain, given, new, wrap):
    """Returns the differences from NumPy for this key."""
    part, assigned, added, weights, by_reading, all_weights, by_x, by_values = expected(values, plain, new)
    x, v = Tensor(values), Tensor(new)

    def grad_of_reading(x):
        return ms.grad(lambda x: (x[given] * Tensor(weights)).sum())(x)

    def grad_of_writing(x, v):
        return ms.grad(lambda x, v: (written(x, given, v) * Tensor(all_weights)).sum(), (0, 1))(x, v)

    def forms(x, v):
        return read(x, given), written(x, given, v), changed(x, given, v)

    def gradients(x, v):
        return grad_of_reading(x), *grad_of_writing(x, v)

    own = [*wrap(forms)(x, v), *wrap(gradients)(x, v)]  # two graphs for each key: compiling them takes most of the test's time
    names = ("reading", "assignment", "+=", "gradient of reading", "gradient of assignment by x", "gradient of assignment by the value")
    return [n for n, mine, theirs in zip(names, own, (part, assigned, added, by_reading, by_x, by_values))
            if mine.shape != theirs.shape or mine.asnumpy().tolist() != theirs.tolist()]


def report(found):
    lines = [f"{what}: x of {shape}, x[{key}]" for what, shape, key in found[:20]]
    assert not found, "\n".join([f"{len(found)} keys", *lines])


def test_random_keys():
    keys = all_keys()
    assert len(keys) >= 2000
    # Kinds that must occur: a number or True next to an index array, and separated from it by another entry.
    mixed = [k for _, k, _, _ in keys if isinstance(k, tuple) and any(isinstance(e, (np.ndarray, list)) for e in k) and any(type(e) is int for e in k)]
    assert len(mixed) > 300 and sum(any(e is True for e in k) for k in mixed) > 30 and sum(Ellipsis in [e for e in k if e is Ellipsis] for k in mixed) > 30
    report([(what, v.shape, plain) for v, plain, given, new in keys for what in wrong(v, plain, given, new, lambda f: f)])


@pytest.mark.filterwarnings("ignore:.*(cannot be compiled|continues eagerly)")  # traced masks
def test_random_keys_in_graphs():
    report([(what, v.shape, plain) for v, plain, given, new in all_keys()[::IN_GRAPHS] for what in wrong(v, plain, given, new, ms.jit)])


def test_an_index_tensor_that_is_an_argument_of_a_graph():
    x, i = Tensor(np.arange(24.0).reshape(2, 3, 4).astype(np.float32)), Tensor([0, 2])
    a = x.asnumpy()

    @ms.jit
    def f(x, i):
        return x[1, :, i], x[..., i, 0], x[i[0], :, i], x[:, None, 1, i]

    for mine, theirs in zip(f(x, i), (a[1, :, [0, 2]], a[..., [0, 2], 0], a[0, :, [0, 2]], a[:, None, 1, [0, 2]])):
        assert mine.asnumpy().tolist() == theirs.tolist()


@pytest.mark.parametrize("value", [[4], [[4]], np.array([4.0])])
def test_leading_dimensions_of_one_of_a_value_are_dropped(value):
    x = Tensor(np.array([1, 2], np.float32))
    x[0] = Tensor(np.array(value, np.float32))
    assert x.asnumpy().tolist() == [4, 2]
    x = Tensor(np.zeros((2, 2), np.float32))
    x[1] = Tensor(np.array([[5, 6]], np.float32))
    assert x.asnumpy().tolist() == [[0, 0], [5, 6]]


def test_wrong_keys():
    x = Tensor(np.zeros((2, 3), np.float32))
    for key in (False, (0, False), 1.5, Tensor(1.5), "a", (0, 0, 0), (..., ...), 2, (0, 3), np.array([1.5]), Tensor([1.5])):
        with pytest.raises((IndexError, TypeError)):
            x[key].asnumpy()
    x[False] = 1.0  # nothing, as in NumPy and MindSpore
    assert not x.asnumpy().any()
    for key in ((0, 0, 0), 2, "a"):
        with pytest.raises((IndexError, TypeError)):
            x[key] = 1.0
    with pytest.raises(ValueError):
        x[0] = Tensor(np.zeros((2, 3), np.float32))


@pytest.mark.parametrize("key", [(True, True), (1, slice(None), True), (True, 1), (0, True, slice(None), [0, 1]), (slice(None), True), (True, [0, 1], [1, 0]), (None, True, ..., 1),
                                 (True, slice(None), True)])
def test_true_counts_as_an_index_array_of_one(key):
    x, a = Tensor(np.arange(24.0).reshape(2, 3, 4)), np.arange(24.0).reshape(2, 3, 4)
    assert x[key].asnumpy().tolist() == a[key].tolist()
    x[key] += 1
    a[key] += 1
    assert x.asnumpy().tolist() == a.tolist()
