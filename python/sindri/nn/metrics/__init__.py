"""Metrics under their MindSpore 1 name."""
from sindri.train.metrics import *  # noqa: F401,F403
from sindri.train.metrics import __all__  # noqa: F401
