"""The methods of Tensor that are functions of sindri.ops: `attach(Tensor)` adds them to the class.

Most are the function of the same name with the tensor as first argument. Written out are those whose arguments differ from the function's
(Tensor.sum counts axes as NumPy, Tensor.max gives values only, …).
"""
from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from sindri import _core
from sindri._check import check_choice
from sindri._graph_key import clock, hooks_made
from sindri._signatures import as_method, signature
from sindri.common import dtype as mstype
from sindri.common._indexing import with_item
from sindri.common._views import of_first_era, reshaped, transposed
from sindri.common.hook_handle import HookHandle
from sindri.context import era
from sindri.ops import _tensor_facts as facts
from sindri.ops import function
from sindri.ops._method_names import METHODS, with_both_names
from sindri.ops._tensor_facts import give, shape_of
from sindri.ops._util import as_tensor, filled, to_axis
from sindri.ops.function import array_func, choose_func, creation_func, index_func, reduce_func

_ops = _core.ops
Tensor = _core.Tensor
Axis = Union[None, int, Sequence[int]]

# Functions of sindri.ops that are methods as they are.
_SAME = """
abs absolute acos acosh addbmm addcdiv addcmul addmm addmv addr adjoint all amax amin aminmax any approximate_equal arccos arccosh arcsin arcsinh
arctan arctan2 arctanh argmax argwhere asin asinh atan atan2 atanh baddbmm bincount bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor bmm broadcast_to ceil cholesky cholesky_inverse cholesky_solve chunk clamp clip conj copysign cos cosh count_nonzero
cov cross cummax cummin cumprod deg2rad det diag diagflat diagonal_scatter diff digamma div divide dot dsplit eq equal erf erfc erfinv exp expand_as
expand_dims expm1 fill_diagonal fills flip fliplr flipud float_power floor floor_divide fmax fmin fmod fold frac gather_elements gather_nd gcd ge ger
greater greater_equal gt hardshrink heaviside histc hsplit hypot i0 index_fill index_select inner inv inverse invert is_complex is_floating_point
isclose isfinite isinf isnan isneginf isposinf isreal kthvalue lcm ldexp le lerp less less_equal lgamma log log10 log1p log2 log_matrix_determinant
logaddexp logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logsumexp lstsq lt masked_fill masked_scatter
masked_select matmul matrix_determinant matrix_power maximum median minimum mm moveaxis movedim msort mul multinomial multiply mvlgamma nan_to_num
nanmean nanmedian nansum narrow ne neg negative nextafter nonzero norm not_equal outer positive pow rad2deg random_categorical ravel real reciprocal
relu remainder renorm repeat_interleave reverse reverse_sequence roll rot90 round rsqrt scatter select_scatter sgn sigmoid sign signbit sin sinc sinh
slice_scatter slogdet soft_shrink softmax split sqrt square squeeze subtract svd swapaxes swapdims t tan tanh tensor_split tile top_k topk tril triu
true_divide trunc type_as unbind unfold unique unique_consecutive unique_with_pad unsorted_segment_max unsorted_segment_min unsorted_segment_prod
unsorted_segment_sum view_as vsplit xdivy xlogy
"""

# Methods under another name than the function's.
_RENAMED = {
    "unsqueeze": "expand_dims",
    "scatter_sub": "tensor_scatter_sub", "scatter_mul": "tensor_scatter_mul", "scatter_div": "tensor_scatter_div",
    "scatter_max": "tensor_scatter_max", "scatter_min": "tensor_scatter_min",
}

# Methods that change the tensor: name_ is name with the result put in its place.
_IN_PLACE = "add sub mul div clamp exp log sigmoid tanh floor sign masked_fill floor_divide remainder index_add index_fill scatter"


def _like(method: Callable, name: str, function: Callable) -> None:
    """Gives a method the name and the signature of the function it calls."""
    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    method.__wrapped__ = function  # type: ignore[attr-defined]
    method.__signature__ = as_method(signature(function))  # type: ignore[attr-defined]


def _method(name: str, function: Callable) -> Callable:
    """The function as a method. A plain wrapper: builtin functions do not bind to instances."""
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)
    _like(method, name, function)
    native = function.__module__ == "sindri._core.ops"
    text = (function.__doc__ or "").strip()
    method.__doc__ = (text.partition("\n")[2].strip() if native else text) or f"ops.{name} of the tensor."
    return method


def _in_place(name: str, function: Callable) -> Callable:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        value = function(self, *args, **kwargs)
        if value.shape != self.shape:
            raise ValueError(f"the result has shape {value.shape}, the tensor {self.shape} | Tensor.{name}_ | use {name}, which makes a tensor of its own")
        if value.dtype.is_floating and not self.dtype.is_floating:
            raise TypeError(f"the result is of {value.dtype}, the tensor of {self.dtype} | Tensor.{name}_ | cast the tensor first, or use {name}")
        return give(self, value)
    _like(method, name + "_", function)
    method.__doc__ = (f"{name} in place: the tensor is given the result, in its type; returns the tensor. Raises ValueError for a result of another shape, "
                      "TypeError for floating results in a tensor of integers.")
    return method


# --- methods with arguments of their own ------------------------------------------------------------------------------------------------


def reshape(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape: reshape(2, -1) or reshape((2, -1)). Raises ValueError when the counts differ."""
    return reshaped(self, shape_of(shape, "Tensor.reshape"))


def view(self: Tensor, *shape: Any) -> Tensor:
    """reshape by another name."""
    return reshaped(self, shape_of(shape, "Tensor.view"))


def transpose(self: Tensor, *axes: Any, dim0: Optional[int] = None, dim1: Optional[int] = None) -> Tensor:
    """The dimensions in the order of axes: transpose(0, 2, 1) or transpose((0, 2, 1)); all reversed without axes. Two ints, or dim0 and dim1,
    exchange these two dimensions; in era 1 two ints are the order of a matrix's. Raises ValueError, TypeError."""
    if dim0 is not None or dim1 is not None:
        if axes or dim0 is None or dim1 is None:
            raise TypeError("give two dimensions as dim0 and dim1, or axes without names | Tensor.transpose")
        return _exchanged(self, dim0, dim1)
    if not axes or axes == (None,):
        return transposed(self, list(range(len(self.shape)))[::-1])
    if len(axes) == 2 and (len(self.shape) != 2 or not of_first_era()):
        return _exchanged(self, axes[0], axes[1])
    return transposed(self, list(shape_of(axes, "Tensor.transpose")))


def _exchanged(x: Tensor, a: Any, b: Any) -> Tensor:
    n = len(x.shape)
    if type(a) is int and type(b) is int and -n <= a < n and -n <= b < n:
        perm = list(range(n))
        perm[a], perm[b] = perm[b], perm[a]
        return transposed(x, perm)
    return array_func.swapaxes(x, a, b)


def permute(self: Tensor, *axis: Any) -> Tensor:
    """The dimensions in the order of axis, without one reversed. Raises ValueError."""
    return transposed(self, list(shape_of(axis, "Tensor.permute")) if axis else list(range(len(self.shape)))[::-1])


def flatten(self: Tensor, order: Union[str, int] = "C", *last: int, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions start_dim to end_dim as one, which may stand first without their names; order 'F' reverses the dimensions first."""
    if isinstance(order, int):
        start_dim, order = order, "C"
        if last:
            end_dim, last = last[0], last[1:]
    if last:
        raise TypeError(f"expected an order, or the first and the last dimension, got {len(last)} arguments more | Tensor.flatten")
    return array_func.flattened(self, order, start_dim=start_dim, end_dim=end_dim)


def resize(self: Tensor, *new_shape: Any) -> Tensor:
    """A tensor of another shape with the elements in order, cut or filled up with zeros; a view where it holds as many."""
    shape = shape_of(new_shape, "Tensor.resize")
    if math.prod(shape) == self.size:
        return reshaped(self, shape)
    flat, n = _ops.reshape(self, (-1,)), math.prod(shape)
    flat = _ops.slice(flat, [0], [n]) if n <= self.size else _ops.pad(flat, [0, n - self.size])
    return _ops.reshape(flat, shape)


def expand(self: Tensor, *size: Any) -> Tensor:
    """The tensor repeated to a shape; -1 keeps a dimension."""
    return array_func.broadcast_to(self, shape_of(size, "Tensor.expand"))


def broadcast_to(self: Tensor, *shape: Any) -> Tensor:
    """The tensor repeated to a shape; -1 keeps a dimension. Raises ValueError when it does not broadcast."""
    return expand(self, *shape)


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Sums of the dimensions that broadcasting to the tensor's shape had repeated."""
    return _ops.sum_to(self, shape_of(size, "Tensor.sum_to_size"))


def _keep(keepdims: bool, keep_dims: Optional[bool]) -> bool:
    return keepdims if keep_dims is None else keep_dims


def sum(self: Tensor, axis: Axis = None, *given: Any, dtype: Any = None, keepdims: bool = False, initial: Optional[float] = None,
        keep_dims: Optional[bool] = None) -> Tensor:
    """Sum over axes; bool and integers give int64 unless dtype says otherwise. initial is added. Behind axis may stand keepdims (a bool), or dtype
    and keepdims."""
    if given and isinstance(given[0], bool):
        given = (None, *given)
    if len(given) > 3:
        raise TypeError(f"expected axis, dtype, keepdims and initial, got {3 - len(given)} more | Tensor.sum")
    dtype, keepdims, initial = (own if i >= len(given) or given[i] is None else given[i] for i, own in enumerate((dtype, keepdims, initial)))
    out = reduce_func.sum(self, axis, _keep(keepdims, keep_dims), dtype=dtype)
    return out if initial is None else _ops.add(out, initial)


def mean(self: Tensor, axis: Axis = None, keep_dims: bool = False, *, keepdims: Optional[bool] = None, dtype: Any = None) -> Tensor:
    """Mean over axes, of the values in another element type when dtype says so."""
    return reduce_func.mean(self if dtype is None else _ops.cast(self, dtype), axis, _keep(keep_dims, keepdims))


def _freedom(ddof: Union[int, bool], correction: Optional[int]) -> Union[int, bool]:
    return ddof if correction is None else correction


def std(self: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False, *, correction: Optional[int] = None) -> Tensor:
    """Standard deviation over axes: the sum of squares is divided by count - ddof, at least 0. correction is another name of ddof."""
    return reduce_func.std(self, axis, _freedom(ddof, correction), keepdims)


def var(self: Tensor, axis: Axis = None, ddof: Union[int, bool] = 0, keepdims: bool = False, *, dim: Axis = None, keepdim: Optional[bool] = None,
        correction: Optional[int] = None) -> Tensor:
    """Variance over axes; see std. dim and keepdim ask for correction, too: MindSpore means 1 by leaving it out there, and 0 beside axis. Raises
    TypeError."""
    if dim is not None and axis is not None or keepdim is not None and keepdims:
        raise TypeError("axis and dim, or keepdims and keepdim, which mean the same, are both given | Tensor.var")
    if (dim is not None or keepdim is not None) and correction is None and not ddof:
        raise TypeError("correction is missing beside dim or keepdim | Tensor.var | give correction=0 to divide by the count, 1 for the estimate of a sample")
    return reduce_func.var(self, axis if dim is None else dim, _freedom(ddof, correction), keepdims if keepdim is None else keepdim)


def sort(self: Tensor, axis: int = -1, descending: bool = False, *, stable: bool = False) -> tuple:
    """(sorted values, their int32 indices) along axis. Equal values keep their order, whatever stable says."""
    return reduce_func.sort(self, axis, descending)


def argsort(self: Tensor, axis: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """Indices (int32) that sort the tensor along axis; see sort."""
    return sort(self, axis, descending)[1]


def prod(self: Tensor, axis: Axis = None, keep_dims: bool = False, dtype: Any = None, *, keepdims: Optional[bool] = None) -> Tensor:
    """Product over axes."""
    return reduce_func.prod(self, axis, _keep(keep_dims, keepdims), dtype)


def _one_axis(axis: Axis) -> Optional[int]:
    if axis is not None and not isinstance(axis, int):
        raise TypeError(f"return_indices needs one axis, got {axis!r} | Tensor.max, Tensor.min | give an int")
    return axis


def _extremum(name: str, self: Tensor, given: tuple, axis: Axis, keepdims: bool, initial: Any, where: Any, return_indices: bool, dim: Any,
              keepdim: bool) -> Any:
    """Of max and min: a dimension that is given by its place, or as dim, asks for the indices, too, but for in era 1. keepdim is another name of
    keepdims."""
    keepdims = keepdims or keepdim
    if len(given) > 2 or given and axis is not None or len(given) == 2 and keepdims:
        raise TypeError(f"expected at most an axis and keepdims, each once, got {given} | Tensor.{name}")
    if dim is not None and (given or axis is not None):
        raise TypeError(f"the dimension is given twice, also as dim={dim} | Tensor.{name}")
    if given:
        axis, keepdims = given[0], given[1] if len(given) == 2 else keepdims
        return_indices = return_indices or (axis is not None and not isinstance(axis, (tuple, list)) and era() == 2)
    if dim is not None:
        axis, return_indices = dim, True
    if return_indices:
        return getattr(reduce_func, name)(self, _one_axis(axis), keepdims, initial=initial, where=where)
    return getattr(reduce_func, "a" + name)(self, axis, keepdims and (axis is not None or era() == 1), initial=initial, where=where)


def max(self: Tensor, *given: Any, axis: Axis = None, keepdims: bool = False, initial: Optional[float] = None, where: Any = True, return_indices: bool = False,
        dim: Optional[int] = None, keepdim: bool = False) -> Any:
    """Largest element: max(), or over axes: max(axis=1). max(1), max(dim=1) and return_indices give (values, their int64 indices) along one
    dimension; in era 1 max(1) gives the values."""
    return _extremum("max", self, given, axis, keepdims, initial, where, return_indices, dim, keepdim)


def min(self: Tensor, *given: Any, axis: Axis = None, keepdims: bool = False, initial: Optional[float] = None, where: Any = True, return_indices: bool = False,
        dim: Optional[int] = None, keepdim: bool = False) -> Any:
    """Smallest element: min(), or over axes: min(axis=1). min(1), min(dim=1) and return_indices give (values, their int64 indices) along one
    dimension; in era 1 min(1) gives the values."""
    return _extremum("min", self, given, axis, keepdims, initial, where, return_indices, dim, keepdim)


def argmax_with_value(self: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple:
    """(value, index) of the largest element along axis; in era 1 (index, value)."""
    return reduce_func.max_with_index(self, axis, keep_dims)[::1 if era() == 1 else -1]


def argmin_with_value(self: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple:
    """(value, index) of the smallest element along axis; in era 1 (index, value)."""
    return reduce_func.min_with_index(self, axis, keep_dims)[::1 if era() == 1 else -1]


def argmin(self: Tensor, axis: Optional[int] = None, keepdims: bool = False) -> Tensor:
    """Index (int32) of the first smallest element along axis, or in the flat tensor."""
    return reduce_func.argmin(self, axis, keepdims)


def argmax(self: Tensor, axis: Optional[int] = None, keepdims: bool = False) -> Tensor:
    """Index (int64) of the first largest element along axis, or in the flat tensor."""
    return reduce_func.argmax(self, axis, keepdims)


def cumsum(self: Tensor, axis: Optional[int] = None, dtype: Any = None) -> Tensor:
    """Running sums along axis; of the flat tensor when axis is None. uint8 gives int32 unless dtype says otherwise, but for in era 1."""
    if dtype is None and self.dtype is mstype.uint8 and era() == 2:
        dtype = mstype.int32
    return reduce_func.cumsum(_ops.reshape(self, (-1,)), 0, dtype) if axis is None else reduce_func.cumsum(self, axis, dtype)


def ptp(self: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Largest less smallest element over axes."""
    return _ops.sub(max(self, axis=axis, keepdims=keepdims), min(self, axis=axis, keepdims=keepdims))


def trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """Sum of the diagonal of two dimensions."""
    return sum(diagonal(self, offset, axis1, axis2), -1, dtype)


def diagonal(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Elements [.., i, i + offset] of two dimensions, as the last dimension."""
    return creation_func.diagonal(self, offset, axis1, axis2)


def repeat(self: Tensor, repeats: Union[int, Sequence[int]], axis: Optional[int] = None) -> Tensor:
    """Each element repeated along axis, as numpy.repeat; of the flat tensor when axis is None."""
    return array_func.repeat_interleave(self, repeats, axis)


def take(self: Tensor, indices: Any, axis: Optional[int] = None, mode: str = "clip") -> Tensor:
    """Slices along axis (of the flat tensor when None), as numpy.take. mode: 'clip' cuts indices to the range, 'wrap' counts around, 'raise'
    raises."""
    check_choice("Tensor.take", "mode", mode, ("clip", "wrap", "raise"))
    x, a = (_ops.reshape(self, (-1,)), 0) if axis is None else (self, to_axis(axis, len(self.shape), "Tensor.take"))
    indices = as_tensor(indices)
    if mode == "clip":
        indices = _ops.minimum(_ops.maximum(indices, 0), x.shape[a] - 1)
    return _ops.gather(x, _ops.mod(indices, x.shape[a]) if mode == "wrap" else indices, a)


def gather(self: Tensor, *args: Any, dim: Optional[int] = None, index: Optional[Tensor] = None, input_indices: Optional[Tensor] = None,
           axis: Optional[int] = None, batch_dims: int = 0) -> Tensor:
    """gather(input_indices, axis, batch_dims=0): slices of the tensor along axis, as ops.gather. gather(dim, index): one element per place of index,
    picked along dim, as ops.gather_elements."""
    if dim is not None or index is not None or args and isinstance(args[0], int):
        dim, index = _two_arguments(args, (dim, index), "Tensor.gather(dim, index)")
        return index_func.gather_elements(self, dim, index)
    if len(args) == 3:
        batch_dims = args[2]
        args = args[:2]
    input_indices, axis = _two_arguments(args, (input_indices, axis), "Tensor.gather(input_indices, axis)")
    return index_func.gather(self, input_indices, axis, batch_dims)


def _two_arguments(args: tuple, named: tuple, where: str) -> tuple:
    """The arguments of f(a, b), each given by its place or its name."""
    out = args + named[len(args):]
    if len(args) > 2 or [v for v in out if v is None] or [v for v in named[:len(args)] if v is not None]:
        raise TypeError(f"expected two arguments, each once | {where}")
    return out


def index_add(self: Tensor, *args: Any, alpha: Any = 1, **named: Any) -> Tensor:
    """index_add(dim, index, source, alpha=1), or as ops.index_add(indices, y, axis): the tensor with alpha times the rows of source added to the
    rows that index names along dim."""
    if args and isinstance(args[0], int) or "dim" in named:
        given = dict(zip(("dim", "index", "source"), args), **named)
        if set(given) != {"dim", "index", "source"} or len(args) + len(named) != 3:
            raise TypeError(f"expected dim, index and source, got {', '.join(given)} | Tensor.index_add")
        source = given["source"] if isinstance(alpha, (int, float)) and alpha == 1 else _ops.mul(given["source"], alpha)
        return index_func.index_add(self, given["index"], source, given["dim"])
    return index_func.index_add(self, *args, **named)


def scatter_add(self: Tensor, *args: Any, indices: Optional[Tensor] = None, updates: Optional[Tensor] = None, dim: Optional[int] = None,
                index: Optional[Tensor] = None, src: Optional[Tensor] = None) -> Tensor:
    """scatter_add(indices, updates): the tensor with updates added at the places that the rows of indices name, as ops.tensor_scatter_add.
    scatter_add(dim, index, src): with src added where index names along dim, as ops.tensor_scatter_elements. Raises TypeError for other arguments."""
    along = len(args) == 3 or bool(args) and isinstance(args[0], int) or any(v is not None for v in (dim, index, src))
    names = ("dim", "index", "src") if along else ("indices", "updates")
    given = dict(zip(names, args))
    named = {n: v for n, v in (("dim", dim), ("index", index), ("src", src), ("indices", indices), ("updates", updates)) if v is not None}
    if len(args) > len(names) or given.keys() & named.keys() or {*given, *named} != set(names):
        raise TypeError(f"expected indices and updates, or dim, index and src, got {', '.join([*given, *named]) or 'nothing'} | Tensor.scatter_add")
    given.update(named)
    if along:
        return index_func.tensor_scatter_elements(self, given["index"], given["src"], given["dim"], "add")
    return index_func.tensor_scatter_add(self, given["indices"], given["updates"])


def add(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """The sum with alpha * other."""
    return _ops.add(self, _times(other, alpha))


def sub(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """The difference to alpha * other."""
    return _ops.sub(self, _times(other, alpha))


def _times(other: Any, alpha: Any) -> Any:
    return other if isinstance(alpha, (int, float)) and alpha == 1 else _ops.mul(other, alpha) if isinstance(other, Tensor) else other * alpha


def searchsorted(self: Tensor, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Where each value of v belongs in this sorted vector."""
    return choose_func.searchsorted(self, as_tensor(v), side=side, sorter=sorter, out_int32=True)


def where(self: Tensor, condition: Tensor, y: Any) -> Tensor:
    """The tensor's elements where condition holds, else those of y."""
    return choose_func.where(condition, self, y)


def select(self: Tensor, *args: Any, dim: Optional[int] = None, index: Optional[int] = None, condition: Optional[Tensor] = None, y: Any = None) -> Tensor:
    """select(dim, index): the slice at index of dimension dim, without it. select(condition, y): the tensor's elements where condition (bool) holds,
    else those of y."""
    if dim is not None or index is not None or args and isinstance(args[0], int):
        dim, index = _two_arguments(args, (dim, index), "Tensor.select(dim, index)")
        return self[(slice(None),) * to_axis(dim, len(self.shape), "Tensor.select") + (index,)]
    condition, y = _two_arguments(args, (condition, y), "Tensor.select(condition, y)")
    return choose_func.select(condition, self, y)


def fill(self: Tensor, value: Any) -> Tensor:
    """A tensor of this shape and type with every element `value`; the tensor itself stays as it is."""
    return creation_func.full_like(self, value)


def itemset(self: Tensor, *args: Any) -> Tensor:
    """A tensor with one element replaced: itemset(value) of one element, itemset(flat index, value) or itemset((i, j), value)."""
    if len(args) == 1:
        if self.size != 1:
            raise ValueError(f"itemset(value) needs one element, the tensor has shape {self.shape} | Tensor.itemset | give an index too")
        return filled(self.shape, args[0], self.dtype)
    index, value = args
    return with_item(self, index if isinstance(index, tuple) else tuple(int(i) for i in np.unravel_index(index, self.shape)), value)


def item(self: Tensor, index: Any = None) -> Union[int, float, bool]:
    """One element as a Python number: the only one, or the one at a flat index or an index tuple. Raises ValueError, IndexError."""
    if index is None:
        return _item(self)
    if not isinstance(index, tuple):
        if not -self.size <= index < self.size:
            raise IndexError(f"index {index} is out of range for {self.size} elements | Tensor.item")
        index = tuple(int(i) for i in np.unravel_index(index % self.size, self.shape))
    return _item(self[index])


def index_put(self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """A tensor with values at the places that index tensors (one per leading dimension, broadcast) name; accumulate: added."""
    shape = np.broadcast_shapes(*(i.shape for i in indices))
    vectors = _ops.stack([_ops.broadcast_to(i, shape) for i in indices], -1)
    values = _ops.broadcast_to(values, shape + self.shape[len(indices):])
    return (index_func.tensor_scatter_add if accumulate else index_func.tensor_scatter_update)(self, vectors, values)


def to(self: Tensor, *args: Any) -> Tensor:
    """The values in another element type, or in the type of another tensor. A device name changes nothing: there is the CPU."""
    for arg in args:
        if isinstance(arg, Tensor):
            return self.astype(arg.dtype)
        if arg is not None and not (isinstance(arg, str) and arg.split(":")[0].lower() in ("cpu", "gpu", "ascend", "cuda")):
            return self.astype(arg)
    return self


def type_(self: Tensor, dtype: Any = None) -> Any:
    """The name of the element type, or the values in the type dtype."""
    return str(self.dtype) if dtype is None else self.astype(dtype)


def _to_type(name: str, dtype: Any) -> Callable:
    def method(self: Tensor) -> Tensor:
        return self.astype(dtype)
    method.__doc__ = f"The values as {dtype}."
    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    return method


def copy(self: Tensor) -> Tensor:
    """A tensor of its own with the same value; gradients flow."""
    if self.dtype.is_floating:
        return _ops.mul(self, 1.0)  # an operator, so that gradients pass
    return _ops.reshape(self, self.shape) if self.is_symbolic else Tensor(self)


def clone(self: Tensor) -> Tensor:
    """copy by another name."""
    return copy(self)


def value(self: Tensor) -> Tensor:
    """The tensor itself."""
    return self


def assign_value(self: Tensor, other: Tensor) -> Tensor:
    """Makes the handle stand for another value; returns it. Tensors it is a view of, and views of it, keep theirs."""
    self._leave()
    return give(self, other)


def copy_(self: Tensor, src: Tensor) -> Tensor:
    """Gives the tensor the values of src, broadcast to its shape; returns it."""
    return give(self, _ops.broadcast_to(src, self.shape))


def fill_(self: Tensor, value: Any) -> Tensor:
    """Gives every element the value; returns the tensor."""
    return give(self, fill(self, value))


def zero_(self: Tensor) -> Tensor:
    """Gives every element 0; returns the tensor."""
    return give(self, _ops.zeros_like(self))


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Sets requires_grad and returns the tensor: of a Parameter, whether it is trained. Raises TypeError for what is no bool."""
    if not isinstance(requires_grad, bool):
        raise TypeError(f"requires_grad must be a bool, got {requires_grad!r} | Tensor.requires_grad_")
    self.requires_grad = requires_grad  # type: ignore[attr-defined,unused-ignore]
    return self


def register_hook(self: Tensor, hook: Callable[[Tensor], Any]) -> HookHandle:
    """hook(gradient) when a gradient reaches this tensor from what is computed with it from now on; what it returns replaces the gradient.

    Call it inside the function that is differentiated. A Parameter takes hooks anywhere: each sees the gradient that a gradient function computes for it, after the
    hooks before it, and None returned keeps that gradient; a Parameter that is not trained has none. Compiled code keeps the hook as it was traced. Returns a handle with
    remove().
    Raises TypeError for a hook that cannot be called.
    """
    if not callable(hook):
        raise TypeError(f"hook: expected a function, got {type(hook).__name__} | Tensor.register_hook")
    if isinstance(self, _core.Parameter):
        clock[0] += 1
        hooks_made[0] += 1
        of_parameter = self.__dict__.setdefault("_gradient_hooks", {})
        handle = HookHandle(of_parameter)
        of_parameter[handle] = hook
        return handle
    hooks: dict[HookHandle, Callable[[Tensor], Any]] = {}
    handle = HookHandle(hooks)
    hooks[handle] = hook

    def gradient(inputs: Any, outputs: Any, gradients: Any) -> list[Tensor]:
        changed = hooks[handle](gradients[0]) if hooks else None
        return [gradients[0] if changed is None else changed]

    self._rebind(_core.custom_gradient(lambda inputs: inputs, [self._detached()], gradient)[0])
    return handle


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """The same elements in the shape of another tensor."""
    return reshaped(self, other.shape)


def _adjoint(self: Tensor) -> Tensor:
    return function.adjoint(self)


def _reversed(self: Tensor) -> Tensor:
    return transpose(self)


_OWN = (reshape, view, transpose, permute, flatten, resize, expand, broadcast_to, sum_to_size, sum, mean, prod, std, var, sort, argsort, max, min,
        argmin, argmax, argmax_with_value, argmin_with_value, cumsum, ptp, trace, diagonal, repeat, take, gather, index_add, scatter_add, add, sub, searchsorted,
        where, select, fill, itemset, index_put, to, copy, clone, value, assign_value, copy_, fill_, zero_, requires_grad_, register_hook)
_ALIASES: dict[str, Callable] = {"type": type_, "ndimension": facts.dim, "nelement": facts.numel, "reshape_as": reshape_as}
_TYPES = {"float": mstype.float32, "half": mstype.float16, "double": mstype.float64, "bfloat16": mstype.bfloat16, "int": mstype.int32,
          "long": mstype.int64, "bool": mstype.bool_, "byte": mstype.uint8}
_item = Tensor.item


def attach(cls: type) -> None:
    """Adds the methods to the Tensor class. A name the class has already stays what it is, except `item`."""
    def put(name: str, method: Any) -> None:
        if name not in cls.__dict__:
            setattr(cls, name, with_both_names(method) if name in METHODS else method)

    for f in (*_OWN, *facts.METHODS):
        put(f.__name__, f)
    for name, alias in _ALIASES.items():
        put(name, alias)
    for name, dtype in _TYPES.items():
        put(name, _to_type(name, dtype))
    for name in _SAME.split():
        put(name, _method(name, getattr(function, name)))
    for name, source in _RENAMED.items():
        put(name, _method(name, getattr(function, source)))
    for name in _IN_PLACE.split():
        put(name + "_", _in_place(name, getattr(function, name)))
    for name, fact in facts.PROPERTIES.items():
        put(name, fact)
    put("data", property(value, doc="The tensor itself."))
    put("mT", property(_adjoint, doc="The last two dimensions exchanged."))
    put("T", property(_reversed, doc="All dimensions in reverse order."))
    put("H", property(_adjoint, doc="The last two dimensions exchanged."))
    setattr(cls, "item", item)
    # The engine's operator refuses a gradient; MindSpore's is 0.
    setattr(cls, "__floordiv__", lambda self, other: function.floor_div(self, other))
    setattr(cls, "__rfloordiv__", lambda self, other: function.floor_div(other, self))
