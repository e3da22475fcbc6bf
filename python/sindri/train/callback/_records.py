"""Results of a training run by epoch: the record that Model.train and Model.fit return, and callbacks that write it for other tools."""
import csv
import math
import os
import time
from typing import Any, Dict, List, Optional

import numpy as np

from sindri import _checkparam as validator
from sindri._files import open_for_writing
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.communication.management import GlobalComm, get_rank
from sindri.train.callback._callback import Callback, RunContext, _loss_numbers
from sindri.train.callback._monitored import rate_held

_MOST_UNREAD = 100  # losses that are kept before they are read: a device is synchronised once


def _is_number(value: Any) -> bool:
    if isinstance(value, (Tensor, np.ndarray)):
        return value.size == 1 and value.dtype != bool
    return isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)


def _number(value: Any) -> float:
    return float(np.asarray(value.asnumpy() if isinstance(value, Tensor) else value).reshape(-1)[0])


def _loss_of(outputs: Any) -> Any:
    """Returns the part of a step's outputs that is kept until it is read; a large one is read at once."""
    loss = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs
    return _loss_numbers([loss])[0] if isinstance(loss, Tensor) and loss.size > 1 else loss


def _rate_of(optimizer: Any, step: int) -> Optional[float]:
    """Returns the learning rate of a step, counted from 1; None if it is computed or differs by group."""
    rate = rate_held(optimizer)
    table = rate if isinstance(rate, Parameter) else getattr(rate, 'learning_rate', None)
    if not isinstance(table, Parameter) or len(table.shape) > 1:
        return None
    rates = table.asnumpy().reshape(-1)
    return float(rates[min(step - 1, rates.size - 1)])


class _EpochValues(Callback):
    """Collects the values of each epoch and passes them to `_epoch`.

    They are `loss`, the mean over the epoch's steps with a finite loss, and the results of Model.fit's evaluation: `eval_loss` and the metrics by
    their names. Values that are not single numbers are passed unchanged.
    """

    _sum, _count = 0.0, 0

    def on_train_begin(self, run_context: RunContext) -> None:
        self._sum, self._count = 0.0, 0
        self._unread: List[Any] = []

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._unread.append(_loss_of(run_context.original_args().net_outputs))
        if len(self._unread) >= _MOST_UNREAD:
            self._read()

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if not self._count and not self._unread:  # a resumed run had trained all steps of the epoch before it stopped
            self._unread.append(_loss_of(p.net_outputs))
        self._read()
        values: Dict[str, Any] = {'loss': self._sum / self._count if self._count else math.nan}
        if p.get('metrics'):
            results = dict(p.get('eval_results') or {})
            if 'loss' in results:  # a metric of that name; here it is the mean of the training loss
                results.setdefault('eval_loss', results.pop('loss'))
                results.pop('loss', None)
            values.update(results)
        self._epoch(p, values)
        self._sum, self._count = 0.0, 0

    def state_dict(self) -> Dict[str, Any]:
        """Returns the sum and number of the epoch's losses so far."""
        self._read()
        return {'sum': self._sum, 'count': self._count}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Continues the mean of an interrupted epoch."""
        self._sum, self._count = float(state['sum']), int(state['count'])

    def _read(self) -> None:
        unread, self._unread = self._unread, []
        for loss in _loss_numbers(unread):
            if _is_number(loss) and math.isfinite(_number(loss)):
                self._sum += _number(loss)
                self._count += 1

    def _epoch(self, p: Any, values: Dict[str, Any]) -> None:
        raise NotImplementedError


class TrainingHistory(_EpochValues):
    """The values of a training run by epoch; `Model.train` and `Model.fit` return one.

    `history['loss']` is `history.history['loss']`. In MindSpore `train` and `fit` return None, and the callback `History` keeps the last step's output
    instead of the mean.

    Attributes:
        epoch (list[int]): The numbers of the epochs, from 1.
        history (dict[str, list]): Lists as long as `epoch`: `loss`, the mean over the steps of the epoch (in sink mode over the last step of each
            chunk); for `fit` also `eval_loss` and each metric by its name, with NaN for epochs without an evaluation.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> from sindri import nn
        >>> x, y = np.ones((4, 1), np.float32), np.full((4, 1), 2, np.float32)
        >>> data = ms.dataset.NumpySlicesDataset((x, y), ['data', 'label'], shuffle=False).batch(2)
        >>> net = nn.Dense(1, 1, 'zeros', has_bias=False)
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25), metrics={'mae'})
        >>> history = model.fit(2, data, data)
        >>> history.epoch, history['loss'], history['mae']
        ([1, 2], [2.5, 0.15625], [0.5, 0.125])
    """

    def __init__(self) -> None:
        self.epoch: List[int] = []
        self.history: Dict[str, List[Any]] = {}

    def __getitem__(self, name: str) -> List[Any]:
        if name not in self.history:
            raise KeyError(f"no '{name}' in the history, which has {', '.join(self.history) or 'no epochs'}")
        return self.history[name]

    def __repr__(self) -> str:
        last = ', '.join(f'{name} {_number(values[-1]):.4g}' for name, values in self.history.items() if _is_number(values[-1]))
        return f'TrainingHistory({len(self.epoch)} epoch{"" if len(self.epoch) == 1 else "s"}{": last " + last if last else ""})'

    def _epoch(self, p: Any, values: Dict[str, Any]) -> None:
        for name in values:
            self.history.setdefault(name, [math.nan] * len(self.epoch))
        self.epoch.append(int(p.cur_epoch_num))
        for name, of_epochs in self.history.items():
            value = values.get(name, math.nan)
            of_epochs.append(_number(value) if _is_number(value) else value)


class _Logger(_EpochValues):
    """Base of callbacks that write for other tools. Only rank 0 writes. A subclass defines `_open(p)`, `_write(step, values)` and `_close(ended)`, where
    `ended` says whether the run was completed."""

    def __init__(self, every_steps: int):
        self._every = validator.check_non_negative_int(every_steps, 'every_steps', type(self).__name__)
        self._active = False

    def on_train_begin(self, run_context: RunContext) -> None:
        super().on_train_begin(run_context)
        p = run_context.original_args()
        if GlobalComm.INITED and get_rank() != 0:
            return
        self._epoch_start = time.time()
        self._seen = int(p.cur_step_num)
        self._ended = False
        self._open(p)
        self._active = True

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        super().on_train_epoch_begin(run_context)
        self._epoch_start = time.time()

    def on_train_step_end(self, run_context: RunContext) -> None:
        super().on_train_step_end(run_context)
        p = run_context.original_args()
        step, before, self._seen = int(p.cur_step_num), self._seen, int(p.cur_step_num)
        if not self._active or self._every == 0 or step // self._every == before // self._every:
            return
        loss = _loss_numbers([p.net_outputs])[0]
        values = {'step_loss': _number(loss)} if _is_number(loss) else {}
        rate = _rate_of(p.get('optimizer'), step)
        self._write(p, {**values, **({} if rate is None else {'lr': rate})})

    def _epoch(self, p: Any, values: Dict[str, Any]) -> None:
        if not self._active:
            return
        row = {name: _number(value) for name, value in values.items() if _is_number(value)}
        rate = _rate_of(p.get('optimizer'), int(p.cur_step_num))
        if rate is not None:
            row['lr'] = rate
        self._write(p, {'epoch': int(p.cur_epoch_num), **row, 'epoch_seconds': time.time() - self._epoch_start})

    def on_train_end(self, run_context: RunContext) -> None:
        self._ended = True

    def __exit__(self, *err: Any) -> None:
        if self._active:
            self._active = False
            self._close(self._ended and err[:1] in ((), (None,)))

    def _open(self, p: Any) -> None:
        raise NotImplementedError

    def _write(self, p: Any, values: Dict[str, Any]) -> None:
        raise NotImplementedError

    def _close(self, ended: bool) -> None:
        raise NotImplementedError


class CSVLogger(_Logger):
    """Writes a CSV file with a row per epoch.

    Columns: step, epoch, loss (the mean over its steps), lr, epoch_seconds, and for `Model.fit` eval_loss and the metrics. The header has the columns of
    the first row; a column that appears later (the first evaluation in epoch 2) widens it, with empty fields above. The file is complete after
    each row.

    Args:
        path (str): The file to write. Its folder is created.
        append (bool): Whether to keep the rows of an existing file, for a resumed run: rows from the first new epoch on are replaced. Otherwise
            the file is replaced. Default: False.
        every_steps (int): Also write a row with `step_loss` every this number of steps; 0 writes none. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, or `append` names a file that is not a CSV file of this class.
        OSError: If the file cannot be written.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> import sindri as ms
        >>> from sindri import nn
        >>> x, y = np.ones((4, 1), np.float32), np.full((4, 1), 2, np.float32)
        >>> data = ms.dataset.NumpySlicesDataset((x, y), ['data', 'label'], shuffle=False).batch(2)
        >>> net, path = nn.Dense(1, 1, 'zeros', has_bias=False), os.path.join(tempfile.mkdtemp(), 'run.csv')
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> history = model.train(1, data, callbacks=ms.train.callback.CSVLogger(path))
        >>> with open(path) as file:
        ...     print(file.readline().strip())
        step,epoch,loss,lr,epoch_seconds
    """

    def __init__(self, path: Any, append: bool = False, every_steps: int = 0):
        super().__init__(every_steps)
        self._path = os.fspath(validator.check_value_type('path', path, [str, os.PathLike], 'CSVLogger'))
        self._append = validator.check_bool(append, 'append', 'CSVLogger')
        self._columns: List[str] = []
        self._rows: List[Dict[str, str]] = []

    def _open(self, p: Any) -> None:
        self._columns, self._rows = [], []
        os.makedirs(os.path.dirname(os.path.abspath(self._path)), exist_ok=True)
        if self._append and os.path.exists(self._path) and os.path.getsize(self._path) > 0:
            with open(self._path, newline='', encoding='utf-8') as file:
                reader = csv.DictReader(file)
                self._columns = list(reader.fieldnames or [])
                if self._columns[:1] != ['step']:
                    raise ValueError(f"CSVLogger: {self._path} does not begin with a column 'step' | give another path, or append=False")
                self._rows = [{name: row.get(name) or '' for name in self._columns} for row in reader]
            done = int(p.cur_step_num)
            self._rows = [row for row in self._rows if row['step'].isdigit() and int(row['step']) <= done]
        self._rewrite()

    def _write(self, p: Any, values: Dict[str, Any]) -> None:
        row = {'step': str(int(p.cur_step_num)), **{name: repr(value) for name, value in values.items()}}
        new = [name for name in row if name not in self._columns]
        # A run stopped between the row and the checkpoint after it ends the epoch once more.
        again = [old for old in self._rows if 'epoch' in row and old.get('epoch') == row['epoch']]
        self._rows = [old for old in self._rows if old not in again] + [row]
        if new or again:
            self._columns += new
            self._rewrite()
            return
        with open_for_writing(self._path, 'a', newline='', encoding='utf-8') as file:
            csv.DictWriter(file, self._columns, restval='', lineterminator='\n').writerow(row)

    def _rewrite(self) -> None:
        """Replaces the file atomically: a reader sees the old file or the new one."""
        part = self._path + '.part'
        with open_for_writing(part, 'w', newline='', encoding='utf-8') as file:
            if self._columns:
                writer = csv.DictWriter(file, self._columns, restval='', lineterminator='\n')
                writer.writeheader()
                writer.writerows(self._rows)
        os.replace(part, self._path)

    def _close(self, ended: bool) -> None:
        pass
