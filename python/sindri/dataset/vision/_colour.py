"""Image transforms of colours and levels, all in C++."""
from __future__ import annotations

from typing import Any, List, Tuple

from sindri import _core
from sindri._check import check_float, check_int32, enumeration, fail, is_int, is_number, pair_of_numbers
from sindri.dataset.vision import _pillow
from sindri.dataset.vision._base import ByteOperation, PixelOperation, probability
from sindri.dataset.vision._pixels import flat_list
from sindri.dataset.vision.utils import ConvertMode

__all__ = ["AdjustBrightness", "AdjustContrast", "AdjustGamma", "AdjustHue", "AdjustSaturation", "AdjustSharpness", "AutoContrast", "ConvertColor",
           "Equalize", "Grayscale", "Invert", "Posterize", "RandomAdjustSharpness", "RandomAutoContrast", "RandomColor", "RandomColorAdjust",
           "RandomEqualize", "RandomGrayscale", "RandomInvert", "RandomLighting", "RandomPosterize", "RandomSharpness", "RandomSolarize", "Solarize"]


class Invert(PixelOperation):
    """Inverts the values: 255 - x, for floats too.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Invert()(np.array([[[0], [100]]], np.uint8)).tolist()
        [[[255], [155]]]
    """

    _keeps_pillow = True

    def __init__(self) -> None:
        super().__init__(_core.dataset.invert())

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.inverted(image)


class RandomInvert(PixelOperation):
    """Inverts the values (255 - x) with probability `prob`.

    Args:
        prob (float): The probability. Default: 0.5.

    Raises:
        TypeError: If `prob` has another type.
        ValueError: If `prob` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomInvert(prob=1.0)(np.array([[[0], [100]]], np.uint8)).tolist()
        [[[255], [155]]]
    """

    _random = True

    def __init__(self, prob: float = 0.5):
        self.prob = probability("RandomInvert", prob)
        super().__init__(_core.dataset.random_invert(self.prob))


class Grayscale(PixelOperation):
    """Converts an RGB image to grey, 0.299 R + 0.587 G + 0.114 B. A Pillow image may have any mode.

    Args:
        num_output_channels (int): The number of equal channels of the result [H, W, 1] or [H, W, 3]: 1 or 3. Default: 1.

    Raises:
        ValueError: If `num_output_channels` is neither 1 nor 3.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Grayscale(3)(np.array([[[100, 50, 0]]], np.uint8)).tolist()
        [[[59, 59, 59]]]
    """

    _channels = (3,)
    _keeps_pillow = True

    def __init__(self, num_output_channels: int = 1):
        if num_output_channels not in (1, 3):
            fail(ValueError, f"num_output_channels must be 1 or 3, got {num_output_channels!r}", "Grayscale")
        self.num_output_channels = num_output_channels
        super().__init__(_core.dataset.grayscale(num_output_channels))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.grey(image, self.num_output_channels)


class RandomGrayscale(PixelOperation):
    """Converts to grey with probability `prob`. The result has as many equal channels as the image.

    Args:
        prob (float): The probability. Default: 0.1.

    Raises:
        TypeError: If `prob` has another type.
        ValueError: If `prob` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomGrayscale(prob=1.0)(np.array([[[100, 50, 0]]], np.uint8)).tolist()
        [[[59, 59, 59]]]
    """

    _random = True
    _channels = (1, 3)
    _keeps_pillow = True

    def __init__(self, prob: float = 0.1):
        self.prob = probability("RandomGrayscale", prob)
        super().__init__(_core.dataset.random_grayscale(self.prob))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.grey(image, 1 if image.mode == "L" else 3) if rng.random() < self.prob else image


class AdjustBrightness(PixelOperation):
    """Scales the brightness: x * brightness_factor.

    Args:
        brightness_factor (float): The factor, at least 0. 0 results in a black image, 1 keeps the image.

    Raises:
        TypeError: If `brightness_factor` has another type.
        ValueError: If `brightness_factor` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.AdjustBrightness(0.5)(np.array([[[100, 50, 0]]], np.uint8)).tolist()
        [[[50, 25, 0]]]
    """

    _keeps_pillow = True

    def __init__(self, brightness_factor: float):
        self.factor = check_float("AdjustBrightness", "brightness_factor", brightness_factor, 0)
        super().__init__(_core.dataset.adjust_brightness(self.factor))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.enhanced("Brightness", image, self.factor)


class AdjustContrast(PixelOperation):
    """Scales the contrast: mean * (1 - f) + x * f, with the mean of the grey image.

    Args:
        contrast_factor (float): The factor f, at least 0. 0 results in a uniform image, 1 keeps the image.

    Raises:
        TypeError: If `contrast_factor` has another type.
        ValueError: If `contrast_factor` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.AdjustContrast(0.0)(np.array([[[0, 0, 0], [200, 200, 200]]], np.uint8)).tolist()
        [[[100, 100, 100], [100, 100, 100]]]
    """

    _channels = (3,)
    _keeps_pillow = True

    def __init__(self, contrast_factor: float):
        self.factor = check_float("AdjustContrast", "contrast_factor", contrast_factor, 0)
        super().__init__(_core.dataset.adjust_contrast(self.factor))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.enhanced("Contrast", image, self.factor)


class AdjustSaturation(PixelOperation):
    """Scales the saturation: grey * (1 - f) + x * f.

    Args:
        saturation_factor (float): The factor f, at least 0. 0 results in a grey image, 1 keeps the image.

    Raises:
        TypeError: If `saturation_factor` has another type.
        ValueError: If `saturation_factor` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.AdjustSaturation(0.0)(np.array([[[100, 50, 0]]], np.uint8)).tolist()
        [[[59, 59, 59]]]
    """

    _channels = (3,)
    _keeps_pillow = True

    def __init__(self, saturation_factor: float):
        self.factor = check_float("AdjustSaturation", "saturation_factor", saturation_factor, 0)
        super().__init__(_core.dataset.adjust_saturation(self.factor))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.enhanced("Color", image, self.factor)


class AdjustHue(PixelOperation):
    """Shifts the hue.

    Args:
        hue_factor (float): The shift as a fraction of the colour circle, from -0.5 to 0.5.

    Raises:
        TypeError: If `hue_factor` has another type.
        ValueError: If `hue_factor` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.AdjustHue(0.0)(np.array([[[200, 0, 0]]], np.uint8)).tolist()
        [[[200, 0, 0]]]
    """

    _channels = (3,)
    _keeps_pillow = True

    def __init__(self, hue_factor: float):
        self.factor = check_float("AdjustHue", "hue_factor", hue_factor, -0.5, 0.5)
        super().__init__(_core.dataset.adjust_hue(self.factor))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.hue_turned(image, self.factor)


class AdjustSharpness(PixelOperation):
    """Scales the sharpness: blurred + f * (x - blurred).

    Args:
        sharpness_factor (float): The factor f, at least 0. 0 blurs the image, 1 keeps it, larger factors sharpen it.

    Raises:
        TypeError: If `sharpness_factor` has another type.
        ValueError: If `sharpness_factor` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> image = np.zeros((3, 3, 1), np.uint8)
        >>> image[1, 1] = 130
        >>> vision.AdjustSharpness(0.0)(image)[1, 1].tolist()
        [50]
    """

    def __init__(self, sharpness_factor: float):
        self.factor = check_float("AdjustSharpness", "sharpness_factor", sharpness_factor, 0)
        super().__init__(_core.dataset.adjust_sharpness(self.factor))


class AdjustGamma(PixelOperation):
    """Applies gain * x^gamma to values scaled to [0, 1] and clips the result. For floats it applies (gain * x)^gamma, as MindSpore does.

    Args:
        gamma (float): The exponent, at least 0. Exponents below 1 brighten dark areas.
        gain (float): The factor. Default: 1.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.AdjustGamma(2.0)(np.array([[[0], [51], [255]]], np.uint8)).tolist()
        [[[0], [10], [255]]]
    """

    _keeps_pillow = True

    def __init__(self, gamma: float, gain: float = 1):
        self.gamma, self.gain = check_float("AdjustGamma", "gamma", gamma, 0), check_float("AdjustGamma", "gain", gain)
        super().__init__(_core.dataset.adjust_gamma(self.gamma, self.gain))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.gamma_adjusted(image, self.gamma, self.gain)


def _range(who: str, name: str, value: Any, neutral: float) -> Tuple[float, float]:
    """Returns (low, high) for a range or one number b: (max(0, 1 - b), 1 + b), for the hue (-b, b)."""
    if is_number(value):
        b = check_float(who, name, value, 0, 0.5 if neutral == 0 else None)
        return (-b, b) if neutral == 0 else (max(0.0, 1 - b), 1 + b)
    return pair_of_numbers(who, name, value, -0.5 if neutral == 0 else 0.0, 0.5 if neutral == 0 else None)


class RandomColorAdjust(PixelOperation):
    """Adjusts brightness, contrast, saturation and hue by uniform factors from their ranges, in random order. Ranges that change nothing are skipped.

    Args:
        brightness (float, tuple[float, float]): The range (low, high); a number b means (max(0, 1 - b), 1 + b). Default: (1, 1).
        contrast (float, tuple[float, float]): As `brightness`. Default: (1, 1).
        saturation (float, tuple[float, float]): As `brightness`. Default: (1, 1).
        hue (float, tuple[float, float]): The range of shifts within [-0.5, 0.5]; a number b means (-b, b). Default: (0, 0).

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> adjust = vision.RandomColorAdjust(brightness=(0.5, 0.5))
        >>> adjust(np.full((1, 1, 3), 100, np.uint8)).tolist()
        [[[50, 50, 50]]]
    """

    _random = True
    _channels = (3,)
    _keeps_pillow = True

    def __init__(self, brightness: Any = (1, 1), contrast: Any = (1, 1), saturation: Any = (1, 1), hue: Any = (0, 0)):
        who = "RandomColorAdjust"
        self._ranges = (_range(who, "brightness", brightness, 1), _range(who, "contrast", contrast, 1), _range(who, "saturation", saturation, 1),
                        _range(who, "hue", hue, 0))
        super().__init__(_core.dataset.random_color_adjust(*self._ranges))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        drawn = [i for i, same in enumerate((1, 1, 1, 0)) if self._ranges[i] != (same, same)]
        return _pillow.colours_adjusted(image, [rng.uniform(*r) for r in self._ranges], [drawn[i] for i in rng.permutation(len(drawn))])


class RandomColor(PixelOperation):
    """Scales the saturation by a uniform random factor.

    Args:
        degrees (tuple[float, float]): The range of the factor, as for AdjustSaturation. Default: (0.1, 1.9).

    Raises:
        TypeError: If `degrees` has another type.
        ValueError: If `degrees` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomColor((0, 0))(np.array([[[100, 50, 0]]], np.uint8)).tolist()
        [[[59, 59, 59]]]
    """

    _random = True
    _channels = (3,)
    _keeps_pillow = True

    def __init__(self, degrees: Any = (0.1, 1.9)):
        self.degrees = pair_of_numbers("RandomColor", "degrees", degrees, 0)
        super().__init__(_core.dataset.random_color(self.degrees))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.enhanced("Color", image, rng.uniform(*self.degrees))


class RandomSharpness(PixelOperation):
    """Scales the sharpness by a uniform random factor.

    Args:
        degrees (tuple[float, float]): The range of the factor, as for AdjustSharpness. Default: (0.1, 1.9).

    Raises:
        TypeError: If `degrees` has another type.
        ValueError: If `degrees` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomSharpness((1, 1))(np.array([[[100], [50], [0]]], np.uint8)).tolist()
        [[[100], [50], [0]]]
    """

    _random = True
    _keeps_pillow = True

    def __init__(self, degrees: Any = (0.1, 1.9)):
        self.degrees = pair_of_numbers("RandomSharpness", "degrees", degrees, 0)
        super().__init__(_core.dataset.random_sharpness(self.degrees))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.enhanced("Sharpness", image, rng.uniform(*self.degrees))


class RandomAdjustSharpness(PixelOperation):
    """Scales the sharpness with probability `prob`, as AdjustSharpness.

    Args:
        degree (float): The factor, at least 0.
        prob (float): The probability. Default: 0.5.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomAdjustSharpness(1.0, prob=1.0)(np.array([[[100], [50], [0]]], np.uint8)).tolist()
        [[[100], [50], [0]]]
    """

    _random = True

    def __init__(self, degree: float, prob: float = 0.5):
        self.degree, self.prob = check_float("RandomAdjustSharpness", "degree", degree, 0), probability("RandomAdjustSharpness", prob)
        super().__init__(_core.dataset.random_adjust_sharpness(self.degree, self.prob))


class RandomLighting(PixelOperation):
    """Adds a random colour along the principal components of ImageNet's colours, as in AlexNet. A Pillow image may have any mode and becomes RGB.

    Args:
        alpha (float): The standard deviation of the normally distributed coefficients, at least 0. Default: 0.05.

    Raises:
        TypeError: If `alpha` has another type.
        ValueError: If `alpha` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomLighting(0.0)(np.array([[[100, 50, 0]]], np.uint8)).tolist()
        [[[100, 50, 0]]]
    """

    _random = True
    _channels = (3,)
    _keeps_pillow = True

    def __init__(self, alpha: float = 0.05):
        self.alpha = check_float("RandomLighting", "alpha", alpha, 0)
        super().__init__(_core.dataset.random_lighting(self.alpha))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.lit(image, rng.normal(0, self.alpha, 3))


class Posterize(ByteOperation):
    """Keeps the highest bits of each value.

    Args:
        bits (int): The number of bits to keep, from 0 to 8.

    Raises:
        TypeError: If `bits` has another type.
        ValueError: If `bits` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Posterize(1)(np.array([[[100], [200]]], np.uint8)).tolist()
        [[[0], [128]]]
    """

    def __init__(self, bits: int):
        self.bits = check_int32("Posterize", "bits", bits, 0, 8)
        super().__init__(_core.dataset.posterize(self.bits))


class RandomPosterize(ByteOperation):
    """Applies Posterize with a random number of bits.

    Args:
        bits (int, tuple[int, int]): The number of bits, or its range (smallest, largest), from 1 to 8. Default: (8, 8).

    Raises:
        TypeError: If `bits` has another type.
        ValueError: If `bits` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomPosterize((1, 1))(np.array([[[100], [200]]], np.uint8)).tolist()
        [[[0], [128]]]
    """

    _random = True

    def __init__(self, bits: Any = (8, 8)):
        values = [bits, bits] if is_int(bits) else bits
        if not isinstance(values, (list, tuple)) or len(values) != 2:
            fail(TypeError, f"bits must be an int or a tuple of two, got {bits!r}", "RandomPosterize")
        self.bits = [check_int32("RandomPosterize", "bits", v, 1, 8) for v in values]
        if self.bits[0] > self.bits[1]:
            fail(ValueError, f"bits must be (smallest, largest), got {bits}", "RandomPosterize")
        super().__init__(_core.dataset.random_posterize(*self.bits))


class Solarize(PixelOperation):
    """Inverts the values within a range.

    Args:
        threshold (float, tuple[float, float]): The range (low, high), within 0 to 255; a number means (threshold, 255).

    Raises:
        TypeError: If `threshold` has another type.
        ValueError: If `threshold` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Solarize(128)(np.array([[[100], [200]]], np.uint8)).tolist()
        [[[100], [55]]]
    """

    def __init__(self, threshold: Any):
        self.threshold = ((check_float("Solarize", "threshold", threshold, 0, 255), 255.0) if is_number(threshold)
                          else pair_of_numbers("Solarize", "threshold", threshold, 0, 255))
        super().__init__(_core.dataset.solarize(self.threshold))


class RandomSolarize(PixelOperation):
    """Inverts the values within a random subrange of `threshold`.

    Args:
        threshold (tuple[float, float]): The range (low, high), within 0 to 255. Default: (0, 255).

    Raises:
        TypeError: If `threshold` has another type.
        ValueError: If `threshold` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomSolarize((200, 200))(np.array([[[100], [200]]], np.uint8)).tolist()
        [[[100], [55]]]
    """

    _random = True

    def __init__(self, threshold: Any = (0, 255)):
        self.threshold = pair_of_numbers("RandomSolarize", "threshold", threshold, 0, 255)
        super().__init__(_core.dataset.random_solarize(int(self.threshold[0]), int(self.threshold[1])))


class Equalize(ByteOperation):
    """Equalizes the histogram of each channel.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.Equalize()(np.array([[[10], [11], [12], [13]]], np.uint8)).ravel().tolist()
        [0, 85, 170, 255]
    """

    _keeps_pillow = True

    def __init__(self) -> None:
        super().__init__(_core.dataset.equalize())

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.equalized(image)


class RandomEqualize(ByteOperation):
    """Applies Equalize with probability `prob`.

    Args:
        prob (float): The probability. Default: 0.5.

    Raises:
        TypeError: If `prob` has another type.
        ValueError: If `prob` is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomEqualize(prob=1.0)(np.array([[[10], [11], [12], [13]]], np.uint8)).ravel().tolist()
        [0, 85, 170, 255]
    """

    _random = True

    def __init__(self, prob: float = 0.5):
        self.prob = probability("RandomEqualize", prob)
        super().__init__(_core.dataset.random_equalize(self.prob))


def _levels(who: str, ignore: Any) -> List[int]:
    return [check_int32(who, "ignore", v, 0, 255) for v in ([] if ignore is None else flat_list(ignore))]


class AutoContrast(ByteOperation):
    """Stretches the values of each channel to 0 ... 255.

    Args:
        cutoff (float): The percentage of pixels to ignore at both ends, from 0 to 50. Default: 0.0.
        ignore (int, sequence of int, optional): The levels to ignore. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.AutoContrast()(np.array([[[100], [150], [200]]], np.uint8)).ravel().tolist()
        [0, 127, 255]
    """

    _keeps_pillow = True

    def __init__(self, cutoff: float = 0.0, ignore: Any = None):
        self.cutoff, self.ignore = check_float("AutoContrast", "cutoff", cutoff, 0, 50), _levels("AutoContrast", ignore)
        super().__init__(_core.dataset.auto_contrast(self.cutoff, self.ignore))

    def _on_pillow(self, image: Any, rng: Any) -> Any:
        return _pillow.auto_contrast(image, self.cutoff, self.ignore)


class RandomAutoContrast(ByteOperation):
    """Applies AutoContrast with probability `prob`.

    Args:
        cutoff (float): As of AutoContrast. Default: 0.0.
        ignore (int, sequence of int, optional): As of AutoContrast. Default: None.
        prob (float): The probability. Default: 0.5.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.RandomAutoContrast(prob=1.0)(np.array([[[100], [150], [200]]], np.uint8)).ravel().tolist()
        [0, 127, 255]
    """

    _random = True

    def __init__(self, cutoff: float = 0.0, ignore: Any = None, prob: float = 0.5):
        who = "RandomAutoContrast"
        self.cutoff, self.prob = check_float(who, "cutoff", cutoff, 0, 50), probability(who, prob)
        self.ignore = _levels(who, ignore)
        super().__init__(_core.dataset.random_auto_contrast(self.cutoff, self.ignore, self.prob))


class ConvertColor(PixelOperation):
    """Converts or reorders channels. An added alpha channel is opaque: 255, or 1.0 for floats.

    Args:
        convert_mode (ConvertMode): The conversion.

    Raises:
        TypeError: If `convert_mode` is not a ConvertMode.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import vision
        >>> vision.ConvertColor(vision.ConvertMode.COLOR_RGB2BGR)(np.array([[[100, 50, 0]]], np.uint8)).tolist()
        [[[0, 50, 100]]]
    """

    def __init__(self, convert_mode: ConvertMode):
        self.convert_mode = enumeration("ConvertColor", "convert_mode", convert_mode, ConvertMode)
        # As in MindSpore, BGR2RGBA and similar modes put alpha after the colours.
        source, target = self.convert_mode.name[len("COLOR_"):].split("2")
        self._channels = (1 if source == "GRAY" else len(source),)
        super().__init__(_core.dataset.convert_color(source, target))
