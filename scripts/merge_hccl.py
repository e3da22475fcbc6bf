#!/usr/bin/env python3
"""Merges rank tables: `sindri ranktable merge` under the name that scripts for the reference models use.

usage: merge_hccl.py FILE...
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sindri_program import run_program  # noqa: E402

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print("usage: merge_hccl.py FILE...", file=sys.stderr)
        sys.exit(2)
    sys.exit(run_program(["ranktable", "merge", "--", *sys.argv[1:]]))
