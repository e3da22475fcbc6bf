"""Recording of values in event files; the engine implements their format (`_core.events`)."""
import json
import os
import threading
import time
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from sindri import _checkparam as validator
from sindri import _core
from sindri import log as logger
from sindri._files import open_for_writing
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.nn.cell import Cell
from sindri.ops.operations import _summary_store
from sindri.train._utils import _make_directory

__all__ = ['SummaryRecord']

_ARRAYS = ('scalar', 'tensor', 'image', 'histogram')
_MESSAGES = ('explainer', 'landscape')
_LINEAGE = ('train_lineage', 'eval_lineage', 'custom_lineage_data', 'dataset_graph')
_PLUGINS = (*_ARRAYS, 'graph', *_LINEAGE, *_MESSAGES)
_KINDS = {f'[:{kind.capitalize()}]': kind for kind in _ARRAYS}  # the marks of summary ops
_live: Optional['SummaryRecord'] = None
_lock = threading.Lock()
_events = _core.events
_Value = Tuple[str, str, Any]  # plugin, name, value


class SummaryRecord:
    """Writes event files `<file_prefix>.out.events.summary.<seconds>.<host><file_suffix>` (and `…_lineage`) into a folder.

    It is a context manager; only one may be open at a time. Values come from `add_value` and from the summary ops of the network. Files are created
    with their first value.

    Args:
        log_dir (str): The folder.
        file_prefix (str): The start of the file names, without '/'. Default: 'events'.
        file_suffix (str): The end of the file names, without '/'. Default: '_MS'.
        num_process (int): Accepted for compatibility: one thread suffices. Default: 32.
        network (Cell): The network to record. Default: None.
        max_file_size (float): Recording stops when a file reaches this size, in GB. Default: None.
        raise_exception (bool): Whether this and other failures raise RuntimeError instead of a warning. Default: False.
        export_options (dict): {'tensor_format': 'npy'} also saves tensors as .npy files. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        RuntimeError: If another SummaryRecord is open.

    Examples:
        >>> import os, tempfile
        >>> import sindri as ms
        >>> folder = tempfile.mkdtemp()
        >>> with ms.train.SummaryRecord(folder) as record:
        ...     record.add_value('scalar', 'loss', 0.5)
        ...     record.record(step=1)
        True
        >>> len(os.listdir(folder))
        1
    """

    def __init__(self, log_dir: str, file_prefix: str = 'events', file_suffix: str = '_MS', num_process: int = 32, network: Any = None,
                 max_file_size: Optional[float] = None, raise_exception: bool = False, export_options: Optional[dict] = None):
        global _live
        place = 'SummaryRecord'
        for name, value in (('log_dir', log_dir), ('file_prefix', file_prefix), ('file_suffix', file_suffix)):
            validator.check_value_type(name, value, str, place)
            if '/' in value and name != 'log_dir':
                raise ValueError(f"{place}: '{name}' must not contain '/', got {value!r}")
        self._network = validator.check_value_type('network', network, [Cell, None], place)
        validator.check_value_type('max_file_size', max_file_size, [int, float, None], place)
        if max_file_size is not None and max_file_size <= 0:
            raise ValueError(f"{place}: 'max_file_size' must be above 0, got {max_file_size}")
        self._raise = validator.check_bool(raise_exception, 'raise_exception', place)
        self._export = self._read_export(export_options)
        self.log_dir = self.full_folder = _make_directory(log_dir, 'log_dir')
        with _lock:
            if _live is not None:
                raise RuntimeError(f"{place}: another one is live | close it, or use it in a with statement")
            _live = self
        limit = None if max_file_size is None else int(max_file_size * (1 << 30))
        self._events = _events.EventFile(self.full_folder, file_prefix, file_suffix, True, limit)
        self._lineage = _events.EventFile(self.full_folder, file_prefix, '_lineage', False, limit)
        self._pool: List[_Value] = []
        self._mode = 'train'
        self._graph_done = False
        self._closed = False
        self._export_dir = os.path.join(self.full_folder, f"export_{time.strftime('%Y%m%d_%H%M%S')}")

    @staticmethod
    def _read_export(options: Optional[dict]) -> Optional[str]:
        validator.check_value_type('export_options', options, [dict, None], 'SummaryRecord')
        for key, value in (options or {}).items():
            if key != 'tensor_format' or value not in ('npy', None):
                raise ValueError(f"SummaryRecord: 'export_options' may say {{'tensor_format': 'npy'}}, got {key!r}: {value!r}")
        return (options or {}).get('tensor_format')

    def __enter__(self) -> 'SummaryRecord':
        if self._closed:
            raise ValueError('SummaryRecord: it is closed')
        return self

    def __exit__(self, *err: Any) -> None:
        self.close()

    def set_mode(self, mode: str) -> None:
        """Sets the mode: in 'eval' mode `record` writes only values passed to `add_value`.

        Args:
            mode (str): 'train' or 'eval'.

        Raises:
            ValueError: If `mode` is another value.
        """
        self._mode = validator.check_string(mode, ['train', 'eval'], 'mode', 'SummaryRecord.set_mode')

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Stores a value for the next record.

        Args:
            plugin (str): 'scalar', 'tensor', 'image' ([N, C, H, W]), 'histogram', 'graph' (a Cell), 'train_lineage', 'eval_lineage',
                'custom_lineage_data' and 'dataset_graph' (dicts), 'explainer' and 'landscape' (protobuf messages Explain and LossLandscape, or their
                bytes).
            name (str): The name of the value.
            value: The value.

        Raises:
            TypeError: If `value` has another type.
            ValueError: If `plugin` is unknown, `name` is empty or `value` has another shape.
        """
        place = 'SummaryRecord.add_value'
        if plugin not in _PLUGINS:
            raise ValueError(f"{place}: 'plugin' must be one of {', '.join(_PLUGINS)}, got {plugin!r}")
        if not isinstance(name, str) or not name:
            raise ValueError(f"{place}: 'name' must be a non-empty str, got {name!r}")
        if plugin in _ARRAYS:
            validator.check_value_type(f"value of '{name}'", value, [Tensor, np.ndarray, int, float, bool], place)
            value = np.array(value.asnumpy() if isinstance(value, Tensor) else value)
            if plugin == 'scalar' and value.size != 1:
                raise ValueError(f"{place}: the scalar '{name}' has shape {value.shape}")
            if plugin == 'image':
                _events.value(plugin, name, value)  # checks the value
            self._pool = [v for v in self._pool if v[:2] != (plugin, name)]
        elif plugin in _MESSAGES:
            value = value if isinstance(value, bytes) else getattr(value, 'SerializeToString', lambda: None)()
            if value is None:
                raise TypeError(f"{place}: the value of plugin '{plugin}' must be a protobuf message or its bytes")
        else:
            validator.check_value_type(f"value of plugin '{plugin}'", value, Cell if plugin == 'graph' else dict, place)
        self._pool.append((plugin, name, value))

    def record(self, step: int, train_network: Any = None, plugin_filter: Any = None) -> bool:
        """Writes all stored values.

        Args:
            step (int): The step they belong to.
            train_network (Cell): The network to record. Default: None, that of the constructor.
            plugin_filter (Callable): `plugin_filter(plugin)` returns whether values are written. Default: None.

        Returns:
            bool: Whether something was written.

        Raises:
            TypeError: If `step` is not an int.
            ValueError: If the record is closed.
            RuntimeError: If writing fails, with `raise_exception`.
        """
        if self._closed:
            raise ValueError('SummaryRecord.record: it is closed')
        validator.check_value_type('step', step, int, 'SummaryRecord.record')
        pool, self._pool = self._pool, []
        network = train_network if train_network is not None else self._network
        if network is not None and not self._graph_done and not any(v[0] == 'graph' for v in pool) and self._mode == 'train':
            pool.insert(0, ('graph', 'graph', network))
        if self._mode == 'train':
            pool += _from_ops()
        if plugin_filter is not None:
            pool = [v for v in pool if plugin_filter(v[0])]
        try:
            return self._write(step, pool)
        except OSError as e:
            if self._raise:
                raise RuntimeError(f'SummaryRecord.record: {e}') from e
            logger.error('SummaryRecord: step %d is not recorded: %s', step, e)
            return False

    def _write(self, step: int, pool: List[_Value]) -> bool:
        good = True
        for plugin, _, value in pool:
            if plugin == 'graph':
                self._graph_done = True
                good &= self._events.write(plugin, _graph(value))
            elif plugin == 'explainer':
                good &= self._events.write(plugin, value, step)
            elif plugin in _LINEAGE:
                good &= self._lineage.write(plugin, _events.lineage(plugin, _facts(plugin, value)))
        values = [v for v in pool if v[0] in _ARRAYS or v[0] == 'landscape']
        if values:
            good &= self._events.write('summary', _events.summary([_events.value(*v) for v in values]), step)
            if self._export == 'npy':
                self._save_npy(step, [v for v in values if v[0] == 'tensor'])
        if not good:
            if self._raise:
                raise RuntimeError(f"SummaryRecord: the file reached 'max_file_size' at step {step} | increase max_file_size")
            logger.warning_once("SummaryRecord: the file reached 'max_file_size'; nothing more is recorded")
        return good and bool(pool)

    def _save_npy(self, step: int, values: List[_Value]) -> None:
        folder = os.path.join(self._export_dir, 'tensor')
        for _, tag, array in values:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            with open_for_writing(os.path.join(folder, f"{tag.replace('/', '_')}_{step}.npy"), "wb") as f:
                np.save(f, array)

    def flush(self) -> None:
        """Does nothing: recorded values have been passed to the system."""

    def close(self) -> None:
        """Closes the files; another SummaryRecord may be created afterwards."""
        global _live
        if not self._closed:
            self._closed = True
            self._events.close()
            self._lineage.close()
        with _lock:
            if _live is self:
                _live = None

    def __del__(self) -> None:
        if not getattr(self, '_closed', True):
            self.close()


def _graph(network: Cell) -> bytes:
    cells = [(name, type(cell).__name__) for name, cell in network.cells_and_names()]
    return _events.graph(cells, [(p.name, str(p.dtype).lower(), p.shape) for p in network.get_parameters()])


def _facts(plugin: str, info: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the facts of a lineage: metrics are one text."""
    if plugin != 'eval_lineage':
        return info
    return {**info, 'metrics': json.dumps(info.get('metrics', {}), default=lambda v: np.asarray(v).tolist())}


def _from_ops() -> List[_Value]:
    """Returns the values of the network's summary ops since the last call."""
    out = []
    for name, value in _summary_store.take():
        for ending, kind in _KINDS.items():
            if name.endswith(ending):
                value = value.astype(mstype.float32) if value.dtype == mstype.bfloat16 else value
                out.append((kind, name[:-len(ending)], np.array(value.asnumpy())))
    return out
