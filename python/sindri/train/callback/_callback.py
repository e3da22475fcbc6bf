"""Callbacks: the base class, the run context they are given, and the list that calls them.

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
    """Keeps the network whose checkpoint is about to be saved. Parameters are always current, so nothing else follows from it."""
    global _cur_net
    _cur_net = net


class Callback:
    """Base class; a subclass overrides the hooks it needs. It is a context manager: `__enter__` before training, `__exit__` after it,
    also after an error. The hooks of 1.x (`step_end` …) run in training and in evaluation; `Model.fit` refuses classes that define them."""

    def __enter__(self) -> 'Callback':
        return self

    def __exit__(self, *err: Any) -> None:
        pass

    def state_dict(self) -> Dict[str, Any]:
        """What the callback needs in order to continue in a resumed run: numbers, str, None, Tensors, and lists and dicts of these. ModelCheckpoint
        saves it with the training state. Empty by default."""
        return {}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Takes back what `state_dict` returned, after `on_train_begin` of a run that continues from Model.load_training_state."""

    def begin(self, run_context: 'RunContext') -> None:
        """Before the first epoch."""

    def epoch_begin(self, run_context: 'RunContext') -> None:
        """Before an epoch."""

    def epoch_end(self, run_context: 'RunContext') -> None:
        """After an epoch."""

    def step_begin(self, run_context: 'RunContext') -> None:
        """Before a step, or a chunk of steps."""

    def step_end(self, run_context: 'RunContext') -> None:
        """After a step, or a chunk of steps."""

    def end(self, run_context: 'RunContext') -> None:
        """After the last epoch."""

    def on_train_begin(self, run_context: 'RunContext') -> None:
        """Before training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: 'RunContext') -> None:
        """Before an epoch of training."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: 'RunContext') -> None:
        """After an epoch of training."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: 'RunContext') -> None:
        """Before a step of training."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: 'RunContext') -> None:
        """After a step of training."""
        self.step_end(run_context)

    def on_train_end(self, run_context: 'RunContext') -> None:
        """After training."""
        self.end(run_context)

    def on_eval_begin(self, run_context: 'RunContext') -> None:
        """Before evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: 'RunContext') -> None:
        """Before the pass of an evaluation."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: 'RunContext') -> None:
        """After the pass of an evaluation."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context: 'RunContext') -> None:
        """Before a batch of an evaluation."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: 'RunContext') -> None:
        """After a batch of an evaluation."""
        self.step_end(run_context)

    def on_eval_end(self, run_context: 'RunContext') -> None:
        """After evaluation."""
        self.end(run_context)


class _InternalCallbackParam(dict):
    """The callback parameters: a dict whose entries are attributes too."""

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
        """Notes the current epoch and step as finished; kept beside the dict, for those who save after an interruption."""
        vars(self)['_done'] = (self.get('cur_epoch_num', 1), self.cur_step_num)

    def _last_done(self) -> tuple:
        """(epoch, step) of the last finished step; step 0 before the first."""
        return vars(self).get('_done', (1, 0))

    def _look_before_saves(self, look: Any) -> None:
        """`look` is called before anything of the training is saved: what a device has computed may be garbage that nobody has seen yet."""
        vars(self).setdefault('_looks', []).append(look)

    def _look(self) -> None:
        for look in vars(self).get('_looks', ()):
            look()


class RunContext:
    """What hooks get: the callback parameters and a way to stop. TypeError unless `original_args` is a dict."""

    def __init__(self, original_args: dict):
        if not isinstance(original_args, dict):
            raise TypeError(f"RunContext: 'original_args' must be a dict, got {type(original_args).__name__}")
        self._original_args = original_args
        self._stop_requested = False
        self._exits_at_once = False

    def original_args(self) -> Any:
        """The callback parameters: train_network, network, optimizer, cur_epoch_num, cur_step_num, batch_num, net_outputs, …"""
        return self._original_args

    def request_stop(self) -> None:
        """Ends training after the running step or chunk. An evaluation that is due at the end of this epoch still runs."""
        self._stop_requested = True

    def _request_exit(self) -> None:
        """Ends training as request_stop does, without the evaluation: somebody waits for the process to end. A resumed run makes up for it."""
        self._stop_requested = self._exits_at_once = True

    def get_stop_requested(self) -> bool:
        """Whether request_stop was called."""
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
    """Old hooks that a class from outside this package defines."""
    cls = type(callback)
    if cls.__module__.startswith('sindri.'):
        return []
    return [h for h in _OLD_HOOKS if getattr(cls, h) is not getattr(Callback, h)]


class _CallbackManager(Callback):
    """Calls every callback of a list, in its order. Their contexts are entered with this one's and left in reverse order."""

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
            except BaseException as e:  # every context is left, then the first error goes on
                if first is not None or err[0] is not None:
                    logger.error('%s.__exit__ raised %s: %s, beside the error that goes on', type(callback).__name__, type(e).__name__, e)
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
    """The loss as a Python float when it is one number (first of several outputs, mean of a vector), else the outputs themselves."""
    return _loss_numbers([net_outputs])[0]


def _loss_numbers(of_steps: List[Any]) -> List[Any]:
    """The same of several steps' outputs. A device is waited for once."""
    losses = [o[0] if isinstance(o, (tuple, list)) and o and isinstance(o[0], Tensor) else o for o in of_steps]
    at = [i for i, loss in enumerate(losses) if isinstance(loss, Tensor)]
    for i, values in zip(at, _core.arrays_of([losses[i] for i in at])):
        if values.size:
            losses[i] = float(values.mean())
    return losses
