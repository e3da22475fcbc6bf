"""Layers on images: crops, gradients, quality measures and changes of size."""
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
    """The image and max_val in float32; uint8 images lie in 0..1 then."""
    if image.dtype == mstype.uint8:
        return _ops.div(_ops.cast(image, mstype.float32), 255.0), max_val / 255.0
    if image.dtype not in (mstype.float16, mstype.float32, mstype.float64):
        fail(TypeError, f"{who}: images must be uint8, float16, float32 or float64, got {image.dtype}")
    return _ops.cast(image, mstype.float32), max_val


class CentralCrop(Cell):
    """The middle of images [C, H, W] or [N, C, H, W], central_fraction of both sides. Raises ValueError unless it is in (0, 1]."""

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
    """(dy, dx) of images [N, C, H, W]: the next pixel less this one, 0 at the far edge."""

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
    """Means of the structural terms in a Gaussian window, per image and channel."""

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
        """([n, c] similarity, [n, c] its part by contrast and structure)."""
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
    """[N]: structural similarity of two batches of images [N, C, H, W]. Raises ValueError for other shapes and images below filter_size."""

    def __init__(self, max_val: float = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        _check_images("SSIM", img1, img2)
        a, max_val = _as_float("SSIM", img1, self.max_val)
        return _ops.mean(self._terms(a, _as_float("SSIM", img2, self.max_val)[0], max_val)[0], [1])


class MSSSIM(_Similarity):
    """[N]: structural similarity over as many scales as power_factors, each half the size of the one before.

    Raises as SSIM, and TypeError or ValueError unless power_factors holds at least one number and numbers only.
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
    """[N]: 10·log10(max_val²/mean squared difference) of two batches of images [N, C, H, W]."""

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
    """(x, size=None, scale_factor=None, align_corners=False): [N, C, H, W] resized to size (H, W) or by an int scale_factor.

    half_pixel_centers: pixels are squares, not points. Raises ValueError unless exactly one of size and scale_factor is given.
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
    """Channels into space: [..., C·r², H, W] to [..., C, H·r, W·r]; see ops.pixel_shuffle."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = check_int("PixelShuffle", "upscale_factor", upscale_factor, 1)

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """Space into channels, the way back from PixelShuffle."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = check_int("PixelUnshuffle", "downscale_factor", downscale_factor, 1)

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Cell):
    """Channel j of each of `groups` groups becomes neighbour of the others' channel j."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = check_int("ChannelShuffle", "groups", groups, 1)

    def construct(self, x: Tensor) -> Tensor:
        return ops.channel_shuffle(x, self.groups)


class Upsample(Cell):
    """ops.interpolate with these arguments."""

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Optional[bool] = None,
                 recompute_scale_factor: Optional[bool] = None) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, x: Tensor) -> Tensor:
        return ops.interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor)
