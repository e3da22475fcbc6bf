#!/usr/bin/env python3
"""Runs random calls in this tree's package and in the real MindSpore, and prints the differences.

    PYTHONPATH=python compare_random.py --theirs PYTHON [--calls 1000] [--seed 1] [--all] [--only TEXT]

Run it with this tree's Python; PYTHON is one that has MindSpore 2.10 (scripts/peers.sh creates it). mindspore_2_10/random_cases.py draws the calls: the same
seed
gives the same calls, another seed gives others. A call is equal if both packages return the same type, element type, shape and values, within the rounding of
the
type, or if both raise. Calls that only the real package rejects are counted but not printed (--all prints them): its CPU build lacks kernels and element types.
Every other difference is a defect in one of the packages, or has been decided (docs/guide/migration.md, differences.txt); NumPy and PyTorch show which. About 1
in
70 calls differs, most of them in empty reductions, NaN and float64, which the real kernels compute in float32. Each fixed defect gets a case in
mindspore_2_10/cases. --only repeats the calls that contain a text.
"""
import argparse
import collections
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "mindspore_2_10"))

import compare  # noqa: E402
import random_cases  # noqa: E402
import run_cases  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--theirs", required=True, metavar="PYTHON", help="a Python with MindSpore 2.10")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="also print the calls that only the real package rejects")
    parser.add_argument("--only", metavar="TEXT", help="run only the drawn calls that contain TEXT")
    arguments = parser.parse_args()
    cases = [case for case in random_cases.draw(arguments.calls, arguments.seed) if arguments.only is None or arguments.only in case]

    def run(name, python, env):
        def report(done, total):
            print(f"\r{name}: {done} of {total} calls", end="", file=sys.stderr, flush=True)
        results = run_cases.isolated(cases, python=python, env={**env, "COMPARE_ERRORS": "1"}, report=report)
        print(file=sys.stderr)
        return results
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # this tree's package has the same name
    ours, theirs = run("here", sys.executable, os.environ), run("there", arguments.theirs, {**without, "GLOG_v": "4"})
    kinds = {case: compare.difference(ours[case], theirs[case]) for case in cases}
    for case, kind in kinds.items():
        if kind and (arguments.all or kind != "error there only"):
            print(f"{kind}: {case}\n    here  {json.dumps(ours[case])[:300]}\n    there {json.dumps(theirs[case])[:300]}")
    both = sum(ours[case][0] == theirs[case][0] == "error" for case in cases)
    counts = collections.Counter(kind for kind in kinds.values() if kind)
    print(f"{len(cases)} calls of seed {arguments.seed}, {len(cases) - counts.total()} equal ({both} of them rejected by both)",
          *(f", {count} {kind}" for kind, count in counts.most_common()), sep="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
