"""The state of callbacks within the training state that ModelCheckpoint saves and Model.load_training_state loads."""
import json
from typing import Any, Dict, List, Tuple

from sindri import log as logger
from sindri.common.tensor import Tensor
from sindri.train.callback._callback import Callback

TENSOR_PREFIX = 'sindri.callback.'
_MARK = '__tensor__'


def _names_of(callbacks: List[Callback]) -> List[str]:
    """Returns a name for each callback: its class and, from the second of a class on, a number. The order among classes may change between runs."""
    seen: Dict[str, int] = {}
    names = []
    for c in callbacks:
        cls = type(c)
        name = f'{cls.__module__}.{cls.__qualname__}'
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f'{name}#{seen[name]}')
    return names


def states_of(callbacks: List[Callback]) -> Dict[str, Any]:
    """Returns the states of the callbacks that have one, by name."""
    out = {}
    for name, c in zip(_names_of(callbacks), callbacks):
        state = c.state_dict()
        if not isinstance(state, dict):
            raise TypeError(f'{type(c).__name__}.state_dict must return a dict, got {type(state).__name__}')
        if state:
            out[name] = state
    return out


def give_states(callbacks: List[Callback], states: Dict[str, Any]) -> None:
    """Passes every callback its saved state. A state without its callback is reported: the resumed run differs from an uninterrupted one."""
    names = _names_of(callbacks)
    for name, c in zip(names, callbacks):
        if name in states:
            c.load_state_dict(states[name])
    missing = sorted(set(states) - set(names))
    if missing:
        logger.warning('the training state holds the state of callbacks that this run does not have: %s | pass the same callbacks to continue as an '
                       'uninterrupted run would', ', '.join(missing))


def pack(states: Dict[str, Any]) -> Tuple[str, List[Tuple[str, Tensor]]]:
    """Returns the states as JSON, and their Tensors as entries of a checkpoint. Raises TypeError for other values."""
    tensors: List[Tuple[str, Tensor]] = []

    def plain(value: Any, where: str) -> Any:
        if isinstance(value, Tensor):
            tensors.append((f'{TENSOR_PREFIX}{len(tensors)}', value))
            return {_MARK: len(tensors) - 1}
        if isinstance(value, dict):
            return {str(k): plain(v, f'{where}[{k!r}]') for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(v, where) for v in value]
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise TypeError(f'{where} is a {type(value).__name__} | the state of a callback holds numbers, str, None, Tensors, and lists and dicts of these')

    return json.dumps({name: plain(state, f'the state of {name}') for name, state in states.items()}), tensors


def unpack(text: str, values: Dict[str, Tensor]) -> Dict[str, Any]:
    """Returns the states that `pack` wrote; `values` are the Tensors by entry name."""
    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            return values[f'{TENSOR_PREFIX}{value[_MARK]}'] if set(value) == {_MARK} else {k: whole(v) for k, v in value.items()}
        return [whole(v) for v in value] if isinstance(value, list) else value

    return whole(json.loads(text)) if text else {}
