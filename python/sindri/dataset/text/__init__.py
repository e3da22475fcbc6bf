"""Text transforms and vocabularies (MindSpore: mindspore.dataset.text)."""
from sindri.dataset.text import transforms, utils
from sindri.dataset.text.transforms import *
from sindri.dataset.text.utils import *

__all__ = [*transforms.__all__, *utils.__all__]
