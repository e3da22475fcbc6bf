"""Callbacks from functions."""
from typing import Callable, Optional

from sindri.train.callback._callback import Callback, RunContext


class LambdaCallback(Callback):
    """Calls functions with the run context; None leaves a hook empty.

    Args:
        on_train_epoch_begin (Callable): Called before an epoch of training. Default: None.
        on_train_epoch_end (Callable): Called after an epoch of training. Default: None.
        on_train_step_begin (Callable): Called before a step of training. Default: None.
        on_train_step_end (Callable): Called after a step of training. Default: None.
        on_train_begin (Callable): Called before training. Default: None.
        on_train_end (Callable): Called after training. Default: None.
        on_eval_epoch_begin (Callable): Called before the pass of an evaluation. Default: None.
        on_eval_epoch_end (Callable): Called after the pass of an evaluation. Default: None.
        on_eval_step_begin (Callable): Called before a batch of an evaluation. Default: None.
        on_eval_step_end (Callable): Called after a batch of an evaluation. Default: None.
        on_eval_begin (Callable): Called before evaluation. Default: None.
        on_eval_end (Callable): Called after evaluation. Default: None.

    Examples:
        >>> import sindri as ms
        >>> callback = ms.train.LambdaCallback(on_train_end=lambda run_context: print('done'))
        >>> callback.on_train_end(ms.train.RunContext({}))
        done
    """

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
