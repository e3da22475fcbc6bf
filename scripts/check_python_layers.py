#!/usr/bin/env python3
"""Checks imports in python/sindri: the layer table below, imports inside functions, and import cycles.

usage: check_python_layers.py [--self-test] [ROOT]

A room is a module, or a package of sindri with everything in it. A module's room is the longest matching name in LAYERS. `sindri.nn:`, with a colon, is
the package's own __init__, which re-exports names; it is separate from the package's contents because it may import from higher layers. Imports under
`if TYPE_CHECKING` are checked too. LAZY lists every lazy import (inside a function) with its reason; others are errors.
"""
import ast
import pathlib
import sys
import tempfile

# Modules that every room may import: the extension, settings, element types, argument checks, files and logs.
BASE = {"_core", "_check", "_checkparam", "_files", "_signatures", "_graph_reads", "_graph_key", "_uses", "_print", "_compile", "context", "log", "common.not_yet", "common.no_effect", "common.dtype"}
TENSORS = BASE | {"common", "communication"}
OPS = TENSORS | {"nn.cell", "ops"}
LAYERS_OF_NN = OPS | {"autograd", "nn"}
TRAINING = LAYERS_OF_NN | {"nn:", "train.metrics", "train.loss_scale_manager", "boost", "amp", "parallel"}

# room -> rooms it may import; a room may always import itself.
LAYERS = {
    "_core": set(),
    "_check": {"_core"},
    "_checkparam": {"_check", "context", "common.dtype"},
    "_files": set(),
    "common.not_yet": set(),
    "common.no_effect": {"log"},
    "_signatures": {"_core"},
    "_graph_reads": {"_core"},
    "_graph_key": {"_core", "_graph_reads"},
    "_uses": {"_core"},
    "_print": {"_core"},
    "_compile": {"_core", "_graph_reads", "_graph_key", "_print", "_uses"},
    "common.dtype": {"_core"},
    "dtype": {"common.dtype"},
    "context": {"_core", "common.not_yet", "common.no_effect"},
    "log": {"_files"},
    "mstx": {"log"},
    "_c_expression": {"_core"},
    "_extends": set(),
    "version": set(),
    "common": BASE,
    "communication": BASE | {"common"},
    "nn.cell": BASE | {"common", "nn._cell_state", "nn._recording"},
    "nn._cell_state": BASE | {"common"},
    "nn._recording": BASE | {"nn.cell"},  # for type annotations
    "ops": TENSORS | {"nn.cell", "nn._recording"},
    "autograd": OPS,
    "nn": OPS | {"autograd", "nn._recording"},
    "nn:": LAYERS_OF_NN | {"train.metrics"},
    "nn.metrics": {"train.metrics"},
    "nn.native_cell": BASE | {"nn.cell"},
    "inspection": OPS,
    "models": BASE | {"nn.cell", "nn.native_cell"},
    "numpy": OPS,
    "mint": OPS | {"nn", "mint:"},  # SyncBatchNorm reduces over ranks
    "mint.optim": OPS | {"experimental"},
    "mint:": OPS | {"mint", "mint.optim"},  # re-exports
    "experimental": LAYERS_OF_NN,
    "dataset": BASE | {"common"},
    "mindrecord": BASE | {"common"},
    "tools._errors": {"_core"},
    "tools._safetensors": {"_files", "tools._errors"},
    "tools._names": {"tools._errors"},
    "tools.convert": {"_core", "_files", "tools._errors", "tools._names", "tools._safetensors"},
    "train.metrics": BASE | {"common", "nn.cell"},
    "train.loss_scale_manager": LAYERS_OF_NN,
    "boost": LAYERS_OF_NN | {"nn:", "nn.native_cell", "train.loss_scale_manager"},
    "amp": LAYERS_OF_NN | {"nn:", "boost", "train.loss_scale_manager"},
    "parallel": LAYERS_OF_NN,
    "train": TRAINING | {"nn.metrics", "dataset", "tools.convert", "tools._safetensors", "ops"},
    "profiler": BASE | {"mstx", "train"},
    "runtime": OPS,
    "hal": {"_core", "runtime"},
    "device_context": {"hal"},
    "tools": OPS | {"tools._errors", "tools._names", "tools._safetensors", "tools.convert"},
    "__main__": {"tools"},
    "sindri:": None,  # re-exports everything
}

# (file, import) -> why the import is not at module level.
LAZY = {
    ("__main__.py", "sindri.tools.cli"): "the program's own verbs start without the tools",
    ("train/serialization.py", "concurrent.futures"): "12 ms of start-up, only for load_checkpoint_async",
    ("train/serialization.py", "sindri.tools.convert"): "33 ms of start-up, only for files of another format",
    ("train/callback/_landscape.py", "sindri.tools._safetensors"): "as above",
    ("tools/cli.py", "runpy"): "for `compare record` alone",
    ("tools/compare.py", "importlib"): "reads torch's version if torch is installed",
}
# Modules that import each other at module level -> reason.
CIRCLES = {
    ("dataset.engine._batching", "dataset.engine._rows", "dataset.engine._sources", "dataset.engine._sync", "dataset.engine.datasets"):
        "methods of Dataset create its subclasses, so datasets.py imports them after the class",
}
# Packages that may not be installed.
OPTIONAL = {"torch", "PIL", "typing_extensions"}


class Import:
    """One import: its position, the imported module, and whether it is inside a function."""

    def __init__(self, path, line, target, inside, types_only):
        self.path, self.line, self.target, self.inside, self.types_only = path, line, target, inside, types_only


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports_of(path, text, modules):
    """Returns the imports of a file; `from package import module` counts as an import of the module."""
    out = []

    def visit(node, inside, types_only):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                out.extend(Import(path, child.lineno, a.name, inside, types_only) for a in child.names)
            elif isinstance(child, ast.ImportFrom):
                names = {f"{child.module}.{a.name}" if f"{child.module}.{a.name}" in modules else child.module for a in child.names}
                out.extend(Import(path, child.lineno, name, inside, types_only) for name in sorted(names))
            visit(child, inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)), types_only or is_type_checking(child))

    visit(ast.parse(text), False, False)
    return out


def room_of(module, packages):
    """Returns the room of a module named from sindri down, '' for sindri itself, or None if the table has none."""
    name = module[len("sindri."):] if module.startswith("sindri.") else ""
    if not name:
        return "sindri:"
    if module in packages and name + ":" in LAYERS:
        return name + ":"
    while name and name not in LAYERS:
        name = name.rpartition(".")[0]
    return name or None


def circles(edges):
    """Returns the groups of modules that import each other at module level (Tarjan 1972), each sorted."""
    index, low, stack, out = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in edges.get(v, ()):
            if w not in index:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            group = [stack.pop()]
            while group[-1] != v:
                group.append(stack.pop())
            if len(group) > 1:
                out.append(sorted(group))

    for v in sorted(edges):
        if v not in index:
            visit(v)
    return out


def check_import(found, room, packages):
    """Returns the broken rule, or an empty string."""
    external = found.target.split(".")[0] != "sindri"
    if found.inside and external and found.target.split(".")[0] in OPTIONAL:
        return ""
    if found.inside and (found.path, found.target) not in LAZY:
        return f"{found.target} is imported inside a function (at the top, or in LAZY with a reason)"
    if external or LAYERS[room] is None:
        return ""
    other = room_of(found.target, packages)
    if other is None:
        return f"{found.target} is in no room (add it to LAYERS)"
    return "" if other == room or other in LAYERS[room] else f"{room} must not import {other} ({found.target})"


def check_tree(root):
    """Returns (errors, number of files)."""
    package = root / "python" / "sindri"
    files = {".".join(("sindri", *p.relative_to(package).with_suffix("").parts)).removesuffix(".__init__"): p for p in sorted(package.rglob("*.py"))}
    packages = {m for m, p in files.items() if p.name == "__init__.py"}
    modules = set(files) | {"sindri._core"}
    errors, edges = [], {}
    for module, p in files.items():
        path, room = str(p.relative_to(package)), room_of(module, packages)
        if room is None:
            errors.append(f"{path}:1: {module} is in no room (add it to LAYERS)")
            continue
        for found in imports_of(path, p.read_text(), modules):
            broken = check_import(found, room, packages)
            if broken:
                errors.append(f"{path}:{found.line}: {broken}")
            elif not found.inside and not found.types_only and found.target in files and found.target not in packages and module not in packages:
                edges.setdefault(module, set()).add(found.target)
    known = [["sindri." + m for m in group] for group in CIRCLES]
    errors += [f"circle: {', '.join(group)}" for group in circles(edges) if group not in known]
    return errors, len(files)


# files of a package, and a part of each error message that checking it must give
CASES = [
    ({"common/a.py": "from sindri import _core\n", "ops/b.py": "from sindri.common.a import x\n"}, []),
    ({"common/a.py": "from sindri.ops.b import x\n", "ops/b.py": ""}, ["common/a.py:1: common must not import ops"]),
    ({"common/a.py": "def f():\n    from sindri.common.b import x\n", "common/b.py": ""}, ["common/a.py:2: sindri.common.b is imported inside a function"]),
    ({"common/a.py": "def f():\n    import json\n"}, ["common/a.py:2: json is imported inside a function"]),
    ({"common/a.py": "def f():\n    import torch\n"}, []),
    ({"tools/cli.py": "def f():\n    import runpy\n"}, []),
    ({"common/a.py": "from sindri.common import b\n", "common/b.py": "from sindri.common.a import x\n"}, ["circle: sindri.common.a, sindri.common.b"]),
    ({"common/a.py": "if TYPE_CHECKING:\n    from sindri.common.b import X\n", "common/b.py": "from sindri.common.a import x\n"}, []),
    ({"nn/__init__.py": "from sindri.train.metrics import *\n", "train/metrics/__init__.py": ""}, []),
    ({"nn/a.py": "from sindri.train.metrics import x\n", "train/metrics/__init__.py": ""}, ["nn/a.py:1: nn must not import train.metrics"]),
    ({"new.py": ""}, ["new.py:1: sindri.new is in no room"]),
]


def self_test():
    failures = 0
    for files, wanted in CASES:
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                place = pathlib.Path(folder) / "python" / "sindri" / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text)
            errors, _ = check_tree(pathlib.Path(folder))
        if len(errors) != len(wanted) or any(w not in e for w, e in zip(wanted, errors)):
            failures += 1
            print(f"self-test: {files}: expected {wanted}, got {errors}")
    print(f"check_python_layers: self-test, {len(CASES)} cases, {failures} failed")
    return 1 if failures else 0


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return self_test()
    errors, files = check_tree(pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent))
    print("\n".join(errors), end="\n" if errors else "")
    print(f"check_python_layers: {files} files, {len(errors)} wrong imports")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
