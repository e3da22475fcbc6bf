#!/usr/bin/env python3
"""The dataset part of compare_mindspore.py: rows, sizes, samplers, transforms (mindspore_2_10/cases/dataset_.py).

    compare_mindspore_dataset.py record     under the real MindSpore's Python: stores the results of new calls; --all runs all calls again
    compare_mindspore_dataset.py diff       under our Python (PYTHONPATH=python): prints undecided differences; --all prints all
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import compare_mindspore  # noqa: E402


def main():
    verbs = [a for a in sys.argv[1:] if a in ("record", "diff")]
    if len(verbs) != 1 or set(sys.argv[1:]) - {"record", "diff", "--all"}:
        sys.exit(__doc__)
    everything = "--all" in sys.argv[1:]
    return compare_mindspore.diff(["dataset_"], everything) if verbs == ["diff"] else compare_mindspore.record(["dataset_"], everything)


if __name__ == "__main__":
    sys.exit(main())
