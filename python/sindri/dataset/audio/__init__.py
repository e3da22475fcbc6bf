"""Audio transforms (MindSpore: mindspore.dataset.audio), in NumPy: for arrays [..., time] and spectrograms [..., freq, time], called directly or in `map`."""
from sindri.dataset.audio import transforms, utils
from sindri.dataset.audio.transforms import *
from sindri.dataset.audio.utils import *

__all__ = [*transforms.__all__, *utils.__all__]
