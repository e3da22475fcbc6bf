"""Runs scripts in separate processes that find two simulated accelerators (tests/device/simulator.h), or the CUDA backend's host run (tests/cuda_host)."""
import os
import re
import subprocess
import sys

IMPORTS = '''import ctypes, os, sys
import numpy as np
import mindspore as ms
from mindspore import nn, ops
from sindri import _core
'''
START = IMPORTS + '''simulator = ctypes.CDLL(os.environ["SIMULATOR"])
simulator.sindri_sim_set.restype = ctypes.c_char_p


def sim(text):
    """Sets faults and pauses from here on: tests/preload/simulator.cc lists them."""
    error = simulator.sindri_sim_set(text.encode())
    assert error is None, error
'''


def _find(file, target, what):
    """Returns the path of a library, in the folder of tests next to the shared library that this process has loaded, or why it is missing."""
    with open("/proc/self/maps", encoding="utf-8") as f:
        folders = re.findall(r"(/\S*/)libsindri\.so", f.read())
    path = os.path.join(folders[0], "tests", file) if folders else ""
    if os.path.exists(path):
        return path, None
    return None, f"{what} is not built: {path or 'no shared library'} | scripts/build.sh release {target}"


def find_library():
    """Returns the library of the simulated device."""
    return _find("libsindri_sim.so", "sindri_sim", "the simulated device")


def find_cuda_host():
    """Returns the plugin of the CUDA backend's host run."""
    return _find("cuda_host/libsindri_cuda_host.so", "sindri_cuda_host", "the host run of the CUDA backend")


def run(script, simulator=None, **environment):
    """Returns stdout and stderr of a script, which must succeed. With the simulator, START is prepended."""
    env = {**os.environ, **environment}
    if simulator is not None:
        env.update(SIMULATOR=simulator, SINDRI_SIM="delay=50,seed=3")
        script = START + script
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr
