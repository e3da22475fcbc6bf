"""`msrun`: MindSpore's launcher as a front end of `sindri run`."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

import sindri as ms

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SINDRI_PROGRAM") or ROOT / "build" / "release" / "sindri")
LIMIT = 120  # seconds, for one command
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(ms.__file__)))

pytestmark = pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="the sindri program is not built")

# The options in MindSpore 2.10's `msrun --help`.
FLAGS = ("--worker_num", "--local_worker_num", "--master_addr", "--master_port", "--node_rank", "--log_dir", "--join", "--cluster_time_out", "--bind_core",
         "--bind_numa", "--sim_level", "--sim_rank_id", "--rank_table_file", "--worker_log_name", "--tail_worker_log")
SCRIPT = """import os, sys, time
print("worker", os.environ["RANK_ID"], "of", os.environ["RANK_SIZE"], "device", os.environ["DEVICE_ID"], *sys.argv[1:], flush=True)
print("timeout", os.environ.get("SINDRI_DIST_INIT_TIMEOUT"), file=sys.stderr, flush=True)
if "--sleep" in sys.argv:
    open(f"ready_{os.environ['RANK_ID']}", "w").close()
    time.sleep(60)
sys.exit(3 if f"--fail={os.environ['RANK_ID']}" in sys.argv else 0)
"""
SUMS = """import sindri as ms
from sindri import ops
from sindri.communication import get_group_size, get_rank, init
init()
total = ops.AllReduce()(ms.Tensor([float(get_rank())], ms.float32))
print("rank", get_rank(), "of", get_group_size(), "sum", float(total.asnumpy()[0]), flush=True)
"""


def environment(**more):
    """Returns the tests' environment, without the variables that set this process's rank."""
    names = ("RANK_", "DEVICE_", "SERVER_ID", "OMPI_", "SLURM_", "MS_", "SINDRI_RANK", "SINDRI_WORLD", "SINDRI_MASTER", "SINDRI_DIST")
    env = {k: v for k, v in os.environ.items() if not k.startswith(names)}
    return {**env, "SINDRI_PYTHON": sys.executable, "PYTHONPATH": PACKAGE, "SINDRI_NUM_THREADS": "1", **more}


@pytest.fixture
def place(tmp_path):
    """Returns a folder with train.py, and the program under the name msrun."""
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "msrun").symlink_to(PROGRAM)
    return tmp_path


def msrun(place, *arguments, **more):
    return subprocess.run([str(place / "msrun"), *map(str, arguments)], cwd=place, env=environment(**more), capture_output=True, text=True, timeout=LIMIT, check=False)


def test_help_lists_mindspores_arguments(place):
    text = msrun(place, "--help")
    assert text.returncode == 0 and text.stdout == subprocess.run([PROGRAM, "msrun", "--help"], capture_output=True, text=True, check=True).stdout
    assert [flag for flag in FLAGS if f"  {flag} " not in text.stdout] == []


def test_joined_workers_are_shown_and_logged(place):
    """Start lines, the output of both workers and the logs have MindSpore's names; arguments after the script belong to the script."""
    r = msrun(place, "--worker_num=2", "--local_worker_num", 2, "--log_dir=logs", "--join=True", "--cluster_time_out=30", "train.py", "--join=False", "x y")
    assert r.returncode == 0, r.stderr
    for i in range(2):
        assert f"Start worker process with rank id:{i}, log file:logs/worker_{i}.log. Environment variable [RANK_ID={i}] is exported. Execute command: " in r.stdout
        line = f"worker {i} of 2 device {i} --join=False x y\n"
        assert line in r.stdout and (place / f"logs/worker_{i}.log").read_text() == line + "timeout 30\n"
    assert (place / "logs/scheduler.log").read_text().endswith("msrun: the job ended with exit code 0\n")
    assert sorted(p.name for p in (place / "logs").iterdir()) == ["scheduler.log", "worker_0.log", "worker_1.log"]


def test_chosen_workers_are_shown(place):
    r = msrun(place, "--worker_num=3", "--local_worker_num=3", "--join=True", "--tail_worker_log=0,2", "--worker_log_name=w_{hostname}", "train.py")
    assert re.findall(r"^worker (\d)", r.stdout, re.M) in (["0", "2"], ["2", "0"])
    assert (place / f"w_{socket.gethostname()}_1.log").read_text().startswith("worker 1 of 3 ")


def test_exit_code_is_the_jobs(place):
    r = msrun(place, "--worker_num=2", "--local_worker_num=2", "--join=True", "train.py", "--fail=1")
    assert r.returncode == 3 and "rank 1" in r.stderr


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def test_without_join_it_returns_at_once(place):
    """The workers keep running; their launcher ends them on request and reports it in scheduler.log."""
    r = msrun(place, "--worker_num=2", "--local_worker_num=2", "--log_dir=logs", "train.py", "--sleep")
    assert r.returncode == 0 and "\nworker " not in r.stdout
    wait_for(lambda: all((place / f"ready_{i}").exists() for i in range(2)))
    os.kill(int(re.search(r"msrun: process (\d+) watches", r.stdout)[1]), signal.SIGTERM)
    wait_for(lambda: "ended with exit code 143\n" in (place / "logs/scheduler.log").read_text())


@pytest.mark.parametrize(("arguments", "text"), [
    (["--worker_num=4", "--local_worker_num=2", "train.py"], "2 of 4 workers are on this host, but --node_rank is missing"),
    (["--worker_num=2", "train.py"], "--local_worker_num=8 of --worker_num=2"),
    (["--worker_num=4", "--local_worker_num=2", "--node_rank=2", "train.py"], "its workers would be ranks 4 to 5 of 4"),
    (["--worker_num=0", "--local_worker_num=0", "train.py"], "at least one worker"),
    (["--worker_nun=2", "train.py"], "did you mean '--worker_num'?"),
    (["--worker_num=1", "--local_worker_num=1", "none.py"], "there is no script 'none.py'"),
    (["--worker_num=1", "--local_worker_num=1"], "no script to run"),
    (["--worker_num=1", "--local_worker_num=1", "--join=maybe", "train.py"], "--join=maybe is neither True nor False"),
    (["--worker_num=1", "--local_worker_num=1", "--join=True", "--tail_worker_log=1", "train.py"], "'1' is not a worker of this host"),
    (["--worker_num=1", "--local_worker_num=1", "--sim_level=1", "train.py"], "workers are not simulated"),
])
def test_wrong_arguments(place, arguments, text):
    r = msrun(place, *arguments)
    assert r.returncode == 2 and text in r.stderr and "  fix: " in r.stderr
    assert not list(place.glob("*.log"))


def test_two_hosts_are_one_job(place):
    """Two launchers, as on two hosts: the ranks are numbered across both, and reductions include all of them."""
    (place / "sums.py").write_text(SUMS)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    nodes = []
    try:
        for i in range(2):
            words = ["--worker_num=4", "--local_worker_num=2", f"--node_rank={i}", "--master_addr=127.0.0.1", f"--master_port={port}", f"--log_dir=host{i}", "--join=True"]
            nodes.append(subprocess.Popen([place / "msrun", *words, "sums.py"], cwd=place, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        outputs = [p.communicate(timeout=LIMIT)[0] for p in nodes]
    finally:
        for p in nodes:
            p.kill()
    assert [p.returncode for p in nodes] == [0, 0], outputs
    assert sorted(re.findall(r"^rank .*", "".join(outputs), re.M)) == [f"rank {r} of 4 sum 6.0" for r in range(4)]
    assert (place / "host1/worker_3.log").is_file()


def test_the_package_has_the_command(place):
    """The command that the wheel installs as `msrun`."""
    text = (ROOT / "python/pyproject.toml").read_text()
    assert 'msrun = "sindri.__main__:msrun"' in text
    code = "import sys; sys.argv = ['msrun', *sys.argv[1:]]; from sindri.__main__ import msrun; msrun()"
    r = subprocess.run([sys.executable, "-c", code, "--worker_num=1", "--local_worker_num=1", "--join=True", "train.py"], cwd=place,
                       env=environment(SINDRI_PROGRAM=str(PROGRAM)), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert r.returncode == 0 and "worker 0 of 1 device 0\n" in r.stdout, r.stderr
