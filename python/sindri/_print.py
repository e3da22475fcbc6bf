"""print() in traced code: in every run the graph prints, in program order, what the eager code would print.

While Python code is traced on any thread, builtins.print is `_print`. A traced tensor has no values to format yet, so str() and repr() return a mark,
which the graph replaces by the values.
"""
from __future__ import annotations

import builtins
import re
import threading
from typing import Any, Callable, Optional

from sindri import _core
from sindri._core import DeviceError, Tensor

__all__ = ["Traced", "mark", "prints"]

_MARK = re.compile(r"<traced \[[\d, ]*\] \w+ #(\d+)(r?)>")
_lock = threading.Lock()
_tracing = 0  # traces in progress, of all threads
_builtin: Callable = builtins.print


class _Local(threading.local):
    def __init__(self) -> None:
        self.marked: Optional[dict[int, Tensor]] = None  # tensors formatted in the trace, by id; None outside of traces


_local = _Local()


class Traced:
    """The context of a trace: text printed inside becomes part of the graph."""

    def __enter__(self) -> None:
        global _tracing, _builtin
        self._outer, _local.marked = _local.marked, {}
        with _lock:
            if _tracing == 0 and builtins.print is not _print:
                _builtin, builtins.print = builtins.print, _print
            _tracing += 1

    def __exit__(self, *error: Any) -> None:
        global _tracing
        _local.marked = self._outer
        with _lock:
            _tracing -= 1
            if _tracing == 0 and builtins.print is _print:
                builtins.print = _builtin


def prints() -> bool:
    """Returns whether this thread traces a graph that includes its code's prints."""
    return _local.marked is not None and _core.is_tracing_graph()


def mark(t: Tensor, as_repr: bool) -> str:
    """Returns the mark that replaces the values of a traced tensor in a text."""
    if _local.marked is not None:
        _local.marked[t._id] = t._detached()
    return f"<traced {list(t.shape)} {t.dtype} #{t._id}{'r' if as_repr else ''}>"


def _print(*values: Any, sep: Optional[str] = " ", end: Optional[str] = "\n", file: Any = None, flush: bool = False) -> None:
    if not prints():
        return _builtin(*values, sep=sep, end=end, file=file, flush=flush)
    text = (" " if sep is None else sep).join([str(v) for v in values])
    known = _local.marked or {}
    found = {int(number): known[int(number)] for number, _ in _MARK.findall(text) if int(number) in known}

    places = {number: str(k) for k, number in enumerate(found)}
    template = _MARK.sub(lambda m: f"<{places[int(m[1])]}{m[2]}>" if int(m[1]) in places else m[0], text)

    def show(given: list[Tensor]) -> None:
        at = dict(zip(found, given))

        def values_of(m: re.Match) -> str:
            t = at.get(int(m[1]))
            return m[0] if t is None else repr(t) if m[2] else str(t)

        _builtin(_MARK.sub(values_of, text), end=end, file=file, flush=True if file is None else flush)

    try:
        _core.host_call(list(found.values()), hash((template, end, id(file), flush)), show)
    except DeviceError:  # the values are not on the host while a graph runs on a device
        what = "the values to print are asked for while a graph is traced"
        if not _core.leave_graph(what):
            raise _core.TracedValueError(what) from None
        _builtin(*values, sep=sep, end=end, file=file, flush=flush)
    return None
