"""Saving, loading, matching with networks, and ModelCheckpoint's files."""
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

import sindri as ms
import train_cases
from sindri import Parameter, Tensor, nn, train
from sindri import dataset as ds
from sindri.train import (CheckpointConfig, ModelCheckpoint, async_ckpt_thread_status, load_checkpoint, load_param_into_net, save_checkpoint)
from sindri.train.serialization import LoadResult, load_checkpoint_async, wait_for_async_saves

HERE = os.path.dirname(os.path.abspath(__file__))
A = np.arange(6).reshape(2, 3)
KINDS = ('float32', 'float16', 'bfloat16', 'int32', 'int64', 'uint8', 'bool_', 'float64')


def values(x):
    return (x.astype(ms.float32) if x.dtype == ms.bfloat16 else x).asnumpy()


def check_entries(found):
    """Checks the contents of train_cases.checkpoint_entries and the appended dict."""
    for kind in KINDS:
        x = found[f'{kind}.x']
        assert isinstance(x, Parameter) and x.name == f'{kind}.x' and x.dtype == getattr(ms, kind) and tuple(x.shape) == (2, 3)
        np.testing.assert_array_equal(values(x), A % 2 if kind == 'bool_' else A)
    assert found['scalar'].shape == () and float(found['scalar'].asnumpy()) == 1.5
    assert (found['epoch_num'].dtype, int(found['epoch_num'].asnumpy()), found['epoch_num'].shape) == (ms.int64, 3, ())
    assert (found['lr'].dtype, float(found['lr'].asnumpy())) == (ms.float32, 0.25)
    assert (found['flag'].dtype, bool(found['flag'].asnumpy())) == (ms.bool_, True)
    assert found['note'] == 'héllo'


def test_reads_a_file_of_mindspore():
    """expectations/mindspore.ckpt was written by MindSpore 2.10.0."""
    found = load_checkpoint(os.path.join(HERE, 'expectations', 'mindspore.ckpt'))
    check_entries(found)
    assert list(found)[:3] == ['float32.x', 'float16.x', 'bfloat16.x']


def test_what_is_written_is_read(tmp_path):
    append = {'epoch_num': 3, 'lr': 0.25, 'flag': True, 'note': 'héllo'}
    save_checkpoint(train_cases.checkpoint_entries(ms), str(tmp_path / 'a'), append_dict=append)
    path = str(tmp_path / 'a.ckpt')
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o400
    check_entries(load_checkpoint(path))
    save_checkpoint({'w': Tensor(A, ms.int32)}, path)  # over a read-only file
    assert list(load_checkpoint(path)) == ['w']


def test_the_form_of_the_file(tmp_path):
    """Values are protobuf messages in MindSpore's format, written by hand here, after the integrity entry; the trailer has 17 bytes."""
    path = str(tmp_path / 'form.ckpt')
    save_checkpoint([{'name': 'ab', 'data': Tensor(np.array([1.0, -2.0], np.float32))}], path, compat_mindspore1=True)
    tensor = b'\x08\x02' + b'\x12\x07Float32' + b'\x1a\x08' + np.array([1.0, -2.0], '<f4').tobytes()
    value = b'\x0a\x02ab' + b'\x12' + bytes([len(tensor)]) + tensor
    with open(path, 'rb') as f:
        assert f.read() == b'\x0a' + bytes([len(value)]) + value
    save_checkpoint([{'name': 'ab', 'data': Tensor(np.array([1.0, -2.0], np.float32))}], path)
    with open(path, 'rb') as f:
        data = f.read()
    assert b'\x0a' + bytes([len(value)]) + value in data and data[-17:-10] == b'crc_num'


def test_a_cell_is_saved_in_definition_order(tmp_path):
    net = train_cases.network(ms, nn)
    save_checkpoint(net, str(tmp_path / 'net.ckpt'))
    assert list(load_checkpoint(str(tmp_path / 'net.ckpt'))) == ['fc1.weight', 'fc1.bias', 'fc2.weight', 'fc2.bias']
    save_checkpoint(net, str(tmp_path / 'net.ckpt'), choice_func=lambda name: name.startswith('fc2'))
    assert list(load_checkpoint(str(tmp_path / 'net.ckpt'))) == ['fc2.weight', 'fc2.bias']


def test_filters(tmp_path):
    path = str(tmp_path / 'net.ckpt')
    save_checkpoint(train_cases.network(ms, nn), path)
    assert list(load_checkpoint(path, filter_prefix='fc1')) == ['fc2.weight', 'fc2.bias']
    assert list(load_checkpoint(path, filter_prefix=['fc1', 'fc2.b'])) == ['fc2.weight']
    assert list(load_checkpoint(path, specify_prefix='fc1')) == ['fc1.weight', 'fc1.bias']
    assert list(load_checkpoint(path, choice_func=lambda n: n.endswith('bias'))) == ['fc1.bias', 'fc2.bias']
    with pytest.raises(ValueError, match='nothing is left'):
        load_checkpoint(path, filter_prefix=('fc1', 'fc2'))
    with pytest.raises(TypeError):
        load_checkpoint(path, filter_prefix=3)
    with pytest.raises(ValueError):
        load_checkpoint(path, filter_prefix='')


def test_errors_of_files(tmp_path):
    path = str(tmp_path / 'net.ckpt')
    save_checkpoint(train_cases.network(ms, nn), path)
    with pytest.raises(ValueError, match='.ckpt'):
        load_checkpoint(str(tmp_path / 'net.txt'))
    with pytest.raises(ValueError, match='net.ckpt'):  # the error names the existing file
        load_checkpoint(str(tmp_path / 'nat.ckpt'))
    with pytest.raises(TypeError):
        load_checkpoint(3)
    empty = tmp_path / 'empty.ckpt'
    empty.write_bytes(b'')
    with pytest.raises(ValueError, match='empty'):
        load_checkpoint(str(empty))
    data = bytearray((tmp_path / 'net.ckpt').read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / 'broken.ckpt').write_bytes(bytes(data))
    with pytest.raises(ValueError):
        load_checkpoint(str(tmp_path / 'broken.ckpt'))
    (tmp_path / 'short.ckpt').write_bytes(bytes(data[:40]))
    with pytest.raises(ValueError):
        load_checkpoint(str(tmp_path / 'short.ckpt'))
    with pytest.raises(IsADirectoryError):
        save_checkpoint({'w': Tensor(1.0)}, str(tmp_path))
    with pytest.raises(ValueError, match='does not exist'):
        save_checkpoint({'w': Tensor(1.0)}, str(tmp_path / 'no' / 'w.ckpt'))
    for bad in (3, [3], [{'name': 'w'}], {'w': object()}, {3: Tensor(1.0)}):
        with pytest.raises(TypeError):
            save_checkpoint(bad, path)
    with pytest.raises(ValueError):
        load_checkpoint(path, format='safetensors')


def test_saving_in_a_thread(tmp_path):
    net = train_cases.network(ms, nn)
    before = net.fc1.weight.asnumpy().copy()
    save_checkpoint(net, str(tmp_path / 'net.ckpt'), async_save=True)
    net.fc1.weight.set_data(Tensor(np.zeros((4, 3), np.float32)))  # the thread writes the values from the time of the call
    wait_for_async_saves()
    assert async_ckpt_thread_status() is False
    np.testing.assert_array_equal(load_checkpoint(str(tmp_path / 'net.ckpt'))['fc1.weight'].asnumpy(), before)
    assert sorted(load_checkpoint_async(str(tmp_path / 'net.ckpt')).result()) == ['fc1.bias', 'fc1.weight', 'fc2.bias', 'fc2.weight']
    assert not [t for t in threading.enumerate() if t.name == 'checkpoint']


def test_a_lost_save_at_the_end_of_a_script_is_reported(tmp_path):
    """By then the folder is not writable; there is no further save that could raise the error."""
    script = f"""
import shutil
import numpy as np
import sindri as ms
from sindri.train import serialization
write = serialization._core.save_checkpoint
def gone(entries, path, *rest):
    shutil.rmtree({str(tmp_path / 'gone')!r})
    write(entries, path, *rest)
serialization._core.save_checkpoint = gone
ms.save_checkpoint([{{'name': 'w', 'data': ms.Tensor(np.ones(3, np.float32))}}], {str(tmp_path / 'gone' / 'x')!r}, async_save=True)
"""
    (tmp_path / 'gone').mkdir()
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True, timeout=120, check=True)
    assert 'x.ckpt' in done.stderr and "' was not written: " in done.stderr and 'the script ends without this checkpoint' in done.stderr



def parameters(**arrays):
    return {k.replace('_', '.'): Parameter(Tensor(v), name=k.replace('_', '.')) for k, v in arrays.items()}


def test_loading_into_a_network():
    net = train_cases.network(ms, nn)
    ones = np.ones((4, 3), np.float32)
    result = load_param_into_net(net, parameters(fc1_weight=ones, moments_fc1_weight=ones))
    np.testing.assert_array_equal(net.fc1.weight.asnumpy(), ones)
    assert net.fc1.weight.name == 'fc1.weight'
    missing, unused = result  # unpacked as in 2.x
    assert missing == ['fc1.bias', 'fc2.weight', 'fc2.bias'] and unused == ['moments.fc1.weight']
    assert (result.param_not_load, result.ckpt_not_load) == (missing, unused) and result[0] == missing and isinstance(result, tuple)
    # used as in 1.x
    assert str(result) == "['fc1.bias', 'fc2.weight', 'fc2.bias']" and len(result) == 3 and result and 'fc2.bias' in result
    assert result == missing
    done = LoadResult([], ['x'])
    assert not done and len(done) == 0 and done == [] and str(done) == '[]'


def test_the_first_era_gets_a_list(monkeypatch):
    monkeypatch.setenv('SINDRI_MINDSPORE_ERA', '1')
    assert load_param_into_net(nn.Dense(3, 2), {}) == ['weight', 'bias']
    assert type(load_param_into_net(nn.Dense(3, 2), {})) is list


def test_widths_shapes_and_prefixes():
    net = train_cases.network(ms, nn)
    half = np.full((4, 3), 0.5, np.float16)
    load_param_into_net(net, parameters(fc1_weight=half))
    assert net.fc1.weight.dtype == ms.float32 and float(net.fc1.weight.asnumpy()[0, 0]) == 0.5
    with pytest.raises(RuntimeError, match='strict_load'):
        load_param_into_net(net, parameters(fc1_weight=half), strict_load=True)
    with pytest.raises(RuntimeError, match='Int32'):
        load_param_into_net(net, parameters(fc1_weight=np.ones((4, 3), np.int32)))
    with pytest.raises(RuntimeError, match=r'\(4, 3\).*\(3, 4\)'):
        load_param_into_net(net, parameters(fc1_weight=np.ones((3, 4), np.float32)))
    load_param_into_net(net, parameters(fc2_bias=np.array([[3.0], [4.0]], np.float32)))  # trailing dimensions of 1
    assert net.fc2.bias.asnumpy().tolist() == [3.0, 4.0]
    result = load_param_into_net(net, {'backbone.' + k: v for k, v in parameters(fc1_weight=np.full((4, 3), 2, np.float32)).items()})
    assert float(net.fc1.weight.asnumpy()[0, 0]) == 2 and list(result) == [['fc1.bias', 'fc2.weight', 'fc2.bias'], ['backbone.fc1.weight']]  # as in MindSpore


def test_nothing_fits_warns_and_goes_on(capsys):
    from sindri import log
    log._reset()
    result = load_param_into_net(nn.Dense(3, 2), parameters(xx=np.ones((2, 3), np.float32), y_z=np.ones((2, 3), np.float32)))
    assert tuple(iter(result)) == (['weight', 'bias'], ['xx', 'y.z'])
    assert 'weight is not loaded' in capsys.readouterr().err


def test_argument_types():
    with pytest.raises(TypeError):
        load_param_into_net('net', {})
    with pytest.raises(TypeError):
        load_param_into_net(nn.Dense(3, 2), [])
    with pytest.raises(TypeError):
        load_param_into_net(nn.Dense(3, 2), {'weight': np.ones((2, 3))})
    with pytest.raises(TypeError):
        load_param_into_net(nn.Dense(3, 2), {}, strict_load='no')


def test_load_checkpoint_with_net(tmp_path):
    path = str(tmp_path / 'net.ckpt')
    source, target = train_cases.network(ms, nn), train_cases.network(ms, nn)
    source.fc1.weight.set_data(Tensor(np.full((4, 3), 7, np.float32)))
    save_checkpoint(source, path)
    load_checkpoint(path, net=target)
    np.testing.assert_array_equal(target.fc1.weight.asnumpy(), source.fc1.weight.asnumpy())


# --- ModelCheckpoint --------------------------------------------------------------------------------------------------------------

def train_with(config, folder, epochs=2, prefix='net', **kwargs):
    model, net = train_cases.model(ms, nn, train)
    saver = ModelCheckpoint(prefix, str(folder), config)
    model.train(epochs, train_cases.dataset(ds), callbacks=saver, **kwargs)
    return saver, model


def names(folder):
    return sorted(os.listdir(folder))


def test_names_modes_and_rotation(tmp_path):
    folder = tmp_path / 'ck'
    saver, _ = train_with(CheckpointConfig(save_checkpoint_steps=4, keep_checkpoint_max=2), folder)
    # saved after steps 4, 8, 12 (the last is also the end of training): two are kept
    assert names(folder) == ['net-2_2.ckpt', 'net-2_6.ckpt']
    assert saver.latest_ckpt_file_name == str(folder / 'net-2_6.ckpt')
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert [stat.S_IMODE(os.stat(folder / n).st_mode) for n in names(folder)] == [0o400, 0o400]


@pytest.mark.parametrize('async_save', [False, True])
def test_a_save_that_fails_costs_no_older_file(tmp_path, monkeypatch, async_save):
    """The disk is full at the second save: the first file still exists and is the latest."""
    from sindri.train import serialization
    save, folder = serialization._core.save_checkpoint, tmp_path / 'ck'

    def full(entries, path, *rest):
        if path.endswith('-1_4.ckpt'):
            raise OSError(28, 'No space left on device')
        return save(entries, path, *rest)
    monkeypatch.setattr(serialization._core, 'save_checkpoint', full)
    model, _ = train_cases.model(ms, nn, train)
    saver = ModelCheckpoint('net', str(folder), CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=1, async_save=async_save))
    with pytest.raises(OSError, match='No space'):
        model.train(2, train_cases.dataset(ds), callbacks=saver)
    assert names(folder) == ['net-1_2.ckpt'] and saver.latest_ckpt_file_name == str(folder / 'net-1_2.ckpt')
    load_checkpoint(saver.latest_ckpt_file_name)


def test_graph_mode_describes_the_network(tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE)
    train_with(CheckpointConfig(save_checkpoint_steps=6), tmp_path)
    assert names(tmp_path) == ['net-1_6.ckpt', 'net-2_6.ckpt', 'net-graph.meta']
    assert stat.S_IMODE(os.stat(tmp_path / 'net-graph.meta').st_mode) == 0o600
    assert 'fc1.weight Float32 [4, 3]' in (tmp_path / 'net-graph.meta').read_text()


def test_graph_description_is_whole_or_absent(tmp_path, monkeypatch):
    ms.set_context(mode=ms.GRAPH_MODE)
    fsync, wrote = os.fsync, []

    def cut(descriptor):
        wrote.append(os.listdir(tmp_path))  # during the write
        if wrote[-1] == [f'net-graph.meta.tmp.{os.getpid()}']:
            raise OSError(28, 'No space left on device')
        return fsync(descriptor)
    monkeypatch.setattr(os, 'fsync', cut)
    with pytest.raises(OSError, match='No space'):
        train_with(CheckpointConfig(save_checkpoint_steps=6), tmp_path)
    assert wrote and names(tmp_path) == []


def test_start_removes_what_killed_processes_left(tmp_path):
    """Only checkpoints with this prefix, from processes that no longer exist."""
    gone = subprocess.Popen([sys.executable, '-c', ''])
    gone.wait()
    removed = [f'net-1_6.ckpt.tmp.{gone.pid}', f'net_12-3_4.ckpt.tmp.{gone.pid}', f'net-2_3_breakpoint.ckpt.tmp.{gone.pid}', f'net_1-graph.meta.tmp.{gone.pid}',
               f'net-1_1.ckpt.tmp.{10 ** 30}']
    kept = [f'net-1_6.ckpt.tmp.{os.getppid()}', f'network-1_6.ckpt.tmp.{gone.pid}', f'notes.tmp.{gone.pid}', f'my_net-1_6.ckpt.tmp.{gone.pid}', 'net-1_6.ckpt.tmp.old',
            f'net-1_6.ckpt.tmp.{gone.pid}.gz']
    for name in removed + kept:
        (tmp_path / name).write_text('half')
    os.symlink('elsewhere', tmp_path / f'net-1_7.ckpt.tmp.{gone.pid}')
    train_with(CheckpointConfig(save_checkpoint_steps=6), tmp_path)
    left = os.listdir(tmp_path)
    assert not set(removed) & set(left) and set(kept) <= set(left) and f'net-1_7.ckpt.tmp.{gone.pid}' in left


def test_sinking_saves_at_chunks(tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE, device_target='GPU')
    train_with(CheckpointConfig(save_checkpoint_steps=1), tmp_path, dataset_sink_mode=True)
    assert [n for n in names(tmp_path) if n.endswith('.ckpt')] == ['net-1_6.ckpt', 'net-2_6.ckpt']


def test_the_end_is_saved(tmp_path):
    train_with(CheckpointConfig(save_checkpoint_steps=5), tmp_path, epochs=1)
    assert names(tmp_path) == ['net-1_5.ckpt', 'net-1_6.ckpt']


def test_a_taken_prefix_gets_a_number(tmp_path):
    config = CheckpointConfig(save_checkpoint_steps=6)
    for _ in range(3):
        train_with(config, tmp_path, 1)
    assert names(tmp_path) == ['net-1_6.ckpt', 'net_1-1_6.ckpt', 'net_2-1_6.ckpt']
    train_with(config, tmp_path, 1, prefix='nets')
    assert 'nets-1_6.ckpt' in names(tmp_path)


def test_everything_is_saved_or_the_given_network(tmp_path):
    saver, model = train_with(None, tmp_path / 'all', 1)
    whole = load_checkpoint(saver.latest_ckpt_file_name)
    assert list(whole) == [p.name for p in model.train_network.get_parameters()]
    assert {'fc1.weight', 'moments.fc1.weight', 'learning_rate', 'momentum'} <= set(whole)
    state = load_checkpoint(saver.latest_ckpt_file_name, specify_prefix='sindri.')  # the position of the training run
    assert sorted(state) == ['sindri.position', 'sindri.rng_state']
    plain, _ = train_with(CheckpointConfig(training_state=False), tmp_path / 'plain', 1)
    assert not [n for n in load_checkpoint(plain.latest_ckpt_file_name, choice_func=lambda name: True) if n.startswith('sindri.')]
    net = train_cases.network(ms, nn)
    saver, _ = train_with(CheckpointConfig(saved_network=net), tmp_path / 'net', 1)
    assert list(load_checkpoint(saver.latest_ckpt_file_name)) == ['fc1.weight', 'fc1.bias', 'fc2.weight', 'fc2.bias']


def test_append_info(tmp_path):
    config = CheckpointConfig(save_checkpoint_steps=6, append_info=['epoch_num', 'step_num', 'random_op', {'best': 0.5, 'name': 'run',
                                                                                                           'step_num': 100}])
    saver, _ = train_with(config, tmp_path)
    found = load_checkpoint(saver.latest_ckpt_file_name)
    assert int(found['epoch_num'].asnumpy()) == 2 and int(found['step_num'].asnumpy()) == 112
    assert float(found['best'].asnumpy()) == 0.5 and found['name'] == 'run' and isinstance(found['random_op'], bytes)


def test_random_ops_go_on_from_a_checkpoint(tmp_path):
    ms.set_seed(5)
    drop = nn.Dropout(p=0.5).set_train()
    x = Tensor(np.ones((4, 64), np.float32))
    drop(x)
    save_checkpoint(nn.Dense(2, 2), str(tmp_path / 'a.ckpt'), append_dict={'random_op': 0})
    want = [drop(x).asnumpy() for _ in range(2)]
    ms.set_seed(99)
    load_param_into_net(nn.Dense(2, 2), load_checkpoint(str(tmp_path / 'a.ckpt')))
    np.testing.assert_array_equal(drop(x).asnumpy(), want[0])
    np.testing.assert_array_equal(drop(x).asnumpy(), want[1])


def test_training_goes_on_from_a_checkpoint(tmp_path):
    """Two epochs equal one epoch, saved, loaded into a new Model, and one more."""
    saver, whole = train_with(CheckpointConfig(save_checkpoint_steps=6), tmp_path)
    model, _ = train_cases.model(ms, nn, train)
    load_param_into_net(model.train_network, load_checkpoint(str(tmp_path / 'net-1_6.ckpt')))
    model.train(1, train_cases.dataset(ds))
    for a, b in zip(whole.train_network.get_parameters(), model.train_network.get_parameters()):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy(), err_msg=a.name)


def test_breakpoint(tmp_path):
    model, _ = train_cases.model(ms, nn, train)
    saver = ModelCheckpoint('net', str(tmp_path), CheckpointConfig(save_checkpoint_steps=100, exception_save=True))

    def fail(run_context):
        if run_context.original_args().cur_step_num == 9:
            raise OSError('disk on fire')
    with pytest.raises(OSError, match='fire'):
        model.train(3, train_cases.dataset(ds), callbacks=[saver, train.LambdaCallback(on_train_step_begin=fail)])
    assert names(tmp_path) == ['net-2_2_breakpoint.ckpt']
    assert ModelCheckpoint('net', str(tmp_path))._prefix == 'net'  # such a file does not reserve the prefix


def test_an_error_saves_nothing_by_default(tmp_path):
    model, _ = train_cases.model(ms, nn, train)

    def fail(run_context):
        raise OSError('disk on fire')
    with pytest.raises(OSError):
        model.train(3, train_cases.dataset(ds), callbacks=[ModelCheckpoint('net', str(tmp_path), CheckpointConfig(save_checkpoint_steps=100)),
                                                            train.LambdaCallback(on_train_step_end=fail)])
    assert names(tmp_path) == []


def test_by_seconds_and_minutes(tmp_path, monkeypatch):
    import sindri.train.callback._checkpoint as module
    clock = [1000.0]
    monkeypatch.setattr(module.time, 'time', lambda: clock[0])
    model, _ = train_cases.model(ms, nn, train)
    saver = ModelCheckpoint('net', str(tmp_path), CheckpointConfig(save_checkpoint_steps=0, save_checkpoint_seconds=3, keep_checkpoint_max=100))

    def tick(run_context):
        clock[0] += 1
    model.train(2, train_cases.dataset(ds), callbacks=[train.LambdaCallback(on_train_step_begin=tick), saver])
    assert names(tmp_path) == ['net-1_4.ckpt', 'net-2_2.ckpt', 'net-2_6.ckpt']


def test_async_save(tmp_path):
    train_with(CheckpointConfig(save_checkpoint_steps=3, async_save=True), tmp_path)
    assert names(tmp_path) == ['net-1_3.ckpt', 'net-1_6.ckpt', 'net-2_3.ckpt', 'net-2_6.ckpt']
    assert async_ckpt_thread_status() is False
    load_checkpoint(str(tmp_path / 'net-2_6.ckpt'))


def test_loading_takes_the_size_of_the_file(tmp_path):
    """In a separate process: 120 MB of weights, without a second copy while loading."""
    save_checkpoint({f'w{i}': Tensor(np.ones((10, 1 << 18), np.float32)) for i in range(12)}, str(tmp_path / 'a.ckpt'))
    script = """
import resource, sys
from sindri import load_checkpoint
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
load_checkpoint(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    grown = int(subprocess.run([sys.executable, '-c', script, str(tmp_path / 'a.ckpt')], capture_output=True, text=True, check=True).stdout)
    assert grown < 1.2 * os.path.getsize(tmp_path / 'a.ckpt') / 1024 + 50_000, f'{grown} KiB'


def test_config_defaults_and_errors():
    config = CheckpointConfig()
    assert config.get_checkpoint_policy() == {'save_checkpoint_steps': 1, 'save_checkpoint_seconds': None, 'keep_checkpoint_max': 5,
                                              'keep_checkpoint_per_n_minutes': None, 'saved_network': None}
    assert (config.integrated_save, config.async_save, config.append_dict) == (True, False, {})
    config = CheckpointConfig(save_checkpoint_steps=2, save_checkpoint_seconds=9, keep_checkpoint_max=3, keep_checkpoint_per_n_minutes=9)
    assert (config.save_checkpoint_seconds, config.keep_checkpoint_per_n_minutes) == (None, None)
    with pytest.raises(ValueError):
        CheckpointConfig(0, 0, 0, 0)
    for bad, error in ((dict(save_checkpoint_steps=-1), ValueError), (dict(keep_checkpoint_max='5'), TypeError), (dict(async_save=1), TypeError),
                       (dict(saved_network=3), TypeError), (dict(append_info=['lr']), ValueError), (dict(append_info='epoch_num'), TypeError),
                       (dict(append_info=[{}, {}]), TypeError), (dict(append_info=[{'a': [1]}]), TypeError), (dict(enc_key=b'1'), ValueError), (dict(async_save='later'), ValueError), (dict(async_save=3), TypeError),
                       (dict(format='safetensors'), ValueError), (dict(speed=1), TypeError)):
        with pytest.raises(error):
            CheckpointConfig(**bad)
    for bad, error in (('a/b', ValueError), (3, ValueError)):
        with pytest.raises(error):
            ModelCheckpoint(bad)
    with pytest.raises(TypeError):
        ModelCheckpoint('a', config={'save_checkpoint_steps': 1})


NARROW = {'int8': [-128, 127], 'int16': [-32768, 5], 'uint16': [0, 65535], 'uint32': [1, 2 ** 32 - 1], 'uint64': [3, 2 ** 63 - 1]}


@pytest.mark.parametrize('form', ['ckpt', 'safetensors'])
def test_narrow_integers_keep_the_type_of_the_file(form, tmp_path, monkeypatch):
    """Tensors have no such types: values are stored in a wider type, which one warning reports by name, and saved in their original type."""
    path, again = str(tmp_path / f'a.{form}'), str(tmp_path / f'b.{form}')
    save_checkpoint([{'name': k, 'data': np.array(v, k)} for k, v in NARROW.items()] + [{'name': 'w', 'data': Tensor([1.5])}], path, format=form)
    said = []
    monkeypatch.setattr(ms.train.serialization.logger, 'warning', lambda text, *args: said.append(text % args))
    found = load_checkpoint(path, format=form)
    assert sorted(found) == sorted([*NARROW, 'w']) and len(said) == 1 and all(k in said[0].lower() for k in NARROW)
    for k, v in NARROW.items():
        assert found[k].asnumpy().tolist() == v and found[k].dtype == (ms.int64 if '32' in k or '64' in k else ms.int32)
    save_checkpoint(found, again, format=form)
    with open(path, 'rb') as a, open(again, 'rb') as b:
        assert a.read() == b.read()
    found['int8'].set_data(Tensor([1, 300], ms.int32))
    with pytest.raises(ValueError, match='int8.*Int8'):
        save_checkpoint(found, again, format=form)
    with pytest.raises(TypeError, match="'z'"):
        save_checkpoint({'z': np.array([1j])}, again, format=form)


def test_safetensors_files(tmp_path):
    """As MindSpore writes and reads them: file name extension, format 'ms', read-only; texts are in the metadata."""
    append = {'epoch_num': 3, 'lr': 0.25, 'flag': True, 'note': 'héllo', 'random_op': 0}
    save_checkpoint(train_cases.checkpoint_entries(ms), str(tmp_path / 'a'), append_dict=append, format='safetensors', async_save=True)
    wait_for_async_saves()
    path = str(tmp_path / 'a.safetensors')
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o400
    found = load_checkpoint(path, format='safetensors')
    assert isinstance(found.pop('random_op'), bytes)
    check_entries(found)
    with open(path, 'rb') as f:
        assert b'"format":"ms"' in f.read(2000)
    net, other = train_cases.network(ms, nn), train_cases.network(ms, nn)
    save_checkpoint(net, path, format='safetensors')  # over a read-only file
    assert list(load_checkpoint(path, other, strict_load=True, format='safetensors')) == [p.name for p in net.get_parameters()]
    for p, q in zip(net.get_parameters(), other.get_parameters()):
        np.testing.assert_array_equal(p.asnumpy(), q.asnumpy())
    with pytest.raises(ValueError, match="format='safetensors'"):
        load_checkpoint(path)
    with pytest.raises(ValueError, match='enc_key'):
        save_checkpoint(net, path, enc_key=b'0' * 16, format='safetensors')
    os.chmod(path, 0o600)
    with open(path, 'r+b') as f:
        f.seek(-1, os.SEEK_END)
        f.write(b'\xee')
    with pytest.raises(ValueError, match='corrupt'):
        load_checkpoint(path, format='safetensors')


def test_a_refused_load_changes_nothing():
    net = train_cases.network(ms, nn)
    before = [p.asnumpy() for p in net.get_parameters()]
    state = ms._core.rng_state().asnumpy()
    values = {p.name: Parameter(np.full(p.shape, 7.0, np.float32), name=p.name) for p in net.get_parameters()}
    values['fc2.bias'] = Parameter(np.zeros(99, np.float32), name='fc2.bias')
    values = {'random_op': b'\1' * state.nbytes, **values}
    with pytest.raises(RuntimeError, match='fc2.bias'):
        load_param_into_net(net, values)
    for p, old in zip(net.get_parameters(), before):
        np.testing.assert_array_equal(p.asnumpy(), old)
    np.testing.assert_array_equal(ms._core.rng_state().asnumpy(), state)


def test_rotation_leaves_files_of_a_longer_prefix(tmp_path):
    """'net-large' begins like 'net-', but belongs to another run."""
    train_with(CheckpointConfig(save_checkpoint_steps=6), tmp_path, 1, prefix='net-large')
    train_with(CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=1), tmp_path, 1)
    assert names(tmp_path) == ['net-1_6.ckpt', 'net-large-1_6.ckpt']
