"""The functions of sindri.ops, one module per family. The primitives in sindri.ops.operations are made of them.

Written by scripts/python_stubs.py; do not edit."""

from typing import Any

from sindri.ops.function.array_func import *
from sindri.ops.function.band_func import *
from sindri.ops.function.choose_func import *
from sindri.ops.function.clip_func import *
from sindri.ops.function.creation_func import *
from sindri.ops.function.image_func import (
    iou as iou, bounding_box_encode as bounding_box_encode, bounding_box_decode as bounding_box_decode, check_valid as check_valid,
    nms_with_mask as nms_with_mask, crop_and_resize as crop_and_resize, roi_align as roi_align, space_to_depth as space_to_depth,
    depth_to_space as depth_to_space, pixel_shuffle as pixel_shuffle, pixel_unshuffle as pixel_unshuffle, channel_shuffle as channel_shuffle,
    batch_to_space as batch_to_space, space_to_batch as space_to_batch,
)
from sindri.ops.function.index_func import *
from sindri.ops.function.linalg_func import *
from sindri.ops.function.loss_func import *
from sindri.ops.function.math_func import (
    neg as neg, exp as exp, expm1 as expm1, log as log, log1p as log1p, sqrt as sqrt, rsqrt as rsqrt, square as square, reciprocal as reciprocal,
    sin as sin, cos as cos, erf as erf, tanh as tanh, sigmoid as sigmoid, isnan as isnan, isfinite as isfinite, logical_not as logical_not,
    add as add, sub as sub, mul as mul, floor_mod as floor_mod, pow as pow, maximum as maximum, minimum as minimum, equal as equal,
    not_equal as not_equal, less as less, less_equal as less_equal, greater as greater, greater_equal as greater_equal, logical_and as logical_and,
    bitwise_and as bitwise_and, bitwise_or as bitwise_or, bitwise_xor as bitwise_xor, bitwise_left_shift as bitwise_left_shift,
    bitwise_right_shift as bitwise_right_shift, logical_or as logical_or, logical_xor as logical_xor, ceil as ceil, rint as rint,
    floor_div as floor_div, absolute as absolute, negative as negative, inv as inv, multiply as multiply, floor_divide as floor_divide,
    remainder as remainder, eq as eq, ne as ne, lt as lt, le as le, gt as gt, ge as ge, tensor_add as tensor_add, tensor_sub as tensor_sub,
    tensor_mul as tensor_mul, tensor_pow as tensor_pow, tensor_mod as tensor_mod, tensor_floordiv as tensor_floordiv, tensor_exp as tensor_exp,
    tensor_expm1 as tensor_expm1, tensor_lt as tensor_lt, tensor_le as tensor_le, tensor_gt as tensor_gt, tensor_ge as tensor_ge,
    tensor_eq as tensor_eq, tensor_ne as tensor_ne, pows as pows, floordiv as floordiv, floormod as floormod, neg_tensor as neg_tensor, sgn as sgn,
    real_div as real_div, div as div, divide as divide, true_divide as true_divide, tensor_div as tensor_div, subtract as subtract, trunc as trunc,
    truncate_div as truncate_div, truncate_mod as truncate_mod, mod as mod, fmod as fmod, div_no_nan as div_no_nan, mul_no_nan as mul_no_nan,
    squared_difference as squared_difference, addn as addn, accumulate_n as accumulate_n, isinf as isinf, isposinf as isposinf, isneginf as isneginf,
    isclose as isclose, approximate_equal as approximate_equal, round as round, frac as frac, log2 as log2, log10 as log10, exp2 as exp2,
    positive as positive, deg2rad as deg2rad, rad2deg as rad2deg, erfc as erfc, tan as tan, sinh as sinh, cosh as cosh, asinh as asinh,
    acosh as acosh, atanh as atanh, atan as atan, atan2 as atan2, asin as asin, acos as acos, arccos as arccos, arccosh as arccosh, arcsin as arcsin,
    arcsinh as arcsinh, arctan as arctan, arctan2 as arctan2, arctanh as arctanh, hypot as hypot, sinc as sinc, lerp as lerp, addcmul as addcmul,
    addcdiv as addcdiv, logaddexp as logaddexp, logaddexp2 as logaddexp2, xlogy as xlogy, xdivy as xdivy, logit as logit, heaviside as heaviside,
    copysign as copysign, signbit as signbit, nan_to_num as nan_to_num, fmax as fmax, fmin as fmin, float_power as float_power, ldexp as ldexp,
    bitwise_not as bitwise_not, invert as invert, is_floating_point as is_floating_point, is_complex as is_complex, isreal as isreal, real as real,
    imag as imag, conj as conj, is_nonzero as is_nonzero,
)
from sindri.ops.function.nn_func import *
from sindri.ops.function.other_func import *
from sindri.ops.function.pooling_func import *
from sindri.ops.function.random_func import *
from sindri.ops.function.reduce_func import *
from sindri.ops.function.resize_func import *
from sindri.ops.function.special_func import *
from sindri.ops.function.volume_func import *
from sindri.ops.function import (
    array_func as array_func, band_func as band_func, choose_func as choose_func, clip_func as clip_func, creation_func as creation_func,
    image_func as image_func, index_func as index_func, linalg_func as linalg_func, loss_func as loss_func, math_func as math_func,
    nn_func as nn_func, other_func as other_func, pooling_func as pooling_func, random_func as random_func, reduce_func as reduce_func,
    resize_func as resize_func, special_func as special_func, volume_func as volume_func,
)

__all__ = [
    "cast", "type_as", "dtype", "shape", "dyn_shape", "shape_", "rank", "size", "numel", "is_tensor", "reshape", "view_as", "ravel", "expand_dims",
    "unsqueeze", "stop_gradient", "flatten", "flattened", "flatten_rows", "squeeze", "transpose", "permute", "swapaxes", "swapdims", "moveaxis",
    "movedim", "t", "adjoint", "atleast_1d", "atleast_2d", "atleast_3d", "concat", "cat", "stack", "hstack", "vstack", "row_stack", "dstack",
    "column_stack", "unstack", "unbind", "split", "chunk", "tensor_split", "hsplit", "vsplit", "dsplit", "narrow", "slice", "tensor_slice",
    "strided_slice", "tile", "broadcast_to", "expand", "expand_as", "repeat_elements", "repeat_interleave", "flip", "reverse", "fliplr", "flipud",
    "roll", "rot90", "matrix_diag", "matrix_diag_part", "matrix_set_diag", "batch_to_space_nd", "space_to_batch_nd", "ctc_greedy_decoder", "where",
    "select", "masked_fill", "one_hot", "sequence_mask", "nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "unique_with_pad",
    "cartesian_prod", "combinations", "searchsorted", "bucketize", "intopk", "clamp", "clip", "clip_by_value", "clip_by_norm", "renorm",
    "global_norm", "clip_by_global_norm", "fill", "full", "full_like", "fills", "zeros", "ones", "zeros_like", "ones_like", "eye", "arange", "range",
    "tensor_range", "linspace", "logspace", "meshgrid", "tril_indices", "triu_indices", "vander", "bartlett_window", "hann_window", "hamming_window",
    "blackman_window", "kaiser_window", "tril", "triu", "diagonal", "trace", "diag", "diagflat", "diag_embed", "diag_part", "block_diag",
    "matrix_band_part", "floor", "iou", "bounding_box_encode", "bounding_box_decode", "check_valid", "nms_with_mask", "crop_and_resize", "roi_align",
    "space_to_depth", "depth_to_space", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "batch_to_space", "space_to_batch", "gather",
    "gather_elements", "gather_d", "gather_nd", "index_select", "take", "embedding_lookup", "unsorted_segment_sum", "unsorted_segment_max",
    "unsorted_segment_min", "unsorted_segment_prod", "tensor_scatter_update", "tensor_scatter_add", "tensor_scatter_sub", "tensor_scatter_mul",
    "tensor_scatter_div", "tensor_scatter_max", "tensor_scatter_min", "scatter_update", "scatter_add", "scatter_sub", "scatter_mul", "scatter_div",
    "scatter_max", "scatter_min", "scatter_nd_update", "scatter_nd_add", "scatter_nd_sub", "scatter_nd_mul", "scatter_nd_div", "scatter_nd_max",
    "scatter_nd_min", "scatter_nd", "tensor_scatter_elements", "scatter", "index_add", "index_fill", "inplace_update", "inplace_add", "inplace_sub",
    "select_scatter", "slice_scatter", "diagonal_scatter", "fill_diagonal", "masked_scatter", "reverse_sequence", "invert_permutation",
    "unravel_index", "matmul", "mat_mul", "batch_mat_mul", "mm", "bmm", "mv", "dot", "outer", "ger", "inner", "vecdot", "addmm", "addmv", "addr",
    "addbmm", "baddbmm", "tensor_dot", "batch_dot", "kron", "cross", "cdist", "pdist", "cond", "dist", "inverse", "cholesky", "cholesky_inverse",
    "cholesky_solve", "det", "matrix_determinant", "slogdet", "log_matrix_determinant", "logdet", "matrix_solve", "lu_solve", "lstsq", "qr", "svd",
    "matrix_power", "pinv", "einsum", "cross_entropy", "nll_loss", "softmax_cross_entropy_pair", "sparse_softmax_cross_entropy", "mse_loss",
    "l1_loss", "smooth_l1_loss", "huber_loss", "l2_half", "binary_cross_entropy", "binary_cross_entropy_with_logits", "sigmoid_cross_entropy",
    "kl_div", "cosine_embedding_loss", "margin_ranking_loss", "hinge_embedding_loss", "soft_margin_loss", "gaussian_nll_loss", "triplet_margin_loss",
    "multilabel_soft_margin_loss", "multilabel_margin_loss", "multi_margin_loss", "ctc_loss", "abs", "neg", "exp", "expm1", "log", "log1p", "sqrt",
    "rsqrt", "square", "reciprocal", "sin", "cos", "erf", "tanh", "sigmoid", "isnan", "isfinite", "logical_not", "add", "sub", "mul", "floor_mod",
    "pow", "maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "bitwise_and", "bitwise_or",
    "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "logical_or", "logical_xor", "sign", "floor", "ceil", "rint", "floor_div",
    "absolute", "negative", "inv", "multiply", "floor_divide", "remainder", "eq", "ne", "lt", "le", "gt", "ge", "tensor_add", "tensor_sub",
    "tensor_mul", "tensor_pow", "tensor_mod", "tensor_floordiv", "tensor_exp", "tensor_expm1", "tensor_lt", "tensor_le", "tensor_gt", "tensor_ge",
    "tensor_eq", "tensor_ne", "pows", "floordiv", "floormod", "neg_tensor", "sgn", "real_div", "div", "divide", "true_divide", "tensor_div",
    "subtract", "trunc", "truncate_div", "truncate_mod", "mod", "fmod", "div_no_nan", "mul_no_nan", "squared_difference", "addn", "accumulate_n",
    "isinf", "isposinf", "isneginf", "isclose", "approximate_equal", "round", "frac", "log2", "log10", "exp2", "positive", "deg2rad", "rad2deg",
    "erfc", "tan", "sinh", "cosh", "asinh", "acosh", "atanh", "atan", "atan2", "asin", "acos", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "hypot", "sinc", "lerp", "addcmul", "addcdiv", "logaddexp", "logaddexp2", "xlogy", "xdivy", "logit", "heaviside",
    "copysign", "signbit", "nan_to_num", "fmax", "fmin", "float_power", "ldexp", "bitwise_not", "invert", "is_floating_point", "is_complex",
    "isreal", "real", "imag", "conj", "is_nonzero", "relu6", "silu", "hardswish", "hardsigmoid", "relu", "leaky_relu", "elu", "selu", "celu", "gelu",
    "fast_gelu", "mish", "softplus", "softsign", "logsigmoid", "softshrink", "soft_shrink", "hardshrink", "hardtanh", "tanhshrink", "threshold",
    "prelu", "rrelu", "glu", "swiglu", "softmax", "log_softmax", "softmin", "gumbel_softmax", "dense", "bias_add", "embedding", "cosine_similarity",
    "same_pads", "spatial_pads", "in_nchw", "conv2d", "conv1d", "conv_transpose2d", "conv2d_transpose_of", "batch_norm", "update_running",
    "layer_norm", "layer_norm_with_stats", "group_norm", "rms_norm", "instance_norm", "lrn", "l2_normalize", "dropout", "dropout1d", "dropout2d",
    "dropout3d", "dropout_with_mask", "dropout2d_with_mask", "assign", "assign_add", "assign_sub", "load", "depend", "identity", "partial",
    "insert_gradient_of", "need_eager", "print_", "assert_", "make_range", "make_tuple", "make_list", "make_slice", "tuple_len", "list_len",
    "tuple_setitem", "tuple_reversed", "tuple_to_array", "scalar_to_tensor", "scalar_to_array", "scalar_cast", "array_to_scalar", "scalar_max",
    "scalar_min", "bool_and", "bool_or", "in_dict", "not_in_dict", "typeof", "hastype", "isinstance_", "issubclass_", "isconstant",
    "same_type_shape", "reduced_shape", "shape_mul", "mixed_precision_cast", "tail", "zip_operation", "make_row_tensor", "float_status",
    "tuple_getitem", "list_getitem", "dict_getitem", "scalar_add", "scalar_sub", "scalar_mul", "scalar_div", "scalar_floordiv", "scalar_mod",
    "scalar_pow", "scalar_eq", "scalar_ne", "scalar_lt", "scalar_le", "scalar_gt", "scalar_ge", "scalar_uadd", "scalar_usub", "scalar_log",
    "bool_not", "bool_eq", "string_eq", "tuple_equal", "list_equal", "is_", "is_not", "string_concat", "pool", "max_pool2d", "max_pool_with_places",
    "dilated_max_pool", "avg_pool2d", "avg_pool1d", "max_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool2d", "adaptive_max_pool", "max_unpool1d",
    "max_unpool2d", "max_unpool3d", "adaptive_avg_pool1d", "adaptive_max_pool1d", "lp_pool1d", "lp_pool2d", "unfold", "windows", "keep_mask",
    "standard_normal", "normal", "uniform", "uniform_int", "uniform_real", "normal_with_seeds", "truncated_normal", "rand", "randn", "rand_like",
    "randn_like", "randint", "randint_like", "randperm", "shuffle", "bernoulli", "random_categorical", "multinomial", "padded_randperm",
    "dropout_bits", "dropout_of_bits", "laplace", "standard_laplace", "choice_with_mask", "choice_with_mask_seeds", "sum", "reduce_sum", "mean",
    "reduce_mean", "prod", "reduce_prod", "all", "any", "amax", "amin", "reduce_max", "reduce_min", "aminmax", "max", "min", "max_with_index",
    "min_with_index", "argmax", "argmin", "typed_argmax", "typed_argmin", "var_mean", "var", "std", "std_mean", "nansum", "nanmean", "count_nonzero",
    "logsumexp", "cumsum", "scan_sum", "scan_prod", "cumprod", "cummax", "cummin", "logcumsumexp", "topk", "top_k", "sort", "argsort", "msort",
    "median", "nanmedian", "kthvalue", "norm", "vector_norm", "matrix_norm", "lp_norm", "square_sum_all", "reduce_std", "pad", "pad_pairs",
    "mirror_pad", "resize_nearest", "resize_bilinear", "interpolate", "resized", "upsample", "abs", "floor", "sign", "lgamma", "mvlgamma", "digamma",
    "polygamma", "i0", "erfinv", "bincount", "histc", "cov", "diff", "trapz", "nextafter", "common_divisor", "common_multiple", "gcd", "lcm",
    "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_k0", "bessel_k0e", "bessel_k1",
    "bessel_k1e", "segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod", "fold", "affine_grid", "grid_sample", "conv3d",
    "conv3d_transpose", "max_pool3d", "avg_pool3d", "adaptive_avg_pool3d", "adaptive_max_pool3d",
]

PUBLIC: list[Any]
