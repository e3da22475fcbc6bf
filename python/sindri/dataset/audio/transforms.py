"""The audio transforms."""
from sindri.dataset.audio._effects import *
from sindri.dataset.audio._filters import *
from sindri.dataset.audio._spectrum import *
from sindri.dataset.audio import _effects, _filters, _spectrum

__all__ = sorted([*_effects.__all__, *_filters.__all__, *_spectrum.__all__])
