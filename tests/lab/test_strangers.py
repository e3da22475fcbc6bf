"""Strangers at a job's rendezvous port: only processes that know its token can join, and the job continues without the others."""
import os
import re
import sys
import time

from job import PORT, Job
from lab import PROGRAM, ROOT, Lab

GARBAGE = """
import os, socket, sys, time
kept = []
for i in range(40):  # half of them stay silent, some send garbage
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
    if i % 2 == 0: s.sendall(os.urandom(3000) if i % 4 else b"GET / HTTP/1.1\\r\\n\\r\\n")
    kept.append(s)
print("there", flush=True)
time.sleep(60)
"""


def test_garbage_and_half_open_connections():
    """Forty connections from strangers, before the other ranks join and while the job trains: the job finishes normally."""
    with Lab(2) as lab:
        job = Job(lab, "hosts", settings=["train.max_steps=100"]).start(only_hosts=[1])
        job.pid(0)
        time.sleep(0.7)  # until it listens
        stranger = lab.start(2, [sys.executable, "-c", GARBAGE, lab.address(1), PORT])
        stranger.wait_for("there", 10)
        first = dict(job.processes)
        job.start(only_hosts=[2])
        job.processes.update(first)
        for rank, p in job.processes.items():
            assert p.wait(60) == 0, f"rank {rank}: {job.texts()}"
        assert stranger.running()
        lab.end_all()
        lab.nothing_left()


def test_wrong_token():
    """A rank with another token is rejected and says why; the job fails within init_timeout and names the missing rank."""
    with Lab(2) as lab:
        job = Job(lab, "hosts", settings=["dist.init_timeout=5"], before={3: "export SINDRI_JOB_TOKEN=another"}).start()
        job.wait_end(9)
        job.expect_codes(launcher=7, others=7)
        job.expect_printed(r"E7006.*(token|refused)", [3])
        job.expect_printed(r"E7006.*3", [0])
        lab.nothing_left()


def test_no_route():
    """An address without a route: every rank reports it within init_timeout."""
    with Lab(2) as lab:
        job = Job(lab, "hosts", settings=["dist.init_timeout=3"], before={r: "export MASTER_ADDR=10.99.0.1" for r in (2, 3)}).start()
        job.wait_end(8)
        job.expect_codes(launcher=7, others=7)
        job.expect_printed(rf"E7006.*10\.99\.0\.1:{PORT}", [2, 3])
        job.expect_printed(r"E7006.*2, 3", [0])
        lab.nothing_left()


def test_another_graph():
    """A rank that trains another network: reported on all ranks before step 1, with the line in which the two differ and which rank has which."""
    with Lab(2) as lab:
        job = Job(lab, "hosts", before={2: 'extra="--set model.name=digits"'}).start()
        job.wait_end(10)
        job.expect_codes(launcher=7, others=7)
        print(job.texts());job.expect_printed(r"E7003.*\b2\b.*digits", range(4))
        assert job.steps() == 0, job.texts()
        lab.nothing_left()


VERSION = re.search(r'SINDRI_VERSION_STRING "(\d+\.\d)(\.\d+)"', (ROOT / "include/sindri/version.h").read_text(encoding="utf-8"))
OTHER = VERSION[1][:-1] + str((int(VERSION[1][-1]) + 1) % 10)


def of_another_version(folder):
    """Writes a folder with the library patched to another version: the version number's bytes are changed wherever they occur, also inside instructions."""
    build = PROGRAM.parent
    library = (build / "libsindri.so").resolve().read_bytes()
    folder.mkdir()
    (folder / os.readlink(build / "libsindri.so")).write_bytes(library.replace(f"{VERSION[1]}.".encode(), f"{OTHER}.".encode()))
    return folder


def test_another_version():
    """A real program of another version with the right token is rejected and says why; the others keep waiting and name it as missing."""
    with Lab(2) as lab:
        other = of_another_version(lab.folder / "other")
        job = Job(lab, "hosts", settings=["dist.init_timeout=5"], before={3: f"export LD_LIBRARY_PATH={other}"}).start()
        job.wait_end(9)
        job.expect_codes(launcher=7, others=7)
        job.expect_printed(rf"E7006.*it runs version {OTHER}{VERSION[2]} of Sindri, this is {VERSION[1]}{VERSION[2]}", [3])
        job.expect_printed(r"E7006.*\b3\b", [0, 1, 2])
        assert job.steps() == 0, job.texts()
        lab.nothing_left()
