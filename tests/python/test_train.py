"""Model: training, evaluation, prediction, sinking, interruption; compared with MindSpore 2.10.0's values (expectations/train.json)."""
import inspect
import json
import os
import re
import signal

import numpy as np
import pytest

import sindri as ms
import train_cases
from sindri import Tensor, nn, train
from sindri import dataset as ds
from sindri.train import Callback, Model
from sindri.train.dataset_helper import DatasetHelper, connect_network_with_dataset

with open(os.path.join(os.path.dirname(__file__), 'expectations', 'train.json'), encoding='utf-8') as f:
    EXPECTED = json.load(f)
NUMBER = re.compile(r'-?\d+\.\d+')


@pytest.fixture(scope='module')
def got():
    return train_cases.run(ms, nn, train, ds)


def test_printed_lines(got):
    """The text is equal except for the last digits of float32 numbers."""
    assert len(got['fit lines']) == len(EXPECTED['fit lines'])
    for ours, theirs in zip(got['fit lines'], EXPECTED['fit lines']):
        assert NUMBER.sub('#', ours) == NUMBER.sub('#', theirs)
        np.testing.assert_allclose([float(x) for x in NUMBER.findall(ours)], [float(x) for x in NUMBER.findall(theirs)], rtol=3e-6)


def test_hooks_come_in_mindspores_order(got):
    assert got['fit hooks'] == EXPECTED['fit hooks']


@pytest.mark.parametrize('key', ['eval', 'fit parameters'])
def test_dicts(got, key):
    assert sorted(got[key]) == sorted(EXPECTED[key])
    for name, value in EXPECTED[key].items():
        np.testing.assert_allclose(got[key][name], value, rtol=3e-5, atol=1e-7)


@pytest.mark.parametrize('key', ['predict', 'losses', 'history'])
def test_numbers(got, key):
    for ours, theirs in zip(got[key], EXPECTED[key]):
        np.testing.assert_allclose(ours, theirs, rtol=3e-5)


def losses_of(mode, **kwargs):
    ms.set_context(mode=mode)
    model, _ = train_cases.model(ms, nn, train)
    seen = []
    model.train(2, train_cases.dataset(ds), callbacks=[train.LambdaCallback(
        on_train_step_end=lambda c: seen.append((c.original_args().cur_epoch_num, c.original_args().cur_step_num,
                                                 float(c.original_args().net_outputs.asnumpy()))))],
        **kwargs)
    return seen


def test_graph_mode_gives_the_same_losses():
    eager, graph = losses_of(ms.PYNATIVE_MODE), losses_of(ms.GRAPH_MODE)
    assert [s[:2] for s in eager] == [s[:2] for s in graph] == [(1 + i // 6, i + 1) for i in range(12)]
    np.testing.assert_allclose([s[2] for s in eager], [s[2] for s in graph], rtol=1e-6)


def test_sinking_on_the_cpu_target_calls_back_every_step(monkeypatch):
    """Published scripts print and save there; MindSpore 1 sank on it, too."""
    every, some = [(1 + i // 6, i + 1) for i in range(12)], [(1, 1), (1, 2), (2, 3), (2, 4)]
    assert [s[:2] for s in losses_of(ms.GRAPH_MODE, dataset_sink_mode=True)] == every
    assert [s[:2] for s in losses_of(ms.GRAPH_MODE, dataset_sink_mode=True, sink_size=2)] == some
    monkeypatch.setenv('SINDRI_MINDSPORE_ERA', '1')
    assert [s[:2] for s in losses_of(ms.GRAPH_MODE, dataset_sink_mode=True)] == [(1, 6), (2, 12)]


def test_sinking_in_graph_mode_calls_back_once_per_chunk():
    ms.set_context(device_target='GPU')
    steps = losses_of(ms.GRAPH_MODE)
    sunk = losses_of(ms.GRAPH_MODE, dataset_sink_mode=True)
    assert [s[:2] for s in sunk] == [(1, 6), (2, 12)]
    np.testing.assert_allclose([s[2] for s in sunk], [steps[5][2], steps[11][2]], rtol=1e-6)


def test_sink_size_cuts_the_passes():
    ms.set_context(device_target='GPU')
    steps = losses_of(ms.GRAPH_MODE)
    sunk = losses_of(ms.GRAPH_MODE, dataset_sink_mode=True, sink_size=4)
    assert [s[:2] for s in sunk] == [(1, 4), (2, 8)]  # the second chunk continues in the data
    np.testing.assert_allclose([s[2] for s in sunk], [steps[3][2], steps[7][2]], rtol=1e-6)


def test_sinking_in_pynative_mode_calls_back_every_step():
    assert [s[:2] for s in losses_of(ms.PYNATIVE_MODE, dataset_sink_mode=True)] == [(1 + i // 6, i + 1) for i in range(12)]
    assert [s[:2] for s in losses_of(ms.PYNATIVE_MODE, dataset_sink_mode=True, sink_size=2)] == [(1, 1), (1, 2), (2, 3), (2, 4)]


def test_defaults_of_the_signatures():
    def defaults(f):
        return {k: v.default for k, v in inspect.signature(f).parameters.items() if v.default is not inspect.Parameter.empty}
    assert defaults(Model.__init__) == dict(loss_fn=None, optimizer=None, metrics=None, eval_network=None, eval_indexes=None, amp_level='O0',
                                            boost_level='O0')
    assert defaults(Model.train) == dict(callbacks=None, dataset_sink_mode=False, sink_size=-1, initial_epoch=0)
    assert defaults(Model.fit) == dict(valid_dataset=None, valid_frequency=1, callbacks=None, dataset_sink_mode=False, valid_dataset_sink_mode=False,
                                       sink_size=-1, initial_epoch=0)
    assert defaults(Model.eval) == dict(callbacks=None, dataset_sink_mode=False)
    assert defaults(Model.build) == dict(train_dataset=None, valid_dataset=None, sink_size=-1, epoch=1, sink_mode=True)
    assert defaults(DatasetHelper.__init__) == dict(dataset_sink_mode=True, sink_size=-1, epoch_num=1)


def test_callback_parameters():
    model, net = train_cases.model(ms, nn, train)
    kept = {}
    data = train_cases.dataset(ds)
    mine = train.LambdaCallback(on_train_step_end=lambda c: kept.update(c.original_args()))
    model.train(1, data, callbacks=mine)
    assert kept['train_network'] is model.train_network and kept['train_dataset'] is data and kept['list_callback'] == [mine]
    assert (kept['epoch_num'], kept['batch_num'], kept['cur_epoch_num'], kept['cur_step_num'], kept['mode']) == (1, 6, 1, 6, 'train')
    assert kept['parallel_mode'] == 'stand_alone' and kept['device_number'] == 1 and kept['dataset_sink_mode'] is False
    assert [x.shape for x in kept['train_dataset_element']] == [(2, 3), (2,)]
    assert kept['network'] is model.train_network and kept['loss_fn'] is not None and kept['optimizer'] is not None
    assert net.fc1.weight.name == 'fc1.weight'


def test_own_training_cell_and_eval_network():
    class Step(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = ms.Parameter(Tensor(0, ms.int32), name='count', requires_grad=False)

        def construct(self, x, y, z):
            self.count += 1
            return (x.sum(), self.count)

    class Judge(nn.Cell):
        def construct(self, x, y, z):
            return y, z, x  # label, loss, prediction

    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    data = ds.NumpySlicesDataset((x, np.array([2, 2, 2, 1], np.int32), np.full(4, 0.25, np.float32)), ['x', 'y', 'z'], shuffle=False).batch(2)
    step = Step()
    model = Model(step, metrics={'acc', 'loss'}, eval_network=Judge(), eval_indexes=[1, 2, 0])
    model.train(3, data)
    assert int(step.count.asnumpy()) == 6
    assert model.eval(data) == {'acc': 0.75, 'loss': 0.25}
    metric = train.Accuracy().set_indexes([2, 0])
    assert Model(step, metrics={'mine': metric}, eval_network=Judge()).eval(data) == {'mine': 0.75}


def test_inference_and_training_flags():
    seen = []

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 2)

        def construct(self, x):
            seen.append(self.training)
            return self.fc(x)
    net = Net()
    model = Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), nn.SGD(net.trainable_params(), 0.1), metrics={'acc'})
    data = train_cases.dataset(ds, 2)
    model.train(1, data)
    model.eval(data)
    model.train(1, data)
    model.predict(Tensor(np.ones((1, 3), np.float32)))
    assert seen == [True, False, True, False]


class Normed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc, self.bn = nn.Dense(3, 2), nn.BatchNorm1d(2)

    def construct(self, x):
        return self.bn(self.fc(x))


def test_a_callback_that_turns_training_mode_off_is_heeded(mode):
    class Freeze(Callback):
        def on_train_epoch_begin(self, run_context):
            net.set_train(False)

        def on_train_step_end(self, run_context):
            seen.append(net.training)
            if run_context.original_args().cur_epoch_num == 2:
                model.eval(data)

    net, seen = Normed(), []
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')
    model = Model(net, loss, nn.SGD(net.trainable_params(), 0.1), metrics={'acc'})
    data = train_cases.dataset(ds, 2)
    model.train(1, data, callbacks=Freeze(), dataset_sink_mode=False)
    assert seen and not any(seen) and net.bn.moving_mean.asnumpy().tolist() == [0, 0]
    steps = len(seen)
    model.train(3, data, callbacks=Freeze(), dataset_sink_mode=False)
    # Frozen at the start of each epoch; the evaluations of the second epoch restore training mode.
    assert seen[steps:] == [False] * (steps + 1) + [True] * (2 * steps - 1)


@pytest.mark.parametrize('use', ['eval', 'predict', 'another model'])
def test_a_callback_that_evaluates_leaves_the_next_step_training(use, mode):
    class Look(Callback):
        def on_train_step_end(self, run_context):
            before.append(net.bn.moving_mean.asnumpy().copy())
            if use == 'predict':
                model.predict(Tensor(np.ones((1, 3), np.float32)))
            else:
                (model if use == 'eval' else Model(net, loss, metrics={'acc'})).eval(data)
            assert not net.bn.training

        def on_train_end(self, run_context):
            assert len({m.tobytes() for m in before}) == len(before)  # every step moved the mean
    net, before, loss = Normed(), [], nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')
    model = Model(net, loss, nn.SGD(net.trainable_params(), 0.1), metrics={'acc'})
    data = train_cases.dataset(ds, 2)
    model.train(2, data, callbacks=Look(), dataset_sink_mode=False)
    assert len(before) == 2


@pytest.mark.parametrize('make, error', [
    (lambda net: Model(net, amp_level='O4'), ValueError),
    (lambda net: Model(net, boost_level='O3'), ValueError),
    (lambda net: Model(net, loss_scale=3), ValueError),
    (lambda net: Model('net'), TypeError),
    (lambda net: Model(net, metrics={'acc'}), ValueError),
    (lambda net: Model(net, lambda a, b: a, metrics=3), TypeError),
    (lambda net: Model(net, metrics={'acc'}, eval_network=net, eval_indexes=[0, 1]), ValueError),
    (lambda net: Model(net, loss_scale_manager=train.FixedLossScaleManager()), ValueError),
    (lambda net: Model(net, loss_scale_manager=3), TypeError),
    (lambda net: Model(net, boost_level='O1', boost_config_dict={'boost': {'mode': 'some'}}), ValueError),
    (lambda net: Model(net, acc_level='O2', boost_config_dict={'less_bn': {'fn': True}}), ValueError),
])
def test_constructor_errors(make, error):
    with pytest.raises(error) as e:
        make(nn.Dense(3, 2))
    assert '\n' not in str(e.value)


@pytest.mark.parametrize('args, kwargs, error', [
    ((0,), {}, ValueError), ((1.5,), {}, TypeError), ((1,), {'sink_size': 0}, ValueError), ((1,), {'sink_size': -2}, ValueError),
    ((1,), {'dataset_sink_mode': 1}, TypeError), ((1,), {'callbacks': 3}, TypeError), ((2,), {'initial_epoch': 2}, ValueError),
])
def test_train_errors(args, kwargs, error):
    model, _ = train_cases.model(ms, nn, train)
    with pytest.raises(error):
        model.train(args[0], train_cases.dataset(ds), **kwargs)


def test_dataset_errors():
    model, _ = train_cases.model(ms, nn, train)
    with pytest.raises(TypeError):
        model.train(1, [1, 2])
    x, y = train_cases.arrays()
    with pytest.raises(ValueError, match='2 columns'):
        model.train(1, ds.NumpySlicesDataset((x, y, y), ['x', 'y', 'z']).batch(2))
    with pytest.raises(ValueError, match='batch'):
        model.train(1, ds.NumpySlicesDataset((x, y), ['x', 'y']).batch(20, drop_remainder=True))
    with pytest.raises(ValueError, match='metrics'):
        model.eval(train_cases.dataset(ds))
    with pytest.raises(TypeError):
        model.predict(np.ones((1, 3), np.float32))


def test_a_dataset_sinks_into_one_model_only():
    ms.set_context(mode=ms.GRAPH_MODE, device_target='GPU')
    data = train_cases.dataset(ds)
    one, two = (train_cases.model(ms, nn, train)[0] for _ in range(2))
    one.train(1, data, dataset_sink_mode=True)
    one.train(1, data, dataset_sink_mode=True)
    with pytest.raises(RuntimeError, match='another Model'):
        two.train(1, data, dataset_sink_mode=True)
    two.train(1, data)


class Count(Callback):
    def __init__(self):
        self.calls = []

    def step_end(self, run_context):
        self.calls.append(run_context.original_args().cur_step_num)


def test_old_hooks_run_in_train_and_are_refused_by_fit():
    model, _ = train_cases.model(ms, nn, train, metrics={'acc'})
    count = Count()
    model.train(1, train_cases.dataset(ds), callbacks=[count])
    model.eval(train_cases.dataset(ds, 4), callbacks=count)
    assert count.calls == [1, 2, 3, 4, 5, 6, 1, 2]
    with pytest.raises(ValueError, match='step_end'):
        model.fit(1, train_cases.dataset(ds), train_cases.dataset(ds, 4), callbacks=count)


def test_request_stop():
    model, _ = train_cases.model(ms, nn, train)
    steps, ends = [], []

    class Stop(Callback):
        def on_train_step_end(self, run_context):
            steps.append(run_context.original_args().cur_step_num)
            if len(steps) == 4:
                run_context.request_stop()

        def on_train_epoch_end(self, run_context):
            ends.append('epoch')

        def on_train_end(self, run_context):
            ends.append('end')
    model.train(3, train_cases.dataset(ds), callbacks=Stop())
    assert steps == [1, 2, 3, 4] and ends == ['epoch', 'end']


def test_fit_evaluates_when_due():
    model, _ = train_cases.model(ms, nn, train, metrics={'acc'})
    seen = []
    tell = train.LambdaCallback(on_train_epoch_end=lambda c: seen.append((c.original_args().cur_epoch_num, sorted(c.original_args().metrics))))
    model.fit(5, train_cases.dataset(ds), train_cases.dataset(ds, 4), valid_frequency=2, callbacks=tell)
    assert seen == [(1, []), (2, ['acc']), (3, []), (4, ['acc']), (5, [])]
    seen.clear()
    model.fit(3, train_cases.dataset(ds), train_cases.dataset(ds, 4), valid_frequency=[1, 3], callbacks=tell)
    assert seen == [(1, ['acc']), (2, []), (3, ['acc'])]
    with pytest.raises(TypeError):
        model.fit(1, train_cases.dataset(ds), train_cases.dataset(ds, 4), valid_frequency='often')


def test_ctrl_c_finishes_the_step(mode, tmp_path):
    model, net = train_cases.model(ms, nn, train)
    saver = train.ModelCheckpoint('net', str(tmp_path), train.CheckpointConfig(save_checkpoint_steps=1000))
    finished = []

    class Press(Callback):
        def on_train_step_begin(self, run_context):
            if run_context.original_args().cur_step_num == 8:
                os.kill(os.getpid(), signal.SIGINT)

        def on_train_step_end(self, run_context):
            finished.append(run_context.original_args().cur_step_num)
    with pytest.raises(KeyboardInterrupt):
        model.train(5, train_cases.dataset(ds), callbacks=[saver, Press()])
    assert finished[-1] == 8
    assert saver.latest_ckpt_file_name == str(tmp_path / 'net-2_2.ckpt')
    saved = train.load_checkpoint(saver.latest_ckpt_file_name)
    np.testing.assert_array_equal(saved['fc1.weight'].asnumpy(), net.fc1.weight.asnumpy())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_cuts_a_chunk_short(tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE)
    model, net = train_cases.model(ms, nn, train)
    saver = train.ModelCheckpoint('net', str(tmp_path), train.CheckpointConfig(save_checkpoint_steps=1000))
    press = train.LambdaCallback(on_train_step_begin=lambda c: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        model.train(5, train_cases.dataset(ds), callbacks=[saver, press], dataset_sink_mode=True)
    assert os.path.basename(saver.latest_ckpt_file_name) == 'net-1_1.ckpt'
    np.testing.assert_array_equal(train.load_checkpoint(saver.latest_ckpt_file_name)['fc2.bias'].asnumpy(), net.fc2.bias.asnumpy())


def test_build_changes_nothing():
    ms.set_context(mode=ms.GRAPH_MODE)
    model, net = train_cases.model(ms, nn, train, metrics={'acc'})
    before = net.fc1.weight.asnumpy().copy()
    model.build(train_cases.dataset(ds), train_cases.dataset(ds, 4))
    np.testing.assert_array_equal(net.fc1.weight.asnumpy(), before)
    with pytest.raises(RuntimeError):
        model.infer_train_layout(train_cases.dataset(ds))
    with pytest.raises(RuntimeError):
        model.infer_predict_layout(Tensor(1.0))


def test_loss_scale_manager_follows_the_cell():
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        manager = train.DynamicLossScaleManager(2.0 ** 126, 4, 3)
        model, net = train_cases.model(ms, nn, train, loss_scale_manager=manager)
        before = net.fc1.weight.asnumpy().copy()
        seen = []
        model.train(1, train_cases.dataset(ds), callbacks=train.LambdaCallback(
            on_train_step_end=lambda c: seen.append([float(np.asarray(v.asnumpy()).reshape(-1)[0]) for v in c.original_args().net_outputs][1:])))
        assert all(s[0] == 0 for s in seen) or seen[0][0] == 1
        assert manager.get_loss_scale() == float(model.train_network.scale_sense.asnumpy())
        assert not np.array_equal(before, net.fc1.weight.asnumpy())


class Overflowing(nn.Cell):
    """A loss whose gradient overflows at the first few scales of the test below."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init=ms.Tensor(np.full((2, 3), 2.0 ** -18, np.float32)))

    def construct(self, x, _):
        return (self.fc(x) * 2.0 ** 16).mean()


@pytest.mark.parametrize('sink_size', [None, -1, 2])
@pytest.mark.parametrize('mode', [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_loss_scale_manager_reports_the_cells_scale(mode, sink_size):
    ms.set_context(mode=mode)

    def run(model, manager, epochs, seen):
        sink = dict(dataset_sink_mode=sink_size is not None, sink_size=sink_size or -1)

        def note(_):
            cell = model.train_network
            seen.append(manager.get_loss_scale())
            assert manager.get_loss_scale() == float(cell.scale_sense.asnumpy())
            if isinstance(manager, train.DynamicLossScaleManager):
                assert (manager.cur_iter, manager.last_overflow_iter) == (int(cell.loss_scaling_manager.cur_iter.asnumpy()),
                                                                          int(cell.loss_scaling_manager.last_overflow_iter.asnumpy()))
        model.train(epochs, train_cases.dataset(ds), callbacks=train.LambdaCallback(on_train_begin=note, on_train_step_end=note), **sink)

    def make(manager):
        net = Overflowing()
        return Model(net, None, nn.Momentum(net.trainable_params(), 1e-6, 0.9), loss_scale_manager=manager)

    first, seen = train.DynamicLossScaleManager(2.0 ** 118, 2, 1000), []
    trained = make(first)
    run(trained, first, 2, seen)
    assert seen[0] == 2.0 ** 118 and seen[-1] < 2.0 ** 115 and trained.train_network.scale_sense.asnumpy() == seen[-1]
    state = {p.name: ms.Parameter(p.asnumpy(), name=p.name) for p in trained.train_network.get_parameters()}
    for resumed in (train.DynamicLossScaleManager(2.0 ** 118, 2, 1000), train.FixedLossScaleManager(8.0)):
        model, again = make(resumed), []
        ms.load_param_into_net(model.train_network, state)
        run(model, resumed, 1, again)
        assert again[0] == seen[-1]


def test_fixed_loss_scale_managers():
    manager = train.FixedLossScaleManager(1024.0, False)
    assert manager.get_update_cell() is None and manager.get_loss_scale() == 1024.0 and manager.get_drop_overflow_update() is False
    net = train_cases.network(ms, nn)
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1, loss_scale=1024.0), loss_scale_manager=manager)
    assert type(model.train_network).__name__ == 'TrainOneStepCell' and model.train_network.sens == 1024.0
    model, _ = train_cases.model(ms, nn, train, loss_scale_manager=train.FixedLossScaleManager(8.0))
    assert type(model.train_network).__name__ == 'TrainOneStepWithLossScaleCell'
    model.train(1, train_cases.dataset(ds))


def test_dynamic_loss_scale_numbers():
    manager = train.DynamicLossScaleManager()
    assert (manager.get_loss_scale(), manager.scale_factor, manager.scale_window, manager.get_drop_overflow_update()) == (2 ** 24, 2, 2000, True)
    manager = train.DynamicLossScaleManager(16, 2, 3)
    scales = []
    for overflow in (False, False, False, True, False, False, False, True, True):
        manager.update_loss_scale(overflow)
        scales.append(manager.get_loss_scale())
    assert scales == [16, 16, 32, 16, 16, 16, 32, 16, 8]
    for bad in (dict(init_loss_scale=0.5), dict(scale_factor=0), dict(scale_window=0)):
        with pytest.raises(ValueError):
            train.DynamicLossScaleManager(**bad)
    with pytest.raises(ValueError):
        train.FixedLossScaleManager(0)


def test_dataset_helper_without_sinking():
    helper = DatasetHelper(train_cases.dataset(ds), dataset_sink_mode=False, epoch_num=2)
    for _ in range(2):
        rows = list(helper)
        assert len(rows) == 6 and isinstance(rows[0], tuple) and isinstance(rows[0][0], Tensor)
    np.testing.assert_array_equal(rows[1][0].asnumpy(), train_cases.arrays()[0][2:4])
    assert helper.sink_size() == 1
    types, shapes = helper.types_shapes()
    assert [list(s) for s in shapes] == [[2, 3], [2]] and len(types) == 2
    with pytest.raises(RuntimeError):
        connect_network_with_dataset(nn.Dense(3, 2), helper)
    helper.release()


def test_sinking_helper_runs_chunks():
    ms.set_context(mode=ms.GRAPH_MODE, device_target='GPU')
    data = train_cases.dataset(ds)
    helper = DatasetHelper(data, sink_size=4)
    assert helper.sink_size() == 4
    seen = []
    net = connect_network_with_dataset(lambda x, y: seen.append(x.asnumpy()) or len(seen), helper)
    for inputs in helper:
        assert inputs == () and net(*inputs) == 4
    assert net() == 8
    np.testing.assert_array_equal(seen[6], train_cases.arrays()[0][:2])  # the seventh batch is the first again
    data.__loop_size__ = 3
    assert len(list(DatasetHelper(data))) == 2 and DatasetHelper(data).sink_size() == 3
    data.__loop_size__ = 4
    with pytest.raises(ValueError):
        list(DatasetHelper(data))
    with pytest.raises(TypeError):
        DatasetHelper(data, dataset_sink_mode='yes')


def test_data_sink(mode):
    step = train.data_sink(lambda x, y: x.sum(), train_cases.dataset(ds), sink_size=2)
    x = train_cases.arrays()[0]
    np.testing.assert_allclose(step().asnumpy(), x[2:4].sum(), rtol=1e-5)
    np.testing.assert_allclose(step().asnumpy(), x[6:8].sum(), rtol=1e-5)


def test_gradient_accumulation(mode):
    """Two steps of half batches equal one step of the mean gradient: p -= lr * (g1 + g2) / 2."""
    from sindri.boost import GradientAccumulation
    p = ms.Parameter(Tensor(np.array([1.0, 2.0], np.float32)), name='p')

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = p

        def construct(self, x):
            return (self.p * x).sum()

    class Step(nn.TrainOneStepCell):
        def __init__(self, network, optimizer):
            super().__init__(network, optimizer)
            self.accumulate = GradientAccumulation(2, optimizer)

        def construct(self, x):
            loss = self.network(x)
            grads = self.grad(self.network, self.weights)(x, ms.ops.ones_like(loss))
            return self.accumulate(loss, grads)
    step = Step(Net(), nn.SGD([p], 0.5)).set_train()
    values = []
    for x in ([1., 2.], [3., 6.], [1., 1.], [1., 1.]):
        step(Tensor(np.array(x, np.float32)))
        values.append(p.asnumpy().tolist())
    assert values == [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0], [-0.5, -0.5]]
    names = [q.name for q in step.get_parameters()]
    assert 'grad_accumulation.p' in names and 'accumulation_step' in names
    with pytest.raises(ValueError):
        GradientAccumulation(0, nn.SGD([p], 0.5))
