"""Training algorithms from Python: the algorithms that boost_config_dict enables, accumulation and averages in Model, and the training cells."""
import sys

import numpy as np
import pytest

import sindri as ms
from sindri import boost, nn, ops

ACCUMULATE = {'boost': {'mode': 'manual', 'less_bn': False, 'grad_freeze': False, 'grad_accumulation': True}, 'grad_accumulation': {'grad_accumulation_step': 3}}


def config(**algorithms):
    """Returns a manual configuration with these algorithms and their settings."""
    out = {'boost': {'mode': 'manual', 'less_bn': False, 'grad_freeze': False}}
    for name, settings in algorithms.items():
        out['boost'][name] = True
        out[name] = settings
    return out


class Net(nn.Cell):
    """Dense and batch norm."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 4)
        self.bn = nn.BatchNorm1d(4)
        self.head = nn.Dense(4, 2)

    def construct(self, x):
        return self.head(ops.relu(self.bn(self.dense(x))))


def data(rows=24, batch=4, shuffle=False):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(rows, 3)).astype(np.float32)
    y = (x.sum(axis=1) > 0).astype(np.int32)
    return ms.dataset.NumpySlicesDataset({'x': x, 'y': y}, shuffle=shuffle).batch(batch, drop_remainder=True)


def batches():
    return [tuple(row) for row in data().create_tuple_iterator(num_epochs=1)]


def make_model(boost_config=None, seed=5, **kwargs):
    ms.set_seed(seed)
    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9, weight_decay=1e-3)
    level = 'O0' if boost_config is None else 'O1'
    return ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), optimizer, boost_level=level,
                    boost_config_dict=boost_config or '', **kwargs)


def values(cell):
    return {p.name: p.asnumpy().copy() for p in cell.get_parameters()}


def test_an_algorithm_of_a_level_that_does_nothing_here_is_told_of(capfd):
    net = ms.nn.Dense(4, 2)
    ms.Model(net, ms.nn.MSELoss(), ms.nn.Momentum(net.trainable_params(), 0.1, 0.9), boost_level='O2',
             boost_config_dict={'boost': {'mode': 'manual', 'less_bn': False, 'grad_freeze': False}})
    assert capfd.readouterr().err.count('adasum is not applied: there is only one rank') == 1


def test_a_training_without_an_update_is_warned_of(capfd):
    def said(epochs, steps):
        make_model(config(grad_accumulation={'grad_accumulation_step': steps})).train(epochs, data())
        return 'no weight will change: ' in capfd.readouterr().err

    assert said(2, 13)  # of six steps per epoch
    assert not said(2, 12)


def test_other_weights_keep_the_step():
    step = make_model(config(average={})).train_network._boost_step
    before = sys.getrefcount(step)
    scope = step.other_weights('average')
    assert sys.getrefcount(step) == before + 1
    with scope:
        pass


def test_auto_boost_reads_the_schema():
    assert boost.AutoBoost().algorithms == []
    assert boost.AutoBoost('O1', ACCUMULATE).algorithms == [('grad_accumulation', {'step': 3})]
    assert boost.AutoBoost('O2', {'boost': {'mode': 'disable_all'}}).algorithms == []
    named = boost.AutoBoost('O1', config(average={'decay': 0.5, 'warmup': False}))
    assert named.algorithms == [('average', {'decay': 0.5, 'warmup': False})]


LEVELS = {'O0': (), 'O1': ('grad_freeze', 'less_bn'), 'O2': ('adasum', 'grad_freeze', 'less_bn')}


@pytest.mark.parametrize('level', LEVELS)
def test_levels_and_modes(level):
    def names(**switches):
        return tuple(sorted(name for name, _ in boost.AutoBoost(level, {'boost': switches} if switches else '').algorithms))

    assert names() == LEVELS[level]
    assert names(mode='auto', less_bn=False) == LEVELS[level]  # switches apply in manual mode only
    assert names(mode='disable_all') == ()
    if level == 'O0':
        assert names(mode='enable_all') == names(mode='manual', adasum=True) == ()
        return
    assert names(mode='enable_all') == ('dim_reduce',)
    assert names(mode='manual') == LEVELS[level]
    assert names(mode='manual', grad_freeze=False, adasum=True) == ('adasum', 'less_bn')
    assert names(mode='manual', grad_accumulation=True) == tuple(sorted((*LEVELS[level], 'grad_accumulation')))
    assert names(mode='manual', dim_reduce=True, adasum=True) == ('dim_reduce',)
    assert boost.AutoBoost(level, {'boost': {'mode': 'manual', 'loss_scale_group': True}}).loss_scale_group


def test_names_and_values_of_the_seeds():
    found = boost.AutoBoost('O1', {'boost': {'mode': 'manual', 'dim_reduce': True}, 'common': {'device_num': 8},
                                   'dim_reduce': {'rho': 0.55, 'gamma': 0.9, 'alpha': 0.001, 'sigma': 0.4, 'n_component': 32, 'pca_mat_path': None,
                                                  'weight_load_dir': './checkpoint_pca', 'timeout': 1200}}).algorithms
    assert found == [('dim_reduce', {'rho': 0.55, 'gamma': 0.9, 'alpha': 0.001, 'sigma': 0.4, 'n_components': 32, 'weight_load_dir': './checkpoint_pca',
                                     'search': 'backtrack'})]  # rho is given, so it takes precedence
    named = dict(boost.AutoBoost('O2', {'boost': {'mode': 'manual', 'adasum': True}, 'common': {'device_number': 4}}).algorithms)
    assert named['adasum'] == {'device_number': 4, 'alone': 'stop'}
    assert dict(boost.AutoBoost('O2').algorithms)['adasum'] == {'device_number': 0, 'alone': 'warn'}


def test_two_models_do_not_share_a_configuration():
    first = boost.AutoBoost('O2', {'boost': {'mode': 'manual', 'less_bn': False}})
    second = boost.AutoBoost('O1')
    assert sorted(n for n, _ in second.algorithms) == ['grad_freeze', 'less_bn']
    assert sorted(n for n, _ in first.algorithms) == ['adasum', 'grad_freeze']
    assert boost.AutoBoost('O0').algorithms == []


@pytest.mark.parametrize('text, section', [
    ('dim_reduce.rho', {'dim_reduce': {'rho': 1.0}}), ('dim_reduce.gamma', {'dim_reduce': {'gamma': 1.0}}), ('dim_reduce.alpha', {'dim_reduce': {'alpha': -0.1}}),
    ('dim_reduce.sigma', {'dim_reduce': {'sigma': 0.0}}), ('dim_reduce.n_components', {'dim_reduce': {'n_component': 0}}), ('timeout', {'dim_reduce': {'timeout': 0}}),
    ('grad_freeze.param_groups', {'grad_freeze': {'param_groups': 0}}), ('grad_freeze.freeze_p', {'grad_freeze': {'freeze_p': 1.0}}),
    ('grad_freeze.freeze_type', {'grad_freeze': {'freeze_type': 2}}), ('grad_freeze.total_steps', {'grad_freeze': {'total_steps': 0}}),
    ('grad_accumulation.step', {'grad_accumulation': {'grad_accumulation_step': 0}}), ('gradient_split_groups', {'common': {'gradient_split_groups': [50, 20]}}),
    ('common.device_number', {'common': {'device_number': 0}}),
])
def test_values_out_of_range_are_named(text, section):
    name = next(iter(section))
    switch = {'common': 'adasum'}.get(name, name)
    with pytest.raises(ValueError, match=text):
        boost.AutoBoost('O1', {'boost': {'mode': 'manual', switch: True, 'less_bn': False, 'grad_freeze': switch == 'grad_freeze'}, **section})


@pytest.mark.parametrize('kind, text, bad', [
    (ValueError, "'level'", ('O3', '')),
    (ValueError, "'mode'", ('O1', {'boost': {'mode': 'all'}})),
    (ValueError, "did you mean 'grad_accumulation'", ('O1', {'grad_acumulation': {}})),
    (ValueError, "did you mean 'average'", ('O1', {'boost': {'mode': 'manual', 'averag': True}})),
    (ValueError, "the key of 'grad_accumulation' 'steps'", ('O1', {'grad_accumulation': {'steps': 2}})),
    (ValueError, "the key of 'common' 'devices'", ('O1', {'common': {'devices': 8}})),
    (TypeError, 'must be dict', ('O1', [1])),
    (TypeError, 'must be a bool', ('O1', {'boost': {'mode': 'manual', 'less_bn': 1}})),
])
def test_auto_boost_refuses(kind, text, bad):
    with pytest.raises(kind, match=text):
        boost.AutoBoost(*bad)


def test_settings_are_checked():
    with pytest.raises(ValueError, match='grad_accumulation.step: expected 1 to 65536, got 0'):
        make_model(config(grad_accumulation={'grad_accumulation_step': 0}))
    with pytest.raises(TypeError, match='the setting decay must be .* got None of type NoneType'):
        make_model(config(average={'decay': None}))
    with pytest.raises(ValueError, match="'grad_accumulation_step' and 'step', which are the same setting"):
        make_model(config(grad_accumulation={'grad_accumulation_step': 2, 'step': 3}))
    given = {'every': np.int64(2), 'decay': np.float32(0.5), 'warmup': np.bool_(False)}
    assert make_model(config(average=given)).train_network.boost_algorithms == ['average']
    with pytest.raises(ValueError, match='eval_weights'):
        make_model(ACCUMULATE, eval_weights='average')
    with pytest.raises(ValueError, match="'grad_accumulation' keeps weights"):
        make_model(ACCUMULATE, eval_weights='grad_accumulation')


def test_accumulation_updates_with_the_mean(mode):
    model = make_model(ACCUMULATE)
    cell = model.train_network.set_train()
    assert isinstance(cell, boost.BoostTrainOneStepCell) and cell.boost_algorithms == ['grad_accumulation']
    by_hand = make_model().train_network.set_train()
    start = values(cell.network)
    for update in range(2):
        total = None
        for i, batch in enumerate(batches()[3 * update:3 * update + 3]):
            loss = cell(*batch)
            grads = by_hand.grad_no_sens(by_hand.network, by_hand.weights)(*batch)
            np.testing.assert_allclose(loss.asnumpy(), by_hand.network(*batch).asnumpy(), rtol=1e-5)
            total = [g / 3 for g in grads] if i == 0 else [t + g / 3 for t, g in zip(total, grads)]
            if i < 2:
                assert all((values(cell.network)[p.name] == start[p.name]).all() for p in cell.weights)
        by_hand.optimizer(tuple(total))
        start = values(cell.network)
        for p in by_hand.weights:
            np.testing.assert_allclose(start[p.name], p.asnumpy(), rtol=1e-5, atol=1e-6)
    assert {'accumulation_step', 'grad_accumulation.dense.weight'} <= set(cell.parameters_dict())


def test_modes_agree_bit_for_bit():
    results = []
    for run_mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=run_mode)
        model = make_model(config(grad_accumulation={'grad_accumulation_step': 4}, average={'decay': 0.9}),
                           loss_scale_manager=ms.DynamicLossScaleManager(2 ** 10, 2, 3))
        model.train(3, data(), dataset_sink_mode=False)
        results.append(values(model.train_network))
    assert results[0].keys() == results[1].keys()
    for name, value in results[0].items():
        np.testing.assert_array_equal(value, results[1][name], err_msg=name)


def test_a_group_that_overflows_is_left_out(mode):
    model = make_model(ACCUMULATE, loss_scale_manager=ms.DynamicLossScaleManager(1024, 2, 100))
    cell = model.train_network.set_train()
    assert isinstance(cell, boost.BoostTrainOneStepWithLossScaleCell)
    start = values(cell)
    for i, (x, y) in enumerate(batches()[:3]):
        out = cell(ms.Tensor(np.full(x.shape, np.inf, np.float32)) if i == 1 else x, y)
        assert len(out) == 3
    assert float(cell.scale_sense.asnumpy()) == 512
    for p in cell.weights:
        np.testing.assert_array_equal(p.asnumpy(), start[p.name])
    for batch in batches()[3:6]:
        cell(*batch)
    assert float(cell.scale_sense.asnumpy()) == 512
    assert (cell.weights[0].asnumpy() != start[cell.weights[0].name]).any()


def test_average_evaluates_and_saves_either_weights(mode, tmp_path):
    model = make_model(config(average={'decay': 0.9, 'warmup': False}), metrics={'loss'}, eval_weights='average')
    model.train(2, data(), dataset_sink_mode=False)
    cell = model.train_network
    trained = values(cell.network)
    with boost.averaged_weights(cell):
        averaged = values(cell.network)
        ms.save_checkpoint(model.predict_network, str(tmp_path / 'averaged.ckpt'))
    for name, value in values(cell.network).items():
        np.testing.assert_array_equal(value, trained[name])
        np.testing.assert_array_equal(averaged[name], cell.parameters_dict()[f'average.{name}'].asnumpy())
    assert any((averaged[name] != trained[name]).any() for name in trained)
    plain = make_model(metrics={'loss'})
    ms.load_param_into_net(plain.predict_network, ms.load_checkpoint(str(tmp_path / 'averaged.ckpt')), strict_load=True)
    assert plain.eval(data(), dataset_sink_mode=False) == model.eval(data(), dataset_sink_mode=False)
    assert cell.boost_columns() == {'averaged_updates': 12.0}


def test_batch_norm_is_measured_for_the_average(mode):
    model = make_model(config(average={'kind': 'swa', 'bn_batches': 6}))
    model.train(1, data(), dataset_sink_mode=False)
    net = model.train_network.network.backbone_network
    with boost.averaged_weights(model.train_network):
        rows = [net.dense(x).asnumpy() for x, _ in batches()]
        np.testing.assert_allclose(net.bn.moving_mean.asnumpy(), np.mean([r.mean(axis=0) for r in rows], axis=0), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(net.bn.moving_variance.asnumpy(), np.mean([r.var(axis=0, ddof=1) for r in rows], axis=0), rtol=1e-4, atol=1e-5)


def test_files_hold_the_statistics_of_the_average(mode, tmp_path):
    model = make_model(config(average={'bn_batches': 3, 'decay': 0.5}))
    saves = ms.ModelCheckpoint('net', str(tmp_path), ms.CheckpointConfig(save_checkpoint_steps=6))  # the steps of an epoch
    model.train(2, data(), callbacks=saves, dataset_sink_mode=False)
    file, cell = ms.load_checkpoint(str(tmp_path / 'net-2_6.ckpt')), model.train_network.parameters_dict()
    averages = [name for name in cell if name.startswith('average.')]
    assert any('mean' in name for name in averages)
    for name in averages:
        np.testing.assert_array_equal(file[name].asnumpy(), cell[name].asnumpy(), err_msg=name)


def test_refusals(mode):
    model = make_model()
    with pytest.raises(ValueError, match='no training algorithms'), boost.averaged_weights(model.train_network):
        pass
    accumulating = make_model(ACCUMULATE).train_network
    for name in ('average', 'grad_accumulation'):
        with pytest.raises(ValueError, match=name), boost.averaged_weights(accumulating, name):
            pass
    with pytest.raises(TypeError, match='AutoBoost'):
        boost.BoostTrainOneStepCell(Net(), nn.Momentum(Net().trainable_params(), 0.1, 0.9), boost='O1')


# Users' training cells, in the styles of the official scripts.


class Clipping(nn.TrainOneStepCell):
    """Overrides construct and uses the base's attributes."""

    def construct(self, *inputs):
        loss = self.network(*inputs)
        sens = ops.fill(loss.dtype, loss.shape, self.sens)
        grads = self.grad(self.network, self.weights)(*inputs, sens)
        grads = ops.clip_by_global_norm(grads, 0.1)
        grads = self.grad_reducer(grads)
        self.optimizer(grads)
        return loss


class Halving(nn.TrainOneStepCell):
    """Replaces a stage through its attribute."""

    def __init__(self, network, optimizer):
        super().__init__(network, optimizer)
        self.grad_reducer = Half()


class Half(nn.Cell):
    def construct(self, grads):
        return tuple(g * 0.5 for g in grads)


class NeverOverflows(nn.TrainOneStepWithLossScaleCell):
    """Overrides one method of the overflow check."""

    calls = 0

    def get_overflow_status(self, status, compute_output):
        type(self).calls += 1
        return ms.Tensor(False)


class BertStyle(nn.TrainOneStepWithLossScaleCell):
    """Overrides construct as the BERT scripts do."""

    def construct(self, x, y, sens=None):
        loss = self.network(x, y)
        scaling_sens = self.scale_sense if sens is None else sens
        status, scaling_sens = self.start_overflow_check(loss, scaling_sens)
        grads = self.grad(self.network, self.weights)(x, y, ops.cast(scaling_sens, ms.float32))
        grads = self.hyper_map(ops.partial(nn.wrap.loss_scale._grad_scale, scaling_sens), grads)
        grads = self.grad_reducer(grads)
        cond = self.get_overflow_status(status, grads)
        overflow = self.process_loss_scale(cond)
        if not overflow:
            self.optimizer(grads)
        return loss, cond, scaling_sens.value()


def trained(make, steps=4):
    ms.set_seed(5)
    net = nn.WithLossCell(Net(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'))
    cell = make(net, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()
    out = [cell(*batch) for batch in batches()[:steps]]
    return cell, out


def test_a_subclass_with_its_own_construct(mode):
    cell, losses = trained(Clipping)
    plain, plain_losses = trained(nn.TrainOneStepCell)
    assert float(losses[0].asnumpy()) == float(plain_losses[0].asnumpy())
    assert any((a.asnumpy() != b.asnumpy()).any() for a, b in zip(cell.weights, plain.weights))


def test_a_replaced_reducer_is_the_stage(mode):
    cell, _ = trained(Halving, 1)
    plain, _ = trained(nn.TrainOneStepCell, 1)
    ms.set_seed(5)
    start = nn.WithLossCell(Net(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')).trainable_params()
    for a, b, p in zip(cell.weights, plain.weights, start):
        np.testing.assert_allclose(a.asnumpy() - p.asnumpy(), 0.5 * (b.asnumpy() - p.asnumpy()), rtol=1e-3, atol=1e-7)


def test_an_overridden_overflow_check_is_asked(mode):
    NeverOverflows.calls = 0
    trained(lambda net, opt: NeverOverflows(net, opt, nn.DynamicLossScaleUpdateCell(64.0, 2, 100)), 2)
    assert NeverOverflows.calls >= 1


def test_the_loss_scale_cell_of_the_scripts_equals_the_shared_stages(mode):
    cell, _ = trained(lambda net, opt: BertStyle(net, opt, nn.DynamicLossScaleUpdateCell(64.0, 2, 3)))
    shared, _ = trained(lambda net, opt: nn.TrainOneStepWithLossScaleCell(net, opt, nn.DynamicLossScaleUpdateCell(64.0, 2, 3)))
    for a, b in zip(cell.weights, shared.weights):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-7)
    assert float(cell.scale_sense.asnumpy()) == float(shared.scale_sense.asnumpy()) == 128


def test_adaptive_clip_holds_all_but_the_excepted():
    """A ratio of 1e-9 of the weights leaves every clipped parameter unchanged."""
    model = make_model(config(adaptive_clip={'clipping': 1e-9, 'except': 'head'}), amp_level='O0')
    before = values(model.train_network.network)
    model.train(1, data(), dataset_sink_mode=False)
    after = values(model.train_network.network)
    moved = {name for name in before if not np.allclose(before[name], after[name], rtol=0, atol=1e-2)}
    assert any('head' in name for name in moved)
    assert not [name for name in moved if 'dense' in name]


def test_adaptive_clip_sees_gradients_without_the_loss_scale():
    """A scale that is a power of two changes only exponents, whichever part divides by it."""
    def trained(optimizer_scale=1.0, **kwargs):
        ms.set_seed(5)
        net = Net()
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9, loss_scale=optimizer_scale)
        model = ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), optimizer, boost_level='O1',
                         boost_config_dict=config(adaptive_clip={'clipping': 0.05}), **kwargs)
        model.train(1, data(), dataset_sink_mode=False)
        return values(net)

    plain = trained()
    for scaled in (trained(loss_scale_manager=ms.FixedLossScaleManager(1024.0)),
                   trained(1024.0, loss_scale_manager=ms.FixedLossScaleManager(1024.0, drop_overflow_update=False))):
        for name, value in plain.items():
            np.testing.assert_array_equal(scaled[name], value, err_msg=name)


def test_sam_takes_its_gradients_where_the_first_lead(mode):
    """Compared with the same step by hand: the loss and batch norm's moving statistics are those of the first pass."""
    cell = make_model(config(sam={'rho': 0.3})).train_network.set_train()
    by_hand = make_model().train_network.set_train()
    for batch in batches()[:3]:
        loss = cell(*batch)
        np.testing.assert_allclose(loss.asnumpy(), by_hand.network(*batch).asnumpy(), rtol=1e-5)
        before = values(by_hand.network)
        gradients = by_hand.grad_no_sens(by_hand.network, by_hand.weights)
        first = [g.asnumpy() for g in gradients(*batch)]
        norm = np.sqrt(sum(float((g.astype(np.float64) ** 2).sum()) for g in first))
        for p, g in zip(by_hand.weights, first):
            p.set_data(ms.Tensor(before[p.name] + np.float32(0.3 / norm) * g))
        second = gradients(*batch)
        for p in by_hand.network.get_parameters():
            p.set_data(ms.Tensor(before[p.name]))
        by_hand.optimizer(second)
        for name, value in values(by_hand.network).items():
            np.testing.assert_allclose(cell.network.parameters_dict()[name].asnumpy(), value, rtol=1e-4, atol=1e-6, err_msg=name)


def test_sam_below_rounding_changes_nothing(mode):
    """Weights, batch norm's moving statistics, dropout's random numbers, losses: the state that the second pass could change."""
    results = []
    for rho in (0.0, 1e-30):
        ms.set_seed(5)
        net = nn.WithLossCell(nn.SequentialCell(Net(), nn.Dropout(p=0.5)), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'))
        cell = boost.BoostTrainOneStepWithLossScaleCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9), nn.DynamicLossScaleUpdateCell(64.0, 2, 3),
                                                        boost.AutoBoost('O1', config(sam={'rho': rho}))).set_train()
        assert cell.boost_algorithms == (['sam'] if rho else [])
        losses = [float(cell(*batch)[0].asnumpy()) for batch in batches()]
        results.append((losses, values(cell)))
    assert results[0][0] == results[1][0]
    for name, value in results[0][1].items():
        np.testing.assert_array_equal(value, results[1][1][name], err_msg=name)


def test_an_optimizer_of_parameters_that_are_gone_is_told(capfd):
    """less_bn of a first Model changes the network in place; a second Model gets an optimizer from before this change."""
    class Block(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv1, self.bn1, self.conv2, self.bn2 = nn.Conv2d(3, 3, 3), nn.BatchNorm2d(3), nn.Conv2d(3, 3, 3), nn.BatchNorm2d(3)
            self.conv3, self.bn3 = nn.Conv2d(3, 3, 3), nn.BatchNorm2d(3)

        def construct(self, x):
            return self.bn3(self.conv3(self.bn2(self.conv2(self.bn1(self.conv1(x))))))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.block, self.flatten, self.fc = Block(), nn.Flatten(), nn.Dense(3 * 64, 4)

        def construct(self, x):
            return self.fc(self.flatten(self.block(x)))

    net, loss = Net(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    ms.train.Model(net, loss, optimizer, boost_level="O1", boost_config_dict={"boost": {"mode": "manual", "less_bn": True, "grad_freeze": False}})
    assert "does not have" not in capfd.readouterr().err
    ms.train.Model(net, loss, optimizer)
    assert "parameters that the network does not have (the first is 'block.bn1.gamma')" in capfd.readouterr().err
