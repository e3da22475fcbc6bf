"""Parallel training: the settings that one process supports. Functions that need several processes raise NotYetError."""
from typing import Any, Dict

from sindri.common.not_yet import not_yet
from sindri.parallel import _auto_parallel_context, _cost_model_context, _utils, nn
from sindri.parallel._algo_parameters import get_algo_parameters, reset_algo_parameters, set_algo_parameters
from sindri.parallel.auto_parallel import AutoParallel
from sindri.parallel.layout import Layout
from sindri.parallel.shard import shard

__all__ = ['set_algo_parameters', 'reset_algo_parameters', 'get_algo_parameters', 'rank_list_for_transform', 'transform_checkpoint_by_rank',
           'transform_checkpoints', 'merge_pipeline_strategys', 'shard', 'sync_pipeline_shared_parameters', 'Layout', 'AutoParallel',
           'parameter_broadcast']


def rank_list_for_transform(rank_id: int, src_strategy_file: Any = None, dst_strategy_file: Any = None) -> list:
    """Would list the ranks whose checkpoints a rank needs after a change of strategy; not available yet.

    Args:
        rank_id (int): Ignored.
        src_strategy_file (str): Ignored. Default: None.
        dst_strategy_file (str): Ignored. Default: None.

    Raises:
        NotYetError: Always.
    """
    not_yet('rank_list_for_transform', 'model parallel')
    return []


def transform_checkpoint_by_rank(rank_id: int, checkpoint_files_map: Dict[int, str], save_checkpoint_file_name: str, src_strategy_file: Any = None,
                                 dst_strategy_file: Any = None) -> None:
    """Would convert one rank's checkpoint to another strategy; not available yet.

    Args:
        rank_id (int): Ignored.
        checkpoint_files_map (dict): Ignored.
        save_checkpoint_file_name (str): Ignored.
        src_strategy_file (str): Ignored. Default: None.
        dst_strategy_file (str): Ignored. Default: None.

    Raises:
        NotYetError: Always.
    """
    not_yet('transform_checkpoint_by_rank', 'model parallel')


def transform_checkpoints(src_checkpoints_dir: str, dst_checkpoints_dir: str, ckpt_prefix: str, src_strategy_file: Any = None,
                          dst_strategy_file: Any = None, process_num: int = 1, output_format: str = 'ckpt') -> None:
    """Would convert the checkpoints of all ranks to another strategy; not available yet.

    Args:
        src_checkpoints_dir (str): Ignored.
        dst_checkpoints_dir (str): Ignored.
        ckpt_prefix (str): Ignored.
        src_strategy_file (str): Ignored. Default: None.
        dst_strategy_file (str): Ignored. Default: None.
        process_num (int): Ignored. Default: 1.
        output_format (str): Ignored. Default: 'ckpt'.

    Raises:
        NotYetError: Always.
    """
    not_yet('transform_checkpoints', 'model parallel')


def merge_pipeline_strategys(src_strategy_dirs: str, dst_strategy_file: str) -> None:
    """Would merge the strategy files of pipeline stages; not available yet.

    Args:
        src_strategy_dirs (str): Ignored.
        dst_strategy_file (str): Ignored.

    Raises:
        NotYetError: Always.
    """
    not_yet('merge_pipeline_strategys', 'model parallel')


def sync_pipeline_shared_parameters(net: Any) -> None:
    """Would synchronise the Parameters that pipeline stages share; not available yet.

    Args:
        net (Cell): Ignored.

    Raises:
        NotYetError: Always.
    """
    not_yet('sync_pipeline_shared_parameters', 'model parallel')


def parameter_broadcast(net: Any, layout: Any, cur_rank: int = 0, initial_rank: int = 0) -> None:
    """Would broadcast Parameters within a layout; not available yet.

    Args:
        net (Cell): Ignored.
        layout (dict): Ignored.
        cur_rank (int): Ignored. Default: 0.
        initial_rank (int): Ignored. Default: 0.

    Raises:
        NotYetError: Always.
    """
    not_yet('parallel.parameter_broadcast', 'model parallel')
