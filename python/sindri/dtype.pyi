"""Another path to sindri.common.dtype.

Written by scripts/python_stubs.py; do not edit."""

from sindri.common.dtype import *
from sindri.common.dtype import __all__ as __all__
