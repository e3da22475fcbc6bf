"""Functions of sindri.ops on boxes, regions and blocks of images. Boxes are rows (x0, y0, x1, y1)."""
from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

from sindri._check import check_choice, fail
from sindri.common import dtype as mstype
from sindri.ops._util import Tensor, core, exported, rounded_once, to_count, to_int, to_ints
from sindri.ops.function.array_func import swapaxes, unstack
from sindri.ops.function.math_func import floor


@rounded_once()
def iou(anchor_boxes: Tensor, gt_boxes: Tensor, mode: str = "iou") -> Tensor:
    """Computes the overlap of boxes with anchors, divided by their union ("iou") or by the box area ("iof"). Borders
    count as pixels.

    Args:
        anchor_boxes (Tensor): The anchors, [n, 4].
        gt_boxes (Tensor): The ground-truth boxes, [m, 4].
        mode (str): "iou" or "iof". Default: "iou".

    Returns:
        A tensor of shape [m, n].

    Raises:
        ValueError: If `mode` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.iou(ms.Tensor([[0.0, 0.0, 9.0, 9.0]]), ms.Tensor([[0.0, 0.0, 9.0, 4.0]])))
        [[0.5]]
    """
    check_choice("ops.iou", "mode", mode, ("iou", "iof"))
    ax0, ay0, ax1, ay1 = (core.expand_dims(v, 0) for v in unstack(anchor_boxes, 1))
    gx0, gy0, gx1, gy1 = (core.expand_dims(v, 1) for v in unstack(gt_boxes, 1))
    extent = lambda low, high: core.maximum(core.add(core.sub(high, low), 1.0), 0.0)
    both = core.mul(extent(core.maximum(ax0, gx0), core.minimum(ax1, gx1)), extent(core.maximum(ay0, gy0), core.minimum(ay1, gy1)))
    gt = core.mul(extent(gx0, gx1), extent(gy0, gy1))
    if mode == "iof":
        return core.div(both, gt)
    return core.div(both, core.sub(core.add(core.mul(extent(ax0, ax1), extent(ay0, ay1)), gt), both))


def _centres(boxes: Tensor) -> tuple:
    x0, y0, x1, y1 = unstack(boxes, 1)
    w, h = core.add(core.sub(x1, x0), 1.0), core.add(core.sub(y1, y0), 1.0)
    return core.mul(core.add(x0, x1), 0.5), core.mul(core.add(y0, y1), 0.5), w, h


@rounded_once()
def bounding_box_encode(anchor_box: Tensor, groundtruth_box: Tensor, means: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
                        stds: Sequence[float] = (1.0, 1.0, 1.0, 1.0)) -> Tensor:
    """Encodes boxes relative to anchors.

    The result holds the offsets of the centres in units of the anchor's size and the logarithms of the size ratios,
    minus `means`, divided by `stds`.

    Args:
        anchor_box (Tensor): The anchors, [n, 4].
        groundtruth_box (Tensor): The boxes, [n, 4].
        means (sequence of floats): The means that are subtracted. Default: (0.0, 0.0, 0.0, 0.0).
        stds (sequence of floats): The standard deviations that divide. Default: (1.0, 1.0, 1.0, 1.0).

    Returns:
        A tensor of shape [n, 4].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bounding_box_encode(ms.Tensor([[0.0, 0.0, 9.0, 9.0]]), ms.Tensor([[5.0, 0.0, 14.0, 9.0]])))
        [[0.5 0.  0.  0. ]]
    """
    px, py, pw, ph = _centres(anchor_box)
    gx, gy, gw, gh = _centres(groundtruth_box)
    deltas = core.stack([core.div(core.sub(gx, px), pw), core.div(core.sub(gy, py), ph), core.log(core.div(gw, pw)), core.log(core.div(gh, ph))], 1)
    return core.div(core.sub(deltas, _constant(means, deltas)), _constant(stds, deltas))


def _constant(values: Any, like: Tensor) -> Tensor:
    values = [values] * 4 if isinstance(values, (int, float)) else list(values)
    return core.cast(Tensor(np.asarray(values, np.float64)), like.dtype)


@rounded_once()
def bounding_box_decode(anchor_box: Tensor, deltas: Tensor, max_shape: Sequence[int], means: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
                        stds: Sequence[float] = (1.0, 1.0, 1.0, 1.0), wh_ratio_clip: float = 0.016) -> Tensor:
    """Decodes the deltas of `bounding_box_encode` to boxes, clipped to the image.

    Args:
        anchor_box (Tensor): The anchors, [n, 4].
        deltas (Tensor): The deltas, [n, 4].
        max_shape (sequence of ints): The image's (height, width).
        means (sequence of floats): The means that were subtracted. Default: (0.0, 0.0, 0.0, 0.0).
        stds (sequence of floats): The standard deviations that divided. Default: (1.0, 1.0, 1.0, 1.0).
        wh_ratio_clip (float): The least size ratio; the largest is its inverse. Default: 0.016.

    Returns:
        The boxes, [n, 4].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.bounding_box_decode(ms.Tensor([[0.0, 0.0, 9.0, 9.0]]), ms.Tensor([[0.5, 0.0, 0.0, 0.0]]), (100, 100)))
        [[ 5.  0. 14.  9.]]
    """
    d = core.add(core.mul(deltas, _constant(stds, deltas)), _constant(means, deltas))
    dx, dy, dw, dh = unstack(d, 1)
    limit = abs(math.log(wh_ratio_clip))
    px, py, pw, ph = _centres(anchor_box)
    half = lambda size, delta: core.mul(core.sub(core.mul(size, core.exp(core.clamp(delta, -limit, limit))), 1.0), 0.5)
    gx, gy, gw, gh = core.add(px, core.mul(pw, dx)), core.add(py, core.mul(ph, dy)), half(pw, dw), half(ph, dh)
    high, wide = (float(n - 1) for n in to_ints(max_shape, "max_shape", "ops.bounding_box_decode")[:2])
    return core.stack([core.clamp(core.sub(gx, gw), 0.0, wide), core.clamp(core.sub(gy, gh), 0.0, high),
                       core.clamp(core.add(gx, gw), 0.0, wide), core.clamp(core.add(gy, gh), 0.0, high)], 1)


def check_valid(bboxes: Tensor, img_metas: Tensor) -> Tensor:
    """Returns whether each box lies inside an image of (height·ratio, width·ratio) pixels.

    Args:
        bboxes (Tensor): The boxes, [n, 4].
        img_metas (Tensor): The image's height, width and ratio.

    Returns:
        A bool tensor of shape [n].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.check_valid(ms.Tensor([[0.0, 0.0, 5.0, 5.0], [0.0, 0.0, 20.0, 5.0]]), ms.Tensor([10.0, 10.0, 1.0])))
        [ True False]
    """
    x0, y0, x1, y1 = unstack(bboxes, 1)
    high, wide, ratio = unstack(img_metas, 0)
    inside = core.logical_and(core.greater_equal(x0, 0), core.greater_equal(y0, 0))
    limit = lambda size: core.sub(core.mul(size, ratio), 1.0)
    return core.logical_and(inside, core.logical_and(core.less_equal(x1, limit(wide)), core.less_equal(y1, limit(high))))


def nms_with_mask(bboxes: Tensor, iou_threshold: float = 0.5) -> tuple:
    """Applies non-maximum suppression: a box is dropped if an earlier kept one overlaps it by more than iou_threshold.

    The choice depends on values, so code that calls it runs eagerly.

    Args:
        bboxes (Tensor): The boxes with scores, [n, 5].
        iou_threshold (float): The greatest overlap. Default: 0.5.

    Returns:
        (boxes in descending order of the score, int32 row numbers 0 to n - 1, bool mask of the boxes kept).

    Raises:
        ValueError: If the shape is not [n, 5].

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.NMSWithMask(0.5)(ms.Tensor([[0.0, 0.0, 10.0, 10.0, 0.9], [1.0, 0.0, 10.0, 10.0, 0.8]]))[2])
        [ True False]
    """
    if len(bboxes.shape) != 2 or bboxes.shape[1] != 5:
        fail(ValueError, f"expected [n, 5], got {bboxes.shape}", "ops.NMSWithMask")
    order = core.topk(core.slice(bboxes, [0, 4], [bboxes.shape[0], 5]), bboxes.shape[0], 0)[1]
    order = core.reshape(order, (-1,))
    ordered = core.gather(bboxes, order, 0)
    boxes = ordered.asnumpy()[:, :4].astype(np.float64)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    keep = np.ones(len(boxes), bool)
    for i in range(len(boxes)):
        if not keep[i]:
            continue
        low, high = np.maximum(boxes[i, :2], boxes[i + 1:, :2]), np.minimum(boxes[i, 2:], boxes[i + 1:, 2:])
        both = np.prod(np.maximum(high - low, 0), axis=1)
        keep[i + 1:] &= both <= iou_threshold * (area[i] + area[i + 1:] - both)
    return ordered, core.arange(0, len(boxes), 1, mstype.int32), Tensor(keep)


def _sample(image: Tensor, batch: Tensor, y: Tensor, x: Tensor, valid: Tensor) -> Tensor:
    """Returns bilinear values of image [n, c, h, w] at positions y, x (float, one shape) of image number `batch`:
    positions.shape + [c]; 0 where not valid.
    """
    n, c, h, w = image.shape
    flat = core.reshape(core.transpose(image, [0, 2, 3, 1]), (n * h * w, c))
    y0, x0 = floor(y), floor(x)
    dy, dx = core.sub(y, y0), core.sub(x, x0)
    row = lambda v: core.cast(core.clamp(v, 0.0, float(h - 1)), mstype.int64)
    column = lambda v: core.cast(core.clamp(v, 0.0, float(w - 1)), mstype.int64)
    total, nothing = None, core.full((), 0.0, image.dtype)
    for yy, wy in ((row(y0), core.sub(1.0, dy)), (row(core.add(y0, 1.0)), dy)):
        for xx, wx in ((column(x0), core.sub(1.0, dx)), (column(core.add(x0, 1.0)), dx)):
            place = core.add(core.mul(core.add(core.mul(batch, h), yy), w), xx)
            # Elements without weight take no part, forward or backward, so a NaN there has no effect.
            weight = core.cast(core.expand_dims(core.mul(wy, wx), -1), image.dtype)
            here = core.expand_dims(valid, -1)
            part = core.mul(core.where(here, core.gather(flat, place, 0), nothing), weight)
            part = core.where(core.logical_and(here, core.not_equal(weight, 0)), part, nothing)
            total = part if total is None else core.add(total, part)
    return total


def crop_and_resize(image: Tensor, boxes: Tensor, box_indices: Tensor, crop_size: Sequence[int], method: str = "bilinear",
                    extrapolation_value: float = 0.0) -> Tensor:
    """Crops regions of images and resizes them.

    Args:
        image (Tensor): The images, [n, h, w, c].
        boxes (Tensor): The regions (y0, x0, y1, x1), [k, 4], in units of h - 1 and w - 1.
        box_indices (Tensor): The image number of each region, [k].
        crop_size (sequence of ints): The (height, width) of the result.
        method (str): "bilinear" or "nearest". Default: "bilinear".
        extrapolation_value (float): The value outside the image. Default: 0.0.

    Returns:
        A tensor of shape [k, height, width, c].

    Raises:
        ValueError: If `method` is another string.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.crop_and_resize(ms.ops.ones((1, 4, 4, 1)), ms.Tensor([[0.0, 0.0, 1.0, 1.0]]), ms.Tensor([0]), (2, 2)).shape)
        (1, 2, 2, 1)
    """
    check_choice("ops.crop_and_resize", "method", method, ("bilinear", "nearest", "bilinear_v2"))
    if method == "bilinear_v2":
        fail(ValueError, "method 'bilinear_v2' is not supported", "ops.crop_and_resize", "use 'bilinear'")
    high, wide = to_ints(crop_size, "crop_size", "ops.crop_and_resize")
    n, h, w, c = image.shape
    y0, x0, y1, x1 = (core.expand_dims(v, 1) for v in unstack(boxes, 1))

    def places(low: Tensor, top: Tensor, count: int, size: int) -> Tensor:
        if count == 1:
            return core.mul(core.mul(core.add(low, top), 0.5), float(size - 1))
        step = core.mul(core.sub(top, low), (size - 1) / (count - 1))
        return core.add(core.mul(low, float(size - 1)), core.mul(core.arange(0.0, float(count), 1.0, boxes.dtype), step))

    y, x = places(y0, y1, high, h), places(x0, x1, wide, w)
    inside = lambda v, size: core.logical_and(core.greater_equal(v, 0), core.less_equal(v, size - 1))
    shape = (boxes.shape[0], high, wide)
    valid = core.logical_and(core.expand_dims(inside(y, h), 2), core.expand_dims(inside(x, w), 1))
    if method == "nearest":
        y, x = floor(core.add(y, 0.5)), floor(core.add(x, 0.5))
    y, x = core.broadcast_to(core.expand_dims(y, 2), shape), core.broadcast_to(core.expand_dims(x, 1), shape)
    batch = core.reshape(core.cast(box_indices, mstype.int64), (-1, 1, 1))
    out = _sample(core.cast(core.transpose(image, [0, 3, 1, 2]), boxes.dtype), batch, y, x, valid)
    return core.where(core.expand_dims(valid, -1), out, float(extrapolation_value))


@rounded_once()
def roi_align(features: Tensor, rois: Tensor, pooled_height: int, pooled_width: int, spatial_scale: float, sample_num: int = 2,
              roi_end_mode: int = 1) -> Tensor:
    """Averages sample_num² bilinear samples per cell of regions (He et al. 2017).

    Args:
        features (Tensor): The features, [n, c, h, w].
        rois (Tensor): The regions (image number, x0, y0, x1, y1), [k, 5].
        pooled_height (int): The number of cells along the height.
        pooled_width (int): The number of cells along the width.
        spatial_scale (float): The factor from the regions' coordinates to those of the features.
        sample_num (int): The number of samples per cell and direction, at least 1. Default: 2.
        roi_end_mode (int): 1 to include the last pixel, else 0. Default: 1.

    Returns:
        A tensor of shape [k, c, pooled_height, pooled_width].

    Raises:
        ValueError: If `sample_num` is 0, whose number of samples would depend on values.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.ROIAlign(1, 1, 1.0)(ms.ops.ones((1, 1, 4, 4)), ms.Tensor([[0.0, 0.0, 0.0, 3.0, 3.0]])))
        [[[[1.]]]]
    """
    if sample_num < 1:
        fail(ValueError, f"sample_num: expected at least 1, got {sample_num}", "ops.ROIAlign",
             "a count that follows the size of each region is not supported")
    n, c, h, w = features.shape
    number, x0, y0, x1, y1 = unstack(core.cast(rois, mstype.float32), 1)
    end = 1.0 if roi_end_mode == 1 else 0.0
    x0, y0 = core.mul(x0, spatial_scale), core.mul(y0, spatial_scale)
    wide = core.sub(core.mul(core.add(x1, end), spatial_scale), x0)
    high = core.sub(core.mul(core.add(y1, end), spatial_scale), y0)
    if roi_end_mode != 1:  # MindSpore allows regions smaller than a pixel only if the last pixel is included
        wide, high = core.maximum(wide, 1.0), core.maximum(high, 1.0)

    def places(start: Tensor, size: Tensor, cells: int) -> Tensor:
        at = (np.arange(cells * sample_num) + 0.5) / (cells * sample_num)
        return core.add(core.expand_dims(start, 1), core.mul(core.expand_dims(size, 1), Tensor(at.astype(np.float32))))

    y, x = places(y0, high, pooled_height), places(x0, wide, pooled_width)
    inside = lambda v, size: core.logical_and(core.greater_equal(v, -1.0), core.less_equal(v, float(size)))
    valid = core.logical_and(core.expand_dims(inside(y, h), 2), core.expand_dims(inside(x, w), 1))
    shape = (rois.shape[0], pooled_height * sample_num, pooled_width * sample_num)
    y, x = core.clamp(y, 0.0, float(h - 1)), core.clamp(x, 0.0, float(w - 1))
    y, x = core.broadcast_to(core.expand_dims(y, 2), shape), core.broadcast_to(core.expand_dims(x, 1), shape)
    batch = core.reshape(core.cast(number, mstype.int64), (-1, 1, 1))
    samples = _sample(features, batch, y, x, valid)
    cells = core.reshape(samples, (rois.shape[0], pooled_height, sample_num, pooled_width, sample_num, c))
    return core.transpose(core.mean(cells, [2, 4]), [0, 3, 1, 2])


# --- blocks of images -------------------------------------------------------------------------------------------------------------------


def space_to_depth(x: Tensor, block_size: int) -> Tensor:
    """Moves blocks of b x b pixels to channels: [n, c, h, w] -> [n, c·b², h/b, w/b].

    Args:
        x (Tensor): The images.
        block_size (int): The size b, at least 2.

    Returns:
        The reduced images.

    Raises:
        ValueError: If `block_size` is below 2 or does not divide height and width.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.SpaceToDepth(2)(ms.ops.ones((1, 1, 4, 6))).shape)
        (1, 4, 2, 3)
    """
    n, c, h, w = x.shape
    b = to_int(block_size, "block_size", "ops.SpaceToDepth")
    if b < 2 or h % b or w % b:
        fail(ValueError, f"height and width of {x.shape} cannot be cut into blocks of {b}", "ops.SpaceToDepth",
             "block_size must be at least 2 and divide both")
    return core.reshape(core.transpose(core.reshape(x, (n, c, h // b, b, w // b, b)), [0, 3, 5, 1, 2, 4]), (n, b * b * c, h // b, w // b))


def depth_to_space(x: Tensor, block_size: int) -> Tensor:
    """Moves channels to blocks of b x b pixels: [n, c, h, w] -> [n, c/b², h·b, w·b]; the inverse of SpaceToDepth.

    Args:
        x (Tensor): The images.
        block_size (int): The size b, at least 2.

    Returns:
        The enlarged images.

    Raises:
        ValueError: If `block_size` is below 2 or its square does not divide the number of channels.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.DepthToSpace(2)(ms.ops.ones((1, 4, 2, 3))).shape)
        (1, 1, 4, 6)
    """
    n, c, h, w = x.shape
    b = to_int(block_size, "block_size", "ops.DepthToSpace")
    if b < 2 or c % (b * b):
        fail(ValueError, f"{c} channels of {x.shape} cannot become blocks of {b} x {b}", "ops.DepthToSpace",
             "block_size must be at least 2, its square divide the channels")
    return core.reshape(core.transpose(core.reshape(x, (n, b, b, c // (b * b), h, w)), [0, 3, 4, 1, 5, 2]), (n, c // (b * b), h * b, w * b))


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Moves channels to blocks of pixels, [.., c·r², h, w] -> [.., c, h·r, w·r], with the channels outermost (PyTorch's
    order).

    Args:
        input (Tensor): The images.
        upscale_factor (int): The factor r.

    Returns:
        The enlarged images.

    Raises:
        ValueError: If r² does not divide the number of channels or r is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.pixel_shuffle(ms.ops.ones((1, 4, 2, 3)), 2).shape)
        (1, 1, 4, 6)
    """
    *lead, c, h, w = input.shape
    r = to_count(upscale_factor, "upscale_factor", "ops.pixel_shuffle")
    if c % (r * r):
        fail(ValueError, f"{c} channels of {input.shape} are not a multiple of {r}²", "ops.pixel_shuffle")
    k = len(lead)
    x = core.reshape(input, (*lead, c // (r * r), r, r, h, w))
    return core.reshape(core.transpose(x, [*range(k), k, k + 3, k + 1, k + 4, k + 2]), (*lead, c // (r * r), h * r, w * r))


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Moves blocks of pixels to channels, [.., c, h·r, w·r] -> [.., c·r², h, w]; the inverse of `pixel_shuffle`.

    Args:
        input (Tensor): The images.
        downscale_factor (int): The factor r.

    Returns:
        The reduced images.

    Raises:
        ValueError: If r does not divide height and width or is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.pixel_unshuffle(ms.ops.ones((1, 1, 4, 6)), 2).shape)
        (1, 4, 2, 3)
    """
    *lead, c, h, w = input.shape
    r = to_count(downscale_factor, "downscale_factor", "ops.pixel_unshuffle")
    if h % r or w % r:
        fail(ValueError, f"height and width of {input.shape} are not multiples of {r}", "ops.pixel_unshuffle")
    k = len(lead)
    x = core.reshape(input, (*lead, c, h // r, r, w // r, r))
    return core.reshape(core.transpose(x, [*range(k), k, k + 2, k + 4, k + 1, k + 3]), (*lead, c * r * r, h // r, w // r))


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """Interleaves the channels of g groups: [n, g·c, …].

    Args:
        x (Tensor): The images.
        groups (int): The number of groups g.

    Returns:
        A tensor of x's shape.

    Raises:
        ValueError: If g does not divide the number of channels or is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.channel_shuffle(ms.Tensor([[[[1]], [[2]], [[3]], [[4]]]]), 2).ravel())
        [1 3 2 4]
    """
    n, c, *rest = x.shape
    groups = to_count(groups, "groups", "ops.channel_shuffle")
    if c % groups:
        fail(ValueError, f"{c} channels of {x.shape} are not a multiple of {groups} groups", "ops.channel_shuffle")
    return core.reshape(swapaxes(core.reshape(x, (n, groups, c // groups, *rest)), 1, 2), x.shape)


def batch_to_space(x: Tensor, block_size: int, crops: Sequence[Sequence[int]]) -> Tensor:
    """Moves blocks of the batch to pixels: [n·b², c, h, w] -> [n, c, h·b - crops, w·b - crops].

    Args:
        x (Tensor): The images.
        block_size (int): The size b.
        crops (sequence): ((top, bottom), (left, right)).

    Returns:
        The enlarged images.

    Raises:
        ValueError: If `block_size` is below 1.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.BatchToSpace(2, [[0, 0], [0, 0]])(ms.ops.ones((4, 1, 1, 1))).shape)
        (1, 1, 2, 2)
    """
    n, c, h, w = x.shape
    b, ((top, bottom), (left, right)) = to_count(block_size, "block_size", "ops.BatchToSpace"), crops
    y = core.transpose(core.reshape(x, (b, b, n // (b * b), c, h, w)), [2, 3, 4, 0, 5, 1])
    y = core.reshape(y, (n // (b * b), c, h * b, w * b))
    return core.slice(y, [0, 0, top, left], [n, c, h * b - bottom, w * b - right])


def space_to_batch(x: Tensor, block_size: int, paddings: Sequence[Sequence[int]]) -> Tensor:
    """Moves blocks of pixels to the batch: [n, c, h, w], zero-padded, -> [n·b², c, h/b, w/b]; the inverse of
    BatchToSpace.

    Args:
        x (Tensor): The images.
        block_size (int): The size b.
        paddings (sequence): ((top, bottom), (left, right)).

    Returns:
        The reduced images.

    Raises:
        ValueError: If `block_size` is below 1 or does not divide the padded height and width.

    Examples:
        >>> import sindri as ms
        >>> print(ms.ops.SpaceToBatch(2, [[0, 0], [0, 0]])(ms.ops.ones((1, 1, 2, 2))).shape)
        (4, 1, 1, 1)
    """
    b, ((top, bottom), (left, right)) = to_count(block_size, "block_size", "ops.SpaceToBatch"), paddings
    y = core.pad(x, [0, 0, 0, 0, top, bottom, left, right])
    n, c, h, w = y.shape
    if h % b or w % b:
        fail(ValueError, f"padded height and width of {y.shape} are not multiples of {b}", "ops.SpaceToBatch")
    y = core.transpose(core.reshape(y, (n, c, h // b, b, w // b, b)), [3, 5, 0, 1, 2, 4])
    return core.reshape(y, (n * b * b, c, h // b, w // b))


__all__ = exported(globals())
