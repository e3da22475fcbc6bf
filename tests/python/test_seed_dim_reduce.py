"""Every command of MindSpore's tutorial on dimension-reduction training, as listed in docs/seeds.md, on a small dataset in its format."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import seed_images
from seed_commands import LIMIT, PROGRAM, ROOT, environment, typed

SCRIPTS = ROOT / "scripts"
EXAMPLE = ROOT / "python" / "examples" / "dimension_reduce"
# Arguments that make the tutorial's commands small.
SMALL = ["--net", "small", "--class_num", "4", "--batch_size", "4", "--image_size", "32", "--num_parallel_workers", "1"]

pytestmark = pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="the sindri program is not built")


def data_set(folder, evaluation="val", classes=4, train=8, test=3):
    """Creates folder/train and folder/<evaluation> with `train` and `test` images of each class."""
    for part, count in (("train", train), (evaluation, test)):
        seed_images.image_folder(folder / part, count, seed_images.CLASSES[:classes], seed=count)
    return folder


def run(shell, script, *arguments, folder, **more):
    return typed(folder, shell, SCRIPTS / script, *arguments, **{"RANK_SIZE": 1, "SINDRI_NUM_THREADS": 1, **more})


def succeeded(result):
    assert result.returncode == 0, result.stderr + result.stdout
    return result.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Returns a folder with ./imagenet and the results of `bash run_stage_1.sh ./imagenet` on two ranks."""
    folder = tmp_path_factory.mktemp("stages")
    data_set(folder / "imagenet", classes=4, train=12, test=2)
    out = succeeded(run("bash", "run_stage_1.sh", "./imagenet", *SMALL, "--epoch_size", 5, "--total_epochs", 7, "--warmup_epochs", 1, "--lr_max", 0.1,
                        folder=folder, RANK_SIZE="2"))
    return folder, out


ACCURACY = r"============== Starting Testing ==============\n============== \{'Accuracy': [01]\.\d+\} ==============\n"


def test_stage_1_prints_and_saves_what_the_tutorial_shows(place):
    """The lines of the output; checkpoints of rank 0, snapshots with weights only."""
    folder, out = place
    assert "============== Starting Training ==============\n" in out
    assert re.findall(r"epoch: (\d+) step: (\d+), loss is \d", out) == [(str(e), "6") for e in range(1, 6)]
    assert re.search(ACCURACY, out)
    first = folder / "device0_stage_1" / "checkpoint_stage_1"
    assert (first / "resnet-5_6.ckpt").is_file()
    assert sorted(p.name for p in (first / "checkpoint_pca").glob("*.ckpt")) == [f"resnet-{e}_6.ckpt" for e in range(1, 6)]
    assert not list((folder / "device1_stage_1").rglob("*.ckpt"))
    import sindri as ms
    assert any(name.startswith("moments") for name in ms.load_checkpoint(str(first / "resnet-5_6.ckpt")))
    assert not any(name.startswith("moments") for name in ms.load_checkpoint(str(first / "checkpoint_pca" / "resnet-5_6.ckpt")))


def test_stage_2_under_both_shells_and_with_a_matrix(place):
    """`run_stage_2.sh ./imagenet CKPT [PCA_MAT]`: a run with the matrix of an earlier one trains the same."""
    folder, _ = place
    ckpt = "./device0_stage_1/checkpoint_stage_1/resnet-5_6.ckpt"
    out = succeeded(run("sh", "run_stage_2.sh", "./imagenet", ckpt, *SMALL, "--n_component", 4, folder=folder, RANK_SIZE="2"))
    assert re.findall(r"epoch: (\d+) step: (\d+), loss is \d", out) == [("1", "6"), ("2", "6")]
    assert re.search(ACCURACY, out)
    assert (folder / "device0_stage_2/checkpoint_stage_2/resnet-2_6.ckpt").is_file()
    matrix = next((folder / "device0_stage_1").rglob("pca_mat*.npy"))
    assert np.load(matrix).shape[0] == 4
    again = succeeded(run("bash", "run_stage_2.sh", "./imagenet", ckpt, matrix, *SMALL, "--n_component", 4, folder=folder, RANK_SIZE="2"))
    losses = re.findall(r"loss is (\S+)", out)
    assert len(losses) == 2 and re.findall(r"loss is (\S+)", again) == losses


def test_sindri_pca_reads_the_snapshots(place):
    """A matrix from `sindri pca` in place of the one that a second stage computes."""
    folder, _ = place
    first = folder / "device0_stage_1" / "checkpoint_stage_1"
    done = subprocess.run([PROGRAM, "pca", first / "checkpoint_pca", "--components", "4", "--out", "pca_mat.npy"], cwd=folder, env=environment(),
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    assert "5 snapshots, " in succeeded(done)
    out = succeeded(run("sh", "run_stage_2.sh", "./imagenet", first / "resnet-5_6.ckpt", "pca_mat.npy", *SMALL, "--n_component", 4, "--epoch_size", 1, folder=folder,
                        RANK_SIZE="2"))
    assert re.search(r"epoch: 1 step: 6, loss is \d", out)
    whole = subprocess.run([PROGRAM, "pca", first, "--components", "1"], cwd=folder, env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert whole.returncode == 4 and "the state of a training run" in whole.stderr and "--config" in whole.stderr


def test_eval_py_judges_a_checkpoint(place):
    """eval.py prints the results that training printed at its end."""
    folder, out = place
    done = subprocess.run([sys.executable, EXAMPLE / "eval.py", "--data_path", "./imagenet", "--checkpoint_path",
                           "./device0_stage_1/checkpoint_stage_1/resnet-5_6.ckpt", *SMALL], cwd=folder, env=environment(), capture_output=True, text=True,
                          timeout=LIMIT, check=False)
    assert re.search(ACCURACY, succeeded(done))
    wrong = subprocess.run([sys.executable, EXAMPLE / "eval.py", "--data_path", "./imagenet", "--checkpoint_path", "imagenet", *SMALL], cwd=folder,
                           env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert wrong.returncode != 0


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_defaults_are_the_tutorials(shell, tmp_path):
    """The command as typed: ResNet-50, 224x224, 256 images, O2, loss scale 1024, 8 ranks, 70 epochs of 90; validation_preprocess/ in place of val/."""
    data_set(tmp_path / "imagenet", "validation_preprocess", classes=1, train=1, test=1)
    out = succeeded(run(shell, "run_stage_1.sh", "./imagenet", folder=tmp_path, RANK_SIZE="8", DRY_RUN="1"))
    assert out.count("SINDRI_WORLD_SIZE=8 ") == 8
    assert re.search(r"train_stage_1\.py --data_path \S*/imagenet\n", out), "no setting is given, so the program's defaults apply"
    sys.path.insert(0, str(EXAMPLE))
    try:
        import train_stage_1
        import train_stage_2
        given, sys.argv = sys.argv, ["x", "--data_path", "imagenet"]
        first = vars(train_stage_1.parse_args())
        sys.argv += ["--pretrained_weight_path", "x.ckpt"]
        second = vars(train_stage_2.parse_args())
        sys.argv = given
    finally:
        sys.path.remove(str(EXAMPLE))
    wanted = {"net": "resnet50", "class_num": 1001, "batch_size": 256, "image_size": 224, "epoch_size": 70, "total_epochs": 90, "warmup_epochs": 5, "lr_max": 0.8,
              "amp_level": "O2", "loss_scale": 1024}
    assert {k: first[k] for k in wanted} == wanted
    assert (second["epoch_size"], second["n_component"], second["weight_load_dir"]) == (2, 32, "./checkpoint_stage_1/checkpoint_pca")


def test_a_step_of_the_tutorials_network(tmp_path):
    """ResNet-50 with 224x224 and O2 as typed, but fewer images; stage 2 continues from it."""
    data_set(tmp_path / "imagenet", "validation_preprocess", classes=2, train=2, test=1)
    few = ["--batch_size", 2, "--num_parallel_workers", 1, "--epoch_size", 1]
    out = succeeded(run("sh", "run_stage_1.sh", "./imagenet", *few, folder=tmp_path))
    assert re.search(r"epoch: 1 step: 2, loss is \d", out)
    assert re.search(ACCURACY, out)
    assert (tmp_path / "device0_stage_1/checkpoint_stage_1/resnet-1_2.ckpt").is_file()


def test_refusals_name_what_is_missing(tmp_path):
    """A dataset without test images; one with fewer images than a batch."""
    data_set(tmp_path / "data", "elsewhere", classes=1, train=2, test=1)
    r = run("sh", "run_stage_1.sh", "./data", folder=tmp_path)
    assert r.returncode == 2 and "has no images to test with: val/, validation_preprocess/ or test/" in r.stderr
    (tmp_path / "data" / "elsewhere").rename(tmp_path / "data" / "val")
    r = run("bash", "run_stage_1.sh", "./data", "--net", "small", folder=tmp_path)
    assert r.returncode != 0 and "0 batches: 2 rows, batch_size=256" in r.stderr + r.stdout and "use a smaller batch_size" in r.stderr + r.stdout
    r = run("bash", "run_stage_2.sh", "./data", "./none.ckpt", folder=tmp_path)
    assert r.returncode == 2 and "CKPT=./none.ckpt is not a file" in r.stderr


def test_configs_are_the_tutorials_settings():
    """The settings files of both stages, as the program reads them."""
    def settings(config):
        done = subprocess.run([PROGRAM, "train", "--config", ROOT / "configs" / config, "--print-config"], capture_output=True, text=True, check=True)
        return done.stdout
    first, second = settings("resnet50_imagenet2012_DimReduce_stage_1.yaml"), settings("resnet50_imagenet2012_DimReduce.yaml")
    for text, wanted in ((first, {"amp_level": "cells_O2", "loss_scale": "1024", "momentum": "0.9", "schedule": "linear", "keep_max": "40", "epochs": "70", "total_steps": "56250"}),
                         (second, {"name": "sgd", "momentum": "0", "schedule": "constant", "max": "1", "n_components": "32"})):
        for key, value in wanted.items():
            assert re.search(rf"\b{key}\b\W+{re.escape(value)}\b", text), (key, value, text)
