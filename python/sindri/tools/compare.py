"""One training step, value by value: compares a migrated network with the original.

`record` (Sindri) and `record_torch` (PyTorch) run a single step and store inputs, weights, layer outputs, the loss, the gradients and the weights after the
update, both under MindSpore's names. `diff` reports where two records first differ, in the order of execution.

    compare.record(net, loss_fn, optimizer, (x, label), "ours.npz")
    compare.record_torch(model, loss_fn, optimizer, (x, label), "theirs.npz")
    print(compare.diff("ours.npz", "theirs.npz").table())

A record is FILE.npz together with FILE.json (order and names), or one FILE.safetensors with the same in its metadata.
"""
import io
import json
import os
import zipfile
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from sindri import _core, context
from sindri._core import Tensor
from sindri.nn.cell import Cell
from sindri.ops import value_and_grad
from sindri.tools import _names, _safetensors
from sindri.tools._errors import damaged, error, file_error, unusable, usage
from sindri.tools._names import NameMap

__all__ = ["record", "record_torch", "load", "diff", "Record", "Item", "Difference", "Comparison", "KINDS"]

KINDS = ("input", "weight", "activation", "loss", "gradient", "updated")
_FORM = 1
_TYPES = {"float32": "F32", "float64": "F64", "int64": "I64", "int32": "I32", "bool": "BOOL", "uint8": "U8"}


@dataclass
class Item:
    """One recorded value.

    Args:
        kind (str): One of KINDS.
        name (str): The name.
        shape (tuple[int]): The tensor's shape.
        array (numpy.ndarray): Its elements; with sampling, evenly spaced ones.

    Examples:
        >>> import numpy as np
        >>> from sindri.tools import compare
        >>> compare.Item("weight", "w", (100,), np.zeros(10, np.float32)).sampled
        True
    """

    kind: str
    name: str
    shape: Tuple[int, ...]
    array: np.ndarray

    @property
    def sampled(self) -> bool:
        """Whether `array` contains only some of the elements."""
        return self.array.size != int(np.prod(self.shape, dtype=np.int64))


@dataclass
class Record:
    """The values of one step in the order in which they were computed.

    Args:
        framework (str): The framework that computed the values.
        items (list[Item]): The values. Default: none.
        sample (int, optional): The number of elements that are kept of larger tensors. Default: None, all.

    Examples:
        >>> import numpy as np
        >>> from sindri.tools import compare
        >>> record = compare.Record("sindri")
        >>> record.add("loss", "loss", np.float32(0.5))
        >>> record.summary()
        'sindri: 1 loss; loss 0.5'
    """

    framework: str
    items: List[Item] = field(default_factory=list)
    sample: Optional[int] = None

    def add(self, kind: str, name: str, value: np.ndarray) -> None:
        """Appends a value; half precision is stored as float32.

        Args:
            kind (str): One of KINDS.
            name (str): The name.
            value (numpy.ndarray): The value.
        """
        a = np.asarray(value)
        if a.dtype.kind == "f" and a.dtype.itemsize < 4:
            a = a.astype(np.float32)
        if str(a.dtype) not in _TYPES:
            a = a.astype(np.int64 if a.dtype.kind in "iu" else np.float64)
        shape = tuple(a.shape)
        if self.sample is not None and a.size > self.sample:
            a = a.reshape(-1)[np.linspace(0, a.size - 1, self.sample).astype(np.int64)]
        self.items.append(Item(kind, name, shape, np.array(a, copy=True)))

    def of(self, kind: str) -> Dict[str, Item]:
        """Returns the values of one kind by name, in order.

        Args:
            kind (str): One of KINDS.

        Returns:
            dict[str, Item].
        """
        return {i.name: i for i in self.items if i.kind == kind}

    def save(self, path: str) -> None:
        """Writes PATH.npz and PATH.json, or PATH.safetensors.

        Args:
            path (str): The file.

        Raises:
            IoError: If a file cannot be written.
            InvalidValueError: If the path ends in something else.
        """
        index = {"form": _FORM, "framework": self.framework, "sample": self.sample,
                 "items": [{"kind": i.kind, "name": i.name, "shape": list(i.shape)} for i in self.items]}
        if path.endswith(".safetensors"):
            weights = [_safetensors.Weight(f"{n:05d}", _TYPES[str(i.array.dtype)], i.array) for n, i in enumerate(self.items)]
            _safetensors.write(path, weights, {"sindri.record": json.dumps(index)})
        elif path.endswith(".npz"):
            buffer = io.BytesIO()
            arrays: Dict[str, Any] = {f"{n:05d}": i.array for n, i in enumerate(self.items)}
            np.savez(buffer, **arrays)
            _safetensors.write_whole(_json_path(path), [json.dumps(index, indent=1).encode()])
            _safetensors.write_whole(path, [buffer.getbuffer()])
        else:
            raise usage(f"a record's file must end in .npz or .safetensors, got '{path}'", path)

    def summary(self) -> str:
        """Returns one line: framework, number of values of each kind, and the loss."""
        counts = ", ".join(f"{sum(i.kind == k for i in self.items)} {k}" for k in KINDS if any(i.kind == k for i in self.items))
        loss = self.of("loss").get("loss")
        return f"{self.framework}: {counts}" + (f"; loss {float(loss.array.reshape(-1)[0]):.8g}" if loss is not None else "")


def _json_path(path: str) -> str:
    return os.path.splitext(path)[0] + ".json"


def load(path: str) -> Record:
    """Reads a record.

    Args:
        path (str): The .npz or .safetensors file.

    Returns:
        Record.

    Raises:
        CheckpointError: If the file is damaged or is not a record.
        IoError: If the file cannot be read.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from sindri.tools import compare
        >>> record = compare.Record("sindri")
        >>> record.add("loss", "loss", np.float32(0.5))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "record.npz")
        ...     record.save(path)
        ...     compare.load(path).summary()
        'sindri: 1 loss; loss 0.5'
    """
    if not os.path.isfile(path):
        raise error(_core.IoError, 5001, f"there is no file '{path}'", path, "check the path")
    if path.endswith(".safetensors"):
        weights, metadata, _ = _safetensors.read(path)
        text, arrays = metadata.get("sindri.record"), {w.name: w.array for w in weights}
        where = path
    elif path.endswith(".npz"):
        where = _json_path(path)
        try:
            with open(where, encoding="utf-8") as f:
                text = f.read()
        except OSError as e:
            raise file_error(e, where, "read") from None
        try:
            with np.load(path, allow_pickle=False) as z:
                arrays = {k: z[k] for k in z.files}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as e:
            raise damaged(f"{path} cannot be read: {e}", path) from None
    else:
        raise usage(f"a record's file must end in .npz or .safetensors, got '{path}'", path)
    try:
        index = json.loads(text or "")
        if index["form"] != _FORM:
            raise unusable(f"{path} has format {index['form']}, this version reads {_FORM}", where)
        items = [Item(str(i["kind"]), str(i["name"]), tuple(int(d) for d in i["shape"]), arrays[f"{n:05d}"]) for n, i in enumerate(index["items"])]
        return Record(str(index["framework"]), items, index["sample"])
    except (ValueError, KeyError, TypeError, RecursionError) as e:
        if hasattr(e, "where"):
            raise
        raise damaged(f"{path} is not a record: {type(e).__name__}: {e}", where) from None


# --- recording ------------------------------------------------------------------------------------------------------------------

class _Calls:
    """Names for the calls of layers: a layer's path, with #2, #3 … for further calls."""

    def __init__(self) -> None:
        self.count: Dict[str, int] = {}
        self.last: Dict[str, int] = {}  # path -> the number of its last call
        self.now = 0

    def name(self, path: str) -> str:
        self.now += 1
        self.last[path] = self.now
        self.count[path] = self.count.get(path, 0) + 1
        return path if self.count[path] == 1 else f"{path}#{self.count[path]}"

    def backward_order(self, names: Sequence[str]) -> List[str]:
        """Returns the parameters in the order in which their gradients are computed: the layer that ran last comes first."""
        return sorted(names, key=lambda n: -self.last.get(n.rpartition(".")[0], 0))


def _flat(value: Any, is_tensor: Callable[[Any], bool]) -> List[Any]:
    if is_tensor(value):
        return [value]
    if isinstance(value, Mapping):
        return [t for v in value.values() for t in _flat(v, is_tensor)]
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in _flat(v, is_tensor)]
    return []


def _add_outputs(rec: Record, calls: _Calls, path: str, arrays: List[np.ndarray]) -> None:
    name = calls.name(path)
    for k, a in enumerate(arrays):
        rec.add("activation", name if len(arrays) == 1 else f"{name}[{k}]", a)


def _split_batch(batch: Any, loss_fn: Any) -> Tuple[List[Any], Optional[Any]]:
    items = list(batch) if isinstance(batch, (tuple, list)) else [batch]
    if loss_fn is None:
        return items, None
    if len(items) < 2:
        raise usage(f"with a loss function the batch must be (inputs…, label), got {len(items)} item")
    return items[:-1], items[-1]


def record(
    net: Any, loss_fn: Any, optimizer: Any, batch: Any, path: Optional[str] = None, *, train: bool = True, sample: Optional[int] = None
) -> Record:
    """Runs one step of a Sindri network and records its values.

    The step runs in PYNATIVE_MODE, whatever the context is set to, and it takes effect: parameters, moments and moving statistics change. Several calls of a
    Cell are recorded as `path`, `path#2`, …; primitives called inside a Cell are not recorded.

    Args:
        net (Cell): The network.
        loss_fn (Callable, optional): The loss is loss_fn(net(inputs…), label), or with None the result of net.
        optimizer (Optimizer, optional): Updates the weights; None for no update.
        batch (tuple): (inputs…, label) as Tensors or arrays.
        path (str, optional): The file to write. Default: None.
        train (bool): Whether the network is in training mode. Default: True.
        sample (int, optional): The largest number of evenly spaced elements to store per tensor. Default: None, all.

    Returns:
        Record.

    Raises:
        TypeError: If `net` is not a Cell.
        InvalidValueError: If the batch has no label for the loss.

    Examples:
        >>> import sindri as ms
        >>> from sindri.tools import compare
        >>> net = ms.nn.Dense(1, 1, weight_init="ones", bias_init="zeros")
        >>> optimizer = ms.nn.SGD(net.trainable_params(), 0.1)
        >>> compare.record(net, ms.nn.MSELoss(), optimizer, (ms.Tensor([[1.0]]), ms.Tensor([[3.0]]))).of("loss")["loss"].array
        array(4., dtype=float32)
    """
    if not isinstance(net, Cell):
        raise TypeError(f"net must be a Cell, got {type(net).__name__} | compare.record | use record_torch for PyTorch modules")
    rec, calls = Record(_version("sindri"), sample=sample), _Calls()
    inputs, label = _split_batch(batch, loss_fn)
    args = [x if isinstance(x, Tensor) else Tensor(np.asarray(x)) for x in inputs + ([label] if loss_fn is not None else [])]
    for k, x in enumerate(args):
        rec.add("input", str(k), _array(x))
    params = list(net.get_parameters())
    for p in params:
        rec.add("weight", p.name, _array(p))
    weights = list(optimizer.parameters) if optimizer is not None else net.trainable_params()

    def hook_for(name: str) -> Callable[..., None]:
        def hook(cell: Any, cell_inputs: Any, output: Any) -> None:
            _add_outputs(rec, calls, name, [_array(t) for t in _flat(output, lambda v: isinstance(v, Tensor))])
        return hook

    def forward(*values: Any) -> Any:
        return net(*values) if loss_fn is None else loss_fn(net(*values[:-1]), values[-1])

    mode, training = context.get_context("mode"), {c: c.training for _, c in net.cells_and_names()}
    slow = {c: c.__dict__["_cell_slow"] for c in training}
    handles = [c.register_forward_hook(hook_for(name or "(net)")) for name, c in net.cells_and_names()]
    try:
        context.set_context(mode=context.PYNATIVE_MODE)
        net.set_train(train)
        loss, grads = value_and_grad(forward, None, weights)(*args)
        rec.add("loss", "loss", _array(loss))
        by_name = {p.name: g for p, g in zip(weights, grads)}
        for name in calls.backward_order(list(by_name)):
            rec.add("gradient", name, _array(by_name[name]))
        if optimizer is not None:
            scale = float(getattr(optimizer, "loss_scale", 1.0))  # the optimizer divides by it
            optimizer(tuple(g if scale == 1.0 else g * scale for g in grads))
    finally:
        for handle in handles:
            handle.remove()
        for c, was in slow.items():
            c.__dict__["_cell_slow"] = was
        for c, was in training.items():
            c.set_train(was)
        context.set_context(mode=mode)
    if optimizer is not None or train:
        for p in params:
            rec.add("updated", p.name, _array(p))
    if path is not None:
        rec.save(path)
    return rec


def _array(t: Any) -> np.ndarray:
    return (t.astype("float32") if str(t.dtype) == "BFloat16" else t).asnumpy()


def _version(module: str) -> str:
    import importlib
    return f"{module} {importlib.import_module(module).__version__}"


def record_torch(
    model: Any,
    loss_fn: Any,
    optimizer: Any,
    batch: Any,
    path: Optional[str] = None,
    *,
    train: bool = True,
    sample: Optional[int] = None,
    net: str = "auto",
    mapping: Union[NameMap, Mapping[str, str], None] = None,
) -> Record:
    """Runs one step of a PyTorch module and records its values, in a Python with torch.

    Names are converted to MindSpore's by the rules of `convert`. Layer outputs are copied when a layer returns, so later in-place operations do not change
    them.

    Args:
        model (torch.nn.Module): The network.
        loss_fn (Callable, optional): The loss is loss_fn(model(inputs…), label), or with None the result of model.
        optimizer (torch.optim.Optimizer, optional): Updates the weights with step(); None for no update.
        batch (tuple): (inputs…, label) as tensors or arrays.
        path (str, optional): The file to write. Default: None.
        train (bool): Whether the network is in training mode. Default: True.
        sample (int, optional): The largest number of evenly spaced elements to store per tensor. Default: None, all.
        net (str): As of `convert`. Default: "auto".
        mapping (NameMap, dict, optional): As of `convert`; applies to layers and parameters. Default: None.

    Returns:
        Record.

    Raises:
        ImportError: If torch is not installed.
        InvalidValueError: If the batch has no label for the loss.

    Examples:
        >>> import torch  # doctest: +SKIP
        >>> from sindri.tools import compare
        >>> model = torch.nn.Linear(2, 1)  # doctest: +SKIP
        >>> record = compare.record_torch(model, torch.nn.MSELoss(), None, (torch.ones(1, 2), torch.ones(1, 1)))  # doctest: +SKIP
    """
    import torch  # type: ignore[import-not-found,unused-ignore]
    rec, calls = Record(f"torch {torch.__version__.split('+')[0]}", sample=sample), _Calls()
    inputs, label = _split_batch(batch, loss_fn)
    args = [x if isinstance(x, torch.Tensor) else torch.from_numpy(np.array(x)) for x in inputs + ([label] if loss_fn is not None else [])]
    for k, x in enumerate(args):
        rec.add("input", str(k), _torch_array(x))
    table = mapping if mapping is None or isinstance(mapping, NameMap) else NameMap(f"{k} {v}" for k, v in mapping.items())
    state = model.state_dict()
    rows = {r.old: r for r in _names.to_mindspore({k: tuple(v.shape) for k, v in state.items()}, net, table)}
    names = set(state)
    resnet = net == "resnet" or net == "auto" and _names.is_resnet(names)

    def layer(name: str) -> str:
        row = table.apply(name, ()) if table else None
        return (row.new or name) if row else _names.path_to_mindspore(name, names) if resnet else name

    def add_state(kind: str) -> None:
        for name, value in model.state_dict().items():
            row = rows[name]
            if row.new is not None:
                rec.add(kind, row.new, _torch_array(value).reshape(row.shape or tuple(value.shape)))

    def hook_for(name: str) -> Callable[..., None]:
        def hook(module: Any, module_inputs: Any, output: Any) -> None:
            _add_outputs(rec, calls, name, [_torch_array(t) for t in _flat(output, lambda v: isinstance(v, torch.Tensor))])
        return hook

    add_state("weight")
    was = {m: m.training for m in model.modules()}
    handles = [m.register_forward_hook(hook_for(layer(name) if name else "(net)")) for name, m in model.named_modules()]
    try:
        model.train(train)
        model.zero_grad(set_to_none=True)
        out = model(*args) if loss_fn is None else loss_fn(model(*args[:-1]), args[-1])
        out.backward()
        rec.add("loss", "loss", _torch_array(out))
        grads = {rows[n].new or n: (p.grad, rows[n].shape) for n, p in model.named_parameters() if p.grad is not None}
        for name in calls.backward_order(list(grads)):
            grad, shape = grads[name]
            rec.add("gradient", name, _torch_array(grad).reshape(shape or tuple(grad.shape)))
        if optimizer is not None:
            optimizer.step()
    finally:
        for handle in handles:
            handle.remove()
        for m, mode in was.items():
            m.training = mode
    if optimizer is not None or train:
        add_state("updated")
    if path is not None:
        rec.save(path)
    return rec


def _torch_array(t: Any) -> np.ndarray:
    import torch  # type: ignore[import-not-found,unused-ignore]
    t = t.detach().cpu()
    return (t.float() if t.dtype in (torch.bfloat16, torch.float16) else t).numpy().copy()


# --- comparing ------------------------------------------------------------------------------------------------------------------

@dataclass
class Difference:
    """One value that both records contain.

    Args:
        kind (str): One of KINDS.
        name (str): The name.
        step (int): The position in the order of execution, from 1.
        what (str): '' if they agree, otherwise 'values', 'shape', 'sampling' or 'not finite'.
        max_abs (float): The largest difference. Default: 0.0.
        relative (float): The largest difference over the largest magnitude of the second record. Default: 0.0.
        at (tuple[int]): The position of the largest difference. Default: ().
        a (float): The first record's value there. Default: 0.0.
        b (float): The second record's value there. Default: 0.0.
        detail (str): More about the difference. Default: "".

    Examples:
        >>> from sindri.tools import compare
        >>> compare.Difference("weight", "w", 1, "values", 0.5, 0.25, (1,), 2.0, 1.5).line()
        'weight w: max abs 0.5, relative 0.25, largest at [1] (2 and 1.5)'
    """

    kind: str
    name: str
    step: int
    what: str
    max_abs: float = 0.0
    relative: float = 0.0
    at: Tuple[int, ...] = ()
    a: float = 0.0
    b: float = 0.0
    detail: str = ""

    def line(self) -> str:
        """Returns the difference as one line of text."""
        if self.what in ("shape", "sampling"):
            return f"{self.kind} {self.name}: {self.detail}"
        return (f"{self.kind} {self.name}: max abs {self.max_abs:.3g}, relative {self.relative:.3g}, largest at {list(self.at)} "
                f"({self.a:.8g} and {self.b:.8g})" + (f"; {self.detail}" if self.detail else ""))


@dataclass
class Comparison:
    """The result of `diff`.

    Args:
        titles (tuple[str, str]): One line about each record.
        values (list[Difference]): The values that both records contain, in the order of execution.
        only (tuple[list[str], list[str]]): "kind name" of values in one record only.
        rtol (dict[str, float]): The relative tolerance of each kind.
        atol (float): The absolute tolerance.

    Examples:
        >>> import numpy as np
        >>> from sindri.tools import compare
        >>> a, b = compare.Record("a"), compare.Record("b")
        >>> a.add("loss", "loss", np.array(1.0))
        >>> b.add("loss", "loss", np.array(1.0))
        >>> result = compare.diff(a, b)
        >>> result.equal, result.first
        (True, None)
    """

    titles: Tuple[str, str]
    values: List[Difference]
    only: Tuple[List[str], List[str]]
    rtol: Dict[str, float]
    atol: float

    @property
    def first(self) -> Optional[Difference]:
        """The first value, in the order of execution, that differs; None if all agree."""
        return next((d for d in self.values if d.what), None)

    @property
    def equal(self) -> bool:
        """Whether all common values agree, and there is at least one."""
        return bool(self.values) and self.first is None

    def table(self, every: bool = False, limit: int = 10) -> str:
        """Returns counts per kind, the first difference with a hint, and further differences.

        Args:
            every (bool): Whether to list all differences and names. Default: False.
            limit (int): The number of differences to list otherwise. Default: 10.

        Returns:
            str.
        """
        lines = [f"A: {self.titles[0]}", f"B: {self.titles[1]}", f"{'kind':12}{'compared':>9}{'differ':>8}{'worst relative':>16}  tolerance"]
        for kind in KINDS:
            of_kind = [d for d in self.values if d.kind == kind]
            if of_kind:
                worst = max(d.relative for d in of_kind)
                lines.append(f"{kind:12}{len(of_kind):9}{sum(bool(d.what) for d in of_kind):8}{worst:16.3g}  {self.rtol[kind]:g}")
        differing = [d for d in self.values if d.what]
        if not self.values:
            lines.append("the records have no value in common")
        elif not differing:
            lines.append("no difference beyond the tolerances")
        else:
            lines += [f"first difference: {differing[0].line()}", f"  {_hint(differing[0])}"]
            rest = differing[1:] if every else differing[1:limit]
            lines += [f"then: {d.line()}" for d in rest]
            if len(differing) - 1 > len(rest):
                lines.append(f"and {len(differing) - 1 - len(rest)} more (--all shows them)")
        for title, names in zip("AB", self.only):
            if names:
                shown = names if every else names[:6]
                lines.append(f"only in {title}: {', '.join(shown)}" + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""))
        return "\n".join(lines)


def _hint(d: Difference) -> str:
    if d.what == "shape":
        return "shapes differ from here: check this layer's arguments (stride, padding, channels)"
    return {
        "input": "the steps received different batches",
        "weight": "the steps start from different weights: convert them with `sindri convert` first",
        "activation": "all earlier values agree: check this layer's arguments (padding, eps, order of operations), not its inputs",
        "loss": "all layers agree: check the loss function, its reduction and label smoothing",
        "gradient": "the forward pass agrees: "
        + (
            "in float32 a ReLU input near 0 with another sign causes such differences, which --rtol gradient=0.05 accepts"
            if d.relative < 0.05
            else "check this layer's gradient, and what is differentiated (reduction of the loss, frozen parameters)"
        ),
        "updated": "the gradients agree: check the optimizer (learning rate, weight decay and its groups) and batch norm's momentum",
    }[d.kind]


def _compare(kind: str, name: str, step: int, x: Item, y: Item, rtol: float, atol: float, least: float) -> Difference:
    """least: the smallest magnitude that a tensor is compared with."""
    if x.shape != y.shape and [d for d in x.shape if d != 1] != [d for d in y.shape if d != 1]:
        return Difference(kind, name, step, "shape", np.inf, np.inf, detail=f"shapes {list(x.shape)} and {list(y.shape)}")
    if x.array.size != y.array.size:
        return Difference(
            kind, name, step, "sampling", detail=f"{x.array.size} and {y.array.size} elements were kept: record both with the same sample="
        )
    a, b = x.array.reshape(-1).astype(np.float64), y.array.reshape(-1).astype(np.float64)
    if not a.size:
        return Difference(kind, name, step, "")
    odd = ~(np.isfinite(a) & np.isfinite(b)) & ~((a == b) | (np.isnan(a) & np.isnan(b)))
    if odd.any():
        k = int(np.argmax(odd))
        return Difference(
            kind, name, step, "not finite", np.inf, np.inf, _place(k, x), float(a[k]), float(b[k]), f"{int(odd.sum())} values not finite in one only"
        )
    both = np.isfinite(a)
    gap = np.where(both, np.abs(np.where(both, a, 0) - np.where(both, b, 0)), 0.0)
    k = int(np.argmax(gap))
    largest = max(float(np.max(np.abs(b[both]))) if both.any() else 0.0, least)
    worst = float(gap[k])
    relative = worst / largest if largest > 0 else (0.0 if worst == 0 else np.inf)
    return Difference(kind, name, step, "values" if worst > atol + rtol * largest else "", worst, relative, _place(k, x), float(a[k]), float(b[k]))


def _largest(a: np.ndarray) -> float:
    a = np.abs(a[np.isfinite(a)])
    return float(a.max()) if a.size else 0.0


def _place(k: int, item: Item) -> Tuple[int, ...]:
    if item.sampled:
        k = int(np.linspace(0, int(np.prod(item.shape)) - 1, item.array.size).astype(np.int64)[k])
    return tuple(int(i) for i in np.unravel_index(k, item.shape)) if item.shape else ()


def diff(a: Union[str, Record], b: Union[str, Record], rtol: Union[float, Mapping[str, float]] = 1e-4, atol: float = 1e-8,
         kinds: Sequence[str] = KINDS) -> Comparison:
    """Compares two records in the order of execution of the first.

    A tensor differs if its largest difference exceeds atol + rtol x its largest magnitude in the second record. A gradient's magnitude is at least a hundredth
    of the largest gradient's, because some gradients are zero up to rounding (a bias before a batch norm).

    Args:
        a (str, Record): The first record, or its file.
        b (str, Record): The second record, or its file.
        rtol (float, dict): The relative tolerance, or one for each kind; other kinds keep 1e-4. Default: 1e-4.
        atol (float): The absolute tolerance. Default: 1e-8.
        kinds (Sequence[str]): The kinds to compare. Default: KINDS.

    Returns:
        Comparison.

    Raises:
        InvalidValueError: If a kind is unknown or a tolerance is negative.
        CheckpointError: As `load`.
        IoError: As `load`.

    Examples:
        >>> import numpy as np
        >>> from sindri.tools import compare
        >>> a, b = compare.Record("a"), compare.Record("b")
        >>> a.add("weight", "w", np.array([1.0, 2.0]))
        >>> b.add("weight", "w", np.array([1.0, 2.5]))
        >>> result = compare.diff(a, b)
        >>> result.equal, result.first.max_abs
        (False, 0.5)
    """
    tolerances = dict.fromkeys(KINDS, 1e-4)
    if isinstance(rtol, Mapping):
        tolerances.update(rtol)
    else:
        tolerances = dict.fromkeys(KINDS, float(rtol))
    unknown = [k for k in list(tolerances) + list(kinds) if k not in KINDS]
    if unknown:
        raise usage(f"unknown kind '{unknown[0]}'", "", f"kinds are {', '.join(KINDS)}")
    if atol < 0 or min(tolerances.values()) < 0:
        raise usage("tolerances must not be negative")
    titles = tuple(f"{r} ({load(r).summary()})" if isinstance(r, str) else r.summary() for r in (a, b))
    x, y = (load(r) if isinstance(r, str) else r for r in (a, b))
    values: List[Difference] = []
    only: Tuple[List[str], List[str]] = ([], [])
    for kind in KINDS:
        if kind not in kinds:
            continue
        left, right = x.of(kind), y.of(kind)
        least = 0.01 * max((_largest(i.array) for i in right.values()), default=0.0) if kind == "gradient" else 0.0
        for name, item in left.items():
            if name in right:
                values.append(_compare(kind, name, len(values) + 1, item, right[name], tolerances[kind], atol, least))
            else:
                only[0].append(f"{kind} {name}")
        only[1].extend(f"{kind} {name}" for name in right if name not in left)
    return Comparison((titles[0], titles[1]), values, only, tolerances, atol)
