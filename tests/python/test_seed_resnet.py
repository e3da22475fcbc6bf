"""Seed document 001, migrating ResNet-50 (docs/seeds.md): the commands, settings and imports of python/examples/resnet, under sh and bash."""
import ast
import importlib
import os
import re
import subprocess
import sys

import pytest
from seed_commands import PROGRAM, ROOT, environment, rank_table, typed
from seed_images import image_folder

pytest.importorskip("yaml")
EXAMPLE = ROOT / "python" / "examples" / "resnet"
CONFIGS = ("resnet18_cifar10", "resnet18_imagenet2012", "resnet34_imagenet2012", "resnet50_cifar10", "resnet50_imagenet2012_Ascend", "resnet50_imagenet2012",
           "resnet50_imagenet2012_GPU", "resnet101_imagenet2012", "se-resnet50_imagenet2012")
# The keys that the document's train.py, eval.py and distributed listings read.
KEYS = ("checkpoint_path", "data_path", "batch_size", "class_num", "lr_init", "lr_end", "lr_max", "warmup_epochs", "epoch_size", "lr_decay_mode", "weight_decay",
        "momentum", "loss_scale", "label_smooth_factor", "save_checkpoint", "save_checkpoint_epochs", "keep_checkpoint_max", "device_num", "device_target",
        "net_name")
SMALL = "--epoch_size 1 --warmup_epochs 0 --lr_max 0.01 --batch_size 4 --train_image_size 32 --eval_image_size 32 --save_checkpoint_epochs 1"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="the sindri program is not built")]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Returns dataset/ with train/ (12 images of six classes) and validation_preprocess/ (6)."""
    folder = tmp_path_factory.mktemp("data") / "dataset"
    image_folder(folder / "train", 2)
    image_folder(folder / "validation_preprocess", 1, seed=1)
    return folder


def result_of(output, checkpoint):
    """Returns the values printed by `print("result:", res, "ckpt=", config.checkpoint_path)`."""
    found = re.search(rf"^result: (\{{.*\}}) ckpt= {re.escape(checkpoint)}$", output, re.MULTILINE)
    assert found, output
    values = ast.literal_eval(found[1])
    assert set(values) == {"top_1_accuracy", "top_5_accuracy"} and 0 <= values["top_1_accuracy"] <= values["top_5_accuracy"] <= 1
    return values


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_standalone_training_and_evaluation(data, tmp_path, shell):
    """ResNet-50 with the default settings; a folder with parts, or the class folders of one part."""
    path, evaluated = (data, data) if shell == "sh" else (data / "train", data / "validation_preprocess")
    r = typed(tmp_path, shell, EXAMPLE / "scripts/run_standalone_train.sh", path, EXTRA=SMALL)
    assert r.returncode == 0, r.stderr + r.stdout
    assert re.search(r"^epoch: 1 step: 3, loss is [0-9.]+\nTrain epoch time: [0-9.]+ ms, per step time: [0-9.]+ ms$", (tmp_path / "train/log.txt").read_text(), re.MULTILINE)
    checkpoint = "train/checkpoint/resnet-1_3.ckpt"
    r = typed(tmp_path, shell, EXAMPLE / "scripts/run_eval.sh", evaluated, checkpoint, EXTRA="--eval_image_size 32 --batch_size 4")
    assert r.returncode == 0, r.stderr + r.stdout
    result_of(r.stdout, checkpoint)


def test_distributed_training(data, tmp_path):
    """sh run_distribute_train.sh RANK_TABLE_FILE DATASET_PATH [CONFIG_PATH] on two ranks, with another network."""
    table = rank_table(tmp_path / "table.json", 2)
    config = EXAMPLE / "src/resnet18_imagenet2012_config.yaml"
    r = typed(tmp_path, "sh", EXAMPLE / "scripts/run_distribute_train.sh", table, data, config, EXTRA=SMALL.replace("--batch_size 4", "--batch_size 2"))
    assert r.returncode == 0, r.stderr + r.stdout
    for i in range(2):
        assert "epoch: 1 step: 3, loss is " in (tmp_path / f"train_parallel{i}/log.txt").read_text()
        assert (tmp_path / f"train_parallel{i}/checkpoint/ckpt_{i}/resnet-1_3.ckpt").is_file()
    r = typed(tmp_path, "sh", EXAMPLE / "scripts/run_eval.sh", data, "train_parallel0/checkpoint/ckpt_0/resnet-1_3.ckpt", config, EXTRA="--eval_image_size 32")
    assert r.returncode == 0, r.stderr + r.stdout
    result_of(r.stdout, "train_parallel0/checkpoint/ckpt_0/resnet-1_3.ckpt")


def test_the_documents_tree():
    for name in ("README.md", "train.py", "eval.py", *(f"src/{n}_config.yaml" for n in CONFIGS),
                 *(f"src/{n}.py" for n in ("dataset", "CrossEntropySmooth", "lr_generator", "resnet"))):
        assert (EXAMPLE / name).is_file(), name
    scripts = sorted(p.name for p in (EXAMPLE / "scripts").iterdir())
    assert scripts == ["run_distribute_train.sh", "run_eval.sh", "run_standalone_train.sh"]
    for name in scripts:
        for shell in ("sh", "bash"):
            r = typed(EXAMPLE, shell, EXAMPLE / "scripts" / name)
            assert r.returncode == 2 and r.stderr.startswith(f"usage: sh {name} "), r.stderr


def test_every_settings_file(monkeypatch):
    """Each contains the document's keys, names an existing network and schedule, and builds its network, optimizer groups and rates."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    load, nets, modes = (importlib.import_module(m) for m in ("src.config", "src.resnet", "src.lr_generator"))
    for name in CONFIGS:
        path = EXAMPLE / "src" / f"{name}_config.yaml"
        text = path.read_text()
        missing = [k for k in KEYS if not re.search(rf"^{k}: ", text, re.MULTILINE)]
        assert not missing, (name, missing)
        config = load.load(str(path))
        assert name.startswith(config.net_name + "_") and config.net_name in nets.NETS
        rates = modes.get_lr(lr_init=config.lr_init, lr_end=config.lr_end, lr_max=config.lr_max, warmup_epochs=config.warmup_epochs,
                             total_epochs=config.epoch_size, steps_per_epoch=10, lr_decay_mode=config.lr_decay_mode)
        assert rates.shape == (10 * config.epoch_size,) and abs(float(rates.max()) - config.lr_max) < 0.05 * config.lr_max
    nvidia = load.load(str(EXAMPLE / "src/resnet50_imagenet2012_config.yaml"))
    assert (nvidia.momentum, nvidia.batch_size, nvidia.lr_max, nvidia.lr_decay_mode, nvidia.weight_decay, nvidia.label_smooth_factor, nvidia.epoch_size) == (
        0.875, 256, 0.256, "cosine", 1 / 32768, 0.1, 90)


# A reader's script: the document's import lines, and one training step from its parts.
READERS = """
import os
import sys
import argparse
import ast
from mindspore import context
from mindspore import Tensor
from mindspore.nn import Momentum
from mindspore import Model
from mindspore.train.callback import ModelCheckpoint, CheckpointConfig, LossMonitor, TimeMonitor
from mindspore import FixedLossScaleManager
from mindspore import load_checkpoint, load_param_into_net
from mindspore.communication import init, get_rank, get_group_size
from mindspore import set_seed
import mindspore.nn as nn
import mindspore.common.initializer as weight_init
from src.lr_generator import get_lr
from src.CrossEntropySmooth import CrossEntropySmooth
from resnet50_imagenet2012_config.yaml import config
set_seed(1)
from src.resnet import resnet50 as resnet
from src.resnet import resnet18
from src.dataset import create_dataset as create_dataset

context.set_context(mode=context.GRAPH_MODE, save_graphs=False)
dataset = create_dataset(dataset_path=config.data_path, do_train=True, repeat_num=1, batch_size=config.batch_size, train_image_size=32)
step_size = dataset.get_dataset_size()
net = resnet18(class_num=config.class_num)
for _, cell in net.cells_and_names():
    if isinstance(cell, nn.Conv2d):
        cell.weight.set_data(weight_init.initializer(weight_init.XavierUniform(), cell.weight.shape, cell.weight.dtype))
    if isinstance(cell, nn.Dense):
        cell.weight.set_data(weight_init.initializer(weight_init.TruncatedNormal(), cell.weight.shape, cell.weight.dtype))
lr = Tensor(get_lr(lr_init=config.lr_init, lr_end=config.lr_end, lr_max=config.lr_max, warmup_epochs=config.warmup_epochs, total_epochs=config.epoch_size,
                   steps_per_epoch=step_size, lr_decay_mode=config.lr_decay_mode))
decayed = [p for p in net.trainable_params() if not any(word in p.name for word in ("beta", "gamma", "bias"))]
others = [p for p in net.trainable_params() if any(word in p.name for word in ("beta", "gamma", "bias"))]
group_params = [{"params": decayed, "weight_decay": config.weight_decay}, {"params": others}, {"order_params": net.trainable_params()}]
opt = Momentum(group_params, lr, config.momentum, loss_scale=config.loss_scale)
loss = CrossEntropySmooth(sparse=True, reduction="mean", smooth_factor=config.label_smooth_factor, num_classes=config.class_num)
loss_scale = FixedLossScaleManager(config.loss_scale, drop_overflow_update=False)
model = Model(net, loss_fn=loss, optimizer=opt, loss_scale_manager=loss_scale, metrics={"acc"}, amp_level="O2", keep_batchnorm_fp32=False)
cb = [TimeMonitor(data_size=step_size), LossMonitor()]
if config.save_checkpoint:
    config_ck = CheckpointConfig(save_checkpoint_steps=config.save_checkpoint_epochs * step_size, keep_checkpoint_max=config.keep_checkpoint_max)
    cb += [ModelCheckpoint(prefix="resnet", directory=config.checkpoint_path, config=config_ck)]
model.train(config.epoch_size, dataset, callbacks=cb, sink_size=dataset.get_dataset_size(), dataset_sink_mode=True)

net = resnet18(class_num=config.class_num)
load_param_into_net(net, load_checkpoint(os.path.join(config.checkpoint_path, "resnet-2_3.ckpt")))
net.set_train(False)
res = Model(net, loss_fn=loss, metrics={"top_1_accuracy", "top_5_accuracy"}).eval(create_dataset(config.data_path, do_train=False, batch_size=4, eval_image_size=32))
print("result:", res, "ckpt=", config.checkpoint_path)
"""


def test_a_readers_script(data, tmp_path):
    """The document's imports, including `from resnet50_imagenet2012_config.yaml import config`, and its steps, in a script next to the example's src/."""
    script = tmp_path / "readers.py"
    script.write_text(f"import sys\nsys.path.insert(0, {str(EXAMPLE)!r})\n" + READERS)
    words = ["--data_path", str(data / "train"), "--batch_size", "4", "--epoch_size", "2", "--warmup_epochs", "0", "--lr_max", "0.01",
             "--save_checkpoint_epochs", "1", "--checkpoint_path", str(tmp_path / "out")]
    r = subprocess.run([sys.executable, str(script), *words], env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert r.returncode == 0, r.stderr
    lines = [line.partition(",")[0] for line in r.stdout.splitlines() if line.startswith("epoch: ")]
    assert lines == [f"epoch: {e} step: {s}" for e in (1, 2) for s in (1, 2, 3)], "device_target CPU: callbacks see each step, as in MindSpore"
    result_of(r.stdout, str(tmp_path / "out"))
