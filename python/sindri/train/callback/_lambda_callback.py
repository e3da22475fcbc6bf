"""Callbacks from plain functions."""
from typing import Callable, Optional

from sindri.train.callback._callback import Callback, RunContext


class LambdaCallback(Callback):
    """Calls the given functions with the run context; None leaves a hook empty."""

    def __init__(self, on_train_epoch_begin: Optional[Callable] = None, on_train_epoch_end: Optional[Callable] = None,
                 on_train_step_begin: Optional[Callable] = None, on_train_step_end: Optional[Callable] = None,
                 on_train_begin: Optional[Callable] = None, on_train_end: Optional[Callable] = None,
                 on_eval_epoch_begin: Optional[Callable] = None, on_eval_epoch_end: Optional[Callable] = None,
                 on_eval_step_begin: Optional[Callable] = None, on_eval_step_end: Optional[Callable] = None,
                 on_eval_begin: Optional[Callable] = None, on_eval_end: Optional[Callable] = None):
        super().__init__()
        given = {k: v for k, v in locals().items() if k.startswith('on_')}
        for name, function in given.items():
            setattr(self, name, function if function is not None else self._nothing)

    def _nothing(self, run_context: RunContext) -> None:
        pass
