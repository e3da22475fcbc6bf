"""Callbacks: their output, when they act, what they reject; event files; the profiler."""
import copy
import csv
import glob
import json
import os
import pickle
import signal
import struct
import subprocess
import sys

import numpy as np
import pytest

import sindri as ms
import train_cases
from sindri import Tensor, nn, ops, train
from sindri import dataset as ds
from sindri.train import (BackupAndRestore, Callback, EarlyStopping, History, LambdaCallback, LearningRateScheduler, LossMonitor, OnRequestExit,
                          ReduceLROnPlateau, RunContext, SummaryCollector, SummaryRecord, TimeMonitor)
from sindri.train.callback import _InternalCallbackParam, _set_cur_net
from sindri._core import events as _events


def context_of(**values):
    p = _InternalCallbackParam(values)
    return RunContext(p)


# --- the run context ---------------------------------------------------------------------------------------------------------------

def test_callback_parameters_are_attributes_too():
    p = context_of(cur_step_num=3).original_args()
    p.mine = 4
    assert p['mine'] == 4 and p['cur_step_num'] == p.cur_step_num == 3 and isinstance(p, dict)
    with pytest.raises(AttributeError, match='cur_step_num'):
        p.nothing
    assert getattr(p, 'nothing', 7) == 7 and not hasattr(p, 'nothing')
    with pytest.raises(TypeError):
        RunContext([1])
    c = RunContext({})
    assert c.get_stop_requested() is False
    c.request_stop()
    assert c.get_stop_requested() is True
    assert _set_cur_net(None) is None


def test_contexts_are_left_also_after_an_error():
    left = []

    class Mine(Callback):
        def __init__(self, name):
            self.name = name

        def __exit__(self, *err):
            left.append((self.name, err[0]))

    def fail(run_context):
        raise ValueError('stop here')
    model, _ = train_cases.model(ms, nn, train)
    with pytest.raises(ValueError, match='stop here'):
        model.train(1, train_cases.dataset(ds), callbacks=[Mine('a'), LambdaCallback(on_train_step_end=fail), Mine('b')])
    assert left == [('b', ValueError), ('a', ValueError)]


def test_an_error_beside_another_is_logged(capfd):
    class Broken(Callback):
        def __exit__(self, *err):
            raise OSError('not closed')

    def fail(run_context):
        raise ValueError('stop here')
    model, _ = train_cases.model(ms, nn, train)
    with pytest.raises(ValueError, match='stop here'):
        model.train(1, train_cases.dataset(ds), callbacks=[Broken(), LambdaCallback(on_train_step_end=fail)])
    assert 'Broken.__exit__ raised OSError: not closed' in capfd.readouterr().err
    with pytest.raises(OSError, match='not closed'):
        model.train(1, train_cases.dataset(ds), callbacks=[Broken()])
    assert 'Broken' not in capfd.readouterr().err


def test_watching_callbacks_can_be_copied():
    for watch in (EarlyStopping('mine', patience=2, baseline=0.5), ReduceLROnPlateau('mine', patience=2)):
        for value in (0.4, 0.5):
            watch._rule.see(value)
        for other in (copy.deepcopy(watch), pickle.loads(pickle.dumps(watch))):
            assert (other.patience, other.wait, other.best) == (watch.patience, watch.wait, watch.best) == (2, 1, 0.4)
            other._rule.see(0.6)
            assert other._rule.exhausted() and not watch._rule.exhausted()


# --- lines -------------------------------------------------------------------------------------------------------------------------

def test_loss_monitor_prints_the_float32_as_a_python_float(capsys):
    monitor = LossMonitor()
    monitor.step_end(context_of(net_outputs=Tensor(np.float32(2.305347)), cur_epoch_num=2, cur_step_num=630, batch_num=625))
    monitor.step_end(context_of(net_outputs=(Tensor(np.array([1.0, 2.0], np.float32)), Tensor(True)), cur_epoch_num=2, cur_step_num=631,
                                batch_num=625))
    assert capsys.readouterr().out == 'epoch: 2 step: 5, loss is 2.305346965789795\nepoch: 2 step: 6, loss is 1.5\n'


def test_lines_of_mindspore_1(capsys, monkeypatch):
    """The digits of a float32, as MindSpore's documents show (4.4182425), and no mode before the epoch's time."""
    monkeypatch.setenv('SINDRI_MINDSPORE_ERA', '1')
    LossMonitor().step_end(context_of(net_outputs=Tensor(np.float32(4.4182425)), cur_epoch_num=1, cur_step_num=5004, batch_num=5004))
    monitor = TimeMonitor(data_size=4)
    monitor.epoch_begin(context_of(mode='train'))
    monitor.epoch_end(context_of(mode='train', batch_num=4))
    loss, times = capsys.readouterr().out.splitlines()
    assert loss == 'epoch: 1 step: 5004, loss is 4.4182425'
    assert times.startswith('epoch time: ') and ' ms, per step time: ' in times


def test_loss_monitor_counts_from_the_last_line(capsys):
    monitor = LossMonitor(3)
    for step in (1, 2, 3, 7, 8, 9, 10):
        monitor.step_end(context_of(net_outputs=Tensor(np.float32(0.5)), cur_epoch_num=1, cur_step_num=step, batch_num=100))
    assert [line.split(',')[0] for line in capsys.readouterr().out.splitlines()] == ['epoch: 1 step: 3', 'epoch: 1 step: 7', 'epoch: 1 step: 10']
    LossMonitor(0).step_end(context_of(net_outputs=Tensor(np.float32(0.5)), cur_epoch_num=1, cur_step_num=1, batch_num=100))
    assert capsys.readouterr().out == ''
    for bad in (-1, 1.5, True):
        with pytest.raises(ValueError):
            LossMonitor(bad)


@pytest.mark.parametrize('loss', [np.nan, np.inf])
def test_a_loss_that_is_no_number_ends_training(loss):
    with pytest.raises(ValueError, match='epoch: 3 step: 2. Invalid loss'):
        LossMonitor(0).step_end(context_of(net_outputs=Tensor(np.float32(loss)), cur_epoch_num=3, cur_step_num=22, batch_num=10))


def test_time_monitor(capsys, monkeypatch):
    import sindri.train.callback._time_monitor as module
    clock = iter([5.0, 6.234567])
    monitor = TimeMonitor(data_size=7)
    monkeypatch.setattr(module.time, 'time', lambda: next(clock))
    run_context = context_of(mode='train', batch_num=100)
    monitor.epoch_begin(run_context)
    monitor.epoch_end(run_context)
    assert capsys.readouterr().out == 'Train epoch time: 1234.567 ms, per step time: 12.346 ms\n'
    clock = iter([5.0, 5.007])
    run_context = context_of(mode='eval', batch_num=0)
    monitor.epoch_begin(run_context)
    monitor.epoch_end(run_context)
    assert capsys.readouterr().out == 'Eval epoch time: 7.000 ms, per step time: 1.000 ms\n'
    for bad, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error):
            TimeMonitor(bad)


def test_time_monitor_of_data(capsys, monkeypatch):
    import sindri.train.callback._time_monitor as module
    clock = iter([0.0, 1.0, 3.0, 4.0])  # epoch, step from 1 s to 3 s, end
    monkeypatch.setattr(module.time, 'time', lambda: next(clock))
    monitor = TimeMonitor.__new__(TimeMonitor)
    monitor.data_size, monitor.data_time = None, True
    run_context = context_of(mode='train', batch_num=2)
    for hook in ('epoch_begin', 'step_begin', 'step_end', 'epoch_end'):
        getattr(monitor, hook)(run_context)
    assert capsys.readouterr().out == 'Train epoch time: 4000.000 ms, per step time: 2000.000 ms (data time: 1000.000 ms)\n'


def test_an_evaluation_does_not_disturb_the_epoch_time(capsys, monkeypatch):
    import sindri.train.callback._time_monitor as module
    monitor = TimeMonitor()
    clock = iter([0.0, 1.0, 3.0, 4.0])
    monkeypatch.setattr(module.time, 'time', lambda: next(clock))
    monitor.on_train_epoch_begin(context_of(mode='train', batch_num=2))
    monitor.on_eval_epoch_begin(context_of(mode='eval', batch_num=2))
    monitor.on_eval_epoch_end(context_of(mode='eval', batch_num=2))
    monitor.on_train_epoch_end(context_of(mode='train', batch_num=2))
    assert capsys.readouterr().out == ('Eval epoch time: 2000.000 ms, per step time: 1000.000 ms\n'
                                       'Train epoch time: 4000.000 ms, per step time: 2000.000 ms\n')


# --- the others ----------------------------------------------------------------------------------------------------------------------

def fit(callbacks, epochs=4, lr=0.1):
    net = train_cases.network(ms, nn)
    model = train.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), nn.SGD(net.trainable_params(), lr),
                        metrics={'acc', 'loss'})
    model.fit(epochs, train_cases.dataset(ds), train_cases.dataset(ds, 4), callbacks=callbacks)
    return model, net


def test_history():
    history = History()
    fit(history, 2)
    assert history.epoch == {'epoch': [1, 2]} and sorted(history.history) == ['acc', 'loss', 'net_output']
    assert all(len(v) == 2 for v in history.history.values()) and isinstance(history.history['net_output'][0], float)


def test_learning_rate_scheduler():
    rates = []
    fit([LearningRateScheduler(lambda lr, step: lr / 2 if step % 6 == 0 else lr),
         LambdaCallback(on_train_step_end=lambda c: rates.append(float(c.original_args().optimizer.learning_rate.asnumpy())))], 2)
    np.testing.assert_allclose(rates, [0.1] * 5 + [0.05] * 6 + [0.025], rtol=1e-6)
    with pytest.raises(TypeError):
        LearningRateScheduler(0.1)


def test_early_stopping(capsys):
    seen = []
    count = LambdaCallback(on_train_epoch_end=lambda c: seen.append(c.original_args().cur_epoch_num))
    fit([EarlyStopping('acc', min_delta=2, patience=2, verbose=True, mode='max'), count], 9)  # the first epoch counts as an improvement
    assert seen == [1, 2, 3] and 'Epoch 00003: early stopping' in capsys.readouterr().out
    seen.clear()
    fit([EarlyStopping('eval_loss', patience=3), count], 4)
    assert seen == [1, 2, 3, 4]


def test_early_stopping_puts_the_best_weights_back():
    stop = EarlyStopping('mine', mode='max', patience=2, restore_best_weights=True)
    net = train_cases.network(ms, nn)
    p = _InternalCallbackParam(train_network=net, cur_epoch_num=0, eval_results={}, net_outputs=None)
    run_context = RunContext(p)
    stop.on_train_begin(run_context)
    for epoch, value in enumerate((1.0, 3.0, 2.0, 2.5), 1):
        p.cur_epoch_num, p.eval_results = epoch, {'mine': value}
        net.fc1.bias.set_data(Tensor(np.full(4, epoch, np.float32)))
        stop.on_train_epoch_end(run_context)
    assert run_context.get_stop_requested() and stop.stopped_epoch == 4 and net.fc1.bias.asnumpy().tolist() == [2, 2, 2, 2]


def test_reduce_lr_on_plateau(capsys):
    net = train_cases.network(ms, nn)
    optimizer = nn.SGD(net.trainable_params(), 0.8)
    lower = ReduceLROnPlateau('loss', factor=0.5, patience=2, verbose=True, cooldown=1, min_lr=0.25)
    p = _InternalCallbackParam(train_network=net, optimizer=optimizer, cur_epoch_num=0, net_outputs=Tensor(np.float32(1)))
    lower.on_train_begin(RunContext(p))
    rates = []
    for epoch in range(1, 10):
        p.cur_epoch_num = epoch
        lower.on_train_epoch_end(RunContext(p))
        rates.append(round(float(optimizer.learning_rate.asnumpy()), 6))
    # better at 1; not better at 2 and 3; one epoch of cooldown, whose end counts again; at 0.25 the minimum is reached
    assert rates == [0.8, 0.8, 0.4, 0.4, 0.25, 0.25, 0.25, 0.25, 0.25]
    assert 'Epoch 3: ReduceLROnPlateau reducing learning rate to 0.4' in capsys.readouterr().out
    for bad in (dict(factor=1.5), dict(patience=-1), dict(mode='best'), dict(min_lr=-1.0)):
        with pytest.raises(ValueError):
            ReduceLROnPlateau(**bad)


def test_backup_and_restore(tmp_path):
    def fail(run_context):
        if run_context.original_args().cur_epoch_num == 2:
            raise OSError('power cut')
    with pytest.raises(OSError):
        fit([BackupAndRestore(str(tmp_path)), LambdaCallback(on_train_epoch_begin=fail)])
    assert os.listdir(tmp_path) == ['backup.ckpt']
    saved = train.load_checkpoint(str(tmp_path / 'backup.ckpt'))
    seen = []
    fit([BackupAndRestore(str(tmp_path)),
         LambdaCallback(on_train_begin=lambda c: seen.append(c.original_args().train_network.network._backbone.fc1.bias.asnumpy().copy()))], 1)
    np.testing.assert_array_equal(seen[0], saved['fc1.bias'].asnumpy())
    assert os.listdir(tmp_path) == []


def test_exit_on_request(tmp_path):
    steps = []
    ask = LambdaCallback(on_train_step_begin=lambda c: os.kill(os.getpid(), signal.SIGTERM) if c.original_args().cur_step_num == 8 else None,
                         on_train_step_end=lambda c: steps.append(c.original_args().cur_step_num))
    fit([ask, OnRequestExit(save_mindir=False, file_name='lenet', directory=str(tmp_path))])
    assert steps[-1] == 8 and os.listdir(tmp_path) == ['lenet_train.ckpt']
    assert int(train.load_checkpoint(str(tmp_path / 'lenet_train.ckpt'))['step_num'].asnumpy()) == 8
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    steps.clear()
    config = tmp_path / 'exit.json'
    config.write_text(json.dumps({'GracefulExit': 1}))
    fit([ask, OnRequestExit(save_ckpt=False, save_mindir=False, directory=str(tmp_path), config_file=str(config))])
    assert steps == [1]
    with pytest.raises(ValueError):
        OnRequestExit(sig=signal.SIGKILL)


# --- summaries -----------------------------------------------------------------------------------------------------------------------

def fields(data):
    """Returns a protobuf message as a list of (field, value)."""
    out, i = [], 0

    def varint():
        nonlocal i
        value = shift = 0
        while True:
            byte = data[i]
            i += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    while i < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        elif kind == 1:
            value = struct.unpack('<d', data[i:i + 8])[0]
            i += 8
        elif kind == 5:
            value = struct.unpack('<f', data[i:i + 4])[0]
            i += 4
        else:
            n = varint()
            value = data[i:i + n]
            i += n
        out.append((key >> 3, value))
    return out


def events(path):
    """Returns the events of a file, after checking frames and checksums."""
    with open(path, 'rb') as f:
        data = f.read()
    out, i = [], 0
    while i < len(data):
        n, crc = struct.unpack('<QI', data[i:i + 12])
        assert crc == _events.masked_crc32c(data[i:i + 8])
        body = data[i + 12:i + 12 + n]
        assert struct.unpack('<I', data[i + 12 + n:i + 16 + n])[0] == _events.masked_crc32c(body)
        out.append(fields(body))
        i += 16 + n
    return out


def values(event):
    """Returns {tag: fields of the value} of a summary event."""
    message = dict(event)[5]
    return {dict(fields(v))[1].decode(): fields(v)[1:] for _, v in fields(message)}


def test_checksum_is_castagnolis():
    assert _events.crc32c(b'123456789') == 0xe3069283  # the check value of CRC-32C
    assert _events.masked_crc32c(b'123456789') == ((0xe3069283 >> 15 | 0xe3069283 << 17) + 0xa282ead8) & 0xffffffff


def test_summary_record(tmp_path):
    with SummaryRecord(str(tmp_path), network=train_cases.network(ms, nn)) as record:
        with pytest.raises(RuntimeError, match='another one is live'):
            SummaryRecord(str(tmp_path))
        record.add_value('scalar', 'loss', Tensor(np.float32(0.5)))
        record.add_value('tensor', 't', Tensor(np.array([[1, 2], [3, 4]], np.float32)))
        record.add_value('image', 'im', Tensor(np.ones((1, 3, 4, 4), np.float32)))
        record.add_value('histogram', 'h', Tensor(np.array([0., 1, 1, 2, 3], np.float32)))
        assert record.record(1) is True
    path, = glob.glob(str(tmp_path / '*'))
    import socket
    assert os.path.basename(path).startswith('events.out.events.summary.') and path.endswith(f'.{socket.gethostname()}_MS')
    assert os.stat(path).st_mode & 0o777 == 0o400
    first, graph, summary = events(path)
    assert dict(first)[3] == b'MindSpore.Event:1'
    assert [dict(fields(v))[1] for k, v in fields(dict(graph)[4]) if k == 3] == [b'fc1.weight', b'fc1.bias', b'fc2.weight', b'fc2.bias']
    assert dict(summary)[2] == 1
    found = values(summary)
    assert found['loss'] == [(3, 0.5)]
    assert fields(found['t'][0][1]) == [(1, 2), (1, 2), (2, 11), (3, 1.0), (3, 2.0), (3, 3.0), (3, 4.0)]
    image = dict(fields(found['im'][0][1]))
    assert (image[1], image[2], image[3]) == (4, 4, 3) and image[4].startswith(b'\x89PNG\r\n\x1a\n')
    histogram = fields(found['h'][0][1])  # as MindSpore 2.10.0 writes it for the same values
    assert [fields(v) for k, v in histogram if k == 1] == [[(1, 0.0), (2, 1.5), (3, 3)], [(1, 1.5), (2, 1.5), (3, 2)]]
    assert [(k, v) for k, v in histogram if k != 1] == [(2, 0), (3, 0), (4, 0), (5, 3.0), (6, 0.0), (7, 7.0), (8, 5)]


def test_messages_made_elsewhere(tmp_path):
    """Landscapes and explanations are protobuf messages that are passed through."""
    class Message:
        def SerializeToString(self):
            return b'\x0a\x01a'

    with SummaryRecord(str(tmp_path)) as record:
        record.add_value('landscape', 'landscape_1', Message())
        record.add_value('explainer', 'benchmark', b'\x0a\x01b')
        record.add_value('scalar', 'loss', Tensor(np.float32(0.5)))
        with pytest.raises(TypeError, match='protobuf message'):
            record.add_value('explainer', 'benchmark', {'a': 1})
        assert record.record(2) is True
    path, = glob.glob(str(tmp_path / '*'))
    _, explained, summary = events(path)
    assert dict(explained)[6] == b'\x0a\x01b' and dict(explained)[2] == 2
    assert values(summary) == {'landscape_1': [(10, b'\x0a\x01a')], 'loss': [(3, 0.5)]}


def test_the_image_is_a_png(tmp_path):
    image = np.zeros((1, 3, 2, 3), np.uint8)
    image[0, 0, 0, 1] = 200
    import zlib
    png = dict(fields(dict(fields(_events.value('image', 'im', image)))[4]))[4]
    data = zlib.decompress(png[png.index(b'IDAT') + 4:png.index(b'IEND') - 8])
    assert data == b'\0' + bytes([0, 0, 0, 200, 0, 0, 0, 0, 0]) + b'\0' + bytes(9)


def test_summary_record_errors(tmp_path):
    with SummaryRecord(str(tmp_path)) as record:
        for args, error in ((('sound', 'a', Tensor(1.0)), ValueError), (('scalar', '', Tensor(1.0)), ValueError), (('scalar', 'a', 'b'), TypeError),
                            (('scalar', 'a', Tensor([1.0, 2.0])), ValueError), (('image', 'a', Tensor([1.0])), ValueError), (('graph', 'a', 3),
                                                                                                                             TypeError),
                            (('train_lineage', 'a', 3), TypeError)):
            with pytest.raises(error):
                record.add_value(*args)
        with pytest.raises(TypeError):
            record.record('1')
        with pytest.raises(ValueError):
            record.set_mode('test')
    for kwargs, error in ((dict(max_file_size=0), ValueError), (dict(file_prefix='a/b'), ValueError), (dict(network=3), TypeError),
                          (dict(export_options={'x': 1}), ValueError)):
        with pytest.raises(error):
            SummaryRecord(str(tmp_path), **kwargs)
    assert os.listdir(tmp_path) == []
    with SummaryRecord(str(tmp_path), max_file_size=1e-7, raise_exception=True) as record:  # about a hundred bytes
        record.add_value('tensor', 't', np.zeros(1000, np.float32))
        with pytest.raises(RuntimeError, match='max_file_size'):
            record.record(1)


def test_values_of_summary_ops(mode, tmp_path):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scalar, self.tensor = ops.ScalarSummary(), ops.TensorSummary()

        def construct(self, x):
            self.scalar('mean', x.mean())
            self.tensor('x', x)
            return x * 2
    net = Net()
    with SummaryRecord(str(tmp_path)) as record:
        for step in (1, 2):
            net(Tensor(np.array([step, step], np.float32)))
            record.record(step)
    path, = glob.glob(str(tmp_path / '*'))
    _, one, two = events(path)
    assert values(one)['mean'] == [(3, 1.0)] and values(two)['mean'] == [(3, 2.0)]
    assert [v for k, v in fields(values(two)['x'][0][1]) if k == 3] == [2.0, 2.0]


def test_summary_collector(tmp_path):
    model, _ = train_cases.model(ms, nn, train, metrics={'acc'})
    model.train(2, train_cases.dataset(ds), callbacks=SummaryCollector(str(tmp_path), collect_freq=5, custom_lineage_data={'who': 'me', 'n': 3,
                                                                                                                           'x': 0.5},
                                                                       collect_specified_data={'histogram_regular': '^fc1'}))
    events_path, = glob.glob(str(tmp_path / '*_MS'))
    lineage_path, = glob.glob(str(tmp_path / '*_lineage'))
    found = events(events_path)
    steps = [(dict(e)[2], sorted(values(e))) for e in found if 5 in dict(e)]
    assert steps == [(s, ['fc1.bias/auto', 'fc1.weight/auto', 'loss/auto']) for s in (1, 5, 10)]
    assert sum(4 in dict(e) for e in found) == 1  # the network, once
    lineage = [dict(e) for e in events(lineage_path)]
    train_part = [e[6] for e in lineage if 6 in e][0]
    parts = [fields(v) for _, v in fields(train_part)]
    assert (1, b'Momentum') in parts[0] and (4, 2) in parts[0] and (2, 12) in parts[1] and (1, b'Net') in parts[2]
    user = fields([e[10] for e in lineage if 10 in e][0])
    assert sorted(k for k, _ in fields(user[0][1])) == [3, 4, 5]
    model.eval(train_cases.dataset(ds, 4), callbacks=SummaryCollector(str(tmp_path / 'eval')))
    lineage_path, = glob.glob(str(tmp_path / 'eval' / '*_lineage'))
    metric = dict(fields([dict(e)[7] for e in events(lineage_path) if 7 in dict(e)][0]))[2]
    assert list(json.loads(metric)) == ['acc']


def test_summary_collector_counts_epochs_when_sinking(tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE, device_target='GPU')
    model, _ = train_cases.model(ms, nn, train)
    model.train(3, train_cases.dataset(ds), dataset_sink_mode=True, callbacks=SummaryCollector(str(tmp_path), 2, keep_default_action=False,
                                                                                              collect_specified_data={'collect_metric': True}))
    path, = glob.glob(str(tmp_path / '*_MS'))
    assert [dict(e)[2] for e in events(path) if 5 in dict(e)] == [6, 12]
    assert not glob.glob(str(tmp_path / '*_lineage'))


@pytest.mark.parametrize('unit, kept', [('step', [2, 3, 5]), ('epoch', [1, 2])])
def test_parameters_for_landscapes(unit, kept, tmp_path):
    network = train_cases.network(ms, nn)
    model = ms.Model(network, nn.MSELoss(), nn.Momentum(network.trainable_params(), 0.1, 0.9))
    collect = {'collect_landscape': {'unit': unit, 'intervals': [kept + [99], [97, 98, 99]], 'landscape_size': 10, 'num_samples': 4}}
    collector = SummaryCollector(str(tmp_path), collect_specified_data=collect)
    seen = {}

    class Look(train.Callback):
        def on_train_step_end(self, run_context):
            p = run_context.original_args()
            seen[p.cur_step_num] = network.fc1.weight.asnumpy().copy()

    model.train(2, train_cases.dataset(ds), callbacks=[collector, Look()])
    with open(tmp_path / 'ckpt_dir' / 'train_metadata.json', encoding='utf-8') as f:
        data = json.load(f)
    files = data.pop('model_params_file_map')
    assert data == {'epoch_group': {'0': kept + [99], '1': [97, 98, 99]}, 'step_per_epoch': 6, 'unit': unit, 'num_samples': 4, 'landscape_size': 10,
                    'create_landscape': {'train': True, 'result': True}}
    assert files == {str(n): str(tmp_path / 'ckpt_dir' / f'{type(network).__name__}_{n}_{unit}.ckpt') for n in kept}
    for n, path in files.items():
        found = ms.load_checkpoint(path)
        assert list(found) == ['fc1.weight', 'fc1.bias', 'fc2.weight', 'fc2.bias']
        np.testing.assert_array_equal(found['fc1.weight'].asnumpy(), seen[int(n) * (1 if unit == 'step' else 6)])
    good = [[1, 2, 3]]
    for bad, error in (({'intervals': [[1, 2]]}, ValueError), ({}, None), ({'intervals': 3}, TypeError), ({'intervals': [[1, 2, 'a']]}, TypeError),
                       ({'intervals': good, 'landscape_size': 2}, ValueError), ({'intervals': good, 'unit': 'day'}, ValueError),
                       ({'intervals': good, 'size': 2}, ValueError), ({'intervals': good, 'create_landscape': {'all': True}}, ValueError),
                       ({'intervals': []}, ValueError), ({'intervals': [[-1, 0, 2]]}, ValueError), ({'intervals': [[0, 1, 2]]}, ValueError),
                       ({'intervals': good, 'num_samples': 0}, ValueError), ({'intervals': good, 'num_samples': -3}, ValueError),
                       ({'intervals': good}, None)):
        if error is None:
            SummaryCollector(str(tmp_path), collect_specified_data={'collect_landscape': bad})
            continue
        with pytest.raises(error):
            SummaryCollector(str(tmp_path), collect_specified_data={'collect_landscape': bad})


def test_landscapes_keep_all_parameters_of_the_users_cells(tmp_path):
    """Also if these Cells are named 'network'."""
    class Inner(nn.Cell):
        def __init__(self):
            super().__init__()
            self.network, self.head = nn.Dense(3, 4), nn.Dense(4, 2)

        def construct(self, x):
            return self.head(self.network(x))

    class WithLoss(nn.Cell):
        def __init__(self):
            super().__init__()
            self.network, self.loss = Inner(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')

        def construct(self, x, y):
            return self.loss(self.network(x), y)

    for name, make in (('WithLoss', lambda: (WithLoss(), None)), ('Inner', lambda: (Inner(), WithLoss().loss))):
        folder, (network, loss) = tmp_path / name, make()
        collect = {'collect_landscape': {'intervals': [[1, 2, 3]]}}
        model = ms.Model(network, loss, optimizer=nn.SGD(network.trainable_params(), 0.1))
        model.train(1, train_cases.dataset(ds), callbacks=SummaryCollector(str(folder), collect_specified_data=collect))
        found = ms.load_checkpoint(str(folder / 'ckpt_dir' / f'{name}_1_step.ckpt'))
        assert list(found) == [p.name for p in network.get_parameters()] and len(found) == 4


def test_landscapes_say_what_training_did_not_reach(tmp_path, capfd):
    collect = {'collect_landscape': {'intervals': [[1, 50, 60]]}}
    for _ in range(2):  # the second time, over a read-only file
        model, _ = train_cases.model(ms, nn, train)
        model.train(1, train_cases.dataset(ds), callbacks=SummaryCollector(str(tmp_path), collect_specified_data=collect))
        assert "training ended before step 50, 60 of 'collect_landscape'" in capfd.readouterr().err
    path = tmp_path / 'ckpt_dir' / 'train_metadata.json'
    assert list(json.loads(path.read_text())['model_params_file_map']) == ['1'] and path.stat().st_mode & 0o777 == 0o400
    assert sorted(p.name for p in path.parent.iterdir()) == ['Net_1_step.ckpt', 'train_metadata.json']


def test_summary_collector_errors(tmp_path):
    for kwargs, error in ((dict(collect_freq=0), ValueError), (dict(collect_specified_data={'x': True}), ValueError),
                          (dict(collect_specified_data={'collect_metric': 1}), TypeError), (dict(custom_lineage_data={'a': [1]}), TypeError),
                          (dict(keep_default_action=1), TypeError), (dict(collect_tensor_freq=-1), ValueError)):
        with pytest.raises(error):
            SummaryCollector(str(tmp_path), **kwargs)
    with pytest.raises(ValueError):
        SummaryCollector('')


# --- profiler --------------------------------------------------------------------------------------------------------------------------

def test_profiler(tmp_path):
    profiler = ms.Profiler(output_path=str(tmp_path), profile_memory=True)
    with pytest.raises(RuntimeError):
        ms.Profiler(output_path=str(tmp_path))
    x = Tensor(np.ones((4, 4), np.float32))
    ops.matmul(x, x)
    profiler.stop()
    ops.matmul(x, x)
    profiler.analyse()
    with pytest.raises(RuntimeError):
        profiler.analyse()
    assert sorted(os.listdir(tmp_path / 'profiler' / 'ASCEND_PROFILER_OUTPUT')) == ['op_statistic.csv', 'trace_view.json']
    found = json.loads(profiler.op_analyse('matmul'))['matmul']
    assert sum(r['count'] for r in found) == 1
    ms.Profiler(output_path=str(tmp_path), start_profile=False).analyse()
    with pytest.raises(TypeError):
        ms.Profiler(colour='red')


def test_profile_follows_a_schedule(tmp_path):
    from sindri.profiler import profile, schedule, tensorboard_trace_handler
    plan = schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    assert [plan(i).name for i in range(7)] == ['NONE', 'NONE', 'WARM_UP', 'RECORD', 'RECORD_AND_SAVE', 'NONE', 'NONE']
    x = Tensor(np.ones((4, 4), np.float32))
    counts = []

    def ready(prof):
        tensorboard_trace_handler(str(tmp_path), 'me')(prof)
        counts.append(prof._recording._timeline.events())
    with profile(schedule=plan, on_trace_ready=ready) as prof:
        for _ in range(6):
            ops.matmul(x, x)
            prof.step()
    assert counts == [2] and len(glob.glob(str(tmp_path / 'me_*' / 'ASCEND_PROFILER_OUTPUT' / 'trace_view.json'))) == 1
    with pytest.raises(RuntimeError):
        prof.step()
    for kwargs, error in ((dict(wait=-1, active=1), ValueError), (dict(wait=0, active=0), ValueError), (dict(wait='0', active=1), TypeError)):
        with pytest.raises(error):
            schedule(**kwargs)


def test_dynamic_profiler(tmp_path):
    (tmp_path / 'profiler_config.json').write_text(json.dumps({'start_step': 2, 'stop_step': 3}))
    model, _ = train_cases.model(ms, nn, train)
    model.train(1, train_cases.dataset(ds), callbacks=ms.DynamicProfilerMonitor(str(tmp_path), str(tmp_path / 'out')))
    assert os.listdir(tmp_path / 'out') == ['rank0_start2_stop3']


def test_dynamic_profiler_step_records_the_steps_of_a_loop(tmp_path, monkeypatch):
    """step() after each step records steps start_step to stop_step, counted from 0, into one folder per plan; a changed file plans further steps."""
    running = []
    config = tmp_path / 'profiler_config.json'
    config.write_text(json.dumps({'start_step': 2, 'stop_step': 3}))
    clock = [100.0]
    monkeypatch.setattr('sindri.profiler.dynamic_profiler.time.time', lambda: clock[0])
    monitor = ms.profiler.DynamicProfilerMonitor(cfg_path=str(tmp_path), output_path=str(tmp_path / 'out'))
    for i in range(9):
        running.append(monitor._recording is not None and monitor._recording.running)
        ms.ops.exp(ms.Tensor([1.0])).asnumpy()
        if i == 4:
            config.write_text(json.dumps({'start_step': 6, 'stop_step': 6}))
            os.utime(config, (200, 200))
        clock[0] += 3
        monitor.step()
    assert [i for i, on in enumerate(running) if on] == [2, 3, 6]
    assert sorted(os.listdir(tmp_path / 'out')) == ['rank0_start2_stop3', 'rank0_start6_stop6']
    for name, count in (('rank0_start2_stop3', 2), ('rank0_start6_stop6', 1)):
        with open(tmp_path / 'out' / name / 'ASCEND_PROFILER_OUTPUT' / 'op_statistic.csv', encoding='utf-8') as f:
            rows = {r['op']: int(r['count']) for r in csv.DictReader(f)}
        assert rows['exp'] == count


def test_dynamic_profiler_writes_what_the_programs_end_interrupts(tmp_path):
    (tmp_path / 'profiler_config.json').write_text(json.dumps({'start_step': 1, 'stop_step': 5}))
    code = ("import sindri as ms\nm = ms.profiler.DynamicProfilerMonitor(cfg_path='.', output_path='out')\n"
            "for _ in range(3):\n    ms.ops.exp(ms.Tensor([1.0])).asnumpy()\n    m.step()\n")
    package = os.path.dirname(os.path.dirname(os.path.abspath(ms.__file__)))
    subprocess.run([sys.executable, '-c', code], cwd=tmp_path, check=True, env={**os.environ, 'PYTHONPATH': package})
    assert os.listdir(tmp_path / 'out') == ['rank0_start1_stop5']


def test_mstx_and_streams():
    from sindri import mstx, runtime
    number = mstx.range_start('epoch', runtime.current_stream())
    assert isinstance(number, int) and number > 0
    mstx.range_end(number)
    mstx.mark('here')
    with pytest.raises(TypeError):
        mstx.mark(3)
    with pytest.raises(TypeError):
        mstx.range_end('1')
    assert runtime.current_stream() == runtime.default_stream() and runtime.current_stream().query() is True
    runtime.set_memory(max_size='8GB')
    with pytest.raises(ValueError):
        runtime.set_memory(max_size='8')


def test_old_hooks_of_a_subclass_of_loss_monitor_run(capsys):
    calls = []

    class Mine(LossMonitor):
        def begin(self, run_context):
            calls.append('begin')

        def epoch_end(self, run_context):
            calls.append('epoch_end')

        def step_end(self, run_context):
            super().step_end(run_context)
            calls.append(run_context.original_args().cur_step_num)
    model, _ = train_cases.model(ms, nn, train)
    model.train(1, train_cases.dataset(ds, batch=6), callbacks=Mine())
    assert calls == ['begin', 1, 2, 'epoch_end'] and len(capsys.readouterr().out.splitlines()) == 2
