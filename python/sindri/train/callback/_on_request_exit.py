"""Ends training in an orderly way on an external request."""
import json
import os
import signal
from typing import Any, Optional

from sindri import _checkparam as validator
from sindri import log as logger
from sindri.train._utils import _make_directory
from sindri.train.callback._callback import Callback, RunContext
from sindri.train.serialization import save_checkpoint


class OnRequestExit(Callback):
    """Stops training on a signal or an entry in a file, after saving the network.

    When the signal `sig` arrives, or the JSON file `config_file` contains `{"GracefulExit": 1}`, the current step is finished, the network is saved
    as `<directory>/<file_name>_train.ckpt` (`_eval.ckpt` in an evaluation) and training stops.

    Args:
        save_ckpt (bool): Whether a checkpoint is saved. Default: True.
        save_mindir (bool): MindIR files cannot be written yet; True logs this once. Default: True.
        file_name (str): The start of the file's name. Default: 'Net'.
        directory (str): The folder. Default: './'.
        config_file (str): The JSON file to watch. Default: None.
        sig (int): The signal, such as SIGINT or SIGTERM. Default: SIGTERM.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `sig` is not a signal, or is SIGKILL, which cannot be caught.

    Examples:
        >>> import sindri as ms
        >>> callback = ms.train.OnRequestExit(save_mindir=False, file_name='resnet')
    """

    def __init__(self, save_ckpt: bool = True, save_mindir: bool = True, file_name: str = 'Net', directory: str = './',
                 config_file: Optional[str] = None, sig: int = signal.SIGTERM):
        super().__init__()
        place = 'OnRequestExit'
        self.save_ckpt = validator.check_bool(save_ckpt, 'save_ckpt', place)
        self.save_mindir = validator.check_bool(save_mindir, 'save_mindir', place)
        if not isinstance(sig, int) or sig == signal.SIGKILL:
            raise ValueError(f"{place}: 'sig' must be a signal that can be caught, got {sig!r}")
        self.sig = sig
        self.directory = _make_directory(directory, 'directory')
        self.file_name = validator.check_value_type('file_name', file_name, str, place)
        self.config_file = config_file if config_file is None else validator.check_isinstance('config_file', config_file, str)
        self.exit = False
        self._before: Any = None

    def on_train_begin(self, run_context: RunContext) -> None:
        if self._before is not None:
            return  # an evaluation within a training run
        self.exit = False
        try:
            self._before = signal.signal(self.sig, self._note)
        except ValueError:  # not the main thread
            logger.warning('OnRequestExit: signals reach only the main thread; only the config file is watched')

    on_eval_begin = on_train_begin

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._look(run_context, 'train')

    def on_eval_step_end(self, run_context: RunContext) -> None:
        self._look(run_context, 'eval')

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Does nothing at the end of an epoch.

        Args:
            run_context (RunContext): The context of the run.
        """

    def __exit__(self, *err: Any) -> None:
        if self._before is not None:
            signal.signal(self.sig, self._before)
            self._before = None

    def _note(self, signum: int, frame: Any) -> None:
        self.exit = True

    def _asked(self) -> bool:
        if self.exit or self.config_file is None:
            return self.exit
        try:
            with open(self.config_file, encoding='utf-8') as f:
                return json.load(f).get('GracefulExit') == 1
        except FileNotFoundError:
            return False
        except (OSError, ValueError, AttributeError) as e:
            logger.warning("OnRequestExit: cannot read '%s': %s", self.config_file, e)
            return False

    def _look(self, run_context: RunContext, mode: str) -> None:
        if run_context.get_stop_requested() or not self._asked():
            return
        p = run_context.original_args()
        net = p.train_network if mode == 'train' else p.eval_network
        path = os.path.join(self.directory, f'{self.file_name}_{mode}')
        if self.save_ckpt:
            append = {'epoch_num': p.cur_epoch_num, 'step_num': p.cur_step_num} if mode == 'train' else None
            save_checkpoint(net, path + '.ckpt', append_dict=append)
            logger.warning('asked to exit: saved %s.ckpt', path)
        if self.save_mindir:
            logger.warning_once('OnRequestExit: no MindIR file is written, export is not available yet; pass save_mindir=False to be quiet')
        run_context._request_exit()
