"""Training: Model, callbacks, metrics, checkpoints, loss scales, summaries (MindSpore: mindspore.train)."""
from sindri.parallel import (merge_pipeline_strategys, rank_list_for_transform, sync_pipeline_shared_parameters, transform_checkpoint_by_rank,
                             transform_checkpoints)
from sindri.train import callback, metrics, serialization, summary, train_thor
from sindri.train._lr_finder import LearningRateCurve, lr_find
from sindri.train.amp import build_train_network
from sindri.train.callback import *  # noqa: F401,F403
from sindri.train.callback import __all__ as _callbacks
from sindri.train.data_sink import data_sink
from sindri.train.dataset_helper import DatasetHelper, connect_network_with_dataset
from sindri.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from sindri.train.metrics import *  # noqa: F401,F403
from sindri.train.metrics import __all__ as _metrics
from sindri.train.model import Model
from sindri.train.serialization import *  # noqa: F401,F403
from sindri.train.serialization import __all__ as _serialization
from sindri.train.summary import SummaryRecord
from sindri.train.train_thor import ConvertModelUtils, ConvertNetUtils

__all__ = ['Model', 'DatasetHelper', 'connect_network_with_dataset', 'build_train_network', 'data_sink', 'LossScaleManager', 'FixedLossScaleManager',
           'DynamicLossScaleManager', 'SummaryRecord', 'ConvertModelUtils', 'ConvertNetUtils', 'rank_list_for_transform',
           'transform_checkpoint_by_rank', 'transform_checkpoints', 'merge_pipeline_strategys', 'sync_pipeline_shared_parameters',
           *_serialization, *_callbacks, *_metrics]
