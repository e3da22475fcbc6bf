#!/usr/bin/env python3
"""Writes tests/python/expectations/special.json: MindSpore's results for the calls of tests/python/special_cases.py.

    /path/to/mindspore/bin/python tests/reference/make_special_expectations.py
"""
import json
import os
import sys

import mindspore as ms

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, TESTS)
import special_cases  # noqa: E402

out = {name: [str(r.dtype), list(r.shape), [repr(float(v)) for v in r.asnumpy().reshape(-1)]]
       for name, r in ((name, call()) for name, call in special_cases.cases(ms).items())}
with open(os.path.join(TESTS, "expectations", "special.json"), "w", encoding="utf-8") as f:
    f.write(json.dumps({"mindspore": ms.__version__, "cases": out}, indent=0, sort_keys=True).replace('",\n"', '", "') + "\n")
