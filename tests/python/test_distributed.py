"""Several ranks, each a Python process: the world, groups, collectives and their gradients, layers and training over ranks, and how a job ends."""
import json
import os
import textwrap

import pytest

import distributed_cases
import ranks

SIZE = 4
HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture(scope='module', params=['CPU', 'GPU'])
def found(request, tmp_path_factory):
    """Returns the cases' results: rank -> {case: '' or a traceback}. All cases run in one job, because starting a job takes longer than they do. GPU: on the
    CUDA backend's
    host run, with its substitute for NCCL (tests/cuda_host)."""
    folder = tmp_path_factory.mktemp('ranks')
    more = {}
    if request.param == 'GPU':
        plugin = request.getfixturevalue('cuda_host')
        more = {'SINDRI_CUDA_PLUGIN': plugin, 'SINDRI_NCCL_LIBRARY': plugin, 'SINDRI_CUDA_HOST': 'devices=4', 'SINDRI_DIST_BACKEND': 'nccl',
                'SINDRI_STRICT_TARGET': '1'}
    ended = ranks.run(os.path.join(HERE, 'distributed_cases.py'), [folder, request.param], SIZE, **more)
    results = {}
    for rank in range(SIZE):
        path = folder / f'{rank}.json'
        results[rank] = json.loads(path.read_text()) if path.exists() else {}
    return ended, results


def test_all_ranks_end_well(found):
    ended, _ = found
    assert [e.code for e in ended] == [0] * SIZE, ranks.text(ended)


@pytest.mark.parametrize('name', distributed_cases.CASES)
def test_case(found, name, mode):
    ended, results = found
    for rank in range(SIZE):
        result = results[rank].get(f'{name}[{mode}]', 'it did not get there: ' + ranks.text(ended))
        assert result == '', f'rank {rank}: {result}'


def script(tmp_path, text):
    path = tmp_path / 'script.py'
    path.write_text(textwrap.dedent(text))
    return str(path)


def test_an_exception_on_one_rank_ends_all(tmp_path):
    """The other ranks are in a call that this rank never enters; they end with exit code 7 and name the rank at fault."""
    path = script(tmp_path, '''
        import time
        import sindri as ms
        from sindri import Tensor, ops
        from sindri.communication import get_rank, init
        init()
        for step in range(50):
            if get_rank() == 1 and step == 3:
                raise KeyError('a file of mine')
            ops.AllReduce()(Tensor([1.0]))
        time.sleep(60)
        ''')
    ended = ranks.run(path, [], 3, limit=40)
    assert [e.code for e in ended] == [7, 1, 7], ranks.text(ended)
    assert 'KeyError' in ended[1].out
    for e in (ended[0], ended[2]):
        assert 'rank 1' in e.out and 'a file of mine' in e.out, ranks.text(ended)


def test_a_killed_rank_ends_all(tmp_path):
    path = script(tmp_path, '''
        import os, signal
        from sindri import Tensor, ops
        from sindri.communication import get_rank, init
        init()
        while True:
            ops.AllReduce()(Tensor([1.0]))
            if get_rank() == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        ''')
    ended = ranks.run(path, [], 2, limit=40)
    assert [e.code for e in ended] == [-9, 7], ranks.text(ended)


def test_a_rank_that_is_missing_is_named(tmp_path):
    path = script(tmp_path, '''
        import os, sys
        from sindri.communication import init
        if os.environ['RANK'] == '1':
            sys.exit(0)
        init()
        ''')
    ended = ranks.run(path, [], 2, limit=40, SINDRI_DIST_INIT_TIMEOUT=2)
    assert ended[0].code == 7 and '1' in ended[0].out.splitlines()[-1] and 'CommError' in ended[0].out, ranks.text(ended)


@pytest.mark.parametrize('code', [0, 3])
def test_a_rank_that_leaves_early(tmp_path, code):
    """With sys.exit() in the middle of a run: no exception, and no end that the others can detect. The rank's exit code is kept, unless it is 0."""
    path = script(tmp_path, f"""
        import sys
        from sindri import Tensor, ops
        from sindri.communication import get_rank, init
        init()
        for step in range(50):
            if get_rank() == 1 and step == 3:
                sys.exit({code})
            ops.AllReduce()(Tensor([1.0]))
        """)
    ended = ranks.run(path, [], 3, limit=20)
    assert [e.code for e in ended] == [7, code or 7, 7], ranks.text(ended)
    assert all('rank 1 calls barrier' in e.out for e in ended) and 'this rank ended' in ended[1].out, ranks.text(ended)


def test_a_rank_tells_the_launcher_its_error(tmp_path):
    """sindri run reads it before it restarts a job."""
    path = script(tmp_path, """
        from sindri import Tensor, ops
        from sindri.communication import get_rank, init
        init()
        ops.AllReduce()(Tensor([1.0])) if get_rank() == 0 else ops.AllGather()(Tensor([1.0, 2.0]))
        """)
    ended = ranks.run(path, [], 2, limit=40, SINDRI_RESULT_FILE=tmp_path / '{rank}.code', SINDRI_DIST_CHECK='true')
    assert [e.code for e in ended] == [7, 7], ranks.text(ended)
    assert [(tmp_path / f'{r}.code').read_text() for r in (0, 1)] == ['7003\n'] * 2, ranks.text(ended)


def test_three_ranks_need_another_order(tmp_path):
    path = script(tmp_path, '''
        import numpy as np, os
        import sindri as ms
        from sindri import Tensor, nn
        from sindri.communication import get_rank, init, release
        init()
        reducer = nn.DistributedGradReducer([ms.Parameter(Tensor([0.0]), name='p')], mean=True)
        try:
            print('mean', reducer((Tensor([3.0 * get_rank()]),))[0].item())
        except ms.CommError as e:
            print(e)
        release()
        ''')
    strict = ranks.run(path, [], 3, limit=40)
    assert [e.code for e in strict] == [0] * 3 and all('strict_order' in e.out for e in strict), ranks.text(strict)
    loose = ranks.run(path, [], 3, limit=40, SINDRI_DIST_STRICT_ORDER='false')
    assert [e.out.strip() for e in loose] == ['mean 3.0'] * 3, ranks.text(loose)


def test_settings_that_a_script_cannot_have_are_told(tmp_path):
    path = script(tmp_path, '''
        from sindri.communication import init, release
        init()
        release()
        ''')
    ended = ranks.run(path, [], 2, limit=40, SINDRI_DIST_BN_MERGE='rank0')
    assert [e.code for e in ended] == [0, 0] and 'dist.bn_merge' in ended[0].out and ended[1].out == '', ranks.text(ended)
    ended = ranks.run(path, [], 2, limit=40, SINDRI_DIST_VIRTUAL_RANKS=4)
    assert [e.code for e in ended] == [7, 7] and 'virtual_ranks is 4' in ended[0].out, ranks.text(ended)
