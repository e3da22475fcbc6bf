"""Functions of sindri.ops on boxes and regions of images. Boxes are rows (x0, y0, x1, y1).

Written by scripts/python_stubs.py; do not edit."""

from collections.abc import Sequence
from typing import Any
from sindri._core import Tensor

__all__ = ["iou", "bounding_box_encode", "bounding_box_decode", "check_valid", "nms_with_mask", "crop_and_resize", "roi_align"]

def iou(anchor_boxes: Tensor, gt_boxes: Tensor, mode: str = 'iou') -> Tensor: ...
def bounding_box_encode(anchor_box: Tensor, groundtruth_box: Tensor, means: Sequence[float] = ..., stds: Sequence[float] = ...) -> Tensor: ...
def bounding_box_decode(
    anchor_box: Tensor, deltas: Tensor, max_shape: Sequence[int], means: Sequence[float] = ..., stds: Sequence[float] = ...,
    wh_ratio_clip: float = 0.016,
) -> Tensor: ...
def check_valid(bboxes: Tensor, img_metas: Tensor) -> Tensor: ...
def nms_with_mask(bboxes: Tensor, iou_threshold: float = 0.5) -> tuple[Any, ...]: ...
def crop_and_resize(
    image: Tensor, boxes: Tensor, box_indices: Tensor, crop_size: Sequence[int], method: str = 'bilinear', extrapolation_value: float = 0.0,
) -> Tensor: ...
def roi_align(
    features: Tensor, rois: Tensor, pooled_height: int, pooled_width: int, spatial_scale: float, sample_num: int = 2, roi_end_mode: int = 1,
) -> Tensor: ...
