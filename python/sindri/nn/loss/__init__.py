"""Losses."""
from sindri.nn.loss.loss import *  # noqa: F401,F403
from sindri.nn.loss.loss import __all__  # noqa: F401
