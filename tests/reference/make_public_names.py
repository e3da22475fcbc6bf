"""Writes tests/python/expectations/public_names.json: the names that `from M import *` imports in MindSpore (recorded with 2.10.0), by module.

    python tests/reference/make_public_names.py
"""
import importlib
import json
import os
import types

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = """mindspore mindspore.ops mindspore.ops.operations mindspore.ops.functional mindspore.ops.composite mindspore.nn mindspore.numpy mindspore.mint
mindspore.mint.nn mindspore.mint.nn.functional mindspore.train mindspore.common mindspore.amp mindspore.boost mindspore.communication
mindspore.parallel mindspore.profiler mindspore.dataset mindspore.dataset.vision mindspore.dataset.transforms mindspore.dataset.text
mindspore.common.initializer mindspore.context mindspore.runtime mindspore.mindrecord mindspore.train.callback mindspore.train.metrics
mindspore.experimental.optim mindspore.experimental.optim.lr_scheduler mindspore.mint.optim""".split()


def brought(module):
    """Returns the names; for a module without __all__, its names except modules. (A star import is not executed: some __all__ contain names that fail.)"""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name, value in vars(module).items() if not name.startswith("_") and not isinstance(value, types.ModuleType)]
    return sorted({name for name in names if name})


found = {name: brought(importlib.import_module(name)) for name in MODULES}
with open(os.path.join(HERE, "..", "python", "expectations", "public_names.json"), "w", encoding="utf-8") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n")
