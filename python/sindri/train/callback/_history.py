"""Records the results of training."""
from typing import Any, Dict, List

import numpy as np

from sindri.common.tensor import Tensor
from sindri.train.callback._callback import Callback, RunContext


class History(Callback):
    """Records outputs and metrics at the end of each epoch.

    `epoch['epoch']` lists the epoch numbers, `history['net_output']` the network's outputs (a number, or arrays) at their ends; the metrics of
    `Model.fit` are added under their names.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> from sindri import nn
        >>> x, y = np.ones((4, 1), np.float32), np.full((4, 1), 2, np.float32)
        >>> data = ms.dataset.NumpySlicesDataset((x, y), ['data', 'label'], shuffle=False).batch(2)
        >>> net, record = nn.Dense(1, 1, 'zeros', has_bias=False), ms.train.History()
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> _ = model.train(2, data, callbacks=record)
        >>> record.epoch, record.history
        ({'epoch': [1, 2]}, {'net_output': [1.0, 0.0625]})
    """

    def __init__(self) -> None:
        super().__init__()
        self.history: Dict[str, List[Any]] = {}
        self.epoch: Dict[str, List[int]] = {'epoch': []}

    def begin(self, run_context: RunContext) -> None:
        self.epoch = {'epoch': []}
        run_context.original_args()['history'] = self

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Does nothing: an evaluation does not start a new record.

        Args:
            run_context (RunContext): The context of the run.
        """

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """Does nothing: the metrics are read at the end of the training epoch.

        Args:
            run_context (RunContext): The context of the run.
        """

    def epoch_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        self.epoch['epoch'].append(p.get('cur_epoch_num', 1))
        metrics = p.get('metrics') or {}
        outputs = p.net_outputs
        if isinstance(outputs, (tuple, list)):
            one = isinstance(outputs[0], Tensor) and outputs[0].size == 1
            outputs = outputs[0] if one else [o.asnumpy() for o in outputs if isinstance(o, Tensor)]
        if isinstance(outputs, Tensor):
            outputs = float(np.mean(outputs.asnumpy())) if outputs.size == 1 else outputs.asnumpy()
        for key, value in {'net_output': outputs, **metrics}.items():
            self.history.setdefault(key, []).append(value)
