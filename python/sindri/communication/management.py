"""Joining and asking the process group. So far it is a group of one: a launch with more processes raises NotYetError at `init`."""
import json
import os
from typing import Dict, List, Optional, Tuple

from sindri import context
from sindri._core import CommError
from sindri.common.not_yet import not_yet

HCCL_WORLD_COMM_GROUP = 'hccl_world_group'
NCCL_WORLD_COMM_GROUP = 'nccl_world_group'
MCCL_WORLD_COMM_GROUP = 'mccl_world_group'
_WORLDS = (HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP)
_BACKEND_OF = {'Ascend': 'hccl', 'GPU': 'nccl', 'CPU': 'mccl'}

__all__ = ['GlobalComm', 'init', 'release', 'get_rank', 'get_group_size', 'get_world_rank_from_group_rank', 'get_group_rank_from_world_rank',
           'create_group', 'get_comm_name', 'HCCL_WORLD_COMM_GROUP', 'NCCL_WORLD_COMM_GROUP', 'MCCL_WORLD_COMM_GROUP', 'get_local_rank',
           'get_local_rank_size', 'destroy_group', 'get_process_group_ranks']


class GlobalComm:
    """State of the world group. WORLD_COMM_GROUP is a usable name before init, for defaults of ops refer to it."""

    BACKEND = 'hccl'
    WORLD_COMM_GROUP = HCCL_WORLD_COMM_GROUP
    INITED = False
    CHECK_ENVS = True


_groups: Dict[str, List[int]] = {}


def _launched() -> Optional[Tuple[int, int]]:
    """(rank, size) by the variables of a launcher; None when there are none. RuntimeError when they contradict themselves."""
    env = os.environ

    def number(name: str, default: Optional[str] = None) -> int:
        text = env.get(name, default)
        if text is None:
            raise CommError(f'communication.init: environment variable {name} is not set | start the script with msrun, mpirun or a rank table')
        try:
            return int(text)
        except ValueError:
            raise CommError(f'communication.init: environment variable {name} must be a number, got {text!r}') from None
    if 'OMPI_COMM_WORLD_SIZE' in env:
        return number('OMPI_COMM_WORLD_RANK'), number('OMPI_COMM_WORLD_SIZE')
    if 'MS_ROLE' in env:
        workers = number('MS_WORKER_NUM')
        return (number('MS_NODE_ID', '0') if env.get('MS_NODE_ID', '0').isdigit() else 0), workers
    table = env.get('RANK_TABLE_FILE') or env.get('MINDSPORE_HCCL_CONFIG_PATH')
    if table:
        try:
            with open(table, encoding='utf-8') as f:
                size = sum(len(server['device']) for server in json.load(f)['server_list'])
        except (OSError, ValueError, KeyError, TypeError) as e:
            raise CommError(f"communication.init: cannot read the rank table '{table}': {e}") from e
        return number('RANK_ID'), size
    if 'RANK_SIZE' in env:
        return number('RANK_ID', '0'), number('RANK_SIZE')
    return None


def init(backend_name: Optional[str] = None) -> None:
    """Joins the process group: of a rank table (RANK_TABLE_FILE, RANK_ID), a scheduler (MS_ROLE, MS_WORKER_NUM), MPI (OMPI_COMM_WORLD_…), or
    RANK_ID and RANK_SIZE. Backends 'hccl' (Ascend), 'nccl' (GPU), 'mccl' (CPU); None takes the target's. Calling it again is harmless.
    More than one process raises NotYetError. RuntimeError: backend does not fit the target, nothing launched; TypeError."""
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(f"communication.init: 'backend_name' must be a str, got {type(backend_name).__name__}")
    if GlobalComm.INITED:
        return
    target = context.get_context('device_target')
    fitting = _BACKEND_OF.get(target, 'mccl')
    backend = fitting if backend_name is None else backend_name.lower()
    if backend not in _BACKEND_OF.values():
        raise CommError(f"communication.init: 'backend_name' must be one of hccl, nccl, mccl, got {backend_name!r}")
    if backend != fitting:
        raise CommError(f"communication.init: backend '{backend}' does not fit device_target '{target}' | use '{fitting}', or leave it out")
    found = _launched()
    if found is None:
        raise CommError('communication.init: this process was not launched as part of a group | no OMPI_COMM_WORLD_SIZE, MS_ROLE, '
                           'RANK_TABLE_FILE or RANK_SIZE is set | start it with mpirun, or set RANK_ID=0 RANK_SIZE=1 for a group of one')
    rank, size = found
    if not 0 <= rank < size:
        raise CommError(f'communication.init: rank {rank} is not within a group of {size}')
    if size > 1:
        not_yet(f'communication.init with {size} processes', 'distributed')
    GlobalComm.BACKEND = backend
    GlobalComm.WORLD_COMM_GROUP = f'{backend}_world_group'
    GlobalComm.INITED = True
    context.set_auto_parallel_context(device_num=1, global_rank=0)


def release() -> None:
    """Leaves the process group and forgets all groups."""
    _groups.clear()
    GlobalComm.INITED = False


def _ranks(group: str, where: str) -> List[int]:
    if not isinstance(group, str):
        raise TypeError(f"communication.{where}: 'group' must be a str, got {type(group).__name__}")
    if not GlobalComm.INITED:
        raise CommError(f'communication.{where}: there is no process group | call communication.init() first')
    if group in _WORLDS:  # any spelling means the current world: functions have the hccl name as default
        return [0]
    if group not in _groups:
        raise ValueError(f"communication.{where}: there is no group '{group}' | known are {', '.join([GlobalComm.WORLD_COMM_GROUP, *_groups])}")
    return _groups[group]


def get_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """This process's number in the group. RuntimeError before init; TypeError; ValueError: unknown group."""
    return _ranks(group, 'get_rank').index(0)


def get_local_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """This process's number among those of this machine."""
    return _ranks(group, 'get_local_rank').index(0)


def get_group_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Number of processes in the group."""
    return len(_ranks(group, 'get_group_size'))


def get_local_rank_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Number of the group's processes on this machine."""
    return len(_ranks(group, 'get_local_rank_size'))


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """World rank of a group's member."""
    ranks = _ranks(group, 'get_world_rank_from_group_rank')
    if not isinstance(group_rank_id, int):
        raise TypeError(f"communication.get_world_rank_from_group_rank: 'group_rank_id' must be int, got {type(group_rank_id).__name__}")
    if not 0 <= group_rank_id < len(ranks):
        raise ValueError(f"communication.get_world_rank_from_group_rank: '{group}' has {len(ranks)} members, got {group_rank_id}")
    return ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """A process's number within a group."""
    ranks = _ranks(group, 'get_group_rank_from_world_rank')
    if world_rank_id not in ranks:
        raise ValueError(f"communication.get_group_rank_from_world_rank: rank {world_rank_id} is not in '{group}'")
    return ranks.index(world_rank_id)


def get_process_group_ranks(group: str = GlobalComm.WORLD_COMM_GROUP) -> List[int]:
    """World ranks of a group's members."""
    return list(_ranks(group, 'get_process_group_ranks'))


def get_comm_name(group: str = GlobalComm.WORLD_COMM_GROUP) -> str:
    """Name of a group, of the current world for its default."""
    _ranks(group, 'get_comm_name')
    return GlobalComm.WORLD_COMM_GROUP if group in _WORLDS else group


def create_group(group: str, rank_ids: List[int], options: Optional[dict] = None) -> None:
    """Makes a group of the given world ranks. ValueError: duplicate or unknown ranks; TypeError; RuntimeError before init."""
    _ranks(GlobalComm.WORLD_COMM_GROUP, 'create_group')
    if not isinstance(group, str) or not group:
        raise TypeError(f"communication.create_group: 'group' must be a non-empty str, got {group!r}")
    if not isinstance(rank_ids, list) or not rank_ids:
        raise TypeError(f"communication.create_group: 'rank_ids' must be a non-empty list, got {rank_ids!r}")
    if len(set(rank_ids)) != len(rank_ids):
        raise ValueError(f"communication.create_group: 'rank_ids' {rank_ids} has duplicates")
    if any(not isinstance(r, int) or r < 0 or r > 0 for r in rank_ids):
        raise ValueError(f"communication.create_group: the world has rank 0 only, got {rank_ids}")
    _groups[group] = list(rank_ids)


def destroy_group(group: str) -> None:
    """Forgets a group. ValueError for the world group."""
    if isinstance(group, str) and group in _WORLDS:
        raise ValueError('communication.destroy_group: the world group cannot be destroyed | use release()')
    _ranks(group, 'destroy_group')
    del _groups[group]
