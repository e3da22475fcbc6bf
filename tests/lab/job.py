"""A training run of several ranks on the hosts of a lab, in one of three layouts:

    run     one host, `sindri run` starts the ranks
    hosts   two hosts, every rank started separately, as batch systems and users do
    mpi     two hosts, Open MPI's mpirun starts the ranks

Each rank runs `sindri train` on the small digits, started by a script. The script gives each rank its own settings, sets a file that makes it misbehave
(tests/preload/lab_net.cc), and records its process id.
"""
import contextlib
import gzip
import os
import pathlib
import re
import signal
import time

from lab import PROGRAM, ROOT, Hang, wait_until

LIBRARY = PROGRAM.parent / "tests" / "liblab_net.so"
PORT = 29560
DIGITS = ROOT / "dataset" / "digits" / "digits.csv.gz"

WRAPPER = """#!/bin/sh
rank=${{SINDRI_RANK:-${{RANK:-${{OMPI_COMM_WORLD_RANK}}}}}}
export LAB_FAULT={folder}/fault.$rank SINDRI_LIBRARIES={library} SINDRI_CACHE_DIR={folder}/cache OMP_NUM_THREADS=1
echo $$ > {folder}/pid.$rank.new && mv {folder}/pid.$rank.new {folder}/pid.$rank
extra=
[ -f {folder}/before.$rank ] && . {folder}/before.$rank
exec {program} train --quiet {settings} $extra
"""


class Job:
    """A job. `settings` apply to all ranks; `before` maps a rank to lines of shell, in which the variable `extra` holds more arguments. `folder` is created for
    the job."""

    def __init__(self, lab, layout, ranks=4, settings=(), before=None, run_dir=None, arguments=()):
        self.lab, self.layout, self.ranks = lab, layout, ranks
        self.hosts = 1 if layout == "run" else 2
        self.folder = lab.folder / f"job{len(lab.processes)}"
        self.folder.mkdir()
        self.run_dir = run_dir or self.folder / "run"
        self.begun, self.processes, self.launcher = None, {}, None
        for rank, lines in (before or {}).items():
            (self.folder / f"before.{rank}").write_text(lines + "\n", encoding="utf-8")
        words = [f"--config {ROOT}/configs/digits.yaml"]
        defaults = {"model.name": "lab_digits", "data.path": DIGITS, "train.epochs": 100000, "train.eval_interval": 0, "train.batch_size": 8, "log.every": 1,
                    "train.run_dir": self.run_dir, "data.workers": 1}
        words += [f"--set {k}={v}" for k, v in {**defaults, **dict(s.split("=", 1) for s in settings)}.items()]
        script = WRAPPER.format(folder=self.folder, library=LIBRARY, program=PROGRAM, settings=" ".join(words + list(arguments)))
        self.wrapper = self.folder / "rank.sh"
        self.wrapper.write_text(script, encoding="utf-8")
        self.wrapper.chmod(0o755)

    def host(self, rank):
        """Returns the host of a rank."""
        return 1 + rank * self.hosts // self.ranks

    def start(self, only_hosts=None):
        """Starts all ranks, or those of some hosts (layout hosts)."""
        self.begun = time.monotonic()
        if self.layout == "run":
            self.launcher = self.lab.start(1, [PROGRAM, "run", "-n", self.ranks, "--engine", "local", "--log-dir", self.folder / "logs", "--", self.wrapper],
                                           cwd=self.folder, name="sindri run")
        elif self.layout == "mpi":
            hosts = ",".join(f"{self.lab.address(h)}:{self.ranks // self.hosts}" for h in range(1, self.hosts + 1))
            subnet = f"{self.lab.address(0)}/24"
            self.launcher = self.lab.start(
                1, ["mpirun", "-np", self.ranks, "--host", hosts, "--oversubscribe", "--bind-to", "none", "--allow-run-as-root", "--tag-output",
                    "--mca", "plm_rsh_agent", self.lab.nsrsh, "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp",
                    "--mca", "oob_tcp_keepalive_time", "3", "--mca", "oob_tcp_keepalive_intvl", "1", "--mca", "oob_tcp_keepalive_probes", "3",
                    "--mca", "btl_tcp_if_include", subnet, "--mca", "oob_tcp_if_include", subnet, "--mca", "btl_vader_single_copy_mechanism", "none",
                    self.wrapper], cwd=self.folder, name="mpirun")
        else:
            local = self.ranks // self.hosts
            for rank in range(self.ranks):
                if only_hosts and self.host(rank) not in only_hosts:
                    continue
                env = {"RANK": rank, "WORLD_SIZE": self.ranks, "LOCAL_RANK": rank % local, "LOCAL_WORLD_SIZE": local, "MASTER_ADDR": self.lab.address(1),
                       "MASTER_PORT": PORT, "SINDRI_JOB_TOKEN": "of-the-lab"}
                self.processes[rank] = self.lab.start(self.host(rank), [self.wrapper], env=env, cwd=self.folder, name=f"rank {rank}")
        return self

    def pid(self, rank, limit=20):
        """Returns a rank's process id, once it has started."""
        path = self.folder / f"pid.{rank}"
        wait_until(path.exists, limit, f"rank {rank} to begin; {self.texts()}")
        return int(path.read_text(encoding="utf-8"))

    def kill(self, rank, number=signal.SIGKILL):
        """Sends a rank a signal and returns the time of sending."""
        os.kill(self.pid(rank), number)
        return time.monotonic()

    def misbehave(self, rank, what):
        """Makes a rank's net misbehave; None restores normal behaviour."""
        path = self.folder / f"fault.{rank}"
        if what is None:
            path.unlink(missing_ok=True)
            return
        new = path.with_suffix(".new")
        new.write_text(what + "\n", encoding="utf-8")
        new.rename(path)

    def text(self, rank):
        """Returns a rank's output (under mpirun: that of all ranks, with lines marked by rank)."""
        if self.layout == "run":
            log = self.folder / "logs" / f"rank_{rank}.log"
            return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        if self.layout == "mpi":
            return "\n".join(line for line in self.launcher.text().splitlines() if re.match(rf"\[\d+,{rank}\]", line))
        return self.processes[rank].text() if rank in self.processes else ""

    def texts(self):
        """Returns the output of all ranks, for test messages."""
        said = "".join(f"--- rank {r}:\n{self.text(r)[-3000:]}\n" for r in range(self.ranks))
        return said + (f"--- {self.launcher.what}:\n{self.launcher.text()[-3000:]}\n" if self.launcher else "")

    def steps(self):
        """Returns the number of steps that rank 0 has reported."""
        lines = re.findall(r"epoch (\d+)/\d+ +(\d+)/(\d+) +loss", self.text(0))
        return (int(lines[-1][0]) - 1) * int(lines[-1][2]) + int(lines[-1][1]) if lines else 0

    def running(self):
        """Returns whether any process started for the job still runs."""
        return any(p.running() for p in ([self.launcher] if self.launcher else self.processes.values()))

    def wait_steps(self, n=1, limit=60):
        """Waits until the job has trained n steps."""
        until = time.monotonic() + limit
        while self.steps() < n:
            if not self.running():
                raise AssertionError(f"the job ended before step {n}:\n{self.texts()}")
            if time.monotonic() > until:
                raise Hang(f"no step {n} within {limit} s:\n{self.texts()}")
            time.sleep(0.02)
        return self

    def wait_end(self, limit, since=None, but=()):
        """Waits until only the ranks in `but` still run. Returns the seconds since `since`. Raises Hang on timeout, or if the launcher is still running 5 s
        later."""
        since = since or time.monotonic()
        waiting = [self.pid(r) for r in but]
        if self.layout == "mpi" and since:  # mpirun takes a few seconds to notice
            ranks = [self.pid(r) for r in range(self.ranks)]
            while set(ranks) & set(self.lab.pids()):
                if time.monotonic() - since > limit:
                    raise Hang(f"after {limit} s these still run: {self.lab.pids()}:\n{self.texts()}")
                time.sleep(0.02)
            took = time.monotonic() - since
            self._wait_all(5, time.monotonic(), waiting)
            return took
        return self._wait_all(limit, since, waiting)

    def _wait_all(self, limit, since, waiting):
        while True:
            starters = [p.pid for p in ([self.launcher] if self.launcher else self.processes.values()) if p.running()]
            left = {**dict.fromkeys(starters, "started by the test"), **self.lab.pids()}
            left = {p: line for p, line in left.items() if p not in waiting}
            took = time.monotonic() - since
            if not left:
                return took
            if took > limit:
                raise Hang(f"after {took:.1f} s (the limit is {limit:g}) these still run: {left}:\n{self.texts()}")
            time.sleep(0.02)

    def codes(self):
        """Returns the exit codes of the ended processes: the launcher's, or each rank's."""
        ended = {"launcher": self.launcher} if self.launcher else self.processes
        return {who: p.wait(1) for who, p in ended.items() if not p.running()}

    def expect_codes(self, launcher, others, but=None):
        """Checks the launcher's exit code, or each rank's; `but` lists exceptions."""
        want = {"launcher": launcher} if self.launcher else {r: (but or {}).get(r, others) for r in self.processes}
        if self.codes() != want:
            raise AssertionError(f"exit codes {self.codes()}, expected {want}:\n{self.texts()}")

    def expect_printed(self, pattern, ranks):
        """Checks that each of the ranks printed a match of the pattern. Under mpirun one is enough, because mpirun ends the others as soon as one has ended."""
        silent = [r for r in ranks if not re.search(pattern, self.text(r), re.S)]
        if len(silent) == len(ranks) or (silent and self.layout != "mpi"):
            raise AssertionError(f"ranks {silent} printed no match of {pattern!r}:\n{self.texts()}")


def short_file(folder, lines):
    """Writes a digits file with fewer digits."""
    path = pathlib.Path(folder) / "short.csv"
    with gzip.open(DIGITS, "rt") as f, open(path, "w", encoding="utf-8") as out:
        for _, line in zip(range(lines), f):
            out.write(line)
    return path


@contextlib.contextmanager
def fresh(lab):
    """Ends all processes and removes all files afterwards, whatever happened."""
    try:
        yield
    finally:
        for h in range(1, lab.hosts + 1):
            lab.link(h, up=True)
        lab.end_all()
