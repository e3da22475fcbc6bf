"""Cell: the base of every network part (MindSpore: nn.Cell)."""
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
    """v with the floating tensors in it (also in nested tuples, lists, dicts) in another type."""
    if isinstance(v, Tensor):
        return _core.cast_floating(v, dtype)
    if isinstance(v, (tuple, list)):
        return type(v)(cast_tensors(x, dtype) for x in v)
    if isinstance(v, dict):
        return {k: cast_tensors(x, dtype) for k, x in v.items()}
    return v


class Cell(CellState):
    """A network part: child Cells and Parameters assigned as attributes, and `construct` as its forward.

    Calling it runs `construct` through the interpreters in force; in GRAPH_MODE the outermost call is compiled (sindri/_compile.py). It
    starts in inference mode. A subclass may define `bprop(self, *inputs, out, dout)` as its gradient.

    Args:
        auto_prefix (bool): whether Parameters of children are renamed to `child.<name>` when they are attached. Default: True.
        flags (dict): attributes to set from the start. Default: None.
    """

    if TYPE_CHECKING:
        # Attributes come and go while a program runs. Not at run time: with it, Python would look every attribute up anew instead of
        # remembering where it found it.
        def __getattr__(self, name: str) -> Any: ...

    # Attributes that lead to no other graph.
    _unread_by_graphs: frozenset[str] = frozenset(("_cell_graphs", "_cell_scope", "_cell_slow", "_cell_native", "_cell_level_hooks", "_cell_level_amp",
                                                   "_cell_float_by_level", *STATE_HOOKS))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Where a subclass's __getattr__ ends in super().__getattr__, which is not there, the error names the attribute looked for."""
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
        d["_cell_float_by_level"] = False  # whether a level of sindri.amp set _to_float; else the user did
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
                # It would outlive the graph it belongs to; run eagerly, an attribute can hold its value.
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
        """The forward; subclasses define it."""
        raise AttributeError(f"{type(self).__name__} defines no construct | nn.Cell | define construct(self, ...)")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_params" not in self.__dict__:
            raise AttributeError(f"super().__init__() was not called | {type(self).__name__}.__init__ | call it first")
        if local.depth:
            return self._run(args, kwargs)
        if local.apart and local.seen is None:
            return self._call_apart(args, kwargs)
        if not outermost():
            if local.seen is not None:  # a graph is traced: it depends on this Cell
                local.seen.append(self)
                if self.training and not local.recording:
                    local.called.append(self)
                return self._run(args, kwargs)
            return self._nested(args, kwargs)  # under a tape of the user's
        local.recorded = []
        if _get_mode() == 0:
            return self._graphs().call(args, kwargs, root=self)
        return run_eagerly(self._run_unpacked, args, kwargs)

    def _call_apart(self, args: Any, kwargs: Any) -> Any:
        """Called by code that runs eagerly in GRAPH_MODE."""
        graphs = self._graphs()
        if graphs.small or not outermost() or not self._may_be_a_part():
            return self._nested(args, kwargs)
        if self.training and self.requires_grad:
            return self._recorded_apart(args, kwargs)
        return graphs.call_apart(args, kwargs, root=self)

    def _may_be_a_part(self) -> bool:
        """Whether nothing that is left out of the state (_unread_by_graphs) concerns the next call."""
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
        """A forward run on a tape of its own, which a gradient call that follows takes over."""
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
        """As _recorded_run, of a part of an eager call: where it is compiled, its graph gives what the tape needs."""
        run = Recording(self, args, kwargs)
        out = self._graphs().call_apart(args, kwargs, root=self, form_of=Form.of)
        made, local.made = local.made, None
        if made is not None:
            local.recorded = [r for r in local.recorded if r.cell is not self][-3:]
            run.done(*made)
            local.recorded.append(run)
        return out

    def _typed_run(self, args: Any, kwargs: Any) -> Any:
        """construct under the scopes of mixed precision, recomputation, and with a gradient of its own."""
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
        """Adds a Parameter (or None) under a name, which becomes an attribute unless it holds a dot. Raises KeyError for a bad name or one
        in use, TypeError for another object."""
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
        """Whether a Parameter of that name takes the place of a Parameter or of nothing."""
        return name in self._params or name not in self.__dict__ and not hasattr(type(self), name)

    def _insert_parameter(self, name: str, param: Optional[Parameter], as_attribute: bool) -> None:
        if param is not None and param.name == PARAMETER_NAME_DEFAULT:
            param.name = name
        clock[0] += 1
        self._params[name] = param
        if as_attribute and "." not in name:
            self.__dict__[name] = param

    def insert_child_to_cell(self, child_name: str, child_cell: Optional[Cell]) -> None:
        """Adds a child (or None) under a name; its Parameters keep their names. Raises KeyError for a name in use, TypeError for another object."""
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
        """Names every Parameter `prefix` + its path from this Cell."""
        if not isinstance(prefix, str):
            raise TypeError(f"prefix must be a str, got {prefix!r} | Cell.update_parameters_name")
        for name, p in list(self.parameters_and_names(expand=recurse)):
            p.name = prefix + name

    def update_cell_prefix(self) -> None:
        """Sets `param_prefix` of all Cells to their path."""
        for name, cell in self.cells_and_names():
            cell.__dict__["param_prefix"] = name

    def cells_and_names(self, cells: Optional[set[Cell]] = None, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """Yields ('', self), then every Cell below once with its dotted path."""
        seen = cells if cells is not None else set()
        if self in seen:
            return
        seen.add(self)
        yield name_prefix, self
        for name, cell in self._cells.items():
            if cell is not None:
                yield from cell.cells_and_names(seen, f"{name_prefix}.{name}" if name_prefix else name)

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Yields (path, Parameter), each Parameter once, in definition order."""
        seen = set()
        for path, cell in self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]:
            for name, p in cell._params.items():
                if p is not None and id(p) not in seen:
                    seen.add(id(p))
                    yield (f"{path}.{name}" if path else name), p

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """Yields every Parameter once."""
        for _, p in self.parameters_and_names(expand=expand):
            yield p

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Parameters with requires_grad, in definition order."""
        return [p for p in self.get_parameters(expand=recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Parameters without requires_grad, in definition order."""
        return [p for p in self.get_parameters(expand=recurse) if not p.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """Name -> Parameter. Raises ValueError for a Parameter that is still called 'Parameter'."""
        return OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse))

    def parameters_broadcast_dict(self, recurse: bool = True) -> Optional[OrderedDict[str, Parameter]]:
        """Parameters that are not layerwise parallel, by name; None without any."""
        out = OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse) if not p.layerwise_parallel)
        return out or None

    def cells(self) -> ValuesView[Cell]:
        """The direct children."""
        return self.name_cells().values()

    def name_cells(self) -> OrderedDict[str, Cell]:
        """Name -> direct child, each once."""
        out: OrderedDict[str, Cell] = OrderedDict()
        seen = set()
        for name, cell in self._cells.items():
            if cell is not None and cell not in seen:
                seen.add(cell)
                out[name] = cell
        return out

    def get_scope(self) -> Optional[str]:
        """The name this Cell stands under in messages."""
        return self.__dict__["_cell_scope"]

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> Any:
        """Draws lazy Parameters (values here are drawn when a Parameter is made); returns {Parameter: Parameter}."""
        return {p: p for p in self.get_parameters()}

    # Modes and marks.

    def set_train(self, mode: bool = True) -> Self:
        """Training (True) or inference (False), of this Cell and all below. Returns self."""
        for _, cell in self.cells_and_names():
            if cell.training != bool(mode):
                clock[0] += 1
            cell.__dict__["training"], cell.__dict__["_phase"] = bool(mode), "train" if mode else "predict"
        return self

    def set_grad(self, requires_grad: bool = True) -> Self:
        """Marks this Cell and all below: gradients will be asked for, so that a training run is recorded. Returns self."""
        for _, cell in self.cells_and_names():
            if cell.requires_grad != bool(requires_grad):
                clock[0] += 1
            cell.__dict__["requires_grad"] = bool(requires_grad)
        return self

    def to_float(self, dst_type: mstype.DType) -> Self:
        """Runs this Cell and all below in float16, bfloat16 or float32, whatever the amp level, set before or after (MindSpore's O2 and O3, set
        after, overwrite it). Returns self. Raises ValueError for another type."""
        if dst_type not in (mstype.float16, mstype.float32, mstype.bfloat16):
            raise ValueError(f"expected float16, bfloat16 or float32, got {dst_type} | {type(self).__name__}.to_float")
        clock[0] += 1
        for _, cell in self.cells_and_names():
            cell.__dict__["_to_float"], cell.__dict__["_cell_float_by_level"], cell.__dict__["_cell_slow"] = dst_type, False, True
        return self

    def set_amp(self, options: Any) -> Self:
        """Runs this Cell under amp options (sindri._core.AmpOptions; None: none); its outputs come back as float32. Returns self."""
        clock[0] += 1
        if options is not None:
            options.check([type(c).__name__ for _, c in self.cells_and_names()])
            for _, cell in self.cells_and_names():
                cell.__dict__["_cell_slow"] = True  # their class may be in a list
        self.__dict__["_amp"] = options
        return self

    def recompute(self, **kwargs: Any) -> Self:
        """Values inside this Cell are computed again for its gradient instead of being kept. The keywords concern parallel runs. Returns self."""
        for key in kwargs:
            if key not in ("mp_comm_recompute", "parallel_optimizer_comm_recompute", "recompute_slice_activation"):
                raise ValueError(f"unknown keyword '{key}' | Cell.recompute")
        clock[0] += 1
        self.__dict__["_recompute"], self.__dict__["_cell_slow"] = True, True
        return self

    def add_flags(self, **flags: Any) -> Self:
        """Sets attributes. Returns self."""
        for name, value in flags.items():
            setattr(self, name, value)
        self.__dict__.setdefault("_flags", {}).update(flags)
        return self

    def add_flags_recursive(self, **flags: Any) -> Self:
        """Sets attributes of this Cell and all below. Returns self."""
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """The attributes set by add_flags."""
        return self.__dict__.setdefault("_flags", {})

    def set_boost(self, boost_type: Any) -> Any:
        """Marks this Cell and all below for an algorithm of sindri.boost. Returns self. Raises ValueError for an unknown one."""
        if boost_type != "less_bn":
            raise ValueError(f"unknown boost type {boost_type!r} | Cell.set_boost | there is 'less_bn'")
        return self.add_flags_recursive(use_less_bn=True)

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Self:
        """Fusion group of the gradients' all-reduce: stored with the trainable Parameters. Returns self. Raises ValueError when negative."""
        if not isinstance(fusion_type, int) or fusion_type < 0:
            raise ValueError(f"fusion_type must be an int that is not negative, got {fusion_type!r} | Cell.set_comm_fusion")
        for p in self.trainable_params(recurse):
            p.comm_fusion = fusion_type
        return self

    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Parameter servers exist in distributed runs only."""
        raise RuntimeError("parameter server mode is off | Cell.set_param_ps | leave enable_parameter_server out")

    def shard(self, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None, device: str = "Ascend", level: int = 0) -> Self:
        """The Cell itself, with a warning: layers are not split over ranks."""
        no_effect("Cell.shard", "every rank has the whole layer; split the data with parallel_mode='data_parallel'")
        return self

    def set_parallel_input_with_inputs(self, *inputs: Any) -> None:
        """For parallel runs; nothing to do on one rank."""

    def load_parameter_slice(self, params: Any) -> None:
        """For parallel runs; nothing to do on one rank."""

    def set_auto_parallel(self) -> None:
        """For parallel runs; nothing to do on one rank."""

    def place(self, role: str, rank_id: int) -> Self:
        """Marks operators for a role: stored for distributed runs."""
        return self.add_flags_recursive(place_role=role, place_rank=rank_id)

    def infer_param_pipeline_stage(self) -> list[Parameter]:
        """Trainable Parameters of this rank's stage: all, on one rank."""
        return self.trainable_params()

    @property
    def pipeline_stage(self) -> int:
        """The stage this Cell was assigned to; stored for pipeline parallel runs."""
        return self.__dict__.get("_pipeline_stage", 0)

    @pipeline_stage.setter
    def pipeline_stage(self, value: int) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ValueError(f"pipeline_stage must be an int that is not negative, got {value!r} | Cell.pipeline_stage")
        self.__dict__["_pipeline_stage"] = value

    @property
    def phase(self) -> str:
        """'train' or 'predict'."""
        return self.__dict__["_phase"]

    @phase.setter
    def phase(self, value: str) -> None:
        self.__dict__["_phase"] = value

    @property
    def bprop_debug(self) -> bool:
        """Stored; bprop runs eagerly in PYNATIVE_MODE anyway."""
        return self.__dict__.get("_bprop_debug", False)

    @bprop_debug.setter
    def bprop_debug(self, value: bool) -> None:
        self.__dict__["_bprop_debug"] = bool(value)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """In GRAPH_MODE compiles the Cell for these arguments; nothing runs, no Parameter changes."""
        if _get_mode() == 0:
            self._graphs().compile(args, kwargs, root=self)

    def set_inputs(self, *inputs: Any) -> None:
        """Shapes to expect: graphs are compiled for the shapes that come, so nothing needs to be announced."""

    def get_inputs(self) -> None:
        """Announced inputs: none are needed."""
        return None

    def exec_checkpoint_graph(self) -> None:
        """Parameters are always current on the host: nothing to write back."""

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
        """hook(cell, inputs) before construct; what it returns replaces the inputs. with_kwargs: hook(cell, inputs, kwargs), which may return
        (inputs, kwargs). prepend: before the hooks that are there. Returns a handle with remove()."""
        return self._add_hook(self._pre_hooks, hook_fn, lambda hook: PreHook(hook, with_kwargs), prepend)

    def register_forward_hook(self, hook_fn: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False) -> HookHandle:
        """hook(cell, inputs, output) after construct; what it returns replaces the output. with_kwargs: hook(cell, inputs, kwargs, output). prepend:
        before the hooks that are there. always_call: also where construct raises, with None as the output. Returns a handle with remove()."""
        return self._add_hook(self._hooks, hook_fn, lambda hook: ForwardHook(hook, with_kwargs, always_call), prepend)

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """hook(cell, grad_output) before the gradient passes this Cell; what it returns replaces grad_output. Returns a handle with remove()."""
        handle = self._add_hook(self._backward_pre_hooks, hook_fn)
        self._watch_gradients()
        return handle

    def register_backward_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """hook(cell, grad_input, grad_output) when the gradient passes; what it returns replaces grad_input. Returns a handle with remove()."""
        handle = self._add_hook(self._backward_hooks, hook_fn)
        self._watch_gradients()
        return handle

    def _watch_gradients(self) -> None:
        """Puts construct between the identities that backward hooks need."""
        if len(self._backward_hooks) + len(self._backward_pre_hooks) == 1:
            inner = self.construct

            def construct(*args: Any, **kwargs: Any) -> Any:
                return _with_backward_hooks(self, inner, args, kwargs)

            self.__dict__["construct"] = construct

    # Text.

    def extend_repr(self) -> str:
        """What stands in the parentheses of repr; subclasses define it."""
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
    """construct between two identities: one catches the gradient of the output, the other lets the hooks see and change that of the inputs."""
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
    """Runs a graph loaded from MindIR."""

    def __init__(self, graph: Any, params_init: Any = None, obf_random_seed: Any = None) -> None:
        super().__init__()
        not_yet("nn.GraphCell", "export")
