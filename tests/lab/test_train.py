"""Training runs on several hosts with the real programs: the launch scripts, mpirun, and results bitwise identical to one rank's."""
import json

import pytest

from lab import PROGRAM, ROOT, SUBNET, Lab

DIGITS = ROOT / "dataset" / "digits"
SETTINGS = {"SINDRI_LOG__EVERY": 1, "SINDRI_TUNE": 0, "SINDRI_TRAIN__MAX_STEPS": 10, "SINDRI_TRAIN__EPOCHS": 1, "SINDRI_TRAIN__BATCH_SIZE": 4,
            "SINDRI_DATA__WORKERS": 1, "OMP_NUM_THREADS": 1, "SINDRI_PROGRAM": PROGRAM, "SINDRI_JOB_TOKEN": "of-the-lab"}


def table(hosts, each):
    """Returns a rank table of version 1.0."""
    servers = [{"server_id": f"{SUBNET}.{h + 1}", "host_nic_ip": "reserve",
                "device": [{"device_id": str(d), "device_ip": f"{SUBNET}.{h + 1}", "rank_id": str(h * each + d)} for d in range(each)]} for h in range(hosts)]
    return json.dumps({"version": "1.0", "server_count": str(hosts), "status": "completed", "server_list": servers})


def losses(run_dir):
    """Returns the losses of all steps and of the evaluation as written, with all digits."""
    with open(run_dir / "metrics.jsonl", encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    return [(e["step"], repr(e["loss"])) for e in events if e["event"] == "step"] + [repr(e.get("loss")) for e in events if e["event"] == "eval"]


@pytest.fixture(scope="module")
def one_rank(tmp_path_factory):
    """Returns the losses of one rank that computes all 16 virtual ranks."""
    with Lab(1) as lab:
        run_dir = tmp_path_factory.mktemp("one") / "run"
        words = [PROGRAM, "train", "--quiet", "--config", ROOT / "configs/digits.yaml", "--set", f"data.path={DIGITS}", "--set", f"train.run_dir={run_dir}"]
        done = lab.start(1, words, env={**SETTINGS, "SINDRI_DIST__VIRTUAL_RANKS": 16})
        assert done.wait(60) == 0, done.text()
        lab.nothing_left()
    found = losses(run_dir)
    assert len(found) >= 10
    return found


def test_node_scripts_16_ranks_on_2_hosts(one_rank):
    """run_node1.sh and run_node2.sh with a rank table and 8 ranks each: losses bitwise identical to one rank's."""
    with Lab(2) as lab:
        jobs = []
        for h in (1, 2):
            folder = lab.folder / f"node{h}"
            folder.mkdir()
            (folder / "rank_table_16pcs.json").write_text(table(2, 8), encoding="utf-8")
            jobs.append(lab.start(h, ["bash", ROOT / f"scripts/run_node{h}.sh", DIGITS, ROOT / "configs/digits.yaml"], env=SETTINGS, cwd=folder))
        for job in jobs:
            assert job.wait(90) == 0, job.text()
        assert losses(lab.folder / "node1/device0/run") == one_rank
        for h in (1, 2):
            for d in range(8):
                assert (lab.folder / f"node{h}/device{d}/train.log").exists() and (lab.folder / f"node{h}/device{d}/env.log").exists()
        lab.nothing_left()


def test_mpirun_16_ranks_on_2_hosts(one_rank):
    """The same with mpirun -np 16; ranks on one host share memory."""
    with Lab(2) as lab:
        run_dir = lab.folder / "run"
        subnet = f"{SUBNET}.0/24"
        where = f"{lab.address(1)}:8,{lab.address(2)}:8"
        job = lab.start(1, ["mpirun", "-np", 16, "--host", where, "--oversubscribe", "--bind-to", "none", "--allow-run-as-root",
                            "--mca", "plm_rsh_agent", lab.nsrsh, "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp",
                            "--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "btl_tcp_if_include", subnet, "--mca", "oob_tcp_if_include", subnet,
                            *[w for name in SETTINGS for w in ("-x", name)],
                            PROGRAM, "train", "--quiet", "--config", ROOT / "configs/digits.yaml", "--set", f"data.path={DIGITS}",
                            "--set", f"train.run_dir={run_dir}"], env=SETTINGS)
        assert job.wait(90) == 0, job.text()
        assert "16 ranks on 2 hosts (mpi)" in job.text()
        assert losses(run_dir) == one_rank
        lab.nothing_left()


@pytest.mark.parametrize("hosts", [1, 4])
def test_torchrun_style_ranks(one_rank, hosts):
    """16 ranks started one by one on 1 and 4 hosts, configured by environment variables only."""
    with Lab(hosts) as lab:
        run_dir, each = lab.folder / "run", 16 // hosts
        words = [PROGRAM, "train", "--quiet", "--config", ROOT / "configs/digits.yaml", "--set", f"data.path={DIGITS}", "--set", f"train.run_dir={run_dir}"]
        ranks = [lab.start(1 + r // each, words, env={**SETTINGS, "RANK": r, "WORLD_SIZE": 16, "LOCAL_RANK": r % each, "LOCAL_WORLD_SIZE": each,
                                                      "MASTER_ADDR": lab.address(1), "MASTER_PORT": 29560}) for r in range(16)]
        for p in ranks:
            assert p.wait(90) == 0, p.text()
        assert f"16 ranks on {hosts} host" in ranks[0].text()
        assert losses(run_dir) == one_rank
        lab.nothing_left()


def test_16_then_8_then_16_ranks(tmp_path):
    """16 virtual ranks on 16 ranks with `sindri run`, then, within the epoch, on 8 with mpirun on two hosts, then on 16 on two hosts: losses bitwise identical
    to an
    uninterrupted run on one rank, so the samples are the same, too. Each part saves at its end, because the virtual ranks' moving statistics are combined
    there."""
    settings = {**SETTINGS, "SINDRI_CHECKPOINT__SAVE_EVERY_STEPS": 5, "SINDRI_CHECKPOINT__SAVE_EVERY_EPOCHS": 0, "SINDRI_DIST__VIRTUAL_RANKS": 16}
    words = [PROGRAM, "train", "--quiet", "--config", ROOT / "configs/digits.yaml", "--set", f"data.path={DIGITS}"]
    with Lab(2) as lab:
        one, several = tmp_path / "one", tmp_path / "several"
        done = lab.start(1, [*words, "--set", f"train.run_dir={one}"], env={**settings, "SINDRI_TRAIN__MAX_STEPS": 15})
        assert done.wait(60) == 0, done.text()

        env = {**settings, "SINDRI_TRAIN__MAX_STEPS": 5}
        job = lab.start(1, [PROGRAM, "run", "-n", 16, "--engine", "local", "--log-dir", tmp_path / "logs", "--", *words, "--set", f"train.run_dir={several}"],
                        env=env)
        assert job.wait(60) == 0, job.text()
        assert "16 ranks on 1 host (gloo), 16 virtual ranks" in job.text()

        env["SINDRI_TRAIN__MAX_STEPS"] = 10
        words += ["--set", f"train.run_dir={several}", "--resume"]
        subnet = f"{SUBNET}.0/24"
        job = lab.start(1, ["mpirun", "-np", 8, "--host", f"{lab.address(1)}:4,{lab.address(2)}:4", "--oversubscribe", "--bind-to", "none", "--allow-run-as-root",
                            "--mca", "plm_rsh_agent", lab.nsrsh, "--mca", "pml", "ob1", "--mca", "btl", "self,vader,tcp", "--mca", "btl_tcp_links", 2,
                            "--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "btl_tcp_if_include", subnet, "--mca", "oob_tcp_if_include", subnet,
                            *[w for name in env for w in ("-x", name)], *words], env=env)
        assert job.wait(60) == 0, job.text()
        assert "8 ranks on 2 hosts (mpi), 16 virtual ranks" in job.text()

        env["SINDRI_TRAIN__MAX_STEPS"] = 15
        ranks = [lab.start(1 + r // 8, words, env={**env, "RANK": r, "WORLD_SIZE": 16, "LOCAL_RANK": r % 8, "LOCAL_WORLD_SIZE": 8,
                                                   "MASTER_ADDR": lab.address(1), "MASTER_PORT": 29560}) for r in range(16)]
        for p in ranks:
            assert p.wait(60) == 0, p.text()
        assert "16 ranks on 2 hosts (gloo), 16 virtual ranks" in ranks[0].text()
        lab.nothing_left()
    want = losses(one)
    assert [step for step, *_ in want if isinstance(step, int)] == list(range(1, 16))
    assert losses(several) == want
