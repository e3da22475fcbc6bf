"""Log lines, argument checks, the process group with one rank, parallel settings, private modules of older samples."""
import hashlib
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import sindri as ms
import train_cases
from sindri import Tensor, _checkparam, context, log, nn
from sindri.parallel import Layout, _utils
from sindri.parallel._auto_parallel_context import auto_parallel_context

LINE = r'\[{level}\] ME\(\d+:\d+,MainProcess\):\d{{4}}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{{3}}\.\d{{3}} \[{path}:\d+\] {text}'


@pytest.fixture
def fresh_log(monkeypatch):
    log._reset()
    yield monkeypatch
    monkeypatch.undo()
    log._reset()


def test_log_lines(fresh_log, capsys):
    log.info('not shown')
    log.warning('shown %s', 1)
    nn.Dense(3, 2)
    log.error('and this')
    lines = capsys.readouterr().err.splitlines()
    path = re.escape(os.path.abspath(__file__))
    assert len(lines) == 2
    assert re.fullmatch(LINE.format(level='WARNING', path=path, text='shown 1'), lines[0]), lines[0]
    assert re.fullmatch(LINE.format(level='ERROR', path=path, text='and this'), lines[1]), lines[1]


def test_lines_of_the_package_name_files_from_its_root(fresh_log, capsys):
    ms.load_param_into_net(nn.Dense(3, 2), {})
    first = capsys.readouterr().err.splitlines()[0]
    assert re.match(LINE.format(level='WARNING', path=r'train/serialization\.py', text="For 'load_param_into_net', 2 parameters"), first), first


@pytest.mark.parametrize('level, shown', [('0', 5), ('1', 4), ('3', 2), ('4', 1)])
def test_levels(fresh_log, capsys, level, shown):
    fresh_log.setenv('GLOG_v', level)
    for f in (log.debug, log.info, log.warning, log.error, log.critical):
        f('text')
    assert len(capsys.readouterr().err.splitlines()) == shown and log.get_level() == level


def test_a_warning_can_be_said_once(fresh_log, capsys):
    for _ in range(3):
        log.warning_once('only %s', 'once')
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_what_has_no_effect_is_said_once(fresh_log, capsys):
    from sindri.common import no_effect

    def said():
        return capsys.readouterr().err

    kept = {key: ms.get_context(key) for key in no_effect.CONTEXT_KEYS}
    try:
        for key, instead in no_effect.CONTEXT_KEYS.items():
            other = not kept[key] if isinstance(kept[key], bool) else {**kept[key], 'x': 1} if isinstance(kept[key], dict) else 7 if isinstance(kept[key], int) else 'O1'
            ms.set_context(**{key: kept[key]})
            assert not said(), key
            ms.set_context(**{key: other})
            text = said()
            assert f'set_context({key}=' in text and instead in text, key
            ms.set_context(**{key: other})
            assert not said(), key
    finally:
        ms.set_context(**kept)
    cell = nn.Dense(2, 2)
    assert cell.shard(((1, 1),)) is cell and 'Cell.shard' in said()
    ms.dataset.DatasetCache(1)
    assert 'DatasetCache' in said()
    rows = ms.dataset.NumpySlicesDataset({'x': np.ones(4, np.float32)})
    rows.batch(2, per_batch_map=lambda x, info: (x,), python_multiprocessing=True)
    assert 'batch(python_multiprocessing=True)' in said()
    ms.dataset.GeneratorDataset([(1,)], ['x'], num_parallel_workers=2)
    assert 'GeneratorDataset' in said()
    ms.dataset.GeneratorDataset([(1,)], ['x'])
    assert not said()
    ms.profiler.profile(start_profile=False, with_stack=True)
    assert "option 'with_stack'" in said()
    ms.boost.AutoBoost('O1', {'boost': {'mode': 'manual', 'less_bn': True, 'grad_freeze': False}, 'less_bn': {'gradient_split_groups': [1, 2]}})
    assert 'gradient_split_groups' in said()
    ms.set_auto_parallel_context(grad_accumulation_step=2)
    ms.reset_auto_parallel_context()
    assert 'grad_accumulation_step' in said()


def test_log_into_files(fresh_log, tmp_path, capsys):
    fresh_log.setenv('GLOG_logtostderr', '0')
    fresh_log.setenv('GLOG_log_dir', str(tmp_path))
    fresh_log.setenv('RANK_ID', '3')
    log.warning('into the file')
    name, = os.listdir(tmp_path / 'rank_3' / 'logs')
    assert name.startswith('mindspore.log.') and 'into the file' in (tmp_path / 'rank_3' / 'logs' / name).read_text()
    assert capsys.readouterr().err == ''
    assert log.get_log_config() == {'GLOG_v': '2', 'GLOG_logtostderr': '0', 'GLOG_log_dir': str(tmp_path), 'logger_maxBytes': '52428800',
                                    'logger_backupCount': '30'}


@pytest.mark.parametrize('name, value', [('GLOG_v', '7'), ('GLOG_logtostderr', 'yes')])
def test_bad_log_settings(fresh_log, name, value):
    fresh_log.setenv(name, value)
    with pytest.raises(ValueError, match=name):
        log.warning('text')


def test_the_checkpoint_form_that_mindspore_was_seen_to_read(tmp_path):
    """MindSpore 2.10.0 read exactly these bytes back to equal values (tests/reference/check_checkpoints.py), with and without crc_check."""
    append = {'epoch_num': 3, 'lr': 0.25, 'flag': True, 'note': 'héllo'}
    for compat, digest in ((False, DIGEST), (True, DIGEST_COMPAT)):
        path = tmp_path / f'{compat}.ckpt'
        ms.save_checkpoint(train_cases.checkpoint_entries(ms), str(path), append_dict=append, compat_mindspore1=compat)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest


DIGEST = '0d010bab20fd5492aa1471058eff741b8ec7c10131c98146742a5f9856e9e6bb'
DIGEST_COMPAT = 'd338cdf2a052fcaec10291e355055adfc17de6f6d2b22e4187e7beb8dc87d9bb'


def test_validator_of_both_eras():
    old = _checkparam.Validator
    assert old.check_positive_int(3, 'a', 'P') == _checkparam.check_positive_int(3) == 3
    for call, error in ((lambda: old.check_positive_int(0, 'a', 'P'), ValueError), (lambda: old.check_positive_int(True, 'a', 'P'), TypeError),
                        (lambda: old.check_positive_int('3', 'a', 'P'), TypeError), (lambda: old.check_positive_float(float('nan'), 'a', 'P'),
                                                                                     ValueError),
                        (lambda: old.check_int_range(5, 1, 5, _checkparam.Rel.INC_LEFT, 'a', 'P'),
                         ValueError), (lambda: old.check_bool(1, 'a', 'P'), TypeError),
                        (lambda: old.check_value_type('a', True, [int], 'P'), TypeError), (lambda: old.check_string('c', ['a'], 'x', 'P'),
                                                                                           ValueError),
                        (lambda: old.check('a', 1, 'b', 2, _checkparam.Rel.EQ, 'P'),
                         ValueError), (lambda: old.check_subclass('a', str, [int], 'P'), TypeError)):
        with pytest.raises(error, match="For 'P', '(a|x)'"):
            call()
    assert old.check_value_type('a', None, [int, None], 'P') is None and old.twice((1, 2)) == (1, 2)
    with pytest.raises(ValueError):
        old.check_file_name_by_regular('a/')


def test_validator_of_the_first_versions():
    """The order and the names up to 1.0, with the argument's name first. The classes accept the order from 1.1 on, too."""
    from sindri._checkparam import (ParamValidator, Rel, Validator, check_int_non_negative, check_int_positive, check_int_zero_one, check_padding,
                                    check_shape, check_type, check_typename)
    v, nan = Validator, float('nan')
    for call, value in ((lambda: v.check_integer('a', 3, 0, Rel.GT, 'P'), 3), (lambda: v.check_int_range('a', 3, 1, 3, Rel.INC_RIGHT, 'P'), 3),
                        (lambda: v.check_int_range(3, 1, 3, Rel.INC_RIGHT, 'a', 'P'), 3), (lambda: v.check_number('a', 0.5, 0, Rel.GE, 'P'), 0.5),
                        (lambda: v.check_number_range('a', 0.5, 0, 1, Rel.INC_LEFT, 'P'), 0.5),
                        (lambda: v.check_number_range(0.5, 0.0, 1.0, Rel.INC_LEFT, float, 'a', 'P'), 0.5),
                        (lambda: v.check_float_positive('a', 0.5, 'P'), 0.5), (lambda: v.check_float_legal_value('a', -0.5, 'P'), -0.5),
                        (lambda: v.check_string('a', 'x', ['x', 'y'], 'P'), 'x'), (lambda: v.check_string('x', ['x', 'y'], 'a', 'P'), 'x'),
                        (lambda: v.check_value_on_integer('a', 'x', 3, Rel.EQ, 'P'), 'x'), (lambda: v.check_param_equal('a', 1, 'b', 1), 1),
                        (lambda: v.check_const_input('a', 0, 'P'), 0), (lambda: v.check_int(3), 3), (lambda: v.check_int(3, 0, Rel.GT, 'a', 'P'), 3),
                        (lambda: v.check_int('a', 3, 0, Rel.GT, 'P'), 3), (lambda: v.check_tensor_type_same({'a': ms.float32}, (ms.float32,), 'P'), None),
                        (lambda: ParamValidator.equal('a', 3, 'odd', True), 3), (lambda: ParamValidator.check_shape_length('a', (1, 2), 2, Rel.EQ), (1, 2)),
                        (lambda: check_int_positive(1), 1), (lambda: check_int_non_negative(0), 0), (lambda: check_int_zero_one(1), 1),
                        (lambda: check_padding(0), 0), (lambda: check_shape('a', [1, 2]), [1, 2]), (lambda: check_type('a', 1, [int]), 1),
                        (lambda: check_typename('a', ms.float32, [ms.float32]), ms.float32)):
        assert call() == value
    for call, error in ((lambda: v.check_integer('a', 0, 0, Rel.GT, 'P'), ValueError), (lambda: v.check_integer('a', 1.0, 0, Rel.GT, 'P'), TypeError),
                        (lambda: v.check_int_range('a', 1, 1, 3, Rel.INC_RIGHT, 'P'), ValueError),
                        (lambda: v.check_number_range('a', 1, 0, 1, Rel.INC_LEFT, 'P'), ValueError),
                        (lambda: v.check_float_positive('a', 0.0, 'P'), ValueError), (lambda: v.check_float_positive('a', 1, 'P'), TypeError),
                        (lambda: v.check_float_legal_value('a', nan, 'P'), ValueError), (lambda: v.check_float_legal_value('a', 1, 'P'), TypeError),
                        (lambda: v.check_string('a', 'z', ['x'], 'P'), ValueError), (lambda: v.check_const_input('a', None, 'P'), ValueError),
                        (lambda: v.check_value_on_integer('a', 4, 3, Rel.EQ, 'P'), ValueError),
                        (lambda: v.check_tensor_type_same({'a': ms.int8}, (ms.float32,), 'P'), TypeError)):
        with pytest.raises(error, match="For 'P', 'a'"):
            call()
    for call, error in ((lambda: v.check_param_equal('a', 1, 'b', 2), ValueError), (lambda: ParamValidator.equal('a', 4, 'odd', False), ValueError),
                        (lambda: ParamValidator.check_shape_length('a', (1, 2), 1, Rel.LE), ValueError), (lambda: check_int_positive(0), ValueError),
                        (lambda: check_int_zero_one(True), ValueError), (lambda: check_padding(-1), ValueError),
                        (lambda: check_shape('a', [1, 0.5]), TypeError), (lambda: v.nope, AttributeError), (lambda: v.np, AttributeError)):
        with pytest.raises(error):
            call()


def test_layout():
    layout = Layout((2, 4), ('dp', 'mp'))
    assert layout('dp', 'mp').to_dict()['tensor_map'] == (1, 0)
    assert layout(('dp', 'mp'), 'None').to_dict() == {'device_matrix': (2, 4), 'tensor_map': ((1, 0), -1), 'interleaved_parallel': False,
                                                      'alias_name': ('dp', 'mp'), 'rank_list': list(range(8))}
    for make in (lambda: layout('cp'), lambda: Layout((2,), ('a', 'b')), lambda: Layout((0,), ('a',))):
        with pytest.raises(ValueError):
            make()
    with pytest.raises(TypeError):
        Layout([2], ['a'])


def test_parallel_settings_as_an_object():
    c = auto_parallel_context()
    c.set_all_reduce_fusion_split_indices([2, 5], 'group')
    assert c.get_all_reduce_fusion_split_indices('group') == [2, 5] and c.get_all_reduce_fusion_split_indices() == []
    for bad, error in (([1, 1], ValueError), (['a'], TypeError), ('ab', TypeError)):
        with pytest.raises(error):
            c.set_all_reduce_fusion_split_indices(bad)
    context.set_auto_parallel_context(gradients_mean=True)
    assert c.get_gradients_mean() is True and _utils._get_gradients_mean() is True
    c.reset()
    assert c.get_gradients_mean() is False and c.get_all_reduce_fusion_split_indices('group') == []


@pytest.mark.parametrize('env, error', [
    ({}, 'CommError'), ({'RANK_SIZE': '1', 'RANK_ID': '1'}, 'CommError'), ({'RANK_SIZE': 'x', 'RANK_ID': '0'}, 'CommError'),
    ({'RANK_TABLE_FILE': '/nowhere.json', 'RANK_ID': '0'}, 'CommError'), ({'RANK_SIZE': '1', 'SINDRI_DIST_HEARTBEAT': '9'}, 'CommError'),
    ({'MS_ROLE': 'MS_WORKER', 'MS_WORKER_NUM': '1'}, None), ({'OMPI_COMM_WORLD_SIZE': '1', 'OMPI_COMM_WORLD_RANK': '0'}, None),
])
def test_process_group(monkeypatch, env, error):
    from sindri import communication
    for name in ('RANK_SIZE', 'RANK_ID', 'OMPI_COMM_WORLD_SIZE', 'OMPI_COMM_WORLD_RANK', 'MS_ROLE', 'RANK_TABLE_FILE', 'MINDSPORE_HCCL_CONFIG_PATH'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv('SINDRI_DIST_INIT_TIMEOUT', '5')
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    try:
        if error is None:
            communication.init()
            assert (communication.get_rank(), communication.get_group_size(), communication.GlobalComm.WORLD_COMM_GROUP) == (0, 1, 'mccl_world_group')
            with pytest.raises(ValueError):
                communication.get_rank('others')
            with pytest.raises(ValueError):
                communication.create_group('g', [0, 0])
        else:
            with pytest.raises(Exception) as e:
                communication.init()
            assert type(e.value).__name__ == error
            assert isinstance(e.value, RuntimeError), 'what MindSpore raises'
    finally:
        communication.release()


def test_a_rank_table_of_one(monkeypatch, tmp_path):
    from sindri import communication
    table = tmp_path / 'table.json'
    table.write_text('{"version": "1.0", "server_count": "1", "status": "completed", "server_list": '
                     '[{"server_id": "127.0.0.1", "device": [{"device_id": "0", "device_ip": "127.0.0.1", "rank_id": "0"}]}]}')
    monkeypatch.setenv('RANK_TABLE_FILE', str(table))
    monkeypatch.setenv('RANK_ID', '0')
    try:
        communication.init('mccl')
        assert communication.get_group_size() == 1
    finally:
        communication.release()


def test_helpers_of_old_training_loops():
    from sindri.train import _utils as old
    assert old._to_tensor(np.ones(2)).shape == (2,)
    row = old._to_full_tensor([np.ones(2), 3], 1, 0, scaling_sens=8.0)
    assert len(row) == 3 and float(row[2].asnumpy()) == 8.0
    with pytest.raises(ms.NotYetError):
        old._to_full_tensor([np.ones(2)], 2, 0)
    assert [t.shape for t in old._construct_tensor_list([ms.float32, ms.int32], [(2, 3), ()], 4)] == [(8, 3), ()]
    with pytest.raises(TypeError):
        old._make_directory('')


def test_the_package_says_what_is_missing(tmp_path):
    """Without sindri, `import mindspore` prints how to install it."""
    code = 'import sys; sys.modules["sindri"] = None; import mindspore'
    import mindspore
    root = os.path.dirname(os.path.dirname(mindspore.__file__))
    done = subprocess.run([sys.executable, '-c', code], env={**os.environ, 'PYTHONPATH': root}, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and 'install sindri' in done.stderr
    assert Tensor is mindspore.Tensor


def test_numbers_of_the_cost_model_are_checked():
    """Bounds as in MindSpore 2.10."""
    from sindri.parallel import _cost_model_context as model
    before = {key: model.get_cost_model_context(key) for key in model._DEFAULTS}
    for key, value, error in (('run_phase', 0.5, TypeError), ('run_phase', 7, ValueError), ('run_phase', True, TypeError),
                              ('costmodel_alpha', -1.0, RuntimeError), ('costmodel_alpha', 0.0, RuntimeError),
                              ('costmodel_beta', 0.0, RuntimeError), ('costmodel_gamma', 1.5, RuntimeError),
                              ('costmodel_communi_bias', -1.0, RuntimeError),
                              ('device_memory_capacity', -2.0, RuntimeError), ('device_memory_capacity', float('inf'), RuntimeError),
                              ('costmodel_allreduce_fusion_tail_time', float('nan'), RuntimeError),
                              ('costmodel_allreduce_fusion_times', 1.5, TypeError), ('is_multi_subgraphs', True, ValueError),
                              ('costmodel_gamma', '1', TypeError), ('nothing', 1, ValueError)):
        with pytest.raises(error, match=key):
            model.set_cost_model_context(**{key: value})
    with pytest.raises(TypeError, match='bool'):
        model._set_multi_subgraphs(1)
    assert before == {key: model.get_cost_model_context(key) for key in before}
    try:
        model.set_cost_model_context(run_phase=1, costmodel_gamma=0.0, costmodel_allreduce_fusion_tail_percent=-0.5)
        assert model.get_cost_model_context('run_phase') == 1
    finally:
        model.reset_cost_model_context()
