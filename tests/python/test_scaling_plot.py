"""The plot of docs/guide/distributed.md is the one that scripts/scaling_plot.py draws from the program's model and the committed points."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SINDRI_PROGRAM") or ROOT / "build" / "release" / "sindri")


def check(program):
    """Returns the exit code and output of `scaling_plot.py --check`."""
    r = subprocess.run([sys.executable, ROOT / "scripts/scaling_plot.py", "--check", "--program", program], check=False, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=60)
    return r.returncode, r.stdout


@pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="the sindri program is not built")
def test_the_picture_is_that_of_the_model(tmp_path):
    assert check(PROGRAM) == (0, "the plot is up to date\n")
    other = tmp_path / "sindri"  # another model with other percentages
    other.write_text(f'#!/bin/sh\n"{PROGRAM}" "$@" | sed "s/95\\.7/94.7/"\n', encoding="utf-8")
    other.chmod(0o755)
    code, said = check(other)
    assert code == 1 and "is out of date: run" in said
