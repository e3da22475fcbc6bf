"""Generates random calls for run_cases.py: `draw(count, seed)` returns `count` different texts.

Each family below draws one call: a function, arguments that it should accept (sometimes ones that it should not), shapes with dimensions of 0 and 1, element
types, infinities and NaN, and the form of the call (function, method, operator, mint, gradient).
"""
import random

FLOATS = ("float16", "float32", "float32", "float32", "float64", "bfloat16")
INTS = ("int32", "int32", "int64", "uint8")
LETTER = {"float32": "f", "float64": "d", "float16": "h", "bfloat16": "bf", "int32": "i", "int64": "l", "int8": "i8", "int16": "i16", "uint8": "u8",
"bool": "b"}
LIMITS = {"int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1), "int8": (-128, 127), "int16": (-2**15, 2**15 - 1), "uint8": (0, 255)}

UNARY = ("abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad erf erfc erfinv exp exp2 expm1 floor frac isfinite isinf isnan isneginf isposinf log log10 "
         "log1p log2 logical_not neg nan_to_num rad2deg reciprocal round rsqrt sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc relu relu6 "
         "elu celu selu gelu silu mish softsign softplus hardsigmoid hardswish logsigmoid tanhshrink lgamma digamma i0 sgn").split()
SMOOTH = ("sin cos tanh sigmoid exp square gelu silu softplus atan asinh erf log1p sqrt reciprocal mish elu selu softsign logsigmoid abs relu expm1 "
          "sinh cosh tan rsqrt log log2 log10 exp2 erfc hardsigmoid hardswish celu lgamma digamma").split()
BINARY = ("add sub mul div floor_divide fmod remainder maximum minimum pow atan2 hypot eq ne gt ge lt le logical_and logical_or logical_xor copysign "
          "logaddexp logaddexp2 xlogy xdivy ldexp heaviside gcd lcm bitwise_and bitwise_or bitwise_xor fmax fmin float_power isclose nextafter "
          "truncate_div truncate_mod").split()
OPERATORS = "+ - * / // % ** == != < <= > >= & | ^".split()
MINT = set("abs acos acosh add asin asinh atan atan2 atanh ceil cos cosh div eq erf erfc erfinv exp exp2 expm1 float_power floor floor_divide fmod frac ge gt "
           "isclose isfinite isinf le log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor lt maximum minimum mul nan_to_num ne neg pow "
           "reciprocal remainder round rsqrt sigmoid sign sin sinc sinh sqrt square sub tan tanh trunc sum mean prod max min argmax argmin all any cumsum "
           "cumprod std var logsumexp amax amin median norm count_nonzero flip roll tile tril triu topk sort argsort cat chunk split squeeze unsqueeze "
           "reshape permute transpose broadcast_to matmul bmm mm outer dot".split())


class Draw:
    """A stream of random arguments, as texts."""

    def __init__(self, rng):
        self.rng = rng

    def of(self, *choices):
        return self.rng.choice(choices)

    def chance(self, share):
        return self.rng.random() < share

    def shape(self, low=0, high=4, empty=0.06, size=60):
        """Returns dimensions, most of them 1 to 4, a few of them 0."""
        while True:
            dims = [0 if self.chance(empty) else self.rng.choice((1, 2, 2, 3, 3, 4, 5)) for _ in range(self.rng.randint(low, high))]
            total = 1
            for n in dims:
                total *= n
            if total <= size:
                return dims

    def axis(self, rank, wrong=0.03):
        if self.chance(wrong):
            return self.of(rank, -rank - 1)
        return self.rng.randint(-rank, rank - 1) if rank else self.of(0, -1)

    def axes(self, rank):
        """Returns an axis, several as a tuple, or none."""
        if rank == 0 or self.chance(0.2):
            return "None" if self.chance(0.6) else "()"
        if self.chance(0.55):
            return str(self.axis(rank))
        places = self.rng.sample(range(rank), self.rng.randint(1, rank))
        return "(" + "".join(f"{p - rank if self.chance(0.5) else p}, " for p in places) + ")"

    def number(self, dtype, special=0.0):
        if dtype == "bool":
            return self.of("True", "False")
        if dtype in LIMITS:
            if self.chance(special):
                return str(self.of(*LIMITS[dtype]))
            return str(self.rng.randint(max(-9, LIMITS[dtype][0]), 9))
        if self.chance(special):
            return self.of("nan", "inf", "-inf", "-0.0", "0.0", "1e-6", "6e4", "-6e4")
        return str(self.rng.randint(-192, 192) / 64)

    def nested(self, shape, make):
        if not shape:
            return make()
        return "[" + ", ".join(self.nested(shape[1:], make) for _ in range(shape[0])) + "]"

    def tensor(self, shape, dtype="float32", special=0.0, lo=None, hi=None):
        """Returns a tensor in the notation of names(): full values if it is small or special, else X(...) or I(...)."""
        total = 1
        for n in shape:
            total *= n
        letter = LETTER[dtype]
        if total == 0:
            return f"{letter}(np.zeros({tuple(shape)}))"
        if lo is not None or total > 12:
            seed = self.rng.randint(0, 999)
            dims = "".join(f"{n}, " for n in shape)
            if dtype == "bool":
                return f"(I({dims}s={seed}) > 0)"
            if dtype in LIMITS:
                low, high = (0 if dtype == "uint8" else -5, 6) if lo is None else (int(lo), int(hi))
                return f"I({dims}s={seed}, lo={low}, hi={high}, dtype=np.{dtype})"
            low, high = (-2.0, 2.0) if lo is None else (lo, hi)
            if dtype == "bfloat16":
                return f"bf(grid({dims}s={seed}, lo={low}, hi={high}))"
            return f"X({dims}s={seed}, lo={low}, hi={high}, dtype=np.{dtype})"
        return f"{letter}({self.nested(shape, lambda: self.number(dtype, special))})"

    def dtype(self, floats=0.7, bools=0.05):
        kind = self.rng.random()
        return self.of(*FLOATS) if kind < floats else "bool" if kind > 1 - bools else self.of(*INTS)

    def special(self):
        return self.of(0.0, 0.0, 0.0, 0.3)

    def any_tensor(self, low=0, high=4, floats=0.7):
        shape = self.shape(low, high)
        return self.tensor(shape, self.dtype(floats), self.special()), shape

    def fit(self, shape):
        """Returns a shape that broadcasts with another one (rarely: one that does not)."""
        out = [n if self.chance(0.65) else 1 for n in shape]
        out = out[self.rng.randint(0, len(out)):] if out and self.chance(0.4) else out
        if self.chance(0.15) and len(out) < 4:
            out = [self.of(1, 2)] + ([1] * (len(shape) - len(out)) + out if len(out) < len(shape) else out)
        if out and self.chance(0.03):
            out[self.rng.randrange(len(out))] += 1
        return out

    def name_of(self, function):
        return ("ms.mint." if function in MINT and self.chance(0.2) else "ops.") + function


def unary(d):
    function = d.rng.choice(UNARY)
    x, _ = d.any_tensor(floats=0.8)
    if d.chance(0.25) and function not in ("elu celu selu gelu silu mish softsign softplus hardsigmoid hardswish logsigmoid tanhshrink relu relu6".split()):
        return f"({x}).{function}()"
    return f"{d.name_of(function)}({x})"


def binary(d):
    shape = d.shape()
    one = d.dtype()
    two = one if d.chance(0.55) else d.dtype()
    x = d.tensor(shape, one, d.special())
    if d.chance(0.25):
        y = d.of("2", "-3", "0", "2.5", "0.1", "True", "-1.0", "nan", "inf", "1e6", "300", "2**31")
    else:
        y = d.tensor(d.fit(shape), two, d.special())
    if d.chance(0.15):
        x, y = y, x
    if d.chance(0.45):
        return f"({x}) {d.rng.choice(OPERATORS)} ({y})"
    function = d.rng.choice(BINARY)
    if d.chance(0.2) and "(" in x:
        return f"({x}).{function}({y})"
    return f"{d.name_of(function)}({x}, {y})"


def inplace(d):
    shape = d.shape(1, 3)
    x = d.tensor(shape, d.dtype())
    y = d.of("2", "1.5", "True", d.tensor(d.fit(shape), d.dtype()))
    return f"x = {x}; x {d.of('+=', '-=', '*=', '/=', '//=', '%=', '**=', '&=', '|=')} {y}; x"


def reduction(d):
    function = d.of(*"sum mean prod max min all any std var logsumexp amax amin argmax argmin median norm nansum nanmean count_nonzero cumsum cumprod "
                     "cummax cummin logcumsumexp softmax log_softmax aminmax mean sum ptp".split())
    dtype = d.dtype(0.75)
    x, shape = d.any_tensor(0, 4)
    x = d.tensor(shape, dtype, d.special())
    rank = len(shape)
    axis = d.axis(rank)
    if function in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "softmax", "log_softmax"):
        if function in ("cumsum", "cumprod", "cummax", "cummin", "softmax") and d.chance(0.3):
            return f"({x}).{function}({axis})"
        return f"ops.{function}({x}, {axis})" if d.chance(0.8) or function not in MINT else f"ms.mint.{function}({x}, {axis})"
    if function == "ptp":
        return f"({x}).ptp({d.of('', axis)})"
    keep = d.of("", ", keepdims=True", ", keepdims=False")
    if function in ("argmax", "argmin"):
        return d.of(f"ops.{function}({x}, {axis}{keep.replace('keepdims', 'keepdim')})", f"({x}).{function}({d.of('', axis)})", f"ops.{function}({x})",
                    f"ms.mint.{function}({x}, {axis})")
    if function in ("max", "min"):
        return d.of(f"ops.{function}({x}, {axis}{keep})", f"ops.{function}({x})", f"({x}).{function}({d.axes(rank)})",
            f"({x}).{function}(axis={d.axes(rank)}{keep})",
                    f"ms.mint.{function}({x})", f"ms.mint.{function}({x}, {axis}{keep.replace('keepdims', 'keepdim')})")
    if function == "aminmax":
        return f"ops.aminmax({x}, axis={d.of('None', axis)}{keep})"
    if function == "median":
        return d.of(f"ops.median({x})", f"ops.median({x}, {axis}{keep})")
    if function == "norm":
        return f"ops.norm({x}, {d.of('2', '1', 'inf', '-inf', '0', '3')}, dim={d.axis(rank)}{keep.replace('keepdims', 'keepdim')})"
    if function in ("std", "var"):
        return d.of(f"ops.{function}({x}, {d.axes(rank)}, {d.of('0', '1', 'True', 'False')}{keep})", f"({x}).{function}({d.axes(rank)})",
            f"({x}).{function}({d.axes(rank)}, 1{keep})")
    axes = d.axes(rank)
    if function in ("nansum", "nanmean"):
        return f"ops.{function}({x}, {axes}{keep})"
    if function == "logsumexp":
        axes = axes if axes != "None" else axis
        return f"ops.logsumexp({x}, {axes}{d.of('', ', True')})"
    if function == "count_nonzero":
        return d.of(f"ops.count_nonzero({x}, {axes if axes != 'None' else '()'})", f"ms.mint.count_nonzero({x})", f"ms.mint.count_nonzero({x}, {axis})")
    keep_name = {"sum": "keepdim", "mean": "keep_dims", "prod": "keep_dims", "all": "keep_dims", "any": "keep_dims"}.get(function, "keepdims")
    if d.chance(0.3):
        return f"({x}).{function}({axes if function not in ('all', 'any') or axes != 'None' else ''})"
    if d.chance(0.2) and function in MINT:
        return f"ms.mint.{function}({x}{d.of('', f', {axis}', f', {axis}, keepdim=True')})"
    more = f", dtype=ms.{d.of('float32', 'int32', 'float64')}" if function in ("sum", "prod") and d.chance(0.15) else ""
    return f"ops.{function}({x}, {axes}{keep.replace('keepdims', keep_name)}{more})"


def shapes(d):
    x, shape = d.any_tensor(1, 4, floats=0.5)
    rank = len(shape)
    axis = d.axis(rank)
    total = 1
    for n in shape:
        total *= n
    order = d.rng.sample(range(rank), rank)
    if d.chance(0.5):
        order = [o - rank for o in order]
    order = tuple(order)
    divisors = [n for n in range(1, max(total, 1) + 1) if total and total % n == 0] or [0]
    new = d.rng.choice(divisors)
    size = shape[axis % rank] if -rank <= axis < rank else 1
    reps = tuple(d.rng.randint(0, 3) for _ in range(d.rng.randint(1, rank + 1)))
    pads = [d.rng.randint(-1 if d.chance(0.1) else 0, 2) for _ in range(2 * d.rng.randint(1, min(rank, 3)))]
    shift = d.rng.randint(-5, 5)
    cuts = sorted(d.rng.randint(0, max(size, 1)) for _ in range(2))
    return d.rng.choice((
        lambda: f"({x}).reshape({new}, -1)", lambda: f"ops.reshape({x}, ({d.of(new, -1)}, {total // new if new else 0}))",
        lambda: f"ops.transpose({x}, {order})", lambda: f"({x}).transpose({order})", lambda: f"ops.permute({x}, {order})", lambda: f"({x}).permute({order})",
        lambda: f"ops.squeeze({x}{d.of('', f', {axis}')})", lambda: f"({x}).squeeze({d.of('', axis)})", lambda: f"ops.expand_dims({x}, {d.axis(rank + 1)})",
        lambda: f"ops.unsqueeze({x}, {d.axis(rank + 1)})", lambda: f"ops.flip({x}, ({axis},))", lambda: f"({x}).flip(({axis},))",
        lambda: f"ops.roll({x}, {shift}, {axis})", lambda: f"ops.roll({x}, {shift})",
        lambda: f"ops.rot90({x}, {shift}, {d.of((0, 1), (1, 0), (-1, 0), (0, -1))})",
        lambda: f"ops.tile({x}, {reps})", lambda: f"({x}).tile({reps})", lambda: f"ops.repeat_interleave({x}, {d.rng.randint(0, 3)}, {axis})",
        lambda: f"({x}).repeat_interleave({d.rng.randint(1, 3)}{d.of('', f', {axis}')})",
        lambda: f"ops.broadcast_to({x}, {tuple([d.of(1, 2)] + [n if n != 1 else d.of(1, 3) for n in shape])})",
        lambda: f"ops.broadcast_to({x}, {tuple(-1 if d.chance(0.3) else n if n != 1 else d.of(1, 3) for n in shape)})",
        lambda: f"ops.swapaxes({x}, {axis}, {d.axis(rank)})",
        lambda: f"ops.movedim({x}, {axis}, {d.axis(rank)})", lambda: f"ops.split({x}, {d.rng.randint(1, 3)}, {axis})",
        lambda: f"ops.chunk({x}, {d.rng.randint(1, 4)}, {axis})",
        lambda: f"ops.tensor_split({x}, {d.of(d.rng.randint(1, 4), tuple(cuts))}, {axis})", lambda: f"ops.stack([{x}, {x}], {d.axis(rank + 1)})",
        lambda: f"ops.concat([{x}, {x}], {axis})", lambda: f"ops.cat(({x}, {x}, {x}), {axis})", lambda: f"ops.unbind({x}, {axis})",
        lambda: f"ops.flatten({x}, start_dim={axis})",
        lambda: f"({x}).flatten(start_dim={d.rng.randint(0, rank - 1)}, end_dim={axis})", lambda: f"ops.diag({x})",
        lambda: f"ops.diagonal({x}, {d.rng.randint(-2, 2)}, {axis}, {d.axis(rank)})",
        lambda: f"ops.tril({x}, {d.rng.randint(-2, 2)})", lambda: f"ops.triu({x}, {d.rng.randint(-2, 2)})",
        lambda: f"ops.pad({x}, {tuple(pads)}{d.of('', ', value=2', ', value=-1.5')})",
        lambda: f"ops.pad({x}, {tuple(pads)}, mode='{d.of('reflect', 'replicate', 'circular')}')", lambda: f"ops.diff({x}, {d.rng.randint(0, 3)}, {axis})",
        lambda: f"({x}).narrow({axis}, {d.rng.randint(0, size)}, {d.rng.randint(0, size)})",
        lambda: f"ops.meshgrid({d.tensor(d.shape(1, 1))}, {d.tensor(d.shape(1, 1))}, indexing='{d.of('ij', 'xy')}')",
        lambda: f"({x}).view({new}, -1)", lambda: f"({x}).astype(ms.{d.dtype()})", lambda: f"ops.cast({x}, ms.{d.dtype()})",
        lambda: f"ops.diag_embed({x}, {d.rng.randint(-2, 2)})",
        lambda: f"ops.atleast_2d({x})", lambda: f"ops.atleast_3d({x})", lambda: f"ops.hstack(({x}, {x}))", lambda: f"ops.vstack(({x}, {x}))",
        lambda: f"ops.column_stack(({x}, {x}))",
        lambda: f"ops.trace({x})", lambda: f"ops.cov({x})", lambda: f"ops.cross({x}, {x}, {axis})",
        lambda: f"({x}).unfold({axis}, {d.rng.randint(1, 3)}, {d.rng.randint(1, 2)})",
        lambda: f"ops.ones_like({x})", lambda: f"ops.full_like({x}, {d.of('2', '2.5', 'True', '-1')})",
        lambda: f"({x}).resize({d.rng.randint(1, 4)}, {d.rng.randint(1, 4)})",
    ))()


def creation(d):
    start, stop, step = d.rng.randint(-5, 5), d.rng.randint(-5, 9), d.of(1, 2, 0.5, -1, 3, 0.25, -0.75)
    kind = f", dtype=ms.{d.dtype()}" if d.chance(0.4) else ""
    shape = tuple(d.shape(0, 3))
    return d.of(f"ops.arange({stop}{kind})", f"ops.arange({start}, {stop}, {step}{kind})", f"ops.arange({start}.5, {stop}, {step}{kind})",
                f"ops.linspace({start}, {stop}, {d.rng.randint(0, 7)})", f"ops.full({shape}, {d.of('2', '2.5', 'True', 'nan')}{kind})",
                f"ops.eye({d.rng.randint(0, 4)}, {d.rng.randint(0, 4)}, ms.{d.dtype()})",
                f"ops.ones({shape}{kind})", f"ops.zeros({shape}{kind})", f"ops.logspace({start / 2}, {stop / 2}, {d.rng.randint(1, 5)})",
                f"mnp.arange({start}, {stop}, {step})",
                f"mnp.linspace({start}, {stop}, {d.rng.randint(1, 6)}, endpoint={d.of(True, False)})", f"mnp.full({shape}, {d.of('2', '2.5')})",
                f"mnp.tri({d.rng.randint(1, 4)}, {d.rng.randint(1, 4)}, {d.rng.randint(-2, 2)})",
                f"ms.mint.arange({start}, {stop}, {step})", f"ms.mint.linspace({start}, {stop}, {d.rng.randint(1, 6)})",
                f"ops.tril_indices({d.rng.randint(1, 4)}, {d.rng.randint(1, 4)}, {d.rng.randint(-2, 2)})",
                f"Tensor({d.nested(list(shape), lambda: d.number(d.of('float32', 'int32', 'bool')))}{kind})",
                f"mnp.vander({d.tensor([d.rng.randint(1, 4)])}, {d.rng.randint(1, 4)})",
                f"ops.one_hot({d.tensor(d.shape(0, 2), 'int32', lo=-1, hi=4)}, {d.rng.randint(1, 4)}, f(1.0), f(0.0), {d.of(-1, 0)})")


def key(d, shape):
    """Returns a random key for NumPy-style indexing."""
    parts, dims, advanced = [], list(shape), 0
    mask = None
    while dims and d.chance(0.85):
        n = dims.pop(0)
        kind = d.rng.random()
        if kind < 0.22:
            parts.append(str(d.rng.randint(-n, n - 1)) if n and not d.chance(0.03) else str(n))
        elif kind < 0.5:
            low, high = d.of("", d.rng.randint(-n - 1, n + 1)), d.of("", d.rng.randint(-n - 1, n + 1))
            parts.append(f"{low}:{high}" + d.of("", "", ":2", ":1", ":3", ":-1" if d.chance(0.3) else ""))
        elif kind < 0.6:
            parts.append("None")
            dims.insert(0, n)
            if len(parts) > 5:
                break
        elif kind < 0.82 and n and advanced < 3:
            length = d.of((2,), (3,), (1,), (2, 2), (1, 3), ()) if advanced == 0 else mask
            mask = length
            advanced += 1
            values = d.nested(list(length), lambda: str(d.rng.randint(-n, n - 1)))
            parts.append(values if isinstance(length, tuple) and length and d.chance(0.35) and len(length) == 1 else f"{d.of('i', 'l')}({values})")
        elif kind < 0.9 and n:
            parts.append(f"b({d.nested([n], lambda: d.of('True', 'False'))})")
        elif kind < 0.95 and "..." not in parts:
            parts.append("...")
            dims = dims[d.rng.randint(0, len(dims)):]
        else:
            parts.append(":")
    return ", ".join(parts) or d.of("...", "None", ":", "True")


def indexing(d):
    shape = d.shape(1, 4, empty=0.03)
    dtype = d.of("float32", "float32", "int32", "float16", "int64", "bool")
    x = d.tensor(shape, dtype)
    k = key(d, shape)
    form = d.rng.random()
    if form < 0.4:
        return f"x = {x}; x[{k}]"
    if form < 0.6:
        return f"x = {x}; x[{k}] = {d.of('7', '2.5', 'f(3)', 'True', '-1')}; x"
    if form < 0.75:
        return f"x = {x}; x[{k}] = x[{k}] * 2 + 1; x"
    if form < 0.85:
        return f"x = {x}; x[{k}] += {d.of('1', '2', 'f(1.5)')}; x"
    x = d.tensor(shape, "float32")
    return f"w = X(40, s=3); ms.grad(lambda x: (x[{k}].reshape(-1) * w[:x[{k}].size]).sum())({x})"


def selection(d):
    x, shape = d.any_tensor(1, 3, floats=0.7)
    rank = len(shape)
    axis = d.axis(rank)
    size = shape[axis % rank] if -rank <= axis < rank else 1
    index_shape = d.shape(0, 2, empty=0.03)
    kind = d.of("int32", "int64")
    index = d.tensor(index_shape, kind, lo=0, hi=max(size, 1))
    same = d.tensor(shape, kind, lo=0, hi=max(size, 1)) if size else d.tensor(shape, kind)
    mask = d.tensor(d.fit(shape), "bool")
    dtype = d.of("float32", "float32", "int32", "float16", "int64")
    x = d.tensor(shape, dtype, d.special())
    other = d.tensor(shape, dtype, d.special())
    sorted_row = f"f({sorted(d.rng.randint(-9, 9) / 2 for _ in range(d.rng.randint(1, 5)))})"
    vector = d.tensor([d.rng.randint(1, 6)], d.of("int32", "int64"), lo=0, hi=5)
    slots = d.rng.randint(1, 4)
    first = shape[0] if shape else 1
    ids = d.tensor([first], "int32", lo=0, hi=slots) if first else d.tensor([first], "int32")
    return d.rng.choice((
        lambda: f"ops.gather({x}, {index}, {axis})", lambda: f"ops.gather_elements({x}, {axis}, {same})", lambda: f"({x}).gather_elements({axis}, {same})",
        lambda: f"ops.index_select({x}, {axis}, {d.tensor([d.rng.randint(1, 3)], kind, lo=0, hi=max(size, 1))})",
        lambda: f"({x}).take({index}, {axis})",
        lambda: f"ops.where({mask}, {x}, {d.of(other, '2.5', '0', '7')})", lambda: f"ops.select({d.tensor(shape, 'bool')}, {x}, {other})",
        lambda: f"ops.masked_fill({x}, {mask}, {d.of('2', '2.5', 'f(1.5)')})",
        lambda: f"({x}).masked_fill({mask}, {d.of('2', '2.5')})", lambda: f"ops.masked_select({x}, {mask})", lambda: f"ops.nonzero({x})",
        lambda: f"ops.sort({x}, {axis}, {d.of(True, False)})",
        lambda: f"({x}).sort({axis})", lambda: f"ops.argsort({x}, {axis}, {d.of(True, False)})",
        lambda: f"ops.topk({x}, {d.rng.randint(1, max(size, 1))}, {axis}, {d.of(True, False)})",
        lambda: f"ops.topk({x}, {d.rng.randint(1, max(shape[-1], 1))})", lambda: f"ops.unique({d.tensor([d.rng.randint(1, 7)], dtype, lo=-2, hi=3)})",
        lambda: f"ops.unique_consecutive({d.tensor([6], 'int32', lo=0, hi=3)}, {d.of(True, False)}, {d.of(True, False)})",
        lambda: f"ops.searchsorted({sorted_row}, {d.tensor(d.shape(0, 2), 'float32', d.special())}, right={d.of(True, False)})",
        lambda: f"ops.bincount({vector}, minlength={d.rng.randint(0, 6)})",
        lambda: f"ops.bucketize({d.tensor(d.shape(0, 2))}, {sorted(d.rng.randint(-6, 6) / 2 for _ in range(3))}, right={d.of(True, False)})",
        lambda: f"ops.histc({d.tensor([7], d.of('float32', 'int32'))}, {d.rng.randint(1, 5)}, {d.of('-2.0, 2.0', '0.0, 0.0')})",
        lambda: f"ops.tensor_scatter_elements({x}, {same}, {other}, {axis})", lambda: f"ops.tensor_scatter_elements({x}, {same}, {other}, {axis}, 'add')",
        lambda: f"({x}).scatter({axis}, {same}, {other})",
        lambda: f"ops.index_add({x}, {d.tensor([first], 'int32', lo=0, hi=max(first, 1)) if first else d.tensor([0], 'int32')}, {other}, 0)",
        lambda: f"ops.index_fill({x}, {axis}, {d.tensor([d.rng.randint(1, 3)], 'int32', lo=0, hi=max(size, 1))}, {d.of('2', '2.5')})",
        lambda: f"ops.unsorted_segment_{d.of('sum', 'max', 'min', 'prod')}({x}, {ids}, {slots})",
        lambda: f"ops.gather_nd({x}, {d.tensor([2, d.rng.randint(1, rank)], kind, lo=0, hi=max(min(shape), 1))})",
        lambda: f"ops.scatter_nd({d.tensor([3, 1], kind, lo=0, hi=4)}, {d.tensor([3], dtype)}, (4,))",
        lambda: f"ops.tensor_scatter_{d.of('add', 'sub', 'max', 'min', 'update')}({x}, {d.tensor([2, 1], kind, lo=0, hi=max(first, 1))}, {d.tensor([2] + shape[1:], dtype)})",
        lambda: f"ops.clamp({x}, {d.of('-1', '-0.5', 'None')}, {d.of('1', '0.5')})",
        lambda: f"ops.clip_by_value({x}, {d.of('-1', '-0.5')}, {d.of('1', '2.5')})", lambda: f"({x}).clip({d.of('-1', '-0.5')}, {d.of('1', '0.5')})",
        lambda: f"ops.intopk({d.tensor([3, 4])}, {d.tensor([3], 'int32', lo=0, hi=4)}, {d.rng.randint(1, 4)})",
        lambda: f"ops.sequence_mask({d.tensor([d.rng.randint(1, 3)], 'int32', lo=0, hi=5)}, {d.rng.randint(1, 5)})",
        lambda: f"({d.tensor(d.shape(1, 3, empty=0), dtype)}).kthvalue(1)",
        lambda: f"ops.lerp({d.tensor(shape)}, {d.tensor(shape)}, {d.of('0.25', '1.5', d.tensor(shape))})",
        lambda: f"ops.reverse_sequence({d.tensor([2, 3], dtype)}, {d.tensor([2], 'int32', lo=0, hi=4)}, 1, 0)",
    ))()


def linear(d):
    dtype = d.of("float32", "float32", "float64", "float16", "int32", "bfloat16")
    n, k, m = (d.rng.choice((0, 1, 2, 3, 3, 4)) if d.chance(0.2) else d.rng.randint(1, 4) for _ in range(3))
    batch = d.of([], [], [2], [1], [2, 1])
    a, b = d.tensor(batch + [n, k], dtype, d.of(0, 0, 0, 0.1)), d.tensor((batch if d.chance(0.7) else []) + [k, m], dtype)
    square = f"(X({m or 1}, {m or 1}, s={d.rng.randint(0, 99)}) + 3 * ops.eye({m or 1}, {m or 1}, ms.float32))"
    u, v = d.tensor([k], dtype), d.tensor([k], dtype)
    three = f"X({2}, {n or 1}, {k or 1}, s=1), X({2}, {k or 1}, {m or 1}, s=2)"
    return d.of(f"ops.matmul({a}, {b})", f"({a}) @ ({b})", f"ops.matmul({u}, {b})", f"ops.matmul({a}, {u})", f"ops.bmm({three})", f"ops.dot({u}, {v})",
        f"ops.inner({u}, {v})",
                f"ops.outer({u}, {d.tensor([m], dtype)})", f"ops.mm({d.tensor([n, k], dtype)}, {d.tensor([k, m], dtype)})",
                f"ops.mv({d.tensor([n, k], dtype)}, {v})",
                f"ops.addmm({d.tensor([n, m])}, {d.tensor([n, k])}, {d.tensor([k, m])}, beta={d.of(1, 0.5)}, alpha={d.of(1, 2)})", f"ops.inverse({square})",
                f"ops.det({square})", f"ops.slogdet({square})",
                f"ops.matrix_power({square}, {d.rng.randint(-2, 4)})",
                f"ops.einsum('{d.of('ij,jk->ik', 'ij,jk->ki', 'ij,jk', 'ij,jk->i')}', {d.tensor([n or 1, k or 1])}, {d.tensor([k or 1, m or 1])})",
                f"ops.einsum('{d.of('ii->i', 'ii', 'ij->ji', 'ij->')}', {square})", f"mnp.tensordot({d.tensor([2, k or 1])}, {d.tensor([k or 1, 3])}, 1)",
                f"ops.kron({d.tensor([2, 2])}, {d.tensor([1, 2])})",
                f"ops.cdist({d.tensor([n or 1, k or 1])}, {d.tensor([m or 1, k or 1])}, {d.of(2.0, 1.0, 3.0)})",
                f"ops.cholesky(ops.matmul({square}, {square}.T))", f"mnp.dot({a}, {b})", f"ms.mint.matmul({a}, {b})",
                f"w = X(40, s=5); ms.grad(lambda x, y: (ops.matmul(x, y).reshape(-1) * w[:ops.matmul(x, y).size]).sum(), (0, 1))(X({n or 1}, {k or 1}, s=3), X({k or 1}, {m or 1}, s=4))",
                f"ops.baddbmm(X(2, {n or 1}, {m or 1}), {three})", f"ops.renorm({d.tensor([3, 2])}, {d.of(1, 2)}, {d.of(0, 1)}, 1.0)",
                f"ops.trapz({d.tensor([2, 4])}, dx={d.of(1.0, 0.5)}, dim={d.of(0, -1)})")


def gradient(d):
    shape = d.shape(0, 3, empty=0.02, size=24)
    function = d.rng.choice(SMOOTH)
    lo, hi = (0.2, 2.5) if function in ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal", "log1p", "lgamma", "digamma") else (-2.0, 2.0)
    dtype = d.of("float32", "float32", "float32", "float64", "float16")
    x, y = d.tensor(shape, dtype, lo=lo, hi=hi), d.tensor(d.fit(shape), dtype, lo=0.3, hi=2.0)
    w = d.tensor(shape, dtype, lo=-1.0, hi=1.0)
    rank = len(shape)
    axis = d.axis(rank, 0)
    body = d.of(f"(ops.{function}(x) * {w}).sum()", f"(ops.{function}(x * 0.5) * {w}).sum()", f"(ops.softmax(x, {axis}) * {w}).sum()",
    f"ops.logsumexp(x, {axis}).sum()", f"(x.max({axis}) * 2).sum()",
                f"(ops.cumsum(x, {axis}) * {w}).sum()", f"ops.std(x, {axis}).sum()", f"(ops.sort(x, {axis})[0] * {w}).sum()", f"ops.prod(x, {axis}).sum()",
                f"(ops.clamp(x, -0.5, 0.75) * {w}).sum()",
                f"ops.norm(x, {d.of(2, 1, 'inf')}, dim={axis}).sum()", f"(ops.log_softmax(x, {axis}) * {w}).sum()", f"(ops.roll(x, 1, {axis}) * {w}).sum()",
                f"(ops.flip(x, ({axis},)) * {w}).sum()", f"ops.topk(x, 1, {axis})[0].sum()",
                f"(ops.cumprod(x, {axis}) * {w}).sum()", f"x.var({axis}).sum()", f"(x.mean({axis}, keep_dims=True) * x).sum()", f"ops.amax(x, {axis}).sum()",
                f"ops.median(x, {axis})[0].sum()")
    if d.chance(0.35):
        two = d.of("x * y", "x / y", "x ** y", "ops.atan2(x, y)", "ops.maximum(x, y)", "ops.minimum(x, y)", "ops.hypot(x, y)", "ops.logaddexp(x, y)",
        "ops.xlogy(y, y)", "x - y", "ops.fmod(x, y)", "ops.where(x > y, x, y)", "ops.lerp(x, y, 0.25)")
        x = d.tensor(shape, dtype, lo=0.3, hi=2.5)
        return f"ms.grad(lambda x, y: (({two}) * {d.of('1', '2.5')}).sum(), (0, 1))({x}, {y})"
    if d.chance(0.15):
        return f"ms.grad(lambda x: ms.grad(lambda z: (ops.{function}(z) * {w}).sum())(x).sum())({x})"
    return f"ms.{d.of('grad', 'grad', 'value_and_grad')}(lambda x: {body})({x})"


def numpy_like(d):
    x, shape = d.any_tensor(1, 3, floats=0.75)
    rank = len(shape)
    axis = d.axis(rank)
    dtype = d.of("float32", "float32", "int32", "float64")
    x, y = d.tensor(shape, dtype, d.special()), d.tensor(d.fit(shape), dtype)
    one = d.tensor([d.rng.randint(1, 6)], dtype)
    return d.of(f"mnp.{d.of('sum', 'mean', 'max', 'min', 'std', 'var', 'nansum', 'nanmax', 'nanmin', 'nanmean', 'prod', 'ptp')}({x}, axis={d.axes(rank)})",
                f"mnp.{d.of('cumsum', 'cumprod', 'argmax', 'argmin', 'flip', 'nancumsum')}({x}, {axis})",
                f"mnp.{d.of('add', 'subtract', 'multiply', 'divide', 'maximum', 'minimum', 'power', 'hypot', 'floor_divide', 'remainder', 'arctan2', 'logaddexp')}({x}, {y})",
                f"mnp.{d.of('unique', 'ravel', 'sign', 'square', 'sqrt', 'exp', 'log', 'cbrt', 'rint', 'trunc', 'fix', 'reciprocal', 'isnan', 'transpose', 'atleast_2d', 'abs', 'negative', 'positive')}({x})",
                f"mnp.concatenate(({x}, {x}), {d.of('None', axis)})", f"mnp.stack(({x}, {x}), {d.axis(rank + 1)})",
                f"mnp.{d.of('split', 'array_split')}({x}, {d.rng.randint(1, 3)}, {axis})",
                f"mnp.take({x}, {d.tensor([2], 'int32', lo=0, hi=max(1, min(shape)))}, {axis})",
                f"mnp.roll({x}, {d.rng.randint(-3, 3)}, {axis})", f"mnp.diff({x}, axis={axis})", f"mnp.where({d.tensor(shape, 'bool')}, {x}, {y})",
                f"mnp.pad({x}, {d.of('1', '((1, 2),)', '(1, 0)')}, '{d.of('constant', 'edge', 'reflect', 'wrap')}')",
                f"mnp.convolve({one}, {d.tensor([d.rng.randint(1, 3)], dtype)}, '{d.of('full', 'same', 'valid')}')",
                f"mnp.interp({d.tensor([3])}, f([-1, 0, 2]), f([3, 1, 4]))", f"mnp.histogram({d.tensor([6], 'float32')}, {d.rng.randint(1, 4)})[0]",
                f"mnp.digitize({one}, f([-1, 0.5, 2]))", f"mnp.average({x}, {d.of('None', axis)})", f"mnp.clip({x}, -1, {d.of('1', '0.5')})",
                f"mnp.repeat({x}, {d.rng.randint(1, 3)}, {d.of('None', axis)})", f"mnp.swapaxes({x}, {axis}, {d.axis(rank)})",
                f"mnp.gradient({d.tensor([5])})", f"mnp.polyval({one}, {d.tensor([2])})", f"mnp.count_nonzero({x}, {d.of('None', axis)})",
                f"mnp.trace({d.tensor([3, 3], dtype)}, {d.rng.randint(-2, 2)})", f"mnp.isclose({x}, {y})",
                f"mnp.round({x}, {d.rng.randint(-1, 2)})", f"mnp.broadcast_to({x}, {tuple([2] + shape)})",
                f"mnp.searchsorted(f([-1, 0, 1]), {one}, '{d.of('left', 'right')}')", f"mnp.expand_dims({x}, {d.axis(rank + 1)})",
                f"mnp.cross({d.tensor([2, 3])}, {d.tensor([3])})")


def applied(d, layer, x):
    """Returns a layer with given weights applied to x, in inference or training mode, or its gradients."""
    net = f"net = fixed({layer})"
    if d.chance(0.35):
        return f"{net}; net.set_train(); w = X(200, s=9); ms.grad(lambda x: (net(x).reshape(-1) * w[:net(x).size]).sum(), 0{d.of('', ', list(net.trainable_params())')})({x})"
    return f"{net}; net.set_train({d.of(True, False)}); net({x})"


def layers(d):
    n, c, h, w = d.rng.randint(1, 2), d.of(2, 4), d.rng.randint(3, 6), d.rng.randint(3, 6)
    dtype = d.of("float32", "float32", "float32", "float16", "float64")
    x4 = d.tensor([n, c, h, w], dtype, lo=-2.0, hi=2.0)
    x3 = d.tensor([n, c, w], dtype, lo=-2.0, hi=2.0)
    x5 = d.tensor([n, c, 3, h if h < 5 else 4, 3], "float32", lo=-2.0, hi=2.0)
    x2 = d.tensor([n + 1, c], dtype, lo=-2.0, hi=2.0)
    f4 = d.tensor([n, c, h, w], "float32", lo=-2.0, hi=2.0)
    f3 = d.tensor([n, c, w], "float32", lo=-2.0, hi=2.0)
    kernel, stride, dilation = d.rng.randint(1, 3), d.rng.randint(1, 3), d.of(1, 1, 2)
    mode = d.of("pad_mode='same'", "pad_mode='valid'", f"pad_mode='pad', padding={d.rng.randint(0, 2)}")
    group = d.of(1, 1, c)
    bias = d.of("", ", has_bias=True")
    conv = f"{d.of(kernel, (kernel, d.rng.randint(1, 3)))}, {d.of(stride, (stride, 1))}, {mode}"
    pool = f"{d.of(kernel, (kernel, 2))}, {stride}, '{d.of('same', 'valid')}'"
    train = "" if d.chance(0.5) else f", momentum={d.of(0.9, 0.5)}, eps={d.of(1e-5, 1e-3)}"
    out = d.of("1", "2", "3", "(2, 1)", "(None, 2)")
    choices = (
        (f"nn.Conv2d({c}, {c * d.of(1, 2)}, {conv}, dilation={dilation}, group={group}{bias})", f4),
        (f"nn.Conv1d({c}, 3, {kernel}, {stride}, {mode}, dilation={dilation}{bias})", f3),
        (f"nn.Conv2dTranspose({c}, 3, {kernel}, {stride}, {mode}{bias})", f4),
        (f"nn.Conv3d({c}, 2, {kernel}, {stride}, {mode.replace('padding=2', 'padding=1')}{bias})", x5),
        (f"nn.Conv1dTranspose({c}, 3, {kernel}, {stride}, {mode}{bias})", f3), (f"nn.MaxPool2d({pool})", x4), (f"nn.AvgPool2d({pool})", f4),
        (f"nn.MaxPool1d({kernel}, {stride}, '{d.of('same', 'valid')}')", f3),
        (f"nn.AvgPool1d({kernel}, {stride}, '{d.of('same', 'valid')}')", f3),
        (f"nn.AvgPool2d({kernel + 1}, {stride}, 'pad', {d.of(0, 1)}, {d.of(True, False)}, {d.of(True, False)})", f4),
        (f"nn.MaxPool2d({kernel + 1}, {stride}, 'pad', {d.of(0, 1)})", f4), (f"nn.AdaptiveAvgPool2d({out})", f4), (f"nn.AdaptiveMaxPool2d({out})", f4),
        (f"nn.AdaptiveAvgPool1d({d.rng.randint(1, 3)})", f3),
        (f"nn.BatchNorm2d({c}{train})", f4), (f"nn.BatchNorm1d({c}{train})", d.tensor([n + 1, c], "float32", lo=-2.0, hi=2.0)),
        (f"nn.LayerNorm(({w},){d.of('', ', epsilon=1e-5', ', begin_norm_axis=-1')})", x4),
        (f"nn.LayerNorm(({h}, {w}), begin_norm_axis=2, begin_params_axis=2)", f4), (f"nn.GroupNorm({d.of(1, 2, c)}, {c}{d.of('', ', eps=1e-3')})", f4),
        (f"nn.InstanceNorm2d({c})", f4),
        (f"nn.Dense({c}, {d.rng.randint(1, 4)}{d.of('', ', has_bias=False')}{d.of('', ', activation=' + repr(d.of('relu', 'tanh', 'sigmoid')))})",
        x2.replace("np.float16", "np.float32")),
        (f"nn.Embedding({d.rng.randint(5, 7)}, 3{d.of('', ', padding_idx=1')})", f"({d.tensor([2, 3], d.of('int32', 'int64'), lo=0, hi=5)})"),
        (f"nn.PReLU({d.of(1, c)})", f4),
        (f"nn.{d.of('ReLU', 'ReLU6', 'ELU', 'GELU', 'SiLU', 'Mish', 'Sigmoid', 'Tanh', 'HSwish', 'HSigmoid', 'Softsign', 'LogSigmoid', 'SeLU', 'CELU', 'FastGelu', 'Tanhshrink', 'LeakyReLU', 'SoftShrink', 'HShrink', 'Hardtanh')}()", d.tensor(d.shape(0, 3), dtype, d.of(0.0, 0.2))),
        (f"nn.{d.of('Softmax', 'LogSoftmax', 'Softmin')}({d.of('', d.axis(4, 0))})", x4), (f"nn.{d.of('Flatten', 'Identity')}()", x4),
        (f"nn.PixelShuffle({d.of(1, 2)})", d.tensor([n, 4, h, w], dtype, lo=-2.0, hi=2.0)),
        (f"nn.PixelUnshuffle(2)", d.tensor([n, c, 4, 6], dtype, lo=-2.0, hi=2.0)),
        (f"nn.{d.of('ReflectionPad2d', 'ReplicationPad2d', 'ZeroPad2d')}({d.of(1, (1, 0, 2, 1))})", f4),
        (f"nn.ConstantPad2d({d.of(1, (1, 0, 2, -1))}, {d.of(2.5, 0)})", f4),
        (f"nn.Upsample({d.of('size=(5, 7)', 'scale_factor=2.0')}, mode='{d.of('nearest', 'area')}')", f4),
        (f"nn.Upsample(size=({d.rng.randint(1, 8)}, {d.rng.randint(1, 8)}), mode='bilinear', align_corners={d.of(True, False)})", f4),
        (f"nn.ChannelShuffle(2)", x4), (f"nn.LRN({d.of(3, 5)})", f4),
        (f"nn.Unfold([1, {kernel}, {kernel}, 1], [1, {stride}, {stride}, 1], [1, 1, 1, 1], '{d.of('valid', 'same')}')", f4),
        (f"nn.Unflatten(1, ({c // 2}, 2))", x4), (f"nn.GLU({d.of(1, -3)})", f4),
        (f"nn.LPPool2d({d.of(1.0, 2.0)}, {kernel}, {stride})", f4.replace("lo=-2.0", "lo=0.1")),
        (f"nn.BiDense({c}, {c}, 3)", None), (f"nn.MaxPool3d({kernel}, {stride})", x5), (f"nn.AvgPool3d({kernel}, {stride})", x5))
    layer, x = d.rng.choice(choices)
    if x is None:
        return f"net = fixed({layer}); net({d.tensor([n, c])}, {d.tensor([n, c])})"
    if "Embedding" in layer:
        return f"net = fixed({layer}); net{x}"
    return applied(d, layer, x)


def losses(d):
    rows, classes = d.rng.randint(1, 4), d.rng.randint(2, 4)
    reduction = d.of("mean", "sum", "none")
    dtype = d.of("float32", "float32", "float32", "float16")
    x, y = d.tensor([rows, classes], dtype, lo=-2.0, hi=2.0), d.tensor([rows, classes], dtype, lo=-2.0, hi=2.0)
    p, q = d.tensor([rows, classes], dtype, lo=0.1, hi=0.9), d.tensor([rows, classes], dtype, lo=0.0, hi=1.0)
    labels = d.tensor([rows], "int32", lo=0, hi=classes)
    some = f"{d.of('', f', weight={d.tensor([classes], lo=0.2, hi=2.0)}')}{d.of('', ', ignore_index=1')}, reduction='{reduction}'"
    signs = f"(I({rows}, {classes}, s=3) > 0).astype(ms.float32) * 2 - 1"
    call = d.of(
        f"ops.cross_entropy({x}, {labels}{some}{d.of('', ', label_smoothing=0.1')})", f"ops.cross_entropy({x}, ops.softmax({y}), reduction='{reduction}')",
        f"ops.nll_loss(ops.log_softmax({x}, 1), {labels}{some})",
        f"ops.mse_loss({x}, {y}, reduction='{reduction}')", f"ops.l1_loss({x}, {y}, reduction='{reduction}')",
        f"ops.smooth_l1_loss({x}, {y}, beta={d.of(1.0, 0.5)}, reduction='{reduction}')",
        f"ops.huber_loss({x}, {y}, reduction='{reduction}', delta={d.of(1.0, 0.5)})", f"ops.binary_cross_entropy({p}, {q}, reduction='{reduction}')",
        f"ops.kl_div({x}, ops.softmax({y}), reduction='{d.of('mean', 'sum', 'none', 'batchmean')}')",
        f"ops.binary_cross_entropy_with_logits({x}, {q}, {d.tensor([classes], dtype, lo=0.2, hi=2.0)}, {d.tensor([classes], dtype, lo=0.2, hi=2.0)}, reduction='{reduction}')",
        f"ops.margin_ranking_loss({d.tensor([rows])}, {d.tensor([rows])}, f({[d.of(-1, 1) for _ in range(rows)]}), margin={d.of(0.0, 0.5)}, reduction='{reduction}')", f"ops.hinge_embedding_loss({x}, {signs}, margin={d.of(1.0, 0.5)}, reduction='{reduction}')",
        f"ops.cosine_embedding_loss({x}, {y}, i({[d.of(-1, 1) for _ in range(rows)]}), margin={d.of(0.0, 0.3)}, reduction='{reduction}')",
        f"ops.soft_margin_loss({x}, {signs}, reduction='{reduction}')",
        f"ops.triplet_margin_loss({x}, {y}, {p}, margin={d.of(1.0, 0.3)}, p={d.of(1, 2)}, reduction='{reduction}')",
        f"ops.multi_margin_loss({x}, {labels}, p={d.of(1, 2)}, reduction='{reduction}')",
        f"ops.multilabel_soft_margin_loss({x}, ({q} > 0.5).astype(ms.float32), reduction='{reduction}')",
        f"ops.gaussian_nll_loss({x}, {y}, {p}, full={d.of(True, False)}, reduction='{reduction}')",
        f"nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='{reduction}')({x}, {labels})",
        f"nn.FocalLoss(gamma={d.of(1.0, 2.0)}, reduction='{reduction}')({x}, {labels}.reshape(-1, 1))", f"nn.DiceLoss()({p}, ({q} > 0.5).astype(ms.float32))",
        f"nn.RMSELoss()({x}, {y})", f"nn.PoissonNLLLoss(log_input={d.of(True, False)}, full={d.of(True, False)}, reduction='{reduction}')({p}, {q})",
        f"nn.CosineEmbeddingLoss({d.of(0.0, 0.3)}, '{reduction}')({x}, {y}, i({[d.of(-1, 1) for _ in range(rows)]}))")
    if d.chance(0.3) and call.startswith("ops.") and f"({x}, " in call:
        return f"ms.grad(lambda x: {call.replace('(' + x + ', ', '(x, ', 1)}.sum())({x})"
    return call


def images(d):
    n, c, h, w = 1, d.rng.randint(1, 2), d.rng.randint(2, 5), d.rng.randint(2, 5)
    x = d.tensor([n, c, h, w], "float32", lo=-2.0, hi=2.0)
    size = (d.rng.randint(1, 7), d.rng.randint(1, 7))
    weight = f"X(3, {c}, {min(h, 2)}, {min(w, 2)}, s=4)"
    return d.of(f"ops.interpolate({x}, size={size}, mode='{d.of('nearest', 'area')}')",
        f"ops.interpolate({x}, size={size}, mode='{d.of('bilinear', 'bicubic')}', align_corners={d.of(True, False)})",
                f"ops.interpolate({x}, scale_factor={d.of((2.0, 2.0), (1.5, 0.5))}, mode='{d.of('nearest', 'bilinear')}', recompute_scale_factor=True)",
                f"ops.grid_sample({x}, X(1, 3, 2, 2, s=7, lo=-1.2, hi=1.2), '{d.of('bilinear', 'nearest')}', '{d.of('zeros', 'border', 'reflection')}', {d.of(True, False)})", f"ops.affine_grid(X(1, 2, 3, s=2), (1, 1, {h}, {w}), {d.of(True, False)})",
                f"ops.conv2d({x}, {weight}, {d.of('None', 'f([1, 2, 3])')}, stride={d.of(1, 2)}, pad_mode='pad', padding={d.of(0, 1)}, dilation={d.of(1, 1, 2)})", f"ops.unfold({x}, {d.of(1, 2)}, {d.of(1, 2)}, {d.of(0, 1)}, {d.of(1, 2)})",
                f"ops.fold(X(1, {c * 4}, {(h - 1) * (w - 1)}, s=3), i([{h}, {w}]), 2)",
                f"ops.max_pool2d({x}, {d.of(1, 2)}, {d.of(1, 2)}, {d.of(0, 0, 1)}, {1}, {d.of(True, False)}, {d.of(True, False)})",
                f"ops.avg_pool2d({x}, {d.of(1, 2)}, {d.of(1, 2)}, {0})",
                f"ops.adaptive_avg_pool2d({x}, {size})", f"ops.adaptive_max_pool2d({x}, {d.rng.randint(1, 3)})", f"ops.pixel_unshuffle(X(1, 1, 4, 4), 2)",
                f"ops.lp_pool2d({x}, 2.0, 2)",
                f"ops.dense({d.tensor([2, h])}, X(3, {h}, s=1), f([1, 2, 3]))",
                f"ops.batch_norm({x}, X({c}, s=1), X({c}, s=2, lo=0.5), X({c}, s=3), X({c}, s=4), {d.of(True, False)})",
                f"ops.layer_norm({x}, ({w},), X({w}, s=1), X({w}, s=2))", f"ops.group_norm({x}, 1, X({c}, s=1), X({c}, s=2))",
                f"ops.rms_norm({x}, X({w}, s=1))[0]",
                f"ops.prelu({x}, X({c}, s=2))", f"ops.glu(X(2, 4, s={d.rng.randint(0, 9)}), {d.of(0, 1, -1)})",
                f"ops.threshold({x}, 0.5, {d.of('2', '-1.5')})")


def optimizers(d):
    rate, decay = d.of(0.1, 0.01, 0.5), d.of(0.0, 0.0, 0.01)
    make = d.of(f"nn.Momentum(p, {rate}, {d.of(0.9, 0.5)}, weight_decay={decay}, use_nesterov={d.of(True, False)})",
    f"nn.SGD(p, {rate}, {d.of(0.0, 0.9)}, {d.of(0.0, 0.0)}, {decay})",
    f"nn.Adam(p, {rate}, beta1={d.of(0.9, 0.7)}, weight_decay={decay}, use_amsgrad={d.of(True, False, False)})",
                f"nn.AdamWeightDecay(p, {rate}, weight_decay={decay})",
                f"nn.RMSProp(p, {rate}, {d.of(0.9, 0.5)}, {d.of(0.0, 0.5)}, {d.of(1e-10, 1e-3)}, weight_decay={decay})",
                f"nn.Adagrad(p, {d.of(0.1, 0.5)}, {rate}, weight_decay={decay})", f"nn.AdaMax(p, {rate}, weight_decay={decay})",
                f"nn.Adadelta(p, {rate}, {d.of(0.9, 0.5)}, weight_decay={decay})", f"nn.Lamb(p, {rate}, weight_decay={decay})", f"nn.Rprop(p, {rate})",
                f"nn.ASGD(p, {rate}, weight_decay={decay})", f"nn.LARS(nn.Momentum(p, {rate}, 0.9), weight_decay={d.of(0.0, 0.01)})",
                f"nn.FTRL(p, learning_rate={rate})",
                f"nn.ProximalAdagrad(p, learning_rate={rate})", f"nn.Momentum(p, [0.1, 0.05, 0.01], 0.9)",
                f"nn.SGD(p, nn.ExponentialDecayLR({rate}, 0.5, 2))",
                f"nn.Momentum([dict(params=p[:1], lr=0.1, weight_decay=0.01), dict(params=p[1:])], {rate}, 0.9)")
    return f"train(lambda p: {make}, {d.rng.randint(1, 4)})"


FAMILIES = ((unary, 10), (binary, 18), (inplace, 4), (reduction, 14), (shapes, 12), (creation, 5), (indexing, 14), (selection, 10), (linear, 6),
(gradient, 10), (numpy_like, 8), (layers, 12), (losses, 6), (images, 5), (optimizers, 3))


def draw(count, seed):
    """Returns `count` different calls for a seed, in a fixed order."""
    rng = random.Random(seed)
    d = Draw(rng)
    made, cases = [f for f, weight in FAMILIES for _ in range(weight)], {}
    while len(cases) < count:
        cases[rng.choice(made)(d)] = None
    return list(cases)
