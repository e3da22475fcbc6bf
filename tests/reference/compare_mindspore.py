#!/usr/bin/env python3
"""Compares this tree's package `mindspore` with the real MindSpore (2.10.0, CPU, numpy<2): small calls and signatures.

    compare_mindspore.py record [MODULE...]    under the real MindSpore's Python: runs the calls of mindspore_2_10/cases that results.json lacks (all
                                               of them with --all) and stores the results
    compare_mindspore.py signatures            the same for names, signatures and defaults
    compare_mindspore.py diff [MODULE...]      under our Python (PYTHONPATH=python): runs the calls and prints results that differ from the stored
                                               ones and are not listed in mindspore_2_10/differences.txt; --all also prints those that are listed

tests/python/test_compare_mindspore.py runs the diff for every call. A difference is either fixed, or listed in differences.txt with its reason.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mindspore_2_10")
sys.path.insert(0, HERE)

import cases  # noqa: E402
import compare  # noqa: E402
import run_cases  # noqa: E402
import signatures  # noqa: E402

RESULTS = os.path.join(HERE, "results.json")


def progress(done, total):
    print(f"\r{done} of {total} calls", end="", file=sys.stderr, flush=True)


def write(path, table):
    with open(path, "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in table.items()) + "\n}\n")


def record(modules, everything):
    known = {}
    if os.path.exists(RESULTS) and not everything:
        with open(RESULTS, encoding="utf-8") as file:
            known = json.load(file)
    wanted = cases.load(modules)
    known.update(run_cases.isolated([c for c in wanted if c not in known], report=progress))
    write(RESULTS, {c: known[c] for c in cases.load() if c in known})
    print(f"\n{RESULTS}: {len(wanted)} calls")


def diff(modules, everything):
    with open(RESULTS, encoding="utf-8") as file:
        stored = json.load(file)
    theirs = {c: stored[c] for c in cases.load(modules) if c in stored}
    listed = {} if everything else {c: r for c, r in compare.decided().items() if c in theirs}
    ours = run_cases.isolated(theirs, env={**os.environ, "COMPARE_ERRORS": "1"}, report=progress)
    print(file=sys.stderr)
    wrong = compare.findings(ours, theirs, listed)
    for case, kind in wrong:
        print(f"{kind}: {case}\n    here  {json.dumps(ours.get(case))[:300]}\n    there {json.dumps(theirs.get(case))[:300]}")
    print(f"{len(theirs)} calls, {len(wrong)} to decide, {len(listed)} decided")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("record", "signatures", "diff"))
    parser.add_argument("modules", nargs="*", default=cases.MODULES, help="modules of mindspore_2_10/cases")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    if arguments.verb == "diff":
        return diff(arguments.modules, arguments.all)
    if "sindri" in sys.modules or subprocess.run([sys.executable, "-c", "import sindri"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        parser.error("this Python has Sindri; run it with the real MindSpore's")
    if arguments.verb == "record":
        record(arguments.modules, arguments.all)
    else:
        write(os.path.join(HERE, "signatures.json"), signatures.collect())
    return 0


if __name__ == "__main__":
    sys.exit(main())
