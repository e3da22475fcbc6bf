"""Functions of tensors in pure NumPy, for numpy_package.py: those that the calls of test_numpy_forms.py need. Values are computed in float64, int64 and bool. A
result's type follows PyTorch's rules: functions defined for floating numbers return float32 for integers, two types are promoted to the one that holds both,
and a
Python number adapts to the tensor next to it.
"""
import math

import numpy as np

FLOATS = ("float16", "bfloat16", "float32", "float64")
ORDER = ("bool", "uint8", "int32", "int64", *FLOATS)
OWN = {"bool": np.bool_, "uint8": np.uint8, "int32": np.int32, "int64": np.int64, "float16": np.float16, "float32": np.float32, "float64": np.float64}


def _wide(values):
    values = np.asarray(values)
    return values.astype({"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}[values.dtype.kind])


def _rounded(values, kind):
    """Rounds values to those that a type holds."""
    if kind == "bfloat16":  # the upper half of a float32, ties to even
        bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16
        return bits.astype(np.uint32).view(np.float32).astype(np.float64)
    return _wide(np.asarray(values).astype(OWN[kind]))


class Array:
    """Values and the name of their type. Undefined attributes are functions of FUNCTIONS with the array as first argument."""
    __array_priority__ = 1000  # NumPy calls this class's operator if the left operand is its array

    def __init__(self, values, kind, parameter=False):
        self.v, self.kind, self.parameter = np.array(_rounded(values, kind)), kind, parameter

    shape = property(lambda self: self.v.shape)
    size = property(lambda self: self.v.size)

    def __getattr__(self, name):
        if name.endswith("_") and not name.startswith("_"):
            return lambda *a, **k: self._put(getattr(self, name[:-1])(*a, **k))
        if name.startswith("_"):
            raise AttributeError(name)
        function = METHODS[name] if name in METHODS else FUNCTIONS[name]
        return lambda *a, **k: function(self, *a, **k)

    def _put(self, other):
        self.v[...] = _rounded(other.v, self.kind)
        return self

    def __array_ufunc__(self, *unused, **also):
        return NotImplemented

    def __getitem__(self, key):
        out = Array(0, self.kind)
        out.v = self.v[_key(key), ...]  # a view if NumPy returns one
        return out

    def __setitem__(self, key, value):
        self.v[_key(key)] = _rounded(array(value).v, self.kind)


def _key(key):
    return key.v if isinstance(key, Array) else np.asarray(key, np.int64) if isinstance(key, (list, range)) else key


def _operator(name, reverse=False):
    def apply(self, other):
        other = other if isinstance(other, (Array, int, float)) else array(other)
        return FUNCTIONS[name](other, self) if reverse else FUNCTIONS[name](self, other)
    return apply


for _python, _name in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_div", "mod": "floor_mod", "pow": "pow",
                       "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}.items():
    setattr(Array, f"__{_python}__", _operator(_name))
    setattr(Array, f"__r{_python}__", _operator(_name, True))
for _python, _name in {"lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "eq": "eq", "ne": "ne"}.items():
    setattr(Array, f"__{_python}__", _operator(_name))


def array(value, kind=None):
    """Converts an Array, a NumPy array, a number or nested sequences of them to an Array."""
    if isinstance(value, Array):
        return value if kind is None else Array(value.v, kind)
    values = np.asarray(value)
    if kind is None:
        plain = "float32" if not isinstance(value, (np.ndarray, np.generic)) and values.dtype == np.float64 else str(values.dtype)
        kind = plain if plain in OWN else "int64"
    return Array(values, kind)


def promote(*operands):
    """Returns the common type of Arrays and Python numbers."""
    kinds = [x.kind for x in operands if isinstance(x, Array)]
    kind = max(kinds, key=ORDER.index) if kinds else "bool"
    if {"float16", "bfloat16"} <= set(kinds):
        kind = max(kind, "float32", key=ORDER.index)
    for x in operands:
        if not isinstance(x, Array):
            lowest = "bool" if isinstance(x, (bool, np.bool_)) else "int64" if isinstance(x, int) else "float32"
            if ORDER.index(lowest) >= 4 and kind not in FLOATS or lowest == "int64" and kind == "bool":
                kind = lowest
    return kind


def floating(kind):
    """Returns the type, or float32 if it is not floating."""
    return kind if kind in FLOATS else "float32"


def _values(x):
    return x.v if isinstance(x, Array) else _wide(x)


FUNCTIONS, METHODS = {}, {}


def form(*names):
    """Registers a function under its names in the package."""
    def put(function):
        FUNCTIONS.update({name: function for name in names})
        return function
    return put


# --- elementwise -------------------------------------------------------------------------------------------------------------------------------

SAME, FLOATING, TRUTH = (lambda *x: promote(*x)), (lambda *x: floating(promote(*x))), (lambda *x: "bool")


def _elementwise(names, compute, kind):
    def apply(*operands, **named):
        operands += tuple(named.values())
        with np.errstate(all="ignore"):
            values = [_values(x) for x in operands]
            if kind is FLOATING:  # NumPy would compute with bools in float16
                values = [np.asarray(v, np.float64) for v in values]
            return Array(compute(*values), kind(*operands))
    FUNCTIONS.update({name: apply for name in names.split()})


erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def softplus(x):
    return np.logaddexp(np.asarray(x, np.float64), 0)


def round_(x, decimals=0):
    return x if x.dtype.kind != "f" else np.round(x, decimals)


for _names, _compute in {
        "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asin arcsin": np.arcsin, "acos": np.arccos,
        "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p,
        "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal inv": lambda x: 1 / np.asarray(x, np.float64), "erf": erf, "erfc": erfc,
        "sigmoid": sigmoid,
        "softplus": softplus, "mish": lambda x: x * np.tanh(softplus(x)), "softsign": lambda x: x / (1.0 + np.abs(x)),
        "elu": lambda x, a=1.0: np.where(x > 0, x, a * np.expm1(x)),
        "gelu": lambda x: x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))),
        "fast_gelu": lambda x: x * sigmoid(1.702 * x), "logit": lambda x: np.log(x / (1.0 - x)), "true_divide div": np.true_divide, "atan2 arctan2": np.arctan2,
        "hypot": np.hypot, "copysign": np.copysign, "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2,
        "xlogy": lambda x, y: np.where(x == 0, 0, x * np.log(y)), "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
        "xdivy": lambda x, y: np.where(x == 0, 0, x / y),
        "hshrink hardshrink": lambda x: np.where(np.abs(x) <= 0.5, 0, x), "div_no_nan": lambda x, y: np.where(y == 0, 0, x / y)}.items():
    _elementwise(_names, _compute, FLOATING)
for _names, _compute in {
        "abs absolute": np.abs, "neg": np.negative, "square": np.square, "sign": np.sign, "floor": lambda x: x if x.dtype.kind != "f" else np.floor(x),
        "ceil": lambda x: x if x.dtype.kind != "f" else np.ceil(x), "trunc": lambda x: x if x.dtype.kind != "f" else np.trunc(x), "rint": round_,
        "relu": lambda x: np.maximum(x, 0), "relu6": lambda x: np.clip(x, 0, 6), "hardtanh": lambda x: np.clip(x, -1, 1), "invert bitwise_not": np.invert,
        "add": np.add, "sub": np.subtract,
        "mul multiply": np.multiply, "minimum": np.minimum, "maximum": np.maximum, "fmin": np.fmin, "fmax": np.fmax, "floor_div floor_divide": np.floor_divide,
        "floor_mod remainder": np.mod, "gcd": np.gcd, "pow": np.power, "heaviside": np.heaviside, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
        "bitwise_xor": np.bitwise_xor, "nan_to_num": np.nan_to_num}.items():
    _elementwise(_names, _compute, SAME)
for _names, _compute in {
        "isnan": np.isnan, "isfinite": np.isfinite, "isinf": np.isinf, "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
        "gt": np.greater, "ge": np.greater_equal, "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
        "isclose": np.isclose, "approximate_equal": lambda x, y: np.abs(x - y) < 1e-5}.items():
    _elementwise(_names, _compute, TRUTH)


@form("softshrink")
def softshrink(x, lambd=0.5):
    return Array(np.sign(x.v) * np.maximum(np.abs(x.v) - lambd, 0), floating(x.kind))


@form("round")
def round_to(x, *, decimals=0):
    x = array(x)
    return Array(round_(x.v, decimals), x.kind)


@form("addcdiv")
def addcdiv(x, a, b, value=1):
    return Array(x.v + value * a.v / b.v, promote(x, a, b))


@form("where")
def where(condition, a, b):
    return Array(np.where(_values(condition), _values(a), _values(b)), promote(a, b))


@form("masked_fill")
def masked_fill(x, mask, value):
    return Array(np.where(mask.v, value, x.v), x.kind)


@form("clamp")
def clamp(x, low, high):
    return Array(np.clip(x.v, low, high), x.kind)


@form("swiglu")
def swiglu(x):
    a, b = np.split(x.v, 2, -1)
    return Array(a * sigmoid(a) * b, x.kind)


@form("softmax")
def softmax(x, axis=-1):
    with np.errstate(all="ignore"):
        e = np.exp(x.v - (x.v.max(axis, keepdims=True) if x.shape else x.v))
        return Array(e / (e.sum(axis, keepdims=True) if x.shape else e), x.kind)


@form("log_softmax")
def log_softmax(x):
    with np.errstate(all="ignore"):
        return Array(np.log(softmax(x).v), x.kind)


@form("softmin")
def softmin(x):
    return softmax(Array(-x.v, x.kind))


@form("addn", "accumulate_n")
def addn(tensors):
    return Array(sum(x.v for x in tensors), promote(*tensors))


@form("scalar_cast")
def scalar_cast(x, dtype):
    return OWN[dtype](x).item()


@form("cast")
def cast(x, dtype):
    values = _values(x)
    return Array(values != 0 if str(dtype).lower() == "bool" else values, str(dtype).lower())


def _polygamma(n, x):
    """(-1)^(n + 1)·n!·sum of 1/(x + k)^(n + 1). The terms after K are replaced by the integral and half of the first."""
    k = x + np.arange(20000)
    last = x + 20000
    return (-1) ** (n + 1) * math.factorial(int(n)) * ((1 / k ** (n + 1)).sum() + 1 / (n * last ** n) + 0.5 / last ** (n + 1))


@form("polygamma")
def polygamma(n, x):
    return Array(np.vectorize(_polygamma, otypes=[np.float64])(np.asarray(_values(n), np.float64), x.v), floating(x.kind))


@form("i0")
def i0(x):
    return Array(np.i0(x.v), floating(x.kind))


@form("nextafter")
def nextafter(x, y):
    kind = promote(x, y)
    return Array(np.nextafter(x.v.astype(OWN[kind]), y.v.astype(OWN[kind])), kind)


def _window(name, compute):
    """Returns a window of `length`: symmetric, or one period of a longer one."""
    def apply(length, periodic=True, *, dtype="float32"):
        n = int(_values(length).reshape(()) if isinstance(length, Array) else length)
        return Array(compute(n + 1)[:n] if periodic else compute(n), dtype)
    FUNCTIONS[name] = apply


_window("bartlett_window", np.bartlett)
_window("blackman_window", np.blackman)
_window("hamming_window", np.hamming)

# --- reductions ---------------------------------------------------------------------------------------------------------------------------------


def _axes(axis):
    return None if axis is None or axis == () else tuple(axis) if isinstance(axis, (tuple, list)) else axis


def _reduction(names, compute, kind):
    def apply(x, axis=None, keep=False, *, keepdims=False, keep_dims=False):
        return Array(compute(x.v, axis=_axes(axis), keepdims=keep or keepdims or keep_dims), kind(x.kind))
    for name in names.split():
        FUNCTIONS[name] = METHODS[name] = apply


def counted(kind):
    """Sums and products of integers are int64."""
    return kind if kind in FLOATS else "int64"


def logsumexp(x, axis, keepdims):
    x = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0)
        out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, tuple(range(x.ndim)) if axis is None else axis)


def norm(x, axis, keepdims):
    return np.sqrt(np.sum(np.square(np.asarray(x, np.float64)), axis=axis, keepdims=keepdims))


_reduction("sum nansum", np.nansum, counted)
_reduction("prod", np.prod, counted)


def _spread(name, compute):
    """std and var: ddof comes after axis."""
    def apply(x, axis=None, ddof=0, *, dim=None, correction=None):
        return Array(compute(x.v.astype(np.float64), axis=axis if dim is None else dim, ddof=int(ddof if correction is None else correction)), floating(x.kind))
    FUNCTIONS[name] = apply


_spread("std", np.std)
_spread("var", np.var)
_reduction("nanmean", lambda x, **k: np.nanmean(x.astype(np.float64), **k), floating)
_reduction("mean", lambda x, **k: np.mean(x, **k), lambda kind: "float32" if kind == "bool" else kind)  # integers stay in their type, truncated
_reduction("logsumexp", logsumexp, floating)
_reduction("norm", norm, floating)
_reduction("amax", np.max, str)
_reduction("amin", np.min, str)
_reduction("reduce_sum", np.sum, str)
_reduction("reduce_mean", np.mean, str)
_reduction("count_nonzero", np.count_nonzero, lambda kind: "int32")


def _extremum(name, value, index):
    def function(x, axis=None, keepdims=False):
        if axis is None:
            return Array(value(x.v), x.kind), Array(0, "int64")
        return Array(value(x.v, axis=axis, keepdims=keepdims), x.kind), Array(index(x.v, axis=axis, keepdims=keepdims), "int64")
    FUNCTIONS[name] = function
    METHODS[name] = lambda x, *, axis=None: Array(value(x.v, axis=axis), x.kind)


_extremum("max", np.max, np.argmax)
_extremum("min", np.min, np.argmin)


@form("argmax")
def argmax(x, axis=None):
    return Array(np.argmax(x.v, axis=axis), "int64")


@form("argmin")
def argmin(x, axis=None):
    return Array(np.argmin(x.v, axis=axis), "int32")


def _in_order(x, axis):
    """Returns (sorted values, their positions) along axis: NaN last, equal values in their original order."""
    places = np.argsort(x.v, axis=axis, kind="stable")
    return np.take_along_axis(x.v, places, axis), places


@form("median")
def median(x, axis=-1):
    """Returns the lower of the two middle values, and its position."""
    return kthvalue(x, (x.shape[axis] + 1) // 2, axis)


@form("kthvalue")
def kthvalue(x, k, dim=-1, keepdim=False):
    values, places = (np.take(a, [k - 1], dim) for a in _in_order(x, dim))
    return tuple(Array(a if keepdim else np.squeeze(a, dim), kind) for a, kind in ((values, x.kind), (places, "int64")))


@form("sort")
def sort(x, axis=-1):
    if not x.shape:
        return x, Array(0, "int32")
    values, places = _in_order(x, axis)
    return Array(values, x.kind), Array(places, "int32")


@form("cumsum")
def cumsum(x, axis):
    return Array(np.cumsum(x.v, axis), counted(x.kind) if x.kind == "bool" else x.kind)


def _running(name, better, kind):
    def function(x, axis):
        values, places = np.moveaxis(x.v, axis, 0).copy(), np.zeros(x.shape, np.int64)
        places = np.moveaxis(places, axis, 0).copy()
        for n in range(1, len(values)):
            take = better(values[n], values[n - 1]) | (values[n] == values[n - 1])  # the last of equal values
            values[n], places[n] = np.where(take, values[n], values[n - 1]), np.where(take, n, places[n - 1])
        return Array(np.moveaxis(values, 0, axis), x.kind), Array(np.moveaxis(places, 0, axis), kind)
    FUNCTIONS[name] = function


_running("cummax", np.greater, "int64")
_running("cummin", np.less, "int32")


@form("logcumsumexp")
def logcumsumexp(x, axis):
    return Array(np.logaddexp.accumulate(x.v.astype(np.float64), axis), floating(x.kind))


@form("unique")
def unique(x):
    values, first, inverse = np.unique(x.v, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return Array(values[np.argsort(first)], x.kind), Array(rank[inverse.reshape(-1)].reshape(x.shape), "int32")


@form("searchsorted")
def searchsorted(sequence, values):
    return Array(np.searchsorted(sequence.v, _values(values)), "int64")


@form("trapz")
def trapz(y, x):
    return Array(((y.v[1:] + y.v[:-1]) / 2 * np.diff(x.v)).sum(), promote(y, x))


@form("l2_normalize")
def l2_normalize(x, axis=0, epsilon=1e-4):
    return Array(x.v / np.sqrt(np.maximum(np.sum(np.square(x.v), axis, keepdims=True), epsilon)), floating(x.kind))


@form("l2_loss")
def l2_loss(x):
    return Array(np.sum(np.square(x.v)) / 2, floating(x.kind))


# --- shapes, positions, joining -------------------------------------------------------------------------------------------------------------------


def _arranged(names, compute):
    def apply(x, *given, **named):
        return Array(compute(x.v, *given, **named), x.kind)
    FUNCTIONS.update({name: apply for name in names.split()})


def _roll(x, shifts, dims=None):
    return np.roll(x, shifts, dims)


_arranged("flip", lambda x, dims: np.flip(x, dims))
_arranged("normal", lambda x, mean, deviation: np.random.RandomState(8).normal(mean, deviation, x.shape))
_arranged("uniform", lambda x, low, high: np.random.RandomState(3).uniform(low, high, x.shape))
_arranged("roll", _roll)
_arranged("reshape", np.reshape)
_arranged("tile", np.tile)
_arranged("expand", lambda x, size: np.broadcast_to(x, [m if n == -1 else n for n, m in zip(size, x.shape)]))
_arranged("repeat", np.repeat)
_arranged("clone", np.copy)
_arranged("new_full", lambda x, size, value: np.full(size, value))
_arranged("fill fills full_like", lambda x, value: np.full(x.shape, value))
_arranged("zero", np.zeros_like)
_arranged("transpose", np.transpose)
_arranged("itemset", lambda x, value: np.full(x.shape, value))
_arranged("index_select", lambda x, axis, index: np.take(x, index.v, axis))
_arranged("take", lambda x, index: np.take(x, index.v))
_arranged("space_to_depth", lambda x, b: _blocks(x, b, (0, 3, 5, 1, 2, 4)))


def _blocks(x, b, order):
    """Cuts [n, c, h, w] into blocks of b x b and moves their elements into the channel dimension, in the given order."""
    n, c, h, w = x.shape
    return x.reshape(n, c, h // b, b, w // b, b).transpose(order).reshape(n, c * b * b, h // b, w // b)


for _name, _join in {"concat cat": np.concatenate, "hstack": np.hstack, "vstack row_stack": np.vstack, "dstack": np.dstack,
    "column_stack": np.column_stack}.items():
    for _each in _name.split():
        FUNCTIONS[_each] = lambda tensors, join=_join: Array(join([x.v for x in tensors]), promote(*tensors))


@form("element_size")
def element_size(x):
    return OWN[x.kind]().itemsize


@form("item")
def item(x, index):
    return x.v[index].item() if isinstance(index, tuple) else x.v.reshape(-1)[index].item()


@form("zeros")
def zeros(size):
    return Array(np.zeros(size), "float32")


@form("arange")
def arange(*bounds):
    return Array(np.arange(*bounds), "int64")


@form("unravel_index")
def unravel_index(indices, dims):
    return Array(np.stack(np.unravel_index(indices.v, dims)), indices.kind)


@form("nonzero")
def nonzero(x, as_tuple=False):
    places = tuple(Array(p, "int64") for p in np.nonzero(x.v))
    return places if as_tuple else Array(np.stack([p.v for p in places], -1), "int64")


def _changed(x, place, value):
    values = x.v.copy()
    values[place] = value
    return Array(values, x.kind)


@form("scatter")
def scatter(x, axis, index, value):
    values = x.v.copy()
    np.put_along_axis(values, index.v, value, axis)
    return Array(values, x.kind)


@form("index_fill")
def index_fill(x, axis, index, value):
    return _changed(x, (slice(None),) * axis + (index.v,), value)


@form("inplace_sub")
def inplace_sub(x, v, indices):
    return _changed(x, indices, x.v[indices] - v.v)


@form("embedding")
def embedding(indices, weight, padding_idx=None):
    return Array(weight.v[indices.v], weight.kind)


@form("unsorted_segment_sum")
def unsorted_segment_sum(x, ids, count):
    values = np.zeros((count, *x.shape[ids.v.ndim:]))
    np.add.at(values, ids.v, x.v)
    return Array(values, x.kind)


@form("assign")
def assign(p, value):
    return p._put(array(value))


@form("assign_sub")
def assign_sub(p, value):
    return p._put(array(p.v - value, p.kind))


# --- products -------------------------------------------------------------------------------------------------------------------------------------


@form("matmul", "bmm")
def matmul(a, b):
    return Array(np.matmul(_values(a), _values(b)), promote(array(a), array(b)))


@form("dot")
def dot(a, b):
    return Array(np.dot(a.v, b.v), promote(a, b))


@form("ger", "outer")
def outer(a, b):
    return Array(np.multiply.outer(a.v, b.v), promote(a, b))


@form("einsum")
def einsum(equation, *operands):
    operands = operands[0] if isinstance(operands[0], tuple) else operands
    return Array(np.einsum(equation, *[x.v for x in operands]), promote(*operands))


@form("det")
def det(x):
    return Array(np.linalg.det(x.v), floating(x.kind))


@form("lstsq")
def lstsq(a, b):
    return Array(np.linalg.lstsq(a.v, b.v, None)[0], a.kind)


@form("block_diag")
def block_diag(*blocks):
    out = np.zeros(np.sum([x.shape for x in blocks], 0))
    row = column = 0
    for x in blocks:
        out[row:row + x.shape[0], column:column + x.shape[1]] = x.v
        row, column = row + x.shape[0], column + x.shape[1]
    return Array(out, promote(*blocks))


@form("pdist")
def pdist(x):
    first, second = np.triu_indices(x.shape[-2], 1)
    return Array(np.sqrt(np.square(x.v[..., first, :] - x.v[..., second, :]).sum(-1)), x.kind)


@form("renorm")
def renorm(x, p, axis, maxnorm):
    others = tuple(d for d in range(x.v.ndim) if d != axis)
    size = (np.abs(x.v) ** p).sum(others, keepdims=True) ** (1 / p)
    return Array(x.v * np.where(size > maxnorm, maxnorm / size, 1), x.kind)


@form("inverse")
def inverse(x):
    return Array(np.linalg.inv(x.v), x.kind)


# --- layers -----------------------------------------------------------------------------------------------------------------------------------------


@form("conv_transpose2d")
def conv_transpose2d(x, weight):
    (n, c, h, w), (_, k, kh, kw) = x.shape, weight.shape
    out = np.zeros((n, k, h + kh - 1, w + kw - 1))
    for i in range(h):
        for j in range(w):
            out[:, :, i:i + kh, j:j + kw] += np.einsum("nc,ckij->nkij", x.v[:, :, i, j], weight.v)
    return Array(out, x.kind)


@form("adaptive_avg_pool1d")
def adaptive_avg_pool1d(x, size):
    n = x.shape[-1]
    parts = [x.v[..., i * n // size:-(-(i + 1) * n // size)].mean(-1) for i in range(size)]
    return Array(np.stack(parts, -1), x.kind)


def _normalized(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


@form("lp_pool2d")
def lp_pool2d(x, p, size):
    """Uses windows without overlap."""
    *lead, h, w = x.shape
    blocks = np.abs(x.v).reshape(*lead, h // size, size, w // size, size)
    return Array((blocks ** p).sum((-3, -1)) ** (1 / p), x.kind)


@form("layer_norm")
def layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    out = _normalized(x.v, tuple(range(-len(shape), 0)), eps)
    return Array(out * (1 if weight is None else weight.v) + (0 if bias is None else bias.v), x.kind)


@form("rms_norm")
def rms_norm(x, gamma, epsilon=1e-6):
    """(result, reciprocal of the root mean square)"""
    scale = 1 / np.sqrt(np.mean(np.square(x.v), -1, keepdims=True) + epsilon)
    return Array(x.v * scale * gamma.v, x.kind), Array(scale, "float32")


def _loss(values, reduction, kind):
    return Array({"mean": np.mean, "sum": np.sum, "none": np.asarray}[reduction](values), kind)


@form("soft_margin_loss")
def soft_margin_loss(x, y, reduction="mean"):
    return _loss(softplus(-_values(x) * _values(y)), reduction, floating(promote(x, y)))


@form("multilabel_margin_loss")
def multilabel_margin_loss(x, y, reduction="mean"):
    """A row's classes end at the first negative number; each is compared with every class that the row does not name."""
    out = np.zeros(len(x.v))
    for row, (scores, named) in enumerate(zip(x.v, y.v)):
        own = [int(c) for c in named[:np.argmax(np.append(named, -1) < 0)]]
        out[row] = sum(max(0, 1 - (scores[c] - scores[i])) for c in own for i in range(len(scores)) if i not in own) / len(scores)
    return _loss(out, reduction, x.kind)


@form("triplet_margin_loss")
def triplet_margin_loss(a, p, n, margin=1.0, norm=2, reduction="mean"):
    def distance(x, y):
        return np.sum(np.abs(x.v - y.v + 1e-6) ** norm, -1) ** (1 / norm)
    return _loss(np.maximum(distance(a, p) - distance(a, n) + _values(margin), 0), reduction, promote(a, p, n))
