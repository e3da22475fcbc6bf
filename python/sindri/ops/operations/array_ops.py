"""Primitives that create, reshape, join, split and index tensors: one line each over the functions of
sindri.ops.function.
"""
from __future__ import annotations

from sindri.common import dtype as mstype
from sindri.ops import function as F
from sindri.ops._util import to_ints
from sindri.ops.function import image_func as B
from sindri.ops.function import index_func as X
from sindri.ops.function import other_func as O
from sindri.ops.primitive import REQUIRED, like, primitive


def _pad_v3(x, paddings, value=None, mode="constant", paddings_contiguous=True):
    """Pads dimensions, from the last one on.

    Args:
        x: The tensor.
        paddings (sequence of ints or Tensor): (before, after) per dimension, the last dimension first; without
            `paddings_contiguous` all numbers before come first, then all after.
        value (number or Tensor): The value for "constant"; None means 0. Default: None.
        mode (str): "constant", "reflect", "edge" or "wrap". Default: "constant".
        paddings_contiguous (bool): Whether the numbers of a dimension are adjacent. Default: True.

    Returns:
        The padded tensor.

    Raises:
        ValueError: If `paddings` does not fit or `mode` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.PadV3()(ms.Tensor([1, 2, 3]), (1, 2)))
        [0 1 2 3 0 0]
    """
    flat = to_ints(paddings, "paddings", "ops.PadV3")
    half = len(flat) // 2
    pairs = flat if paddings_contiguous else tuple(v for i in range(half) for v in (flat[i], flat[half + i]))
    value = value.item() if hasattr(value, "item") else value
    return F.pad(x, pairs, {"edge": "replicate", "wrap": "circular"}.get(mode, mode), value if mode == "constant" else None)


# Type and shape.
Cast = primitive("Cast", F.cast)
DType = primitive("DType", F.dtype)
Shape = primitive("Shape", F.shape)
DynamicShape = TensorShape = primitive("TensorShape", F.dyn_shape)
Rank = primitive("Rank", F.rank)
Size = primitive("Size", F.size)
SameTypeShape = primitive("SameTypeShape", O.same_type_shape)
IsInstance = primitive("IsInstance", O.isinstance_)
IsSubClass = primitive("IsSubClass", O.issubclass_)
Reshape = primitive("Reshape", F.reshape)
Flatten = primitive("Flatten", F.flatten_rows)
ExpandDims = Unsqueeze = primitive("ExpandDims", F.expand_dims)
Squeeze = primitive("Squeeze", like(F.squeeze, lambda x, axis: F.squeeze(x, axis if axis != () else None)), (), ("axis",), axis=())
Transpose = primitive("Transpose", F.transpose)
BroadcastTo = primitive("BroadcastTo", F.broadcast_to, shape=REQUIRED)
Identity = primitive("Identity", O.identity)
IdentityN = primitive("IdentityN", like(O.make_tuple, lambda xs: tuple(xs)))

# Creation.
Zeros = primitive("Zeros", F.zeros)
Ones = primitive("Ones", F.ones)
ZerosLike = primitive("ZerosLike", F.zeros_like)
OnesLike = primitive("OnesLike", F.ones_like)
Fill = primitive("Fill", F.fill)
Fills = primitive("Fills", F.fills)
Eye = primitive("Eye", F.eye)
Range = primitive("Range", F.range, maxlen=1000000)
BartlettWindow = primitive("BartlettWindow", F.bartlett_window, (), ("dtype",), periodic=True, dtype=mstype.float32)
BlackmanWindow = primitive("BlackmanWindow", F.blackman_window, (), ("dtype",), periodic=True, dtype=mstype.float32)
HammingWindow = primitive("HammingWindow", F.hamming_window, (), ("dtype",), periodic=True, alpha=0.54, beta=0.46, dtype=mstype.float32)
LinSpace = primitive("LinSpace", F.linspace)
LogSpace = primitive("LogSpace",
                     like(F.logspace, lambda start, end, steps, base, dtype: F.logspace(start, end, steps, base, dtype=dtype)), (), ("dtype",), steps=10,
                     base=10, dtype=mstype.float32)
Meshgrid = primitive("Meshgrid", like(F.meshgrid, lambda inputs, indexing: F.meshgrid(*inputs, indexing=indexing)), indexing="xy")
ScalarToTensor = primitive("ScalarToTensor", O.scalar_to_tensor)
ScalarToArray = primitive("ScalarToArray", O.scalar_to_array)
ScalarCast = primitive("ScalarCast", O.scalar_cast)
TupleToArray = primitive("TupleToArray", O.tuple_to_array)
TrilIndices = primitive("TrilIndices",
                        like(F.tril_indices, lambda row, col, offset, dtype: F.tril_indices(row, col, offset, dtype=dtype)), (), ("dtype",), row=REQUIRED,
                        col=REQUIRED, offset=0, dtype=mstype.int32)
TriuIndices = primitive("TriuIndices",
                        like(F.triu_indices, lambda row, col, offset, dtype: F.triu_indices(row, col, offset, dtype=dtype)), (), ("dtype",), row=REQUIRED,
                        col=REQUIRED, offset=0, dtype=mstype.int32)

# Joining, splitting, repeating.
Concat = primitive("Concat", F.concat, axis=0)
Stack = Pack = primitive("Stack", F.stack, axis=0)
ParallelConcat = primitive("ParallelConcat", F.concat)
Unstack = Unpack = primitive("Unstack", F.unstack, (), ("num",), axis=0, num=None)
Split = primitive("Split", like(F.split, lambda x, axis, output_num: F.split(x, None, axis, output_num)), axis=0, output_num=1)
SplitV = primitive("SplitV",
                   like(F.split, lambda x, size_splits, split_dim, num_split: F.split(x, list(size_splits), split_dim)), size_splits=REQUIRED,
                   split_dim=REQUIRED,
                   num_split=REQUIRED)
Slice = primitive("Slice", F.slice)
StridedSlice = primitive("StridedSlice", F.strided_slice, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0)
Tile = primitive("Tile", F.tile)
ReverseV2 = primitive("ReverseV2", like(F.flip, lambda x, axis: F.flip(x, axis)), axis=REQUIRED)
ReverseSequence = primitive("ReverseSequence", X.reverse_sequence, seq_dim=REQUIRED, batch_dim=0)
Roll = primitive("Roll", F.roll, (), ("dims",), shifts=REQUIRED, dims=None)
Pad = primitive("Pad", F.pad_pairs, paddings=REQUIRED)
MirrorPad = primitive("MirrorPad", F.mirror_pad, mode="REFLECT")
PadV3 = primitive("PadV3", _pad_v3, mode="constant", paddings_contiguous=True)

# Selection and indexing.
Select = primitive("Select", F.select)
MaskedFill = primitive("MaskedFill", F.masked_fill)
MaskedSelect = primitive("MaskedSelect", F.masked_select)
NonZero = primitive("NonZero", F.nonzero)
Unique = primitive("Unique", F.unique)
UniqueWithPad = primitive("UniqueWithPad", F.unique_with_pad)
UniqueConsecutive = primitive("UniqueConsecutive", F.unique_consecutive, (), ("dim",), return_inverse=False, return_counts=False, dim=None)
SearchSorted = primitive("SearchSorted",
                         like(F.searchsorted, lambda s, v, dtype, right: F.cast(F.searchsorted(s, v, right=right), dtype)), (), ("dtype",),
                         dtype=mstype.int64, right=False)
Bucketize = primitive("Bucketize", F.bucketize, boundaries=REQUIRED)
InTopK = primitive("InTopK", F.intopk, k=REQUIRED)
OneHot = primitive("OneHot", F.one_hot, axis=-1)
Gather = GatherV2 = SparseGatherV2 = primitive("Gather", X.gather, batch_dims=0)
GatherD = primitive("GatherD", X.gather_elements)
GatherNd = primitive("GatherNd", X.gather_nd)
EmbeddingLookup = primitive("EmbeddingLookup", X.embedding_lookup)
ScatterNd = primitive("ScatterNd", X.scatter_nd)
ScatterUpdate = primitive("ScatterUpdate", X.scatter_update, ("use_locking",), use_locking=True)
ScatterAdd = primitive("ScatterAdd", X.scatter_add, ("use_locking",), use_locking=False)
ScatterSub = primitive("ScatterSub", X.scatter_sub, ("use_locking",), use_locking=False)
ScatterMul = primitive("ScatterMul", X.scatter_mul, ("use_locking",), use_locking=False)
ScatterDiv = primitive("ScatterDiv", X.scatter_div, ("use_locking",), use_locking=False)
ScatterMax = primitive("ScatterMax", X.scatter_max, ("use_locking",), use_locking=False)
ScatterMin = primitive("ScatterMin", X.scatter_min, ("use_locking",), use_locking=False)
ScatterNdUpdate = primitive("ScatterNdUpdate", X.scatter_nd_update, ("use_locking",), use_locking=True)
ScatterNdAdd = primitive("ScatterNdAdd", X.scatter_nd_add, ("use_locking",), use_locking=False)
ScatterNdSub = primitive("ScatterNdSub", X.scatter_nd_sub, ("use_locking",), use_locking=False)
ScatterNdMul = primitive("ScatterNdMul", X.scatter_nd_mul, ("use_locking",), use_locking=False)
ScatterNdDiv = primitive("ScatterNdDiv", X.scatter_nd_div, ("use_locking",), use_locking=False)
ScatterNdMax = primitive("ScatterNdMax", X.scatter_nd_max, ("use_locking",), use_locking=False)
ScatterNdMin = primitive("ScatterNdMin", X.scatter_nd_min, ("use_locking",), use_locking=False)
TensorScatterUpdate = primitive("TensorScatterUpdate", X.tensor_scatter_update)
TensorScatterAdd = primitive("TensorScatterAdd", X.tensor_scatter_add)
TensorScatterSub = primitive("TensorScatterSub", X.tensor_scatter_sub)
TensorScatterMul = primitive("TensorScatterMul", X.tensor_scatter_mul)
TensorScatterDiv = primitive("TensorScatterDiv", X.tensor_scatter_div)
TensorScatterMax = primitive("TensorScatterMax", X.tensor_scatter_max)
TensorScatterMin = primitive("TensorScatterMin", X.tensor_scatter_min)
TensorScatterElements = primitive("TensorScatterElements", X.tensor_scatter_elements, axis=0, reduction="none")
IndexAdd = primitive("IndexAdd", X.index_add, ("use_lock", "check_index_bound"), axis=REQUIRED, use_lock=True, check_index_bound=True)
IndexFill = primitive("IndexFill", X.index_fill)
InplaceUpdate = primitive("InplaceUpdate", X.inplace_update, indices=REQUIRED)
InplaceAdd = primitive("InplaceAdd", X.inplace_add, indices=REQUIRED)
InplaceSub = primitive("InplaceSub", X.inplace_sub, indices=REQUIRED)
InvertPermutation = primitive("InvertPermutation", X.invert_permutation)
UnravelIndex = primitive("UnravelIndex", X.unravel_index)
UnsortedSegmentSum = primitive("UnsortedSegmentSum", X.unsorted_segment_sum)
UnsortedSegmentMax = primitive("UnsortedSegmentMax", X.unsorted_segment_max)
UnsortedSegmentMin = primitive("UnsortedSegmentMin", X.unsorted_segment_min)
UnsortedSegmentProd = primitive("UnsortedSegmentProd", X.unsorted_segment_prod)

# Diagonals and triangles.
Diag = primitive("Diag", F.diag)
DiagPart = primitive("DiagPart", F.diag_part)
Trace = primitive("Trace", F.trace)
Tril = primitive("Tril", F.tril, diagonal=0)
Triu = primitive("Triu", F.triu, diagonal=0)
MatrixBandPart = primitive("MatrixBandPart", F.matrix_band_part)

# Blocks of images, boxes.
SpaceToDepth = primitive("SpaceToDepth", F.space_to_depth, block_size=REQUIRED)
DepthToSpace = primitive("DepthToSpace", F.depth_to_space, block_size=REQUIRED)
SpaceToBatch = primitive("SpaceToBatch", F.space_to_batch, block_size=REQUIRED, paddings=REQUIRED)
BatchToSpace = primitive("BatchToSpace", F.batch_to_space, block_size=REQUIRED, crops=REQUIRED)
BatchToSpaceND = primitive("BatchToSpaceND", F.batch_to_space_nd, block_shape=REQUIRED, crops=REQUIRED)
SpaceToBatchND = primitive("SpaceToBatchND", like(F.space_to_batch_nd, lambda x, block_shape, paddings: F.space_to_batch_nd(x, block_shape, paddings)),
                           block_shape=REQUIRED, paddings=REQUIRED)
MatrixDiagV3 = primitive("MatrixDiagV3", F.matrix_diag, align="RIGHT_LEFT")
MatrixDiagPartV3 = primitive("MatrixDiagPartV3", F.matrix_diag_part, align="RIGHT_LEFT")
MatrixSetDiagV3 = primitive("MatrixSetDiagV3", F.matrix_set_diag, align="RIGHT_LEFT")
ChannelShuffle = primitive("ChannelShuffle", like(F.channel_shuffle, lambda x, group: F.channel_shuffle(x, group)), group=REQUIRED)
ResizeNearestNeighbor = primitive("ResizeNearestNeighbor", F.resize_nearest, size=REQUIRED, align_corners=False, half_pixel_centers=False)
ResizeBilinear = primitive("ResizeBilinear", F.resize_bilinear, size=REQUIRED, align_corners=False, half_pixel_centers=False)
ResizeNearestNeighborV2 = primitive("ResizeNearestNeighborV2", F.resize_nearest, align_corners=False, half_pixel_centers=False)
ResizeBilinearV2 = primitive("ResizeBilinearV2", F.resize_bilinear, align_corners=False, half_pixel_centers=False)
IOU = primitive("IOU", B.iou, mode="iou")
BoundingBoxEncode = primitive("BoundingBoxEncode", B.bounding_box_encode, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0))
BoundingBoxDecode = primitive("BoundingBoxDecode", B.bounding_box_decode, max_shape=REQUIRED, means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0),
                              wh_ratio_clip=0.016)
CheckValid = primitive("CheckValid", B.check_valid)
NMSWithMask = primitive("NMSWithMask", B.nms_with_mask, iou_threshold=0.5)
CropAndResize = primitive("CropAndResize", B.crop_and_resize, method="bilinear", extrapolation_value=0.0)
ROIAlign = primitive("ROIAlign", B.roi_align, pooled_height=REQUIRED, pooled_width=REQUIRED, spatial_scale=REQUIRED, sample_num=2, roi_end_mode=1)

__all__ = [name for name, value in list(globals().items()) if isinstance(value, type) and value.__module__ == __name__]
