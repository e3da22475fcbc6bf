"""Runs the commands of the seed documents as a reader types them."""
import json
import os
import pathlib
import subprocess
import sys

import sindri

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SINDRI_PROGRAM") or ROOT / "build" / "release" / "sindri")
LIMIT = 300  # seconds, for one command


def environment(**more):
    """Returns the tests' environment, without the variables that set this process's rank and without settings."""
    names = ("RANK_", "DEVICE_", "SERVER_ID", "MINDSPORE_HCCL", "OMPI_", "SLURM_", "CONFIG_PATH", "GTEST_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(names) and "__" not in k}
    env["PYTHONPATH"] = os.pathsep.join([os.path.dirname(os.path.dirname(sindri.__file__)), env.get("PYTHONPATH", "")])
    env.update(SINDRI_PROGRAM=str(PROGRAM), PYTHON=sys.executable, SINDRI_TUNE="0")
    env.update({k: str(v) for k, v in more.items()})
    return env


def typed(folder, shell, script, *words, **more):
    """Runs `SHELL SCRIPT WORDS...` in the folder."""
    return subprocess.run([shell, str(script), *map(str, words)], cwd=folder, env=environment(**more), capture_output=True, text=True, timeout=LIMIT, check=False)


def rank_table(path, ranks):
    """Writes a rank table of this host in the documents' form; returns its path."""
    devices = [{"device_id": str(i), "device_ip": f"192.{i + 1}.27.6", "rank_id": str(i)} for i in range(ranks)]
    server = {"server_id": "127.0.0.1", "device": devices, "host_nic_ip": "reserve"}
    path.write_text(json.dumps({"version": "1.0", "server_count": "1", "server_list": [server], "status": "completed"}))
    return path
