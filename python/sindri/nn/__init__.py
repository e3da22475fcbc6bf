"""Networks: Cells, layers, losses, optimizers, schedules and training cells."""
from sindri.nn import cell, dynamic_lr, layer, learning_rate_schedule, loss, optim, wrap
from sindri.nn.cell import Cell, GraphCell  # noqa: F401
from sindri.nn.dynamic_lr import *  # noqa: F401,F403
from sindri.nn.layer import *  # noqa: F401,F403
from sindri.nn.learning_rate_schedule import *  # noqa: F401,F403
from sindri.nn.loss import *  # noqa: F401,F403
from sindri.nn.optim import *  # noqa: F401,F403
from sindri.nn.wrap import *  # noqa: F401,F403
from sindri.nn import utils  # noqa: F401
from sindri.nn.transformer import (Transformer, TransformerDecoder, TransformerDecoderLayer, TransformerEncoder,  # noqa: F401
                                   TransformerEncoderLayer)
from sindri.train.metrics import *  # noqa: F401,F403
from sindri.train.metrics import get_metrics  # noqa: F401
from sindri.train.metrics import __all__ as _metrics

__all__ = list(dict.fromkeys([
    "Cell", "GraphCell", *layer.__all__, *loss.__all__, *optim.__all__, *wrap.__all__, *learning_rate_schedule.__all__, *dynamic_lr.__all__,
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer", *_metrics, "get_metrics"]))
