"""Callbacks: the base class, the run context that they receive, and the list that calls them.

    on_train_begin
      on_train_epoch_begin
        on_train_step_begin, step, on_train_step_end      (once per chunk when sinking in graph mode)
        [fit: on_eval_begin … on_eval_end]
      on_train_epoch_end
    on_train_end
"""
from typing import Any, Dict, List, Optional

from sindri import _core
from sindri import log as logger
from sindri.common.tensor import Tensor

# The hooks of 1.x, which the newer ones call by default.
_OLD_HOOKS = ('begin', 'epoch_begin', 'epoch_end', 'step_begin', 'step_end', 'end')
_cur_net: Any = None


def _set_cur_net(net: Any) -> None:
    """Stores the network whose checkpoint is about to be saved. Parameters are always current, so this has no other effect."""
    global _cur_net
    _cur_net = net


class Callback:
    """Base class of callbacks; a subclass overrides the hooks it needs. Each hook receives a RunContext.

    A callback is a context manager: `__enter__` is called before training and `__exit__` after it, also after an error. The hooks of 1.x
    (`step_end` …) run in training and in evaluation; `Model.fit` rejects classes that define them.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> from sindri import nn
        >>> class Steps(ms.train.Callback):
        ...     def on_train_step_end(self, run_context):
        ...         p = run_context.original_args()
        ...         print(p.cur_epoch_num, p.cur_step_num, p.net_outputs)
        >>> x, y = np.ones((4, 1), np.float32), np.full((4, 1), 2, np.float32)
        >>> data = ms.dataset.NumpySlicesDataset((x, y), ['data', 'label'], shuffle=False).batch(2)
        >>> net = nn.Dense(1, 1, 'zeros', has_bias=False)
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25))
        >>> history = model.train(1, data, callbacks=Steps())
        1 1 4.0
        1 2 1.0
    """

    def __enter__(self) -> 'Callback':
        return self

    def __exit__(self, *err: Any) -> None:
        pass

    def state_dict(self) -> Dict[str, Any]:
        """Returns the state that the callback needs to continue in a resumed run. ModelCheckpoint saves it with the training state.

        Returns:
            Dict of numbers, str, None, Tensors, and lists and dicts of these. Empty by default.
        """
        return {}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Restores the state that `state_dict` returned. It is called after `on_train_begin` of a run that continues from Model.load_training_state.

        Args:
            state (dict): The state.
        """

    def begin(self, run_context: 'RunContext') -> None:
        """Called before the first epoch.

        Args:
            run_context (RunContext): The context of the run.
        """

    def epoch_begin(self, run_context: 'RunContext') -> None:
        """Called before an epoch.

        Args:
            run_context (RunContext): The context of the run.
        """

    def epoch_end(self, run_context: 'RunContext') -> None:
        """Called after an epoch.

        Args:
            run_context (RunContext): The context of the run.
        """

    def step_begin(self, run_context: 'RunContext') -> None:
        """Called before a step, or a chunk of steps.

        Args:
            run_context (RunContext): The context of the run.
        """

    def step_end(self, run_context: 'RunContext') -> None:
        """Called after a step, or a chunk of steps.

        Args:
            run_context (RunContext): The context of the run.
        """

    def end(self, run_context: 'RunContext') -> None:
        """Called after the last epoch.

        Args:
            run_context (RunContext): The context of the run.
        """

    def on_train_begin(self, run_context: 'RunContext') -> None:
        """Called before training.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: 'RunContext') -> None:
        """Called before an epoch of training.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: 'RunContext') -> None:
        """Called after an epoch of training.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: 'RunContext') -> None:
        """Called before a step of training, or a chunk of steps.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: 'RunContext') -> None:
        """Called after a step of training, or a chunk of steps.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.step_end(run_context)

    def on_train_end(self, run_context: 'RunContext') -> None:
        """Called after training.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.end(run_context)

    def on_eval_begin(self, run_context: 'RunContext') -> None:
        """Called before evaluation.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: 'RunContext') -> None:
        """Called before the pass of an evaluation.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: 'RunContext') -> None:
        """Called after the pass of an evaluation.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context: 'RunContext') -> None:
        """Called before a batch of an evaluation.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: 'RunContext') -> None:
        """Called after a batch of an evaluation.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.step_end(run_context)

    def on_eval_end(self, run_context: 'RunContext') -> None:
        """Called after evaluation.

        Args:
            run_context (RunContext): The context of the run.
        """
        self.end(run_context)


class _InternalCallbackParam(dict):
    """The callback parameters: a dict whose entries are also attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the callback parameters have no '{name}' | known are {', '.join(sorted(map(str, self)))}") from None

    __setattr__ = dict.__setitem__

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(name) from None

    def _step_done(self) -> None:
        """Records the current epoch and step as finished; stored outside the dict, for callbacks that save after an interruption."""
        vars(self)['_done'] = (self.get('cur_epoch_num', 1), self.cur_step_num)

    def _last_done(self) -> tuple:
        """Returns (epoch, step) of the last finished step; step 0 before the first."""
        return vars(self).get('_done', (1, 0))

    def _look_before_saves(self, look: Any) -> None:
        """Registers `look`, which is called before anything of the run is saved: a device's results may be garbage that was not yet detected."""
        vars(self).setdefault('_looks', []).append(look)

    def _look(self) -> None:
        for look in vars(self).get('_looks', ()):
            look()


class RunContext:
    """The argument of hooks: the callback parameters and a way to stop.

    Args:
        original_args (dict): The callback parameters.

    Raises:
        TypeError: If `original_args` is not a dict.

    Examples:
        >>> import sindri as ms
        >>> context = ms.train.RunContext({'cur_epoch_num': 1})
        >>> context.request_stop()
        >>> context.get_stop_requested()
        True
    """

    def __init__(self, original_args: dict):
        if not isinstance(original_args, dict):
            raise TypeError(f"RunContext: 'original_args' must be a dict, got {type(original_args).__name__}")
        self._original_args = original_args
        self._stop_requested = False
        self._exits_at_once = False

    def original_args(self) -> Any:
        """Returns the callback parameters: train_network, network, optimizer, cur_epoch_num, cur_step_num, batch_num, net_outputs, …

        Returns:
            A dict whose entries are also attributes.
        """
        return self._original_args

    def request_stop(self) -> None:
        """Ends training after the current step or chunk. An evaluation that is due at the end of this epoch still runs."""
        self._stop_requested = True

    def _request_exit(self) -> None:
        """Ends training like request_stop, but without the evaluation, because the process should end soon. A resumed run catches up on it."""
        self._stop_requested = self._exits_at_once = True

    def get_stop_requested(self) -> bool:
        """Returns whether `request_stop` was called."""
        return self._stop_requested


def _list_of(callbacks: Any) -> List[Callback]:
    if callbacks is None:
        return []
    items = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
    for c in items:
        if not isinstance(c, Callback):
            raise TypeError(f"'callbacks' must be a Callback or a list of them, got {type(c).__name__} | derive from sindri.train.Callback")
    return list(items)


def _defined_old_hooks(callback: Callback) -> List[str]:
    """Returns the old hooks that a class outside this package defines."""
    cls = type(callback)
    if cls.__module__.startswith('sindri.'):
        return []
    return [h for h in _OLD_HOOKS if getattr(cls, h) is not getattr(Callback, h)]


class _CallbackManager(Callback):
    """Calls every callback of a list, in order. Their contexts are entered with this one's and left in reverse order."""

    def __init__(self, callbacks: Any):
        self._callbacks = _list_of(callbacks)
        self._entered: List[Callback] = []

    def __iter__(self) -> Any:
        return iter(self._callbacks)

    def __enter__(self) -> '_CallbackManager':
        try:
            for c in self._callbacks:
                entered = c.__enter__()
                if not isinstance(entered, Callback):
                    logger.warning("%s.__enter__ must return self; the object itself is used", type(c).__name__)
                self._entered.append(c)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *err: Any) -> None:
        first: Optional[BaseException] = None
        while self._entered:
            callback = self._entered.pop()
            try:
                callback.__exit__(*err)
            except BaseException as e:  # every context is left, then the first error is raised
                if first is not None or err[0] is not None:
                    logger.error('%s.__exit__ raised %s: %s, in addition to the error that is already raised', type(callback).__name__, type(e).__name__, e)
                first = first or e
        if first is not None and err[0] is None:
            raise first


def _forward(hook: str) -> Any:
    def call(self: _CallbackManager, run_context: RunContext) -> None:
        for c in self._callbacks:
            getattr(c, hook)(run_context)
    call.__name__ = hook
    return call


for _hook in [h for h in vars(Callback) if h.startswith('on_')] + list(_OLD_HOOKS):
    setattr(_CallbackManager, _hook, _forward(_hook))
del _hook


def _loss_number(net_outputs: Any) -> Any:
    """Returns the loss as a Python float if it is one number (the first of several outputs, the mean of a vector), else the outputs themselves."""
    return _loss_numbers([net_outputs])[0]


def _loss_numbers(of_steps: List[Any]) -> List[Any]:
    """Like _loss_number for the outputs of several steps. Waits for a device once."""
    losses = [o[0] if isinstance(o, (tuple, list)) and o and isinstance(o[0], Tensor) else o for o in of_steps]
    at = [i for i, loss in enumerate(losses) if isinstance(loss, Tensor)]
    for i, values in zip(at, _core.arrays_of([losses[i] for i in at])):
        if values.size:
            losses[i] = float(values.mean())
    return losses
