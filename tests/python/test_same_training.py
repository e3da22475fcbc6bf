"""The same training run in Python, with a network defined in Python, and by settings with `sindri train`: bitwise identical losses and moving statistics.
tests/app/same_training_test.cc does the same for C++."""
import json
import math
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import sindri as ms
from sindri import _core, amp, nn, ops
from sindri.dataset import transforms, vision

ROWS, BATCH, EPOCHS = 40, 4, 5
SETTINGS = """
model: {name: resnet20}
data: {kind: cifar10, augment: false, workers: 1}
train: {epochs: 5, batch_size: 4, seed: 3, eval_interval: 0}
optimizer: {name: momentum, momentum: 0.9, weight_decay: 0.0001, clip_global_norm: 1.5}
loss_scale: {type: dynamic, window: 3}
lr: {schedule: cosine, max: 0.05, warmup_epochs: 1}
boost:
  grad_accumulation: {enabled: true, step: 4}
  average: {enabled: true, decay: 0.9}
  sam: {enabled: true, rho: 0.02}
"""
BOOST = {'boost': {'mode': 'manual', 'less_bn': False, 'grad_freeze': False, 'grad_accumulation': True, 'average': True, 'sam': True},
         'grad_accumulation': {'grad_accumulation_step': 4}, 'average': {'decay': 0.9}, 'sam': {'rho': 0.02}}


def conv(cin, cout, kernel, stride=1):
    return nn.Conv2d(cin, cout, kernel, stride, pad_mode='pad', padding=kernel // 2)


def norm(channels):
    return nn.BatchNorm2d(channels, eps=1e-5, momentum=0.9)


class Block(nn.Cell):
    """Two convolutions and a shortcut."""

    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1, self.bn1d = conv(cin, cout, 3, stride), norm(cout)
        self.conv2, self.bn2d = conv(cout, cout, 3), norm(cout)
        self.down_sample_layer = None
        if stride != 1 or cin != cout:
            self.down_sample_layer = nn.SequentialCell([conv(cin, cout, 1, stride), norm(cout)])

    def construct(self, x):
        y = self.bn2d(self.conv2(ops.relu(self.bn1d(self.conv1(x)))))
        return ops.relu(y + (x if self.down_sample_layer is None else self.down_sample_layer(x)))


class ResNet20(nn.Cell):
    """Of He et al. for CIFAR-10."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = conv(3, 16, 3), norm(16)
        self.layer1 = nn.SequentialCell([Block(16, 16, 1), Block(16, 16, 1), Block(16, 16, 1)])
        self.layer2 = nn.SequentialCell([Block(16, 32, 2), Block(32, 32, 1), Block(32, 32, 1)])
        self.layer3 = nn.SequentialCell([Block(32, 64, 2), Block(64, 64, 1), Block(64, 64, 1)])
        self.end_point = nn.Dense(64, 10)

    def construct(self, x):
        x = self.layer3(self.layer2(self.layer1(ops.relu(self.bn1(self.conv1(x))))))
        return self.end_point(_core.ops.flatten(_core.ops.global_avg_pool2d(x)))


class Clipped(nn.Momentum):
    """A user's optimizer: Momentum after a clip."""

    def construct(self, gradients):
        return super().construct(ops.clip_by_global_norm(gradients, 1.5))


def write_cifar(folder):
    rng = np.random.default_rng(1)
    for name, rows in [(f'data_batch_{i}.bin', ROWS // 5) for i in range(1, 6)] + [('test_batch.bin', 10)]:
        labels = np.arange(rows, dtype=np.uint8) % 10
        pixels = rng.integers(0, 128, (rows, 3072)) + 12 * labels[:, None]
        np.concatenate([labels[:, None], pixels.astype(np.uint8)], axis=1).tofile(folder / name)


def run_process(command):
    """Kernels are not measured: two processes might choose different ones, whose last bits differ."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, 'SINDRI_TUNE': '0'})
    assert done.returncode == 0, done.stdout + done.stderr


# Level, half type and initial loss scale. In float16 that scale is too large: gradients overflow and updates are skipped.
CASES = {'O0': ('O0', 'bf16', 1024), 'O2': ('O2', 'bf16', 1024), 'O2 float16': ('O2', 'f16', 2 ** 22),
         'cells_O1': ('cells_O1', 'bf16', 1024), 'cells_O2': ('cells_O2', 'bf16', 1024), 'cells_O3': ('cells_O3', 'bf16', 1024)}


def by_settings(folder, case, run_mode):
    (folder / 'same.yaml').write_text(SETTINGS, encoding='utf-8')
    run = folder / 'run'
    level, half, scale = CASES[case]
    sets = {'data.path': folder, 'train.run_dir': run, 'train.amp_level': level, 'train.amp_dtype': half, 'loss_scale.init': scale, 'train.mode': run_mode}
    command = [sys.executable, '-m', 'sindri', 'train', '--quiet', '--config', str(folder / 'same.yaml'), '--checkpoint', str(folder / 'start.ckpt')]
    for name, value in sets.items():
        command += ['--set', f'{name}={value}']
    run_process(command)
    events = [json.loads(line) for line in (run / 'metrics.jsonl').read_text(encoding='utf-8').splitlines()]
    losses = [np.float32(e['loss']) for e in events if e['event'] == 'step']
    found = ms.load_checkpoint(_core.find_newest_checkpoint(str(run / 'checkpoints')))
    kept = {n: p.asnumpy() for n, p in found.items() if n.startswith('average.') or n == 'scale_sense'}
    return losses, kept


def rates():
    updates, warmup = 12, 3
    out = []
    for i in range(updates):
        f = (i - warmup) / (updates - warmup)
        out.append(0.05 * (i + 1) / warmup if i < warmup else 0.05 * 0.5 * (1 + math.cos(math.pi * f)))
    return out


def groups(net):
    decayed = [p for p in net.trainable_params() if 'gamma' not in p.name and 'beta' not in p.name]
    others = [p for p in net.trainable_params() if 'gamma' in p.name or 'beta' in p.name]
    return [{'params': decayed, 'weight_decay': 0.0001}, {'params': others, 'weight_decay': 0.0}, {'order_params': net.trainable_params()}]


def by_script(folder, case):
    level, half, scale = CASES[case]
    ms.set_seed(3)
    mean, std = [255 * v for v in (0.4914, 0.4822, 0.4465)], [255 * v for v in (0.2470, 0.2435, 0.2616)]
    data = ms.dataset.Cifar10Dataset(str(folder), usage='train', shuffle=True)
    data = data.map([vision.Normalize(mean, std), vision.HWC2CHW()], 'image').map(transforms.TypeCast(ms.int32), 'label').batch(BATCH, drop_remainder=True)
    net = ResNet20()
    ms.load_param_into_net(net, ms.load_checkpoint(str(folder / 'start.ckpt')), strict_load=True)
    level = 'ops_O2' if level == 'O2' else level  # the level's name in settings files
    amp.auto_mixed_precision(net, level, ms.float16 if half == 'f16' else ms.bfloat16)
    with_loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'))
    optimizer = Clipped(groups(net), rates(), 0.9)
    model = ms.Model(with_loss, optimizer=optimizer, loss_scale_manager=ms.DynamicLossScaleManager(scale, 2, 3), boost_level='O1', boost_config_dict=BOOST)
    losses = []

    class Note(ms.Callback):
        def on_train_step_end(self, run_context):
            losses.append(run_context.original_args().net_outputs[0].asnumpy()[()])

    model.train(EPOCHS, data, Note(), dataset_sink_mode=False)
    kept = {p.name: p.asnumpy() for p in model.train_network.get_parameters() if p.name.startswith('average.') or p.name == 'scale_sense'}
    np.savez(folder / 'script.npz', losses=np.array(losses, np.float32), **kept)


@pytest.mark.parametrize('case', CASES)
def test_same_losses_and_averages(mode, case, tmp_path):
    write_cifar(tmp_path)
    ms.set_seed(7)
    ms.save_checkpoint(ResNet20(), str(tmp_path / 'start.ckpt'))
    losses, kept = by_settings(tmp_path, case, mode)
    run_process([sys.executable, __file__, str(tmp_path), case, mode])
    own = np.load(tmp_path / 'script.npz')
    assert len(losses) == EPOCHS * ROWS // BATCH == 50
    np.testing.assert_array_equal(own['losses'], np.array(losses, np.float32))
    assert sorted(own.files) == sorted([*kept, 'losses']) and len(kept) > 100
    for name, value in kept.items():
        np.testing.assert_array_equal(own[name], value, err_msg=name)
    assert kept['scale_sense'] < CASES[case][2] if 'float16' in case else kept['scale_sense'] == 16 * 1024


if __name__ == '__main__':
    ms.set_context(mode=ms.GRAPH_MODE if sys.argv[3] == 'graph' else ms.PYNATIVE_MODE)
    by_script(pathlib.Path(sys.argv[1]), sys.argv[2])
