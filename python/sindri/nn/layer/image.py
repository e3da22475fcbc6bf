"""Image layers: crops, gradients, quality measures and resizing."""
from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import numpy as np

from sindri import _core, ops
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_float, check_int, check_strict_float, check_type, fail
from sindri.nn.cell import Cell

__all__ = ["CentralCrop", "ImageGradients", "SSIM", "MSSSIM", "PSNR", "ResizeBilinear", "PixelShuffle", "PixelUnshuffle", "ChannelShuffle",
           "Upsample"]

_ops = _core.ops


def _check_images(who: str, *images: Tensor) -> None:
    first = images[0]
    if len(first.shape) != 4:
        fail(ValueError, f"{who}: expected images [N, C, H, W], got shape {tuple(first.shape)}")
    for other in images[1:]:
        if other.shape != first.shape:
            fail(ValueError, f"{who}: both images must have one shape, got {tuple(first.shape)} and {tuple(other.shape)}")
        if other.dtype != first.dtype:
            fail(TypeError, f"{who}: both images must have one type, got {first.dtype} and {other.dtype}")


def _as_float(who: str, image: Tensor, max_val: float) -> Tuple[Tensor, float]:
    """Returns the image and max_val in float32; uint8 images are scaled to 0..1."""
    if image.dtype == mstype.uint8:
        return _ops.div(_ops.cast(image, mstype.float32), 255.0), max_val / 255.0
    if image.dtype not in (mstype.float16, mstype.float32, mstype.float64):
        fail(TypeError, f"{who}: images must be uint8, float16, float32 or float64, got {image.dtype}")
    return _ops.cast(image, mstype.float32), max_val


class CentralCrop(Cell):
    """Crops the centre of images [C, H, W] or [N, C, H, W].

    Args:
        central_fraction (float): The fraction of both sides to keep, in (0, 1].

    Raises:
        TypeError: If `central_fraction` is not a float.
        ValueError: If it is outside (0, 1], or the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.CentralCrop(0.5)(ms.ops.ones((3, 8, 8), ms.float32)).shape
        (3, 4, 4)
    """

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        self.central_fraction = check_strict_float("CentralCrop", "central_fraction", central_fraction, above=0, most=1)

    def construct(self, image: Tensor) -> Tensor:
        shape = tuple(image.shape)
        if len(shape) not in (3, 4):
            fail(ValueError, f"CentralCrop: expected [C, H, W] or [N, C, H, W], got shape {shape}")
        begin, end = [0] * len(shape), list(shape)
        for d in (-2, -1):
            begin[d] = int((shape[d] - np.float32(shape[d] * self.central_fraction)) / 2)
            end[d] = shape[d] - begin[d]
        return _ops.slice(image, begin, end)


class ImageGradients(Cell):
    """Returns (dy, dx) of images [N, C, H, W]: the next pixel minus this one, 0 at the last row or column.

    Inputs:
        images (Tensor): Shape [N, C, H, W].

    Outputs:
        (dy, dx), two tensors of the shape of `images`.

    Raises:
        ValueError: If the input has another rank.

    Examples:
        >>> import sindri as ms
        >>> dy, dx = ms.nn.ImageGradients()(ms.Tensor([[[[1.0, 2.0], [4.0, 8.0]]]]))
        >>> print(dy)
        [[[[3. 6.]
           [0. 0.]]]]
    """

    def construct(self, images: Tensor) -> Tuple[Tensor, Tensor]:
        _check_images("ImageGradients", images)
        return self._along(images, 2), self._along(images, 3)

    @staticmethod
    def _along(x: Tensor, axis: int) -> Tensor:
        size = x.shape[axis]
        edge_shape = list(x.shape)
        edge_shape[axis] = 1
        edge = _ops.full(tuple(edge_shape), 0, x.dtype)
        if size == 1:
            return edge
        first, rest = _ops.split(x, (1, size - 1), axis), _ops.split(x, (size - 1, 1), axis)
        return _ops.concat([_ops.sub(first[1], rest[0]), edge], axis)


class _Similarity(Cell):
    """Base of SSIM and MSSSIM: means of the structural terms in a Gaussian window, per image and channel."""

    def __init__(self, max_val: float, filter_size: int, filter_sigma: float, k1: float, k2: float) -> None:
        super().__init__()
        who = self.cls_name
        self.max_val = check_float(who, "max_val", max_val, above=0)
        self.filter_size = check_int(who, "filter_size", filter_size, 1)
        self.filter_sigma = check_strict_float(who, "filter_sigma", filter_sigma, above=0)
        self.k1, self.k2 = check_type(who, "k1", k1, float), check_type(who, "k2", k2, float)
        if not max(abs(self.k1), abs(self.k2)) * self.max_val < 1e19:
            fail(ValueError, f"{who}: the squares of k1 and k2 times max_val do not fit float32, got {k1}, {k2} and {max_val}",
                 "use a smaller max_val")
        places = np.arange(filter_size) - (filter_size - 1) / 2
        weights = np.exp(-(places[:, None] ** 2 + places[None, :] ** 2) / (2 * filter_sigma ** 2))
        self._window = Tensor((weights / weights.sum()).astype(np.float32).reshape(1, 1, filter_size, filter_size))

    def _mean_in_window(self, x: Tensor) -> Tensor:
        n, c, h, w = x.shape
        out = ops.conv2d(_ops.reshape(x, (n * c, 1, h, w)), self._window)
        return _ops.reshape(out, (n, c) + tuple(out.shape[-2:]))

    def _terms(self, a: Tensor, b: Tensor, max_val: float) -> Tuple[Tensor, Tensor]:
        """Returns (similarity [N, C], its contrast and structure term [N, C])."""
        if min(a.shape[-2:]) < self.filter_size:
            fail(ValueError, f"{self.cls_name}: images of {tuple(a.shape[-2:])} pixels are smaller than filter_size {self.filter_size}")
        c1, c2 = (self.k1 * max_val) ** 2, (self.k2 * max_val) ** 2
        mean_a, mean_b = self._mean_in_window(a), self._mean_in_window(b)
        both, squares = _ops.mul(mean_a, mean_b), _ops.add(_ops.square(mean_a), _ops.square(mean_b))
        light = _ops.div(_ops.add(_ops.mul(both, 2.0), c1), _ops.add(squares, c1))
        across = _ops.sub(self._mean_in_window(_ops.mul(a, b)), both)
        spread = _ops.sub(self._mean_in_window(_ops.add(_ops.square(a), _ops.square(b))), squares)
        structure = _ops.div(_ops.add(_ops.mul(across, 2.0), c2), _ops.add(spread, c2))
        return _ops.mean(_ops.mul(light, structure), [2, 3]), _ops.mean(structure, [2, 3])


class SSIM(_Similarity):
    """Structural similarity of two batches of images [N, C, H, W]; returns [N].

    Args:
        max_val (float): The largest possible pixel value. Default: 1.0.
        filter_size (int): The size of the Gaussian window. Default: 11.
        filter_sigma (float): Its standard deviation. Default: 1.5.
        k1 (float): The constant of the luminance term. Default: 0.01.
        k2 (float): The constant of the contrast term. Default: 0.03.

    Raises:
        TypeError: If an argument has another type, or the images have different types.
        ValueError: If the images have different shapes or another rank, or are smaller than `filter_size`.

    Examples:
        >>> import sindri as ms
        >>> image = ms.ops.ones((2, 3, 16, 16), ms.float32)
        >>> print(ms.nn.SSIM()(image, image).asnumpy().round(4))
        [1. 1.]
    """

    def __init__(self, max_val: float = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        _check_images("SSIM", img1, img2)
        a, max_val = _as_float("SSIM", img1, self.max_val)
        return _ops.mean(self._terms(a, _as_float("SSIM", img2, self.max_val)[0], max_val)[0], [1])


class MSSSIM(_Similarity):
    """Multi-scale structural similarity of two batches of images [N, C, H, W]; returns [N].

    There is one scale per power factor, each half the size of the previous one.

    Args:
        max_val (float): The largest possible pixel value. Default: 1.0.
        power_factors (tuple, list): The exponent of each scale. Default: (0.0448, 0.2856, 0.3001, 0.2363, 0.1333).
        filter_size (int): The size of the Gaussian window. Default: 11.
        filter_sigma (float): Its standard deviation. Default: 1.5.
        k1 (float): The constant of the luminance term. Default: 0.01.
        k2 (float): The constant of the contrast term. Default: 0.03.

    Raises:
        TypeError: As SSIM, and if `power_factors` is not a tuple or list of numbers.
        ValueError: As SSIM, and if `power_factors` is empty.

    Examples:
        >>> import sindri as ms
        >>> image = ms.ops.ones((1, 3, 32, 32), ms.float32)
        >>> print(ms.nn.MSSSIM(power_factors=(0.5, 0.5))(image, image).asnumpy().round(4))
        [1.]
    """

    def __init__(self, max_val: float = 1.0, power_factors: Sequence[float] = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size: int = 11,
                 filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        factors = check_type("MSSSIM", "power_factors", power_factors, (tuple, list))
        self.power_factors = tuple(check_float("MSSSIM", "power_factors", p) for p in factors)
        if not self.power_factors:
            fail(ValueError, "MSSSIM: power_factors must not be empty")
        self.level = len(self.power_factors)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        _check_images("MSSSIM", img1, img2)
        a, max_val = _as_float("MSSSIM", img1, self.max_val)
        b, _ = _as_float("MSSSIM", img2, self.max_val)
        product: Any = None
        for i, power in enumerate(self.power_factors):
            whole, structure = self._terms(a, b, max_val)
            part = _ops.pow(_ops.relu(whole if i == self.level - 1 else structure), power)
            product = part if product is None else _ops.mul(product, part)
            if i < self.level - 1:
                a, b = (ops.avg_pool2d(v, kernel_size=2, stride=2) for v in (a, b))
        return _ops.mean(product, [1])


class PSNR(Cell):
    """Peak signal-to-noise ratio of two batches of images [N, C, H, W]: 10·log10(max_val²/mean squared difference); returns [N].

    Args:
        max_val (float): The largest possible pixel value. Default: 1.0.

    Raises:
        TypeError: If an argument has another type, or the images have different types.
        ValueError: If `max_val` is not above 0, or the images have different shapes or another rank.

    Examples:
        >>> import sindri as ms
        >>> a, b = ms.ops.ones((1, 1, 2, 2), ms.float32), ms.ops.zeros((1, 1, 2, 2), ms.float32)
        >>> print(ms.nn.PSNR()(a, b * 0.9 + a * 0.9).asnumpy().round(3))
        [20.]
    """

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        self.max_val = check_float("PSNR", "max_val", max_val, above=0, below=1e19)  # its square fits float32

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        _check_images("PSNR", img1, img2)
        a, max_val = _as_float("PSNR", img1, self.max_val)
        b, _ = _as_float("PSNR", img2, self.max_val)
        ratio = _ops.div(max_val ** 2, _ops.mean(_ops.square(_ops.sub(a, b)), [1, 2, 3]))
        return _ops.mul(_ops.log(ratio), 10.0 / float(np.log(10.0)))


class ResizeBilinear(Cell):
    """Resizes images [N, C, H, W] bilinearly; called as `(x, size=None, scale_factor=None, align_corners=False)`.

    `size` is (H, W), `scale_factor` an int.

    Args:
        half_pixel_centers (bool): Whether pixels are squares rather than points. Default: False.

    Raises:
        ValueError: Unless exactly one of size and scale_factor is given.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.ResizeBilinear()(ms.Tensor([[[[0.0, 4.0]]]]), size=(1, 4)))
        [[[[0. 2. 4. 4.]]]]
    """

    def __init__(self, half_pixel_centers: bool = False) -> None:
        super().__init__()
        self.half_pixel_centers = check_bool("ResizeBilinear", "half_pixel_centers", half_pixel_centers)

    def construct(self, x: Tensor, size: Optional[Sequence[int]] = None, scale_factor: Optional[int] = None, align_corners: bool = False) -> Tensor:
        if (size is None) == (scale_factor is None):
            fail(ValueError, "ResizeBilinear: expected either size or scale_factor")
        if len(x.shape) != 4:
            fail(ValueError, f"ResizeBilinear: expected [N, C, H, W], got shape {tuple(x.shape)}")
        if size is None:
            size = tuple(n * check_int("ResizeBilinear", "scale_factor", scale_factor, 1) for n in x.shape[-2:])
        return ops.ResizeBilinear(size, align_corners, self.half_pixel_centers)(x)


class PixelShuffle(Cell):
    """Moves channels into space: [..., C·r², H, W] -> [..., C, H·r, W·r]; see `ops.pixel_shuffle`.

    Args:
        upscale_factor (int): The factor r.

    Raises:
        TypeError: If `upscale_factor` is not an int.
        ValueError: If `upscale_factor` is below 1.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.PixelShuffle(2)(ms.ops.ones((1, 8, 3, 3), ms.float32)).shape
        (1, 2, 6, 6)
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = check_int("PixelShuffle", "upscale_factor", upscale_factor, 1)

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """Moves space into channels, the inverse of PixelShuffle: [..., C, H·r, W·r] -> [..., C·r², H, W].

    Args:
        downscale_factor (int): The factor r.

    Raises:
        TypeError: If `downscale_factor` is not an int.
        ValueError: If `downscale_factor` is below 1.

    Examples:
        >>> import sindri as ms
        >>> ms.nn.PixelUnshuffle(2)(ms.ops.ones((1, 2, 6, 6), ms.float32)).shape
        (1, 8, 3, 3)
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = check_int("PixelUnshuffle", "downscale_factor", downscale_factor, 1)

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Cell):
    """Interleaves the channels of groups: the channels at position j of all groups become neighbours.

    Args:
        groups (int): The number of groups.

    Raises:
        TypeError: If `groups` is not an int.
        ValueError: If `groups` is below 1.

    Examples:
        >>> import sindri as ms
        >>> x = ms.Tensor([[[[0.0]], [[1.0]], [[2.0]], [[3.0]]]])
        >>> print(ms.nn.ChannelShuffle(2)(x).asnumpy().ravel())
        [0. 2. 1. 3.]
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = check_int("ChannelShuffle", "groups", groups, 1)

    def construct(self, x: Tensor) -> Tensor:
        return ops.channel_shuffle(x, self.groups)


class Upsample(Cell):
    """Resizes the input with `ops.interpolate`.

    Args:
        size (int, tuple): The output size. Default: None.
        scale_factor (float, tuple): The factor of the size. Default: None.
        mode (str): The interpolation. Default: "nearest".
        align_corners (bool): Whether the corners of input and output are aligned. Default: None.
        recompute_scale_factor (bool): Whether the factor is computed again from the rounded sizes. Default: None.

    Raises:
        TypeError: As `ops.interpolate`.
        ValueError: As `ops.interpolate`.

    Examples:
        >>> import sindri as ms
        >>> print(ms.nn.Upsample(size=(1, 4))(ms.Tensor([[[[0.0, 4.0]]]])))
        [[[[0. 0. 4. 4.]]]]
    """

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Optional[bool] = None,
                 recompute_scale_factor: Optional[bool] = None) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, x: Tensor) -> Tensor:
        return ops.interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor)
