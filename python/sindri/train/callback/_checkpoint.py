"""Checkpoints during training."""
import os
import re
import time
from typing import Any, Dict, List, Optional, Union

from sindri import _checkparam as validator
from sindri import _compile
from sindri import _core
from sindri import context
from sindri import log as logger
from sindri._files import remove_leftovers, write_text_whole
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.nn.cell import Cell
from sindri.train import serialization
from sindri.train._utils import _make_directory
from sindri.train.callback._callback import Callback, RunContext, _set_cur_net

_INFO_KEYS = ('epoch_num', 'step_num', 'random_op')
_BREAKPOINT = '_breakpoint.ckpt'
_free_prefix = _core.free_checkpoint_prefix


class CheckpointConfig:
    """Configures when ModelCheckpoint saves, what it saves and how many files it keeps.

    Args:
        save_checkpoint_steps (int): The steps between two files; above 0 it overrides `save_checkpoint_seconds`. Default: 1.
        save_checkpoint_seconds (int): The seconds between two files. Default: 0.
        keep_checkpoint_max (int): The number of files to keep, at most 10000000; above 0 it overrides `keep_checkpoint_per_n_minutes`.
            Default: 5.
        keep_checkpoint_per_n_minutes (int): Keep one file per this number of minutes. Default: 0.
        integrated_save (bool): Concerns split parameters; stored without effect. Default: True.
        async_save (bool, str): Whether files are written in a separate thread. Default: False.
        saved_network (Cell): A Cell to save instead of the training network. Default: None.
        append_info (list): 'epoch_num', 'step_num', 'random_op', and at most one dict of int, float, bool, str, Tensor or Parameter. Its
            'epoch_num' and 'step_num' are added to the current numbers, so that a resumed run continues counting. Default: None.
        enc_key (bytes): The key with which files are encrypted, as in save_checkpoint. Default: None.
        enc_mode (str): The encryption, as in save_checkpoint. Default: 'AES-GCM'.
        exception_save (bool): Whether to save a file `…_breakpoint.ckpt` if training ends with an error. Default: False.
        crc_check (bool): Stored without effect: files always contain checksums. Default: False.
        remove_redundancy (bool): Concerns split parameters; stored without effect. Default: False.
        format (str): 'ckpt'. Default: 'ckpt'.
        **kwargs: `training_state` (bool, default True): whether the file also contains the random state and the position in the run, from
            which Model.load_training_state continues (not with `saved_network`).

    Raises:
        TypeError: If an argument has another type or a keyword is unknown.
        ValueError: If steps, seconds, max and minutes are all zero or None, or `append_info` is malformed.

    Examples:
        >>> import sindri as ms
        >>> config = ms.train.CheckpointConfig(save_checkpoint_steps=100, keep_checkpoint_max=3, append_info=['epoch_num'])
        >>> config.keep_checkpoint_max
        3
    """

    def __init__(self, save_checkpoint_steps: int = 1, save_checkpoint_seconds: int = 0, keep_checkpoint_max: int = 5,
                 keep_checkpoint_per_n_minutes: int = 0, integrated_save: bool = True, async_save: Union[bool, str] = False, saved_network: Any = None,
                 append_info: Optional[list] = None, enc_key: Any = None, enc_mode: str = 'AES-GCM', exception_save: bool = False,
                 crc_check: bool = False, remove_redundancy: bool = False, format: str = 'ckpt', **kwargs: Any):
        place = 'CheckpointConfig'
        training_state = kwargs.pop('training_state', True)
        if kwargs:
            raise TypeError(f"{place}: unknown argument '{sorted(kwargs)[0]}'")
        numbers = dict(save_checkpoint_steps=save_checkpoint_steps, save_checkpoint_seconds=save_checkpoint_seconds,
                       keep_checkpoint_max=keep_checkpoint_max, keep_checkpoint_per_n_minutes=keep_checkpoint_per_n_minutes)
        for name, value in numbers.items():
            if value is not None:
                validator.check_non_negative_int(value, name, place)
        if not any(numbers.values()):
            raise ValueError(f"{place}: one of 'save_checkpoint_steps', 'save_checkpoint_seconds', 'keep_checkpoint_max' and "
                             "'keep_checkpoint_per_n_minutes' must be above 0")
        self._save_checkpoint_steps = save_checkpoint_steps
        # An overridden setting is None, as in MindSpore.
        self._save_checkpoint_seconds = None if save_checkpoint_steps else save_checkpoint_seconds
        self._keep_checkpoint_max = keep_checkpoint_max
        self._keep_checkpoint_per_n_minutes = None if keep_checkpoint_max else keep_checkpoint_per_n_minutes
        if not self._keep_checkpoint_max and not self._keep_checkpoint_per_n_minutes:
            self._keep_checkpoint_max = 1
        self._integrated_save = validator.check_bool(integrated_save, 'integrated_save', place)
        self._async_save = validator.check_value_type('async_save', async_save, [bool, str], place)
        if isinstance(async_save, str):
            validator.check_string(async_save, ['thread', 'process'], 'async_save', place)
        self._exception_save = validator.check_bool(exception_save, 'exception_save', place)
        self._crc_check = validator.check_bool(crc_check, 'crc_check', place)
        self._training_state = validator.check_bool(training_state, 'training_state', place)
        self._remove_redundancy = validator.check_bool(remove_redundancy, 'remove_redundancy', place)
        self._saved_network = validator.check_value_type('saved_network', saved_network, [Cell, None], place)
        self._append_dict = self._read_append_info(append_info)
        _core.check_key(enc_key, enc_mode, place, 'enc_key', 'enc_mode')
        self._enc_key, self._enc_mode = enc_key, enc_mode
        self._format = validator.check_string(format, ['ckpt'], 'format', place)

    @staticmethod
    def _read_append_info(append_info: Optional[list]) -> Dict[str, Any]:
        place = "CheckpointConfig: 'append_info'"
        validator.check_value_type('append_info', append_info, [list, None], 'CheckpointConfig')
        out: Dict[str, Any] = {}
        given = None
        for item in append_info or []:
            if isinstance(item, dict):
                if given is not None:
                    raise TypeError(f'{place} may hold one dict')
                given = item
                for key, value in item.items():
                    validator.check_value_type('each name in append_info', key, str, 'CheckpointConfig')
                    validator.check_value_type(f'append_info[{key!r}]', value, [int, float, bool, str, Parameter, Tensor], 'CheckpointConfig')
                out.update(item)
            elif validator.check_value_type('each of append_info', item, str, 'CheckpointConfig') not in _INFO_KEYS:
                raise ValueError(f'{place}: {item!r} is none of {", ".join(_INFO_KEYS)}')
            else:
                out.setdefault(item, 0)
        return out

    @property
    def save_checkpoint_steps(self) -> Optional[int]:
        """int: The steps between two files."""
        return self._save_checkpoint_steps

    @property
    def save_checkpoint_seconds(self) -> Optional[int]:
        """int: The seconds between two files."""
        return self._save_checkpoint_seconds

    @property
    def keep_checkpoint_max(self) -> Optional[int]:
        """int: The number of files to keep."""
        return self._keep_checkpoint_max

    @property
    def keep_checkpoint_per_n_minutes(self) -> Optional[int]:
        """int: One file is kept per this number of minutes."""
        return self._keep_checkpoint_per_n_minutes

    @property
    def integrated_save(self) -> bool:
        """bool: Stored without effect."""
        return self._integrated_save

    @property
    def async_save(self) -> Union[bool, str]:
        """bool or str: Whether files are written in a thread."""
        return self._async_save

    @property
    def saved_network(self) -> Any:
        """Cell: The Cell to save, or None."""
        return self._saved_network

    @property
    def enc_key(self) -> Optional[bytes]:
        """bytes: The key with which files are encrypted, or None."""
        return self._enc_key

    @property
    def enc_mode(self) -> str:
        """str: The encryption of files."""
        return self._enc_mode

    @property
    def crc_check(self) -> bool:
        """bool: Stored without effect: files always contain checksums."""
        return self._crc_check

    @property
    def format(self) -> str:
        """str: 'ckpt'."""
        return self._format

    @property
    def append_dict(self) -> Dict[str, Any]:
        """dict: Entries of the file besides parameters: names with their initial values."""
        return self._append_dict

    @property
    def map_param_inc(self) -> bool:
        """bool: False, since there are no hash-table parameters."""
        return False

    def get_checkpoint_policy(self) -> Dict[str, Any]:
        """Returns the steps, seconds, number and minutes, and the saved network, as a dict."""
        names = ('save_checkpoint_steps', 'save_checkpoint_seconds', 'keep_checkpoint_max', 'keep_checkpoint_per_n_minutes', 'saved_network')
        return {name: getattr(self, name) for name in names}


class CheckpointManager:
    """The checkpoint files of one prefix in one folder.

    Examples:
        >>> import tempfile
        >>> from sindri.train.callback import CheckpointManager
        >>> manager = CheckpointManager()
        >>> manager.update_ckpoint_filelist(tempfile.mkdtemp(), 'net')
        >>> manager.ckpoint_num
        0
    """

    def __init__(self) -> None:
        self._files: List[str] = []

    @property
    def ckpoint_filelist(self) -> List[str]:
        """list: The paths found by the last update."""
        return self._files

    @property
    def ckpoint_num(self) -> int:
        """int: The number of files found by the last update."""
        return len(self._files)

    def update_ckpoint_filelist(self, directory: str, prefix: str) -> None:
        """Lists the files `<prefix>-<epoch>_<step>.ckpt`, oldest modification first.

        Args:
            directory (str): The folder.
            prefix (str): The prefix.
        """
        self._files = _core.checkpoint_files(directory, prefix)

    def remove_ckpoint_file(self, path: str) -> None:
        """Deletes a file; it is not an error if it does not exist any more.

        Args:
            path (str): The file.
        """
        _core.remove_checkpoint(path)
        if path in self._files:
            self._files.remove(path)

    def remove_oldest_ckpoint_file(self) -> None:
        """Deletes the file with the oldest modification time."""
        if self._files:
            self.remove_ckpoint_file(self._files[0])

    def keep_one_ckpoint_per_minutes(self, minutes: int, now: float) -> None:
        """Keeps the oldest of the files younger than `minutes` and deletes the others of these.

        Args:
            minutes (int): The age.
            now (float): The current time in seconds.
        """
        young = [f for f in self._files if now - os.path.getmtime(f) < 60 * minutes]
        for path in young[1:]:
            self.remove_ckpoint_file(path)


class ModelCheckpoint(Callback):
    """Saves `<prefix>-<epoch>_<step in epoch>.ckpt` during training and at its end.

    If the folder already contains files of the prefix, the prefix becomes `<prefix>_1`, `_2`, …. In graph mode `<prefix>-graph.meta`, a text that
    describes the network, is written once. If Ctrl-C interrupts training, the last finished step is saved. The start of training removes temporary
    files of checkpoints with this prefix that killed processes left.

    Args:
        prefix (str): The prefix of the file names. Default: 'CKP'.
        directory (str): The folder, which is created with mode 0700. Default: None, the working folder.
        config (CheckpointConfig): When to save and what. Default: None, CheckpointConfig().

    Raises:
        TypeError: If `config` has another type.
        ValueError: If `prefix` is not a str, is empty or contains '/'.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> import sindri as ms
        >>> from sindri import nn
        >>> x, y = np.ones((4, 1), np.float32), np.full((4, 1), 2, np.float32)
        >>> data = ms.dataset.NumpySlicesDataset((x, y), ['data', 'label'], shuffle=False).batch(2)
        >>> net, folder = nn.Dense(1, 1, 'zeros', has_bias=False), tempfile.mkdtemp()
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> checkpoints = ms.train.ModelCheckpoint('net', folder, ms.train.CheckpointConfig(save_checkpoint_steps=2))
        >>> history = model.train(2, data, callbacks=checkpoints)
        >>> sorted(os.listdir(folder))
        ['net-1_2.ckpt', 'net-2_2.ckpt']
    """

    def __init__(self, prefix: str = 'CKP', directory: Optional[str] = None, config: Optional[CheckpointConfig] = None):
        super().__init__()
        if not isinstance(prefix, str) or not prefix or '/' in prefix:
            raise ValueError(f"ModelCheckpoint: 'prefix' must be a str without '/', got {prefix!r}")
        validator.check_value_type('config', config, [CheckpointConfig, None], 'ModelCheckpoint')
        self._directory = _make_directory(directory, 'directory') if directory is not None else os.getcwd()
        self._config = config if config is not None else CheckpointConfig()
        self._prefix = _free_prefix(self._directory, prefix)
        self._user_prefix = prefix
        self._latest_ckpt_file_name = ''
        self._last_time = time.time()
        self._last_triggered_step = 0
        self._graph_saved = False
        self._append_dict = self._config.append_dict
        self._params: Any = None  # the callback parameters, during training

    @property
    def latest_ckpt_file_name(self) -> str:
        """str: The path of the newest file; '' before the first."""
        return self._latest_ckpt_file_name

    @property
    def _get_save_checkpoint_steps(self) -> Optional[int]:
        """Steps between two files."""
        return self._config.save_checkpoint_steps

    def on_train_begin(self, run_context: RunContext) -> None:
        # Before any rank's first save, whose temporary files do not exist yet.
        remove_leftovers(self._directory, re.escape(self._user_prefix) + r'(?:_[0-9]+)?-(?:[0-9]+_[0-9]+(?:_breakpoint)?\.ckpt|graph\.meta)')
        self._params = run_context.original_args()
        self._last_triggered_step = self._params.cur_step_num  # steps count from 1 again, except in a resumed run
        self._params.setdefault('last_save_ckpt_step', None)
        self._params.setdefault('latest_ckpt_file', None)
        self.begin(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Does nothing: nothing is saved during an evaluation.

        Args:
            run_context (RunContext): The context of the run.
        """

    on_eval_epoch_begin = on_eval_epoch_end = on_eval_step_begin = on_eval_step_end = on_eval_end = on_eval_begin

    def step_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if not self._graph_saved and context.get_context('mode') == context.GRAPH_MODE:
            self._save_graph(p.train_network)
        config = self._config
        if _core.checkpoint_due(config.save_checkpoint_steps or 0, config.save_checkpoint_seconds or 0, p.cur_step_num - self._last_triggered_step,
                                time.time() - self._last_time):
            self._save(p)

    def end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if p.cur_step_num:
            self._save(p)
        self._params = None
        serialization.wait_for_async_saves()

    def __exit__(self, kind: Any, error: Any = None, trace: Any = None) -> None:
        p, self._params = self._params, None
        epoch, step = p._last_done() if p is not None else (1, 0)
        if kind is None or step == 0:
            return
        if not (self._config._exception_save or issubclass(kind, KeyboardInterrupt)):
            return
        # The interrupted step does not count: the file is named after the last finished one.
        finished = type(p)(p, cur_epoch_num=epoch, cur_step_num=step)
        if p.cur_step_num == step:
            vars(finished).update(_training_state=vars(p).get('_training_state'))
        try:
            self._save(finished, _BREAKPOINT if self._config._exception_save else '.ckpt')
            serialization.wait_for_async_saves()
            p.update(latest_ckpt_file=self._latest_ckpt_file_name, last_save_ckpt_step=self._last_triggered_step)
            logger.warning('training ended with %s: saved %s', kind.__name__, self._latest_ckpt_file_name)
        except Exception as e:  # the error that ended training is reported
            logger.error('training ended with %s, and the checkpoint of the last step could not be saved: %s', kind.__name__, e)

    def _save(self, p: Any, suffix: str = '.ckpt') -> None:
        if p.cur_step_num == self._last_triggered_step and suffix == '.ckpt':
            return  # just saved
        p._look()
        step_in_epoch = (p.cur_step_num - 1) % int(p.batch_num) + 1
        name = f'{self._prefix}-{p.cur_epoch_num}_{step_in_epoch}{suffix}'
        append = dict(self._append_dict)
        for key, count in (('epoch_num', p.cur_epoch_num), ('step_num', p.cur_step_num)):  # added to the counts at the start of a resumed run
            if key in append:
                append[key] += count
        step, config = p.cur_step_num, self._config
        network = config.saved_network if config.saved_network is not None else p.train_network
        _set_cur_net(network)
        path = os.path.join(self._directory, name)

        def written() -> None:  # with async_save in the writing thread
            self._latest_ckpt_file_name = path
            p.last_save_ckpt_step, p.latest_ckpt_file = step, path
            if suffix == '.ckpt':  # old files are deleted once the newest is complete on disk
                _core.rotate_checkpoints(self._directory, self._prefix, path, config.keep_checkpoint_max or 0, config.keep_checkpoint_per_n_minutes or 0)

        pairs = serialization.entries_of(network) + list(append.items())
        state = vars(p).get('_training_state')
        if config._training_state and config.saved_network is None and state is not None:
            pairs += state()
        serialization.write_entries(pairs, path, config.async_save, config.enc_key, config.enc_mode, written=written)
        self._last_time = time.time()
        self._last_triggered_step = step

    def _save_graph(self, network: Any) -> None:
        path = os.path.join(self._directory, f'{self._prefix}-graph.meta')
        write_text_whole(path, _describe(network), 0o600)
        self._graph_saved = True


def _describe(network: Any) -> str:
    """Returns the graphs to which the network was compiled, if any, else its structure; then its parameters."""
    graph = getattr(_compile, 'graph_text', None)
    head = graph(network) if graph is not None else repr(network)
    rows = [f'{p.name} {p.dtype} {list(p.shape)}' for p in network.get_parameters()]
    return '\n'.join([head, '', 'parameters:', *rows, ''])
