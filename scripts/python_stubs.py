#!/usr/bin/env python3
"""Writes type stubs for the parts of the Python package whose names are created at run time, from the running package.

    PYTHONPATH=python python scripts/python_stubs.py            writes python/sindri/**/*.pyi
    PYTHONPATH=python python scripts/python_stubs.py --check    changes nothing; fails when a stub is missing or out of date

Three kinds of modules get a stub. For the extension (except its ops), stubs come from pybind11's signatures and from the methods that Python code attaches to
its classes. The other two are the modules of sindri.ops (functions and primitives made from tables) and packages that only re-export names. All other
modules are annotated. `python -m mypy.stubtest sindri` compares the result with the running package (tests/python/test_types.py).
"""
from __future__ import annotations

import argparse
import ast
import builtins
import collections.abc
import importlib
import inspect
import keyword
import os
import re
import sys
import types
import typing

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "sindri")
HEAD = '"""{}\n\nWritten by scripts/python_stubs.py; do not edit."""\n'
WIDTH = 150

# Modules that only re-export names.
GATHERED = """sindri sindri.common sindri.nn sindri.nn.layer sindri.nn.loss sindri.nn.metrics sindri.nn.optim sindri.nn.wrap sindri.nn.utils sindri.ops
sindri.ops.composite sindri.ops.function sindri.ops.functional sindri.ops.operations sindri.train sindri.train.callback sindri.train.metrics sindri.dataset
sindri.dataset.engine sindri.dataset.transforms sindri.dataset.transforms.c_transforms sindri.dataset.transforms.py_transforms sindri.dataset.vision
sindri.dataset.audio sindri.dataset.audio.transforms
sindri.dataset.vision.c_transforms sindri.dataset.vision.py_transforms sindri.dataset.text sindri.numpy sindri.profiler""".split()

# Names that refer to the same module object as another name.
SAME = {"sindri.dtype": "sindri.common.dtype"}

# Its stub is written with its bindings at every build (scripts/op_bindings.py).
BUILT = "sindri._core.ops"

# Modules with members created in a loop.
LOOPS = ["sindri.parallel._auto_parallel_context"]

# Types that pybind11 reports only as `object`, `tuple`, `list` or `dict`.
RESULTS = {
    "Parameter.assign": "Parameter", "Parameter.set_data": "Parameter", "Tensor.init_data": "Tensor", "Tensor.from_numpy": "Tensor",
    "Tensor.asnumpy": "np.ndarray[Any, Any]", "Tensor.__array__": "np.ndarray[Any, Any]", "Tensor.dtype": "DType", "Tensor.shape": "tuple[builtins.int, ...]",
    "Tensor.strides": "tuple[builtins.int, ...]", "Tensor.__dlpack_device__": "tuple[builtins.int, builtins.int]", "Tensor.__hash__": "builtins.int",
    "DType.__eq__": "bool", "DType.__ne__": "bool", "DType.__reduce__": "str | tuple[Any, ...]", "CompiledFn.__call__": "tuple[Tensor, ...]",
    "NativeCell.parameters": "list[tuple[str, Parameter]]", "from_dlpack": "Tensor", "recompute": "tuple[Tensor, ...]", "run_op": "tuple[Tensor, ...]",
    "load_checkpoint": "list[tuple[str, Any]]", "custom_gradient": "tuple[Tensor, ...]", "Tape.backward": "tuple[tuple[Tensor, ...], tuple[Tensor, ...]]",
    "Tape.backward_with_uses": "tuple[tuple[Tensor, ...], tuple[Tensor, ...], tuple[tuple[Any, ...], ...]]", "param_use_input": "Tensor | None",
    "reduce_gradients": "tuple[Tensor, ...]", "CompiledFn.info": "dict[str, Any]", "describe_op": "dict[str, Any]",
}
# Comparison operators return a Tensor instead of the bool that `object` promises; in-place operators update the object instead of returning a new Tensor.
NOT_COMPARED = {"Tensor.__eq__": "[override]", "Tensor.__ne__": "[override]",
                **{f"Parameter.__i{name}__": "[misc]" for name in ("add", "sub", "mul", "truediv")}}
ELEMENTWISE = re.compile(r"__r?(add|sub|mul|truediv|floordiv|mod|pow|matmul|and|or|xor)__|__(eq|ne|lt|le|gt|ge)__")


class Stub:
    """One stub file: its lines and the imports they need."""

    def __init__(self, module: types.ModuleType):
        self.module = module
        self.name = module.__name__
        self.imports: dict[str, set[str]] = {}
        self.lines: list[str] = []
        self.taken: set[str] = set()  # names that hide a builtin in the current scope

    def need(self, module: str, name: str, alias: str = "") -> str:
        """Imports an object and returns the name it has in the stub."""
        if module != self.name:
            self.imports.setdefault(module, set()).add(f"{name} as {alias}" if alias else name)
        return alias or name

    def builtin(self, name: str) -> str:
        return f"builtins.{name}" if name in self.taken else name

    def type(self, t: object) -> str:
        """Returns an annotation as text."""
        if t is typing.Any or t is inspect.Parameter.empty or isinstance(t, (str, typing.TypeVar, typing.ForwardRef)) or t is object:
            return "Any"
        if t is None or t is type(None):
            return "None"
        origin, args = typing.get_origin(t), typing.get_args(t)
        if origin in (typing.Union, types.UnionType):
            return " | ".join(dict.fromkeys(self.type(a) for a in args))
        if t in (typing.Callable, collections.abc.Callable) or origin is collections.abc.Callable:
            given = f"[{', '.join(self.type(a) for a in args[0])}]" if args and isinstance(args[0], list) else "..."
            return f"Callable[{given}, {self.type(args[1]) if args else 'Any'}]"
        if isinstance(origin, type) and not args:
            t = origin
        elif isinstance(origin, type):
            items = ["..." if a is Ellipsis else self.type(a) for a in args]
            return f"{self.cls(origin)}[{', '.join(items)}]"
        if isinstance(t, type):
            bare = {tuple: "[Any, ...]", list: "[Any]", set: "[Any]", dict: "[Any, Any]", type: "[Any]", slice: "[Any, Any, Any]",
                    collections.abc.Sequence: "[Any]", collections.abc.Iterable: "[Any]", collections.abc.Iterator: "[Any]"}
            return self.cls(t) + ("[Any, Any]" if self.cls(t) == "np.ndarray" else bare.get(t, ""))
        return "Any"

    def cls(self, t: type) -> str:
        if t.__module__ == "builtins":
            return self.builtin(t.__name__)
        if t.__name__ == "ndarray":
            return "np.ndarray"
        if t.__module__ in ("collections.abc", "typing"):
            return self.need("collections.abc", t.__name__)
        if t.__name__ in ("Tensor", "Parameter", "DType") and t.__module__.startswith("sindri"):
            return self.need("sindri._core", t.__name__)
        return self.need(t.__module__, t.__name__)

    def text(self) -> str:
        """Returns the file's content."""
        body = "\n".join(self.lines)
        head = [HEAD.format((self.module.__doc__ or self.name).strip().split("\n")[0])]
        if "builtins." in body:
            head.append("import builtins")
        if "typing." in body:
            head.append("import typing")
        abc = {n for n in ("Callable", "Iterable", "Iterator", "Mapping", "Sequence") if re.search(rf"(?<![.\w]){n}\[", body)}
        if abc:
            self.imports.setdefault("collections.abc", set()).update(abc)
        if re.search(r"(?<![.\w])Any\b", body):
            self.imports.setdefault("typing", set()).add("Any")
        rank = {"collections.abc": 0, "typing": 0}
        for module in sorted(self.imports, key=lambda m: (rank.get(m, 2 if m.startswith("sindri") else 1), m)):
            if module.startswith("sindri") and "np." in body and not any("numpy as np" in h for h in head):
                head.append("\nimport numpy as np\n")
            head.extend(wrapped(f"from {module} import ", sorted(self.imports[module])))
        if "np." in body and not any("numpy as np" in h for h in head):
            head.append("\nimport numpy as np")
        return "\n".join(head) + "\n\n" + body.rstrip("\n") + "\n"


def wrapped(head: str, items: list[str]) -> list[str]:
    """Returns `head a, b, c` on one line, or on several if it is too long."""
    if len(head) + len(", ".join(items)) <= WIDTH:
        return [head + ", ".join(items)]
    lines, line = [head + "("], "    "
    for item in items:
        if len(line) + len(item) + 2 > WIDTH:
            lines.append(line.rstrip())
            line = "    "
        line += item + ", "
    return [*lines, line.rstrip(), ")"]


# --- signatures -------------------------------------------------------------------------------------------------------------------------


def hints_of(function: object) -> dict:
    try:
        return typing.get_type_hints(function)
    except Exception:  # a name that is imported for type checkers only
        return getattr(function, "__annotations__", {})


def literal(value: object) -> str:
    """Returns a default as stubs show it: simple values in full."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return "..."
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) or value == () else "..."


def parameters(stub: Stub, function: object, leave_out: tuple = (), first: str = "") -> tuple[list[str], str]:
    """Returns (parameters, result) of a function; `first` replaces the first parameter (self)."""
    while hasattr(function, "__wrapped__") and hasattr(function, "__signature__"):
        function = function.__wrapped__
    if signatures.is_native(function):
        given, result = native_signature(stub, function.__doc__, "ops." + function.__name__, False)
        given = [g for g in given if g.partition(":")[0] not in leave_out]
        return [first, *given[1:]] if first else given, result
    hints, out, star = hints_of(function), [], False
    items = list(inspect.signature(function).parameters.values())
    if first:
        out, items = [first], items[1:]
    for i, p in enumerate(p for p in items if p.name not in leave_out):
        if p.kind is p.KEYWORD_ONLY and not star:
            out.append("*")
            star = True
        if p.kind is p.VAR_POSITIONAL:
            star = True
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        kind = stub.type(hints.get(p.name, p.annotation))
        if p.default is p.empty:
            out.append(f"{mark}{p.name}: {kind}")
        else:
            out.append(f"{p.name}: {kind + ' | None' if p.default is None and kind != 'Any' and 'None' not in kind else kind} = {literal(p.default)}")
    return out, stub.type(hints.get("return", typing.Any))


def native_type(stub: Stub, text: str, result: bool, default: str = "") -> str:
    """Returns a type from pybind11's signatures as written in stubs."""
    text = re.sub(r"sindri\._core\.(?:[a-z]\w*\.)?", "", text).strip()
    text = text.replace("sindri.common.dtype.DType", "DType").replace("sindri.Tensor", "Tensor" if result else "TensorLike")
    text = text.replace("typing.SupportsFloat | typing.SupportsIndex", "float").replace("typing.SupportsInt | typing.SupportsIndex", "int")
    text = re.sub(r"collections\.abc\.(Callable)\b(?!\[)", r"Callable[..., Any]", text).replace("collections.abc.", "")
    text = re.sub(r"numpy\.ndarray(\[[^\]]*\])?", "np.ndarray[Any, Any]", text).replace("typing_extensions.CapsuleType", "Any").replace("types.CapsuleType", "Any")
    sized = re.compile(r'typing\.Annotated\[((?:(?!typing\.Annotated).)*?), "FixedSize\(\d+\)"\]')
    while sized.search(text):  # the innermost first
        text = sized.sub(r"\1", text)
    text = re.sub(r"\bobject\b", "Any", text)
    text = {"tuple": "tuple[Any, ...]", "list": "list[Any]", "dict": "dict[str, Any]", "Iterable": "Iterable[Any]"}.get(text, text)
    if not result:
        text = re.sub(r"\bDType\b", "DTypeLike", text)
        text = "int | Sequence[int]" if text == "tuple[int, ...]" else text
        if default == "None" and text not in ("Any",) and "None" not in text:
            text += " | None"
    if stub.taken:
        text = re.sub(r"(?<![.\w])(int|float|bool|tuple|str|list|dict|type)\b", lambda m: stub.builtin(m[1]), text)
    for name in ("DType", "DTypeLike", "TensorLike", "Tensor", "Parameter", "NativeInitializer"):
        if re.search(rf"\b{name}\b", text) and stub.name != "sindri._core":
            stub.need("sindri._core", {"DTypeLike": "_DTypeLike as DTypeLike", "TensorLike": "_TensorLike as TensorLike"}.get(name, name))
        elif stub.name == "sindri._core" and name.endswith("Like"):
            text = re.sub(rf"\b{name}\b", "_" + name, text)
    return text


def native_signature(stub: Stub, doc: str, full_name: str, method: bool) -> tuple[list[str], str]:
    """Returns (parameters, result) from the first line of a pybind11 docstring."""
    name = full_name.rsplit(".", 1)[-1]
    items, result = signatures.parse(doc)
    out, unnamed = [], False
    if method:
        out, items = ["self"], items[1:]
    for key, kind, default in items:
        if key == "/":
            out.append(key)
            continue
        if key.startswith("*"):
            out.append(f"{key}: Any")
            continue
        if re.fullmatch(r"arg\d+", key):
            unnamed, key = True, "other" if ELEMENTWISE.fullmatch(name) else key
        out.append(f"{key}: {native_type(stub, kind, False, default)}" + (f" = {default if is_literal(default) else '...'}" if default else ""))
    if unnamed and "/" not in out:
        out.insert(next((i for i, o in enumerate(out) if o.startswith("*")), len(out)), "/")
    text = RESULTS.get(full_name) or native_type(stub, result, True)
    if full_name.startswith("Tensor.") and ELEMENTWISE.fullmatch(name):
        text = "Tensor"
    if name == "__enter__":
        text = "Self"
        stub.imports.setdefault("typing_extensions", set()).add("Self")
    return out, "None" if name == "__exit__" else text


def is_literal(text: str) -> bool:
    try:
        return isinstance(ast.literal_eval(text), (bool, int, float, str, type(None)))
    except (ValueError, SyntaxError):
        return False


def definition(name: str, given: list[str], result: str, indent: str = "", note: str = "") -> list[str]:
    head, tail = f"{indent}def {name}(", f") -> {result}: ...{note}"
    if len(head) + len(", ".join(given)) + len(tail) <= WIDTH:
        return [head + ", ".join(given) + tail]
    lines, line = [head], indent + "    "
    for item in given:
        if len(line) + len(item) + 2 > WIDTH:
            lines.append(line.rstrip())
            line = indent + "    "
        line += item + ", "
    return [*lines, line.rstrip().removesuffix(",") if line.rstrip().endswith(("/,", "*,")) else line.rstrip(), indent + tail]


# --- the extension ----------------------------------------------------------------------------------------------------------------------

# Members that Python's type machinery already describes.
SLOTS = {
    "shape": "@property\ndef shape(self) -> tuple[{int}, ...]: ...",
    "dtype": "@property\ndef dtype(self) -> DType: ...",
    "__call__": "def __call__(self, *args: Any, **kwargs: Any) -> Any: ...",
    "__get__": "def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...",
    "__name__": "@property\ndef __name__(self) -> str: ...",
    "__qualname__": "@property\ndef __qualname__(self) -> str: ...",
}
SKIPPED = {"__new__", "__module__", "__doc__", "__dict__", "__weakref__", "_pybind11_conduit_v1_", "__annotations__"}


def native_member(stub: Stub, cls: type, name: str, value: object) -> list[str]:
    full = f"{cls.__name__}.{name}"
    note = f"  # type: ignore{NOT_COMPARED[full]}" if full in NOT_COMPARED else ""
    if isinstance(value, property):
        doc = value.fget.__doc__ or ""
        native = type(value.fget).__name__ in ("builtin_function_or_method", "instancemethod")
        found = re.search(r"\) -> (.*)", doc) if native else None
        kind = RESULTS.get(full) or (native_type(stub, found[1], True) if found else stub.type(hints_of(value.fget).get("return", typing.Any)))
        out = ["    @property", f"    def {name}(self) -> {kind}: ..."]
        return out + ([f"    @{name}.setter", f"    def {name}(self, value: Any) -> None: ..."] if value.fset else [])
    if isinstance(value, (str, int, float)) or value is None:
        return [f"    {name}: {stub.builtin(type(value).__name__) if value is not None else 'None'}"]
    if isinstance(value, staticmethod) or type(value).__name__ == "builtin_function_or_method" or name == "from_numpy":
        function = getattr(cls, name)
        return ["    @staticmethod", *definition(name, *native_signature(stub, function.__doc__, full, False), "    ")]
    if isinstance(value, types.FunctionType):
        return definition(name, *parameters(stub, value, first="self"), "    ", note)
    if name == "__hash__":
        return [f"    def __hash__(self) -> {stub.builtin('int')}: ..."]
    if name == "__init__" and type(value).__name__ == "wrapper_descriptor":  # no constructor
        return ["    def __init__(self, *args: Any, **kwargs: Any) -> None: ..."]
    if name in SLOTS:
        return [f"    {line}{note}" for line in SLOTS[name].replace("{int}", stub.builtin("int")).splitlines()]
    if type(value).__name__ == "wrapper_descriptor" and cls.__name__ == "Tensor":
        other = {"__pow__": "value: _TensorLike, mod: None = None, /", "__rpow__": "value: _TensorLike, mod: None = None, /"}.get(name, "value: _TensorLike, /")
        of_one = len(inspect.signature(value).parameters) == 1
        if name in ("__eq__", "__ne__"):
            return [f"    def {name}(self, value: object, /) -> Tensor: ...  # type: ignore[override]"]
        if name in ("__lt__", "__le__", "__gt__", "__ge__"):
            other = "value: Any, /"
        return [f"    def {name}(self{'' if of_one else ', ' + other}) -> Tensor: ...{note}"]
    if type(value).__name__ == "instancemethod":
        return definition(name, *native_signature(stub, value.__doc__, full, True), "    ", note)
    return []


def native(cls: type) -> bool:
    return type(cls).__name__ == "pybind11_type"


def metaclass(cls: type) -> list[str]:
    return ["metaclass=_pybind11_type"] if native(cls) else []


def native_class(stub: Stub, cls: type) -> None:
    bases = [b.__name__ for b in cls.__bases__ if b.__name__ not in ("object", "pybind11_object")]
    for base in cls.__bases__:
        if stub.name != "sindri._core" and getattr(sys.modules["sindri._core"], base.__name__, None) is base:
            stub.need("sindri._core", base.__name__)
    members = {n: v for n, v in vars(cls).items() if n not in SKIPPED}
    stub.taken = {n for n in members if hasattr(builtins, n)}
    lines = [line for name in sorted(members) for line in native_member(stub, cls, name, members[name])]
    stub.taken = set()
    head = f"class {cls.__name__}({', '.join([*bases, *([] if bases and not native(cls) else metaclass(cls))])})".replace("()", "") + ":"
    marks = []
    if not native(cls) and not issubclass(cls, BaseException):
        mark = "disjoint_base" if cls.__flags__ & 1 << 10 else "final"  # Py_TPFLAGS_BASETYPE
        marks = ["@" + stub.need("typing_extensions", mark)]
    stub.lines += ["", "", *marks, head, *lines] if lines else ["", "", *marks, head + " ..."]


def native_module(module: types.ModuleType) -> dict[str, Stub]:
    """Returns stubs of the extension module and its submodules."""
    stub, out = Stub(module), {}
    public = {n: v for n, v in vars(module).items() if not n.startswith("__")}
    stub.taken = {n for n in public if hasattr(builtins, n)}
    if module.__name__ == "sindri._core":
        stub.lines += ["_TensorLike: typing.TypeAlias = Tensor | np.ndarray[Any, Any] | float",
                       "", "class _pybind11_type(type): ...", "",
                       "_DTypeLike: typing.TypeAlias = DType | str | type[Any] | np.dtype[Any]"]
    prefix = "" if module.__name__ == "sindri._core" else module.__name__.rsplit(".", 1)[1] + "."
    if stub.name != "sindri._core" and any(isinstance(v, type) and native(v) for v in public.values()):
        stub.need("sindri._core", "_pybind11_type")
    for name, value in sorted(public.items(), key=lambda item: (isinstance(item[1], type) and class_rank(item[1]), item[0])):
        if isinstance(value, types.ModuleType):
            out.update(native_module(value))
            stub.imports.setdefault(module.__name__, set()).add(f"{name} as {name}")
        elif isinstance(value, type):
            taken = stub.taken
            native_class(stub, value)
            stub.taken = taken
        elif signatures.is_native(value):
            if stub.lines and stub.lines[-1].startswith("    "):
                stub.lines += ["", ""]
            stub.lines += definition(name, *native_signature(stub, value.__doc__, prefix + name, False))
        elif isinstance(value, dict):
            key, item = next(iter(value.items()))
            stub.lines.append(f"{name}: dict[{type(key).__name__}, {type(item).__name__}]")
        else:
            stub.lines.append(f"{name}: {type(value).__name__}")
    return {module.__name__: stub, **out}


def class_rank(cls: type) -> int:
    return 1 + len([b for b in cls.__mro__ if str(b.__module__).startswith("sindri")])


# --- sindri.ops -------------------------------------------------------------------------------------------------------------------------


def made_by(cls: type) -> dict | None:
    """Returns the arguments of the sindri.ops.primitive.primitive call that made the class; None for a class written out."""
    function = cls.__init__
    while isinstance(function, types.FunctionType):
        found = inspect.getclosurevars(function).nonlocals
        if "attrs" in found:
            return found
        function = found.get("made")
    return None


def primitive_class(stub: Stub, name: str, cls: type) -> list[str]:
    """Returns the stub of a class made by sindri.ops.primitive.primitive."""
    made = made_by(cls)
    given = ["self"]
    for key, value in made["attrs"].items():
        simple = type(value) in (bool, int, float, str) and key not in made["any_type"]
        kind = type(value).__name__ if simple else "Any"
        given.append(f"{key}: {kind}" + ("" if value is inspect.Parameter.empty else f" = {literal(value)}"))
    alone = vars(cls).get("__call__")
    direct = isinstance(alone, staticmethod)  # the function itself, with nothing to add
    function = alone.__func__ if direct else inspect.getclosurevars(cls.__call__).nonlocals.get("function")
    called, result = parameters(stub, function, tuple(made["static"])) if function else (["*args: Any"], "Any")
    base = next(b for b in cls.__mro__[1:] if made_by(b) is None and not b.__name__.startswith("_"))
    return ["", f"class {name}({stub.need(base.__module__, base.__name__)}):", *definition("__init__", given, "None", "    "),
            *(["    @staticmethod"] if direct else []), *definition("__call__", called if direct else ["self", *(called or ["*args: Any"])], result, "    ")]


def python_class(stub: Stub, name: str, cls: type) -> list[str]:
    """Returns the stub of a class written out in a module of sindri.ops."""
    bases = [stub.cls(b) for b in cls.__bases__ if b is not object]
    lines = []
    for key, value in vars(cls).items():
        if key in SKIPPED or (key.startswith("_") and not key.startswith("__")):
            continue
        function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        if isinstance(value, property):
            lines += ["    @property", f"    def {key}(self) -> {stub.type(hints_of(value.fget).get('return', typing.Any))}: ..."]
        elif isinstance(function, types.FunctionType):
            mark = [f"    @{type(value).__name__}"] if function is not value else []
            first = "" if isinstance(value, staticmethod) else "cls" if isinstance(value, classmethod) else "self"
            given, result = parameters(stub, function, first=first)
            lines += mark + definition(key, given, "None" if key == "__init__" else result, "    ")
        elif isinstance(value, (bool, int, float, str)):
            lines.append(f"    {key}: {stub.builtin(type(value).__name__)}")
    head = f"class {name}" + (f"({', '.join(bases)})" if bases else "") + ":"
    return ["", head, *lines] if lines else ["", head + " ..."]


def ops_module(module: types.ModuleType) -> Stub:
    """Returns the stub of one module of sindri.ops: its functions and primitives."""
    stub = Stub(module)
    parent = importlib.import_module(module.__name__.rsplit(".", 1)[0])
    private = re.findall(r"\b_[A-Z]\w+", inspect.getsource(parent))
    names = list(dict.fromkeys([*module.__all__, *(n for n in private if hasattr(module, n))]))
    stub.taken = {n for n in names if hasattr(builtins, n)}
    seen: dict[int, str] = {}
    classes: list[str] = []
    for name in names:
        value = getattr(module, name)
        if id(value) in seen:
            (classes if isinstance(value, type) else stub.lines).append(f"{name} = {seen[id(value)]}")
            continue
        home = getattr(value, "__module__", None)
        if not f"{module.__name__}.".startswith(f"{home}.") and isinstance(value, (types.BuiltinFunctionType, types.FunctionType, type)):
            own = value.__name__
            stub.need(home if home != "_operator" else "operator", own, name if own != name else "")
            continue
        seen[id(value)] = name
        if isinstance(value, type):
            classes += (primitive_class if made_by(value) is not None else python_class)(stub, name, value)
        elif callable(value):
            stub.lines += definition(name, *parameters(stub, value))
        else:
            stub.lines.append(f"{name}: {stub.type(type(value))}")
    stub.lines += classes
    stub.lines = [*wrapped("__all__ = [", [f'"{n}"' for n in module.__all__]), "", *stub.lines]
    stub.lines = close_list(stub.lines)
    return stub


def close_list(lines: list[str]) -> list[str]:
    """Closes the list that `wrapped` opened."""
    if lines[0].endswith("("):
        end = lines.index(")")
        return [lines[0][:-1], *lines[1:end], "]", *lines[end + 1:]]
    return [lines[0] + "]", *lines[1:]]


# --- packages that re-export names ------------------------------------------------------------------------------------------------------


def native_home(value: object) -> str:
    """Returns the submodule of the extension that holds the value under its name; '' for none."""
    homes = ("sindri._core", "sindri._core.dataset")
    return next((h for h in homes if getattr(sys.modules[h], getattr(value, "__name__", ""), None) is value), "")


def gathered_module(module: types.ModuleType) -> Stub:
    """Returns a stub with the imports of the module's source, all public, and its `__all__` written out."""
    stub, lines = Stub(module), []
    provided, last, hidden = [], {}, {"annotations"}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.Import) or isinstance(node, ast.ImportFrom) and node.module in ("__future__", "typing"):
            hidden |= {i.asname or i.name for i in node.names}
        elif isinstance(node, ast.ImportFrom):
            star = node.names[0].name == "*"
            home = importlib.import_module(node.module)
            every = getattr(home, "__all__", [n for n in vars(home) if not n.startswith("_")])
            names = {n: n for n in every} if star else {i.asname or i.name: i.name for i in node.names}
            provided.append((node.module, star, names))
            last.update(dict.fromkeys(names, len(provided) - 1))
    for i, (home, star, names) in enumerate(provided):
        kept = {b: a for b, a in names.items() if last[b] == i and hasattr(module, b) and (not b.startswith("_") or a == b)}
        for b, a in list(kept.items()):  # a function with the same name as its module: mypy would use the module
            if f"{home}.{a}" in sys.modules and not isinstance(getattr(module, b), types.ModuleType):
                stub.imports.setdefault(getattr(module, b).__module__, set()).add(f"{a} as {b}")
                del kept[b]
        if star and kept == names:
            lines.append(f"from {home} import *")
        elif kept:
            lines += wrapped(f"from {home} import ", [f"{a} as {b}" for b, a in kept.items()])
    variables = []
    for name, value in vars(module).items():
        if (name.startswith("_") and name != "__version__") or name in last or name in hidden or isinstance(value, types.ModuleType):
            continue
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
            variables += definition(name, *parameters(stub, value))
        elif isinstance(value, type) and value.__module__ == module.__name__ and value.__name__ == name and not native_home(value):
            variables += python_class(stub, name, value)
        elif isinstance(value, (types.FunctionType, type)):
            stub.imports.setdefault(native_home(value) or value.__module__, set()).add(f"{value.__name__} as {name}")
        else:
            variables.append(f"{name}: {stub.type(type(value))}")
    listed = getattr(module, "__all__", None)
    stub.lines = [*lines, ""] + ([*close_list(wrapped("__all__ = [", [f'"{n}"' for n in listed])), ""] if listed is not None else []) + variables
    return stub


# --- files ------------------------------------------------------------------------------------------------------------------------------


def path_of(module: types.ModuleType) -> str:
    parts = module.__name__.split(".")[1:]
    package = hasattr(module, "__path__") or module.__name__ == "sindri._core"
    return os.path.join(PACKAGE, *parts, "__init__.pyi") if package else os.path.join(PACKAGE, *parts) + ".pyi"


def stubs() -> dict[str, str]:
    """Returns {path: text} of all stubs."""
    global signatures
    import sindri
    from sindri import _signatures as signatures
    out = {path_of(sys.modules[name]): stub.text() for name, stub in native_module(sindri._core).items() if name != BUILT}
    for name in ("sindri.ops.function", "sindri.ops.operations", "sindri.numpy"):
        package = importlib.import_module(name)
        for file in sorted(os.listdir(os.path.dirname(package.__file__))):
            module = importlib.import_module(f"{package.__name__}.{file[:-3]}") if file.endswith(".py") and file != "__init__.py" else None
            if module is not None and hasattr(module, "__all__"):
                out[path_of(module)] = ops_module(module).text()
    for name in GATHERED:
        module = importlib.import_module(name)
        out[path_of(module)] = gathered_module(module).text()
    for name in LOOPS:
        out[path_of(importlib.import_module(name))] = ops_module(importlib.import_module(name)).text()
    for name, home in SAME.items():
        out[os.path.join(PACKAGE, *name.split(".")[1:]) + ".pyi"] = HEAD.format(f"Another path to {home}.") + f"\nfrom {home} import *\nfrom {home} import __all__ as __all__\n"
    return {os.path.normpath(path): text for path, text in out.items()}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--check", action="store_true", help="change nothing; fail when a stub is missing or out of date")
    check = arguments.parse_args().check
    stale = []
    wanted, built = stubs(), os.path.normpath(path_of(sys.modules[BUILT]))
    for folder, _, files in os.walk(PACKAGE):
        for path in (os.path.normpath(os.path.join(folder, f)) for f in files if f.endswith(".pyi")):
            if path not in wanted and path != built:
                stale.append(os.path.relpath(path))
                if not check:
                    os.remove(path)
    for path, text in wanted.items():
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if old == text:
            continue
        stale.append(os.path.relpath(path))
        if not check:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
    if check and stale:
        print(f"error: {len(stale)} stubs are out of date: {', '.join(stale)}\n  fix: PYTHONPATH=python python scripts/python_stubs.py", file=sys.stderr)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
