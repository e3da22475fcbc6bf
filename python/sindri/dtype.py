"""Another path to the module sindri.common.dtype: importing this returns that module object."""
import sys

from sindri.common import dtype

sys.modules[__name__] = dtype
