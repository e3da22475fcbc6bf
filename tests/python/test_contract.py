"""Every name that MindSpore scripts use, through `import mindspore`: signatures, values recorded with MindSpore 2.10.0, names that do not exist yet."""
import ast
import importlib
import inspect
import json
import os
import sys

import mindspore as ms
import pytest

import contract_symbols as contract
import sindri
from sindri.common.not_yet import PARTS

NAMES = contract.namespace(ms)
with open(os.path.join(os.path.dirname(__file__), 'expectations', 'contract.json'), encoding='utf-8') as f:
    RECORDED = json.load(f)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def close(ours, theirs):
    """Compares with a tolerance for the last digits of floats."""
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and sorted(ours) == sorted(theirs) and all(close(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(close(a, b) for a, b in zip(ours, theirs))
    if isinstance(theirs, float) and isinstance(ours, float):
        return abs(ours - theirs) <= 2e-5 * max(1.0, abs(theirs)) or ours == theirs or ours != ours and theirs != theirs
    return type(ours) is type(theirs) and ours == theirs


def resolve(name):
    value = ms
    for part in name.split('.'):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize('line', [line for line in contract.SIGNATURES.strip().splitlines()], ids=lambda line: line.split('(')[0])
def test_signature(line):
    """Names and defaults of the first arguments; ours may have more after them."""
    call = ast.parse(f'def f({line.split("(", 1)[1][:-1]}): pass').body[0].args
    ours = [p for p in inspect.signature(resolve(line.split('(')[0])).parameters.values() if p.name != 'self']
    wanted = [a.arg for a in call.args] + [a.arg for a in call.kwonlyargs]
    assert [p.name for p in ours[:len(wanted)]] == wanted
    defaults = dict(zip([a.arg for a in call.args][len(call.args) - len(call.defaults):], call.defaults))
    defaults.update({a.arg: d for a, d in zip(call.kwonlyargs, call.kw_defaults) if d is not None})
    for p in ours[:len(wanted)]:
        if p.name in defaults:
            assert p.default == eval(compile(ast.Expression(defaults[p.name]), line, 'eval'), {'float32': ms.float32}), p.name
        else:
            assert p.default is inspect.Parameter.empty, p.name


@pytest.mark.parametrize('entry', contract.entries(contract.VALUES), ids=lambda e: f'{e[0]}-{len(e[1])}')
def test_value(entry, capsys):
    name, expression = entry
    want = RECORDED[f'{name}: {expression}']
    got = contract.plain(eval(expression, NAMES))
    assert close(got, want), f'\nours    {got}\nrecorded {want}'


@pytest.mark.parametrize('entry', contract.entries(contract.OWN), ids=lambda e: f'{e[0]}-{len(e[1])}')
def test_own(entry):
    name, rest = entry
    expression, want = rest.rsplit(' => ', 1)
    got = contract.plain(eval(expression, NAMES))
    assert close(got, ast.literal_eval(want)), f'\nours {got}\nwant {want}'


@pytest.mark.parametrize('entry', contract.entries(contract.NOT_YET), ids=lambda e: e[0])
def test_not_yet(entry):
    with pytest.raises(ms.NotYetError) as error:
        eval(entry[1], NAMES)
    assert error.value.part in PARTS


MODULES = '''_c_expression _checkparam _extends boost common common.api common.dtype common.initializer common.parameter common.tensor
communication communication.management context dataset dataset.text dataset.transforms dataset.transforms.c_transforms
dataset.vision dataset.vision.c_transforms dtype log mindrecord nn nn.cell nn.layer.activation nn.learning_rate_schedule nn.loss
nn.loss.loss nn.metrics nn.optim nn.optim.momentum nn.optim.optimizer nn.transformer nn.utils nn.wrap nn.wrap.grad_reducer
nn.wrap.loss_scale ops ops.functional ops.operations.comm_ops parallel parallel._auto_parallel_context parallel._utils
parallel.auto_parallel parallel.nn profiler train train._utils train.callback train.dataset_helper train.loss_scale_manager
train.metrics train.model train.serialization train.summary train.train_thor dataset.engine numpy ops.operations ops.composite
runtime version'''.split()


@pytest.mark.parametrize('path', MODULES)
def test_import_paths_lead_to_the_same_modules(path):
    assert importlib.import_module(f'mindspore.{path}') is importlib.import_module(f'sindri.{path}')


def test_the_alias_leaves_modules_as_they_are():
    import mindspore.nn.cell
    module = sys.modules['mindspore.nn.cell']
    assert module is sindri.nn.cell and module.__name__ == 'sindri.nn.cell' and module.__spec__.name == 'sindri.nn.cell'
    assert ms.nn.Cell is sindri.nn.Cell is mindspore.nn.cell.Cell
    assert ms.__version__ == '2.10.0' and 'Tensor' in dir(ms)
    with pytest.raises(AttributeError, match="'mindspore' has no attribute 'nope'"):
        ms.nope
    with pytest.raises(ImportError):
        importlib.import_module('mindspore.nope')
    with pytest.raises(ImportError):
        importlib.import_module('mindspore.nn.nope')
    scope = {}
    exec('from mindspore import *', scope)
    assert scope['Tensor'] is sindri.Tensor and scope['Model'] is sindri.Model
    exec('import mindspore.common.dtype as mstype\nfrom mindspore.nn.optim.momentum import Momentum', scope)
    exec('from mindspore import context, nn, Tensor, ops', scope)
    assert scope['mstype'] is sindri.common.dtype and scope['Momentum'] is sindri.nn.Momentum


def test_all_symbols_are_checked():
    """The tables contain every canonical name that the scripts use."""
    names = {line.split('(')[0] for line in contract.SIGNATURES.strip().splitlines()}
    for table in (contract.VALUES, contract.OWN, contract.NOT_YET):
        names |= {name for name, _ in contract.entries(table)}
    assert len(names) >= 373
    assert sorted(RECORDED) == sorted(f'{n}: {e}' for n, e in contract.entries(contract.VALUES))
