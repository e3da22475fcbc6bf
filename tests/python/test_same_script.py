"""A MindSpore script, unchanged: scripts/lenet_digits.py under Sindri's package `mindspore`, compared with the losses that the real MindSpore printed in both
of its
modes (which were bitwise identical). Recorded with `python scripts/lenet_digits.py DIGITS graph`.
"""
import json
import os
import pathlib
import subprocess
import sys

import pytest

import sindri

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_losses_of_fifty_steps_are_mindspores(mode):
    expected = json.loads((HERE / "expectations" / "lenet_losses.json").read_text())["losses"]
    paths = [str(pathlib.Path(sindri.__file__).parents[1]), str(ROOT / "python")]  # python/mindspore is the package
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(paths))
    command = [sys.executable, str(HERE / "scripts" / "lenet_digits.py"), str(ROOT / "dataset" / "digits" / "digits.csv.gz"), mode]
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    losses = json.loads(run.stdout.splitlines()[-1])
    assert len(losses) == len(expected) == 50
    assert losses == pytest.approx(expected, rel=1e-4)
    assert min(losses) < losses[0] / 4
