"""Continues from the backup of an interrupted training run."""
import os
import stat
from typing import Any, Union

from sindri import _checkparam as validator
from sindri.train._utils import _make_directory
from sindri.train.callback._callback import Callback, RunContext
from sindri.train.serialization import load_checkpoint, load_param_into_net, save_checkpoint


class BackupAndRestore(Callback):
    """Saves the training network regularly and loads the backup at the start of the next run.

    The file is `<backup_dir>/backup.ckpt`.

    Args:
        backup_dir (str): The folder.
        save_freq (str, int): 'epoch' saves at the end of each epoch, a number after so many steps. Default: 'epoch'.
        delete_checkpoint (bool): Whether the file is deleted at the end of training. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `save_freq` is neither 'epoch' nor a positive number.

    Examples:
        >>> import tempfile
        >>> import sindri as ms
        >>> callback = ms.train.BackupAndRestore(tempfile.mkdtemp(), save_freq=100)
    """

    def __init__(self, backup_dir: str, save_freq: Union[str, int] = 'epoch', delete_checkpoint: bool = True):
        super().__init__()
        self.backup_dir = _make_directory(backup_dir, 'backup_dir')
        if save_freq != 'epoch':
            validator.check_positive_int(save_freq, 'save_freq', 'BackupAndRestore')
        self.save_freq = save_freq
        self.delete_checkpoint = validator.check_bool(delete_checkpoint, 'delete_checkpoint', 'BackupAndRestore')
        self.backup_file = os.path.join(self.backup_dir, 'backup.ckpt')

    def on_train_begin(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if os.path.exists(self.backup_file):
            saved = load_checkpoint(self.backup_file)
            epoch = int(saved.pop('epoch_num').asnumpy()) if 'epoch_num' in saved else 0
            load_param_into_net(p.train_network, saved)
            p.last_save_ckpt_epoch = epoch

    def on_train_step_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if self.save_freq != 'epoch' and p.cur_step_num % self.save_freq == 0:
            self._save(p)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        if self.save_freq == 'epoch':
            self._save(run_context.original_args())

    def on_train_end(self, run_context: RunContext) -> None:
        if self.delete_checkpoint and os.path.exists(self.backup_file):
            os.chmod(self.backup_file, stat.S_IWRITE)
            os.remove(self.backup_file)

    def _save(self, p: Any) -> None:
        save_checkpoint(p.train_network, self.backup_file, append_dict={'epoch_num': p.cur_epoch_num})
