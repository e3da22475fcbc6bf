"""Saving and loading of parameters in MindSpore's .ckpt form and as safetensors.

The file form, encryption and the matching with a network are the engine's (`_core.save_checkpoint`, `load_checkpoint`, `fit_checkpoint`); here
names, kinds of values and what the arguments ask for."""
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
# Element types that files have and Tensors do not: a Parameter read from such an entry holds the next wider type and remembers this one.
_NARROW = {'int8': 'Int8', 'int16': 'Int16', 'uint16': 'UInt16', 'uint32': 'UInt32', 'uint64': 'UInt64'}
_STORED = '_stored_type'
_RANDOM = 'random_op'
_BLOCK_BYTES = 64 << 20  # of an encrypted file

# --- saving ---------------------------------------------------------------------------------------------------------------------

_saving: List[threading.Thread] = []
_save_errors: List[BaseException] = []


def async_ckpt_thread_status() -> bool:
    """Whether a checkpoint is still being written by a thread."""
    _saving[:] = [t for t in _saving if t.is_alive()]
    return bool(_saving)


def wait_for_async_saves() -> None:
    """Waits for checkpoints that are being written by threads; raises what went wrong in one."""
    for thread in list(_saving):
        thread.join()
    _saving.clear()
    if _save_errors:
        error = _save_errors[0]
        _save_errors.clear()
        raise error


@atexit.register
def _report_lost_saves() -> None:
    """A script that ends has no next save to raise this."""
    for thread in list(_saving):
        thread.join()
    for error in _save_errors:
        logger.error(f'the script ends without this checkpoint: {error}')


def entries_of(save_obj: Any) -> List[Tuple[str, Any]]:
    """(name, value) pairs, names unique."""
    if isinstance(save_obj, Cell):
        return [(p.name, p) for p in save_obj.get_parameters()]
    if isinstance(save_obj, dict):
        return list(save_obj.items())
    if not isinstance(save_obj, (list, tuple)) or not all(isinstance(item, dict) and {'name', 'data'} <= item.keys() for item in save_obj):
        raise TypeError(f"save_checkpoint: 'save_obj' must be a Cell, a list of {{'name': …, 'data': …}} or a dict, got {type(save_obj).__name__}")
    return [(item['name'], item['data']) for item in save_obj]


def _random_state() -> bytes:
    """The state of the random ops: opaque bytes."""
    return _core.rng_state().asnumpy().tobytes()


def _set_random_state(data: bytes) -> None:
    """Goes on from a saved state; one that another program wrote is left alone, with a warning."""
    now = _core.rng_state().asnumpy()
    if len(data) != now.nbytes:
        logger.warning("the checkpoint's 'random_op' was not written by Sindri and is left out: random numbers go on from the present seed")
        return
    _core.set_rng_state(Tensor(np.frombuffer(data, now.dtype).reshape(now.shape).copy()))


def _plain(name: Any, value: Any) -> Tuple[Any, ...]:
    """A copy of one value as the file holds it: Tensor, str or bytes. Numbers become scalar Tensors (int64, float32, bool). A third member is the
    narrower integer type that the file is to have."""
    if not isinstance(name, str):
        raise TypeError(f"save_checkpoint: names must be str, got {name!r}")
    try:
        name.encode()
    except UnicodeEncodeError as e:
        raise ValueError(f"save_checkpoint: the name {name!r} cannot be written as UTF-8") from e
    if isinstance(value, (str, bytes)):
        return name, value
    stored = None
    if isinstance(value, Tensor):  # a Parameter too; copied, for training may go on while a thread writes
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
    """Writes the parameters of a Cell (in definition order), a list of {'name', 'data'} or a dict to a file; `append_dict` adds entries.

    format is 'ckpt' or 'safetensors' (there texts stand in the metadata; no encryption). ckpt_file_name gets that ending when it lacks it; its folder must exist. The file appears whole or not at all, and is read-only. async_save
    writes in a thread. choice_func(name) -> bool chooses entries. compat_mindspore1 writes without checksums, for MindSpore up to 2.0; else the
    file always carries them, whatever crc_check says. integrated_save is stored in no way: there are no split parameters. enc_key (16, 24 or 32
    bytes; SM4: 16) encrypts the file by enc_mode: 'AES-GCM', 'AES-CBC' or 'SM4-CBC', in the form of MindSpore 2; that needs OpenSSL's libcrypto,
    else RuntimeError. TypeError: save_obj, names, values; IsADirectoryError; ValueError: folder, format, key, mode, enc_key beside
    compat_mindspore1."""
    validator.check_value_type('ckpt_file_name', ckpt_file_name, str, 'save_checkpoint')
    validator.check_bool(integrated_save, 'integrated_save', 'save_checkpoint')
    validator.check_bool(crc_check, 'crc_check', 'save_checkpoint')
    if not isinstance(async_save, bool):
        validator.check_string(async_save, ['thread', 'process'], 'async_save', 'save_checkpoint')
    if kwargs:
        raise TypeError(f"save_checkpoint: unknown argument '{sorted(kwargs)[0]}'")
    _core.check_key(enc_key, enc_mode, 'save_checkpoint', 'enc_key', 'enc_mode')
    if enc_key is not None and compat_mindspore1:
        raise ValueError("save_checkpoint: 'enc_key' beside 'compat_mindspore1': encrypted files have the form of MindSpore 2 | leave one of them out")
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
    """The file of these entries; written() is called once it is whole on disk, with async_save in the thread that wrote it."""
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
        except BaseException as e:  # handed to the next save or wait, which may be far
            _save_errors.append(e)
            logger.error(f"save_checkpoint: '{path}' was not written: {e}")

    thread = threading.Thread(target=write, name='checkpoint')
    thread.start()  # before it is listed: a thread that does not run is taken for one that is done
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
    """Reads a file into a dict from name to Parameter (str for text entries), and into `net` if given. format is 'ckpt' or 'safetensors', and so is
    the file's ending. Integers narrower than Tensors have (int8, int16, uint16, uint32, uint64) are read in the next wider type, with a warning that
    names them; saved again, they have the file's type.

    filter_prefix leaves names out, specify_prefix and choice_func(name) choose them; without these, the training state that Model.load_training_state
    reads (names that begin with 'sindri.') is left out. Checksums are always checked when the file has them.
    dec_key and dec_mode: those the file was encrypted with (reading it takes twice its size in memory). remove_redundancy concerns split
    parameters and changes nothing. ValueError: not a .ckpt file, missing, empty or broken, encrypted with another key, or nothing left;
    TypeError: arguments."""
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
        name, value, *stored = entries.pop()  # each is let go before the next is copied: a file needs its size in memory, not twice
        wanted = name.startswith(chosen) if chosen else choice_func is not None or not name.startswith('sindri.')  # those are of a training's state
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
    """The entries of a safetensors file. ValueError for a broken one."""
    from sindri.tools import convert
    try:
        return convert.entries(convert.read(path))
    except (ValueError, OSError, MemoryError):
        raise
    except Exception as e:
        raise ValueError(with_short_words(f'load_checkpoint: {e}')) from e


def _neighbours(path: str) -> str:
    """What to try instead of a missing file."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        return f"its folder '{folder}' does not exist"
    ending = os.path.splitext(path)[1]
    names = sorted(n for n in os.listdir(folder) if n.endswith(ending))
    return f'that folder has {", ".join(names[:5])}{" …" if len(names) > 5 else ""}' if names else f'that folder has no {ending} file'


def load_checkpoint_async(ckpt_file_name: str, net: Any = None, strict_load: bool = False, filter_prefix: Any = None, dec_key: Any = None,
                          dec_mode: str = 'AES-GCM', specify_prefix: Any = None, choice_func: Optional[Callable] = None) -> Any:
    """load_checkpoint in a thread: a concurrent.futures.Future whose result() is the dict."""
    from concurrent.futures import ThreadPoolExecutor
    pool = ThreadPoolExecutor(max_workers=1)
    try:
        return pool.submit(load_checkpoint, ckpt_file_name, net, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix, choice_func)
    finally:
        pool.shutdown(wait=False)


class LoadResult(tuple):
    """What load_param_into_net leaves over, for scripts of both eras.

    As of 2.x it is a pair (names of the network that were not loaded, names of the checkpoint that were not used): it unpacks, iterates and
    indexes so. As the list of 1.x it prints, compares, counts (`len`, truth) and tests membership like the first of them."""

    __slots__ = ()

    def __new__(cls, net_names: Sequence[str], ckpt_names: Sequence[str]) -> 'LoadResult':
        return super().__new__(cls, (list(net_names), list(ckpt_names)))

    @property
    def param_not_load(self) -> List[str]:
        """Names of the network that were not loaded."""
        return self[0]

    @property
    def ckpt_not_load(self) -> List[str]:
        """Names of the checkpoint that were not used."""
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
    """Puts the values of a dict from load_checkpoint into the parameters of a network, by name.

    Names that only one side has are left alone, with a warning. Unless strict_load, float (and int) widths are cast. Shapes must agree, except
    that those of the dict may have further trailing ones. When no name fits, one common dotted prefix is taken off the dict's names and matching is tried again.
    The second list then has all names of the dict. Returns a LoadResult (with SINDRI_MINDSPORE_ERA=1 a plain list of the network's names that were not loaded).
    TypeError: net is no Cell, the dict no dict of Parameters; RuntimeError: shape or type does not fit."""
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
    # Only what is loaded may have further dimensions of 1.
    longer = [n for n in fitting if len(params[n].shape) > len(values[n if n in values else stripped + n].shape)]
    for name in [*misfits, *longer]:
        param, value = params[name], values.get(name, values.get(stripped + name))
        found = f'{value.dtype} {tuple(value.shape)}' if isinstance(value, Tensor) else type(value).__name__
        raise RuntimeError(f"{place}: '{name}' is {param.dtype} {tuple(param.shape)} in the network and {found} in the checkpoint | load a checkpoint of "
                           "this network, or leave the name out with filter_prefix; strict_load=False casts widths")
    for name, value in fitting.items():  # all or nothing: a net with weights of two trainings is worse than an error
        params[name].set_data(value)
    if isinstance(random, bytes):
        _set_random_state(random)
    missing = [n for n in params if n not in fitting]
    unused = [n for n in values if stripped or n not in fitting]  # with a prefix none was used as it is called
    if missing:
        logger.warning('For \'load_param_into_net\', %d parameters in the \'net\' are not loaded, because they are not in the \'parameter_dict\', '
                       'please check whether the network structure is consistent when training and loading checkpoint.', len(missing))
        for name in missing:
            logger.warning('%s is not loaded.%s', name, _hint(name, unused))
    return LoadResult(missing, unused) if context.era() == 2 else missing  # type: ignore[return-value]


def _hint(name: str, candidates: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.7)
    return f" The checkpoint has '{near[0]}'." if near else ''


# --- what comes later -------------------------------------------------------------------------------------------------------------

def export(net: Any, *inputs: Any, file_name: str, file_format: str = 'AIR', **kwargs: Any) -> None:
    """Not yet there: raises NotYetError, after ValueError for a format other than AIR, ONNX and MINDIR."""
    if file_format not in _FORMATS:
        raise ValueError(f"export: 'file_format' must be one of {', '.join(_FORMATS)}, got {file_format!r}")
    not_yet('export', 'export')


def load(file_name: str, **kwargs: Any) -> Any:
    """Not yet there (MindIR): raises NotYetError, after ValueError for a file that does not end in .mindir."""
    if not isinstance(file_name, str) or not file_name.endswith('.mindir'):
        raise ValueError(f"load: 'file_name' must end in .mindir, got {file_name!r}")
    not_yet('load', 'export')


def export_split_mindir(file_name: str, *args: Any, **kwargs: Any) -> None:
    """Not yet there: raises NotYetError."""
    not_yet('export_split_mindir', 'export')


def obfuscate_model(obf_config: dict, **kwargs: Any) -> None:
    """Not yet there: raises NotYetError."""
    not_yet('obfuscate_model', 'export')


def parse_print(print_file_name: str) -> list:
    """Tensors of a file that `set_context(print_file_path=…)` would make; nothing writes such files: raises NotYetError."""
    not_yet('parse_print', 'devices')
    return []


def load_distributed_checkpoint(network: Any, checkpoint_filenames: Any = None, predict_strategy: Any = None, train_strategy_filename: Any = None,
                                strict_load: bool = False, dec_key: Any = None, dec_mode: str = 'AES-GCM', **kwargs: Any) -> None:
    """Not yet there: raises NotYetError."""
    not_yet('load_distributed_checkpoint', 'model parallel')


def merge_sliced_parameter(sliced_parameters: Any, strategy: Any = None) -> Any:
    """Not yet there: raises NotYetError."""
    not_yet('merge_sliced_parameter', 'model parallel')


def build_searched_strategy(strategy_filename: str) -> Any:
    """Not yet there: raises NotYetError."""
    not_yet('build_searched_strategy', 'model parallel')


def restore_group_info_list(group_info_file_name: str) -> Any:
    """Not yet there: raises NotYetError."""
    not_yet('restore_group_info_list', 'model parallel')
