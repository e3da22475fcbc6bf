"""Callbacks of training and evaluation.

Written by scripts/python_stubs.py; do not edit."""


from sindri.train.callback._backup_and_restore import BackupAndRestore as BackupAndRestore
from sindri.train.callback._callback import (
    Callback as Callback, RunContext as RunContext, _CallbackManager as _CallbackManager, _InternalCallbackParam as _InternalCallbackParam,
    _set_cur_net as _set_cur_net,
)
from sindri.train.callback._checkpoint import (
    CheckpointConfig as CheckpointConfig, CheckpointManager as CheckpointManager, ModelCheckpoint as ModelCheckpoint,
)
from sindri.train.callback._early_stop import EarlyStopping as EarlyStopping
from sindri.train.callback._history import History as History
from sindri.train.callback._lambda_callback import LambdaCallback as LambdaCallback
from sindri.train.callback._loss_monitor import LossMonitor as LossMonitor
from sindri.train.callback._lr_scheduler_callback import LearningRateScheduler as LearningRateScheduler
from sindri.train.callback._on_request_exit import OnRequestExit as OnRequestExit
from sindri.train.callback._progress import ProgressBar as ProgressBar
from sindri.train.callback._records import CSVLogger as CSVLogger, TrainingHistory as TrainingHistory
from sindri.train.callback._reduce_lr_on_plateau import ReduceLROnPlateau as ReduceLROnPlateau
from sindri.train.callback._summary_collector import SummaryCollector as SummaryCollector
from sindri.train.callback._time_monitor import TimeMonitor as TimeMonitor
from sindri.train.callback._trackers import MLflowLogger as MLflowLogger, WandbLogger as WandbLogger

__all__ = [
    "Callback", "LossMonitor", "TimeMonitor", "ModelCheckpoint", "SummaryCollector", "CheckpointConfig", "RunContext", "LearningRateScheduler",
    "History", "LambdaCallback", "ReduceLROnPlateau", "EarlyStopping", "OnRequestExit", "BackupAndRestore",
]
