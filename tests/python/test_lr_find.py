"""train.lr_find: its suggestion, and that it leaves no trace."""
import csv

import numpy as np
import pytest

import sindri as ms
import train_cases
from sindri import nn, train
from sindri import dataset as ds


def data(rows=256, batch=32):
    rng = np.random.RandomState(0)
    x = rng.randn(rows, 8).astype(np.float32)
    y = (x @ rng.randn(8, 3)).argmax(1).astype(np.int32)
    return ds.NumpySlicesDataset((x, y), ['x', 'y'], shuffle=False).batch(batch)


def model(optimizer=None, seed=3, **kwargs):
    ms.set_seed(seed)
    net = nn.SequentialCell([nn.Dense(8, 32), nn.ReLU(), nn.Dropout(p=0.1), nn.Dense(32, 3)])
    optimizer = optimizer or (lambda params: nn.Momentum(params, 0.05, 0.9))
    return train.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), optimizer(net.trainable_params()), **kwargs)


@pytest.mark.parametrize('mode', [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_the_suggested_rate_trains_and_a_tenth_or_ten_times_trains_less(mode, tmp_path):
    ms.set_context(mode=mode)
    curve = train.lr_find(model(lambda p: nn.SGD(p, 0.05)), data(), num_steps=120)
    assert curve.suggestion is not None and len(curve.rates) == len(curve.losses) == len(curve.smoothed)
    assert curve.rates[0] == pytest.approx(1e-6) and str(curve).startswith(f'LearningRateCurve(suggestion {curve.suggestion:.2g}; ')
    assert curve.losses[0] == pytest.approx(np.log(3), rel=0.3)

    def loss(rate):
        return model(lambda p: nn.SGD(p, rate)).train(4, data())['loss'][-1]
    assert loss(curve.suggestion) < 0.9 * loss(curve.suggestion / 10)
    assert not loss(curve.suggestion) > loss(1000 * curve.suggestion)
    path = tmp_path / 'lr.csv'
    curve.save(path)
    rows = list(csv.DictReader(path.open()))
    assert [float(r['lr']) for r in rows] == pytest.approx(curve.rates) and [float(r['loss']) for r in rows] == pytest.approx(curve.losses)


@pytest.mark.parametrize('scaled', [False, True])
@pytest.mark.parametrize('optimizer', [lambda p: nn.Momentum(p, 0.05, 0.9), lambda p: nn.Adam(p, 0.01)])
def test_a_training_after_it_has_the_bits_of_one_without_it(optimizer, scaled):
    ms.set_context(mode=ms.GRAPH_MODE)
    results = []
    for test_first in (False, True):
        m = model(optimizer, **({'loss_scale_manager': train.DynamicLossScaleManager(1024, 2, 5)} if scaled else {}))
        if test_first:
            train.lr_find(m, data(), num_steps=40)
        history = m.train(2, data())
        results.append((history['loss'], [p.asnumpy() for p in m.train_network.get_parameters()]))
    assert results[0][0] == results[1][0]
    for without, after in zip(results[0][1], results[1][1]):
        np.testing.assert_array_equal(without, after)


def test_what_is_refused():
    with pytest.raises(ValueError, match='one constant rate'):
        train.lr_find(model(lambda p: nn.Momentum(p, nn.CosineDecayLR(0.0, 0.1, 100), 0.9)), data())
    net = train_cases.network(ms, nn)
    with pytest.raises(ValueError, match='no optimizer'):
        train.lr_find(train.Model(net, nn.MSELoss()), data())
    for bad in (dict(lr_min=0.0), dict(lr_min=1.0, lr_max=0.5), dict(num_steps=5), dict(stop_factor=1.0)):
        with pytest.raises(ValueError, match='lr_find|num_steps'):
            train.lr_find(model(), data(), **bad)
    with pytest.raises(TypeError):
        train.lr_find(net, data())
