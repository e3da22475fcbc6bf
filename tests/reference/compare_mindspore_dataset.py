#!/usr/bin/env python3
"""The data part of compare_mindspore.py by itself: rows, sizes, samplers, transforms (mindspore_2_10/cases/dataset_.py).

    compare_mindspore_dataset.py record     under the real MindSpore's Python: stores what calls that are new give; --all runs them all again
    compare_mindspore_dataset.py diff       under our Python (PYTHONPATH=python): prints what differs and is not decided; --all prints all
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
