"""The examples in the docstrings of public names run and print what they show.

    PYTHONPATH=python python tests/python/test_docstring_examples.py [PREFIX]      runs those of names that start with PREFIX
"""
import doctest
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
import types

import sindri


def modules():
    yield sindri
    for found in pkgutil.walk_packages(sindri.__path__, "sindri."):
        if not any(part.startswith("_") for part in found.name.split(".")[1:]):
            yield importlib.import_module(found.name)


def members(name, value):
    """Yields (name, documented object) for a function or a class, and for the class's public methods and properties."""
    yield name, value
    for key, member in vars(value).items() if isinstance(value, type) else ():
        function = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
        if not key.startswith("_") and isinstance(function, (types.FunctionType, property)):
            yield f"{name}.{key}", function


def documented():
    """Yields (name, docstring, names that its examples may use) of every public class, function, method and property, each once."""
    seen = set()
    for module in modules():
        for key in getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]:
            value = getattr(module, key)
            own = str(getattr(value, "__module__", ""))
            if isinstance(value, types.ModuleType) or not callable(value) or not own.startswith("sindri"):
                continue
            for name, member in members(f"{module.__name__}.{key}", value):
                if id(member) not in seen:
                    seen.add(id(member))
                    yield name, inspect.getdoc(member) or "", vars(sys.modules[own]) if own in sys.modules else {}


def main(prefix=""):
    """Runs the examples, reports failures and returns the exit code."""
    parser, runner, count = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False), 0
    for name, text, names in documented():
        if name.startswith(prefix) and ">>>" in text:
            runner.run(parser.get_doctest(text, names, name, None, None))
            count += 1
    print(f"{count} docstrings with examples")
    return int(runner.summarize(verbose=False).failed > 0)


def test_examples(tmp_path):
    """Runs them in a separate process, because examples may change the context."""
    done = subprocess.run([sys.executable, os.path.abspath(__file__)], cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.path.dirname(sindri.__path__[0])},
                          capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert int(done.stdout.split(" docstrings with examples")[0].split()[-1]) > 1500


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
