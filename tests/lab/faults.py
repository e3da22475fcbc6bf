#!/usr/bin/env python3
"""Injects each fault of a list into training runs of several ranks, at random moments, and checks the outcome: how long the other ranks take to end, which rank
they
name, the exit codes, what remains, and whether the next job on the same port works.

usage: faults.py [--times N] [--only NAME,...] [--layouts run,hosts,mpi] [--seed S] [--list]

Prints one line for each fault and layout. The exit code is 1 if any outcome was not as required. Needs root (network namespaces).
"""
import argparse
import collections
import os
import random
import re
import signal
import sys
import time
import traceback

import lab as lab_module
from job import PORT, Job, fresh, short_file
from lab import Lab, wait_until

RANKS = 4
FAULTS = {}


def fault(bound, *layouts):
    """Registers a function `f(lab, layout, random)` that returns (job, seconds until all ranks had ended, or None if nothing was timed)."""
    def note(f):
        FAULTS[f.__name__] = (f, bound, layouts)
        return f
    return note


def _training(lab, layout, rng, settings=(), **more):
    """Returns a job at a random moment after it has trained a few steps."""
    job = Job(lab, layout, RANKS, settings, **more).start().wait_steps(2)
    time.sleep(rng.uniform(0, 0.5))
    return job


def _others(job, *without):
    return [r for r in range(job.ranks) if r not in without]


def _all_begun(job):
    """Returns the time when the last rank's process has started: the launcher's startup time does not count."""
    for rank in range(job.ranks):
        job.pid(rank)
    return time.monotonic()


def _after_death(job, rank, since, bound):
    took = job.wait_end(bound, since)
    job.expect_codes(launcher=137, others=7, but={rank: 137})
    job.expect_printed(rf"E700[1-9].*rank {rank}\b", _others(job, rank))
    return job, took


@fault(2, "run", "hosts", "mpi")
def kill_in_step(lab, layout, rng):
    """kill -9 of a rank while it trains."""
    job = _training(lab, layout, rng)
    rank = rng.randrange(1, RANKS)
    return _after_death(job, rank, job.kill(rank), 2)


@fault(2, "run", "hosts", "mpi")
def kill_rank_0(lab, layout, rng):
    """kill -9 of the rank that hosts the store."""
    job = _training(lab, layout, rng)
    return _after_death(job, 0, job.kill(0), 2)


@fault(7, "run", "hosts", "mpi")
def kill_in_init(lab, layout, rng):
    """kill -9 of a rank just before the rendezvous. If it has not registered, the others cannot detect its death before init_timeout."""
    job = Job(lab, layout, RANKS, ["dist.init_timeout=5"]).start()
    rank = rng.randrange(RANKS)
    job.pid(rank)
    time.sleep(rng.uniform(0, 0.4))
    since = job.kill(rank)
    took = job.wait_end(7 + (2 if layout == "mpi" else 0), since)
    job.expect_codes(launcher=137, others=7, but={rank: 137})
    return job, took


@fault(2, "run", "hosts", "mpi")
def kill_in_checkpoint(lab, layout, rng):
    """kill -9 of a rank in a run that saves continuously; the last checkpoint can be resumed."""
    return _killed_and_resumed(lab, layout, rng, [])


def _killed_and_resumed(lab, layout, rng, settings):
    settings = [*settings, "checkpoint.save_every_steps=1", "checkpoint.keep_max=2"]
    job = _training(lab, layout, rng, settings)
    rank = rng.randrange(RANKS)
    job, took = _after_death(job, rank, job.kill(rank), 2)
    lab.nothing_left()
    step = max(int(m[1]) for m in (re.search(r"_(\d+)\.ckpt$", p.name) for p in job.run_dir.rglob("*.ckpt")) if m)
    again = Job(lab, layout, RANKS, [*settings, f"train.max_steps={step + 3}"], run_dir=job.run_dir, arguments=["--resume"]).start()
    again.wait_end(30)
    again.expect_codes(launcher=0, others=0)
    return again, took


@fault(2, "run", "hosts")
def kill_in_stage_2(lab, layout, rng):
    """kill -9 of a rank that trains in the span of the first stage's snapshots, with its components sharded; the last checkpoint can be resumed."""
    first = Job(lab, layout, RANKS, ["checkpoint.save_every_steps=1", "checkpoint.keep_max=12", "train.max_steps=12"]).start()
    first.wait_end(30)
    first.expect_codes(launcher=0, others=0)
    lab.nothing_left()
    return _killed_and_resumed(lab, layout, rng, ["boost.dim_reduce.enabled=true", "boost.dim_reduce.n_components=8", "boost.dim_reduce.place=shard",
                                                  f"boost.dim_reduce.weight_load_dir={first.run_dir}/checkpoints"])


@fault(15, "run", "hosts")
def stopped(lab, layout, rng):
    """SIGSTOP: the connection stays open, but the rank does not run."""
    job = _training(lab, layout, rng)
    rank = rng.randrange(1, RANKS)
    pid, since = job.pid(rank), job.kill(rank, signal.SIGSTOP)
    took = job.wait_end(15, since, but=[rank] if layout == "hosts" else [])
    job.expect_printed(rf"E700[12].*rank {rank}\b", _others(job, rank))
    if layout == "hosts":
        os.kill(pid, signal.SIGCONT)
        job.wait_end(5)
        job.expect_codes(launcher=7, others=7)
    else:
        assert job.codes()["launcher"] == 7, job.texts()
    return job, took


@fault(10, "hosts")
def link_down(lab, layout, rng):
    """The link fails: both sides of the partition end."""
    job = _training(lab, layout, rng)
    lab.link(2, up=False)
    took = job.wait_end(10)
    job.expect_codes(launcher=7, others=7)
    job.expect_printed(r"E7001.*rank [23]\b", [0, 1])
    job.expect_printed(rf"E7001.*rank 0.*{re.escape(lab.address(1))}", [2, 3])
    lab.link(2, up=True)
    return job, took


@fault(8, "hosts")
def link_down_in_rendezvous(lab, layout, rng):
    """The link fails before the rendezvous completes: the missing ranks are listed."""
    lab.link(2, up=False)
    job = Job(lab, layout, RANKS, ["dist.init_timeout=5"]).start()
    took = job.wait_end(8)
    job.expect_codes(launcher=7, others=7)
    job.expect_printed(r"E7006.*2, 3", [0])
    job.expect_printed(rf"E7006.*{re.escape(lab.address(1))}:{PORT}", [2, 3])
    lab.link(2, up=True)
    return job, took


@fault(2, "run")  # mpi is excluded: Open MPI leaves its own files in /dev/shm when mpirun is killed
def kill_launcher(lab, layout, rng):
    """kill -9 of the launcher: no rank remains."""
    job = _training(lab, layout, rng)
    job.launcher.signal(signal.SIGKILL)
    return job, job.wait_end(2)


LISTENER = "import socket, time; s = socket.create_server(('', %d)); print('listens', flush=True); time.sleep(60)" % PORT


@fault(8, "hosts")
def port_in_use(lab, layout, rng):
    """Another process listens on rank 0's port."""
    other = lab.start(1, [sys.executable, "-c", LISTENER])
    other.wait_for("listens", 5)
    job = Job(lab, layout, RANKS, ["dist.init_timeout=4"]).start()
    since = time.monotonic()
    codes = {r: p.wait(8) for r, p in job.processes.items()}
    took = time.monotonic() - since
    assert codes == dict.fromkeys(range(RANKS), 7), job.texts()
    job.expect_printed(rf"E7006.*{PORT}.*{other.pid}", [0])
    other.signal(signal.SIGKILL)
    other.wait(2)
    return job, took


@fault(8, "hosts")
def wrong_size(lab, layout, rng):
    """One rank has another world size."""
    rank = rng.randrange(1, RANKS)
    job = Job(lab, layout, RANKS, ["dist.init_timeout=5"], before={rank: "export WORLD_SIZE=5"}).start()
    took = job.wait_end(8)
    job.expect_codes(launcher=7, others=7)
    job.expect_printed(r"E7006.*5.*4|E7006.*4.*5", [rank])
    job.expect_printed(rf"E700\d.*rank {rank}\b|E7006.*\b{rank}\b", [0])
    return job, took


@fault(20, "run", "hosts", "mpi")  # most of it is startup: mpirun is slow on a busy machine
def other_buckets(lab, layout, rng):
    """One rank splits its gradients into other buckets."""
    rank = rng.randrange(RANKS)
    job = Job(lab, layout, RANKS, before={rank: 'extra="--set dist.all_reduce_fusion_config=[1,3]"'}).start()
    took = job.wait_end(20, _all_begun(job))
    job.expect_codes(launcher=7, others=7)
    job.expect_printed(r"E7003.*all_reduce_fusion_config", range(RANKS))
    assert job.steps() == 0, job.texts()
    return job, took


@fault(20, "run", "hosts", "mpi")  # most of it is startup: mpirun is slow on a busy machine
def fewer_samples(lab, layout, rng):
    """One rank's copy of the data is shorter."""
    rank = rng.randrange(RANKS)
    job = Job(lab, layout, RANKS, before={rank: f'extra="--set data.path={short_file(lab.folder, 900)}"'}).start()
    took = job.wait_end(20, _all_begun(job))
    job.expect_codes(launcher=7, others=7)
    job.expect_printed(r"E7003.*(sample|step|row)", range(RANKS))
    assert job.steps() == 0, job.texts()
    return job, took


@fault(10, "run", "hosts", "mpi")
def read_only_checkpoints(lab, layout, rng):
    """Rank 0 cannot write to the checkpoint folder. The run continues and reports it, but ends with an error on all ranks. (The folder is mounted read-only,
    because
    permissions do not bind root.)"""
    run_dir = lab.folder / f"run{len(lab.processes)}"
    folder = run_dir / "checkpoints"
    folder.mkdir(parents=True)
    job = Job(lab, layout, RANKS, ["checkpoint.save_every_steps=5", "train.max_steps=12"], run_dir=run_dir,
              before={0: f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder}"}).start()
    took = job.wait_end(20)
    job.expect_codes(launcher=5, others=5)
    job.expect_printed(r"E5001.*Read-only", range(RANKS))
    return job, took


def _stopped_well(job, bound, since):
    took = job.wait_end(bound, since)
    job.expect_codes(launcher=143, others=143)
    assert (job.run_dir / "resume.json").exists(), job.texts()
    return took


@fault(12, "run", "hosts", "mpi")
def sigterm_to_one(lab, layout, rng):
    """SIGTERM to one rank: all save and stop after the same step."""
    job = _training(lab, layout, rng)
    return job, _stopped_well(job, 12, job.kill(rng.randrange(RANKS), signal.SIGTERM))


@fault(12, "run", "hosts")
def sigterm_to_all(lab, layout, rng):
    """SIGTERM to the launcher, or to each rank."""
    job = _training(lab, layout, rng)
    since = time.monotonic()
    if layout == "run":
        job.launcher.signal(signal.SIGTERM)
    else:
        for rank in range(RANKS):
            job.kill(rank, signal.SIGTERM)
    return job, _stopped_well(job, 12, since)


@fault(4, "run", "hosts")
def second_sigterm(lab, layout, rng):
    """A second SIGTERM while no step completes: the same exit code, nothing saved, nothing to resume."""
    job = _training(lab, layout, rng)
    job.misbehave(rng.randrange(RANKS), "hang")
    time.sleep(0.5)
    for _ in range(2):
        since = time.monotonic()
        if layout == "run":
            job.launcher.signal(signal.SIGTERM)
        else:
            for rank in range(RANKS):
                job.kill(rank, signal.SIGTERM)
        time.sleep(0.3)
    took = job.wait_end(4 if layout == "hosts" else 8, since)
    job.expect_codes(launcher=143, others=143)
    assert not (job.run_dir / "resume.json").exists(), job.texts()
    return job, took


@fault(13, "run", "hosts")
def stuck(lab, layout, rng):
    """A rank is alive but makes no progress: a warning that names it after op_warn, and the end after op_timeout."""
    job = _training(lab, layout, rng, ["dist.op_warn=1", "dist.op_timeout=4"])
    rank = rng.randrange(RANKS)
    job.misbehave(rank, "hang")
    took = job.wait_end(4 + 2 + 5 + 2)  # includes the exit guard, which acts 5 s after the error
    job.expect_printed(rf"has waited for rank {rank} \([^)]*\) for [12] s", [0])
    job.expect_printed(rf"E7002.*rank.*\b{rank}\b", _others(job, rank))
    assert set(job.codes().values()) == {7}, job.texts()
    return job, took


@fault(5, "run", "hosts", "mpi")
def nan_in_one(lab, layout, rng):
    """NaN in one rank's gradient: all stop after the same step."""
    job = _training(lab, layout, rng)
    rank = rng.randrange(RANKS)
    job.misbehave(rank, "nan")
    took = job.wait_end(5)
    job.expect_codes(launcher=6, others=6)
    job.expect_printed(r"E6001", range(RANKS))
    steps = {m[0] for r in range(RANKS) if (m := re.search(r"epoch \d+, step \d+", job.text(r)))}
    assert len(steps) == 1, job.texts()
    job.expect_printed(rf"not finite first on rank {rank} \(of '[^']+', at step \d+\)", range(RANKS))
    return job, took


@fault(25, "run", "hosts", "mpi")
def slow_rank(lab, layout, rng):
    """A rank sleeps in every step: briefly, then longer, then for longer than op_warn. Each case causes a warning, and the run continues to its end."""
    job = _training(lab, layout, rng, ["dist.log_steps=4", "dist.op_warn=1", "dist.op_timeout=10"])
    rank = rng.randrange(RANKS)
    since = time.monotonic()
    slower = rf"rank {rank} is slower than the others: its own time per step is "
    job.misbehave(rank, "sleep 30")  # the reported time is the mean of four steps
    wait_until(lambda: re.search(slower + r"[1-9]\d+\.\d ms, the median", job.text(0)), 20, "the straggler's name")
    job.misbehave(rank, "sleep 300")
    wait_until(lambda: re.search(slower + r"[1-9]\d\d+\.\d ms, the median", job.text(0)), 20, "a second warning about a rank that became much slower")
    job.misbehave(rank, "sleep 2500")
    wait_until(lambda: re.search(rf"has waited for rank {rank} \([^)]*\) for [12] s", job.text(0)), 5, "a warning of the wait")
    took = time.monotonic() - since
    job.misbehave(rank, None)
    step = job.steps()
    job.wait_steps(step + 10)
    _stopped_well(job, 12, job.kill(rank, signal.SIGTERM))
    assert "E700" not in job.texts(), job.texts()
    return job, took


def once(name, layout, rng):
    """Runs one fault in a new lab. Returns the failure as text, or the seconds it took."""
    f, bound, _ = FAULTS[name]
    with Lab(2) as lab, fresh(lab):
        _, took = f(lab, layout, rng)
        lab.nothing_left()
        after = Job(lab, layout, RANKS, ["train.max_steps=3"]).start()
        after.wait_end(30)
        after.expect_codes(launcher=0, others=0)
        lab.nothing_left()
    return took, bound


def main():
    """Runs the command line described in the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--layouts", default="run,hosts,mpi")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        for name, (f, bound, layouts) in FAULTS.items():
            print(f"{name:24} {bound:3g} s  {', '.join(layouts):16} {f.__doc__}")
        return 0
    if reason := lab_module.unavailable():
        print(f"skipped: {reason}")
        return 0
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    wrong = 0
    for name, (_, bound, layouts) in FAULTS.items():
        if options.only and name not in options.only.split(","):
            continue
        for layout in [x for x in layouts if x in options.layouts.split(",")]:
            times, errors = [], collections.Counter()
            for i in range(options.times):
                try:
                    took, _ = once(name, layout, random.Random(f"{seed} {name} {layout} {i}"))
                    times.append(took)
                except Exception as error:  # pylint: disable=broad-except
                    errors[type(error).__name__] += 1
                    print(f"--- {name}, {layout}, number {i}:\n{error if isinstance(error, AssertionError) else traceback.format_exc()}", flush=True)
            wrong += sum(errors.values())
            said = f"longest {max(times):5.1f} s, limit {bound:g}" if times else ""
            print(f"{name:24} {layout:6} {len(times)} of {options.times} as required  {said}  {dict(errors) if errors else ''}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
