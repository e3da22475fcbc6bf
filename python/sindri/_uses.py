"""The optimizers that need the uses of their parameters (sindri.autograd.ParamUse), and the uses that gradient calls record for them.

A gradient call records uses if an optimizer of the parameters needs them for the next step. It passes them to that optimizer, which reads them in its
next update. So any step works: one of the training cells, a Cell of the script, or a loop around value_and_grad.

In a traced graph, the uses are passed inside the graph. Uses that no optimizer has read by the end of the trace become further outputs of the graph,
and every run passes them on (_compile). For a program without such an optimizer the cost is one check of an empty list.
"""
from __future__ import annotations

import threading
import weakref
from typing import Any, Iterable, Iterator, Optional

from sindri import _core
from sindri._core import Parameter, Tensor

__all__ = ["Query", "Steps", "Traced", "UsesTape", "ask", "drop", "due", "hand_over", "note", "scaled_by", "scope", "select", "watch", "watching"]

watching: list[Any] = []  # weak references to the optimizers that need uses or whose steps differ
_epoch = [0]  # advanced when that list changes


class _Scope(threading.local):
    """The state of this thread: what the current trace has recorded (None outside of traces), and the tapes that keep uses."""

    def __init__(self) -> None:
        self.pending: Optional[dict[int, tuple[Steps, frozenset[int], list[Any]]]] = None  # by Steps: uses not read yet, and their parameters
        self.updates: list[Steps] = []  # of the optimizers called in the trace
        self.queries: list[Query] = []  # queries of the trace's gradients
        self.tapes: list[UsesTape] = []


scope = _Scope()


class Steps:
    """The steps of one optimizer, as the host counts them, and the uses for its next update."""

    def __init__(self, optimizer: Any) -> None:
        self.owner = weakref.ref(optimizer, _forget)
        self.params = frozenset(id(p) for p in optimizer.parameters)
        self.number: Optional[int] = None  # of the next step; None: to be read from global_step
        self.selected = self.failed = False  # whether the optimizer has selected the variant of that step, or failed to
        self._taken: list[Any] = []

    def select(self) -> None:
        """Lets the optimizer select the variant of the next step."""
        optimizer = self.owner()
        if optimizer is not None and not self.selected:
            if self.number is None:
                self.number = optimizer._updates_so_far()
            optimizer.select_variant(self.number)

    def at(self, number: int) -> None:
        """Records that the variant of that step is selected."""
        self.number, self.selected, self.failed = number, True, False

    def updated(self) -> None:
        """Called after an update, or after the trace of one, which runs with every run of the graph."""
        if scope.pending is not None:
            scope.updates.append(self)
        else:
            self.done()

    def done(self) -> None:
        self._taken = []
        if self.number is not None:
            self.number += 1
        self.selected = self.failed = False

    def restart(self) -> None:
        """Continues counting from the optimizer's global_step, which is about to be loaded."""
        self.number, self.selected, self.failed = None, False, False

    def is_due(self) -> bool:
        optimizer = self.owner()
        return optimizer is not None and optimizer._wants_uses_now()

    def put(self, params: frozenset[int], uses: list[Any]) -> None:
        """Stores the uses of one gradient call; for each parameter the latest call counts."""
        if scope.pending is None:
            self._taken = [u for u in self._taken if id(u[0]) not in params] + uses
        else:
            _, before, held = scope.pending.get(id(self), (self, frozenset(), []))
            scope.pending[id(self)] = (self, before | params, [u for u in held if id(u[0]) not in params] + uses)

    def take(self) -> list[Any]:
        """Returns the uses recorded since the latest update, as tuples of ParamUse's fields, and clears them."""
        if scope.pending is not None:
            return scope.pending.pop(id(self), (self, frozenset(), []))[2]
        held, self._taken = self._taken, []
        return held


class Traced:
    """Records a trace until end(): the uses of its gradients, and the optimizers that it calls."""

    def __init__(self, queries: list[Query]) -> None:
        self._before = (scope.pending, scope.updates, scope.queries, scope.tapes)
        self.updates: list[Steps] = []
        scope.pending, scope.updates, scope.queries, scope.tapes = {}, self.updates, queries, []

    def left(self) -> tuple[list[Any], list[Tensor]]:
        """Returns uses that no optimizer in the trace has read, in the form of hand_over, and their tensors."""
        found = [entry for entry in (scope.pending or {}).values() if entry[2]]
        forms = [(steps, params, [_form_of(use) for use in held]) for steps, params, held in found]
        return forms, [t for _, _, held in found for use in held for t in (*use[4], use[6], use[7]) if t is not None]

    def end(self) -> None:
        scope.pending, scope.updates, scope.queries, scope.tapes = self._before


def _form_of(use: Any) -> Any:
    """Returns a use with True in place of its tensors."""
    param, op, attrs, operand, operands, path, grad, scale = use
    return param, op, attrs, operand, (True,) * len(operands), path, None if grad is None else True, None if scale is None else True


def hand_over(left: list[Any], tensors: Iterator[Tensor]) -> None:
    """Passes the remaining uses of a trace to optimizers, with the tensors of a run."""
    for steps, params, held in left:
        uses = []
        for param, op, attrs, operand, operands, path, grad, scale in held:
            given = tuple([next(tensors) for _ in operands])
            uses.append((param, op, attrs, operand, given, path, None if grad is None else next(tensors), None if scale is None else next(tensors)))
        steps.put(params, uses)


def _forget(reference: Any) -> None:
    if reference in watching:
        watching.remove(reference)
    _epoch[0] += 1


def watch(optimizer: Any) -> Steps:
    """Registers an optimizer with the following gradient calls."""
    steps = Steps(optimizer)
    optimizer.__dict__["_cell_steps"] = steps
    watching.append(steps.owner)
    _epoch[0] += 1
    return steps


def _all() -> list[Steps]:
    return [o.__dict__["_cell_steps"] for o in [r() for r in watching] if o is not None]


def select() -> None:
    """Before an outermost call, lets optimizers select the variant of the next step. If one fails, its next update, if any, reports why."""
    if scope.pending is None:
        for steps in _all():
            if not steps.selected and not steps.failed:
                try:
                    steps.select()
                except Exception:
                    steps.failed = True
                    optimizer: Any = steps.owner()
                    if optimizer is not None and optimizer.current_variant is not None:
                        optimizer.current_variant = None


def drop(optimizer: Any) -> None:
    """At the end of a training step, discards the records of its gradient calls, which the next step does not use."""
    steps = optimizer.__dict__.get("_cell_steps")
    if steps is not None:
        steps.take()


class Query:
    """The optimizers of these parameters that need uses now: a graph with gradients depends on the answer."""

    def __init__(self, params: Iterable[Parameter]) -> None:
        self._params = tuple(params)
        self._ids = frozenset(map(id, self._params))
        self._epoch = -1
        self._relevant: list[Steps] = []
        self.answer = self._now()

    def _now(self) -> tuple[Steps, ...]:
        if self._epoch != _epoch[0]:
            self._epoch = _epoch[0]
            self._relevant = [s for s in _all() if not s.params.isdisjoint(self._ids)]
        return tuple([s for s in self._relevant if s.is_due()])

    def holds(self) -> bool:
        """Returns whether the answer is still the same."""
        return not watching and not self.answer or self._now() == self.answer

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Query) and self._ids == other._ids

    __hash__ = None  # type: ignore[assignment]


def due(params: Iterable[Parameter]) -> list[Steps]:
    """Returns the steps of the optimizers that need the uses of some of these parameters now."""
    params = list(params)
    return [s for s in _all() if any([id(p) in s.params for p in params]) and s.is_due()]


def ask(params: Any) -> bool:
    """Returns whether a gradient with respect to these parameters (a function returns them) must record their uses."""
    if scope.pending is None and not watching:
        return False
    if scope.pending is not None:
        query = Query(params())
        if query not in scope.queries:
            scope.queries.append(query)
        return bool(query.answer)
    select()
    return bool(due(params()))


class UsesTape(_core.Tape):
    """A tape that keeps uses, and records the loss scalers that scaled the loss while it was active."""

    def __init__(self) -> None:
        super().__init__(uses=True)
        self.scales: list[Parameter] = []

    def __enter__(self) -> UsesTape:
        super().__enter__()
        scope.tapes.append(self)
        return self

    def __exit__(self, *args: Any) -> None:
        scope.tapes.remove(self)
        super().__exit__(*args)

    def scale(self, seed: Optional[Tensor]) -> Optional[Tensor]:
        """Returns the factor of the gradients: the seed of the output, times the scale of a loss scaler. None if neither is known."""
        if len(self.scales) > 1:
            raise ValueError("the loss was multiplied by several loss scales | GradOperation | use one loss scaler")
        if seed is not None and seed.size != 1:  # of a loss with several elements, whose seeds are equal
            seed = _core.ops.slice(_core.ops.reshape(seed, (-1,)), (0,), (1,))
        if seed is not None and seed.shape:
            seed = _core.ops.reshape(seed, ())
        if not self.scales:
            return seed
        scale = self.scales[0].value()
        return scale if seed is None else _core.ops.mul(_core.ops.cast(seed, scale.dtype), scale)


def scaled_by(scale: Parameter) -> None:
    """Records that a loss scaler multiplies the loss by this Parameter's value."""
    for tape in scope.tapes:
        if not any(known is scale for known in tape.scales):
            tape.scales.append(scale)


def note(params: list[Parameter], uses: Any, loss_scale: Optional[Tensor]) -> None:
    """Passes the uses of one gradient call, as Tape.backward_with_uses returned them, to the optimizers that need them."""
    ids = frozenset(map(id, params))
    full = [(params[use[0]], *use[1:], loss_scale) for use in uses]
    for steps in due(params):
        steps.put(ids, [use for use in full if id(use[0]) in steps.params])
