"""Training algorithms on networks written in Python: freezing, fewer batch norms, dimension reduction, loss scales per group, Adasum between ranks."""
import os

import numpy as np
import pytest

import ranks
import sindri as ms
from sindri import boost, nn, ops
from test_boost import batches, config, make_model, values


def test_frozen_steps_leave_the_first_parameters_and_their_momentum(mode):
    model = make_model(config(grad_freeze={'param_groups': 2, 'freeze_type': 0, 'freeze_p': 0.5}))
    cell = model.train_network
    assert cell.boost_algorithms == ['grad_freeze']
    first = [p.name for p in cell.optimizer.parameters[:3]]
    for i, batch in enumerate(batches()):
        before = values(cell)
        cell(*batch)
        after = values(cell)
        changed = {name for name in after if not np.array_equal(after[name], before[name])}
        frozen = {name for name in after for f in first if name.endswith(f)}
        assert frozen and bool(frozen & changed) == (i % 2 == 0), (i, changed)
        assert any('head' in name for name in changed)
    assert cell.boost_columns()['frozen_steps'] == pytest.approx(0.5)


def test_frozen_steps_are_whole_ones_for_the_others(mode):
    def run(frozen):
        model = make_model(config(grad_freeze={'param_groups': 2, 'freeze_type': 0, 'freeze_p': 0.5}) if frozen else None)
        for batch in batches()[:2]:
            model.train_network(*batch)
        return values(model.train_network.network)

    whole, frozen = run(False), run(True)
    for name in whole:
        if 'head' in name:
            np.testing.assert_array_equal(whole[name], frozen[name])


class Bottleneck(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(4, 2, 1), nn.BatchNorm2d(2)
        self.conv2, self.bn2 = nn.Conv2d(2, 2, 3), nn.BatchNorm2d(2)
        self.conv3, self.bn3 = nn.Conv2d(2, 4, 1), nn.BatchNorm2d(4)

    def construct(self, x):
        y = ops.relu(self.bn1(self.conv1(x)))
        y = ops.relu(self.bn2(self.conv2(y)))
        return ops.relu(self.bn3(self.conv3(y)) + x)


class TwoLayerBlock(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1, self.conv2, self.bn2 = nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4)

    def construct(self, x):
        return ops.relu(self.bn2(self.conv2(ops.relu(self.bn1(self.conv1(x))))) + x)


class Residual(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem, self.bn = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4)
        self.body = nn.SequentialCell([Bottleneck(), TwoLayerBlock()])
        self.fc = nn.Dense(4, 3)

    def construct(self, x):
        return self.fc(ops.reduce_mean(self.body(ops.relu(self.bn(self.stem(x)))), (2, 3)))


def norms(net):
    return [path for path, c in net.cells_and_names() if isinstance(c, nn.BatchNorm2d)]


def test_less_batch_norm():
    net = Residual()
    assert boost.LessBN(net).removed == ['body.0.bn1', 'body.0.bn2']
    assert norms(net) == ['bn', 'body.0.bn3', 'body.1.bn1', 'body.1.bn2']
    assert boost.LessBN(net, basic=True).removed == ['body.1.bn1']
    net.trainable_params()
    boost.LessBN(net, True, fn_scale=2.0)
    assert [p.name for p in net.fc.get_parameters()] == ['fc.weight', 'fc.multiplier']
    x = np.float32([[1, 2, 2, 0]])
    w = net.fc.weight.asnumpy()
    np.testing.assert_allclose(net.fc(ms.Tensor(x)).asnumpy(), 2 * (x / 3) @ (w / np.linalg.norm(w, axis=1, keepdims=True)).T, rtol=1e-5)


def test_less_batch_norm_by_the_model_learns(mode):
    ms.set_seed(3)
    net = Residual()
    rng = np.random.default_rng(1)
    x = rng.normal(size=(64, 1, 6, 6)).astype(np.float32)
    y = (x.mean(axis=(1, 2, 3)) > 0).astype(np.int32)
    rows = ms.dataset.NumpySlicesDataset({'x': x, 'y': y}, shuffle=False).batch(16)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    model = ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), optimizer, {'acc'}, boost_level='O1',
                     boost_config_dict=config(less_bn={'fn_flag': False, 'basic': True}))
    assert norms(net) == ['bn', 'body.0.bn3', 'body.1.bn2']
    before = float(model.eval(rows)['acc'])
    model.train(15, rows, dataset_sink_mode=False)
    assert float(model.eval(rows)['acc']) >= max(before, 0.6)


def test_dimension_reduction_of_a_models_checkpoints(mode, tmp_path):
    model = make_model()
    for i, batch in enumerate(batches()):
        model.train_network(*batch)
        ms.save_checkpoint(model.train_network.network, str(tmp_path / f'net-{i + 1}_1.ckpt'))
    start = values(model.train_network.network)
    second = make_model(config(dim_reduce={'n_component': 3, 'weight_load_dir': str(tmp_path), 'alpha': 0.0}))
    ms.load_param_into_net(second.train_network.network, {k: ms.Parameter(ms.Tensor(v), name=k) for k, v in start.items()})
    batch = batches()[0]
    losses = [float(second.train_network(*batch).asnumpy()) for _ in range(6)]
    assert all(b <= a for a, b in zip(losses, losses[1:]))
    assert losses[-1] < losses[0]
    assert second.train_network.boost_columns()['rejected'] <= 1
    # The weights have moved within the span of the snapshots: the file's P has orthogonal rows over all trained weights.
    p = np.load(tmp_path / 'pca_mat_temp.npy')
    names = [w.name for w in second.train_network.weights]
    moved = np.concatenate([(values(second.train_network.network)[n] - start[n]).ravel() for n in names])
    np.testing.assert_allclose(p.T @ (p @ moved), moved, atol=1e-4)


def test_dimension_reduction_refusals(tmp_path):
    with pytest.raises(ValueError, match='weight_load_dir'):
        make_model(config(dim_reduce={}))
    with pytest.raises(ValueError, match='no file matches'):
        make_model(config(dim_reduce={'weight_load_dir': str(tmp_path)}))
    np.save(tmp_path / 'p.npy', np.zeros((2, 5), np.float32))
    with pytest.raises(ValueError, match=r'is \(2, 5\); needed are 2 rows'):
        make_model(config(dim_reduce={'pca_mat_path': str(tmp_path / 'p.npy'), 'n_components': 2}))


class Grouped(nn.Cell):
    """Two groups of layers, with or without scales between them."""

    def __init__(self, manager=None):
        super().__init__()
        self.first, self.second, self.manager = nn.Dense(3, 8), nn.Dense(8, 2), manager

    def scale(self, x, a, b):
        return x if self.manager is None else self.manager(x, a, b)

    def construct(self, x):
        x = ops.tanh(self.first(self.scale(x, 0, 1)))
        x = self.second(self.scale(x, 1, 2))
        return self.scale(x, 2, 3)


def grouped_model(manager, freeze=None):
    ms.set_seed(5)
    net = Grouped(manager)
    first = [p for p in net.trainable_params() if 'first' in p.name]
    second = [p for p in net.trainable_params() if 'second' in p.name]
    optimizer = nn.Momentum([{'params': first}, {'params': second}], 0.1, 0.9)
    on = {**({} if manager is None else {'loss_scale_group': {}}), **({} if freeze is None else {'grad_freeze': freeze})}
    more = {'boost_level': 'O1', 'boost_config_dict': config(**on), **({} if manager is None else {'loss_scale_manager': manager})} if on else {}
    return ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), optimizer, **more)


def test_a_loss_scale_for_each_group(mode):
    manager = boost.GroupLossScaleManager([8.0, 64.0], 2)
    scaled, plain = grouped_model(manager), grouped_model(None)
    for batch in batches():
        out = scaled.train_network(*batch)
        plain.train_network(*batch)
        assert not bool(out[1].asnumpy())
    own = values(plain.train_network.network)
    for name, v in values(scaled.train_network.network).items():
        if name in own:
            np.testing.assert_allclose(v, own[name], rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(manager.get_loss_scale_status(), [8 * 2 ** 0.006, 64 * 2 ** 0.006], rtol=1e-5)


def test_a_group_that_overflows_lowers_its_scale_and_leaves_the_step_out(mode):
    manager = boost.GroupLossScaleManager([1e30, 4.0], 2)
    manager.loss_scale.set_data(ms.Tensor(np.float32([np.inf, 4.0])))
    model = grouped_model(manager)
    before = values(model.train_network.network)
    _, overflow, _ = model.train_network(*batches()[0])
    assert bool(overflow.asnumpy())
    for name, v in values(model.train_network.network).items():
        if 'loss_scale' not in name:
            np.testing.assert_array_equal(v, before[name])
    np.testing.assert_allclose(manager.get_loss_scale_status()[1], 4 * 2 ** 0.001, rtol=1e-6)


def test_frozen_steps_leave_the_scale_of_a_group_without_gradients(mode):
    manager = boost.GroupLossScaleManager([8.0, 64.0], 2)
    freeze = {'starts': [0, 2], 'strategy': [1, 0]}
    scaled, plain = grouped_model(manager, freeze=freeze), grouped_model(None, freeze=freeze)
    for i, batch in enumerate(batches()):
        before = values(scaled.train_network.network)
        scaled.train_network(*batch)
        plain.train_network(*batch)
        after, own = values(scaled.train_network.network), values(plain.train_network.network)
        for name in own:
            np.testing.assert_allclose(after[name], own[name], rtol=2e-5, atol=1e-6)
            assert np.array_equal(after[name], before[name]) == (i % 2 == 0 and 'first' in name)
    np.testing.assert_allclose(manager.get_loss_scale_status(), [8 * 2 ** 0.003, 64 * 2 ** 0.006], rtol=1e-5)


def test_group_loss_scale_refusals():
    for kind, bad in ((ValueError, (0, 2)), (ValueError, ([1, 2], 3)), (TypeError, ('x', 2)), (ValueError, (1, 0))):
        with pytest.raises(kind):
            boost.GroupLossScaleManager(*bad)
    with pytest.raises(TypeError, match='needs loss_scale_group'):
        ms.Model(Grouped(), nn.SoftmaxCrossEntropyWithLogits(sparse=True), nn.SGD(Grouped().trainable_params(), 0.1),
                 loss_scale_manager=boost.GroupLossScaleManager(4, 2))
    with pytest.raises(TypeError, match='needs a GroupLossScaleManager'):
        make_model(config(loss_scale_group={}))


def test_gradient_freeze_by_itself():
    net = Residual()
    f = boost.GradientFreeze(4, 1, 0.7, 100)
    groups = f.split_parameters_groups(net, 4)
    assert [len(g) for g in groups] == sorted((len(g) for g in groups), reverse=True)
    assert len(groups[0]) == len(net.trainable_params()) and len(groups[3]) < len(groups[0])
    sequence = f.generate_freeze_index_sequence(10, 0, 0.7, 100)
    assert len(sequence) == 101 and sequence[:29] == [0] * 20 + list(range(1, 10))


@pytest.mark.parametrize('how', ['delta', 'gradient', 'cell'])
def test_adasum_on_four_ranks(how, mode, tmp_path):
    """Two groups of two ranks; all ranks end with the same result, which matches the formula."""
    here = os.path.dirname(os.path.abspath(__file__))
    ended = ranks.run(os.path.join(here, 'distributed_adasum.py'), [tmp_path, how, mode], 4)
    assert [e.code for e in ended] == [0] * 4, ranks.text(ended)
    found = [dict(np.load(tmp_path / f'{r}.npz')) for r in range(4)]
    for other in found[1:]:
        for name, v in found[0].items():
            np.testing.assert_array_equal(other[name], v, err_msg=name)
    np.testing.assert_allclose(found[0]['weight'], found[0]['expected'], rtol=1e-5, atol=1e-6)
