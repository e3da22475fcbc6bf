"""Compiled calls follow the values that traced code reads from outside: globals, variables of enclosing functions, attributes of plain objects, classes and
modules."""
import argparse
import sys
import types
import warnings

import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, nn, ops

NUMBER, TEXT, TABLE, NOTHING, FUNCTION = 2.0, 'twice', {'k': [2.0]}, None, ops.relu
X = Tensor([1.0, -2.0])


def helper(x):
    return x * NUMBER


class Settings:
    """A plain object with plain attributes."""

    rate = 1.0

    def __init__(self):
        self.k, self.deep, self.inner = 1.0, {'a': [1.0]}, None

    @property
    def doubled(self):
        return 2 * self.k


class Slotted:
    """An object without a dict."""

    __slots__ = ('k',)

    def __init__(self):
        self.k = 1.0


def ways(fn):
    """Returns a function compiled in every available way, as callables that map a tensor to a NumPy array."""
    class Net(nn.Cell):
        def construct(self, x):
            return fn(x)

    jitted, net, outer, gradient = ms.jit(fn), Net(), nn.SequentialCell(Net()), ms.grad(lambda x: fn(x).sum())
    return {'jit': lambda x: jitted(x).asnumpy(), 'cell': lambda x: net(x).asnumpy(), 'nested': lambda x: outer(x).asnumpy(),
            'grad': lambda x: gradient(x).asnumpy() * x.asnumpy()}


WAYS = ('jit', 'cell', 'grad', 'nested')


@pytest.mark.parametrize('way', WAYS)
def test_globals(mode, way, monkeypatch):
    here = sys.modules[__name__]

    def fn(x):
        scale = {'twice': 2.0, 'thrice': 3.0}[TEXT] * TABLE['k'][0] * (1.0 if NOTHING is None else NOTHING)
        return helper(x) * scale

    run = ways(fn)[way]
    np.testing.assert_allclose(run(X), X.asnumpy() * 8)
    monkeypatch.setattr(here, 'NUMBER', 3.0)  # read by a called function
    np.testing.assert_allclose(run(X), X.asnumpy() * 12)
    monkeypatch.setattr(here, 'TEXT', 'thrice')
    np.testing.assert_allclose(run(X), X.asnumpy() * 18)
    monkeypatch.setattr(here, 'NOTHING', 10.0)
    np.testing.assert_allclose(run(X), X.asnumpy() * 180)
    TABLE['k'][0] = 4.0
    try:
        np.testing.assert_allclose(run(X), X.asnumpy() * 360)
    finally:
        TABLE['k'][0] = 2.0
    monkeypatch.setattr(here, 'TABLE', {'k': [1.0]})
    np.testing.assert_allclose(run(X), X.asnumpy() * 90)


def test_a_global_function_that_is_replaced(mode, monkeypatch):
    f = ms.jit(lambda x: FUNCTION(x))
    assert f(X).asnumpy().tolist() == [1, 0]
    monkeypatch.setattr(sys.modules[__name__], 'FUNCTION', ops.neg)
    assert f(X).asnumpy().tolist() == [-1, 2]


@pytest.mark.parametrize('way', WAYS)
def test_variables_around_functions(mode, way):
    k, parts = 2.0, [1.0]

    def inner(x):
        return x * k * parts[0]

    def fn(x):
        return inner(x)

    run = ways(fn)[way]
    np.testing.assert_allclose(run(X), X.asnumpy() * 2)
    k = 5.0
    np.testing.assert_allclose(run(X), X.asnumpy() * 5)
    parts[0] = 2.0
    np.testing.assert_allclose(run(X), X.asnumpy() * 10)


@pytest.mark.parametrize('make', [Settings, Slotted, types.SimpleNamespace, argparse.Namespace])
@pytest.mark.parametrize('held', ['cell', 'closure', 'argument', 'list', 'object'])
def test_attributes_of_plain_objects(mode, make, held):
    settings = make()
    settings.k = 1.0
    box = Settings()
    box.inner = settings

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.settings, self.all, self.box = settings, [settings], box

        def construct(self, x):
            return x * {'cell': lambda: self.settings, 'list': lambda: self.all[0], 'object': lambda: self.box.inner}[held]().k

    net = Net()
    run = {'closure': ms.jit(lambda x: x * settings.k), 'argument': lambda x: by_argument(settings, x)}.get(held, net)
    by_argument = ms.jit(lambda s, x: x * s.k)
    assert run(X).asnumpy().tolist() == [1, -2]
    settings.k = 3.0
    assert run(X).asnumpy().tolist() == [3, -6]
    settings.k = 1.0
    assert run(X).asnumpy().tolist() == [1, -2]


def test_properties_class_attributes_containers_and_replaced_objects(mode, monkeypatch):
    class Net(nn.Cell):
        factor = 1.0

        def __init__(self):
            super().__init__()
            self.settings = Settings()

        def construct(self, x):
            return x * self.settings.doubled * self.settings.rate * self.settings.deep['a'][0] * self.factor

    net = Net()
    assert net(X)[0].item() == 2
    net.settings.k = 2.0
    assert net(X)[0].item() == 4
    monkeypatch.setattr(Settings, 'rate', 3.0)
    assert net(X)[0].item() == 12
    net.settings.deep['a'][0] = 2.0
    assert net(X)[0].item() == 24
    Net.factor = 0.5
    assert net(X)[0].item() == 12
    net.settings = Settings()
    assert net(X)[0].item() == 3


def test_modules_of_settings(mode):
    config = types.ModuleType('own_settings_of_a_test')
    config.k = 2.0
    f = ms.jit(lambda x: x * config.k)
    assert f(X)[0].item() == 2
    config.k = 4.0
    assert f(X)[0].item() == 4


def test_a_class_that_holds_settings(mode):
    class Config:
        k = 2.0

    f = ms.jit(lambda x: x * Config.k)
    assert f(X)[0].item() == 2
    Config.k = 4.0
    assert f(X)[0].item() == 4


def test_what_is_not_read_leads_to_no_other_graph(monkeypatch):
    ms.set_context(mode=ms.GRAPH_MODE)
    traced = []

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.settings = Settings()
            self.settings.calls = 0

        def construct(self, x):
            traced.append(1)
            return x * self.settings.k * NUMBER

    net = Net()
    net(X)
    for i in range(3):
        net.settings.calls += 1
        net.settings.k = float('1.0')  # another object of the same value
        monkeypatch.setattr(sys.modules[__name__], 'TEXT', f'{i}')
        monkeypatch.setattr(sys.modules[__name__], 'NUMBER', float('2.0'))
        net(X)
    assert len(traced) == 1
    net.settings.k = 7.0
    net(X)
    net.settings.k = 1.0
    net(X)
    assert len(traced) == 2, 'an earlier value finds its graph again'


def test_a_value_that_changes_at_every_call_is_named():
    ms.set_context(mode=ms.GRAPH_MODE)
    step = 0
    f = ms.jit(lambda x: x * step)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter('always')
        for step in range(20):
            assert f(X)[0].item() == step
    assert len(told) == 1 and "'step'" in str(told[0].message) and 'as a Tensor' in str(told[0].message)


def test_with_a_profiler_in_force(monkeypatch):
    """A profiler sees the calls itself, so functions are found by the code objects of known functions."""
    seen = []
    sys.setprofile(lambda *event: seen.append(event[1]))
    try:
        f = ms.jit(lambda x: helper(x))
        assert f(X)[0].item() == 2
        monkeypatch.setattr(sys.modules[__name__], 'NUMBER', 3.0)
        assert f(X)[0].item() == 3
        assert sys.getprofile() is not None
    finally:
        sys.setprofile(None)
    assert seen
