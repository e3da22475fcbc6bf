"""A training algorithm from a library outside the tree, docs/examples/boost_lookahead, used from Python and from a settings file."""
import os
import subprocess
import sys

import own_library
import pytest

SCRIPT = '''
import ctypes, sys
import numpy as np
import sindri as ms
from sindri import nn
ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
CONFIG = {'boost': {'mode': 'manual', 'less_bn': False, 'grad_freeze': False, 'lookahead': True}, 'lookahead': {'every': 2, 'alpha': 0.25}}
for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    nets = []
    for config in (CONFIG, None):
        ms.set_seed(1)
        net = nn.Dense(3, 2)
        model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), boost_level='O1' if config else 'O0', boost_config_dict=config or '')
        nets.append((net, model.train_network.set_train()))
    x, y = ms.Tensor(np.ones((4, 3), np.float32)), ms.Tensor(np.ones((4, 2), np.float32))
    start = nets[0][0].weight.asnumpy()
    for step in range(2):
        for net, cell in nets:
            cell(x, y)
    fast = nets[1][0].weight.asnumpy()
    np.testing.assert_allclose(nets[0][0].weight.asnumpy(), start + 0.25 * (fast - start), rtol=1e-5)
print('lookahead works')
'''


@pytest.mark.slow
def test_a_library_of_ones_own(tmp_path, missing):
    lib = own_library.build('boost_lookahead/lookahead.cc', str(tmp_path), missing)
    done = subprocess.run([sys.executable, '-c', SCRIPT, lib], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and 'lookahead works' in done.stdout, done.stderr
    told = subprocess.run([sys.executable, '-m', 'sindri', 'boost', 'explain', '--set', 'boost.lookahead.enabled=true'], capture_output=True, text=True,
                          check=True, env={**os.environ, 'SINDRI_LIBRARIES': lib})
    assert '1. lookahead' in told.stdout and 'every 5, alpha 0.5' in told.stdout
