"""A network and a kind of data from a library outside the tree, docs/examples/own_data, used from a settings file and from Python."""
import os
import subprocess
import sys

import own_library
import pytest

CONFIG = os.path.join(own_library.ROOT, 'docs', 'examples', 'own_data', 'bars.yaml')
SCRIPT = '''
import ctypes, sys
import numpy as np
import sindri as ms
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
assert "glance" in ms.models.names()
net = ms.models.create("glance", features=3, kernel=7)
assert net(ms.Tensor(np.zeros((2, 1, 12, 12), np.float32))).shape == (2, 2)
assert {p.name: p.shape for p in net.get_parameters()}["look.weight"] == (3, 1, 7, 7)
for wrong in ({"kernel": 4}, {"variant": "mindspore"}):
    try:
        ms.models.create("glance", **wrong)
    except ValueError as e:
        print(e)
'''


@pytest.fixture(scope='module', name='lib')
def fixture_lib(tmp_path_factory, missing):
    return own_library.build('own_data/own_data.cc', str(tmp_path_factory.mktemp('own_data')), missing)


def sindri(lib, *arguments):
    return subprocess.run([sys.executable, '-m', 'sindri', *arguments], capture_output=True, text=True, check=False, env={**os.environ, 'SINDRI_LIBRARIES': lib})


@pytest.mark.slow
def test_a_settings_file_trains_them(lib, tmp_path):
    run = str(tmp_path / 'run')
    done = sindri(lib, 'train', '--config', CONFIG, '--quiet', '--set', f'train.run_dir={run}')
    assert done.returncode == 0, done.stderr
    with open(os.path.join(run, 'config.resolved.yaml'), encoding='utf-8') as f:
        resolved = f.read()
    for line in ('name: glance', 'features: 12', 'kernel: 5', 'kind: bars', 'noise: 120', 'count: 512'):
        assert line in resolved
    newest = os.path.join(run, 'checkpoints', sorted(f for f in os.listdir(os.path.join(run, 'checkpoints')) if f.endswith('.ckpt'))[-1])
    measured = sindri(lib, 'eval', '--checkpoint', newest)
    accuracy = [float(line.split()[1]) for line in measured.stdout.splitlines() if line.startswith('accuracy:')]
    assert accuracy and accuracy[0] > 0.95, measured.stdout + measured.stderr


@pytest.mark.slow
@pytest.mark.parametrize('sets, told', [
    (['model.kernel=4'], ['model.kernel: glance: an even kernel has no middle', 'use 3, 5 or 7']),
    (['model.features=0'], ['model.features: expected 1 to 1024, got 0']),
    (['data.noise=156'], ['data.noise: expected 0 to 155, got 156']),
    (['data.kind=digits'], ['data.noise: digits has no such setting', 'use bars']),
    (['data.kind=auto'], ['data.noise: auto has no such setting']),
    (['model.name=lenet'], ['model.features: lenet has no such setting', 'use glance']),
    (['data.kind=bar'], ["did you mean 'bars'"]),
])
def test_what_their_settings_refuse(lib, sets, told):
    done = sindri(lib, 'train', '--config', CONFIG, '--dry-run', *[part for s in sets for part in ('--set', s)])
    assert done.returncode == 2, done.stderr
    for text in told:
        assert text in done.stderr


@pytest.mark.slow
def test_they_are_documented_with_the_others(lib):
    page = sindri(lib, 'train', '--settings-doc').stdout
    assert '| bars | bars that lie or stand, 12x12, grey; made, not read | noise, count |' in page
    assert '| `data.noise` | `100` | whole number, 0 .. 155 |' in page
    assert '| glance | one convolution and one dense layer | features, kernel |' in page
    assert 'glance' in sindri(lib, 'summary').stdout
    assert 'parameters: ' in sindri(lib, 'summary', 'glance', '--set', 'model.features=3').stdout
    without = sindri('', 'train', '--config', CONFIG, '--dry-run')
    assert without.returncode == 2 and 'glance' in without.stderr


@pytest.mark.slow
def test_the_network_from_python(lib):
    done = subprocess.run([sys.executable, '-c', SCRIPT, lib], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 'glance: an even kernel has no middle' in done.stdout and "glance has no setting 'variant'" in done.stdout
