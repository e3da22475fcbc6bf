#!/usr/bin/env python3
"""Measures distributed communication between shaped hosts.

Compares the rate of an all-reduce with the link's rate, its payload with 2(N-1)/N S and with the interfaces' counters, and a step that sleeps instead of
computing with the scaling model.

usage: speed.py [--hosts 2,4,8] [--rate 100mbit] [--backends gloo,mpi] [--buckets MB,...] [--compute S] [--steps N]

Prints one line for each backend and number of hosts, with one rank per host. The exit code is 1 if a bound is missed. Needs root (network namespaces).
"""
import argparse
import json
import re
import sys

import lab as lab_module
from lab import PROGRAM, SUBNET, Lab

BENCH = PROGRAM.parent / "tests" / "overlap_bench"
HEADER = 66  # bytes of Ethernet, IP and TCP with timestamps around each segment's payload
SEGMENT = 1448


def bits_per_second(rate):
    """Converts a rate in tc's notation."""
    number, unit = re.fullmatch(r"([\d.]+)([mg])bit", rate).groups()
    return float(number) * (1e6 if unit == "m" else 1e9)


def model(result, hosts, bandwidth):
    """The scaling model of `sindri plan --scale`: the seconds of a step that reduces its buckets in sequence."""
    end = 0
    latency = result["latency"] / (2 * (hosts - 1))
    for k, megabytes in enumerate(result["buckets_mb"]):
        ready = result["forward"] + (k + 1) / len(result["buckets_mb"]) * result["compute"]
        end = max(ready, end) + 2 * (hosts - 1) * latency + 2 * (hosts - 1) / hosts * megabytes * 1e6 / bandwidth
    return max(result["forward"] + result["compute"], end)


def traffic(lab, host):
    """Returns (bytes, packets) that a host has sent so far."""
    sent = json.loads(lab_module._run("ip", "-n", lab.name(host), "-s", "-j", "link", "show", "eth0"))[0]["stats64"]["tx"]  # pylint: disable=protected-access
    return sent["bytes"], sent["packets"]


def measure(backend, hosts, rate, buckets, compute, forward, steps, congestion):
    """Runs the benchmark. Returns the measured values as ratios to the expected ones."""
    words = [BENCH, "--buckets", ",".join(map(str, buckets)), "--compute", compute, "--forward", forward, "--steps", steps]
    with Lab(hosts, rate=rate, congestion=congestion) as lab:
        if backend == "mpi":
            subnet = f"{SUBNET}.0/24"
            where = ",".join(f"{lab.address(h)}:1" for h in range(1, hosts + 1))
            first = lab.start(1, ["mpirun", "-np", hosts, "--host", where, "--bind-to", "none", "--allow-run-as-root", "--mca", "plm_rsh_agent", lab.nsrsh,
                                  "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp", "--mca", "btl_tcp_if_include", subnet,
                                  "--mca", "oob_tcp_if_include", subnet, *words])
            jobs = [first]
        else:
            jobs = [lab.start(r + 1, words, env={"RANK": r, "WORLD_SIZE": hosts, "LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1, "MASTER_ADDR": lab.address(1),
                                                 "MASTER_PORT": 29560, "SINDRI_JOB_TOKEN": "of-the-lab"}) for r in range(hosts)]
        for job in jobs:
            if job.wait(400) != 0:
                raise AssertionError(job.text())
        result = json.loads(re.search(r"\{.*\}", jobs[0].text())[0])
        assert result["hosts"] == hosts and result["backend"] == backend, result
        counted = [traffic(lab, h) for h in range(1, hosts + 1)]
        lab.nothing_left()
    link = bits_per_second(rate) / 8
    volume = 2 * (hosts - 1) / hosts * sum(buckets) * 1e6  # bytes a host sends for one all-reduce of all buckets
    calls = 2 * (steps + 1)
    payload = [(b - HEADER * p) / (calls * volume) for b, p in counted]
    predicted = model(result, hosts, link * SEGMENT / (SEGMENT + HEADER))
    return {"rate": volume / result["communication"] / link, "payload": max(payload), "least payload": min(payload),
            "interface": max(b for b, _ in counted) / (calls * volume), "step": result["step"] / predicted,
            "communication": result["communication"], "seconds": result["step"], "predicted": predicted,
            "hidden": 1 - (result["step"] - compute - forward) / result["communication"]}


BOUNDS = {"rate": (0.9, 1.0), "payload": (0.98, 1.02), "least payload": (0.98, 1.02), "interface": (0.98, 1.07), "step": (0.9, 1.1)}


def missed(ratios):
    """Returns the bounds that do not hold."""
    return [f"{name} {ratios[name]:.3f} is not in {low} .. {high}" for name, (low, high) in BOUNDS.items() if not low <= ratios[name] <= high]


def main():
    """Runs the command line described in the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", default="2,4,8")
    parser.add_argument("--rate", default="100mbit")
    parser.add_argument("--backends", default="gloo,mpi")
    parser.add_argument("--buckets", default="1,4,4,2")
    parser.add_argument("--compute", type=float, default=1.0)
    parser.add_argument("--forward", type=float, default=0.2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--congestion", default="reno", help="TCP's congestion control on the hosts")
    options = parser.parse_args()
    if reason := lab_module.unavailable():
        print(f"skipped: {reason}")
        return 0
    wrong = 0
    for backend in options.backends.split(","):
        for hosts in map(int, options.hosts.split(",")):
            r = measure(backend, hosts, options.rate, [float(b) for b in options.buckets.split(",")], options.compute, options.forward, options.steps,
                        options.congestion)
            bad = missed(r)
            wrong += len(bad)
            print(f"{backend:5} {hosts} hosts, {options.rate}: {r['rate']:.1%} of the link; payload {r['least payload']:.3f} .. {r['payload']:.3f}, interface "
                  f"{r['interface']:.3f} of 2(N-1)/N S; step {r['seconds']:.3f} s, model {r['predicted']:.3f} s: {r['step']:.3f}  {'; '.join(bad)}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
