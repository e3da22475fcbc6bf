"""Training: Model, callbacks, metrics, checkpoints, loss scales, summaries (MindSpore: mindspore.train).

Written by scripts/python_stubs.py; do not edit."""

from sindri.train.metrics.auc import auc as auc

from sindri.parallel import (
    merge_pipeline_strategys as merge_pipeline_strategys, rank_list_for_transform as rank_list_for_transform,
    sync_pipeline_shared_parameters as sync_pipeline_shared_parameters, transform_checkpoint_by_rank as transform_checkpoint_by_rank,
    transform_checkpoints as transform_checkpoints,
)
from sindri.train import callback as callback, metrics as metrics, serialization as serialization, summary as summary, train_thor as train_thor
from sindri.train._lr_finder import LearningRateCurve as LearningRateCurve, lr_find as lr_find
from sindri.train.amp import build_train_network as build_train_network
from sindri.train.callback import *
from sindri.train.data_sink import data_sink as data_sink
from sindri.train.dataset_helper import DatasetHelper as DatasetHelper, connect_network_with_dataset as connect_network_with_dataset
from sindri.train.loss_scale_manager import (
    DynamicLossScaleManager as DynamicLossScaleManager, FixedLossScaleManager as FixedLossScaleManager, LossScaleManager as LossScaleManager,
)
from sindri.train.metrics import (
    names as names, get_metric_fn as get_metric_fn, Accuracy as Accuracy, MAE as MAE, MSE as MSE, Metric as Metric,
    rearrange_inputs as rearrange_inputs, Precision as Precision, HausdorffDistance as HausdorffDistance, Recall as Recall, Fbeta as Fbeta,
    BleuScore as BleuScore, CosineSimilarity as CosineSimilarity, OcclusionSensitivity as OcclusionSensitivity, F1 as F1, Dice as Dice, ROC as ROC,
    TopKCategoricalAccuracy as TopKCategoricalAccuracy, Top1CategoricalAccuracy as Top1CategoricalAccuracy,
    Top5CategoricalAccuracy as Top5CategoricalAccuracy, Loss as Loss, MeanSurfaceDistance as MeanSurfaceDistance,
    RootMeanSquareDistance as RootMeanSquareDistance, Perplexity as Perplexity, ConfusionMatrix as ConfusionMatrix,
    ConfusionMatrixMetric as ConfusionMatrixMetric,
)
from sindri.train.model import Model as Model
from sindri.train.serialization import *
from sindri.train.summary import SummaryRecord as SummaryRecord
from sindri.train.train_thor import ConvertModelUtils as ConvertModelUtils, ConvertNetUtils as ConvertNetUtils

__all__ = [
    "Model", "DatasetHelper", "connect_network_with_dataset", "build_train_network", "data_sink", "LossScaleManager", "FixedLossScaleManager",
    "DynamicLossScaleManager", "SummaryRecord", "ConvertModelUtils", "ConvertNetUtils", "rank_list_for_transform", "transform_checkpoint_by_rank",
    "transform_checkpoints", "merge_pipeline_strategys", "sync_pipeline_shared_parameters", "save_checkpoint", "load_checkpoint",
    "load_param_into_net", "export", "load", "async_ckpt_thread_status", "load_checkpoint_async", "load_distributed_checkpoint",
    "merge_sliced_parameter", "build_searched_strategy", "restore_group_info_list", "parse_print", "obfuscate_model", "export_split_mindir",
    "Callback", "LossMonitor", "TimeMonitor", "ModelCheckpoint", "SummaryCollector", "CheckpointConfig", "RunContext", "LearningRateScheduler",
    "History", "LambdaCallback", "ReduceLROnPlateau", "EarlyStopping", "OnRequestExit", "BackupAndRestore", "names", "get_metric_fn", "Accuracy",
    "MAE", "MSE", "Metric", "rearrange_inputs", "Precision", "HausdorffDistance", "Recall", "Fbeta", "BleuScore", "CosineSimilarity",
    "OcclusionSensitivity", "F1", "Dice", "ROC", "auc", "TopKCategoricalAccuracy", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy", "Loss",
    "MeanSurfaceDistance", "RootMeanSquareDistance", "Perplexity", "ConfusionMatrix", "ConfusionMatrixMetric",
]
