"""The primitives (MindSpore: mindspore.ops.operations), one module per family.

Written by scripts/python_stubs.py; do not edit."""


from sindri.ops.operations._ctc import *
from sindri.ops.operations._thor_ops import *
from sindri.ops.operations.array_ops import *
from sindri.ops.operations.comm_ops import *
from sindri.ops.operations.comm_ops import (
    _AllSwap as _AllSwap, _MirrorOperator as _MirrorOperator, _VirtualAdd as _VirtualAdd, _VirtualDataset as _VirtualDataset,
    _VirtualDiv as _VirtualDiv, _VirtualOutput as _VirtualOutput, _VirtualPipelineEnd as _VirtualPipelineEnd,
)
from sindri.ops.operations.debug_ops import *
from sindri.ops.operations.math_ops import *
from sindri.ops.operations.nn_ops import *
from sindri.ops.operations.other_ops import *
from sindri.ops.operations.random_ops import *
from sindri.ops.operations import (
    _ctc as _ctc, _thor_ops as _thor_ops, array_ops as array_ops, comm_ops as comm_ops, debug_ops as debug_ops, math_ops as math_ops,
    nn_ops as nn_ops, other_ops as other_ops, random_ops as random_ops,
)

__all__ = [
    "CTCLoss", "Im2Col", "Cast", "DType", "Shape", "DynamicShape", "TensorShape", "Rank", "Size", "Reshape", "Flatten", "ExpandDims", "Squeeze",
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
    "DepthToSpace", "SpaceToBatch", "BatchToSpace", "BatchToSpaceND", "SpaceToBatchND", "MatrixDiagV3", "MatrixDiagPartV3", "MatrixSetDiagV3",
    "ChannelShuffle", "ResizeNearestNeighbor", "ResizeBilinear", "ResizeNearestNeighborV2", "ResizeBilinearV2", "IOU", "BoundingBoxEncode",
    "BoundingBoxDecode", "CheckValid", "NMSWithMask", "CropAndResize", "ROIAlign", "ReduceOp", "AllReduce", "AllGather", "ReduceScatter",
    "Broadcast", "Reduce", "CollectiveScatter", "CollectiveGather", "Barrier", "Send", "Receive", "AlltoAll", "NeighborExchange", "Print", "Assert",
    "InsertGradientOf", "HookBackward", "ScalarSummary", "TensorSummary", "ImageSummary", "HistogramSummary", "Add", "TensorAdd", "Sub", "Mul",
    "RealDiv", "Div", "DivNoNan", "MulNoNan", "FloorDiv", "FloorMod", "Mod", "TruncateDiv", "TruncateMod", "Pow", "Maximum", "Minimum", "Fmax",
    "Fmin", "SquaredDifference", "Equal", "NotEqual", "ApproximateEqual", "IsClose", "Greater", "GreaterEqual", "Less", "LessEqual", "BitwiseAnd",
    "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift", "Lgamma", "Digamma", "Erfinv", "Polygamma", "BesselJ0", "BesselJ1", "BesselY0", "BesselY1",
    "BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "NextAfter", "Gcd", "Lcm", "SegmentSum",
    "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd", "LogicalAnd", "LogicalOr", "LogicalXor", "Atan2", "Hypot", "Xlogy", "Xdivy",
    "Heaviside", "Lerp", "Addcmul", "Addcdiv", "AddN", "AccumulateNV2", "Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Rint", "Trunc", "Exp",
    "Expm1", "Log", "Log1p", "Sqrt", "Rsqrt", "Square", "Reciprocal", "Inv", "Invert", "Sin", "Cos", "Tan", "Asin", "ACos", "Atan", "Sinh", "Cosh",
    "Asinh", "Acosh", "Atanh", "Sinc", "Erf", "Erfc", "Logit", "Real", "Imag", "Conj", "LogicalNot", "IsNan", "IsInf", "IsFinite", "NanToNum",
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceAll", "ReduceAny", "ReduceStd", "Argmax", "Argmin", "ArgMaxWithValue",
    "ArgMinWithValue", "CumSum", "CumProd", "Cummax", "Cummin", "TopK", "Sort", "LpNorm", "SquareSumAll", "CountNonZero", "MatMul", "BatchMatMul",
    "Einsum", "Ger", "Cross", "Cdist", "MatrixInverse", "Cholesky", "CholeskyInverse", "CholeskySolve", "MatrixTriangularSolve", "MatrixDeterminant",
    "LogMatrixDeterminant", "MatrixSolve", "LuSolve", "MatrixPower", "Qr", "Svd", "ReLU", "ReLU6", "PReLU", "Elu", "SeLU", "CeLU", "GeLU", "Gelu",
    "FastGeLU", "FastGelu", "HSwish", "HSigmoid", "HShrink", "SoftShrink", "Mish", "Sigmoid", "Tanh", "Softplus", "Softsign", "Softmax",
    "LogSoftmax", "GLU", "Dense", "BiasAdd", "Conv2D", "Conv2DTranspose", "Conv2DBackpropInput", "DepthwiseConv2dNative", "Conv3D", "MaxPool3D",
    "AvgPool3D", "MaxPool", "AvgPool", "MaxPoolWithArgmax", "AdaptiveAvgPool2D", "AdaptiveAvgPool3D", "AdaptiveMaxPool2D", "BatchNorm", "LayerNorm",
    "RmsNorm", "L2Normalize", "LRN", "Dropout", "DropoutGenMask", "DropoutDoMask", "Dropout2D", "Dropout3D", "L2Loss",
    "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", "SigmoidCrossEntropyWithLogits", "BCEWithLogitsLoss",
    "BinaryCrossEntropy", "KLDivLoss", "SmoothL1Loss", "SoftMarginLoss", "MultiMarginLoss", "TripletMarginLoss", "CTCGreedyDecoder", "CTCLossV2",
    "NLLLoss", "ApplyMomentum", "FusedWeightScaleApplyMomentum", "SGD", "Adam", "AdamWeightDecay", "FusedCastAdamWeightDecay", "ApplyAdagrad",
    "ApplyRMSProp", "ApplyGradientDescent", "LSTM", "Assign", "AssignAdd", "AssignSub", "Depend", "Partial", "StopGradient", "FloatStatus",
    "NPUAllocFloatStatus", "NPUGetFloatStatus", "NPUClearFloatStatus", "Push", "Pull", "Custom", "StandardNormal", "StandardLaplace",
    "TruncatedNormal", "UniformReal", "UniformInt", "Bernoulli", "Multinomial", "RandomCategorical", "RandpermV2", "Randperm", "RandomShuffle",
    "RandomChoiceWithMask",
]
