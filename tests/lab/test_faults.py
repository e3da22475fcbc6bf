"""Each fault once, in one or two layouts: a short form of faults.py, which runs all of them any number of times."""
import random

import pytest

import faults

CASES = ["kill_in_step-run", "kill_in_step-hosts", "kill_in_step-mpi", "kill_rank_0-hosts", "kill_rank_0-mpi", "kill_in_init-hosts", "kill_in_checkpoint-run",
         "kill_in_stage_2-run", "stopped-hosts", "link_down-hosts", "link_down_in_rendezvous-hosts", "kill_launcher-run", "port_in_use-hosts", "wrong_size-hosts",
         "other_buckets-run", "other_buckets-mpi", "fewer_samples-hosts", "read_only_checkpoints-run", "sigterm_to_one-mpi", "sigterm_to_one-hosts",
         "sigterm_to_all-run", "second_sigterm-hosts", "stuck-run", "nan_in_one-run", "slow_rank-hosts"]


@pytest.mark.parametrize("case", CASES)
def test_fault(case):
    """Bounds, culprits, exit codes, remains, and the next job: faults.once raises on a failure."""
    name, layout = case.split("-")
    seed = random.SystemRandom().randrange(1 << 30)
    print(f"python3 tests/lab/faults.py --only {name} --layouts {layout} with seed {seed}")
    took, bound = faults.once(name, layout, random.Random(seed))
    assert took <= bound


def test_every_fault_is_in_the_short_form():
    """No fault of the list is missing."""
    assert {c.split("-")[0] for c in CASES} == set(faults.FAULTS)
