#!/usr/bin/env python3
"""Writes tests/python/expectations/nn_*.json with the real MindSpore (made with 2.10.0, CPU, numpy<2).

usage: make_nn_expectations.py [CASE...]     runs all cases of tests/python/nn_cases.py, or only some ("layers/dense") and replaces their results

A case that MindSpore cannot run on the CPU is stored as null, with the reason on standard error.
"""
import json
import os
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, TESTS)

import mindspore as ms  # noqa: E402
import nn_cases  # noqa: E402


def rounded(v):
    if isinstance(v, float):
        return float(f"{v:.9g}")
    if isinstance(v, dict):
        return {k: rounded(x) for k, x in v.items()}
    return [rounded(x) for x in v] if isinstance(v, list) else v


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    wanted = set(sys.argv[1:])
    for family, (cases, run) in nn_cases.RUNS.items():
        path = os.path.join(TESTS, "expectations", f"nn_{family}.json")
        stored = json.load(open(path)) if os.path.exists(path) and wanted else {}
        for name in cases:
            if wanted and f"{family}/{name}" not in wanted:
                continue
            try:
                stored[name] = rounded(run(ms, name))
            except Exception as e:  # a function missing in MindSpore is part of the result
                stored[name] = None
                print(f"{family}/{name}: {type(e).__name__}: {str(e).splitlines()[0][:200]}", file=sys.stderr)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(stored.items())) + "\n}\n")


if __name__ == "__main__":
    main()
