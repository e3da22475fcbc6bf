"""The launch scripts (scripts/run_*.sh) and the rank-table tools, with a training program of a few lines of shell; at the end with a real one."""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
PROGRAM = pathlib.Path(os.environ.get("SINDRI_PROGRAM") or ROOT / "build" / "release" / "sindri")
LIMIT = 60  # seconds, for one script

pytestmark = pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="the sindri program is not built")

# Replaces the program: the launching is real, the command that it launches is not.
FAKE = r"""#!/usr/bin/env bash
case $1 in
  run)
    words=()
    last=
    for word; do
      if [[ $last == -- && $word == sindri ]]; then word=$0; fi
      words+=("$word")
      last=$word
    done
    exec PROGRAM "${words[@]}" ;;
  train)
    echo "rank $SINDRI_RANK of $SINDRI_WORLD_SIZE in $PWD: $*"
    for word; do if [[ $word == train.run_dir=* ]]; then run=${word#train.run_dir=}; fi; done
    if [[ $SINDRI_RANK == 0 ]]; then mkdir -p "$run/checkpoints" && echo weights >"$run/checkpoints/net-1_2.ckpt"; fi
    code=FAKE_CODE_$SINDRI_RANK
    if [[ -n ${FAKE_SLEEP:-} ]]; then trap 'exit 143' TERM; trap 'exit 130' INT; : >"ready_$SINDRI_RANK"; while :; do sleep 0.05; done; fi
    if [[ ${!code:-0} == 7 ]]; then sleep 0.3; fi
    exit "${!code:-0}" ;;
  eval) echo "$SINDRI_LOG__STYLE lines in $PWD: $*"; exit "${FAKE_CODE_0:-0}" ;;
  *) exec PROGRAM "$@" ;;
esac
"""


def clean_environment(**more):
    """Returns the tests' environment, without the variables that set this process's rank and without settings."""
    names = ("RANK_", "DEVICE_", "SERVER_ID", "MINDSPORE_HCCL", "OMPI_", "SLURM_", "CONFIG_PATH", "GTEST_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(names) and "__" not in k}
    env.update({k: str(v) for k, v in more.items()})
    return env


class Place:
    """A folder with data, a configuration and a table, in which scripts are called."""

    def __init__(self, path):
        self.path = path
        self.data = path / "data set"
        self.data.mkdir()
        self.config = path / "net.yaml"
        self.config.write_text("model:\n  name: resnet20\n")
        self.fake = path / "fake_sindri"
        self.fake.write_text(FAKE.replace("PROGRAM", str(PROGRAM)))
        self.fake.chmod(0o755)

    def table(self, ranks, servers=1, name="table.json"):
        hosts = ["127.0.0.1", *(f"10.99.0.{i}" for i in range(1, servers))]
        each = ranks // servers
        doc = {
            "version": "1.0",
            "server_count": str(servers),
            "status": "completed",
            "server_list": [
                {"server_id": h, "device": [{"device_id": str(d), "device_ip": h, "rank_id": str(s * each + d)} for d in range(each)], "host_nic_ip": "reserve"}
                for s, h in enumerate(hosts)
            ],
        }
        (self.path / name).write_text(json.dumps(doc))
        return name

    def command(self, script, *arguments, shell="bash"):
        return [shell, str(SCRIPTS / script), *map(str, arguments)]

    def run(self, script, *arguments, program=None, shell="bash", **environment):
        env = clean_environment(SINDRI_PROGRAM=program or self.fake, **environment)
        return subprocess.run(self.command(script, *arguments, shell=shell), cwd=self.path, env=env, capture_output=True, text=True, timeout=LIMIT, check=False)

    def read(self, name):
        return (self.path / name).read_text()


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def refused(result, message):
    assert result.returncode == 2, result.stderr
    assert message in result.stderr, result.stderr


SCRIPTS_AND_FIRST = {
    "run_standalone_train.sh": ["data set"],
    "run_distribute_train.sh": ["table.json", "data set"],
    "run_distribute_train_gpu.sh": ["data set"],
    "run_node1.sh": ["data set"],
    "run_node2.sh": ["data set"],
    "run_eval.sh": ["data set", "a.ckpt"],
    "run_eval_gpu.sh": ["data set", "a.ckpt"],
}


@pytest.mark.parametrize("script", SCRIPTS_AND_FIRST)
def test_wrong_arguments_and_missing_files(place, script):
    refused(place.run(script), f"usage: bash {script} ")
    refused(place.run(script, *["x"] * 6), f"usage: bash {script} ")
    place.table(16, servers=2, name="rank_table_16pcs.json")
    place.table(2)
    (place.path / "a.ckpt").write_text("weights")
    right = SCRIPTS_AND_FIRST[script]
    at = right.index("data set")
    refused(place.run(script, *right[:at], "/no/data", *right[at + 1 :]), "error: DATASET_PATH=/no/data is not a directory\n")
    refused(place.run(script, *right, "/no/config.yaml"), "error: CONFIG_PATH=/no/config.yaml is not a file\n")
    if right[0] == "table.json":
        refused(place.run(script, "/no/table.json", *right[1:]), "error: RANK_TABLE_FILE=/no/table.json is not a file\n")
    if right[-1] == "a.ckpt":
        refused(place.run(script, "data set", "/no/b.ckpt"), "error: CHECKPOINT_PATH=/no/b.ckpt is not a file\n")
    refused(place.run(script, *right, CONFIG_PATH="/no/other.yaml"), "error: CONFIG_PATH=/no/other.yaml is not a file\n")
    assert sorted(p.name for p in place.path.iterdir()) == ["a.ckpt", "data set", "fake_sindri", "net.yaml", "rank_table_16pcs.json", "table.json"]


@pytest.mark.parametrize("script", sorted(p.name for p in SCRIPTS.glob("run_*.sh") if p.read_text().startswith("#!")))
def test_scripts_run_under_any_shell(place, script):
    """`sh SCRIPT`, with a sh that may be dash: the same usage text and exit code as under bash, from any folder."""
    expected = place.run(script)
    refused(expected, f"usage: bash {script} ")
    for shell in ("sh", "dash"):
        if shutil.which(shell):
            found = place.run(script, shell=shell)
            assert (found.returncode, found.stderr) == (2, expected.stderr)
            here = subprocess.run([shell, script], cwd=SCRIPTS, env=clean_environment(), capture_output=True, text=True, timeout=LIMIT, check=False)
            assert (here.returncode, here.stderr) == (2, expected.stderr)


def test_arguments_survive_the_change_of_shell(place):
    r = place.run("run_standalone_train.sh", "data set", "net.yaml", shell="sh")
    assert r.returncode == 0, r.stderr
    assert f"--set data.path={place.data} " in place.read("train/log.txt")


def test_a_table_that_is_not_there_for_nodes(place):
    refused(place.run("run_node1.sh", "data set", "net.yaml"), "rank_table_16pcs.json is not a file")


def test_standalone(place):
    r = place.run("run_standalone_train.sh", "data set", "net.yaml")
    assert r.returncode == 0, r.stderr
    line = f"rank 0 of 1 in {place.path}/train: train --quiet --config {place.config} --set data.path={place.data} --set train.run_dir={place.path}/train/run\n"
    assert r.stdout == line
    assert place.read("train/log.txt") == line
    assert "SINDRI_RANK=0\n" in place.read("train/env.log")
    assert "SINDRI_JOB_TOKEN" not in place.read("train/env.log")
    assert (place.path / "train/net-1_2.ckpt").read_text() == "weights\n", "the reference models' location for checkpoints"
    assert r.stderr.startswith("+ "), "the command is printed"


def test_distributed_ranks_have_folders_logs_and_environments(place):
    r = place.run("run_distribute_train.sh", place.table(4), "data set", "net.yaml")
    assert r.returncode == 0, r.stderr
    for i in range(4):
        assert place.read(f"train_parallel{i}/log.txt").startswith(f"rank {i} of 4 in {place.path}/train_parallel{i}: train ")
        env = place.read(f"train_parallel{i}/env.log")
        for line in (f"RANK_ID={i}", f"DEVICE_ID={i}", f"SINDRI_RANK={i}", "RANK_SIZE=4", f"RANK_TABLE_FILE={place.path}/table.json"):
            assert f"{line}\n" in env
    assert os.listdir(place.path / "train_parallel0/run/checkpoints") == ["net-1_2.ckpt"]
    for i in range(4):
        assert (place.path / f"train_parallel{i}/net-1_2.ckpt").read_text() == "weights\n", "each device has the checkpoints, which rank 0 writes"


def test_the_third_argument_is_a_number_or_a_file(place):
    place.table(4)
    assert place.run("run_distribute_train.sh", "table.json", "data set", 4, CONFIG_PATH="net.yaml").returncode == 0
    assert f"--config {place.config} " in place.read("train_parallel0/log.txt")
    r = place.run("run_distribute_train.sh", "table.json", "data set", 2)
    refused(r, "error[E2212] RT12 -n 2 but the table has 4 devices")
    # The table lists eight ranks, four are started.
    place.table(8)
    refused(place.run("run_distribute_train.sh", "table.json", "data set", 4), "RT12 -n 4 but the table has 8 devices")
    refused(place.run("run_distribute_train.sh", "table.json", "data set", RANK_SIZE=4), "RT12 RANK_SIZE=4 but the table has 8 devices")
    refused(place.run("run_distribute_train.sh", "table.json", "data set", DEVICE_NUM=4), "RT12 DEVICE_NUM=4 but the table has 8 devices")
    # Both arguments, the number first.
    assert place.run("run_distribute_train.sh", "table.json", "data set", 8, "net.yaml").returncode == 0
    assert f"--config {place.config} " in place.read("train_parallel7/log.txt")
    refused(place.run("run_distribute_train.sh", "table.json", "data set", "net.yaml", "table.json", "x"), "error: x is one argument too many\n")


def test_a_wrong_table_is_refused_before_anything_is_moved(place):
    place.table(2)
    assert place.run("run_distribute_train.sh", "table.json", "data set", "net.yaml").returncode == 0
    (place.path / "table.json").write_text('{"version": "2.0"}')
    r = place.run("run_distribute_train.sh", "table.json", "data set", "net.yaml")
    refused(r, "RT03 version \"2.0\" not supported")
    assert (place.path / "train_parallel0/net-1_2.ckpt").exists()


def test_the_default_settings_are_the_reference_models(place):
    assert place.run("run_standalone_train.sh", "data set").returncode == 0
    assert f"--config {ROOT}/configs/resnet50_imagenet.yaml " in place.read("train/log.txt")
    assert place.run("run_distribute_train.sh", place.table(2), "data set", 2).returncode == 0
    assert f"--config {ROOT}/configs/resnet50_imagenet2012_Thor_Ascend.yaml " in place.read("train_parallel1/log.txt")
    assert "SINDRI_LOG__STYLE=mindspore\n" in place.read("train_parallel1/env.log")
    assert place.run("run_distribute_train_gpu.sh", "data set", 2, SINDRI_LOG__STYLE="sindri").returncode == 0
    assert f"--config {ROOT}/configs/resnet50_imagenet2012_Thor_GPU.yaml " in place.read("train_parallel/log_1.txt")
    assert "SINDRI_LOG__STYLE=sindri\n" in place.read("train_parallel/env_1.log"), "a setting of the caller takes precedence"


def test_resuming_from_a_checkpoint(place):
    place.table(2)
    assert place.run("run_distribute_train.sh", "table.json", "data set", "net.yaml").returncode == 0
    # The checkpoint is in a folder that is moved away.
    r = place.run("run_distribute_train.sh", "table.json", "data set", "net.yaml", "train_parallel0/net-1_2.ckpt")
    assert r.returncode == 0, r.stderr
    file = re.search(r"--checkpoint (\S+) --resume", place.read("train_parallel0/log.txt")).group(1)
    assert pathlib.Path(file).read_text() == "weights\n"
    assert re.match(rf"{re.escape(str(place.path))}/train_parallel0\.\d{{8}}-\d{{6}}_*/run/checkpoints/net-1_2.ckpt$", file)
    refused(place.run("run_standalone_train.sh", "data set", "net.yaml", "/no/x.ckpt"), "error: RESUME_CKPT=/no/x.ckpt is not a file")


def test_folders_with_checkpoints_are_moved_and_others_left(place):
    for _ in range(3):
        assert place.run("run_standalone_train.sh", "data set", "net.yaml").returncode == 0
    kept = [p for p in place.path.iterdir() if p.name.startswith("train.")]
    assert len(kept) == 2
    assert all((p / "run/checkpoints/net-1_2.ckpt").exists() for p in kept)
    for p in (place.path / "train").rglob("*.ckpt"):
        p.unlink()
    assert place.run("run_standalone_train.sh", "data set", "net.yaml").returncode == 0
    assert len([p for p in place.path.iterdir() if p.name.startswith("train.")]) == 2, "without checkpoints the folder is replaced"
    # A dataset's own train/ must not be deleted.
    other = place.path / "elsewhere"
    (other / "train/cats").mkdir(parents=True)
    env = clean_environment(SINDRI_PROGRAM=place.fake)
    r = subprocess.run(place.command("run_standalone_train.sh", ".", "../net.yaml"), cwd=other, env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
    refused(r, "train exists and is not of an earlier launch")
    assert (other / "train/cats").is_dir()


def test_exit_code_is_that_of_the_job(place):
    place.table(3)
    assert place.run("run_distribute_train.sh", "table.json", "data set", "net.yaml", FAKE_CODE_1=3, FAKE_CODE_0=7, FAKE_CODE_2=7).returncode == 3
    assert place.run("run_distribute_train.sh", "table.json", "data set", "net.yaml", FAKE_CODE_2=7).returncode == 7
    assert place.run("run_standalone_train.sh", "data set", "net.yaml", FAKE_CODE_0=6).returncode == 6


def test_gpu_ranks_share_a_folder(place):
    r = place.run("run_distribute_train_gpu.sh", "data set", 3, CONFIG_PATH="net.yaml", RANK_TABLE_FILE="/no/table", RANK_SIZE=99, SINDRI_DEVICE_TARGET="GPU")
    assert r.returncode == 0, r.stderr
    for i in range(3):
        assert place.read(f"train_parallel/log_{i}.txt").startswith(f"rank {i} of 3 in {place.path}/train_parallel: ")
        assert (place.path / f"train_parallel/ckpt_{i}/net-1_2.ckpt").exists()
        assert "SINDRI_DEVICE_TARGET=GPU\n" in place.read(f"train_parallel/env_{i}.log")
    assert (place.path / "train_parallel/net-1_2.ckpt").exists()
    # Without a target: the GPU if there is one, else the CPU, with a message.
    r = place.run("run_distribute_train_gpu.sh", "data set", 1, "net.yaml")
    assert r.returncode == 0, r.stderr
    on_gpu = "SINDRI_DEVICE_TARGET=GPU\n" in place.read("train_parallel/env_0.log")
    assert on_gpu or "SINDRI_DEVICE_TARGET=CPU\n" in place.read("train_parallel/env_0.log")
    assert on_gpu == ("running on the CPU" not in r.stderr)
    refused(place.run("run_distribute_train_gpu.sh", "data set", 0), "error: DEVICE_NUM=0 is not a number from 1")


def test_nodes_start_their_server_of_the_table(place):
    place.table(4, servers=2, name="rank_table_16pcs.json")
    r = place.run("run_node2.sh", "data set", "net.yaml")
    assert r.returncode == 0, r.stderr
    assert place.read("device1/train.log").startswith(f"rank 3 of 4 in {place.path}/device1: ")
    assert "SERVER_ID=1\n" in place.read("device0/env.log")
    r = place.run("run_node1.sh", "data set", "net.yaml")
    assert r.returncode == 0, r.stderr
    assert place.read("device1/train.log").startswith("rank 1 of 4 ")
    assert "SINDRI_MASTER=127.0.0.1:29560\n" in place.read("device1/env.log")


def test_eval_runs_where_it_is_called(place):
    """With the checkpoint's path as typed, even a link, so that the result shows this name."""
    (place.path / "run/checkpoints").mkdir(parents=True)
    (place.path / "run/checkpoints/net-1_2.ckpt").write_text("weights")
    (place.path / "link.ckpt").symlink_to("run/checkpoints/net-1_2.ckpt")
    r = place.run("run_eval.sh", "data set", "link.ckpt")
    assert r.returncode == 0, r.stderr
    assert r.stdout == f"mindspore lines in {place.path}: eval --checkpoint link.ckpt --set data.path={place.data}\n"
    assert place.read("eval/log.txt") == r.stdout
    r = place.run("run_eval_gpu.sh", "data set", "link.ckpt", "net.yaml", FAKE_CODE_0=3, SINDRI_DEVICE_TARGET="GPU")
    assert r.returncode == 3
    assert f"--config {place.config}\n" in place.read("eval/log.txt")
    assert "SINDRI_DEVICE_TARGET=GPU\n" in place.read("eval/env.log")


def test_dry_run_starts_and_moves_nothing(place):
    place.table(2)
    assert place.run("run_distribute_train.sh", "table.json", "data set", "net.yaml").returncode == 0
    before = sorted(p.name for p in place.path.iterdir())
    r = place.run("run_distribute_train.sh", "table.json", "data set", "net.yaml", DRY_RUN=1)
    assert r.returncode == 0, r.stderr
    assert sorted(p.name for p in place.path.iterdir()) == before
    assert r.stdout.count("SINDRI_WORLD_SIZE=2 ") == 2
    assert f"--set 'data.path={place.data}'" in r.stdout


def processes_of(folder):
    """Returns the processes whose working directory is the folder or below it."""
    found = []
    for p in pathlib.Path("/proc").iterdir():
        try:
            if p.name.isdigit() and os.readlink(p / "cwd").startswith(str(folder)):
                found.append(int(p.name))
        except OSError:
            pass
    return found


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def test_background_returns_and_leaves_a_pid_file(place):
    place.table(2)
    r = place.run("run_distribute_train.sh", "table.json", "data set", "net.yaml", BACKGROUND=1, FAKE_SLEEP=1)
    assert r.returncode == 0, r.stderr
    pid = int(place.read("train_parallel.pid"))
    wait_for(lambda: all((place.path / f"train_parallel{i}/ready_{i}").exists() for i in range(2)))
    os.kill(pid, signal.SIGTERM)
    wait_for(lambda: "exit code 143\n" in place.read("train_parallel.out"))
    wait_for(lambda: not processes_of(place.path))
    assert (place.path / "train_parallel0/net-1_2.ckpt").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_signals_to_the_script_reach_the_ranks(place, number, code):
    place.table(2)
    env = clean_environment(SINDRI_PROGRAM=place.fake, FAKE_SLEEP=1)
    p = subprocess.Popen(place.command("run_distribute_train.sh", "table.json", "data set", "net.yaml"), cwd=place.path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: all((place.path / f"train_parallel{i}/ready_{i}").exists() for i in range(2)))
        p.send_signal(number)
        assert p.wait(timeout=LIMIT) == code
        wait_for(lambda: not processes_of(place.path), 5)
    finally:
        p.kill()
        p.wait()
        for left in processes_of(place.path):
            os.kill(left, signal.SIGKILL)


def tool(name, *arguments, cwd):
    env = clean_environment(SINDRI_PROGRAM=PROGRAM)
    return subprocess.run(["python3", str(SCRIPTS / name), *arguments], cwd=cwd, env=env, capture_output=True, text=True, timeout=LIMIT, check=False)


def test_hccl_tools_and_merge(tmp_path):
    r = tool("hccl_tools.py", "--device_num", "[0,8)", "--server_ip", "10.0.0.1", "--device_ips", ",".join(f"192.168.{i}.1" for i in range(8)), cwd=tmp_path)
    assert r.returncode == 0, r.stderr
    assert r.stdout.endswith("hccl_8p_01234567_10.0.0.1.json\n")
    r = tool("hccl_tools.py", "--device_num=[0,4)", "--visible_devices=4,5,6,7", "--server_ip=10.0.0.2", cwd=tmp_path)
    assert r.returncode == 0, r.stderr
    second = json.loads((tmp_path / "hccl_4p_4567_10.0.0.2.json").read_text())
    assert [d["device_id"] for d in second["server_list"][0]["device"]] == ["4", "5", "6", "7"]
    r = tool("merge_hccl.py", "hccl_4p_4567_10.0.0.2.json", "hccl_8p_01234567_10.0.0.1.json", cwd=tmp_path)
    assert r.returncode == 0, r.stderr
    both = json.loads((tmp_path / "hccl_2s_12p.json").read_text())
    assert both["server_count"] == "2"
    assert [s["server_id"] for s in both["server_list"]] == ["10.0.0.2", "10.0.0.1"], "in the order of the arguments"
    assert [d["rank_id"] for s in both["server_list"] for d in s["device"]] == [str(i) for i in range(12)]
    refused(tool("hccl_tools.py", "--device_num", "[6,3)", cwd=tmp_path), 'device num "[6,3)": start must not exceed end')
    refused(tool("merge_hccl.py", cwd=tmp_path), "usage: merge_hccl.py FILE...")
    refused(tool("merge_hccl.py", "hccl_2s_12p.json", "hccl_2s_12p.json", cwd=tmp_path), "RT11 server_id 10.0.0.2 appears twice")


def cifar(folder, per_file=64):
    """Writes CIFAR-10's binary files with few images, whose colour depends on their class."""
    rng = random.Random(3)
    for name in (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin"):
        rows = bytearray()
        for i in range(per_file):
            label = i % 10
            rows += bytes([label]) + rng.randbytes(3072).translate(bytes(20 * label + b % 30 for b in range(256)))
        (folder / name).write_bytes(rows)


TRAINING = {"SINDRI_TRAIN__EPOCHS": 1, "SINDRI_TRAIN__BATCH_SIZE": 8, "SINDRI_LR__WARMUP_EPOCHS": 0, "SINDRI_TUNE": 0, "SINDRI_STRICT": 1}


def losses(run_dir):
    events = [json.loads(line) for line in (run_dir / "metrics.jsonl").read_text().splitlines()]
    return [e["loss"] for e in events if e["event"] == "step"]


def test_eight_ranks_train_and_evaluate(place):
    """The commands of the reference models with a real training run: 8 ranks from a table on this host, then the evaluation."""
    cifar(place.data)
    place.table(8)
    config = ROOT / "configs/resnet20_cifar10.yaml"
    r = place.run("run_distribute_train.sh", "table.json", "data set", config, program=PROGRAM, **TRAINING)
    assert r.returncode == 0, r.stderr + r.stdout
    for i in range(8):
        assert (place.path / f"train_parallel{i}/log.txt").is_file()
        assert f"RANK_ID={i}\n" in place.read(f"train_parallel{i}/env.log")
    checkpoint = place.path / "train_parallel0/resnet20-1_5.ckpt"
    assert checkpoint.is_file(), sorted(os.listdir(place.path / "train_parallel0"))
    assert len(losses(place.path / "train_parallel0/run")) == 5, "320 images in global batches of 64"
    r = place.run("run_eval.sh", "data set", "train_parallel0/resnet20-1_5.ckpt", program=PROGRAM, SINDRI_TUNE=0)
    assert r.returncode == 0, r.stderr + r.stdout
    assert re.search(r"^result: \{'top_5_accuracy': [0-9.e-]+, 'top_1_accuracy': [0-9.e-]+\} ckpt=train_parallel0/resnet20-1_5.ckpt$", r.stdout, re.MULTILINE), r.stdout
    for i in range(8):
        assert re.search(r"^epoch: 1 step: 5, loss is [0-9.]+\nTrain epoch time: [0-9.]+ ms, per step time: [0-9.]+ ms$", place.read(f"train_parallel{i}/log.txt"), re.MULTILINE)
    # One rank with the batches of all eight: bitwise identical results.
    r = place.run("run_standalone_train.sh", "data set", config, program=PROGRAM, SINDRI_DIST_VIRTUAL_RANKS=8, **TRAINING)
    assert r.returncode == 0, r.stderr + r.stdout
    assert losses(place.path / "train/run") == losses(place.path / "train_parallel0/run")


def test_four_ranks_with_thor(place):
    """The same with THOR's settings, where each rank inverts a share of the curvature: bitwise identical to one rank that inverts all of it."""
    cifar(place.data)
    place.table(4)
    config = place.path / "thor.yaml"
    config.write_text((ROOT / "configs/resnet20_cifar10_thor.yaml").read_text().replace("  frequency: 20\n", "  frequency: 20\n  distribute: shard\n"))
    r = place.run("run_distribute_train.sh", "table.json", "data set", config, program=PROGRAM, **TRAINING)
    assert r.returncode == 0, r.stderr + r.stdout
    run = place.path / "train_parallel0/run"
    assert re.search(r"inversions distributed over 4 ranks, balance 0\.9", (run / "log.txt").read_text())
    assert "curvature of 22 parameters" in (run / "log.txt").read_text()
    assert (run / "measures.png").is_file()
    r = place.run("run_standalone_train.sh", "data set", config, program=PROGRAM, SINDRI_DIST_VIRTUAL_RANKS=4, **TRAINING)
    assert r.returncode == 0, r.stderr + r.stdout
    assert losses(place.path / "train/run") == losses(run)


def test_both_stages_of_dimension_reduction(place):
    """run_stage_1.sh and run_stage_2.sh on two ranks: folders, checkpoints, output; the matrix of the first run is reused by another."""
    pytest.importorskip("sindri")
    python = {"PYTHON": sys.executable, "RANK_SIZE": 2}
    few = ["--batch_size", 16, "--total_epochs", 3, "--epoch_size", 2, "--warmup_epochs", 1, "--lr_max", 0.2, "--snapshots_per_epoch", 6, "--amp_level", "O0"]
    r = place.run("run_stage_1.sh", "digits", *few, program=PROGRAM, **python)
    assert r.returncode == 0, r.stderr + r.stdout
    for text in ("============== Starting Training ==============", "epoch: 2 step: 44, loss is ", "============== Starting Testing ==============", "============== {'Accuracy': 0."):
        assert text in r.stdout
    first = place.path / "device0_stage_1/checkpoint_stage_1"
    checkpoint = first / "resnet-2_44.ckpt"
    assert checkpoint.is_file() and len(list((first / "checkpoint_pca").glob("*.ckpt"))) == 13
    r = place.run("run_stage_2.sh", "digits", checkpoint, "--n_component", 8, "--epoch_size", 1, "--batch_size", 128, program=PROGRAM, **python)
    assert r.returncode == 0, r.stderr + r.stdout
    assert "epoch: 1 step: 5, loss is " in r.stdout and "============== {'Accuracy': 0." in r.stdout
    assert (place.path / "device0_stage_2/checkpoint_stage_2/resnet-1_5.ckpt").is_file()
    again = place.run("run_stage_2.sh", "digits", checkpoint, first / "checkpoint_pca/pca_mat_temp.npy", "--n_component", 8, "--epoch_size", 1, "--batch_size", 128, program=PROGRAM, **python)
    assert again.returncode == 0 and re.findall(r"loss is .*", again.stdout) == re.findall(r"loss is .*", r.stdout)
    for words, text in ((["digits"], "usage: bash run_stage_2.sh"), (["digits", "/no/a.ckpt"], "CKPT=/no/a.ckpt is not a file"), (["/no/data", checkpoint], "DATASET=/no/data is not a directory"),
                        (["digits", checkpoint, "/no/p.npy"], "PCA_MAT=/no/p.npy is not a file")):
        refused(place.run("run_stage_2.sh", *words, program=PROGRAM, **python), text)


def test_an_unbuilt_tree_uses_the_installed_package(place):
    """The sources' package has no extension module, only the folder of its types, so the interpreter's package is used. Without one the script reports it."""
    sindri = pytest.importorskip("sindri")
    tree = place.path / "clone"
    shutil.copytree(SCRIPTS, tree / "scripts")
    (tree / "python/sindri/_core").mkdir(parents=True)
    (tree / "python/sindri/_core/__init__.pyi").write_text("")
    (tree / "python/sindri/__init__.py").write_text("raise ImportError('the sources, which are not built')\n")
    (tree / "python/examples/dimension_reduce").mkdir(parents=True)
    (tree / "python/examples/dimension_reduce/train_stage_1.py").write_text("import sindri; print('package', sindri.__file__)\n")
    package = str(pathlib.Path(sindri.__file__).parents[1])
    env = clean_environment(SINDRI_PROGRAM=PROGRAM, PYTHON=sys.executable, RANK_SIZE=1, PYTHONPATH=package)
    words = ["bash", str(tree / "scripts/run_stage_1.sh"), "digits"]
    r = subprocess.run(words, cwd=place.path, env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert r.returncode == 0 and f"package {sindri.__file__}\n" in r.stdout, r.stderr
    env["PYTHONPATH"] = str(place.path)
    found = subprocess.run([sys.executable, "-c", "import sindri"], cwd=place.path, env=env, capture_output=True, check=False)
    if found.returncode != 0:  # if the package is installed, it is found anyway
        refused(subprocess.run(words, cwd=place.path, env=env, capture_output=True, text=True, timeout=LIMIT, check=False), "has no package sindri: install the wheel")


def test_the_program_prints_the_folder_of_the_scripts(place):
    """`sindri scripts`, from any folder."""
    r = subprocess.run([PROGRAM, "scripts"], cwd=place.path, capture_output=True, text=True, check=True)
    folder = pathlib.Path(r.stdout.rstrip("\n"))
    assert folder.is_absolute() and (folder / "run_stage_1.sh").is_file() and (folder / "rank_table_16pcs.json").is_file()


def test_the_program_prints_the_folder_of_the_documentation(place):
    """`sindri docs`: the file that messages name, `docs/guide/python.md`, exists."""
    r = subprocess.run([PROGRAM, "docs"], cwd=place.path, capture_output=True, text=True, check=True)
    folder = pathlib.Path(r.stdout.rstrip("\n"))
    assert folder.is_absolute() and (folder / "guide" / "python.md").is_file() and (folder / "errors.md").is_file()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run_two_nodes(place, config):
    """Runs run_node1.sh and run_node2.sh concurrently, as two hosts of two ranks with the loopback's addresses."""
    table = json.loads((place.path / place.table(4, servers=2)).read_text())
    table["server_list"][1]["server_id"] = "127.0.0.2"
    env = clean_environment(SINDRI_PROGRAM=PROGRAM, SINDRI_MASTER_PORT=free_port(), SINDRI_JOB_TOKEN="a secret of both", **TRAINING)
    nodes = []
    try:
        for i in (1, 2):
            folder = place.path / f"host{i}"
            folder.mkdir()
            (folder / "rank_table_16pcs.json").write_text(json.dumps(table))
            nodes.append(subprocess.Popen(place.command(f"run_node{i}.sh", place.data, config), cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        outputs = [p.communicate(timeout=LIMIT)[0] for p in nodes]
        assert [p.returncode for p in nodes] == [0, 0], outputs
    finally:
        for p in nodes:
            p.kill()
    assert "4 ranks on " in (place.path / "host1/device0/train.log").read_text()


def test_two_nodes_train_as_one(place):
    """The results of two hosts are bitwise identical to those of one rank with their batches."""
    cifar(place.data)
    config = ROOT / "configs/resnet20_cifar10.yaml"
    run_two_nodes(place, config)
    r = place.run("run_standalone_train.sh", "data set", config, program=PROGRAM, SINDRI_DIST_VIRTUAL_RANKS=4, **TRAINING)
    assert r.returncode == 0, r.stderr + r.stdout
    assert losses(place.path / "train/run") == losses(place.path / "host1/device0/run")


def test_two_nodes_with_adasum(place):
    """Hosts combine their updates with Adasum; replicas are compared, the ratio is recorded, one host alone is rejected."""
    cifar(place.data)
    config = place.path / "adasum.yaml"  # the two hosts of this test are one machine, so the number of ranks per group is given
    config.write_text((ROOT / "configs/resnet20_cifar10_adasum.yaml").read_text().replace("    enabled: true\n", "    enabled: true\n    device_number: 2\n"))
    run_two_nodes(place, config)
    run = place.path / "host1/device0/run"
    header, row = (run / "metrics.csv").read_text().splitlines()[:2]
    ratio = float(row.split(",")[header.split(",").index("adasum_ratio")])
    assert 0.4 < ratio <= 1.0
    assert (run / "measures.png").is_file()
    r = place.run("run_standalone_train.sh", "data set", config, program=PROGRAM, **TRAINING)
    assert r.returncode != 0 and "adasum is enabled, but there is only one rank" in (place.path / "train/log.txt").read_text() + r.stderr + r.stdout


def test_shell_files_are_clean():
    found = subprocess.run(["bash", "-c", "command -v shellcheck"], capture_output=True, check=False)
    if found.returncode != 0:
        pytest.skip("shellcheck is not installed")
    files = [*sorted(SCRIPTS.glob("run_*.sh")), SCRIPTS / "launch_lib.sh", *sorted((ROOT / "python/examples/adasum").glob("*.sh"))]
    r = subprocess.run(["shellcheck", *map(str, files)], capture_output=True, text=True, check=False)
    assert r.returncode == 0, r.stdout
