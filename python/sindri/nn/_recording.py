"""Recorded forward runs: for gradients computed around them, or for a following gradient call that reuses them."""
from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING, Any, Iterable, Optional

from sindri import _core
from sindri._compile import Flat, Graphs, State, clock, local, rebuild
from sindri._core import Parameter, Tensor

if TYPE_CHECKING:
    from sindri.nn.cell import Cell

__all__ = ["Form", "Inputs", "Recording", "tensors_in"]


def tensors_in(v: Any, out: list[Tensor]) -> list[Tensor]:
    """Appends the tensors in v to out, depth first."""
    if isinstance(v, Tensor):
        out.append(v)
    elif isinstance(v, (tuple, list)):
        for x in v:
            tensors_in(x, out)
    elif isinstance(v, dict):
        for x in v.values():
            tensors_in(x, out)
    return out


class Inputs:
    """The inputs of a differentiated run, as separate values.

    A tape identifies tensors by their value. Without separate values, these would share one gradient: two inputs that are the same tensor,
    an input that the function also captures from its surroundings, and an input that is a Parameter's value. So the function receives
    fresh tensors for the floating-point inputs. They are not copies, and surrounding tapes pass gradients through them. Parameters are
    recognised and passed unchanged.
    """

    __slots__ = ("args", "wanted", "_floats", "_own", "_kept", "_time")

    def __init__(self, args: tuple[Any, ...]) -> None:
        plain = all([type(a) is Tensor for a in args])  # the common case: no nested values
        given = args if plain else Flat(args, {}).tensors
        self._floats = [t for t in given if t.dtype.is_floating]
        self._own = tuple([_core.fresh_leaf(t) for t in self._floats])
        # For the gradients: if the function changes an argument in place, the result is no longer the input.
        self._kept = tuple([t._detached() for t in self._own])
        if plain and len(self._own) == len(args):
            self.args, self.wanted = self._own, self._kept
        else:
            self.args, self.wanted = self._among(args, given, self._own), self._among(args, given, self._kept)
        self._time = clock[0]

    def _among(self, args: tuple[Any, ...], given: Iterable[Tensor], own: tuple[Tensor, ...]) -> tuple[Any, ...]:
        """Returns the arguments with `own` in place of the floating-point tensors."""
        if not own:
            return args
        it = iter(own)
        tensors = iter([next(it) if t.dtype.is_floating else t for t in given])
        return tuple([rebuild(a, tensors) for a in args])

    def write_back(self) -> None:
        """Applies the function's in-place changes to the caller's tensors."""
        if self._time != clock[0]:
            for t, own, kept in zip(self._floats, self._own, self._kept):
                if own._id != kept._id:
                    t._replace(own)


class Recording:
    """A forward run that a gradient call on the same Cell and inputs reuses instead of running it again.

    Inputs are the same if they have the values from before the run; the Cell and its Parameters must be as the run left them.
    """

    def __init__(self, cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.cell, self.args, self.kwargs = cell, args, kwargs  # keeps the arguments alive: the key holds their addresses
        self._key = _values_of(args)

    def done(self, tape: Optional[_core.Tape], output: Any, inputs: Any, graph: Optional[tuple[Form, Any, Any]] = None) -> None:
        """Stores the results of the finished run. For a run of a graph, `graph` is (form, values the run passed to it, function that returns
        whether the Cells are unchanged)."""
        self.tape, self.output, self.inputs = tape, output, inputs
        self.form: Optional[Form] = None
        self.given: Any = ()
        self._same: Any = None
        if graph is not None:
            form, self.given, self._same = graph
            self.form, self._versions, self._parameters = form, form.versions(), form.parameters
        else:
            self._state, self._parameters = State([self.cell]), list(self.cell.get_parameters())
        self._values = [p._id for p in self._parameters]

    def _unchanged(self) -> bool:
        if self._same is not None:
            return bool(self._same())
        return self._state.unchanged() or self._state.key == State([self.cell]).key

    def taken(self) -> tuple[Any, Any, Any]:
        """Returns (tape, output, inputs as the tape knows them)."""
        return (self.tape, self.output, self.inputs) if self.form is None else self.form.on(self.given)

    def matches(self, cell: Any, args: tuple[Any, ...]) -> bool:
        """Returns whether a gradient of the Cell at these inputs may reuse the run."""
        return (self.cell is cell and not self.kwargs and self._key == _values_of(args) and self._unchanged()
                and self._values == [p._id for p in self._parameters] and (self.form is None or self._versions == self.form.versions()))


def _values_of(args: tuple[Any, ...]) -> Any:
    """Returns a key of the arguments in which tensors are identified by their values."""
    flat = Flat(args, {})
    return flat.key, [t._id for t in flat.tensors], [p._id for p in flat.objects if isinstance(p, Parameter)]


def _own_tensors(v: Any) -> list[Tensor]:
    return [t for t in tensors_in(v, []) if not isinstance(t, Parameter)]


class Form:
    """The part shared by all recordings that a graph makes of a Cell's runs: the tape without its data, and the graphs of its gradients."""

    def __init__(self, form: _core.TapeForm, output: Any, outputs: Any, inputs: Any, wanted: Any, parameters: list[Parameter]) -> None:
        blank = itertools.repeat(Tensor(0))
        self._form, self._outputs, self._wanted = form, outputs, wanted  # tensors by identity only
        self._output, self._inputs = rebuild(output, blank), rebuild(inputs, blank)
        self.parameters = parameters  # of the Cell
        self._gradients: Any = weakref.WeakKeyDictionary()
        self.versions = form.versions  # identities of the Parameters' values that the gradients read again

    @classmethod
    def of(cls, run: Recording) -> Optional[tuple[Form, tuple[Tensor, ...]]]:
        """Returns (form of a run just traced, tensors that each run passes to it); None if only that tape can be used."""
        made = run.tape.form(_own_tensors(run.output), _own_tensors(run.inputs)) if run.tape is not None else None
        if made is None:
            return None
        form, given, outputs, wanted = made
        return cls(form, run.output, outputs, run.inputs, wanted, list(run.cell.get_parameters())), given

    def on(self, given: Any) -> tuple[Any, Any, Any]:
        """Returns what Recording.taken returns, for the values of a run."""
        tape, outputs, wanted = self._form.on(given, self._outputs, self._wanted)
        return tape, rebuild(self._output, iter(outputs)), rebuild(self._inputs, iter(wanted))

    def gradient(self, owner: Any, run: Any, name: str) -> Graphs:
        """Returns the graphs of run(*args), a gradient that reuses such a recording, as a function of (values of the run, *args). They live as
        long as `owner`."""
        graphs = self._gradients.get(owner)
        if graphs is None:
            def taking_over(given: Any, *args: Any, **kwargs: Any) -> Any:
                ready = _Ready(*self.on(given))
                local.recorded.append(ready)
                try:
                    return run(*args, **kwargs)
                finally:
                    if ready in local.recorded:
                        local.recorded.remove(ready)

            graphs = self._gradients[owner] = Graphs(taking_over, name, whole=True)
        return graphs


class _Ready:
    """A recording that the next gradient reuses, whatever its inputs."""

    def __init__(self, *parts: Any) -> None:
        self.cell, self._parts = None, parts

    def taken(self) -> Any:
        return self._parts

    def matches(self, cell: Any, args: Any) -> bool:
        return True
