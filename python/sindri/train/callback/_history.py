"""Keeps what training brought."""
from typing import Any, Dict, List

import numpy as np

from sindri.common.tensor import Tensor
from sindri.train.callback._callback import Callback, RunContext


class History(Callback):
    """`epoch['epoch']` lists epoch numbers; `history['net_output']` the network's outputs (a number, or arrays) at their ends; metrics of
    `Model.fit` are added under their names."""

    def __init__(self) -> None:
        super().__init__()
        self.history: Dict[str, List[Any]] = {}
        self.epoch: Dict[str, List[int]] = {'epoch': []}

    def begin(self, run_context: RunContext) -> None:
        self.epoch = {'epoch': []}
        run_context.original_args()['history'] = self

    def on_eval_begin(self, run_context: RunContext) -> None:
        """An evaluation does not start anew."""

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """The metrics are read at the end of the training epoch."""

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
