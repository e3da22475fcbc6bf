"""Resuming a run from a checkpoint: bitwise identical to an uninterrupted run, at every step, also after it was killed."""
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import sindri as ms
from sindri import nn, ops
from sindri.train import dataset_helper

CONFIG = {'boost': {'mode': 'manual', 'less_bn': False, 'grad_freeze': False, 'grad_accumulation': True, 'average': True, 'sam': True},
          'grad_accumulation': {'grad_accumulation_step': 3}, 'average': {'decay': 0.9}, 'sam': {'rho': 0.1}}
EPOCHS, ROWS, BATCH = 3, 20, 4
STEPS = ROWS // BATCH


class Net(nn.Cell):
    """Dense, batch norm, dropout."""

    def __init__(self):
        super().__init__()
        self.dense, self.bn, self.drop, self.head = nn.Dense(3, 8), nn.BatchNorm1d(8), nn.Dropout(p=0.3), nn.Dense(8, 2)

    def construct(self, x):
        return self.head(self.drop(ops.relu(self.bn(self.dense(x)))))


def data(kind='native'):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(ROWS, 3)).astype(np.float32)
    rows = ms.dataset.NumpySlicesDataset({'x': x, 'y': (x.sum(axis=1) > 0).astype(np.int32)}, shuffle=True)
    if kind == 'python':
        rows = rows.filter(lambda x: True, input_columns=['x'])
    return rows.batch(BATCH, drop_remainder=True)


def make_model():
    ms.set_seed(11)
    net = Net()
    rates = [0.1 * 0.9 ** i for i in range(EPOCHS * STEPS)]
    optimizer = nn.Adam(net.trainable_params(), rates)
    return ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), optimizer, boost_level='O1', boost_config_dict=CONFIG,
                    loss_scale_manager=ms.DynamicLossScaleManager(2 ** 12, 2, 2))


class Losses(ms.Callback):
    """Records losses and stops after `most` steps."""

    def __init__(self, most=0):
        super().__init__()
        self.losses, self.most = [], most

    def on_train_step_end(self, run_context):
        p = run_context.original_args()
        self.losses.append((p.cur_epoch_num, p.cur_step_num, float(p.net_outputs[0].asnumpy())))
        if len(self.losses) == self.most:
            run_context.request_stop()


def saver(folder):
    return ms.ModelCheckpoint('net', str(folder), ms.CheckpointConfig(save_checkpoint_steps=1, keep_checkpoint_max=100))


def run(folder=None, resume=None, most=0, kind='native'):
    model = make_model()
    if resume is not None:
        model.load_training_state(str(resume))
    seen = Losses(most)
    model.train(EPOCHS, data(kind), [seen] + ([saver(folder)] if folder is not None else []), dataset_sink_mode=False)
    return seen.losses, {p.name: p.asnumpy().copy() for p in model.train_network.get_parameters()}


@pytest.mark.parametrize('kind', ['native', 'python'])
def test_any_step(mode, tmp_path, kind):
    whole, weights = run(kind=kind)
    assert len(whole) == EPOCHS * STEPS
    for stop in range(1, EPOCHS * STEPS):
        folder = tmp_path / str(stop)
        first, _ = run(folder, most=stop, kind=kind)
        rest, after = run(resume=folder, kind=kind)
        assert first + rest == whole, f'stopped after step {stop}'
        for name, value in weights.items():
            np.testing.assert_array_equal(after[name], value, err_msg=f'{name}, stopped after step {stop}')


class Break(ms.Callback):
    """Ends the run after a step, by Ctrl-C or by an error."""

    def __init__(self, at, how):
        super().__init__()
        self.at, self.how = at, how

    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == self.at:
            if self.how == 'ctrl-c':
                os.kill(os.getpid(), signal.SIGINT)
            else:
                raise OSError('mine')


@pytest.mark.parametrize('how', ['ctrl-c', 'error'])
@pytest.mark.parametrize('kind', ['native', 'python'])
def test_broken_off(mode, tmp_path, kind, how):
    whole, weights = run(kind=kind)
    config = {'save_checkpoint_steps': 1000, 'exception_save': how == 'error'}
    for at in (2, STEPS, STEPS + 1, 2 * STEPS - 1, 2 * STEPS):
        folder, seen = tmp_path / str(at), Losses()
        saving = ms.ModelCheckpoint('net', str(folder), ms.CheckpointConfig(**config))
        with pytest.raises(KeyboardInterrupt if how == 'ctrl-c' else OSError):
            make_model().train(EPOCHS, data(kind), [seen, saving, Break(at, how)], dataset_sink_mode=False)
        assert len(seen.losses) == at
        rest, after = run(resume=saving.latest_ckpt_file_name, kind=kind)
        assert seen.losses + rest == whole, f'interrupted after step {at}'
        for name, value in weights.items():
            np.testing.assert_array_equal(after[name], value, err_msg=f'{name}, interrupted after step {at}')


def test_ctrl_c_while_a_batch_is_awaited(mode, tmp_path, monkeypatch):
    whole, _ = run()
    plain = dataset_helper._Batches.one_pass

    def pressed(self):
        for row in plain(self):
            if self.given == 3 and seen.losses and seen.losses[-1][0] == 2:
                os.kill(os.getpid(), signal.SIGINT)
            yield row
    monkeypatch.setattr(dataset_helper._Batches, 'one_pass', pressed)
    seen, saving = Losses(), ms.ModelCheckpoint('net', str(tmp_path), ms.CheckpointConfig(save_checkpoint_steps=1000))
    with pytest.raises(KeyboardInterrupt):
        make_model().train(EPOCHS, data(), [seen, saving], dataset_sink_mode=False)
    monkeypatch.undo()
    rest, _ = run(resume=saving.latest_ckpt_file_name)
    assert seen.losses + rest == whole


@pytest.mark.parametrize('kind', ['native', 'python'])
def test_sunk_epochs_of_their_own_length(mode, tmp_path, kind):
    def sunk(most=0, folder=None, resume=None):
        model = make_model()
        if resume is not None:
            model.load_training_state(str(resume))
        seen = Losses(most)
        model.train(4, data(kind), [seen] + ([saver(folder)] if folder is not None else []), dataset_sink_mode=True, sink_size=3)
        return seen.losses, [p.asnumpy().copy() for p in model.train_network.get_parameters()]
    whole, weights = sunk()
    for stop in (1, 3, 4, 5, 8, 10):
        first, _ = sunk(stop, tmp_path / str(stop))
        rest, after = sunk(resume=tmp_path / str(stop))
        assert first + rest == whole, f'stopped after step {stop}'
        for a, b in zip(after, weights):
            np.testing.assert_array_equal(a, b)


SCRIPT = textwrap.dedent('''
    import os, signal, sys
    sys.path.insert(0, {tests!r})
    import numpy as np
    import sindri as ms
    import test_resume as t
    ms.set_context(mode=ms.GRAPH_MODE)
    folder, at, resume = sys.argv[1], int(sys.argv[2]), sys.argv[3]

    class Kill(ms.Callback):
        def on_train_step_end(self, run_context):
            if run_context.original_args().cur_step_num == at:
                os.kill(os.getpid(), signal.SIGKILL)

    model = t.make_model()
    if resume:
        model.load_training_state(resume)
    model.train(t.EPOCHS, t.data(), [t.saver(folder), Kill()], dataset_sink_mode=False)
    np.savez(os.path.join(folder, 'end.npz'), **{{p.name: p.asnumpy() for p in model.train_network.get_parameters()}})
''')


def test_killed(tmp_path):
    script = tmp_path / 'train.py'
    script.write_text(SCRIPT.format(tests=os.path.dirname(os.path.abspath(__file__))), encoding='utf-8')

    def process(folder, at, resume=''):
        folder.mkdir(exist_ok=True)
        return subprocess.run([sys.executable, str(script), str(folder), str(at), str(resume)], check=False).returncode

    assert process(tmp_path / 'whole', 0) == 0
    at = int(np.random.default_rng().integers(1, EPOCHS * STEPS))
    broken = tmp_path / 'broken'
    assert process(broken, at) == -signal.SIGKILL
    assert process(broken, 0, broken) == 0
    whole, end = np.load(tmp_path / 'whole' / 'end.npz'), np.load(broken / 'end.npz')
    assert sorted(whole.files) == sorted(end.files)
    for name in whole.files:
        np.testing.assert_array_equal(whole[name], end[name], err_msg=f'{name}, killed after step {at}')


def test_refusals(tmp_path):
    run(tmp_path / 'a', most=2)
    plain = ms.Model(Net(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'))
    with pytest.raises(ValueError, match='no optimizer'):
        plain.load_training_state(str(tmp_path / 'a'))
    (tmp_path / 'empty').mkdir()
    with pytest.raises(ValueError, match='no checkpoint'):
        make_model().load_training_state(str(tmp_path / 'empty'))
    model = make_model()
    ms.save_checkpoint(model.train_network, str(tmp_path / 'weights.ckpt'))
    with pytest.raises(ValueError, match='no training state'):
        model.load_training_state(str(tmp_path / 'weights.ckpt'))
    net = Net()
    other = ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    with pytest.raises(ValueError, match="lacks .* of the run's parameters"):
        other.load_training_state(str(tmp_path / 'a'))
    whole = make_model()
    whole.load_training_state(str(tmp_path / 'a'))
    with pytest.raises(ValueError, match="'initial_epoch'"):
        whole.train(EPOCHS, data(), initial_epoch=2, dataset_sink_mode=False)


def test_encrypted(tmp_path):
    whole, _ = run()
    key = b'0123456789abcdef'
    model, seen = make_model(), Losses(most=STEPS + 2)
    config = ms.CheckpointConfig(save_checkpoint_steps=1, enc_key=key, enc_mode='AES-CBC')
    model.train(EPOCHS, data(), [seen, ms.ModelCheckpoint('net', str(tmp_path), config)], dataset_sink_mode=False)
    after = make_model()
    with pytest.raises(ValueError, match='encrypted'):
        after.load_training_state(str(tmp_path))
    with pytest.raises(ValueError, match='decrypted'):
        after.load_training_state(str(tmp_path), b'f' * 16, 'AES-CBC')
    with pytest.raises(ValueError, match="'dec_key' of AES-CBC"):
        after.load_training_state(str(tmp_path), b'f', 'AES-CBC')
    assert after.load_training_state(str(tmp_path), key, 'AES-CBC').step == STEPS + 2
    rest = Losses()
    after.train(EPOCHS, data(), rest, dataset_sink_mode=False)
    assert seen.losses + rest.losses == whole
