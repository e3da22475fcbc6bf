"""Algorithms in Model with less simple networks, optimizers and calls: networks that change, parameters in groups, training in several calls."""
import os

import numpy as np
import pytest

import ranks
import sindri as ms
from sindri import boost, models, nn, ops
from test_boost import batches, config, data, make_model, values
from test_boost_algorithms import Residual, norms

LOSS = dict(sparse=True, reduction='mean')


def less_bn_model(net, params=None, optimizer=None, **settings):
    optimizer = optimizer or nn.Momentum(net.trainable_params() if params is None else params, 0.1, 0.9)
    return ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(**LOSS), optimizer, {'acc'}, boost_level='O1', boost_config_dict=config(less_bn={'basic': True, **settings}))


def pictures():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(48, 1, 6, 6)).astype(np.float32)
    return ms.dataset.NumpySlicesDataset({'x': x, 'y': (x.mean(axis=(1, 2, 3)) > 0).astype(np.int32)}, shuffle=False).batch(16)


@pytest.mark.parametrize('how', ['list', 'groups', 'order', 'filter'])
def test_less_bn_makes_the_optimizer_anew(how, tmp_path):
    ms.set_seed(3)
    net = Residual()
    params = net.trainable_params()
    decayed = [p for p in params if 'weight' in p.name]
    groups = [{'params': decayed, 'weight_decay': 1e-4}, {'params': [p for p in params if 'weight' not in p.name], 'lr': 0.05}]
    given = {'list': params, 'groups': groups, 'order': [*groups, {'order_params': params}], 'filter': filter(lambda p: True, params)}[how]
    model = less_bn_model(net, given, fn_scale=3.0)
    new = model.train_network.optimizer
    assert sorted(p.name for p in new.parameters) == sorted(p.name for p in net.trainable_params())
    assert sum('multiplier' in p.name for p in new.parameters) == 1
    assert not any(gone in p.name for p in model.train_network.get_parameters() for gone in ('body.0.bn1', 'body.0.bn2', 'body.1.bn1', 'fc.bias'))
    model.train(3, pictures(), dataset_sink_mode=False)
    assert net.fc.multiplier.asnumpy() != 3
    ms.save_checkpoint(model.train_network, str(tmp_path / 'net.ckpt'))
    assert not [name for name in ms.load_checkpoint(str(tmp_path / 'net.ckpt')) if 'body.0.bn1' in name]


def test_less_bn_leaves_what_an_optimizer_does_not_train():
    net = Residual()
    model = less_bn_model(net, net.stem.trainable_params())
    assert [p.name for p in model.train_network.optimizer.parameters] == ['stem.weight']
    net = Residual()
    optimizer = nn.Momentum(net.stem.trainable_params(), 0.1, 0.9)
    assert less_bn_model(net, optimizer=optimizer).train_network.optimizer is optimizer


def test_less_bn_keeps_the_state_of_what_stays():
    net = Residual()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    for p in optimizer.moments:
        p.set_data(ms.Tensor(np.full(p.shape, 0.25, np.float32)))
    new = less_bn_model(net, optimizer=optimizer).train_network.optimizer
    assert new is not optimizer
    for p in new.moments:
        np.testing.assert_array_equal(p.asnumpy(), 0.0 if 'multiplier' in p.name else 0.25)


class OwnSGD(nn.Optimizer):
    def __init__(self, params):
        super().__init__(0.1, params)

    def construct(self, gradients):
        for p, g in zip(self.parameters, gradients):
            p.assign(p.value() - 0.1 * g)


def test_less_bn_refuses_optimizers_that_cannot_be_made_anew():
    net = Residual()
    with pytest.raises(TypeError, match='a OwnSGD cannot be created again'):
        less_bn_model(net, optimizer=OwnSGD(net.trainable_params()))


def test_less_bn_by_the_library_of_levels():
    """amp.build_train_network with only a boost_level changes the network as Model does."""
    net = Residual()
    cell = ms.amp.build_train_network(net, nn.Momentum(net.trainable_params(), 0.1, 0.9), nn.SoftmaxCrossEntropyWithLogits(**LOSS), boost_level='O1')
    assert norms(net) == ['bn', 'body.0.bn3', 'body.1.bn1', 'body.1.bn2']
    assert 'fc.multiplier' in [p.name for p in cell.optimizer.parameters]


def test_less_bn_twice_is_less_bn_once(mode):
    ms.set_seed(3)
    net = nn.SequentialCell([nn.Dense(3, 6), nn.ReLU(), nn.Dense(6, 2)])
    first = [p.name for p in less_bn_model(net).train_network.optimizer.parameters]
    assert [p.name for p in less_bn_model(net).train_network.optimizer.parameters] == first
    boost.AutoBoost('O1', config(less_bn={})).network_auto_process_eval(net)
    assert [p.name for p in net.trainable_params()] == first == ['0.weight', '0.bias', '2.weight', '2.multiplier']


def test_less_bn_of_a_network_of_the_library(mode):
    net = models.create('resnet50', num_classes=10)
    old = {p.name: p for p in net.trainable_params()}
    model = ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(**LOSS), nn.Momentum(net.trainable_params(), 0.1, 0.9), boost_level='O1',
                     boost_config_dict=config(less_bn={}))
    new = {p.name: p for p in net.trainable_params()}
    assert sum('gamma' in name for name in old) == 53 and sum('gamma' in name for name in new) == 21
    assert [n for n in new if n not in old] == ['end_point.multiplier'] and 'end_point.bias' not in new
    assert list(new)[-2:] == ['end_point.weight', 'end_point.multiplier']
    assert all(new[n] is old[n] for n in new if n in old)
    assert [p.name for p in model.train_network.optimizer.parameters] == list(new)
    assert old['end_point.bias'].asnumpy().shape == (10,)  # an object that is still held keeps its memory after removal


class WithBackbone(nn.Cell):
    def __init__(self):
        super().__init__()
        self.backbone = models.create('digits')
        self.fc = nn.Dense(10, 3)

    def construct(self, x):
        return self.fc(self.backbone(x))


def test_less_bn_of_a_network_within_another():
    net = WithBackbone()
    net.trainable_params()
    changed = boost.LessBN(net, True)
    assert [p.name for _, p in changed.added] == ['fc.multiplier']  # not the backbone's own head
    inner = models.create('digits')
    outer = nn.SequentialCell([inner])
    outer.trainable_params()
    names = [p.name for _, p in boost.LessBN(outer, True).added]
    assert len(names) == 1 and names[0].startswith('0.') and names[0].endswith('.multiplier')
    x = ms.Tensor(np.ones((2, 1, 8, 8), np.float32))
    assert outer(x).shape == inner(x).shape


def test_less_bn_that_finds_nothing_says_so(capfd):
    net = nn.SequentialCell([nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)])
    boost.AutoBoost('O1', config(less_bn={})).network_auto_process_train(net, nn.SGD(net.trainable_params(), 0.1))
    assert 'less_bn changes only the gradients' in capfd.readouterr().err


def test_half_heads_do_not_overflow():
    dense = nn.Dense(4096, 2)
    net = nn.SequentialCell([dense])
    boost.LessBN(net, True)
    x = np.full((1, 4096), 5, np.float32)
    whole = net(ms.Tensor(x)).asnumpy()
    half = nn.SequentialCell([dense])
    boost.LessBN(half, True)
    half.to_float(ms.float16)
    assert np.abs(whole).max() > 0
    np.testing.assert_allclose(half(ms.Tensor(x)).asnumpy().astype(np.float32), whole, atol=2e-3)


def grouped(net):
    """Returns an optimizer's groups in an order that differs from the network's."""
    params = list(net.trainable_params())
    return [{'params': [p for p in params if p.name.endswith('weight')], 'weight_decay': 1e-3}, {'params': [p for p in params if not p.name.endswith('weight')]}]


def deep():
    ms.set_seed(4)
    return nn.SequentialCell([nn.Dense(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Dense(6, 6), nn.ReLU(), nn.Dense(6, 2)])


def frozen_names(net, cell, steps):
    out = []
    for batch in batches()[:steps]:
        before = {p.name: p.asnumpy().copy() for p in net.trainable_params()}
        cell(*batch)
        out.append([p.name for p in net.trainable_params() if np.array_equal(before[p.name], p.asnumpy())])
    return out


@pytest.mark.parametrize('how', ['config', 'freeze_opt'])
def test_freezing_goes_by_the_network_whatever_the_groups(how, mode):
    """Three variants; the optimizer has the weights first, then norms and biases."""
    found = []
    for groups in (True, False):
        net = deep()
        optimizer = nn.Momentum(grouped(net) if groups else net.trainable_params(), 0.1, 0.9)
        loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(**LOSS))
        if how == 'config':
            settings = {'param_groups': 2, 'freeze_type': 0, 'freeze_p': 0.5}
            cell = boost.BoostTrainOneStepCell(loss, optimizer, boost=boost.AutoBoost('O1', config(grad_freeze=settings)))
        else:
            cell = boost.BoostTrainOneStepCell(*boost.GradientFreeze(2, 0, 0.5, 100).freeze_generate(loss, optimizer))
        found.append(frozen_names(net, cell.set_train(), 4))
    assert found[0] == found[1]
    # (A bias before a batch norm has almost no gradient.)
    assert '0.weight' not in found[0][0] and found[0][1][:2] == ['0.weight', '0.bias'] and '5.weight' not in found[0][1]


def test_groups_that_are_not_the_last_of_the_network_are_refused():
    net = deep()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(**LOSS))
    with pytest.raises(ValueError, match="group 1 of 'train_parameter_groups' does not consist of the last parameters of the network"):
        boost.BoostTrainOneStepCell(loss, boost.FreezeOpt(optimizer, [net.trainable_params(), net.trainable_params()[:2]]))


def test_dimension_reduction_has_the_columns_of_the_network(tmp_path):
    """The matrix does not depend on the optimizer's groups: a matrix from MindSpore has the order of trainable_params."""
    size = sum(int(np.prod(p.shape)) for p in deep().trainable_params())
    matrix = np.linalg.qr(np.random.default_rng(2).normal(size=(size, 4)))[0].T.astype(np.float32).copy()
    np.save(tmp_path / 'p.npy', matrix)
    moved = []
    for groups in (True, False):
        net = deep()
        before = np.concatenate([p.asnumpy().ravel() for p in net.trainable_params()])
        optimizer = nn.SGD(grouped(net) if groups else net.trainable_params(), 1.0)
        loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(**LOSS))
        settings = config(dim_reduce={'n_components': 4, 'pca_mat_path': str(tmp_path / 'p.npy'), 'alpha': 0.0})
        cell = boost.BoostTrainOneStepCell(loss, optimizer, boost=boost.AutoBoost('O1', settings)).set_train()
        for batch in batches()[:3]:
            cell(*batch)
        moved.append(np.concatenate([p.asnumpy().ravel() for p in net.trainable_params()]) - before)
    assert np.abs(moved[0]).max() > 1e-3
    np.testing.assert_allclose(matrix.T @ (matrix @ moved[0]), moved[0], atol=1e-5)
    np.testing.assert_allclose(moved[0], moved[1], atol=1e-5)


def test_schedules_go_on_over_several_calls_of_train(mode):
    settings = {'grad_freeze': {'param_groups': 2, 'freeze_type': 0, 'freeze_p': 0.8}, 'average': {'kind': 'swa', 'start': 8, 'every': 2}}
    found = []
    for calls in (1, 3):
        model = make_model(config(**settings))
        for _ in range(calls):
            model.train(3 // calls, data(), dataset_sink_mode=False)
        found.append((values(model.train_network), model.train_network.boost_columns()))
    for name, value in found[0][0].items():
        np.testing.assert_array_equal(found[1][0][name], value, err_msg=name)
    assert found[0][1] == found[1][1] and found[0][1]['frozen_steps'] > 0


def test_frozen_steps_are_counted_by_updates():
    model = make_model(config(grad_freeze={'param_groups': 2, 'freeze_type': 0, 'freeze_p': 0.5}, grad_accumulation={'grad_accumulation_step': 2}))
    model.train(1, data(), dataset_sink_mode=False)  # six steps, three updates, the second of them frozen
    assert model.train_network.boost_columns()['frozen_steps'] == pytest.approx(1 / 3)
    model = make_model(config(grad_freeze={}))  # too few parameters for ten variants
    model.train(1, data(), dataset_sink_mode=False)
    assert model.train_network.boost_columns()['frozen_steps'] == 0


def test_a_refresh_of_curvature_is_never_frozen():
    ms.set_seed(2)
    net = deep()
    params = net.trainable_params()
    optimizer = nn.thor(net, ms.Tensor(np.full(20, 0.01, np.float32)), ms.Tensor(np.full(20, 0.1, np.float32)), 0.9, batch_size=4, frequency=3)
    settings = config(grad_freeze={'param_groups': 2, 'strategy': [1], 'freeze_type': 0})
    model = ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(**LOSS), optimizer, boost_level='O1', boost_config_dict=settings)
    changed = []

    class Watch(ms.Callback):
        def on_train_step_begin(self, run_context):
            self.before = params[0].asnumpy().copy()

        def on_train_step_end(self, run_context):
            changed.append(not np.array_equal(self.before, params[0].asnumpy()))

    model.train(1, data(), callbacks=[Watch()], dataset_sink_mode=False)
    assert changed == [True, False, False, True, False, False]


@pytest.mark.parametrize('kind, text, section', [
    (ValueError, 'dim_reduce.rho', {'dim_reduce': {'rho': 5}}), (ValueError, 'grad_freeze.param_groups', {'grad_freeze': {'param_groups': 0}}),
    (TypeError, 'common.device_number', {'common': {'device_number': 'eight'}}),
])
def test_sections_of_what_is_off_are_checked(kind, text, section):
    with pytest.raises(kind, match=text):
        boost.AutoBoost('O1', {'boost': {'mode': 'manual', 'less_bn': False, 'grad_freeze': False}, **section})


def test_scales_that_are_not_finite_are_refused():
    for bad in ([float('nan'), 8.0], [8.0, float('inf')]):
        with pytest.raises(ValueError, match='finite numbers above 0'):
            boost.GroupLossScaleManager(bad, 2)


@pytest.mark.parametrize('make', [nn.Adam, nn.AdamOffload, nn.LazyAdam])
def test_optimizers_with_keywords_are_made_anew(make):
    net = nn.Dense(2, 2)
    new = boost.OptimizerProcess(make([{'params': net.trainable_params()}], 1e-3)).generate_new_optimizer()
    assert type(new) is make


def test_two_ranks_train_in_several_calls_and_agree_on_overflows(tmp_path):
    here = os.path.dirname(os.path.abspath(__file__))
    ended = ranks.run(os.path.join(here, 'distributed_boost_train.py'), [tmp_path], 2)
    assert [e.code for e in ended] == [0] * 2, ranks.text(ended)
    found = [dict(np.load(tmp_path / f'{r}.npz')) for r in range(2)]
    for name, value in found[0].items():
        np.testing.assert_array_equal(found[1][name], value, err_msg=name)
        assert np.isfinite(value).all(), name
    for name in ('accumulation', 'adasum'):
        np.testing.assert_array_equal(found[0][f'{name} 3'], found[0][f'{name} 1'], err_msg=name)
    assert found[0]['overflow delta'][0] == 512


def test_less_bn_takes_no_convolution_of_one_channel_for_a_depthwise_one(mode):
    """Weight changes have a mean of 0 per output, except for convolutions with groups."""
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first, self.depthwise, self.flat, self.head = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 3, group=4), nn.Flatten(), nn.Dense(4 * 36, 3)

        def construct(self, x):
            return self.head(self.flat(self.depthwise(self.first(x))))

    net = Net()
    before = {p.name: p.asnumpy().copy() for p in net.trainable_params()}
    config = {'boost': {'mode': 'manual', 'less_bn': True, 'grad_freeze': False}, 'less_bn': {'fn_flag': False}}
    model = ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), nn.Momentum(net.trainable_params(), 1.0, 0.0), boost_level='O1',
                     boost_config_dict=config)
    rng = np.random.default_rng(2)
    rows = {'x': rng.normal(size=(8, 1, 6, 6)).astype(np.float32), 'y': rng.integers(0, 3, 8).astype(np.int32)}
    model.train(1, ms.dataset.NumpySlicesDataset(rows, shuffle=False).batch(8), dataset_sink_mode=False)
    change = {p.name: np.abs((p.asnumpy() - before[p.name]).reshape(p.shape[0], -1).mean(1)).max() for p in net.trainable_params()}
    assert change['first.weight'] < 1e-6 and change['head.weight'] < 1e-6 and change['depthwise.weight'] > 1e-4
