"""Every public module, class, function, method and property has a docstring, with Args where there are parameters; classes and functions have an example."""
import ast
import enum
import importlib
import inspect
import pkgutil
import re
import textwrap
import types

import sindri
from sindri import _signatures as signatures
from sindri.common.not_yet import not_yet

# The first line of names that always raise NotYetError, which need no example, and no Args unless they have named parameters.
NOT_YET = "not available yet"
# In the first line of settings that are only stored, which need no example.
NO_EFFECT = "which has no effect"
# Exceptions and enumerations need neither: they are caught and named.
NOT_CALLED = (BaseException, enum.Enum)


def modules():
    yield sindri
    for found in pkgutil.walk_packages(sindri.__path__, "sindri."):
        if not any(part.startswith("_") for part in found.name.split(".")[1:]):
            yield importlib.import_module(found.name)


def public(found):
    """Yields (name, function or class) of every public name of these modules, each object once."""
    seen = set()
    for module in found:
        for key in getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]:
            value = getattr(module, key)
            own = str(getattr(value, "__module__", "")).startswith("sindri")
            if not isinstance(value, types.ModuleType) and callable(value) and own and id(value) not in seen:
                seen.add(id(value))
                yield f"{module.__name__}.{key}", value


def text(value):
    """Returns the documentation without the signature that pybind11 prepends."""
    return re.sub(r"\A\w*\(.*\) -> .*", "", inspect.getdoc(value) or "").strip()


def own_text(value):
    """Returns the documentation of a function or class; a class does not inherit it."""
    return inspect.cleandoc(vars(value).get("__doc__") or "") if isinstance(value, type) else text(value)


def members(name, cls):
    if not vars(cls).get("__doc__"):
        yield name
    for key, value in vars(cls).items():
        function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        if not key.startswith("_") and (isinstance(function, (property, types.FunctionType)) or type(function).__name__ == "instancemethod"):
            if not text(function if isinstance(function, property) else getattr(cls, key)):
                yield f"{name}.{key}"


def parameters(value):
    """Returns the kinds of a function's or constructor's parameters; [] if a class of the extension has no constructor."""
    try:
        given = signatures.signature(value).parameters.values()
        return [p.kind for p in given if p.name not in ("self", "cls")]
    except ValueError:  # a class of the extension: its signature is in the docstring of __init__
        head = (value.__init__.__doc__ or "").strip().partition("\n")[0]
        return [p.name for p in signatures.parse(head)[0][1:]] if " -> " in head else []


def methods(name, cls):
    """Yields (name, method) of the public methods that Python code of this class defines."""
    for key, value in vars(cls).items():
        function = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        if not key.startswith("_") and isinstance(function, types.FunctionType):
            yield f"{name}.{key}", getattr(cls, key)


def always_raises_not_yet(value):
    """Returns whether a function or constructor calls not_yet unconditionally."""
    function = value.__init__ if isinstance(value, type) else value
    if "not_yet" not in getattr(getattr(function, "__code__", None), "co_names", ()):
        return False
    body = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0].body
    return any(isinstance(s, (ast.Expr, ast.Return)) and isinstance(s.value, ast.Call) and getattr(s.value.func, "id", "") == "not_yet" for s in body)


def lacking(value):
    """Returns what the docstring of a function or class lacks."""
    if isinstance(value, type) and issubclass(value, NOT_CALLED):
        return []
    doc, kinds = own_text(value), parameters(value)
    first, absent = doc.partition("\n")[0], always_raises_not_yet(value)
    if absent:
        kinds = [k for k in kinds if k not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)]
    missing = [f"'{NOT_YET}' in the first line"] if absent and NOT_YET not in first else []
    if kinds and not re.search(r"^(Args|Inputs):$", doc, re.MULTILINE):
        missing.append("Args")
    if not absent and NO_EFFECT not in first and not re.search(r"^ *>>> ", doc, re.MULTILINE):
        missing.append("Examples")
    return missing


def test_every_public_symbol_is_documented():
    missing, count = [], 0
    for module in modules():
        missing += [] if text(module) else [module.__name__]
    for name, value in public(modules()):
        count += 1
        missing += members(name, value) if isinstance(value, type) else [] if text(value) else [name]
    assert count > 1200
    assert not missing, f"{len(missing)} without documentation: {missing}"


def test_every_public_class_and_function_has_args_and_an_example():
    missing = {name: lacking(value) for name, value in public(modules())}
    assert len(missing) > 2000
    missing = {name: parts for name, parts in missing.items() if parts}
    assert not missing, f"{len(missing)} incomplete: {missing}"


def test_every_public_method_has_args():
    found = [pair for name, value in public(modules()) if isinstance(value, type) for pair in methods(name, value)]
    assert len(found) > 1000
    missing = {name: parts for name, method in found if (parts := [p for p in lacking(method) if p != "Examples"])}
    assert not missing, f"{len(missing)} incomplete: {missing}"


def test_incomplete_docstrings_are_reported():
    """The check itself: names of a made-up module, and what it reports about them."""
    def whole(x):
        """Returns x.

        Args:
            x (int): A number.

        Examples:
            >>> whole(1)
            1
        """
        return x

    def no_sections(x):
        """Returns x. Args are x, as in `>>> no_sections(1)`."""
        return x

    def no_args(*args):
        """Returns the arguments.

        Examples:
            >>> no_args(1)
            (1,)
        """
        return args

    def no_example():
        """Returns 1."""
        return 1

    def stored(on):
        """Stores a setting, which has no effect.

        Args:
            on (bool): The setting.
        """

    def later(*args):
        """Would return something; not available yet."""
        not_yet("later", "export")

    def later_named(x):
        """Would return something; not available yet."""
        not_yet("later_named", "export")

    def says_nothing(*args):
        """Returns something."""
        not_yet("says_nothing", "export")

    def sometimes(on):
        """Does something; not available yet with `on`."""
        if on:
            not_yet("sometimes", "export")

    class Inherits(sindri.nn.ReLU):
        def method(self, x):
            """Returns x."""
            return x

        @staticmethod
        def static():
            """Returns 1."""
            return 1

    class Error(ValueError):
        """An error."""

    module = types.ModuleType("sindri.made_up")
    for value in (whole, no_sections, no_args, no_example, stored, later, later_named, says_nothing, sometimes, Inherits, Error):
        value.__module__ = module.__name__
        setattr(module, value.__name__, value)
    module.from_elsewhere = textwrap.dedent
    reported = {name.rpartition(".")[2]: lacking(value) for name, value in public([module])}
    assert reported == {
        "whole": [], "no_sections": ["Args", "Examples"], "no_args": ["Args"], "no_example": ["Examples"], "stored": [], "later": [], "later_named": ["Args"],
        "says_nothing": ["'not available yet' in the first line"], "sometimes": ["Args", "Examples"], "Inherits": ["Args", "Examples"], "Error": [],
    }
    assert {name: lacking(method) for name, method in methods("", Inherits)} == {".method": ["Args", "Examples"], ".static": ["Examples"]}


def test_signatures_of_the_extension_are_known():
    """Classes and functions without a signature that inspect.signature knows."""
    assert [len(parameters(v)) for v in (sindri.Tensor, sindri.Parameter, sindri.common.dtype.DType, sindri._core.from_dlpack)] == [5, 5, 0, 1]
