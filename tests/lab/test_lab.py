"""Simulated hosts are separate, connected, shaped, and removed afterwards."""
import os
import signal
import subprocess
import sys
import time

import pytest

from lab import Hang, Lab, _remove_stale, _run

SERVER = """
import socket, sys
s = socket.create_server(("", 29560)); print("listening", flush=True)
c, _ = s.accept(); n = 0
while d := c.recv(1 << 16): n += len(d)
print("received", n, flush=True)
"""
CLIENT = """
import socket, sys, time
n = int(sys.argv[2]); c = socket.create_connection((sys.argv[1], 29560)); t = time.time()
c.sendall(b"x" * n); c.shutdown(1); c.recv(1); print("seconds", time.time() - t, flush=True)
"""
SLEEPER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from lab import Lab
with Lab(1) as lab:
    p = lab.start(1, ["sleep", "60"])
    print(lab.prefix, p.pid, flush=True)
    time.sleep(60)
"""


def test_rate_counters_and_partition():
    """A transfer takes the time given by the link's rate, counters see the bytes, and a disconnected link passes nothing."""
    n = 2_500_000
    with Lab(2, rate="100mbit") as lab:
        server = lab.start(1, [sys.executable, "-c", SERVER])
        server.wait_for("listening", 5)
        before = lab.sent(2)
        client = lab.start(2, [sys.executable, "-c", CLIENT, lab.address(1), str(n)])
        assert client.wait(10) == 0 and server.wait(5) == 0
        assert f"received {n}" in server.text()
        seconds = float(client.text().split()[1])
        assert 0.9 * n * 8 / 100e6 <= seconds <= 1.3 * n * 8 / 100e6
        assert n <= lab.sent(2) - before <= 1.07 * n
        lab.nothing_left()

        server = lab.start(1, [sys.executable, "-c", SERVER])
        server.wait_for("listening", 5)
        lab.link(2, up=False)
        client = lab.start(2, [sys.executable, "-c", CLIENT, lab.address(1), "10"])
        time.sleep(0.5)
        assert client.running() and server.running()
        lab.link(2, up=True)
        assert client.wait(10) == 0


def test_hosts_are_apart():
    """Each host has its own name, ports and shared memory; processes of one host share its memory."""
    with Lab(2) as lab:
        first = lab.start(1, ["sh", "-c", "touch /dev/shm/segment; hostname; exec sleep 60"])
        first.wait_for("h1", 5)
        assert lab.start(1, ["test", "-e", "/dev/shm/segment"]).wait(5) == 0
        assert lab.start(2, ["test", "-e", "/dev/shm/segment"]).wait(5) == 1
        assert lab.find("sleep") == [first.pid] and lab.find("sleep", 2) == []
        with pytest.raises(AssertionError, match="segment"):
            lab.nothing_left(0.1)
        with pytest.raises(Hang, match="did not end within 0.1 s"):
            first.wait(0.1)
        first.signal(signal.SIGKILL)
        assert first.wait(5) == 137
        lab.end_all()
        lab.nothing_left()


def test_nothing_stays():
    """Nothing remains of a lab left in the middle, nor of one whose process was killed."""
    with pytest.raises(KeyError), Lab(1) as lab:
        lab.start(1, ["sleep", "60"])
        raise KeyError
    assert lab.prefix not in _run("ip", "netns", "list")
    assert not lab.shared_memory(1).exists()

    with subprocess.Popen([sys.executable, "-c", SLEEPER, os.path.dirname(__file__)], stdout=subprocess.PIPE, text=True) as killed:
        prefix, pid = killed.stdout.readline().split()
        killed.kill()
    assert prefix in _run("ip", "netns", "list") and os.path.exists(f"/proc/{pid}")
    _remove_stale()
    assert prefix not in _run("ip", "netns", "list")
    deadline = time.monotonic() + 5
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not os.path.exists(f"/proc/{pid}")
