"""Operators (MindSpore: mindspore.ops): primitives as classes, functions, and functions of functions.

Written by scripts/python_stubs.py; do not edit."""

from sindri.ops.composite.grad import grad as grad
from sindri.ops.composite.vmap import vmap as vmap

from sindri.ops.primitive import (
    Primitive as Primitive, PrimitiveWithCheck as PrimitiveWithCheck, PrimitiveWithInfer as PrimitiveWithInfer, constexpr as constexpr,
    prim_arg_register as prim_arg_register, prim_attr_register as prim_attr_register,
)
from sindri.ops.function import *
from sindri.ops.operations import *
from sindri.ops.operations import (
    IsInstance as IsInstance, IsSubClass as IsSubClass, Lamb as Lamb, LeakyReLU as LeakyReLU, Load as Load, Norm as Norm,
    SameTypeShape as SameTypeShape, SiLU as SiLU, Unsqueeze as Unsqueeze,
)
from sindri.ops.operations import (
    _AllSwap as _AllSwap, _MirrorOperator as _MirrorOperator, _VirtualDataset as _VirtualDataset, _VirtualDiv as _VirtualDiv,
)
from sindri.ops.composite.grad import get_grad as get_grad, jvp as jvp, vjp as vjp
from sindri.ops.composite import (
    GradOperation as GradOperation, HyperMap as HyperMap, Map as Map, MultitypeFuncGraph as MultitypeFuncGraph, add_flags as add_flags,
    jacfwd as jacfwd, jacrev as jacrev, value_and_grad as value_and_grad,
)
from sindri.ops import composite as composite, function as function, functional as functional, operations as operations, primitive as primitive
from sindri.ops.functional import control_depend as control_depend

__all__ = [
    "Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "constexpr", "prim_arg_register", "prim_attr_register", "GradOperation", "HyperMap",
    "Map", "MultitypeFuncGraph", "add_flags", "grad", "jacfwd", "jacrev", "value_and_grad", "vmap", "control_depend", "stop_gradient", "cast",
    "type_as", "dtype", "shape", "dyn_shape", "shape_", "rank", "size", "numel", "is_tensor", "reshape", "view_as", "ravel", "expand_dims",
    "unsqueeze", "flatten", "squeeze", "transpose", "permute", "swapaxes", "swapdims", "moveaxis", "movedim", "t", "adjoint", "atleast_1d",
    "atleast_2d", "atleast_3d", "concat", "cat", "stack", "hstack", "vstack", "row_stack", "dstack", "column_stack", "unstack", "unbind", "split",
    "chunk", "tensor_split", "hsplit", "vsplit", "dsplit", "narrow", "slice", "tensor_slice", "strided_slice", "tile", "broadcast_to", "expand",
    "expand_as", "repeat_elements", "repeat_interleave", "flip", "reverse", "fliplr", "flipud", "roll", "rot90", "where", "select", "masked_fill",
    "one_hot", "sequence_mask", "nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "unique_with_pad", "cartesian_prod",
    "combinations", "searchsorted", "bucketize", "intopk", "clamp", "clip", "clip_by_value", "clip_by_norm", "renorm", "clip_by_global_norm", "fill",
    "full", "full_like", "fills", "zeros", "ones", "zeros_like", "ones_like", "eye", "arange", "range", "tensor_range", "linspace", "logspace",
    "meshgrid", "tril_indices", "triu_indices", "vander", "bartlett_window", "hann_window", "hamming_window", "blackman_window", "kaiser_window",
    "tril", "triu", "diagonal", "trace", "diag", "diagflat", "diag_embed", "block_diag", "matrix_band_part", "iou", "bounding_box_encode",
    "bounding_box_decode", "check_valid", "crop_and_resize", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "gather", "gather_elements",
    "gather_d", "gather_nd", "index_select", "take", "unsorted_segment_sum", "unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod",
    "tensor_scatter_update", "tensor_scatter_add", "tensor_scatter_sub", "tensor_scatter_mul", "tensor_scatter_div", "tensor_scatter_max",
    "tensor_scatter_min", "scatter_update", "scatter_add", "scatter_mul", "scatter_div", "scatter_max", "scatter_min", "scatter_nd_update",
    "scatter_nd_add", "scatter_nd_sub", "scatter_nd_mul", "scatter_nd_div", "scatter_nd_max", "scatter_nd_min", "scatter_nd",
    "tensor_scatter_elements", "scatter", "index_add", "index_fill", "inplace_update", "inplace_add", "inplace_sub", "select_scatter",
    "slice_scatter", "diagonal_scatter", "reverse_sequence", "matmul", "mm", "bmm", "mv", "dot", "outer", "ger", "inner", "vecdot", "addmm", "addmv",
    "addr", "addbmm", "baddbmm", "tensor_dot", "batch_dot", "kron", "cross", "cdist", "pdist", "cond", "dist", "inverse", "cholesky",
    "cholesky_inverse", "cholesky_solve", "det", "matrix_determinant", "slogdet", "log_matrix_determinant", "logdet", "matrix_solve", "lu_solve",
    "lstsq", "svd", "matrix_power", "pinv", "einsum", "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div", "cosine_embedding_loss", "margin_ranking_loss", "hinge_embedding_loss",
    "soft_margin_loss", "gaussian_nll_loss", "triplet_margin_loss", "multilabel_soft_margin_loss", "multi_margin_loss", "abs", "neg", "exp", "expm1",
    "log", "log1p", "sqrt", "rsqrt", "square", "reciprocal", "sin", "cos", "erf", "tanh", "sigmoid", "isnan", "isfinite", "logical_not", "add",
    "sub", "mul", "floor_mod", "pow", "maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "logical_or", "logical_xor", "sign", "floor", "ceil",
    "floor_div", "absolute", "negative", "inv", "multiply", "floor_divide", "remainder", "eq", "ne", "lt", "le", "gt", "ge", "tensor_add",
    "tensor_sub", "tensor_mul", "tensor_pow", "tensor_mod", "tensor_floordiv", "tensor_exp", "tensor_expm1", "tensor_lt", "tensor_le", "tensor_gt",
    "tensor_ge", "pows", "floordiv", "floormod", "sgn", "div", "divide", "true_divide", "tensor_div", "subtract", "trunc", "truncate_div",
    "truncate_mod", "fmod", "addn", "accumulate_n", "isinf", "isposinf", "isneginf", "isclose", "approximate_equal", "round", "frac", "log2",
    "log10", "exp2", "positive", "deg2rad", "rad2deg", "erfc", "tan", "sinh", "cosh", "asinh", "acosh", "atanh", "atan", "atan2", "asin", "acos",
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "hypot", "sinc", "lerp", "addcmul", "addcdiv", "logaddexp",
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
    "nextafter", "gcd", "lcm", "fold", "affine_grid", "grid_sample", "conv3d", "conv3d_transpose", "max_pool3d", "avg_pool3d", "adaptive_avg_pool3d",
    "adaptive_max_pool3d", "Cast", "DType", "Shape", "DynamicShape", "TensorShape", "Rank", "Size", "Reshape", "Flatten", "ExpandDims", "Squeeze",
    "Transpose", "BroadcastTo", "Identity", "IdentityN", "Zeros", "Ones", "ZerosLike", "OnesLike", "Fill", "Fills", "Eye", "Range", "BartlettWindow",
    "BlackmanWindow", "HammingWindow", "LinSpace", "LogSpace", "Meshgrid", "ScalarToTensor", "ScalarToArray", "ScalarCast", "TupleToArray",
    "TrilIndices", "TriuIndices", "Concat", "Stack", "Pack", "ParallelConcat", "Unstack", "Unpack", "Split", "SplitV", "Slice", "StridedSlice",
    "Tile", "ReverseV2", "ReverseSequence", "Roll", "Pad", "MirrorPad", "PadV3", "Select", "MaskedFill", "MaskedSelect", "NonZero", "Unique",
    "UniqueWithPad", "UniqueConsecutive", "SearchSorted", "Bucketize", "InTopK", "OneHot", "Gather", "GatherV2", "SparseGatherV2", "GatherD",
    "GatherNd", "EmbeddingLookup", "ScatterNd", "ScatterUpdate", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMax", "ScatterMin",
    "ScatterNdUpdate", "ScatterNdAdd", "ScatterNdSub", "ScatterNdMul", "ScatterNdDiv", "ScatterNdMax", "ScatterNdMin", "TensorScatterUpdate",
    "TensorScatterAdd", "TensorScatterSub", "TensorScatterMul", "TensorScatterDiv", "TensorScatterMax", "TensorScatterMin", "TensorScatterElements",
    "IndexAdd", "IndexFill", "InplaceUpdate", "InplaceAdd", "InplaceSub", "InvertPermutation", "UnravelIndex", "UnsortedSegmentSum",
    "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "Diag", "DiagPart", "Trace", "Tril", "Triu", "MatrixBandPart", "SpaceToDepth",
    "DepthToSpace", "SpaceToBatch", "BatchToSpace", "ChannelShuffle", "ResizeNearestNeighbor", "ResizeBilinear", "ResizeNearestNeighborV2",
    "ResizeBilinearV2", "IOU", "BoundingBoxEncode", "BoundingBoxDecode", "CheckValid", "NMSWithMask", "CropAndResize", "ROIAlign", "ReduceOp",
    "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "CollectiveScatter", "CollectiveGather", "Barrier", "Send", "Receive",
    "AlltoAll", "NeighborExchange", "Print", "Assert", "InsertGradientOf", "HookBackward", "ScalarSummary", "TensorSummary", "ImageSummary",
    "HistogramSummary", "Add", "TensorAdd", "Sub", "Mul", "RealDiv", "Div", "DivNoNan", "MulNoNan", "FloorDiv", "FloorMod", "Mod", "TruncateDiv",
    "TruncateMod", "Pow", "Maximum", "Minimum", "Fmax", "Fmin", "SquaredDifference", "Equal", "NotEqual", "ApproximateEqual", "IsClose", "Greater",
    "GreaterEqual", "Less", "LessEqual", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift", "Lgamma", "Digamma", "Erfinv",
    "Polygamma", "BesselI0", "NextAfter", "Gcd", "Lcm", "SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd", "LogicalAnd",
    "LogicalOr", "LogicalXor", "Atan2", "Hypot", "Xlogy", "Xdivy", "Heaviside", "Lerp", "Addcmul", "Addcdiv", "AddN", "AccumulateNV2", "Neg", "Abs",
    "Sign", "Floor", "Ceil", "Round", "Rint", "Trunc", "Exp", "Expm1", "Log", "Log1p", "Sqrt", "Rsqrt", "Square", "Reciprocal", "Inv", "Invert",
    "Sin", "Cos", "Tan", "Asin", "ACos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Sinc", "Erf", "Erfc", "Logit", "Real", "Imag", "Conj",
    "LogicalNot", "IsNan", "IsInf", "IsFinite", "NanToNum", "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceAll",
    "ReduceAny", "ReduceStd", "Argmax", "Argmin", "ArgMaxWithValue", "ArgMinWithValue", "CumSum", "CumProd", "Cummax", "Cummin", "TopK", "Sort",
    "LpNorm", "SquareSumAll", "CountNonZero", "MatMul", "BatchMatMul", "Einsum", "Ger", "Cross", "Cdist", "MatrixInverse", "Cholesky",
    "CholeskyInverse", "CholeskySolve", "MatrixTriangularSolve", "MatrixDeterminant", "LogMatrixDeterminant", "MatrixSolve", "LuSolve",
    "MatrixPower", "Svd", "ReLU", "ReLU6", "PReLU", "Elu", "SeLU", "CeLU", "GeLU", "Gelu", "FastGeLU", "FastGelu", "HSwish", "HSigmoid", "HShrink",
    "SoftShrink", "Mish", "Sigmoid", "Tanh", "Softplus", "Softsign", "Softmax", "LogSoftmax", "GLU", "Dense", "BiasAdd", "Conv2D", "Conv2DTranspose",
    "Conv2DBackpropInput", "DepthwiseConv2dNative", "Conv3D", "MaxPool3D", "AvgPool3D", "MaxPool", "AvgPool", "MaxPoolWithArgmax",
    "AdaptiveAvgPool2D", "AdaptiveAvgPool3D", "AdaptiveMaxPool2D", "BatchNorm", "LayerNorm", "RmsNorm", "L2Normalize", "LRN", "Dropout", "Dropout2D",
    "Dropout3D", "L2Loss", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", "SigmoidCrossEntropyWithLogits",
    "BCEWithLogitsLoss", "BinaryCrossEntropy", "KLDivLoss", "SmoothL1Loss", "SoftMarginLoss", "MultiMarginLoss", "NLLLoss", "ApplyMomentum",
    "FusedWeightScaleApplyMomentum", "SGD", "Adam", "AdamWeightDecay", "ApplyAdagrad", "ApplyRMSProp", "ApplyGradientDescent", "LSTM", "Assign",
    "AssignAdd", "AssignSub", "Depend", "Partial", "StopGradient", "FloatStatus", "NPUAllocFloatStatus", "NPUGetFloatStatus", "NPUClearFloatStatus",
    "Custom", "StandardNormal", "StandardLaplace", "TruncatedNormal", "UniformReal", "UniformInt", "Bernoulli", "Multinomial", "RandomCategorical",
    "RandpermV2", "RandomShuffle", "RandomChoiceWithMask",
]
