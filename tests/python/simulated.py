"""Scripts in processes of their own that find two simulated accelerators (tests/device/simulator.h)."""
import os
import re
import subprocess
import sys

START = '''import ctypes, os, sys
import numpy as np
import mindspore as ms
from mindspore import nn, ops
from sindri import _core
simulator = ctypes.CDLL(os.environ["SIMULATOR"])
simulator.sindri_sim_set.restype = ctypes.c_char_p


def sim(text):
    """Faults and pauses from here on: tests/preload/simulator.cc lists them."""
    error = simulator.sindri_sim_set(text.encode())
    assert error is None, error
'''


def find_library():
    """The library's path, as it lies beside the shared library that this process has loaded, or why it is not there."""
    with open("/proc/self/maps", encoding="utf-8") as f:
        folders = re.findall(r"(/\S*/)libsindri\.so", f.read())
    path = os.path.join(folders[0], "tests", "libsindri_sim.so") if folders else ""
    if os.path.exists(path):
        return path, None
    return None, f"the simulated device is not built: {path or 'no shared library'} | scripts/build.sh release sindri_sim"


def run(script, simulator=None, **environment):
    """stdout and stderr of a script, which must end well. With the simulator, START stands before it."""
    env = {**os.environ, **environment}
    if simulator is not None:
        env.update(SIMULATOR=simulator, SINDRI_SIM="delay=50,seed=3")
        script = START + script
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr
