"""Saves checkpoints while training."""
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
    """When ModelCheckpoint saves, what, and how many files it keeps.

    save_checkpoint_steps > 0 overrides save_checkpoint_seconds; keep_checkpoint_max > 0 (at most 10000000) overrides
    keep_checkpoint_per_n_minutes. async_save writes in a thread of its own. saved_network: a Cell to save instead of the training network.
    append_info: 'epoch_num', 'step_num', 'random_op', and at most one dict of int, float, bool, str, Tensor or Parameter; its 'epoch_num' and
    'step_num' are added to the running numbers, so that a resumed training goes on counting. exception_save: a file `…_breakpoint.ckpt` when
    training ends with an error. integrated_save and remove_redundancy concern split parameters and are stored only; crc_check: files always
    carry checksums. The keyword training_state (True): the file also holds the random state and the place in the training, from which Model.load_training_state goes
    on (not with saved_network). enc_key and enc_mode encrypt the files, as save_checkpoint has it; format must be 'ckpt'. ValueError: all four of steps, seconds, max and minutes are zero or
    None, or append_info is bad; TypeError."""

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
        # What is overridden reads None, as MindSpore has it.
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
        """Steps between two files."""
        return self._save_checkpoint_steps

    @property
    def save_checkpoint_seconds(self) -> Optional[int]:
        """Seconds between two files."""
        return self._save_checkpoint_seconds

    @property
    def keep_checkpoint_max(self) -> Optional[int]:
        """Files kept."""
        return self._keep_checkpoint_max

    @property
    def keep_checkpoint_per_n_minutes(self) -> Optional[int]:
        """One file is kept per so many minutes."""
        return self._keep_checkpoint_per_n_minutes

    @property
    def integrated_save(self) -> bool:
        """Stored only."""
        return self._integrated_save

    @property
    def async_save(self) -> Union[bool, str]:
        """Whether files are written in a thread."""
        return self._async_save

    @property
    def saved_network(self) -> Any:
        """The Cell to save, or None."""
        return self._saved_network

    @property
    def enc_key(self) -> Optional[bytes]:
        """The key that files are encrypted with, or None."""
        return self._enc_key

    @property
    def enc_mode(self) -> str:
        """How files are encrypted."""
        return self._enc_mode

    @property
    def crc_check(self) -> bool:
        """Stored only: files always carry checksums."""
        return self._crc_check

    @property
    def format(self) -> str:
        """'ckpt'."""
        return self._format

    @property
    def append_dict(self) -> Dict[str, Any]:
        """What goes into the file besides parameters: names with their starting values."""
        return self._append_dict

    @property
    def map_param_inc(self) -> bool:
        """False: there are no hash-table parameters."""
        return False

    def get_checkpoint_policy(self) -> Dict[str, Any]:
        """Steps, seconds, number and minutes as a dict."""
        names = ('save_checkpoint_steps', 'save_checkpoint_seconds', 'keep_checkpoint_max', 'keep_checkpoint_per_n_minutes', 'saved_network')
        return {name: getattr(self, name) for name in names}


class CheckpointManager:
    """The checkpoint files of one prefix in one folder."""

    def __init__(self) -> None:
        self._files: List[str] = []

    @property
    def ckpoint_filelist(self) -> List[str]:
        """Paths found by the last update."""
        return self._files

    @property
    def ckpoint_num(self) -> int:
        """How many were found."""
        return len(self._files)

    def update_ckpoint_filelist(self, directory: str, prefix: str) -> None:
        """Lists `<prefix>-<epoch>_<step>.ckpt`, oldest modification first."""
        self._files = _core.checkpoint_files(directory, prefix)

    def remove_ckpoint_file(self, path: str) -> None:
        """Deletes one file; a file that someone else deleted is no error."""
        _core.remove_checkpoint(path)
        if path in self._files:
            self._files.remove(path)

    def remove_oldest_ckpoint_file(self) -> None:
        """Deletes the file with the oldest modification time."""
        if self._files:
            self.remove_ckpoint_file(self._files[0])

    def keep_one_ckpoint_per_minutes(self, minutes: int, now: float) -> None:
        """Of the files younger than `minutes`, keeps the oldest."""
        young = [f for f in self._files if now - os.path.getmtime(f) < 60 * minutes]
        for path in young[1:]:
            self.remove_ckpoint_file(path)


class ModelCheckpoint(Callback):
    """Saves `<prefix>-<epoch>_<step in epoch>.ckpt` into `directory` (created with mode 0700; None: the working folder) as `config` says, and
    once more at the end of training. When the folder already holds files of the prefix, it becomes `<prefix>_1`, `_2`, …. In graph mode
    `<prefix>-graph.meta`, a text that describes the network, is written once. Interrupted by Ctrl-C, it saves the last finished step. The start of training
    removes temporary files that killed processes left of checkpoints with this prefix.
    ValueError: prefix with '/' or not str; TypeError: config."""

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
        self._params: Any = None  # the callback parameters, while training runs

    @property
    def latest_ckpt_file_name(self) -> str:
        """Path of the file written last, '' before the first."""
        return self._latest_ckpt_file_name

    @property
    def _get_save_checkpoint_steps(self) -> Optional[int]:
        """Steps between two files."""
        return self._config.save_checkpoint_steps

    def on_train_begin(self, run_context: RunContext) -> None:
        # Before the first save of any rank: what they write now is not here yet.
        remove_leftovers(self._directory, re.escape(self._user_prefix) + r'(?:_[0-9]+)?-(?:[0-9]+_[0-9]+(?:_breakpoint)?\.ckpt|graph\.meta)')
        self._params = run_context.original_args()
        self._last_triggered_step = self._params.cur_step_num  # steps count from 1 anew, but for a training that goes on
        self._params.setdefault('last_save_ckpt_step', None)
        self._params.setdefault('latest_ckpt_file', None)
        self.begin(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Nothing is saved in an evaluation."""

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
        # The step that was cut short is not counted: the file is named after the last finished one.
        finished = type(p)(p, cur_epoch_num=epoch, cur_step_num=step)
        if p.cur_step_num == step:
            vars(finished).update(_training_state=vars(p).get('_training_state'))
        try:
            self._save(finished, _BREAKPOINT if self._config._exception_save else '.ckpt')
            serialization.wait_for_async_saves()
            p.update(latest_ckpt_file=self._latest_ckpt_file_name, last_save_ckpt_step=self._last_triggered_step)
            logger.warning('training ended with %s: saved %s', kind.__name__, self._latest_ckpt_file_name)
        except Exception as e:  # the error that ended training is the one to report
            logger.error('training ended with %s, and the checkpoint of the last step could not be saved: %s', kind.__name__, e)

    def _save(self, p: Any, suffix: str = '.ckpt') -> None:
        if p.cur_step_num == self._last_triggered_step and suffix == '.ckpt':
            return  # just saved
        p._look()
        step_in_epoch = (p.cur_step_num - 1) % int(p.batch_num) + 1
        name = f'{self._prefix}-{p.cur_epoch_num}_{step_in_epoch}{suffix}'
        append = dict(self._append_dict)
        for key, count in (('epoch_num', p.cur_epoch_num), ('step_num', p.cur_step_num)):  # added to what a resumed training began with
            if key in append:
                append[key] += count
        step, config = p.cur_step_num, self._config
        network = config.saved_network if config.saved_network is not None else p.train_network
        _set_cur_net(network)
        path = os.path.join(self._directory, name)

        def written() -> None:  # with async_save in the thread that writes
            self._latest_ckpt_file_name = path
            p.last_save_ckpt_step, p.latest_ckpt_file = step, path
            if suffix == '.ckpt':  # what is not kept goes, now that the newest file is whole on disk
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
    """The graphs the network was compiled to when there are some, else its structure; then its parameters."""
    graph = getattr(_compile, 'graph_text', None)
    head = graph(network) if graph is not None else repr(network)
    rows = [f'{p.name} {p.dtype} {list(p.shape)}' for p in network.get_parameters()]
    return '\n'.join([head, '', 'parameters:', *rows, ''])
