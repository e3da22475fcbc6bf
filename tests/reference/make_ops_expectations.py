#!/usr/bin/env python3
"""Writes tests/python/expectations/ops.json with the real MindSpore (made with 2.10.0, CPU, numpy<2).

Expressions of tests/python/ops_cases.py that MindSpore cannot run on the CPU are omitted; the reason is printed to standard error.
"""
import json
import os
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, TESTS)

import mindspore as ms  # noqa: E402
import mindspore.numpy  # noqa: E402,F401
import ops_cases  # noqa: E402


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    found = {}
    for case in ops_cases.CASES:
        try:
            found[case] = ops_cases.plain(ms, eval(case, ops_cases.names(ms)))
        except Exception as e:
            text = str(e).strip().splitlines() or [""]
            print(f"{case}: {type(e).__name__}: {text[0][:160]}", file=sys.stderr)
    with open(os.path.join(TESTS, "expectations", "ops.json"), "w") as out:
        out.write("{\n" + ",\n".join(f"{json.dumps(c)}: {json.dumps(v)}" for c, v in found.items()) + "\n}\n")
    print(f"{len(found)} of {len(ops_cases.CASES)} expressions")


if __name__ == "__main__":
    main()
