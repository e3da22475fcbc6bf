"""Every public module, class, function, method and property has a docstring."""
import importlib
import inspect
import pkgutil
import re
import types

import sindri


def modules():
    yield sindri
    for found in pkgutil.walk_packages(sindri.__path__, "sindri."):
        if not any(part.startswith("_") for part in found.name.split(".")[1:]):
            yield importlib.import_module(found.name)


def text(value):
    """Returns the documentation without the signature that pybind11 prepends."""
    return re.sub(r"\A\w*\(.*\) -> .*", "", inspect.getdoc(value) or "").strip()


def members(name, cls):
    if not vars(cls).get("__doc__"):
        yield name
    for key, value in vars(cls).items():
        function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        if not key.startswith("_") and (isinstance(function, (property, types.FunctionType)) or type(function).__name__ == "instancemethod"):
            if not text(function if isinstance(function, property) else getattr(cls, key)):
                yield f"{name}.{key}"


def test_every_public_symbol_is_documented():
    missing, seen = [], set()
    for module in modules():
        missing += [] if text(module) else [module.__name__]
        for key in getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]:
            value = getattr(module, key)
            own = str(getattr(value, "__module__", "")).startswith("sindri")
            if isinstance(value, types.ModuleType) or not callable(value) or not own or id(value) in seen:
                continue
            seen.add(id(value))
            name = f"{module.__name__}.{key}"
            missing += members(name, value) if isinstance(value, type) else [] if text(value) else [name]
    assert len(seen) > 1200
    assert not missing, f"{len(missing)} without documentation: {missing}"
