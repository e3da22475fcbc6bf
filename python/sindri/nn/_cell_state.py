"""A Cell's buffers and its state by path: state_dict, load_state_dict and their hooks. The names are PyTorch's, as in MindSpore 2.x."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, NamedTuple, Optional, Tuple

from sindri._compile import clock
from sindri.common.hook_handle import HookHandle
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["STATE_HOOKS", "CellState", "ForwardHook", "IncompatibleKeys", "PreHook"]

_EXTRA = "_extra_state"
STATE_HOOKS = ("_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")


class IncompatibleKeys(NamedTuple):
    """The result of load_state_dict.

    Args:
        missing_keys (list): Keys of the Cell that the state lacks.
        unexpected_keys (list): Keys of the state that the Cell lacks.

    Examples:
        >>> import sindri as ms
        >>> found = ms.nn.Dense(2, 3).load_state_dict({}, strict=False)
        >>> found.missing_keys
        ['weight', 'bias']
    """

    missing_keys: List[str]
    unexpected_keys: List[str]


class PreHook:
    """A hook before construct in a uniform form: (cell, args, kwargs) -> (args, kwargs)."""

    def __init__(self, hook: Callable[..., Any], with_kwargs: bool):
        self._hook, self._with_kwargs = hook, with_kwargs

    def __call__(self, cell: Any, args: Any, kwargs: Any) -> Tuple[Any, Any]:
        if not self._with_kwargs:
            changed = self._hook(cell, args)
            return (args if changed is None else changed if isinstance(changed, tuple) else (changed,)), kwargs
        changed = self._hook(cell, args, kwargs)
        if changed is None:
            return args, kwargs
        if not isinstance(changed, tuple) or len(changed) != 2:
            raise RuntimeError(f"a forward pre-hook with kwargs must return None or (args, kwargs), got {type(changed).__name__} | {type(cell).__name__}")
        return changed


class ForwardHook:
    """A hook after construct in a uniform form: (cell, args, kwargs, output) -> output."""

    def __init__(self, hook: Callable[..., Any], with_kwargs: bool, always: bool):
        self._hook, self._with_kwargs, self.always = hook, with_kwargs, always

    def __call__(self, cell: Any, args: Any, kwargs: Any, output: Any) -> Any:
        changed = self._hook(cell, args, kwargs, output) if self._with_kwargs else self._hook(cell, args, output)
        return output if changed is None else changed


class CellState:
    """Base of Cell: sub-Cells by path, buffers and the state."""

    if TYPE_CHECKING:
        _params: OrderedDict[str, Any]
        _cells: OrderedDict[str, Any]

        def cells_and_names(self, cells: Any = None, name_prefix: str = "") -> Iterator[Tuple[str, Any]]: ...

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Calls a function with every Cell below this one, children first, and then with this Cell.

        Args:
            fn (Callable): `fn(cell)`.

        Returns:
            The Cell itself.

        Examples:
            >>> import sindri as ms
            >>> net = ms.nn.SequentialCell(ms.nn.Dense(2, 3), ms.nn.ReLU())
            >>> _ = net.apply(lambda cell: print(type(cell).__name__))
            Dense
            ReLU
            SequentialCell
        """
        for cell in self._cells.values():
            if cell is not None:
                cell.apply(fn)
        fn(self)
        return self

    def get_sub_cell(self, target: str) -> Any:
        """Returns the Cell at a dotted path.

        Args:
            target (str): The path; "" is this Cell.

        Returns:
            Cell.

        Raises:
            AttributeError: If the Cell does not exist.
        """
        cell: Any = self
        for name in target.split(".") if target else []:
            found = getattr(cell, name, None)
            if not hasattr(found, "cells_and_names"):
                raise AttributeError(f"{type(cell).__name__} has no Cell '{name}' | Cell.get_sub_cell('{target}')")
            cell = found
        return cell

    # Buffers: Tensors that are neither trained nor Parameters. The table says for each whether it belongs to the state.

    def _buffer_table(self) -> dict[str, bool]:
        return self.__dict__.get("_buffers", {})

    def register_buffer(self, name: str, tensor: Optional[Tensor], persistent: bool = True) -> None:
        """Registers a Tensor as a buffer: an attribute that is saved with the state but not trained.

        Assigning another Tensor to the attribute replaces the buffer.

        Args:
            name (str): The name of the attribute.
            tensor (Tensor): The Tensor, or None.
            persistent (bool): Whether the buffer is part of the state. Default: True.

        Raises:
            TypeError: If `name` is not a str, or `tensor` is neither a Tensor nor None, or is a Parameter.
            KeyError: If the name is empty, contains a dot or is in use.

        Examples:
            >>> import sindri as ms
            >>> net = ms.nn.Cell()
            >>> net.register_buffer("scale", ms.Tensor([2.0]))
            >>> list(net.state_dict())
            ['scale']
        """
        where = f"{type(self).__name__}.register_buffer"
        if not isinstance(name, str):
            raise TypeError(f"a buffer's name must be a str, got {type(name).__name__} | {where}")
        if not name or "." in name:
            raise KeyError(f"a buffer's name must not be empty or hold a dot, got {name!r} | {where}")
        table = self._buffer_table()
        if hasattr(self, name) and name not in table:
            raise KeyError(f"'{name}' is in use | {where} | use another name")
        if tensor is not None and (not isinstance(tensor, Tensor) or isinstance(tensor, Parameter)):
            raise TypeError(f"a buffer must be a Tensor or None, got {type(tensor).__name__} | {where}")
        clock[0] += 1
        self.__dict__.setdefault("_buffers", {})[name] = bool(persistent)
        object.__setattr__(self, name, tensor)

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[Tuple[str, Tensor]]:
        """Yields the buffers of this Cell and those below it, with their dotted paths.

        Args:
            prefix (str): The path of this Cell. Default: "".
            recurse (bool): Whether buffers of child Cells are included. Default: True.
            remove_duplicate (bool): Whether each buffer is yielded once. Default: True.

        Returns:
            Iterator of (path, Tensor).
        """
        seen: set[int] = set()
        for path, cell in self.cells_and_names(name_prefix=prefix) if recurse else [(prefix, self)]:
            for name in cell._buffer_table():
                buffer = cell.__dict__.get(name)
                if buffer is not None and not (remove_duplicate and id(buffer) in seen):
                    seen.add(id(buffer))
                    yield (f"{path}.{name}" if path else name), buffer

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yields each buffer once.

        Args:
            recurse (bool): Whether buffers of child Cells are included. Default: True.

        Returns:
            Iterator of Tensor.
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_buffer(self, target: str) -> Tensor:
        """Returns the buffer at a dotted path.

        Args:
            target (str): The path.

        Returns:
            Tensor, or None if None was registered.

        Raises:
            AttributeError: If the buffer does not exist.
        """
        path, _, name = target.rpartition(".")
        cell = self.get_sub_cell(path)
        if name not in cell._buffer_table():
            raise AttributeError(f"{type(cell).__name__} has no buffer '{name}' | Cell.get_buffer('{target}')")
        return cell.__dict__[name]

    # The state by path.

    def get_extra_state(self) -> Any:
        """Returns further values that belong to the state. A subclass that defines it also defines `set_extra_state`.

        Returns:
            The values.

        Raises:
            RuntimeError: If the subclass does not define it.
        """
        raise RuntimeError(f"{type(self).__name__} has no extra state | Cell.get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Restores the values that `get_extra_state` returned.

        Args:
            state: The values.

        Raises:
            RuntimeError: If the subclass does not define it.
        """
        raise RuntimeError(f"{type(self).__name__} has no extra state | Cell.set_extra_state")

    def _own_state(self) -> OrderedDict[str, Any]:
        own: OrderedDict[str, Any] = OrderedDict((name, p) for name, p in self._params.items() if p is not None)
        own.update((name, self.__dict__[name]) for name, kept in self._buffer_table().items() if kept and self.__dict__.get(name) is not None)
        return own

    def _has_extra(self) -> bool:
        return type(self).get_extra_state is not CellState.get_extra_state

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Returns the Parameters and persistent buffers of this Cell and all Cells below it by path.

        The dict holds the objects themselves: copy those that must not change.

        Args:
            *args: `destination`, `prefix` and `keep_vars` by position.
            destination (dict): A dict to fill and return. Default: None, a new one.
            prefix (str): Text before each path. Default: "".
            keep_vars (bool): Passed to the hooks; has no other effect. Default: False.

        Returns:
            Dict of path to Parameter or Tensor.

        Raises:
            TypeError: If an argument has another type.
            RuntimeError: If a post-hook returns a value.

        Examples:
            >>> import sindri as ms
            >>> list(ms.nn.BatchNorm2d(3).state_dict())
            ['moving_mean', 'moving_variance', 'gamma', 'beta']
        """
        given = dict(zip(("destination", "prefix", "keep_vars"), args))
        destination, prefix, keep_vars = given.get("destination", destination), given.get("prefix", prefix), given.get("keep_vars", keep_vars)
        for name, value, kind in (("destination", destination, dict), ("prefix", prefix, str), ("keep_vars", keep_vars, bool)):
            if not isinstance(value, kind) and not (name == "destination" and value is None):
                raise TypeError(f"{name} must be a {kind.__name__}, got {type(value).__name__} | Cell.state_dict")
        if destination is None:
            destination = OrderedDict()
        for hook in list(self._state_hooks("_state_dict_pre_hooks").values()):
            hook(self, prefix, keep_vars)
        for name, value in self._own_state().items():
            destination[prefix + name] = value
        if self._has_extra():
            destination[prefix + _EXTRA] = self.get_extra_state()
        for name, cell in self._cells.items():
            if cell is not None:
                cell.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in list(self._state_hooks("_state_dict_hooks").values()):
            if hook(self, destination, prefix, {}) is not None:
                raise RuntimeError(f"a state_dict post-hook must return None | {type(self).__name__}.state_dict")
        return destination

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> IncompatibleKeys:
        """Copies values into the Parameters and buffers at the same paths, cast to their types.

        Args:
            state_dict (Mapping): Path to Tensor, as `state_dict` returns it.
            strict (bool): Whether missing and unexpected keys are errors. Default: True.

        Returns:
            IncompatibleKeys (missing_keys, unexpected_keys).

        Raises:
            TypeError: If `state_dict` is not a mapping.
            RuntimeError: If shapes differ or, with `strict`, keys are missing or unexpected. Matching values have been copied by then.

        Examples:
            >>> import sindri as ms
            >>> net, other = ms.nn.Dense(2, 3), ms.nn.Dense(2, 3)
            >>> net.load_state_dict(other.state_dict())
            IncompatibleKeys(missing_keys=[], unexpected_keys=[])
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"state_dict must be a dict, got {type(state_dict).__name__} | Cell.load_state_dict")
        found, errors = IncompatibleKeys([], []), []  # type: ignore[var-annotated]
        self._load_part(dict(state_dict), "", found, errors)
        if strict:
            for what, keys in (("missing", found.missing_keys), ("unexpected", found.unexpected_keys)):
                if keys:
                    errors.insert(0, f"{what} keys: {', '.join(keys)}")
        if errors:
            raise RuntimeError(f"the state does not fit {type(self).__name__}: {'; '.join(errors)} | Cell.load_state_dict | "
                               "give the state of a network of the same form, or strict=False to load what both have")
        return found

    def _load_part(self, state: dict[str, Any], prefix: str, found: IncompatibleKeys, errors: List[str]) -> None:
        for hook in list(self._state_hooks("_load_state_dict_pre_hooks").values()):
            hook(self, state, prefix, {}, True, found.missing_keys, found.unexpected_keys, errors)
        own = self._own_state()
        for name, value in own.items():
            self._load_one(prefix + name, value, state, found, errors)
        extra = prefix + _EXTRA
        if self._has_extra() and extra in state:
            self.set_extra_state(state[extra])
        elif self._has_extra():
            found.missing_keys.append(extra)
        for key in state:
            first, *rest = key[len(prefix):].split(".", 1) if key.startswith(prefix) else ("", "")
            known = first in self._cells if rest else first in own or self._has_extra() and key == extra
            if key.startswith(prefix) and not known:
                found.unexpected_keys.append(key)
        for name, cell in self._cells.items():
            if cell is not None:
                below = f"{prefix}{name}."
                cell._load_part({key: value for key, value in state.items() if key.startswith(below)}, below, found, errors)
        for hook in list(self._state_hooks("_load_state_dict_post_hooks").values()):
            if hook(self, found) is not None:
                raise RuntimeError(f"a load_state_dict post-hook must return None; it may change the lists of keys | {type(self).__name__}")

    @staticmethod
    def _load_one(key: str, value: Any, state: dict[str, Any], found: IncompatibleKeys, errors: List[str]) -> None:
        if key not in state:
            found.missing_keys.append(key)
            return
        given = state[key]
        if not isinstance(given, Tensor):
            errors.append(f"'{key}' is a {type(given).__name__}, expected a Tensor")
        elif tuple(given.shape) != tuple(value.shape):
            errors.append(f"'{key}' has shape {list(given.shape)}, expected {list(value.shape)}")
        else:
            given = given if given.dtype == value.dtype else given.astype(value.dtype)
            value.set_data(given) if isinstance(value, Parameter) else value.assign_value(given)

    # Hooks of the state.

    def _state_hooks(self, table: str) -> Mapping[Any, Callable[..., Any]]:
        return self.__dict__.get(table, {})

    def _add_state_hook(self, table: str, hook: Any) -> HookHandle:
        if not callable(hook):
            raise TypeError(f"a hook must be callable, got {type(hook).__name__} | {type(self).__name__}")
        hooks: Any = self.__dict__.setdefault(table, OrderedDict())
        handle = HookHandle(hooks)
        hooks[handle] = hook
        return handle

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Registers `hook(cell, prefix, keep_vars)` to run before `state_dict` reads this Cell.

        Args:
            hook (Callable): The hook.

        Returns:
            HookHandle, whose `remove()` removes the hook.
        """
        return self._add_state_hook("_state_dict_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Registers `hook(cell, state, prefix, metadata)` to run after `state_dict` has read this Cell and those below it.

        Args:
            hook (Callable): The hook; it may change `state` and must return None.

        Returns:
            HookHandle, whose `remove()` removes the hook.
        """
        return self._add_state_hook("_state_dict_hooks", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Registers a hook to run before this Cell is loaded.

        Args:
            hook (Callable): `hook(cell, state, prefix, metadata, strict, missing_keys, unexpected_keys, errors)`; it may change `state` and
                the lists.

        Returns:
            HookHandle, whose `remove()` removes the hook.
        """
        return self._add_state_hook("_load_state_dict_pre_hooks", hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Registers `hook(cell, incompatible_keys)` to run after this Cell and those below it have been loaded.

        Args:
            hook (Callable): The hook; it may change the two lists and must return None.

        Returns:
            HookHandle, whose `remove()` removes the hook.
        """
        return self._add_state_hook("_load_state_dict_post_hooks", hook)
