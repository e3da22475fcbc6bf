"""The functions of sindri.ops, one module per family. The primitives in sindri.ops.operations are made of them."""
from sindri.ops.function.array_func import *  # noqa: F401,F403
from sindri.ops.function.band_func import *  # noqa: F401,F403
from sindri.ops.function.choose_func import *  # noqa: F401,F403
from sindri.ops.function.clip_func import *  # noqa: F401,F403
from sindri.ops.function.creation_func import *  # noqa: F401,F403
from sindri.ops.function.image_func import *  # noqa: F401,F403
from sindri.ops.function.index_func import *  # noqa: F401,F403
from sindri.ops.function.linalg_func import *  # noqa: F401,F403
from sindri.ops.function.loss_func import *  # noqa: F401,F403
from sindri.ops.function.math_func import *  # noqa: F401,F403
from sindri.ops.function.nn_func import *  # noqa: F401,F403
from sindri.ops.function.other_func import *  # noqa: F401,F403
from sindri.ops.function.pooling_func import *  # noqa: F401,F403
from sindri.ops.function.random_func import *  # noqa: F401,F403
from sindri.ops.function.reduce_func import *  # noqa: F401,F403
from sindri.ops.function.resize_func import *  # noqa: F401,F403
from sindri.ops.function.special_func import *  # noqa: F401,F403
from sindri.ops.function.volume_func import *  # noqa: F401,F403
from sindri.ops.function import (array_func, band_func, choose_func, clip_func, creation_func, image_func, index_func, linalg_func, loss_func, math_func,
                                 nn_func, other_func, pooling_func, random_func, reduce_func, resize_func, special_func, volume_func)

__all__ = [name for module in (array_func, band_func, choose_func, clip_func, creation_func, image_func, index_func, linalg_func, loss_func, math_func, nn_func,
                               other_func, pooling_func, random_func, reduce_func, resize_func, special_func, volume_func)
           for name in module.__all__]

# Functions that primitives and layers use and MindSpore does not have; `from mindspore.ops import *` does not import them.
_INNER = frozenset("""
flattened flatten_rows diag_part space_to_depth depth_to_space batch_to_space space_to_batch nms_with_mask roi_align embedding_lookup scatter_sub
invert_permutation unravel_index mat_mul batch_mat_mul softmax_cross_entropy_pair sparse_softmax_cross_entropy l2_half sigmoid_cross_entropy
rint real_div mod div_no_nan mul_no_nan squared_difference same_pads spatial_pads in_nchw conv2d_transpose_of pool max_pool_with_places
max_pool1d windows update_running layer_norm_with_stats instance_norm l2_normalize dropout_with_mask dropout2d_with_mask pad_pairs
resize_nearest resize_bilinear resized insert_gradient_of need_eager assert_ float_status keep_mask uniform_int uniform_real normal_with_seeds
choice_with_mask_seeds padded_randperm dropout_bits dropout_of_bits reduce_prod max_with_index min_with_index typed_argmax typed_argmin scan_sum scan_prod lp_norm square_sum_all
reduce_std common_divisor common_multiple
fill_diagonal masked_scatter adaptive_max_pool dilated_max_pool bitwise_not global_norm isinstance_ issubclass_ kthvalue neg_tensor same_type_shape
segment_max segment_mean segment_min segment_prod segment_sum tensor_eq tensor_ne truncated_normal tail zip_operation
""".split())
PUBLIC = [name for name in dict.fromkeys(__all__) if name not in _INNER]
