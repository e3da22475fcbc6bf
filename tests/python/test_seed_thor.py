"""Seed document 003, ResNet-50 with THOR (docs/seeds.md): its commands as typed, under sh and bash, and the classes of its example."""
import ast
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import yaml
from seed_commands import PROGRAM, ROOT, environment, rank_table, typed
from seed_images import image_folder

SCRIPTS = ROOT / "scripts"
EXAMPLE = ROOT / "python" / "examples" / "resnet_thor"
# Small images and batches; damping and rate keep such a short run finite.
SMALL = {"SINDRI_TRAIN__BATCH_SIZE": 4, "SINDRI_DATA__IMAGE_SIZE": 32, "SINDRI_TRAIN__EPOCHS": 2, "SINDRI_OPTIMIZER__DAMPING": 1, "SINDRI_LR__MAX": 0.01,
         "SINDRI_OPTIMIZER__FREQUENCY": 2}
SMALL_EXAMPLE = " ".join(f"--set {s}" for s in ("epoch_size=2", "batch_size=4", "image_size=32", "frequency=2", "damping_init=1.0", "lr_init=0.01"))
LOSS = r"^epoch: {} step: {}, loss is ([0-9.e+-]+)$"
RESULT = r"^result: (\{{'top_5_accuracy': [0-9.]+, 'top_1_accuracy': [0-9.]+\}}) ckpt={}$"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="the sindri program is not built")]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Returns ImageNet2012/ with ilsvrc/ (18 images of six classes) and ilsvrc_eval/ (12)."""
    folder = tmp_path_factory.mktemp("data") / "ImageNet2012"
    image_folder(folder / "ilsvrc", 3)
    image_folder(folder / "ilsvrc_eval", 2, seed=1)
    return folder


def losses_in(text, epochs, step):
    """Returns the losses in the document's lines at the end of each epoch; there is one line per epoch."""
    assert len(re.findall(r"^epoch: ", text, re.MULTILINE)) == epochs, text
    return [float(re.search(LOSS.format(e + 1, step), text, re.MULTILINE)[1]) for e in range(epochs)]


def accuracies(output, checkpoint, space=""):
    found = re.search(RESULT.format(space + re.escape(checkpoint)), output, re.MULTILINE)
    assert found, output
    values = ast.literal_eval(found[1])
    assert 0 <= values["top_1_accuracy"] <= values["top_5_accuracy"] <= 1
    return values


def test_ascend_form(data, tmp_path):
    """sh run_distribute_train.sh RANK_TABLE_FILE DATASET_PATH DEVICE_NUM, then sh run_eval.sh DATASET_PATH CHECKPOINT_PATH."""
    table = rank_table(tmp_path / "rank_table_2pcs.json", 2)
    r = typed(tmp_path, "sh", SCRIPTS / "run_distribute_train.sh", table.name, data / "ilsvrc", 2, **SMALL)
    assert r.returncode == 0, r.stderr + r.stdout
    by_rank = [losses_in((tmp_path / f"train_parallel{i}/log.txt").read_text(), 2, 2) for i in range(2)]
    assert by_rank[0] == by_rank[1], "the mean over ranks"
    assert "curvature of 54 parameters" in r.stdout, "the optimizer is THOR"
    for i in range(2):
        assert sorted(p.name for p in (tmp_path / f"train_parallel{i}").glob("*.ckpt")) == ["resnet-1_2.ckpt", "resnet-2_2.ckpt"]
    r = typed(tmp_path, "sh", SCRIPTS / "run_eval.sh", data / "ilsvrc_eval", "train_parallel0/resnet-2_2.ckpt")
    assert r.returncode == 0, r.stderr + r.stdout
    accuracies(r.stdout, "train_parallel0/resnet-2_2.ckpt")
    assert (tmp_path / "eval/log.txt").read_text() == r.stdout


def test_gpu_form(data, tmp_path):
    """run_distribute_train_gpu.sh DATASET_PATH DEVICE_NUM, then run_eval_gpu.sh DATASET_PATH CHECKPOINT_PATH. The document evaluates
    train_parallel/resnet-36_5004.ckpt,
    although its listing has the file in ckpt_0: both exist."""
    r = typed(tmp_path, "bash", SCRIPTS / "run_distribute_train_gpu.sh", data / "ilsvrc", 2, **SMALL)
    assert r.returncode == 0, r.stderr + r.stdout
    losses_in((tmp_path / "train_parallel/log_1.txt").read_text(), 2, 2)
    for folder in ("ckpt_0", "ckpt_1", "."):
        assert sorted(p.name for p in (tmp_path / "train_parallel" / folder).glob("resnet-*.ckpt")) == ["resnet-1_2.ckpt", "resnet-2_2.ckpt"]
    r = typed(tmp_path, "bash", SCRIPTS / "run_eval_gpu.sh", data / "ilsvrc_eval", "train_parallel/resnet-2_2.ckpt")
    assert r.returncode == 0, r.stderr + r.stdout
    accuracies(r.stdout, "train_parallel/resnet-2_2.ckpt")


def test_defaults_are_the_documents(tmp_path):
    """One step of ResNet-50 with the defaults: 224 pixels, 32 images per device, O2, loss scale 128, 1001 classes; saved as resnet-1_1.ckpt."""
    image_folder(tmp_path / "ilsvrc", 16, classes=("n01440764", "n01443537"))
    r = typed(tmp_path, "sh", SCRIPTS / "run_distribute_train_gpu.sh", "ilsvrc", 1, SINDRI_TRAIN__MAX_STEPS=1)
    assert r.returncode == 0, r.stderr + r.stdout
    losses_in((tmp_path / "train_parallel/log_0.txt").read_text(), 1, 1)
    assert (tmp_path / "train_parallel/ckpt_0/resnet-1_1.ckpt").is_file()
    used = yaml.safe_load((tmp_path / "train_parallel/run/config.resolved.yaml").read_text())
    assert used["model"]["name"] == "resnet50" and used["model"]["num_classes"] == 1001 and used["optimizer"]["name"] == "thor"
    assert used["train"]["batch_size"] == 32 and used["train"]["amp_level"].endswith("O2") and used["optimizer"]["loss_scale"] == 128
    assert used["loss"]["label_smoothing"] == 0.1 and used["optimizer"]["frequency"] == 834 and used["train"]["epochs"] == 40


@pytest.mark.parametrize(("shell", "target"), [("sh", "Ascend"), ("bash", "GPU")])
def test_the_example(data, tmp_path, shell, target):
    """The scripts in python/examples/resnet_thor, with the document's arguments."""
    if target == "Ascend":
        table = rank_table(tmp_path / "table.json", 2)
        r = typed(tmp_path, shell, EXAMPLE / "scripts/run_distribute_train.sh", table, data / "ilsvrc", 2, EXTRA=SMALL_EXAMPLE)
        logs, checkpoint, evaluation = [f"train_parallel{i}/log.txt" for i in range(2)], "train_parallel0/resnet-2_2.ckpt", "run_eval.sh"
    else:
        r = typed(tmp_path, shell, EXAMPLE / "scripts/run_distribute_train_gpu.sh", data / "ilsvrc", 1, EXTRA=SMALL_EXAMPLE)
        logs, checkpoint, evaluation = ["train_parallel/log_0.txt"], "train_parallel/ckpt_0/resnet-2_4.ckpt", "run_eval_gpu.sh"
    assert r.returncode == 0, r.stderr + r.stdout
    for log in logs:
        losses_in((tmp_path / log).read_text(), 2, 2 if target == "Ascend" else 4)
    r = typed(tmp_path, shell, EXAMPLE / "scripts" / evaluation, data / "ilsvrc_eval", checkpoint, EXTRA="--set image_size=32")
    assert r.returncode == 0, r.stderr + r.stdout
    accuracies(r.stdout, checkpoint, space=" ")


def test_the_examples_tree():
    """The files of the document's listing; export.py and mindspore_hub_conf.py are missing until networks can be exported."""
    for name in ("README.md", "train.py", "eval.py", *(f"scripts/{n}.sh" for n in ("run_distribute_train", "run_eval", "run_distribute_train_gpu", "run_eval_gpu")),
                 *(f"src/{n}.py" for n in ("crossentropy", "config", "dataset_helper", "grad_reducer_thor", "model_thor", "resnet_thor", "thor", "thor_layer", "dataset"))):
        assert (EXAMPLE / name).is_file(), name
    for name in (p.name for p in (EXAMPLE / "scripts").iterdir()):
        for shell in ("sh", "bash"):
            r = typed(EXAMPLE, shell, EXAMPLE / "scripts" / name)
            assert r.returncode == 2 and r.stderr.startswith(f"usage: sh {name} "), r.stderr


CLASSES_TEST = """
import numpy as np
import sindri as ms
from sindri import nn
from src.model_thor import Model_Thor
from src.thor import THOR, THOR_GPU
from src.thor_layer import Conv2d_thor, Dense_thor

damping = ms.Tensor(np.linspace(0.3, 0.1, 12).astype(np.float32))
data = ms.dataset.DigitsDataset(usage="train", shuffle=False).map([ms.dataset.vision.Rescale(1 / 16, 0), ms.dataset.vision.HWC2CHW()], "image")
data = data.take(192).batch(32)
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
lr = ms.Tensor(np.full(12, 0.02, np.float32))


def declared(frequency=3, scale=128.0):
    more = dict(damping=damping, loss_scale=scale, frequency=frequency, batch_size=32)
    return nn.SequentialCell(Conv2d_thor(1, 8, 3, **more), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), Dense_thor(512, 10, **more))


def matrices(net, name):
    return filter(lambda x: name in x.name, net.get_parameters())


def arguments(net):
    return (filter(lambda x: x.requires_grad, net.get_parameters()), lr, 0.9, matrices(net, "matrix_A"), matrices(net, "matrix_G"),
            matrices(net, "A_inv_max"), matrices(net, "G_inv_max"), 5e-4, 128.0)


def train(net, optimizer, make):
    manager = ms.FixedLossScaleManager(128.0, drop_overflow_update=False)
    model = make(net, loss_fn=loss, optimizer=optimizer, loss_scale_manager=manager, metrics={"acc"})
    model.train(2, data, dataset_sink_mode=False)
    assert int(optimizer.global_step.asnumpy().reshape(-1)[0]) == 12
    return {p.name: p.asnumpy() for p in net.trainable_params()}


ms.set_seed(3)
first = declared()
plain = nn.SequentialCell(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Dense(512, 10))
ms.load_param_into_net(plain, {p.name: ms.Parameter(p.asnumpy(), name=p.name) for p in first.get_parameters() if "matrix" not in p.name})
ours = train(first, THOR_GPU(*arguments(first)), lambda *a, **k: Model_Thor(*a, frequency=3, **k))
theirs = train(plain, nn.thor(plain, lr, damping, 0.9, 5e-4, 128.0, 32, frequency=3), ms.Model)
assert ours.keys() == theirs.keys() and len(ours) == 5
for name, value in ours.items():
    assert np.isfinite(value).all() and np.array_equal(value, theirs[name]), name
print("equal")

net = declared()
for make, text in ((lambda: THOR(*arguments(net)[:3], [], [], (), (), 5e-4, 128.0), "matrix_A has 0"),
                   (lambda: THOR(*arguments(net)[:8], 64.0), "loss_scale is 64.0 and 128.0 in the layers"),
                   (lambda: THOR(*arguments(net)[:3], matrices(net, "matrix_A"), list(matrices(net, "matrix_G"))[:1], (), (), 5e-4, 128.0), "matrix_G 1 matrices"),
                   (lambda: THOR(list(net.trainable_params())[1:], *arguments(net)[1:]), "is not among the parameters"),
                   (lambda: THOR(*arguments(net)[:3], net.trainable_params(), matrices(net, "matrix_G")), "not of a Conv2d_thor"),
                   (lambda: Model_Thor(net, loss, THOR(*arguments(net)), frequency=7), "the model's frequency is 7")):
    try:
        make()
    except ValueError as e:
        assert text in str(e), e
    else:
        raise AssertionError(text)
print("refused")
"""


def test_the_classes_of_the_example():
    """THOR with parameters and matrices, on declaring layers, trains bitwise identically to nn.thor on plain layers; wrong arguments are rejected."""
    r = subprocess.run([sys.executable, "-c", CLASSES_TEST], cwd=EXAMPLE, env=environment(), capture_output=True, text=True, timeout=300, check=False)
    assert r.returncode == 0, r.stderr
    assert r.stdout.split() == ["equal", "refused"]


@pytest.mark.parametrize("interval", [0, -1])
def test_class_folders_without_parts(data, tmp_path, interval):
    """Training images given as the data would be used for evaluation, too; a warning says so. train.eval_interval -1 evaluates nothing."""
    words = ["train", "--config", ROOT / "configs/resnet20_cifar10.yaml", "--set", "data.kind=imagefolder", "--set", f"data.path={data / 'ilsvrc'}"]
    sets = {"train.max_steps": 1, "train.epochs": 1, "train.batch_size": 4, "train.eval_interval": interval, "lr.warmup_epochs": 0, "train.run_dir": tmp_path / "run"}
    words += [part for k, v in sets.items() for part in ("--set", f"{k}={v}")]
    r = subprocess.run([PROGRAM, *map(str, words)], env=environment(), capture_output=True, text=True, timeout=300, check=False)
    assert r.returncode == 0, r.stderr
    evaluated = interval == 0
    assert ("both trained on and evaluated" in r.stderr) == evaluated
    assert bool(re.search(r"^accuracy: ", r.stdout, re.MULTILINE)) == evaluated
    assert r.stdout.count("epoch 1/1: loss ") == 1, "log.style sindri"


def test_log_style_with_lines_of_single_steps(data, tmp_path):
    """Lines of log.every show the loss of one step each, which metrics.jsonl has, too; the line at the end of an epoch does not repeat one."""
    words = ["train", "--config", ROOT / "configs/resnet20_cifar10.yaml", "--set", "data.kind=imagefolder", "--set", f"data.path={data / 'ilsvrc'}"]
    sets = {"train.epochs": 2, "train.batch_size": 6, "train.eval_interval": -1, "lr.warmup_epochs": 0, "log.style": "mindspore", "log.every": 2,
            "train.run_dir": tmp_path / "run"}
    words += [part for k, v in sets.items() for part in ("--set", f"{k}={v}")]
    r = subprocess.run([PROGRAM, *map(str, words)], env=environment(), capture_output=True, text=True, timeout=300, check=False)
    assert r.returncode == 0, r.stderr
    found = re.findall(r"^epoch: (\d) step: (\d), loss is (\S+)$", r.stdout, re.MULTILINE)
    assert [(int(e), int(s)) for e, s, _ in found] == [(1, 2), (1, 3), (2, 2), (2, 3)]
    events = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    steps = [e["loss"] for e in events if e["event"] == "step"]
    assert [np.float32(text) for _, _, text in found] == [np.float32(steps[i]) for i in (1, 2, 4, 5)]
    assert len(re.findall(r"^Train epoch time: [0-9.]+ ms, per step time: [0-9.]+ ms$", r.stdout, re.MULTILINE)) == 2
    assert found[0][2] in (tmp_path / "run/log.txt").read_text() and "epoch 1/2" not in r.stdout
