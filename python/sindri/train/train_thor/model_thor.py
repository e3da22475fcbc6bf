"""Model for second-order training."""
from typing import Any

from sindri.common.not_yet import not_yet
from sindri.train.model import Model


class ModelThor(Model):
    """Runs one second-order step, then `frequency - 1` first-order steps; raises NotYetError."""

    def __init__(self, *args: Any, **kwargs: Any):  # pylint: disable=super-init-not-called
        not_yet('train.train_thor.ModelThor', 'THOR')
