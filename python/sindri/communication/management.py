"""Joins and queries the process group, and manages its groups (include/sindri/comm/communicator.h)."""
import atexit
import os
import sys
from types import TracebackType
from typing import Any, Dict, List, Optional, Type

from sindri import context
from sindri._core import CommError, SettingsError
from sindri._core import comm as _comm

HCCL_WORLD_COMM_GROUP = 'hccl_world_group'
NCCL_WORLD_COMM_GROUP = 'nccl_world_group'
MCCL_WORLD_COMM_GROUP = 'mccl_world_group'
_WORLDS = (HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP)
_BACKEND_OF = {'Ascend': 'hccl', 'GPU': 'nccl', 'CPU': 'mccl'}
# One of these is set if the process was started as a rank; SINDRI_DIST_BACKEND=single selects a group of one process.
_LAUNCHED = ('SINDRI_RANK', 'RANK_TABLE_FILE', 'MINDSPORE_HCCL_CONFIG_PATH', 'RANK', 'OMPI_COMM_WORLD_SIZE', 'PMIX_RANK', 'PMI_SIZE', 'SLURM_PROCID',
             'RANK_SIZE', 'MS_ROLE')
EXIT_CODE = 7  # exit code of a process whose job failed

__all__ = ['GlobalComm', 'init', 'release', 'get_rank', 'get_group_size', 'get_world_rank_from_group_rank', 'get_group_rank_from_world_rank',
           'create_group', 'get_comm_name', 'HCCL_WORLD_COMM_GROUP', 'NCCL_WORLD_COMM_GROUP', 'MCCL_WORLD_COMM_GROUP', 'get_local_rank',
           'get_local_rank_size', 'destroy_group', 'get_process_group_ranks']


class GlobalComm:
    """State of the world group. WORLD_COMM_GROUP is a valid name before init, because defaults of ops refer to it.

    Examples:
        >>> from sindri.communication import GlobalComm
        >>> GlobalComm.INITED
        False
    """

    BACKEND = 'hccl'
    WORLD_COMM_GROUP = HCCL_WORLD_COMM_GROUP
    INITED = False
    CHECK_ENVS = True


_groups: Dict[str, List[int]] = {}
_hosts: List[int] = [0]  # the host number of each world rank
_hooked = False


def init(backend_name: Optional[str] = None) -> None:
    """Joins the process group. Further calls have no effect.

    Ranks are read from SINDRI_RANK …, a rank table (RANK_TABLE_FILE, RANK_ID), torchrun's RANK …, MPI (OMPI_COMM_WORLD_…), Slurm, RANK_ID and RANK_SIZE, or a
    scheduler (MS_ROLE, MS_WORKER_NUM), with the settings SINDRI_DIST_… (docs/settings.md). A process that was not launched forms a group of one on the GPU
    target; on other targets this is an error. In a process with MS_ROLE=MS_SCHED the call does not return: the process ends with the workers. From this call
    on, an exception that ends this process also ends the others with exit code 7, and a process ends five seconds after its job failed, whatever it is doing.

    Args:
        backend_name (str, optional): 'hccl' (Ascend), 'nccl' (GPU) or 'mccl' (CPU), which must match the target. Default: None, that of the target.

    Raises:
        TypeError: If `backend_name` is not a str.
        CommError: A RuntimeError, if the backend does not match the target, the process was not launched, a setting is out of range, or other ranks do not
            join.

    Examples:
        >>> from sindri.communication import init, get_rank, get_group_size, release
        >>> init()  # doctest: +SKIP
        >>> get_rank(), get_group_size()  # doctest: +SKIP
        (0, 2)
    """
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
        raise CommError(f"communication.init: backend '{backend}' does not match device_target '{target}' | use '{fitting}', or omit it")
    alone = not _launched() and os.environ.get('SINDRI_DIST_BACKEND') != 'single'
    if alone and target != 'GPU':
        raise CommError('communication.init: this process was not launched as part of a group | no SINDRI_RANK, RANK_TABLE_FILE, OMPI_COMM_WORLD_SIZE, '
                        'MS_ROLE or RANK_SIZE is set | start it with sindri run, mpirun or a rank table, or set RANK_ID=0 RANK_SIZE=1 for a group of one')
    _end_together()
    try:
        _init_alone() if alone else _comm.init()
    except SettingsError as e:  # of the environment; MindSpore raises RuntimeError
        error = CommError(str(e))
        error.code, error.message, error.where, error.fix = e.code, e.message, e.where, e.fix
        raise error from e
    _enter(backend)


def _launched() -> bool:
    """Whether this process was started as a rank."""
    return any(os.environ.get(name) for name in _LAUNCHED)


def _init_alone() -> None:
    """Forms a group of this process alone, as NCCL does if nothing was launched."""
    before = os.environ.get('SINDRI_DIST_BACKEND')
    os.environ['SINDRI_DIST_BACKEND'] = 'single'
    try:
        _comm.init()
    finally:
        if before is None:
            del os.environ['SINDRI_DIST_BACKEND']
        else:
            os.environ['SINDRI_DIST_BACKEND'] = before


def _enter(backend: str) -> None:
    """Copies the properties of the world group."""
    _hosts[:] = _comm.hosts()
    size, rank = len(_hosts), _comm.rank()
    context._joined(size, rank)
    GlobalComm.BACKEND = backend
    GlobalComm.WORLD_COMM_GROUP = f'{backend}_world_group'
    GlobalComm.INITED = True


def release() -> None:
    """Leaves the process group after all ranks have called this function, and removes all groups.

    Examples:
        >>> from sindri.communication import init, release
        >>> init()  # doctest: +SKIP
        >>> release()  # doctest: +SKIP
    """
    _groups.clear()
    _hosts[:] = [0]
    if GlobalComm.INITED:
        GlobalComm.INITED = False
        _comm.finalize()
        context._joined(1, 0)


def _release_at_exit() -> None:
    """Leaves the group at exit. A rank that ends while others still need it fails the job, and must not report success."""
    try:
        release()
    except CommError as error:
        print(f'error[E{error.code}] this rank ended before the others: {error}', file=sys.stderr)
        _comm.leave_code(error.code)
        _comm.fail_at_exit()


def _end_together() -> None:
    """Ties the end of the process to that of the group: a regular exit waits for the others, an exception is reported to them."""
    global _hooked
    if _hooked:
        return
    _hooked = True
    _comm.arm_exit_guard()
    atexit.register(_release_at_exit)
    before = sys.excepthook

    def hook(kind: Type[BaseException], error: BaseException, trace: Optional[TracebackType]) -> None:
        before(kind, error, trace)
        if isinstance(error, CommError):
            _comm.leave_code(error.code)
            raise SystemExit(EXIT_CODE)  # the interpreter shuts down regularly, with this code
        if GlobalComm.INITED:
            _comm.abort(f'{kind.__name__}: {error}')

    sys.excepthook = hook


def _ranks(group: str, where: str) -> List[int]:
    """Returns the world ranks of a group's members."""
    if not isinstance(group, str):
        raise TypeError(f"communication.{where}: 'group' must be a str, got {type(group).__name__}")
    if not GlobalComm.INITED:
        raise CommError(f'communication.{where}: there is no process group | call communication.init() first')
    if group in _WORLDS:  # every world name means the current world: the default of functions is the hccl name
        return list(range(len(_hosts)))
    if group not in _groups:
        raise ValueError(f"communication.{where}: there is no group '{group}' | known are {', '.join([GlobalComm.WORLD_COMM_GROUP, *_groups])}")
    return _groups[group]


def _own_place(group: str, where: str, among: Optional[List[int]] = None) -> int:
    ranks = _ranks(group, where) if among is None else among
    rank = _comm.rank()
    if rank not in ranks:
        raise ValueError(f"communication.{where}: rank {rank} is not in '{group}' | its ranks are {ranks}")
    return ranks.index(rank)


def _on_this_host(group: str, where: str) -> List[int]:
    own = _hosts[_comm.rank()]
    return [r for r in _ranks(group, where) if _hosts[r] == own]


def _name_of(group: str) -> str:
    """Returns the engine's name of a group."""
    return 'world' if group in _WORLDS else group


def get_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Returns this process's rank in a group.

    Args:
        group (str): The group. Default: the world group.

    Returns:
        int.

    Raises:
        TypeError: If `group` is not a str.
        ValueError: If the group is unknown or does not contain this process.
        RuntimeError: Before init.

    Examples:
        >>> from sindri.communication import init, get_rank
        >>> init()  # doctest: +SKIP
        >>> get_rank()  # doctest: +SKIP
        0
    """
    return _own_place(group, 'get_rank')


def get_local_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Returns this process's rank among the group's processes on this host.

    Args:
        group (str): The group. Default: the world group.

    Returns:
        int.

    Raises:
        TypeError: If `group` is not a str.
        ValueError: If the group is unknown or does not contain this process.
        RuntimeError: Before init.

    Examples:
        >>> from sindri.communication import init, get_local_rank
        >>> init()  # doctest: +SKIP
        >>> get_local_rank()  # doctest: +SKIP
        0
    """
    return _own_place(group, 'get_local_rank', _on_this_host(group, 'get_local_rank'))


def get_group_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Returns the number of processes in a group.

    Args:
        group (str): The group. Default: the world group.

    Returns:
        int.

    Raises:
        TypeError: If `group` is not a str.
        ValueError: If the group is unknown.
        RuntimeError: Before init.

    Examples:
        >>> from sindri.communication import init, get_group_size
        >>> init()  # doctest: +SKIP
        >>> get_group_size()  # doctest: +SKIP
        8
    """
    return len(_ranks(group, 'get_group_size'))


def get_local_rank_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Returns the number of the group's processes on this host.

    Args:
        group (str): The group. Default: the world group.

    Returns:
        int.

    Raises:
        TypeError: If `group` is not a str.
        ValueError: If the group is unknown.
        RuntimeError: Before init.

    Examples:
        >>> from sindri.communication import init, get_local_rank_size
        >>> init()  # doctest: +SKIP
        >>> get_local_rank_size()  # doctest: +SKIP
        8
    """
    return len(_on_this_host(group, 'get_local_rank_size'))


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """Returns the world rank of a group's member.

    Args:
        group (str): The group.
        group_rank_id (int): The member's rank in the group.

    Returns:
        int.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the group is unknown or has no such member.
        RuntimeError: Before init.

    Examples:
        >>> from sindri.communication import init, create_group, get_world_rank_from_group_rank
        >>> init()  # doctest: +SKIP
        >>> create_group("pair", [0, 4])  # doctest: +SKIP
        >>> get_world_rank_from_group_rank("pair", 1)  # doctest: +SKIP
        4
    """
    ranks = _ranks(group, 'get_world_rank_from_group_rank')
    if not isinstance(group_rank_id, int):
        raise TypeError(f"communication.get_world_rank_from_group_rank: 'group_rank_id' must be int, got {type(group_rank_id).__name__}")
    if not 0 <= group_rank_id < len(ranks):
        raise ValueError(f"communication.get_world_rank_from_group_rank: '{group}' has {len(ranks)} members, got {group_rank_id}")
    return ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """Returns the rank in a group of a world rank.

    Args:
        world_rank_id (int): The world rank.
        group (str): The group.

    Returns:
        int.

    Raises:
        TypeError: If `group` is not a str.
        ValueError: If the group is unknown or does not contain the rank.
        RuntimeError: Before init.

    Examples:
        >>> from sindri.communication import init, create_group, get_group_rank_from_world_rank
        >>> init()  # doctest: +SKIP
        >>> create_group("pair", [0, 4])  # doctest: +SKIP
        >>> get_group_rank_from_world_rank(4, "pair")  # doctest: +SKIP
        1
    """
    ranks = _ranks(group, 'get_group_rank_from_world_rank')
    if world_rank_id not in ranks:
        raise ValueError(f"communication.get_group_rank_from_world_rank: rank {world_rank_id} is not in '{group}'")
    return ranks.index(world_rank_id)


def get_process_group_ranks(group: str = GlobalComm.WORLD_COMM_GROUP) -> List[int]:
    """Returns the world ranks of a group's members.

    Args:
        group (str): The group. Default: the world group.

    Returns:
        list[int].

    Raises:
        TypeError: If `group` is not a str.
        ValueError: If the group is unknown.
        RuntimeError: Before init.

    Examples:
        >>> from sindri.communication import init, get_process_group_ranks
        >>> init()  # doctest: +SKIP
        >>> get_process_group_ranks()  # doctest: +SKIP
        [0, 1, 2, 3, 4, 5, 6, 7]
    """
    return list(_ranks(group, 'get_process_group_ranks'))


def get_comm_name(group: str = GlobalComm.WORLD_COMM_GROUP) -> str:
    """Returns a group's name; for the default, that of the current world group.

    Args:
        group (str): The group. Default: the world group.

    Returns:
        str.

    Raises:
        TypeError: If `group` is not a str.
        ValueError: If the group is unknown.
        RuntimeError: Before init.

    Examples:
        >>> from sindri.communication import init, get_comm_name
        >>> init()  # doctest: +SKIP
        >>> get_comm_name()  # doctest: +SKIP
        'mccl_world_group'
    """
    _ranks(group, 'get_comm_name')
    return GlobalComm.WORLD_COMM_GROUP if group in _WORLDS else group


def create_group(group: str, rank_ids: List[int], options: Optional[Dict[str, Any]] = None) -> None:
    """Creates a group of world ranks. All its members call this at the same time; other ranks only record the members.

    Args:
        group (str): The name, not in use.
        rank_ids (list[int]): The world ranks.
        options (dict, optional): Options of other backends; must be None. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If ranks are duplicate or unknown, the name is in use, or options are given.
        RuntimeError: Before init.

    Examples:
        >>> from sindri.communication import init, create_group, get_group_size
        >>> init()  # doctest: +SKIP
        >>> create_group("pair", [0, 4])  # doctest: +SKIP
        >>> get_group_size("pair")  # doctest: +SKIP
        2
    """
    size = len(_ranks(GlobalComm.WORLD_COMM_GROUP, 'create_group'))
    if not isinstance(group, str) or not group:
        raise TypeError(f"communication.create_group: 'group' must be a non-empty str, got {group!r}")
    if not isinstance(rank_ids, list) or not rank_ids:
        raise TypeError(f"communication.create_group: 'rank_ids' must be a non-empty list, got {rank_ids!r}")
    if options is not None:
        raise ValueError(f"communication.create_group: 'options' are not supported, got {options!r} | omit them")
    if len(set(rank_ids)) != len(rank_ids):
        raise ValueError(f"communication.create_group: 'rank_ids' {rank_ids} has duplicates")
    if any(not isinstance(r, int) or not 0 <= r < size for r in rank_ids):
        raise ValueError(f"communication.create_group: 'rank_ids' must be from 0 to {size - 1}, got {rank_ids}")
    if group in _WORLDS or group in _groups or group == 'world':
        raise ValueError(f"communication.create_group: there is a group '{group}' already | destroy_group it first, or choose another name")
    if _comm.rank() in rank_ids:
        _comm.create_group(group, rank_ids)
    _groups[group] = list(rank_ids)


def destroy_group(group: str) -> None:
    """Removes a group.

    Args:
        group (str): The group.

    Raises:
        TypeError: If `group` is not a str.
        ValueError: If the group is unknown or the world group.

    Examples:
        >>> from sindri.communication import init, create_group, destroy_group
        >>> init()  # doctest: +SKIP
        >>> create_group("pair", [0, 4])  # doctest: +SKIP
        >>> destroy_group("pair")  # doctest: +SKIP
    """
    if isinstance(group, str) and group in _WORLDS:
        raise ValueError('communication.destroy_group: the world group cannot be destroyed | use release()')
    if _comm.rank() in _ranks(group, 'destroy_group'):
        _comm.destroy_group(group)
    del _groups[group]
