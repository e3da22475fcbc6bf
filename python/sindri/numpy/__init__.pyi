"""NumPy's functions on tensors (MindSpore: mindspore.numpy).

Written by scripts/python_stubs.py; do not edit."""


from sindri.common.dtype import (
    bool_ as bool_, float16 as float16, float32 as float32, float64 as float64, float_ as float_, int8 as int8, int16 as int16, int32 as int32,
    int64 as int64, int_ as int_, uint as uint, uint8 as uint8, uint16 as uint16, uint32 as uint32, uint64 as uint64,
)
from sindri.numpy import _array as _array, _math as _math, _series as _series, _sets as _sets
from sindri.numpy._array import *
from sindri.numpy._math import *
from sindri.numpy._pad import pad as pad
from sindri.numpy._series import *
from sindri.numpy._sets import *

__all__ = [
    "asarray", "asfarray", "copy", "full", "zeros", "ones", "empty", "zeros_like", "ones_like", "empty_like", "full_like", "arange", "linspace",
    "logspace", "geomspace", "eye", "identity", "tri", "tril", "triu", "tril_indices", "triu_indices", "tril_indices_from", "triu_indices_from",
    "diag_indices", "indices", "meshgrid", "diag", "diagflat", "diagonal", "vander", "rand", "randn", "randint", "reshape", "ravel", "transpose",
    "expand_dims", "squeeze", "moveaxis", "rollaxis", "swapaxes", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_to", "broadcast_arrays",
    "size", "isscalar", "concatenate", "append", "stack", "hstack", "vstack", "dstack", "column_stack", "split", "array_split", "hsplit", "vsplit",
    "dsplit", "tile", "repeat", "roll", "flip", "flipud", "fliplr", "rot90", "where", "select", "take", "take_along_axis", "unique", "argwhere",
    "searchsorted", "digitize", "unravel_index", "ravel_multi_index", "ix_", "apply_along_axis", "piecewise", "array_str", "array", "abs",
    "absolute", "negative", "floor", "ceil", "trunc", "exp", "expm1", "exp2", "log", "log2", "log10", "log1p", "sqrt", "square", "reciprocal", "sin",
    "cos", "tan", "sinh", "cosh", "tanh", "deg2rad", "rad2deg", "isnan", "isinf", "isfinite", "signbit", "logical_not", "arccos", "arccosh",
    "arcsin", "arcsinh", "arctan", "arctanh", "fabs", "radians", "invert", "bitwise_not", "add", "floor_divide", "maximum", "minimum", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "logaddexp", "logaddexp2",
    "bitwise_and", "bitwise_or", "bitwise_xor", "hypot", "copysign", "fmod", "float_power", "subtract", "power", "mod", "remainder", "arctan2",
    "matmul", "multiply", "divide", "true_divide", "heaviside", "sign", "positive", "rint", "cbrt", "fix", "isposinf", "isneginf", "isclose",
    "array_equal", "array_equiv", "divmod", "clip", "around", "round", "sum", "mean", "average", "amax", "amin", "max", "min", "ptp", "std", "var",
    "argmax", "argmin", "sometrue", "count_nonzero", "cumsum", "cumprod", "nansum", "nancumsum", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd",
    "trace", "norm", "dot", "inner", "outer", "kron", "tensordot", "multi_dot", "matrix_power", "cross", "diff", "ediff1d", "trapz", "gcd", "lcm",
    "interp", "cov", "corrcoef", "bincount", "histogram_bin_edges", "histogram", "isin", "in1d", "convolve", "correlate", "polyval", "result_type",
    "promote_types", "polyadd", "polysub", "polymul", "polyder", "polyint", "bartlett", "blackman", "hamming", "hanning", "gradient", "unwrap",
    "apply_over_axes", "setdiff1d", "intersect1d", "choose", "mgrid", "ogrid", "histogramdd", "histogram2d", "pad", "pi", "inf", "PINF", "NINF",
    "nan", "bool_", "float16", "float32", "float64", "float_", "int8", "int16", "int32", "int64", "int_", "uint", "uint8", "uint16", "uint32",
    "uint64",
]

pi: float
inf: float
PINF: float
NINF: float
nan: float
