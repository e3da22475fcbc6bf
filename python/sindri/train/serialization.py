"""Saving and loading of parameters in MindSpore's .ckpt format and as safetensors.

The engine implements the file format, encryption and the matching with a network (`_core.save_checkpoint`, `load_checkpoint`, `fit_checkpoint`).
This module handles names, kinds of values and the arguments.
"""
import atexit
import difflib
import os
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from sindri import _checkparam as validator
from sindri import _core
from sindri import context
from sindri import log as logger
from sindri._check import fail, with_short_words
from sindri.common.not_yet import not_yet
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.nn.cell import Cell
from sindri.nn.optim.optimizer import expect_state

__all__ = ['save_checkpoint', 'load_checkpoint', 'load_param_into_net', 'export', 'load', 'async_ckpt_thread_status', 'load_checkpoint_async',
           'load_distributed_checkpoint', 'merge_sliced_parameter', 'build_searched_strategy', 'restore_group_info_list', 'parse_print',
           'obfuscate_model', 'export_split_mindir']

_FORMATS = ('AIR', 'ONNX', 'MINDIR')
_FILE_FORMATS = ('ckpt', 'safetensors')
# Element types of files that Tensors do not have: a Parameter read from such an entry has the next wider type and records the original one.
_NARROW = {'int8': 'Int8', 'int16': 'Int16', 'uint16': 'UInt16', 'uint32': 'UInt32', 'uint64': 'UInt64'}
_STORED = '_stored_type'
_RANDOM = 'random_op'
_BLOCK_BYTES = 64 << 20  # blocks of an encrypted file

# --- saving ---------------------------------------------------------------------------------------------------------------------

_saving: List[threading.Thread] = []
_save_errors: List[BaseException] = []


def async_ckpt_thread_status() -> bool:
    """Returns whether a thread is still writing a checkpoint.

    Returns:
        bool.

    Examples:
        >>> import sindri as ms
        >>> ms.async_ckpt_thread_status()
        False
    """
    _saving[:] = [t for t in _saving if t.is_alive()]
    return bool(_saving)


def wait_for_async_saves() -> None:
    """Waits for checkpoints that threads are writing; raises the first error of one."""
    for thread in list(_saving):
        thread.join()
    _saving.clear()
    if _save_errors:
        error = _save_errors[0]
        _save_errors.clear()
        raise error


@atexit.register
def _report_lost_saves() -> None:
    """Logs errors of saves at exit: no later save can raise them."""
    for thread in list(_saving):
        thread.join()
    for error in _save_errors:
        logger.error(f'the script ends without this checkpoint: {error}')


def entries_of(save_obj: Any) -> List[Tuple[str, Any]]:
    """Returns (name, value) pairs with unique names."""
    if isinstance(save_obj, Cell):
        return [(p.name, p) for p in save_obj.get_parameters()]
    if isinstance(save_obj, dict):
        return list(save_obj.items())
    if not isinstance(save_obj, (list, tuple)) or not all(isinstance(item, dict) and {'name', 'data'} <= item.keys() for item in save_obj):
        raise TypeError(f"save_checkpoint: 'save_obj' must be a Cell, a list of {{'name': …, 'data': …}} or a dict, got {type(save_obj).__name__}")
    return [(item['name'], item['data']) for item in save_obj]


def _random_state() -> bytes:
    """Returns the state of the random ops as opaque bytes."""
    return _core.rng_state().asnumpy().tobytes()


def _set_random_state(data: bytes) -> None:
    """Restores a saved state; a state that another program wrote is ignored, with a warning."""
    now = _core.rng_state().asnumpy()
    if len(data) != now.nbytes:
        logger.warning("the checkpoint's 'random_op' was not written by Sindri and is ignored: random numbers continue from the current seed")
        return
    _core.set_rng_state(Tensor(np.frombuffer(data, now.dtype).reshape(now.shape).copy()))


def _plain(name: Any, value: Any) -> Tuple[Any, ...]:
    """Returns a copy of a value in the form of the file: Tensor, str or bytes. Numbers become scalar Tensors (int64, float32, bool). A third member is
    the narrower integer type to write."""
    if not isinstance(name, str):
        raise TypeError(f"save_checkpoint: names must be str, got {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError as e:
        raise ValueError(f"save_checkpoint: the name {name!r} cannot be written as UTF-8") from e
    if isinstance(value, (str, bytes)):
        return name, value
    stored = None
    if isinstance(value, Tensor):  # a Parameter too; copied, because training may continue while a thread writes
        stored = getattr(value, _STORED, None) if isinstance(value, Parameter) else None
    elif isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
        stored = _NARROW.get(value.dtype.name)
    elif not isinstance(value, (bool, int, float)):
        raise TypeError(f"save_checkpoint: '{name}' must be a Tensor, Parameter, number or str, got {type(value).__name__}")
    try:
        tensor = Tensor(value)
    except (TypeError, ValueError) as e:
        raise TypeError(f"save_checkpoint: '{name}' cannot be saved: {e}") from e
    return (name, tensor, stored) if stored else (name, tensor)


def save_checkpoint(save_obj: Any, ckpt_file_name: str, integrated_save: bool = True, async_save: Union[bool, str] = False,
                    append_dict: Optional[dict] = None, enc_key: Any = None, enc_mode: str = 'AES-GCM', choice_func: Optional[Callable] = None,
                    crc_check: bool = False, format: str = 'ckpt', compat_mindspore1: bool = False, **kwargs: Any) -> None:
    """Writes parameters to a file.

    The file appears completely or not at all, and is read-only.

    Args:
        save_obj (Cell, list, dict): A Cell (its Parameters in definition order), a list of {'name', 'data'}, or a dict.
        ckpt_file_name (str): The file; its folder must exist. The ending of `format` is added if it is missing.
        integrated_save (bool): Ignored: there are no split parameters. Default: True.
        async_save (bool, str): Whether a thread writes the file. Default: False.
        append_dict (dict): Further entries. Default: None.
        enc_key (bytes): The key, of 16, 24 or 32 bytes (SM4: 16), with which the file is encrypted in the format of MindSpore 2. This needs
            OpenSSL's libcrypto. Default: None.
        enc_mode (str): 'AES-GCM', 'AES-CBC' or 'SM4-CBC'. Default: 'AES-GCM'.
        choice_func (Callable): `choice_func(name)` returns whether an entry is written. Default: None.
        crc_check (bool): Ignored: files always contain checksums, except with `compat_mindspore1`. Default: False.
        format (str): 'ckpt', or 'safetensors', which stores texts in the metadata and has no encryption. Default: 'ckpt'.
        compat_mindspore1 (bool): Whether to write without checksums, for MindSpore up to 2.0. Default: False.

    Raises:
        TypeError: If `save_obj`, a name, a value or an argument has another type.
        ValueError: If the folder does not exist, `format`, key or mode is unknown, or `enc_key` is combined with `compat_mindspore1`.
        IsADirectoryError: If the file is a folder.
        RuntimeError: If encryption is not available.

    Examples:
        >>> import os, tempfile
        >>> import sindri as ms
        >>> path = os.path.join(tempfile.mkdtemp(), 'dense.ckpt')
        >>> ms.save_checkpoint(ms.nn.Dense(2, 3), path, append_dict={'epoch': 5})
        >>> list(ms.load_checkpoint(path))
        ['weight', 'bias', 'epoch']
    """
    validator.check_value_type('ckpt_file_name', ckpt_file_name, str, 'save_checkpoint')
    validator.check_bool(integrated_save, 'integrated_save', 'save_checkpoint')
    validator.check_bool(crc_check, 'crc_check', 'save_checkpoint')
    if not isinstance(async_save, bool):
        validator.check_string(async_save, ['thread', 'process'], 'async_save', 'save_checkpoint')
    if kwargs:
        raise TypeError(f"save_checkpoint: unknown argument '{sorted(kwargs)[0]}'")
    _core.check_key(enc_key, enc_mode, 'save_checkpoint', 'enc_key', 'enc_mode')
    if enc_key is not None and compat_mindspore1:
        raise ValueError("save_checkpoint: 'enc_key' cannot be combined with 'compat_mindspore1': encrypted files have the format of MindSpore 2 | remove one of them")
    validator.check_string(format, list(_FILE_FORMATS), 'format', 'save_checkpoint')
    if format == 'safetensors' and (enc_key is not None or compat_mindspore1):
        raise ValueError(f"save_checkpoint: '{'enc_key' if enc_key is not None else 'compat_mindspore1'}' goes with format 'ckpt' only")
    path = os.path.realpath(ckpt_file_name)
    if os.path.isdir(path):
        raise IsADirectoryError(f"save_checkpoint: '{ckpt_file_name}' is a folder | add a file name")
    path += '' if path.endswith('.' + format) else '.' + format
    if not os.path.isdir(os.path.dirname(path)):
        fail(ValueError, f"save_checkpoint: the folder '{os.path.dirname(path)}' does not exist | create it before")
    pairs = entries_of(save_obj)
    if append_dict is not None:
        validator.check_value_type('append_dict', append_dict, dict, 'save_checkpoint')
        pairs += list(append_dict.items())
    if choice_func is not None:
        pairs = [(n, v) for n, v in pairs if choice_func(n)]
    write_entries(pairs, path, async_save, enc_key, enc_mode, compat_mindspore1)


def write_entries(pairs: List[Tuple[str, Any]], path: str, async_save: Union[bool, str] = False, enc_key: Optional[bytes] = None,
                  enc_mode: str = 'AES-GCM', compat_mindspore1: bool = False, written: Optional[Callable[[], None]] = None) -> None:
    """Writes a file with these entries. `written()` is called once it is complete on disk, with async_save in the writing thread."""
    entries = [_plain(name, _random_state() if name == _RANDOM and not isinstance(value, bytes) else value) for name, value in pairs]
    wait_for_async_saves()  # one at a time, in order

    def save() -> None:
        if path.endswith('.safetensors'):
            from sindri.tools import convert
            convert.write(path, convert.contents('safetensors', entries, {'format': 'ms'}))
            os.chmod(path, 0o400)
        else:
            _core.save_checkpoint(entries, path, compat_mindspore1, enc_key, enc_mode, _BLOCK_BYTES)
        if written is not None:
            written()

    if not async_save:
        save()
        return

    def write() -> None:
        try:
            save()
        except BaseException as e:  # raised by the next save or wait, which may be much later
            _save_errors.append(e)
            logger.error(f"save_checkpoint: '{path}' was not written: {e}")

    thread = threading.Thread(target=write, name='checkpoint')
    thread.start()  # before it is listed: a thread that does not run is considered finished
    _saving.append(thread)


# --- loading --------------------------------------------------------------------------------------------------------------------

def _as_prefixes(value: Any, name: str) -> Tuple[str, ...]:
    if value is None:
        return ()
    items = (value,) if isinstance(value, str) else value
    for item in validator.check_value_type(name, items, [list, tuple], 'load_checkpoint'):
        validator.check_value_type(f'each of {name}', item, str, 'load_checkpoint')
    if not all(items) or not items:
        raise ValueError(f"load_checkpoint: '{name}' must not be empty")
    return tuple(items)


def load_checkpoint(ckpt_file_name: str, net: Any = None, strict_load: bool = False, filter_prefix: Any = None, dec_key: Any = None,
                    dec_mode: str = 'AES-GCM', specify_prefix: Any = None, choice_func: Optional[Callable] = None, crc_check: bool = False,
                    remove_redundancy: bool = False, format: str = 'ckpt') -> Dict[str, Any]:
    """Reads a file into a dict, and into `net` if given.

    Integers narrower than Tensors have (int8, int16, uint16, uint32, uint64) are read in the next wider type, with a warning that names them; saved
    again, they have the file's type. Without `specify_prefix` and `choice_func`, the training state that Model.load_training_state reads (names that
    begin with 'sindri.') is omitted. Checksums are always checked if the file has them.

    Args:
        ckpt_file_name (str): The file, which ends in `format`.
        net (Cell): The network to load into. Default: None.
        strict_load (bool): As in `load_param_into_net`. Default: False.
        filter_prefix (str, list): Omits names with these prefixes. Default: None.
        dec_key (bytes): The key of an encrypted file; reading it takes twice its size in memory. Default: None.
        dec_mode (str): The encryption. Default: 'AES-GCM'.
        specify_prefix (str, list): Selects names with these prefixes. Default: None.
        choice_func (Callable): `choice_func(name)` returns whether an entry is selected. Default: None.
        crc_check (bool): Has no effect, see above. Default: False.
        remove_redundancy (bool): Concerns split parameters; has no effect. Default: False.
        format (str): 'ckpt' or 'safetensors'. Default: 'ckpt'.

    Returns:
        Dict of name to Parameter (str for text entries).

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the file has another ending, is missing, empty, corrupt or encrypted with another key, or no entry is selected.

    Examples:
        >>> import os, tempfile
        >>> import sindri as ms
        >>> path = os.path.join(tempfile.mkdtemp(), 'dense.ckpt')
        >>> ms.save_checkpoint(ms.nn.Dense(2, 3), path)
        >>> values = ms.load_checkpoint(path, filter_prefix='bias')
        >>> [(name, value.shape) for name, value in values.items()]
        [('weight', (3, 2))]
    """
    validator.check_value_type('ckpt_file_name', ckpt_file_name, str, 'load_checkpoint')
    for flag in ('strict_load', 'crc_check', 'remove_redundancy'):
        validator.check_bool(locals()[flag], flag, 'load_checkpoint')
    _core.check_key(dec_key, dec_mode, 'load_checkpoint', 'dec_key', 'dec_mode')
    validator.check_string(format, list(_FILE_FORMATS), 'format', 'load_checkpoint')
    if format == 'safetensors' and dec_key is not None:
        raise ValueError("load_checkpoint: 'dec_key' goes with format 'ckpt' only")
    left_out, chosen = _as_prefixes(filter_prefix, 'filter_prefix'), _as_prefixes(specify_prefix, 'specify_prefix')
    validator.check_value_type('net', net, [Cell, None], 'load_checkpoint')
    if not ckpt_file_name.endswith('.' + format):
        other = [f for f in _FILE_FORMATS if ckpt_file_name.endswith('.' + f)]
        fail(ValueError, f"load_checkpoint: the file must end in .{format}, got '{ckpt_file_name}'" + (f" | say format='{other[0]}'" if other else ''))
    path = os.path.realpath(ckpt_file_name)
    if not os.path.exists(path):
        fail(ValueError, f"load_checkpoint: there is no file '{ckpt_file_name}' | {_neighbours(path)}")
    if os.path.getsize(path) == 0:
        fail(ValueError, f"load_checkpoint: '{ckpt_file_name}' is empty | the run that wrote it was cut short; take an earlier file")
    logger.info('Execute the process of loading checkpoint files.')
    entries = _read_safetensors(path) if format == 'safetensors' else _core.load_checkpoint(path, dec_key, dec_mode)
    found: Dict[str, Any] = {}
    count = len(entries)
    widened: List[str] = []
    entries.reverse()
    while entries:
        name, value, *stored = entries.pop()  # each entry is released before the next is copied: a file needs its size in memory, not twice
        wanted = name.startswith(chosen) if chosen else choice_func is not None or not name.startswith('sindri.')  # 'sindri.' marks the training state
        if not wanted or left_out and name.startswith(left_out) or choice_func is not None and not choice_func(name):
            continue
        found[name] = value if isinstance(value, (str, bytes)) else Parameter(value, name=name)
        if stored:
            setattr(found[name], _STORED, stored[0])
            widened.append(f'{name} ({stored[0]})')
    if widened:
        logger.warning('load_checkpoint: held in the next wider integer type (and saved in their own again): %s', ', '.join(widened))
    if not found:
        fail(ValueError, f"load_checkpoint: nothing is left of '{ckpt_file_name}' | its {count} names were filtered out | check "
                         "filter_prefix, specify_prefix and choice_func")
    logger.info('Loading checkpoint files process is finished.')
    if net is not None:
        load_param_into_net(net, found, strict_load)
    return found


def _read_safetensors(path: str) -> List[Tuple[Any, ...]]:
    """Returns the entries of a safetensors file. Raises ValueError for a corrupt one."""
    from sindri.tools import convert
    try:
        return convert.entries(convert.read(path))
    except (ValueError, OSError, MemoryError):
        raise
    except Exception as e:
        raise ValueError(with_short_words(f'load_checkpoint: {e}')) from e


def _neighbours(path: str) -> str:
    """Returns a suggestion for a missing file."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        return f"its folder '{folder}' does not exist"
    ending = os.path.splitext(path)[1]
    names = sorted(n for n in os.listdir(folder) if n.endswith(ending))
    return f'that folder has {", ".join(names[:5])}{" …" if len(names) > 5 else ""}' if names else f'that folder has no {ending} file'


def load_checkpoint_async(ckpt_file_name: str, net: Any = None, strict_load: bool = False, filter_prefix: Any = None, dec_key: Any = None,
                          dec_mode: str = 'AES-GCM', specify_prefix: Any = None, choice_func: Optional[Callable] = None) -> Any:
    """Runs `load_checkpoint` in a thread.

    Args:
        ckpt_file_name (str): As in `load_checkpoint`.
        net (Cell): As in `load_checkpoint`. Default: None.
        strict_load (bool): As in `load_checkpoint`. Default: False.
        filter_prefix (str, list): As in `load_checkpoint`. Default: None.
        dec_key (bytes): As in `load_checkpoint`. Default: None.
        dec_mode (str): As in `load_checkpoint`. Default: 'AES-GCM'.
        specify_prefix (str, list): As in `load_checkpoint`. Default: None.
        choice_func (Callable): As in `load_checkpoint`. Default: None.

    Returns:
        concurrent.futures.Future, whose result() is the dict.

    Examples:
        >>> import os, tempfile
        >>> import sindri as ms
        >>> path = os.path.join(tempfile.mkdtemp(), 'dense.ckpt')
        >>> ms.save_checkpoint(ms.nn.Dense(2, 3), path)
        >>> list(ms.load_checkpoint_async(path).result())
        ['weight', 'bias']
    """
    from concurrent.futures import ThreadPoolExecutor
    pool = ThreadPoolExecutor(max_workers=1)
    try:
        return pool.submit(load_checkpoint, ckpt_file_name, net, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix, choice_func)
    finally:
        pool.shutdown(wait=False)


class LoadResult(tuple):
    """The names that load_param_into_net did not match, in a form for scripts of both eras.

    As in 2.x it is a pair (names of the network that were not loaded, names of the checkpoint that were not used): it unpacks, iterates and indexes
    as such. Like the list of 1.x it prints, compares, counts (`len`, truth) and tests membership as the first of them.

    Examples:
        >>> import sindri as ms
        >>> result = ms.load_param_into_net(ms.nn.Dense(2, 3), ms.nn.Dense(2, 3).parameters_dict())
        >>> result.param_not_load, len(result)
        ([], 0)
    """

    __slots__ = ()

    def __new__(cls, net_names: Sequence[str], ckpt_names: Sequence[str]) -> 'LoadResult':
        return super().__new__(cls, (list(net_names), list(ckpt_names)))

    @property
    def param_not_load(self) -> List[str]:
        """list: Names of the network that were not loaded."""
        return self[0]

    @property
    def ckpt_not_load(self) -> List[str]:
        """list: Names of the checkpoint that were not used."""
        return self[1]

    def __len__(self) -> int:
        return len(self[0])

    def __bool__(self) -> bool:
        return bool(self[0])

    def __contains__(self, name: Any) -> bool:
        return name in self[0]

    def __eq__(self, other: Any) -> bool:
        return self[0] == other if isinstance(other, list) else tuple(iter(self)) == (tuple(iter(other)) if isinstance(other, tuple) else other)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self[0])


def load_param_into_net(net: Any, parameter_dict: Dict[str, Any], strict_load: bool = False, remove_redundancy: bool = False) -> LoadResult:
    """Copies the values of a dict from `load_checkpoint` into the parameters of a network, by name.

    Names that only one side has are skipped, with a warning. Shapes must agree, except that those of the dict may have additional trailing ones. If no
    name matches, one common dotted prefix is removed from the dict's names and matching is repeated; the second list of the result then contains all
    names of the dict.

    Args:
        net (Cell): The network.
        parameter_dict (dict): Name to Parameter.
        strict_load (bool): Whether types must be equal; otherwise float (and int) widths are cast. Default: False.
        remove_redundancy (bool): Has no effect. Default: False.

    Returns:
        LoadResult; with SINDRI_MINDSPORE_ERA=1 a plain list of the network's names that were not loaded.

    Raises:
        TypeError: If `net` is not a Cell, or `parameter_dict` not a dict of Parameters.
        RuntimeError: If a shape or type does not match; nothing is loaded then.

    Examples:
        >>> import sindri as ms
        >>> net, other = ms.nn.Dense(2, 3), ms.nn.Dense(2, 3)
        >>> missing, unused = ms.load_param_into_net(net, other.parameters_dict())
        >>> missing, unused
        ([], [])
    """
    place = 'load_param_into_net'
    validator.check_value_type('net', net, Cell, place)
    validator.check_value_type('parameter_dict', parameter_dict, dict, place)
    validator.check_bool(strict_load, 'strict_load', place)
    validator.check_bool(remove_redundancy, 'remove_redundancy', place)
    for name, value in parameter_dict.items():
        if not isinstance(name, str) or not isinstance(value, (Parameter, str, bytes)):
            raise TypeError(f"{place}: 'parameter_dict' must map str to Parameter, got {name!r}: {type(value).__name__}")
    random = parameter_dict.get(_RANDOM)
    values = {n: v for n, v in parameter_dict.items() if n != _RANDOM or not isinstance(v, bytes)}
    expect_state(net, {name: (tuple(v.shape), v.dtype) for name, v in values.items() if isinstance(v, Tensor)})
    params = {p.name: p for p in net.get_parameters()}
    fitting, misfits, stripped = _core.fit_checkpoint([(n, p.dtype, p.shape) for n, p in params.items()], values, strict_load)
    if stripped:
        logger.warning("load_param_into_net: no name fitted; they do without the prefix '%s' that names of the checkpoint have", stripped)
    # Only the values to load may have further dimensions of 1.
    longer = [n for n in fitting if len(params[n].shape) > len(values[n if n in values else stripped + n].shape)]
    for name in [*misfits, *longer]:
        param, value = params[name], values.get(name, values.get(stripped + name))
        found = f'{value.dtype} {tuple(value.shape)}' if isinstance(value, Tensor) else type(value).__name__
        raise RuntimeError(f"{place}: '{name}' is {param.dtype} {tuple(param.shape)} in the network and {found} in the checkpoint | load a checkpoint of "
                           "this network, or leave the name out with filter_prefix; strict_load=False casts widths")
    for name, value in fitting.items():  # all or nothing: a network with weights of two runs is worse than an error
        params[name].set_data(value)
    if isinstance(random, bytes):
        _set_random_state(random)
    missing = [n for n in params if n not in fitting]
    unused = [n for n in values if stripped or n not in fitting]  # with a prefix, no entry was used under its own name
    if missing:
        logger.warning('For \'load_param_into_net\', %d parameters in the \'net\' are not loaded, because they are not in the \'parameter_dict\', '
                       'please check whether the network structure is consistent when training and loading checkpoint.', len(missing))
        for name in missing:
            logger.warning('%s is not loaded.%s', name, _hint(name, unused))
    return LoadResult(missing, unused) if context.era() == 2 else missing  # type: ignore[return-value]


def _hint(name: str, candidates: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.7)
    return f" The checkpoint has '{near[0]}'." if near else ''


# --- not available yet ------------------------------------------------------------------------------------------------------------

def export(net: Any, *inputs: Any, file_name: str, file_format: str = 'AIR', **kwargs: Any) -> None:
    """Would export a network; not available yet.

    Args:
        net (Cell): The network.
        *inputs: Its inputs.
        file_name (str): The file.
        file_format (str): 'AIR', 'ONNX' or 'MINDIR'. Default: 'AIR'.
        **kwargs: Ignored.

    Raises:
        ValueError: If the format is another one.
        NotYetError: Otherwise.
    """
    if file_format not in _FORMATS:
        raise ValueError(f"export: 'file_format' must be one of {', '.join(_FORMATS)}, got {file_format!r}")
    not_yet('export', 'export')


def load(file_name: str, **kwargs: Any) -> Any:
    """Would load a MindIR file; not available yet.

    Args:
        file_name (str): The file.
        **kwargs: Ignored.

    Raises:
        ValueError: If the file does not end in .mindir.
        NotYetError: Otherwise.
    """
    if not isinstance(file_name, str) or not file_name.endswith('.mindir'):
        raise ValueError(f"load: 'file_name' must end in .mindir, got {file_name!r}")
    not_yet('load', 'export')


def export_split_mindir(file_name: str, *args: Any, **kwargs: Any) -> None:
    """Would split a MindIR file; not available yet.

    Args:
        file_name (str): Ignored.
        *args: Ignored.
        **kwargs: Ignored.

    Raises:
        NotYetError: Always.
    """
    not_yet('export_split_mindir', 'export')


def obfuscate_model(obf_config: dict, **kwargs: Any) -> None:
    """Would obfuscate a MindIR model; not available yet.

    Args:
        obf_config (dict): Ignored.
        **kwargs: Ignored.

    Raises:
        NotYetError: Always.
    """
    not_yet('obfuscate_model', 'export')


def parse_print(print_file_name: str) -> list:
    """Would return the tensors of a file that `set_context(print_file_path=…)` writes; not available yet, and nothing writes such files.

    Args:
        print_file_name (str): The file.

    Raises:
        NotYetError: Always.
    """
    not_yet('parse_print', 'devices')
    return []


def load_distributed_checkpoint(network: Any, checkpoint_filenames: Any = None, predict_strategy: Any = None, train_strategy_filename: Any = None,
                                strict_load: bool = False, dec_key: Any = None, dec_mode: str = 'AES-GCM', **kwargs: Any) -> None:
    """Would load a checkpoint of a network split over ranks; not available yet.

    Args:
        network (Cell): Ignored.
        checkpoint_filenames (list): Ignored. Default: None.
        predict_strategy (dict): Ignored. Default: None.
        train_strategy_filename (str): Ignored. Default: None.
        strict_load (bool): Ignored. Default: False.
        dec_key (bytes): Ignored. Default: None.
        dec_mode (str): Ignored. Default: 'AES-GCM'.
        **kwargs: Ignored.

    Raises:
        NotYetError: Always.
    """
    not_yet('load_distributed_checkpoint', 'model parallel')


def merge_sliced_parameter(sliced_parameters: Any, strategy: Any = None) -> Any:
    """Would merge the slices of a parameter; not available yet.

    Args:
        sliced_parameters (list): Ignored.
        strategy (dict): Ignored. Default: None.

    Raises:
        NotYetError: Always.
    """
    not_yet('merge_sliced_parameter', 'model parallel')


def build_searched_strategy(strategy_filename: str) -> Any:
    """Would read a strategy file; not available yet.

    Args:
        strategy_filename (str): Ignored.

    Raises:
        NotYetError: Always.
    """
    not_yet('build_searched_strategy', 'model parallel')


def restore_group_info_list(group_info_file_name: str) -> Any:
    """Would read a file of group information; not available yet.

    Args:
        group_info_file_name (str): Ignored.

    Raises:
        NotYetError: Always.
    """
    not_yet('restore_group_info_list', 'model parallel')
