"""The functions of sindri.ops under one name (MindSpore: mindspore.ops.functional, in scripts `F`), with the names of

Written by scripts/python_stubs.py; do not edit."""

from typing import Any
from sindri.ops.composite.vmap import vmap as vmap

from sindri.ops.composite import HyperMap as HyperMap, Map as Map, MultitypeFuncGraph as MultitypeFuncGraph, add_flags as add_flags
from sindri.ops.composite.grad import *
from sindri.ops.function import *

__all__ = [
    "cast", "type_as", "dtype", "shape", "dyn_shape", "shape_", "rank", "size", "numel", "is_tensor", "reshape", "view_as", "ravel", "expand_dims",
    "unsqueeze", "stop_gradient", "flatten", "squeeze", "transpose", "permute", "swapaxes", "swapdims", "moveaxis", "movedim", "t", "adjoint",
    "atleast_1d", "atleast_2d", "atleast_3d", "concat", "cat", "stack", "hstack", "vstack", "row_stack", "dstack", "column_stack", "unstack",
    "unbind", "split", "chunk", "tensor_split", "hsplit", "vsplit", "dsplit", "narrow", "slice", "tensor_slice", "strided_slice", "tile",
    "broadcast_to", "expand", "expand_as", "repeat_elements", "repeat_interleave", "flip", "reverse", "fliplr", "flipud", "roll", "rot90",
    "matrix_diag", "matrix_diag_part", "matrix_set_diag", "batch_to_space_nd", "space_to_batch_nd", "ctc_greedy_decoder", "where", "select",
    "masked_fill", "one_hot", "sequence_mask", "nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "unique_with_pad",
    "cartesian_prod", "combinations", "searchsorted", "bucketize", "intopk", "clamp", "clip", "clip_by_value", "clip_by_norm", "renorm",
    "clip_by_global_norm", "fill", "full", "full_like", "fills", "zeros", "ones", "zeros_like", "ones_like", "eye", "arange", "range",
    "tensor_range", "linspace", "logspace", "meshgrid", "tril_indices", "triu_indices", "vander", "bartlett_window", "hann_window", "hamming_window",
    "blackman_window", "kaiser_window", "tril", "triu", "diagonal", "trace", "diag", "diagflat", "diag_embed", "block_diag", "matrix_band_part",
    "floor", "iou", "bounding_box_encode", "bounding_box_decode", "check_valid", "crop_and_resize", "pixel_shuffle", "pixel_unshuffle",
    "channel_shuffle", "gather", "gather_elements", "gather_d", "gather_nd", "index_select", "take", "unsorted_segment_sum", "unsorted_segment_max",
    "unsorted_segment_min", "unsorted_segment_prod", "tensor_scatter_update", "tensor_scatter_add", "tensor_scatter_sub", "tensor_scatter_mul",
    "tensor_scatter_div", "tensor_scatter_max", "tensor_scatter_min", "scatter_update", "scatter_add", "scatter_mul", "scatter_div", "scatter_max",
    "scatter_min", "scatter_nd_update", "scatter_nd_add", "scatter_nd_sub", "scatter_nd_mul", "scatter_nd_div", "scatter_nd_max", "scatter_nd_min",
    "scatter_nd", "tensor_scatter_elements", "scatter", "index_add", "index_fill", "inplace_update", "inplace_add", "inplace_sub", "select_scatter",
    "slice_scatter", "diagonal_scatter", "reverse_sequence", "matmul", "mm", "bmm", "mv", "dot", "outer", "ger", "inner", "vecdot", "addmm", "addmv",
    "addr", "addbmm", "baddbmm", "tensor_dot", "batch_dot", "kron", "cross", "cdist", "pdist", "cond", "dist", "inverse", "cholesky",
    "cholesky_inverse", "cholesky_solve", "det", "matrix_determinant", "slogdet", "log_matrix_determinant", "logdet", "matrix_solve", "lu_solve",
    "lstsq", "qr", "svd", "matrix_power", "pinv", "einsum", "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div", "cosine_embedding_loss", "margin_ranking_loss", "hinge_embedding_loss",
    "soft_margin_loss", "gaussian_nll_loss", "triplet_margin_loss", "multilabel_soft_margin_loss", "multilabel_margin_loss", "multi_margin_loss",
    "ctc_loss", "abs", "neg", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "square", "reciprocal", "sin", "cos", "erf", "tanh", "sigmoid",
    "isnan", "isfinite", "logical_not", "add", "sub", "mul", "floor_mod", "pow", "maximum", "minimum", "equal", "not_equal", "less", "less_equal",
    "greater", "greater_equal", "logical_and", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "logical_or",
    "logical_xor", "sign", "ceil", "floor_div", "absolute", "negative", "inv", "multiply", "floor_divide", "remainder", "eq", "ne", "lt", "le", "gt",
    "ge", "tensor_add", "tensor_sub", "tensor_mul", "tensor_pow", "tensor_mod", "tensor_floordiv", "tensor_exp", "tensor_expm1", "tensor_lt",
    "tensor_le", "tensor_gt", "tensor_ge", "pows", "floordiv", "floormod", "sgn", "div", "divide", "true_divide", "tensor_div", "subtract", "trunc",
    "truncate_div", "truncate_mod", "fmod", "addn", "accumulate_n", "isinf", "isposinf", "isneginf", "isclose", "approximate_equal", "round", "frac",
    "log2", "log10", "exp2", "positive", "deg2rad", "rad2deg", "erfc", "tan", "sinh", "cosh", "asinh", "acosh", "atanh", "atan", "atan2", "asin",
    "acos", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "hypot", "sinc", "lerp", "addcmul", "addcdiv", "logaddexp",
    "logaddexp2", "xlogy", "xdivy", "logit", "heaviside", "copysign", "signbit", "nan_to_num", "fmax", "fmin", "float_power", "ldexp", "invert",
    "is_floating_point", "is_complex", "isreal", "real", "imag", "conj", "is_nonzero", "relu6", "silu", "hardswish", "hardsigmoid", "relu",
    "leaky_relu", "elu", "selu", "celu", "gelu", "fast_gelu", "mish", "softplus", "softsign", "logsigmoid", "softshrink", "soft_shrink",
    "hardshrink", "hardtanh", "tanhshrink", "threshold", "prelu", "rrelu", "glu", "swiglu", "softmax", "log_softmax", "softmin", "gumbel_softmax",
    "dense", "bias_add", "embedding", "cosine_similarity", "conv2d", "conv1d", "conv_transpose2d", "batch_norm", "layer_norm", "group_norm",
    "rms_norm", "lrn", "dropout", "dropout1d", "dropout2d", "dropout3d", "assign", "assign_add", "assign_sub", "load", "depend", "identity",
    "partial", "print_", "make_range", "make_tuple", "make_list", "make_slice", "tuple_len", "list_len", "tuple_setitem", "tuple_reversed",
    "tuple_to_array", "scalar_to_tensor", "scalar_to_array", "scalar_cast", "array_to_scalar", "scalar_max", "scalar_min", "bool_and", "bool_or",
    "in_dict", "not_in_dict", "typeof", "hastype", "isconstant", "reduced_shape", "shape_mul", "mixed_precision_cast", "make_row_tensor",
    "tuple_getitem", "list_getitem", "dict_getitem", "scalar_add", "scalar_sub", "scalar_mul", "scalar_div", "scalar_floordiv", "scalar_mod",
    "scalar_pow", "scalar_eq", "scalar_ne", "scalar_lt", "scalar_le", "scalar_gt", "scalar_ge", "scalar_uadd", "scalar_usub", "scalar_log",
    "bool_not", "bool_eq", "string_eq", "tuple_equal", "list_equal", "is_", "is_not", "string_concat", "max_pool2d", "avg_pool2d", "avg_pool1d",
    "adaptive_avg_pool2d", "adaptive_max_pool2d", "max_unpool1d", "max_unpool2d", "max_unpool3d", "adaptive_avg_pool1d", "adaptive_max_pool1d",
    "lp_pool1d", "lp_pool2d", "unfold", "standard_normal", "normal", "uniform", "rand", "randn", "rand_like", "randn_like", "randint",
    "randint_like", "randperm", "shuffle", "bernoulli", "random_categorical", "multinomial", "laplace", "standard_laplace", "choice_with_mask",
    "sum", "reduce_sum", "mean", "reduce_mean", "prod", "all", "any", "amax", "amin", "reduce_max", "reduce_min", "aminmax", "max", "min", "argmax",
    "argmin", "var_mean", "var", "std", "std_mean", "nansum", "nanmean", "count_nonzero", "logsumexp", "cumsum", "cumprod", "cummax", "cummin",
    "logcumsumexp", "topk", "top_k", "sort", "argsort", "msort", "median", "nanmedian", "norm", "vector_norm", "matrix_norm", "pad", "mirror_pad",
    "interpolate", "upsample", "lgamma", "mvlgamma", "digamma", "polygamma", "i0", "erfinv", "bincount", "histc", "cov", "diff", "trapz",
    "nextafter", "gcd", "lcm", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_k0",
    "bessel_k0e", "bessel_k1", "bessel_k1e", "fold", "affine_grid", "grid_sample", "conv3d", "conv3d_transpose", "max_pool3d", "avg_pool3d",
    "adaptive_avg_pool3d", "adaptive_max_pool3d", "control_depend", "grad", "value_and_grad", "vmap",
]

def control_depend(depended: Any, depending: Any) -> Any: ...
