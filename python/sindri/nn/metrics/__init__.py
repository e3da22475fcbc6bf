"""Metrics, under their name in MindSpore 1."""
from sindri.train.metrics import *  # noqa: F401,F403
from sindri.train.metrics import __all__  # noqa: F401
