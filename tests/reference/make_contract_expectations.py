"""Writes tests/python/expectations/contract.json with MindSpore (recorded with 2.10.0): python tests/reference/make_contract_expectations.py

Expressions that fail there are reported and omitted: they belong in contract_symbols.OWN.
"""
import json
import os
import sys

import mindspore as ms

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import contract_symbols as contract  # noqa: E402

ms.set_context(mode=ms.PYNATIVE_MODE)
names = contract.namespace(ms)
found = {}
for name, expression in contract.entries(contract.VALUES):
    try:
        found[f"{name}: {expression}"] = contract.plain(eval(expression, names))
    except Exception as e:
        print(f"{name}: {expression}\n    {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}", file=sys.stderr)
with open(os.path.join(HERE, "..", "python", "expectations", "contract.json"), "w", encoding="utf-8") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n")
