"""Collects names, parameters and defaults of the public interface as texts, so that two packages can be compared."""
import enum
import importlib
import inspect
import os

MODULES = ("", "nn", "ops", "numpy", "common.initializer", "amp", "train", "communication", "boost", "parallel", "runtime", "profiler", "dataset",
           "dataset.vision", "dataset.transforms", "dataset.text", "mint", "mint.nn", "mint.nn.functional")
CLASSES = {"Tensor": "Tensor", "Parameter": "Parameter", "nn.Cell": "nn.Cell", "Model": "Model", "nn.Optimizer": "nn.Optimizer"}
DECIDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "signature_differences.txt")
MARKS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.KEYWORD_ONLY: "kw "}


def default(value):
    """Returns a default as a text that does not depend on the module of its type."""
    if value is inspect.Parameter.empty:
        return ""
    if isinstance(value, enum.Enum):
        return f"={value.name}"
    if isinstance(value, float) and value == int(value) and abs(value) < 1e9:
        return f"={int(value)}"
    if value is None or isinstance(value, (bool, int, float, str, tuple, list, dict)):
        return f"={value!r}"
    if isinstance(value, type):
        return f"={value.__name__}"
    text = str(value)
    return f"={text}" if " at 0x" not in text else f"=<{type(value).__name__}>"


def _signature():
    """Returns inspect.signature, or this tree's version, which also knows the extension's functions."""
    try:
        from mindspore._signatures import signature
    except ImportError:
        return inspect.signature
    return signature


def parameters(function):
    """Returns [name=default, ...] without self; '*' and '**' as written, 'kw ' before keyword-only ones. None if Python cannot tell."""
    try:
        found = list(_signature()(function).parameters.values())
    except (TypeError, ValueError):
        return None
    found = [p for k, p in enumerate(found) if not (k == 0 and p.name in ("self", "cls"))]
    return [MARKS.get(p.kind, "") + p.name + default(p.default) for p in found]


def _names(module):
    return sorted(set(getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]))


def collect():
    """Returns {name: value} of the public names: [parameters] of a function, or null if Python cannot tell; for all other objects, their kind."""
    import mindspore as ms
    table = {}
    for path in MODULES:
        try:
            module = importlib.import_module(f"mindspore.{path}" if path else "mindspore")
        except ImportError:
            continue
        for name in _names(module):
            value = getattr(module, name, None)
            key = f"{path}.{name}".lstrip(".")
            if callable(value):
                table[key] = parameters(value.__init__ if isinstance(value, type) and "__init__" in vars(value) else value)
            elif value is not None and not inspect.ismodule(value):
                table[key] = "value"
    for title, path in CLASSES.items():
        owner = ms
        for part in path.split("."):
            owner = getattr(owner, part)
        for name in dir(owner):
            if not name.startswith("_"):
                value = inspect.getattr_static(owner, name)
                plain = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
                table[f"{title}.{name}"] = "attribute" if isinstance(value, property) or not callable(plain) else parameters(plain)
    return table


def findings(ours, theirs, listed):
    """Returns [(name, kind)] of names in both packages whose parameters, order, kinds or defaults differ and that are not listed, and of listed ones that do
    not
    differ. Names in only one of the packages are not findings; neither are those that Python cannot inspect on one side."""
    wrong = []
    for name, parameters_there in theirs.items():
        here = ours.get(name)
        differ = name in ours and here is not None and parameters_there is not None and here != parameters_there
        if differ and name not in listed:
            wrong.append((name, f"here {here}, there {parameters_there}"))
        if not differ and name in listed and not listed[name].startswith("open:"):
            wrong.append((name, "listed as different, is not"))
    return wrong + [(name, "listed, but no such name") for name in listed if name not in theirs]
