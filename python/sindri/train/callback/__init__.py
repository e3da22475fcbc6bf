"""Callbacks of training and evaluation."""
from sindri.train.callback._backup_and_restore import BackupAndRestore
from sindri.train.callback._callback import Callback, RunContext, _CallbackManager, _InternalCallbackParam, _set_cur_net
from sindri.train.callback._checkpoint import CheckpointConfig, CheckpointManager, ModelCheckpoint, _free_prefix as _chg_ckpt_file_name_if_same_exist
from sindri.train.callback._early_stop import EarlyStopping
from sindri.train.callback._history import History
from sindri.train.callback._lambda_callback import LambdaCallback
from sindri.train.callback._loss_monitor import LossMonitor
from sindri.train.callback._lr_scheduler_callback import LearningRateScheduler
from sindri.train.callback._on_request_exit import OnRequestExit
from sindri.train.callback._progress import ProgressBar
from sindri.train.callback._records import CSVLogger, TrainingHistory
from sindri.train.callback._reduce_lr_on_plateau import ReduceLROnPlateau
from sindri.train.callback._summary_collector import SummaryCollector
from sindri.train.callback._time_monitor import TimeMonitor
from sindri.train.callback._trackers import MLflowLogger, WandbLogger

__all__ = ['Callback', 'LossMonitor', 'TimeMonitor', 'ModelCheckpoint', 'SummaryCollector', 'CheckpointConfig', 'RunContext', 'LearningRateScheduler',
           'History', 'LambdaCallback', 'ReduceLROnPlateau', 'EarlyStopping', 'OnRequestExit', 'BackupAndRestore']
