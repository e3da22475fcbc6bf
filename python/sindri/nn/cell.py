"""Cell: the base class of all networks and layers (MindSpore: nn.Cell)."""
from __future__ import annotations

import functools
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional, ValuesView

from sindri import _compile, _core, _graph_key, _uses
from sindri._compile import Graphs, clock, local, outermost, run_eagerly
from sindri._core import Parameter, Tensor
from sindri._uses import watching
from sindri.common import dtype as mstype
from sindri.common.hook_handle import HookHandle
from sindri.common.no_effect import no_effect
from sindri.common.not_yet import not_yet
from sindri.common.parameter import PARAMETER_NAME_DEFAULT, ParameterTuple
from sindri.nn._cell_state import STATE_HOOKS, CellState, ForwardHook, PreHook
from sindri.nn._recording import Form, Inputs, Recording, tensors_in

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Cell", "GraphCell"]

_get_mode = _core.get_mode
_call_in_scope = _core.call_in_scope


def cast_tensors(v: Any, dtype: mstype.DType) -> Any:
    """Returns v with its floating-point tensors cast to dtype, also those in nested tuples, lists and dicts."""
    if isinstance(v, Tensor):
        return _core.cast_floating(v, dtype)
    if isinstance(v, (tuple, list)):
        return type(v)(cast_tensors(x, dtype) for x in v)
    if isinstance(v, dict):
        return {k: cast_tensors(x, dtype) for k, x in v.items()}
    return v


class Cell(CellState):
    """Base class of networks and layers.

    Child Cells and Parameters are assigned as attributes; `construct` is the forward function.

    Calling a Cell runs `construct` with its hooks, casts and recomputation applied. In GRAPH_MODE the outermost call is compiled
    (sindri/_compile.py). A new Cell is in inference mode. A subclass may define its gradient as `bprop(self, *inputs, out, dout)`.

    Args:
        auto_prefix (bool): Whether attaching a child renames its Parameters to `child.<name>`. Default: True.
        flags (dict): Attributes to set at the start. Default: None.

    Raises:
        AttributeError: If a Parameter or Cell is assigned, or the Cell is called, before `super().__init__()`.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> class Net(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.dense = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
        ...
        ...     def construct(self, x):
        ...         return self.dense(x)
        >>> net = Net()
        >>> print(net(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[6. 6.]]
        >>> [p.name for p in net.trainable_params()]
        ['dense.weight', 'dense.bias']
    """

    if TYPE_CHECKING:
        # For type checkers only: attributes are added and removed while a program runs. If this existed at run time, Python could not
        # cache attribute lookups.
        def __getattr__(self, name: str) -> Any: ...

    # Attributes that refer to no other graph.
    _unread_by_graphs: frozenset[str] = frozenset(("_cell_graphs", "_cell_scope", "_cell_slow", "_cell_native", "_cell_level_hooks", "_cell_level_amp",
                                                   "_cell_float_by_level", *STATE_HOOKS))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Corrects the error of a subclass's __getattr__ that calls super().__getattr__, which does not exist: it names the attribute looked up."""
        super().__init_subclass__(**kwargs)
        own = cls.__dict__.get("__getattr__")
        if own is None:
            return

        @functools.wraps(own)
        def __getattr__(self: Cell, name: str) -> Any:
            try:
                return own(self, name)
            except AttributeError as e:
                if name == "__getattr__" or not str(e).endswith("has no attribute '__getattr__'"):
                    raise
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

        setattr(cls, "__getattr__", __getattr__)

    def __init__(self, auto_prefix: bool = True, flags: Optional[dict[str, Any]] = None) -> None:
        d = self.__dict__
        d["_params"], d["_cells"], d["_tuples"] = OrderedDict(), OrderedDict(), {}
        d["_auto_prefix"], d["_cell_graphs"], d["_cell_scope"] = auto_prefix, None, type(self).__name__
        d["training"], d["requires_grad"], d["_phase"] = False, False, "predict"
        d["_to_float"], d["_amp"], d["_recompute"], d["_cell_slow"] = None, None, False, self._has_bprop()
        d["_cell_float_by_level"] = False  # whether a level of sindri.amp set _to_float, rather than the user
        d["_pre_hooks"], d["_hooks"], d["_backward_hooks"], d["_backward_pre_hooks"] = OrderedDict(), OrderedDict(), OrderedDict(), OrderedDict()
        d["cls_name"], d["param_prefix"] = type(self).__name__, ""
        if flags:
            self.add_flags(**flags)

    # Attributes.

    def __setattr__(self, name: str, value: Any) -> None:
        d = self.__dict__
        params, cells = d.get("_params"), d.get("_cells", {})
        if params is None:
            if isinstance(value, (Parameter, Cell)):
                raise AttributeError(f"'{name}' is assigned before super().__init__() | {type(self).__name__}.__init__ | call super().__init__() first")
            object.__setattr__(self, name, value)
            return
        clock[0] += 1
        if isinstance(value, Parameter):
            self._attach_parameter(name, value)
        elif isinstance(value, Cell):
            self._attach_cell(name, value)
        elif isinstance(value, ParameterTuple):
            for p in value:
                self._insert_parameter(p.name, p, self._is_free(p.name))
            d["_tuples"][name] = value
            object.__setattr__(self, name, value)
        elif name in params:
            self._assign_parameter(name, value)
        elif name in cells:
            if value is not None:
                raise TypeError(f"'{name}' is a Cell, it cannot become {type(value).__name__} | {type(self).__name__} | assign a Cell or None")
            cells[name] = None
            d[name] = None
        else:
            if isinstance(value, Tensor) and value.is_symbolic:
                # The tensor would outlive its graph; eagerly, an attribute can hold its value.
                what = f"attribute '{name}' is given a tensor"
                if not _core.leave_graph(what):
                    raise _core.TracedValueError(what)
            object.__setattr__(self, name, value)
            if name == "construct":
                d["_cell_graphs"] = None

    def _attach_parameter(self, name: str, value: Parameter) -> None:
        d = self.__dict__
        if name in d["_cells"]:
            raise TypeError(f"'{name}' is a Cell, it cannot become a Parameter | {type(self).__name__} | use another name")
        d.pop(name, None)
        if not name or "." in name:
            raise KeyError(f"a Parameter's name must not be empty or hold a dot, got {name!r} | {type(self).__name__} | use another name")
        self._insert_parameter(name, value, True)

    def _attach_cell(self, name: str, value: Cell) -> None:
        d = self.__dict__
        if name in d["_params"]:
            raise TypeError(f"'{name}' is a Parameter, it cannot become a Cell | {type(self).__name__} | use another name")
        d["_cells"][name] = value
        d[name] = value
        value.__dict__["_cell_scope"] = name
        if d["_auto_prefix"]:
            value.update_parameters_name(name + ".")

    def _assign_parameter(self, name: str, value: Any) -> None:
        d = self.__dict__
        p = d["_params"][name]
        if value is None:
            d["_params"][name] = d[name] = None
        elif p is None:
            raise TypeError(f"Parameter '{name}' was set to None, it cannot become {type(value).__name__} | {type(self).__name__} | assign a Parameter")
        elif isinstance(value, (Tensor, int, float)) and not isinstance(value, bool):
            p.assign(value)
        else:
            raise TypeError(f"'{name}' is a Parameter, it cannot become {type(value).__name__} | {type(self).__name__} | assign a Parameter, a Tensor or a number")

    def __delattr__(self, name: str) -> None:
        clock[0] += 1
        for table in ("_params", "_cells", "_tuples", "_buffers"):
            self.__dict__.get(table, {}).pop(name, None)
        object.__delattr__(self, name)

    # Calling.

    def construct(self, *inputs: Any, **kwargs: Any) -> Any:
        """Computes the outputs from the inputs; subclasses define it.

        Args:
            *inputs: The arguments of the call.
            **kwargs: The keyword arguments of the call.

        Returns:
            The outputs: a Tensor, or a nested tuple, list or dict of them.

        Raises:
            AttributeError: If the subclass does not define it.
        """
        raise AttributeError(f"{type(self).__name__} defines no construct | nn.Cell | define construct(self, ...)")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_params" not in self.__dict__:
            raise AttributeError(f"super().__init__() was not called | {type(self).__name__}.__init__ | call it first")
        if local.depth:
            return self._run(args, kwargs)
        if local.apart and local.seen is None:
            return self._call_apart(args, kwargs)
        if not outermost():
            if local.seen is not None:  # a graph is being traced and depends on this Cell
                local.seen.append(self)
                if self.training and not local.recording:
                    local.called.append(self)
                return self._run(args, kwargs)
            return self._nested(args, kwargs)  # under the user's tape
        local.recorded = []
        if _get_mode() == 0:
            return self._graphs().call(args, kwargs, root=self)
        return run_eagerly(self._run_unpacked, args, kwargs)

    def _call_apart(self, args: Any, kwargs: Any) -> Any:
        """Runs a call that comes from code running eagerly in GRAPH_MODE."""
        graphs = self._graphs()
        if graphs.small or not outermost() or not self._may_be_a_part():
            return self._nested(args, kwargs)
        if self.training and self.requires_grad:
            return self._recorded_apart(args, kwargs)
        return graphs.call_apart(args, kwargs, root=self)

    def _may_be_a_part(self) -> bool:
        """Returns whether nothing outside the state (see _unread_by_graphs) affects the next call."""
        return True

    def _nested(self, args: Any, kwargs: Any) -> Any:
        local.depth += 1
        try:
            return self._run(args, kwargs)
        finally:
            local.depth -= 1

    def _graphs(self) -> Any:
        g = self.__dict__["_cell_graphs"]
        if g is None:
            g = self.__dict__["_cell_graphs"] = Graphs(self._run_unpacked, type(self).__name__)
        return g

    def _run_unpacked(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(args, kwargs)

    def _run(self, args: Any, kwargs: Any) -> Any:
        if self.__dict__["_cell_slow"] or self.training and not local.recording and (self.requires_grad or self in local.marked):
            return self._construct_slow(args, kwargs)
        return _call_in_scope(self.__dict__["_cell_scope"], self.construct, args, kwargs)

    def _construct_slow(self, args: Any, kwargs: Any) -> Any:
        if self.training and not local.recording and (self.requires_grad or self in local.marked):
            return self._recorded_run(args, kwargs)
        return self._hooked_run(args, kwargs)

    def _hooked_run(self, args: Any, kwargs: Any) -> Any:
        for pre_hook in list(self._pre_hooks.values()):
            args, kwargs = pre_hook(self, args, kwargs)
        left = list(self._hooks.values())
        try:
            out = self._typed_run(args, kwargs)
            while left:
                out = left.pop(0)(self, args, kwargs, out)
        except Exception:
            for hook in left:
                if hook.always:
                    hook(self, args, kwargs, None)
            raise
        return out

    def _recorded_run(self, args: Any, kwargs: Any) -> Any:
        """Runs forward on a separate tape, which a following gradient call can reuse."""
        run, inputs = Recording(self, args, kwargs), Inputs(args)
        tape = _uses.UsesTape() if (watching or local.seen is not None) and _uses.ask(self.get_parameters) else _core.Tape()
        local.recording += 1
        local.tapes += 1
        try:
            with tape:
                out = self._hooked_run(inputs.args, kwargs)
        finally:
            local.recording -= 1
            local.tapes -= 1
        inputs.write_back()
        local.recorded = [r for r in local.recorded if r.cell is not self][-3:]
        run.done(tape, out, inputs.wanted)
        local.recorded.append(run)
        return out

    def _recorded_apart(self, args: Any, kwargs: Any) -> Any:
        """Like _recorded_run, for a part of an eager call: if the part is compiled, its graph returns what the tape needs."""
        run = Recording(self, args, kwargs)
        out = self._graphs().call_apart(args, kwargs, root=self, form_of=Form.of)
        made, local.made = local.made, None
        if made is not None:
            local.recorded = [r for r in local.recorded if r.cell is not self][-3:]
            run.done(*made)
            local.recorded.append(run)
        return out

    def _typed_run(self, args: Any, kwargs: Any) -> Any:
        """Runs construct with mixed precision, recomputation and the Cell's own gradient (bprop) applied."""
        if self._amp is not None:
            with _core.AmpScope(self._amp):
                out = self._run_in_own_type(args, kwargs)
            return cast_tensors(out, mstype.float32)
        return self._run_in_own_type(args, kwargs)

    def _run_in_own_type(self, args: Any, kwargs: Any) -> Any:
        run = self._run_bprop if self._has_bprop() else self._run_recomputed if self._recompute else self._run_scoped
        if self._to_float is not None:
            with _core.CellScope(type(self).__name__, self._to_float):
                return run(cast_tensors(args, self._to_float), kwargs)
        return run(args, kwargs)

    def _run_scoped(self, args: Any, kwargs: Any) -> Any:
        if _core.is_casting():
            with _core.CellScope(type(self).__name__):
                return _call_in_scope(self.__dict__["_cell_scope"], self.construct, args, kwargs)
        return _call_in_scope(self.__dict__["_cell_scope"], self.construct, args, kwargs)

    def _has_bprop(self) -> bool:
        return "bprop" in self.__dict__ or getattr(type(self), "bprop", None) is not None

    def _run_bprop(self, args: Any, kwargs: Any) -> Any:
        result = []

        def forward(tensors: Any) -> Any:
            result.append(self._run_scoped(_with_tensors(args, iter(tensors)), kwargs))
            return tensors_in(result[0], [])

        def rule(inputs: Any, outputs: Any, douts: Any) -> Any:
            douts = [d if d is not None else _core.ops.zeros_like(o) for d, o in zip(douts, outputs)]
            out, dout = _with_tensors(result_shape, iter(outputs)), _with_tensors(result_shape, iter(douts))
            grads = self.bprop(*_with_tensors(args, iter(inputs)), out, dout)
            grads = tensors_in(grads if isinstance(grads, tuple) else (grads,), [])
            if len(grads) != len(inputs):
                raise ValueError(f"bprop returned {len(grads)} gradients for {len(inputs)} inputs | {type(self).__name__}.bprop | return one per input")
            for i, (g, x) in enumerate(zip(grads, inputs)):
                if g is not None and g.shape != x.shape:
                    raise ValueError(f"bprop returned a gradient of shape {g.shape} for input {i} of shape {x.shape} | {type(self).__name__}.bprop | "
                                     "return each in its input's shape")
            return grads

        outputs = _core.custom_gradient(forward, tensors_in(args, []), rule)
        result_shape = result[0]
        return _with_tensors(result_shape, iter(outputs))

    def _run_recomputed(self, args: Any, kwargs: Any) -> Any:
        result = []
        params = list(self.get_parameters())

        def forward(tensors: Any) -> Any:
            result.append(self._run_scoped(_with_tensors(args, iter(tensors)), kwargs))
            return tensors_in(result[-1], [])

        outputs = _core.recompute(forward, tensors_in(args, []), params, type(self).__name__)
        return _with_tensors(result[0], iter(outputs))

    # The tree.

    def insert_param_to_cell(self, param_name: str, param: Optional[Parameter], check_name_contain_dot: bool = True) -> None:
        """Adds a Parameter under a name.

        The Parameter also becomes an attribute unless the name contains a dot.

        Args:
            param_name (str): The name.
            param (Parameter): The Parameter, or None to reserve the name.
            check_name_contain_dot (bool): Whether a name with a dot is an error. Default: True.

        Raises:
            KeyError: If the name is not a non-empty str, contains a dot or is in use.
            TypeError: If `param` is neither a Parameter nor None.

        Examples:
            >>> import sindri as ms
            >>> net = ms.nn.Cell()
            >>> net.insert_param_to_cell("bias", ms.Parameter(ms.Tensor([1.0, 2.0])))
            >>> print(net.bias.asnumpy())
            [1. 2.]
        """
        if not isinstance(param_name, str) or not param_name:
            raise KeyError(f"a Parameter's name must be a str that is not empty, got {param_name!r} | {type(self).__name__}")
        if check_name_contain_dot and "." in param_name:
            raise KeyError(f"the name '{param_name}' holds a dot | {type(self).__name__} | use another name")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"expected a Parameter, got {type(param).__name__} | {type(self).__name__}.insert_param_to_cell")
        if not self._is_free(param_name):
            raise KeyError(f"'{param_name}' is in use | {type(self).__name__}.insert_param_to_cell | use another name")
        self._insert_parameter(param_name, param, True)

    def _is_free(self, name: str) -> bool:
        """Returns whether the name is unused or names a Parameter, which a new one replaces."""
        return name in self._params or name not in self.__dict__ and not hasattr(type(self), name)

    def _insert_parameter(self, name: str, param: Optional[Parameter], as_attribute: bool) -> None:
        if param is not None and param.name == PARAMETER_NAME_DEFAULT:
            param.name = name
        clock[0] += 1
        self._params[name] = param
        if as_attribute and "." not in name:
            self.__dict__[name] = param

    def insert_child_to_cell(self, child_name: str, child_cell: Optional[Cell]) -> None:
        """Adds a child Cell under a name; its Parameters keep their names.

        Args:
            child_name (str): The name, which becomes an attribute.
            child_cell (Cell): The child, or None to reserve the name.

        Raises:
            KeyError: If the name is not a non-empty str or is in use.
            TypeError: If `child_cell` is neither a Cell nor None.
        """
        if not isinstance(child_name, str) or not child_name:
            raise KeyError(f"a child's name must be a str that is not empty, got {child_name!r} | {type(self).__name__}")
        if child_name in self.__dict__ and child_name not in self._cells or child_name in self._cells:
            raise KeyError(f"'{child_name}' is in use | {type(self).__name__}.insert_child_to_cell | use another name")
        if child_cell is not None and not isinstance(child_cell, Cell):
            raise TypeError(f"expected a Cell, got {type(child_cell).__name__} | {type(self).__name__}.insert_child_to_cell")
        clock[0] += 1
        self._cells[child_name] = child_cell
        self.__dict__[child_name] = child_cell

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Renames every Parameter to `prefix` followed by its path from this Cell.

        Args:
            prefix (str): The prefix, with its dot. Default: "".
            recurse (bool): Whether Parameters of child Cells are renamed too. Default: True.

        Raises:
            TypeError: If `prefix` is not a str.

        Examples:
            >>> import sindri as ms
            >>> net = ms.nn.SequentialCell(ms.nn.Dense(2, 3))
            >>> net.update_parameters_name("encoder.")
            >>> [p.name for p in net.get_parameters()]
            ['encoder.0.weight', 'encoder.0.bias']
        """
        if not isinstance(prefix, str):
            raise TypeError(f"prefix must be a str, got {prefix!r} | Cell.update_parameters_name")
        for name, p in list(self.parameters_and_names(expand=recurse)):
            p.name = prefix + name

    def update_cell_prefix(self) -> None:
        """Sets `param_prefix` of this Cell and all Cells below it to their paths."""
        for name, cell in self.cells_and_names():
            cell.__dict__["param_prefix"] = name

    def cells_and_names(self, cells: Optional[set[Cell]] = None, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """Yields this Cell and each Cell below it once, with its dotted path.

        Args:
            cells (set): Cells to skip; visited Cells are added to it. Default: None.
            name_prefix (str): The path of this Cell. Default: "".

        Returns:
            Iterator of (path, Cell).

        Examples:
            >>> import sindri as ms
            >>> net = ms.nn.SequentialCell(ms.nn.Dense(2, 3), ms.nn.ReLU())
            >>> [path for path, _ in net.cells_and_names()]
            ['', '0', '1']
        """
        seen = cells if cells is not None else set()
        if self in seen:
            return
        seen.add(self)
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell is not None:
                yield from cell.cells_and_names(seen, f"{name_prefix}.{name}" if name_prefix else name)

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Yields each Parameter once with its dotted path, in definition order.

        Args:
            name_prefix (str): The path of this Cell. Default: "".
            expand (bool): Whether Parameters of child Cells are included. Default: True.

        Returns:
            Iterator of (path, Parameter).

        Examples:
            >>> import sindri as ms
            >>> net = ms.nn.SequentialCell(ms.nn.Dense(2, 3))
            >>> [(path, p.shape) for path, p in net.parameters_and_names()]
            [('0.weight', (3, 2)), ('0.bias', (3,))]
        """
        seen = set()
        for path, cell in self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]:
            for name, p in cell._params.items():
                if p is not None and id(p) not in seen:
                    seen.add(id(p))
                    yield (f"{path}.{name}" if path else name), p

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """Yields each Parameter once, in definition order.

        Args:
            expand (bool): Whether Parameters of child Cells are included. Default: True.

        Returns:
            Iterator of Parameter.
        """
        for _, p in self.parameters_and_names(expand=expand):
            yield p

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Returns the Parameters that require a gradient, in definition order.

        Args:
            recurse (bool): Whether Parameters of child Cells are included. Default: True.

        Returns:
            List of Parameter.

        Examples:
            >>> import sindri as ms
            >>> norm = ms.nn.BatchNorm2d(3)
            >>> [p.name for p in norm.trainable_params()]
            ['gamma', 'beta']
        """
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Returns the Parameters that do not require a gradient, in definition order.

        Args:
            recurse (bool): Whether Parameters of child Cells are included. Default: True.

        Returns:
            List of Parameter.

        Examples:
            >>> import sindri as ms
            >>> norm = ms.nn.BatchNorm2d(3)
            >>> [p.shape for p in norm.untrainable_params()]
            [(3,), (3,)]
        """
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """Returns the Parameters by name.

        Args:
            recurse (bool): Whether Parameters of child Cells are included. Default: True.

        Returns:
            OrderedDict of name to Parameter.
        """
        return OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse))

    def parameters_broadcast_dict(self, recurse: bool = True) -> Optional[OrderedDict[str, Parameter]]:
        """Returns the Parameters that are not layerwise parallel, by name.

        Args:
            recurse (bool): Whether Parameters of child Cells are included. Default: True.

        Returns:
            OrderedDict of name to Parameter; None if there are none.
        """
        out = OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse) if not p.layerwise_parallel)
        return out or None

    def cells(self) -> ValuesView[Cell]:
        """Returns a view of the direct children."""
        return self.name_cells().values()

    def name_cells(self) -> OrderedDict[str, Cell]:
        """Returns the direct children by name, each Cell once.

        Returns:
            OrderedDict of name to Cell.
        """
        out: OrderedDict[str, Cell] = OrderedDict()
        seen = set()
        for name, cell in self._cells.items():
            if cell is not None and cell not in seen:
                seen.add(cell)
                out[name] = cell
        return out

    def get_scope(self) -> Optional[str]:
        """Returns the name of this Cell in messages."""
        return self.__dict__["_cell_scope"]

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> Any:
        """Does nothing: Parameters are initialised when they are created.

        Args:
            auto_parallel_mode (bool): Ignored. Default: False.

        Returns:
            Dict that maps each Parameter to itself.
        """
        return {p: p for p in self.get_parameters()}

    # Modes and marks.

    def set_train(self, mode: bool = True) -> Self:
        """Sets this Cell and all Cells below it to training or inference mode.

        Args:
            mode (bool): True for training, False for inference. Default: True.

        Returns:
            The Cell itself.

        Examples:
            >>> import sindri as ms
            >>> net = ms.nn.SequentialCell(ms.nn.Dropout(p=0.5))
            >>> net.training, net.set_train().training, net[0].training
            (False, True, True)
        """
        for _, cell in self.cells_and_names():
            if cell.training != bool(mode):
                clock[0] += 1
            cell.__dict__["training"], cell.__dict__["_phase"] = bool(mode), "train" if mode else "predict"
        return self

    def set_grad(self, requires_grad: bool = True) -> Self:
        """Announces that gradients of this Cell will be computed, so that its calls in training mode are recorded.

        Args:
            requires_grad (bool): Whether calls are recorded. Applies to all Cells below too. Default: True.

        Returns:
            The Cell itself.
        """
        for _, cell in self.cells_and_names():
            if cell.requires_grad != bool(requires_grad):
                clock[0] += 1
            cell.__dict__["requires_grad"] = bool(requires_grad)
        return self

    def to_float(self, dst_type: mstype.DType) -> Self:
        """Runs this Cell and all Cells below it in another floating-point type.

        This type overrides that of the amp level, whether the level is set before or after. (In MindSpore, levels O2 and O3 set afterwards
        overwrite it.)

        Args:
            dst_type (DType): float16, bfloat16 or float32.

        Returns:
            The Cell itself.

        Raises:
            ValueError: If `dst_type` is another type.

        Examples:
            >>> import sindri as ms
            >>> net = ms.nn.Dense(2, 3).to_float(ms.float16)
            >>> net(ms.Tensor([[1.0, 2.0]])).dtype
            Float16
        """
        if dst_type not in (mstype.float16, mstype.float32, mstype.bfloat16):
            raise ValueError(f"expected float16, bfloat16 or float32, got {dst_type} | {type(self).__name__}.to_float")
        clock[0] += 1
        for _, cell in self.cells_and_names():
            cell.__dict__["_to_float"], cell.__dict__["_cell_float_by_level"], cell.__dict__["_cell_slow"] = dst_type, False, True
        return self

    def set_amp(self, options: Any) -> Self:
        """Runs this Cell with amp options; its outputs are cast to float32.

        Args:
            options (AmpOptions): The options (`sindri._core.AmpOptions`), or None for none.

        Returns:
            The Cell itself.
        """
        clock[0] += 1
        if options is not None:
            options.check([type(c).__name__ for _, c in self.cells_and_names()])
            for _, cell in self.cells_and_names():
                cell.__dict__["_cell_slow"] = True  # its class may be in a list of the options
        self.__dict__["_amp"] = options
        return self

    def recompute(self, **kwargs: Any) -> Self:
        """Recomputes the intermediate values of this Cell in the backward pass instead of storing them.

        This reduces memory and costs a second forward pass.

        Args:
            **kwargs: `mp_comm_recompute`, `parallel_optimizer_comm_recompute` and `recompute_slice_activation`, which concern parallel runs;
                ignored.

        Returns:
            The Cell itself.

        Raises:
            ValueError: If another keyword is given.
        """
        for key in kwargs:
            if key not in ("mp_comm_recompute", "parallel_optimizer_comm_recompute", "recompute_slice_activation"):
                raise ValueError(f"unknown keyword '{key}' | Cell.recompute")
        clock[0] += 1
        self.__dict__["_recompute"], self.__dict__["_cell_slow"] = True, True
        return self

    def add_flags(self, **flags: Any) -> Self:
        """Sets attributes of this Cell.

        Args:
            **flags: The attributes.

        Returns:
            The Cell itself.
        """
        for name, value in flags.items():
            setattr(self, name, value)
        self.__dict__.setdefault("_flags", {}).update(flags)
        return self

    def add_flags_recursive(self, **flags: Any) -> Self:
        """Sets attributes of this Cell and all Cells below it.

        Args:
            **flags: The attributes.

        Returns:
            The Cell itself.
        """
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """Returns the attributes set by `add_flags`, as a dict."""
        return self.__dict__.setdefault("_flags", {})

    def set_boost(self, boost_type: Any) -> Any:
        """Marks this Cell and all Cells below it for an algorithm of sindri.boost.

        Args:
            boost_type (str): The algorithm: "less_bn".

        Returns:
            The Cell itself.

        Raises:
            ValueError: If the algorithm is unknown.
        """
        if boost_type != "less_bn":
            raise ValueError(f"unknown boost type {boost_type!r} | Cell.set_boost | there is 'less_bn'")
        return self.add_flags_recursive(use_less_bn=True)

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Self:
        """Sets the fusion group of the gradients' all-reduce; it is stored with the trainable Parameters.

        Args:
            fusion_type (int): The group, at least 0.
            recurse (bool): Whether Parameters of child Cells are included. Default: True.

        Returns:
            The Cell itself.

        Raises:
            ValueError: If `fusion_type` is not an int or is negative.
        """
        if not isinstance(fusion_type, int) or fusion_type < 0:
            raise ValueError(f"fusion_type must be an int that is not negative, got {fusion_type!r} | Cell.set_comm_fusion")
        for p in self.trainable_params(recurse):
            p.comm_fusion = fusion_type
        return self

    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Always raises RuntimeError: parameter servers are not available.

        Args:
            recurse (bool): Ignored. Default: True.
            init_in_server (bool): Ignored. Default: False.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("parameter server mode is off | Cell.set_param_ps | leave enable_parameter_server out")

    def shard(self, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None, device: str = "Ascend", level: int = 0) -> Self:
        """Returns the Cell itself, with a warning: layers are not split over ranks.

        Args:
            in_strategy: Ignored.
            out_strategy: Ignored. Default: None.
            parameter_plan: Ignored. Default: None.
            device (str): Ignored. Default: "Ascend".
            level (int): Ignored. Default: 0.

        Returns:
            The Cell itself.
        """
        no_effect("Cell.shard", "every rank has the whole layer; split the data with parallel_mode='data_parallel'")
        return self

    def set_parallel_input_with_inputs(self, *inputs: Any) -> None:
        """Does nothing on one rank; for parallel runs.

        Args:
            *inputs: Ignored.
        """

    def load_parameter_slice(self, params: Any) -> None:
        """Does nothing on one rank; for parallel runs.

        Args:
            params (dict): Ignored.
        """

    def set_auto_parallel(self) -> None:
        """Does nothing on one rank; for parallel runs."""

    def place(self, role: str, rank_id: int) -> Self:
        """Assigns the operators of this Cell to a role and rank; stored for distributed runs.

        Args:
            role (str): The role.
            rank_id (int): The rank.

        Returns:
            The Cell itself.
        """
        return self.add_flags_recursive(place_role=role, place_rank=rank_id)

    def infer_param_pipeline_stage(self) -> list[Parameter]:
        """Returns the trainable Parameters of this rank's pipeline stage; on one rank, all of them."""
        return self.trainable_params()

    @property
    def pipeline_stage(self) -> int:
        """int: The pipeline stage that this Cell is assigned to; stored for pipeline-parallel runs. Default: 0."""
        return self.__dict__.get("_pipeline_stage", 0)

    @pipeline_stage.setter
    def pipeline_stage(self, value: int) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ValueError(f"pipeline_stage must be an int that is not negative, got {value!r} | Cell.pipeline_stage")
        self.__dict__["_pipeline_stage"] = value

    @property
    def phase(self) -> str:
        """str: 'train' or 'predict'."""
        return self.__dict__["_phase"]

    @phase.setter
    def phase(self, value: str) -> None:
        self.__dict__["_phase"] = value

    @property
    def bprop_debug(self) -> bool:
        """bool: Stored without effect; bprop runs eagerly in PYNATIVE_MODE anyway."""
        return self.__dict__.get("_bprop_debug", False)

    @bprop_debug.setter
    def bprop_debug(self, value: bool) -> None:
        self.__dict__["_bprop_debug"] = bool(value)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compiles the Cell for these arguments in GRAPH_MODE. Nothing runs and no Parameter changes.

        Args:
            *args: The arguments of a call.
            **kwargs: The keyword arguments of a call.
        """
        if _get_mode() == 0:
            self._graphs().compile(args, kwargs, root=self)

    def set_inputs(self, *inputs: Any) -> None:
        """Does nothing: graphs are compiled for the shapes of each call, so shapes need not be announced.

        Args:
            *inputs: Ignored.
        """

    def get_inputs(self) -> None:
        """Returns None: inputs need not be announced."""
        return None

    def exec_checkpoint_graph(self) -> None:
        """Does nothing: Parameters on the host are always current."""

    # Hooks.

    def _add_hook(self, table: Any, hook: Any, form: Any = lambda hook: hook, prepend: bool = False) -> HookHandle:
        if not callable(hook):
            raise TypeError(f"a hook must be callable, got {type(hook).__name__} | {type(self).__name__}")
        clock[0] += 1
        self.__dict__["_cell_slow"] = True
        handle = HookHandle(table)
        table[handle] = form(hook)
        if prepend:
            table.move_to_end(handle, last=False)
        return handle

    def register_forward_pre_hook(self, hook_fn: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False) -> HookHandle:
        """Registers a hook that runs before `construct`.

        Args:
            hook_fn (Callable): `hook_fn(cell, inputs)`. A result other than None replaces the inputs.
            prepend (bool): Whether the hook runs before those already registered. Default: False.
            with_kwargs (bool): Whether the hook is called as `hook_fn(cell, inputs, kwargs)` and may return (inputs, kwargs). Default: False.

        Returns:
            HookHandle, whose `remove()` removes the hook.

        Raises:
            TypeError: If `hook_fn` is not callable.

        Examples:
            >>> import sindri as ms
            >>> net = ms.nn.ReLU()
            >>> handle = net.register_forward_pre_hook(lambda cell, inputs: inputs[0] + 1)
            >>> print(net(ms.Tensor([-1.0, 2.0])))
            [0. 3.]
            >>> handle.remove()
            >>> print(net(ms.Tensor([-1.0, 2.0])))
            [0. 2.]
        """
        return self._add_hook(self._pre_hooks, hook_fn, lambda hook: PreHook(hook, with_kwargs), prepend)

    def register_forward_hook(self, hook_fn: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False) -> HookHandle:
        """Registers a hook that runs after `construct`.

        Args:
            hook_fn (Callable): `hook_fn(cell, inputs, output)`. A result other than None replaces the output.
            prepend (bool): Whether the hook runs before those already registered. Default: False.
            with_kwargs (bool): Whether the hook is called as `hook_fn(cell, inputs, kwargs, output)`. Default: False.
            always_call (bool): Whether the hook also runs if `construct` raises, with None as the output. Default: False.

        Returns:
            HookHandle, whose `remove()` removes the hook.

        Raises:
            TypeError: If `hook_fn` is not callable.

        Examples:
            >>> import sindri as ms
            >>> net = ms.nn.ReLU()
            >>> handle = net.register_forward_hook(lambda cell, inputs, output: print(inputs[0].shape, output.shape))
            >>> y = net(ms.Tensor([-1.0, 2.0]))
            (2,) (2,)
        """
        return self._add_hook(self._hooks, hook_fn, lambda hook: ForwardHook(hook, with_kwargs, always_call), prepend)

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Registers a hook that runs before the gradient passes through this Cell.

        Args:
            hook_fn (Callable): `hook_fn(cell, grad_output)`. A result other than None replaces grad_output.

        Returns:
            HookHandle, whose `remove()` removes the hook.

        Raises:
            TypeError: If `hook_fn` is not callable.
        """
        handle = self._add_hook(self._backward_pre_hooks, hook_fn)
        self._watch_gradients()
        return handle

    def register_backward_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Registers a hook that runs after the gradient has passed through this Cell.

        Args:
            hook_fn (Callable): `hook_fn(cell, grad_input, grad_output)`. A result other than None replaces grad_input.

        Returns:
            HookHandle, whose `remove()` removes the hook.

        Raises:
            TypeError: If `hook_fn` is not callable.

        Examples:
            >>> import sindri as ms
            >>> net = ms.nn.ReLU()
            >>> handle = net.register_backward_hook(lambda cell, grad_input, grad_output: (grad_input[0] * 10,))
            >>> print(ms.grad(net)(ms.Tensor([-1.0, 2.0])))
            [ 0. 10.]
        """
        handle = self._add_hook(self._backward_hooks, hook_fn)
        self._watch_gradients()
        return handle

    def _watch_gradients(self) -> None:
        """Wraps construct in the identities that backward hooks need."""
        if len(self._backward_hooks) + len(self._backward_pre_hooks) == 1:
            inner = self.construct

            def construct(*args: Any, **kwargs: Any) -> Any:
                return _with_backward_hooks(self, inner, args, kwargs)

            self.__dict__["construct"] = construct

    # Text.

    def extend_repr(self) -> str:
        """Returns the text between the angle brackets of repr; subclasses define it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extend_repr()
        lines = [f"{name}: {cell!r}" for name, cell in self._cells.items() if cell is not None]
        head = f"{type(self).__name__}<{extra}"
        if not lines:
            return head + ">"
        body = "\n".join("  (" + line.replace(": ", "): ", 1).replace("\n", "\n  ") for line in lines)
        return f"{head}\n{body}\n  >"

    def __hash__(self) -> int:
        return id(self) >> 4

    def __eq__(self, other: Any) -> bool:
        return self is other

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_cell_graphs", "_cell_controlled")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__["_cell_graphs"] = None


_graph_key.cell_class = Cell
_compile.entrance(Cell.__call__, lambda cell: (cell._graphs(), cell))


def _with_tensors(v: Any, tensors: Iterator[Tensor]) -> Any:
    if isinstance(v, Tensor):
        return next(tensors)
    if isinstance(v, (tuple, list)):
        items = [_with_tensors(x, tensors) for x in v]
        return items if isinstance(v, list) else tuple(items)
    if isinstance(v, dict):
        return {k: _with_tensors(x, tensors) for k, x in v.items()}
    return v


def _with_backward_hooks(cell: Any, construct: Any, args: Any, kwargs: Any) -> Any:
    """Runs construct between two identities: one catches the gradient of the output, the other lets hooks read and change the inputs' gradient."""
    if not cell._backward_hooks and not cell._backward_pre_hooks:
        return construct(*args, **kwargs)
    caught: dict[str, Any] = {}

    def inputs_rule(inputs: Any, outputs: Any, douts: Any) -> Any:
        grads = tuple(d if d is not None else _core.ops.zeros_like(o) for d, o in zip(douts, outputs))
        for hook in list(cell._backward_hooks.values()):
            changed = hook(cell, grads, caught.get("dout"))
            if changed is not None:
                grads = changed if isinstance(changed, tuple) else (changed,)
        return list(grads)

    def output_rule(inputs: Any, outputs: Any, douts: Any) -> Any:
        grads = tuple(d if d is not None else _core.ops.zeros_like(o) for d, o in zip(douts, outputs))
        for hook in list(cell._backward_pre_hooks.values()):
            changed = hook(cell, grads)
            if changed is not None:
                grads = changed if isinstance(changed, tuple) else (changed,)
        caught["dout"] = grads
        return list(grads)

    tensors = tensors_in(args, [])
    entered = _core.custom_gradient(lambda t: list(t), tensors, inputs_rule)
    out = construct(*_with_tensors(args, iter(entered)), **kwargs)
    left = _core.custom_gradient(lambda t: list(t), tensors_in(out, []), output_rule)
    return _with_tensors(out, iter(left))


class GraphCell(Cell):
    """A graph loaded from MindIR; not available yet.

    Args:
        graph: The graph.
        params_init (dict): Initial values of its Parameters. Default: None.
        obf_random_seed (int): The seed of an obfuscated model. Default: None.

    Raises:
        NotYetError: Always.
    """

    def __init__(self, graph: Any, params_init: Any = None, obf_random_seed: Any = None) -> None:
        super().__init__()
        not_yet("nn.GraphCell", "export")
