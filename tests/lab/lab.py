"""Simulates hosts on one machine: network namespaces joined by a bridge, each with one shaped link.

    with Lab(hosts=2, rate="1gbit") as lab:
        job = lab.start(1, ["sindri", "train", ...], env={...})
        lab.link(2, up=False)
        assert job.wait(10) == 7

Host i has the address 10.77.0.i, the name h<i>, a separate loopback, so that ports never collide, and a separate folder for /dev/shm. So the processes and files of
each host are known: `pids`, `segments`. Everything is removed at the end of the block; the remains of a killed lab are removed when the next
one
starts. Traffic never leaves the machine.
"""
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SINDRI_PROGRAM") or ROOT / "build" / "release" / "sindri")
SUBNET = "10.77.0"
_numbers = itertools.count()


class Hang(AssertionError):
    """Raised when something does not end in time."""


def _run(*words, check=True):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def unavailable():
    """Returns why hosts cannot be simulated here; an empty string if they can."""
    if os.geteuid() != 0:
        return "no network namespaces: they need root"
    for tool in ("ip", "tc", "unshare", "mount"):
        if shutil.which(tool) is None:
            return f"no network namespaces: the program {tool} is missing (packages iproute2, util-linux)"
    name = f"sl{os.getpid()}try"
    try:
        _run("ip", "netns", "add", name)
        _run("ip", "-n", name, "link", "add", "a0", "type", "veth", "peer", "name", "b0")
        _run("tc", "-n", name, "qdisc", "add", "dev", "a0", "root", "tbf", "rate", "100mbit", "burst", "32kb", "latency", "50ms")
        _run("ip", "-n", name, "link", "add", "br0", "type", "bridge")
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return f"no network namespaces: {error}"
    finally:
        _run("ip", "netns", "del", name, check=False)
    return ""


def _namespace_pids(name):
    return [int(p) for p in _run("ip", "netns", "pids", name, check=False).split()]


def _kill_all(name, limit=5):
    """Kills the processes in a namespace, one by one."""
    until = time.monotonic() + limit
    while pids := _namespace_pids(name):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > until:
            raise Hang(f"processes {pids} of {name} did not end")
        time.sleep(0.01)


def _remove_stale():
    """Removes labs whose process no longer exists."""
    for line in _run("ip", "netns", "list", check=False).splitlines():
        found = re.match(r"(sl(\d+)x\d+(?:sw|h\d+))\b", line)
        if found and not os.path.exists(f"/proc/{found[2]}"):
            _kill_all(found[1])
            _run("ip", "netns", "del", found[1], check=False)
    for folder in pathlib.Path(tempfile.gettempdir()).glob("sindri-lab-sl*x*-*"):
        found = re.match(r"sindri-lab-sl(\d+)x", folder.name)
        if found and not os.path.exists(f"/proc/{found[1]}"):
            _run("umount", str(folder / "shm"), check=False)
            shutil.rmtree(folder, ignore_errors=True)


class Process:
    """A program on a host. Its output goes to the file `log`."""

    def __init__(self, popen, log, what, host):
        self.popen, self.log, self.what, self.host = popen, log, what, host
        self.begun, self.ended = time.monotonic(), None

    @property
    def pid(self):
        """The program's own process id: the command that enters the namespace is replaced by the program."""
        return self.popen.pid

    def running(self):
        """Returns whether it still runs."""
        if self.popen.poll() is None:
            return True
        if self.ended is None:
            self.ended = time.monotonic()
        return False

    def wait(self, limit):
        """Returns the exit code, 128 + number if a signal ended it. Raises Hang after `limit` seconds."""
        try:
            code = self.popen.wait(limit)
        except subprocess.TimeoutExpired:
            raise Hang(f"{self.what} did not end within {limit:g} s; its output:\n{self.tail()}") from None
        if self.ended is None:
            self.ended = time.monotonic()
        return 128 - code if code < 0 else code

    def signal(self, number):
        """Sends a signal to this process only."""
        os.kill(self.pid, number)

    def text(self):
        """Returns its output so far."""
        return pathlib.Path(self.log).read_text(encoding="utf-8", errors="replace")

    def tail(self, lines=40):
        """Returns the last lines of the output."""
        return "\n".join(self.text().splitlines()[-lines:])

    def wait_for(self, pattern, limit):
        """Waits until the output matches the pattern, and returns the match. Raises Hang after `limit` seconds, AssertionError if the program ends first."""
        return wait_until(lambda: re.search(pattern, self.text(), re.M), limit, f"{self.what} saying {pattern!r}", self)


def wait_until(condition, limit, what, process=None):
    """Returns the first true result of `condition()`."""
    until = time.monotonic() + limit
    while True:
        running = process is None or process.running()
        if value := condition():
            return value
        if not running:
            raise AssertionError(f"{what}: it ended too early, with exit code {process.wait(1)}; its output:\n{process.tail()}")
        if time.monotonic() > until:
            raise Hang(f"no {what} within {limit:g} s" + (f"; its output:\n{process.tail()}" if process else ""))
        time.sleep(0.01)


class Lab:
    """`hosts` hosts; `rate` and `burst` in tc's notation, None for unshaped links. `congestion`: TCP's congestion control on every host, whatever this machine
    uses; reno is in every kernel and allowed in every namespace."""

    def __init__(self, hosts, rate=None, burst="32kb", congestion="reno"):
        self.hosts, self.rate, self.burst, self.congestion = hosts, rate, burst, congestion
        self.prefix = f"sl{os.getpid()}x{next(_numbers)}"
        self.switch = self.prefix + "sw"
        self.folder = None
        self._temporary = None
        self.processes = []

    def name(self, host):
        """Returns the namespace's name."""
        return f"{self.prefix}h{host}"

    @staticmethod
    def address(host):
        """Returns the address of the host's link."""
        return f"{SUBNET}.{host}"

    def __enter__(self):
        _remove_stale()
        self._temporary = tempfile.TemporaryDirectory(prefix=f"sindri-lab-{self.prefix}-")
        self.folder = pathlib.Path(self._temporary.name)
        try:
            (self.folder / "shm").mkdir()
            _run("mount", "-t", "tmpfs", "sindri-lab", str(self.folder / "shm"))
            self._build()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _build(self):
        _run("ip", "netns", "add", self.switch)
        _run("ip", "-n", self.switch, "link", "add", "br0", "type", "bridge")
        _run("ip", "-n", self.switch, "link", "set", "br0", "up")
        for h in range(1, self.hosts + 1):
            ns = self.name(h)
            _run("ip", "netns", "add", ns)
            _run("ip", "link", "add", "eth0", "netns", ns, "type", "veth", "peer", "name", f"p{h}", "netns", self.switch)
            _run("ip", "-n", ns, "addr", "add", f"{self.address(h)}/24", "dev", "eth0")
            _run("ip", "-n", ns, "link", "set", "lo", "up")
            _run("ip", "-n", ns, "link", "set", "eth0", "up")
            _run("ip", "netns", "exec", ns, "sysctl", "-q", "-w", f"net.ipv4.tcp_congestion_control={self.congestion}")
            _run("ip", "-n", self.switch, "link", "set", f"p{h}", "master", "br0", "up")
            for where, device in ((ns, "eth0"), (self.switch, f"p{h}")):
                if self.rate:
                    _run("tc", "-n", where, "qdisc", "add", "dev", device, "root", "tbf", "rate", self.rate, "burst", self.burst, "latency", "50ms")
            self.shared_memory(h).mkdir()
        # Open MPI's command for starting processes on other hosts: `nsrsh ADDRESS words`.
        cases = "".join(f'{self.address(h)}) ns={self.name(h)}; shm={self.shared_memory(h)}; name=h{h} ;;\n' for h in range(1, self.hosts + 1))
        self.nsrsh.write_text(f'#!/bin/sh\nhost=$1; shift\ncase "$host" in\n{cases}*) echo "no host $host" >&2; exit 1 ;;\nesac\n'
                              'exec ip netns exec "$ns" unshare --uts --mount sh -c "hostname $name; mount --bind $shm /dev/shm; exec sh -c \\"\\$0\\"" "$*"\n',
                              encoding="utf-8")
        self.nsrsh.chmod(0o755)

    @property
    def nsrsh(self):
        """The program for Open MPI's plm_rsh_agent."""
        return self.folder / "nsrsh"

    def shared_memory(self, host):
        """Returns the folder that serves as the host's /dev/shm."""
        return self.folder / "shm" / f"h{host}"

    def start(self, host, words, env=None, cwd=None, name=None):
        """Starts a program on a host, with `env` added to the environment."""
        what = name or f"{pathlib.Path(str(words[0])).name} on host {host}"
        log = self.folder / f"{len(self.processes)}.log"
        script = f'hostname h{host}; mount --bind {self.shared_memory(host)} /dev/shm; exec "$@"'
        with open(log, "wb") as out:
            popen = subprocess.Popen(
                ["ip", "netns", "exec", self.name(host), "unshare", "--uts", "--mount", "sh", "-c", script, "sh", *map(str, words)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=cwd or self.folder, start_new_session=True,
                env={**os.environ, **{k: str(v) for k, v in (env or {}).items()}})
        process = Process(popen, log, what, host)
        self.processes.append(process)
        return process

    def link(self, host, up):
        """Connects or disconnects a host's link."""
        _run("ip", "-n", self.switch, "link", "set", f"p{host}", "up" if up else "down")

    def sent(self, host):
        """Returns the bytes a host has sent on its link so far, headers included."""
        return json.loads(_run("ip", "-n", self.name(host), "-s", "-j", "link", "show", "eth0"))[0]["stats64"]["tx"]["bytes"]

    def pids(self, host=None):
        """Returns {pid: command line} of the processes on a host, or on all hosts."""
        found = {}
        for h in [host] if host else range(1, self.hosts + 1):
            for pid in _namespace_pids(self.name(h)):
                with contextlib.suppress(OSError):
                    line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                    if line:  # an empty line: a process that has ended and waits for its parent
                        found[pid] = line
        return found

    def find(self, pattern, host=None):
        """Returns the pids whose command line matches."""
        return sorted(pid for pid, line in self.pids(host).items() if re.search(pattern, line))

    def nothing_left(self, limit=3):
        """Raises AssertionError if after `limit` seconds a process still runs on a host, or a file remains in its /dev/shm."""
        until = time.monotonic() + limit
        while time.monotonic() < until and self.pids():
            time.sleep(0.02)
        left = self.pids()
        segments = {h: sorted(p.name for p in self.shared_memory(h).rglob("*")) for h in range(1, self.hosts + 1)}
        segments = {h: s for h, s in segments.items() if s}
        if left or segments:
            raise AssertionError(f"still there: processes {left}, shared memory {segments}")

    def end_all(self):
        """Ends the processes on the hosts and empties each /dev/shm, so that the lab can be used again."""
        for h in range(1, self.hosts + 1):
            _kill_all(self.name(h))
            for left in self.shared_memory(h).glob("*"):
                shutil.rmtree(left) if left.is_dir() else left.unlink()
        for p in self.processes:
            p.wait(5)

    def close(self):
        """Ends everything. Errors on the way are reported, and the remaining steps are still done."""
        for name in [*(self.name(h) for h in range(1, self.hosts + 1)), self.switch]:
            try:
                _kill_all(name)
                _run("ip", "netns", "del", name, check=False)
            except (Hang, subprocess.TimeoutExpired) as error:
                print(f"lab: {error}", file=sys.stderr)
        for p in self.processes:
            with contextlib.suppress(Hang):
                p.wait(5)
        if self._temporary:
            _run("umount", str(self.folder / "shm"), check=False)
            self._temporary.cleanup()
