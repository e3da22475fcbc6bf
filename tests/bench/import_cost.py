"""Measures the cost of importing a framework: the time of `import NAME`, the memory it uses, and the disk size of its packages.

    python3 tests/bench/import_cost.py sindri=PYTHON torch=PYTHON mindspore=PYTHON [--rounds 9]

PYTHON is an interpreter in whose environment the module is installed. Each import runs in a separate process, all modules alternately. `import numpy` of the first
environment is measured too, for comparison. The size is that of the distribution's files and of its requirements' files (without extras).
"""
import argparse
import json
import os
import statistics
import subprocess

IMPORT = """
import resource, time
start = time.perf_counter()
import {name}
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
SIZES = """
import importlib.metadata as m, json, os, re
sizes, names = {{}}, ["{name}"]
while names:
    name = re.sub(r"[-_.]+", "-", names.pop()).lower()
    try:
        found = m.distribution(name)
    except m.PackageNotFoundError:
        continue
    if name in sizes:
        continue
    files = [found.locate_file(f) for f in found.files or [] if "__pycache__" not in str(f)]
    sizes[name] = sum(os.path.getsize(f) for f in files if os.path.exists(f))
    names += [re.match(r"[\\w.-]+", r)[0] for r in found.requires or [] if "extra ==" not in r]
print(json.dumps(dict(version=m.version("{name}"), sizes=sizes)))
"""


def run(python, code, name):
    # Without PYTHONPATH: otherwise `import mindspore` would import Sindri's package of that name.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run([python, "-c", code.format(name=name)], env=env, cwd="/", check=True, capture_output=True, text=True).stdout.splitlines()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+", metavar="NAME=PYTHON")
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    modules = [m.split("=", 1) for m in args.modules]
    modules.append(["numpy", modules[0][1]])
    taken = {name: [] for name, _ in modules}
    for _ in range(args.rounds + 1):
        for name, python in modules:
            taken[name].append([float(x) for x in run(python, IMPORT, name).split()])
    print(f"{'module':12}{'version':10}{'import, s':>11}{'least':>8}{'most':>8}{'peak memory, MB':>17}{'itself, MB':>12}{'with what it requires, MB':>27}")
    for name, python in modules:
        seconds, memory = zip(*taken[name][1:])  # the first import reads from disk
        found = json.loads(run(python, SIZES, name))
        own = found["sizes"].get(name, 0) / 1e6
        print(f"{name:12}{found['version']:10}{statistics.median(seconds):11.2f}{min(seconds):8.2f}{max(seconds):8.2f}{statistics.median(memory):17.0f}{own:12.0f}"
              f"{sum(found['sizes'].values()) / 1e6:27.0f}")


if __name__ == "__main__":
    main()
