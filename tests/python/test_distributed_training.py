"""The same training on four ranks, written in Python in three ways, and with `sindri train` on one rank with four virtual ranks: bitwise identical weights."""
import json
import os
import shutil
import sys

import numpy as np
import pytest

import ranks
import sindri as ms
from sindri import _core
from distributed_training import BATCH, EPOCHS, RATE
from test_same_training import ROWS, ResNet20, run_process, write_cifar

SIZE = 4
HERE = os.path.dirname(os.path.abspath(__file__))
SETTINGS = f"""
model: {{name: resnet20}}
data: {{kind: cifar10, augment: false, workers: 1}}
train: {{epochs: {EPOCHS}, batch_size: {BATCH}, seed: 3, eval_interval: 0}}
optimizer: {{name: momentum, momentum: 0.9, weight_decay: 0.0001}}
lr: {{schedule: constant, max: {RATE}}}
dist: {{virtual_ranks: {SIZE}, bn_merge: rank0}}
"""


@pytest.fixture(scope='module')
def by_settings(tmp_path_factory):
    """Returns (folder with the data and the runs' initial state, values by name, losses of steps)."""
    folder = tmp_path_factory.mktemp('training')
    write_cifar(folder)
    ms.set_seed(7)
    ms.save_checkpoint(ResNet20(), str(folder / 'start.ckpt'))
    (folder / 'same.yaml').write_text(SETTINGS, encoding='utf-8')
    run = folder / 'run'
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv('SINDRI_NUM_THREADS', '1')  # as on the ranks: sums within a kernel depend on it
    run_process([sys.executable, '-m', 'sindri', 'train', '--quiet', '--config', str(folder / 'same.yaml'), '--checkpoint', str(folder / 'start.ckpt'),
                 '--set', f'data.path={folder}', '--set', f'train.run_dir={run}'])
    monkeypatch.undo()
    events = [json.loads(line) for line in (run / 'metrics.jsonl').read_text(encoding='utf-8').splitlines()]
    found = ms.load_checkpoint(_core.find_newest_checkpoint(str(run / 'checkpoints')))
    return folder, {n: p.asnumpy() for n, p in found.items()}, np.array([e['loss'] for e in events if e['event'] == 'step'], np.float32)


@pytest.mark.parametrize('how', ['model', 'cell', 'own'])
def test_the_same_weights_as_by_settings(by_settings, how, mode):
    folder = by_settings[0]
    ended = ranks.run(os.path.join(HERE, 'distributed_training.py'), [folder, how, mode], SIZE, SINDRI_DIST_REPLICA_CHECK_STEPS=1)
    assert [e.code for e in ended] == [0] * SIZE, ranks.text(ended)
    check(by_settings, how, mode)


def test_the_same_weights_by_mpirun(by_settings, missing):
    mpirun = shutil.which('mpirun')
    if mpirun is None:
        missing('mpirun is not installed')
    folder = by_settings[0]
    for f in folder.glob('*.npz'):
        f.unlink()
    options = ['--allow-run-as-root', '--oversubscribe', '--bind-to', 'none', '-np', SIZE]
    code, out = ranks.launch([mpirun, *options, sys.executable, os.path.join(HERE, 'distributed_training.py'), folder, 'model', 'graph'])
    assert code == 0, out
    check(by_settings, 'model', 'graph')


def test_the_resnet_example_on_two_ranks(by_settings, tmp_path):
    """Each rank reads its part and has a separate folder; the weights are the same."""
    example = os.path.join(HERE, '..', '..', 'python', 'examples', 'resnet')
    if not os.path.isdir(example):
        pytest.skip('the examples are not next to the tests')
    sets = {'run_distribute': True, 'epoch_size': 1, 'batch_size': 4, 'save_checkpoint_epochs': 1, 'checkpoint_path': tmp_path, 'data_path': by_settings[0]}
    command = [sys.executable, '-m', 'sindri', 'run', '-n', 2, '--log-dir', tmp_path / 'logs', '--', sys.executable, os.path.join(example, 'train.py'),
               '--config_path', os.path.join(example, 'src', 'resnet18_cifar10_config.yaml')]
    code, out = ranks.launch(command + [f'--{k}={v}' for k, v in sets.items()])
    assert code == 0, out
    saved = [ms.load_checkpoint(str(tmp_path / f'ckpt_{r}' / 'resnet-1_5.ckpt')) for r in range(2)]
    trained = [n for n, p in saved[0].items() if 'moving' not in n and p.dtype == ms.float32]
    assert len(trained) > 60
    for name in trained:
        np.testing.assert_array_equal(saved[0][name].asnumpy(), saved[1][name].asnumpy(), err_msg=name)


def check(by_settings, how, mode):
    """Checks that the ranks' results equal those of the run from settings."""
    folder, values, losses = by_settings
    own = [np.load(folder / f'{how}_{mode}_{r}.npz') for r in range(SIZE)]
    assert len(losses) == len(own[0]['losses']) == EPOCHS * ROWS // (BATCH * SIZE) == 10
    # The mean along the tree over ranks of each rank's losses on its part.
    by_rank = [rank['losses'] for rank in own]
    np.testing.assert_array_equal(((by_rank[0] + by_rank[1]) + (by_rank[2] + by_rank[3])) * np.float32(1 / SIZE), losses)
    for rank in range(SIZE):
        names = [n for n in own[rank].files if n != 'losses']
        assert len(names) == 2 * 65
        for name in names:
            np.testing.assert_array_equal(own[rank][name], values[name], err_msg=f'{name} of rank {rank}')


def test_thor_on_ranks(tmp_path):
    """Factors are averaged over ranks: four ranks learn the same as one with the whole batch. The assignment of inverses to ranks and the form of the step do
    not change
    the result's bits."""
    runs = {'one': (1, 'auto', 'cell'), 'four': (4, 'replicate', 'cell'), 'shared': (4, 'shard', 'cell'), 'loop': (4, 'replicate', 'loop')}
    for name, (size, distribute, form) in runs.items():
        ended = ranks.run(os.path.join(HERE, 'distributed_thor.py'), [tmp_path, name, distribute, form], size)
        assert [e.code for e in ended] == [0] * size, ranks.text(ended)
    one, four, shared, loop = (dict(np.load(tmp_path / f'{name}.npz')) for name in runs)
    assert 'matrix_a_inv.0.weight' in four
    assert four.keys() == shared.keys() == one.keys()
    for name, value in four.items():
        np.testing.assert_array_equal(shared[name], value, err_msg=name)
        np.testing.assert_array_equal(loop[name], value, err_msg=name)
        np.testing.assert_allclose(one[name], value, rtol=1e-4, atol=1e-6, err_msg=name)
