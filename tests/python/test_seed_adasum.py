"""Every command of MindSpore's tutorial on Adasum, as listed in docs/seeds.md, on a small dataset in its format; both hosts are this machine."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys

import pytest

import seed_images
from seed_commands import LIMIT, PROGRAM, ROOT, environment, typed

SCRIPTS = ROOT / "scripts"
EXAMPLE = ROOT / "python" / "examples" / "adasum"

pytestmark = pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="the sindri program is not built")


def data_set(folder, evaluation="val", classes=4, train=8, test=3):
    """Creates folder/train and folder/<evaluation> with `train` and `test` images of each class."""
    for part, count in (("train", train), (evaluation, test)):
        seed_images.image_folder(folder / part, count, seed_images.CLASSES[:classes], seed=count)
    return folder


def run(shell, script, *arguments, folder, **more):
    return typed(folder, shell, script, *arguments, **{"SINDRI_NUM_THREADS": 1, **more})


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return str(s.getsockname()[1])


def table(ranks):
    """Returns the tutorial's table, with `ranks` ranks per host and the loopback's addresses in place of 10.*.*.*."""
    doc = json.loads((SCRIPTS / "rank_table_16pcs.json").read_text())
    for i, server in enumerate(doc["server_list"]):
        server["server_id"] = f"127.0.0.{i + 1}"
        server["device"] = [{**d, "rank_id": str(i * ranks + k)} for k, d in enumerate(server["device"][:ranks])]
    return json.dumps(doc)


def two_nodes(place, scripts, arguments, shells, ranks=2, **more):
    """Runs run_node1.sh and run_node2.sh concurrently, each in a separate folder with the table. Returns their output."""
    port, nodes = free_port(), []
    try:
        for i, shell in enumerate(shells, 1):
            folder = place / f"host{i}"
            folder.mkdir()
            (folder / "imagenet").symlink_to(place / "imagenet")
            (folder / "rank_table_16pcs.json").write_text(table(ranks))
            env = environment(SINDRI_MASTER_PORT=port, SINDRI_JOB_TOKEN="a secret of both", RANK_SIZE=str(2 * ranks), DEVICE_NUM=str(ranks), **more)
            nodes.append(subprocess.Popen([shell, scripts / f"run_node{i}.sh", *map(str, arguments)], cwd=folder, env=env, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, text=True))
        outputs = [p.communicate(timeout=LIMIT)[0] for p in nodes]
        assert [p.returncode for p in nodes] == [0, 0], outputs
    finally:
        for p in nodes:
            p.kill()
    return outputs


def test_the_tables_are_the_tutorials():
    """Next to the scripts and next to the example; addresses and ranks as the tutorials list them."""
    for name, servers in (("rank_table_8pcs.json", 1), ("rank_table_16pcs.json", 2)):
        doc = json.loads((SCRIPTS / name).read_text())
        assert (doc["version"], doc["server_count"], doc["status"]) == ("1.0", str(servers), "completed")
        assert [s["server_id"] for s in doc["server_list"]] == ["10.*.*.*"] * servers
        devices = [d for s in doc["server_list"] for d in s["device"]]
        assert [d["rank_id"] for d in devices] == [str(i) for i in range(8 * servers)]
        assert [d["device_ip"] for d in devices] == [f"192.{i % 4 + 1}.27.{6 + i // 4}" for i in range(8 * servers)]
    assert (EXAMPLE / "rank_table_16pcs.json").read_text() == (SCRIPTS / "rank_table_16pcs.json").read_text()


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("scripts", [SCRIPTS, EXAMPLE], ids=["scripts", "example"])
def test_a_table_with_placeholders_says_what_to_write(shell, scripts, tmp_path):
    """The commands as typed, with the unchanged table next to them; without a table they say where to find one."""
    (tmp_path / "imagenet" / "train").mkdir(parents=True)
    r = run(shell, scripts / "run_node1.sh", "./imagenet", folder=tmp_path)
    assert r.returncode == 2 and "rank_table_16pcs.json is not a file: copy " in r.stderr and "10.*.*.*" in r.stderr
    shutil.copy(SCRIPTS / "rank_table_16pcs.json", tmp_path)
    r = run(shell, scripts / "run_node2.sh", "./imagenet", folder=tmp_path)
    assert r.returncode == 2 and 'server_id "10.*.*.*" of server 1 is a placeholder: write the address' in r.stderr


@pytest.mark.parametrize(("scripts", "text"), [(SCRIPTS, "sindri' 'train' "), (EXAMPLE, "training.py' ")], ids=["scripts", "example"])
def test_sixteen_ranks_are_started_with_the_tutorials_settings(scripts, text, tmp_path):
    """`bash run_node1.sh ./imagenet` and `sh run_node2.sh ./imagenet` with the table of 16 cards: eight ranks each, Adasum and O2 by default."""
    data_set(tmp_path / "imagenet", classes=1, train=1, test=1)
    (tmp_path / "rank_table_16pcs.json").write_text(table(8))
    first = run("bash", scripts / "run_node1.sh", "./imagenet", folder=tmp_path, DRY_RUN="1")
    second = run("sh", scripts / "run_node2.sh", "./imagenet", folder=tmp_path, DRY_RUN="1")
    for i, r in enumerate((first, second)):
        assert r.returncode == 0, r.stderr
        assert re.findall(r"# rank (\d+) of 16", r.stdout) == [str(n) for n in range(8 * i, 8 * i + 8)]
    if scripts == SCRIPTS:
        assert "resnet50_imagenet2012_Adasum.yaml: algorithms adasum, amp_level cells_O2\n" in first.stdout
        assert "resnet50_imagenet2012_Adasum.yaml" in first.stderr
    else:
        assert re.search(r"training\.py --data_path \S*/imagenet\n", first.stdout), "the program's defaults apply"


def test_the_example_trains_on_two_hosts(tmp_path):
    """training.py as the scripts start it: Adasum between groups of two ranks, the tutorial's lines, the same weights on all ranks."""
    data_set(tmp_path / "imagenet", "validation_preprocess", classes=4, train=8, test=2)
    small = ["--net", "small", "--num_classes", 4, "--batch_size", 2, "--image_size", 32, "--num_parallel_workers", 1, "--epoch_size", 2, "--warmup_epochs", 1,
             "--lr_max", 0.05, "--device_number", 2, "--run_eval"]
    one, two = two_nodes(tmp_path, EXAMPLE, ["./imagenet", *small], ["bash", "sh"])
    assert "============== Starting Training ==============\n" in one
    assert re.findall(r"epoch: (\d) step: (\d), loss is \d", one) == [("1", "4"), ("2", "4")]
    assert re.search(r"============== \{'Accuracy': [01]\.\d+\} ==============", one)
    assert (tmp_path / "host2/device1/train.log").is_file() and "Traceback" not in two


def test_the_settings_file_trains_on_two_hosts(tmp_path):
    """scripts/run_node*.sh with fewer images per step: Adasum combines the hosts' updates."""
    data_set(tmp_path / "imagenet", classes=4, train=8, test=2)
    small = {"SINDRI_MODEL__NAME": "resnet18", "SINDRI_MODEL__NUM_CLASSES": "4", "SINDRI_TRAIN__BATCH_SIZE": "2", "SINDRI_TRAIN__EPOCHS": "1",
             "SINDRI_DATA__IMAGE_SIZE": "32", "SINDRI_LR__WARMUP_EPOCHS": "0", "SINDRI_LR__MAX": "0.05", "SINDRI_BOOST__ADASUM__DEVICE_NUMBER": "2",
             "SINDRI_CHECKPOINT__SAVE_EVERY_EPOCHS": "1"}
    one, _ = two_nodes(tmp_path, SCRIPTS, ["./imagenet"], ["sh", "bash"], **small)
    assert "algorithms adasum, amp_level cells_O2" in one
    rows = (tmp_path / "host1/device0/run/metrics.csv").read_text().splitlines()
    assert 0.2 < float(rows[1].split(",")[rows[0].split(",").index("adasum_ratio")]) <= 1.0
    assert list((tmp_path / "host1/device0").glob("resnet18-1_4.ckpt"))


def test_sixteen_ranks_on_one_machine_are_two_groups(tmp_path):
    """Without device_number, as in the tutorial: MindSpore counts hosts of 8. Two ranks on one machine are one group, which is rejected as before."""
    def train(ranks):
        words = ["train.batch_size=2", "train.max_steps=2", "boost.adasum.enabled=true", "train.run_dir=run", "checkpoint.save_every_epochs=0"]
        sets = [word for setting in words for word in ("--set", setting)]
        return subprocess.run([PROGRAM, "run", "-n", str(ranks), "--log-dir", "logs", "--", "sindri", "train", "digits", "--quiet", *sets], cwd=tmp_path,
                              env=environment(SINDRI_NUM_THREADS=1, SINDRI_LOG="boost=info"), capture_output=True, text=True, timeout=LIMIT, check=False)
    done = train(16)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "adasum: 2 groups of 8 ranks" in (tmp_path / "logs/rank_0.log").read_text()
    alone = train(2)
    assert alone.returncode != 0 and "all 2 ranks are in one group" in alone.stderr and "device_num" in alone.stderr
