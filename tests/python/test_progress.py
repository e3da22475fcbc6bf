"""The progress line of Model.train: on a pseudo-terminal of several widths together with a script's prints, in a notebook, in a pipe, and switched off."""
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import textwrap
import types

import numpy as np
import pytest

import sindri as ms
from sindri import _core, nn
from sindri import dataset as ds
from sindri.train.callback import LossMonitor, ProgressBar, TimeMonitor
from sindri.train.callback import _progress

SCRIPT = textwrap.dedent("""
    import sys
    import numpy as np
    import sindri as ms
    from sindri import nn
    from sindri import dataset as ds
    from sindri.train import LossMonitor, TimeMonitor

    class Slow(ms.train.Callback):
        def on_train_step_end(self, run_context):
            import time
            time.sleep(0.02)
            if run_context.original_args().cur_step_num == 5:
                print('a line that', end=' ')
            if run_context.original_args().cur_step_num == 9:
                print('was begun long before')

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((160, 4)).astype(np.float32), rng.integers(0, 3, 160).astype(np.int32)
    data = ds.NumpySlicesDataset((x, y), ['x', 'y'], shuffle=False).batch(8)
    net = nn.Dense(4, 3)
    model = ms.Model(net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={'acc'})
    model.fit(3, data, data, callbacks=[LossMonitor(5), TimeMonitor(), Slow()])
    assert sys.stdout is sys.__stdout__ and sys.stderr is sys.__stderr__
""")


class Screen:
    """Simulates a terminal with `columns` columns. `wrapped` counts characters that did not fit into their row."""

    def __init__(self, columns):
        self.columns, self.rows, self.x, self.y, self.wrapped = columns, [''], 0, 0, 0
        self.frames = []

    def write(self, text):
        for part in re.findall(r'\x1b\[[0-9;]*[A-Za-z]|.', text, re.S):
            if part == '\r':
                self.frames.append(self.rows[self.y])
                self.x = 0
            elif part == '\n':
                self.y += 1
                if self.y == len(self.rows):
                    self.rows.append('')
            elif part == '\x1b[J':
                self.rows[self.y] = self.rows[self.y][:self.x]
                del self.rows[self.y + 1:]
            elif part[0] != '\x1b':
                if self.x == self.columns:
                    self.wrapped += 1
                    self.x = 0
                    self.y += 1
                    if self.y == len(self.rows):
                        self.rows.append('')
                row = self.rows[self.y].ljust(self.x)
                self.rows[self.y] = row[:self.x] + part + row[self.x + 1:]
                self.x += 1


def in_terminal(columns, script=SCRIPT, **variables):
    """Returns the output of the script to a terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update({'TERM': 'xterm-256color', 'PYTHONPATH': os.pathsep.join(sys.path), **variables})
        os.read(0, 1)  # until the window has its size
        os.execv(sys.executable, [sys.executable, '-c', script])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    os.write(fd, b'\n')
    out = b''
    while True:
        try:
            chunk = os.read(fd, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        out += chunk
    os.close(fd)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, out.decode()
    return out.decode()


@pytest.mark.parametrize('variables', [{'OMPI_COMM_WORLD_SIZE': '2', 'OMPI_COMM_WORLD_RANK': '0'}, {'SLURM_PROCID': '0'}, {'RANK': '0'}], ids=str)
def test_a_rank_writes_no_escape_codes(variables):
    """mpirun gives its ranks pseudo-terminals and writes their output to logs."""
    text = in_terminal(80, **variables)
    assert '\x1b' not in text and 'ETA' not in text and text.count('loss is') == 12
    shown = in_terminal(80, SINDRI_PROGRESS='on', **variables)  # plain lines
    assert '\x1b' not in shown and 'ETA' not in shown and shown.count('samples/s') == 3


def test_scripts_for_mindspore_have_their_output_to_themselves():
    text = in_terminal(80, SCRIPT.replace('import sindri as ms', 'import mindspore as ms').replace('from sindri', 'from mindspore'))
    assert '\x1b' not in text and 'ETA' not in text and text.count('loss is') == 12
    assert 'ETA' in in_terminal(80, SCRIPT.replace('import sindri as ms', 'import mindspore as ms'), SINDRI_PROGRESS='on')


@pytest.mark.parametrize('columns', [40, 80, 120])
def test_on_a_terminal_nothing_is_torn(columns):
    text = in_terminal(columns, NO_COLOR='1')
    screen = Screen(columns)
    screen.write(text)
    live = [frame for frame in screen.frames if 'ETA' in frame]
    assert len(live) > 5, text
    shape = r'(\[=*>? *\] )?epoch \d/3  \d+/20  loss \d\.\d{4}(  acc \d\.\d{4})?(  lr 0\.1)?(  \d+(\.\d+)?k?( samples)?/s)?  ETA \d+s'
    for frame in live:
        assert re.fullmatch(shape, frame.rstrip()), frame
        assert len(frame) < columns
        assert frame.startswith('[') == (columns >= 80)
    rows = [row.rstrip() for row in screen.rows]
    assert not [row for row in rows if 'ETA' in row or '\x1b' in row]
    prints = [row for row in rows if row.startswith('epoch: ')]
    assert len(prints) == 12 and all(re.fullmatch(r'epoch: \d step: \d+, loss is \d\.\d+', row) for row in prints)
    assert rows.count('a line that was begun long before') == 1, rows
    epochs = [row for row in rows if re.match(r'epoch \d/3: loss \d\.\d{4}, (eval loss|acc)', row)]
    assert len(epochs) == 3


def test_switched_off_and_in_a_pipe(tmp_path):
    assert 'ETA' not in in_terminal(80, SINDRI_PROGRESS='off') and '\x1b' not in in_terminal(80, TERM='dumb')
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}
    environment.pop('SINDRI_PROGRESS', None)

    def piped(**variables):
        return subprocess.run([sys.executable, '-c', SCRIPT], env={**environment, **variables}, capture_output=True, text=True, check=False, timeout=120)

    plain, on, odd = piped(), piped(SINDRI_PROGRESS='on'), piped(SINDRI_PROGRESS='maybe')
    assert plain.returncode == 0 and plain.stderr == '', plain.stderr
    assert on.returncode == 0 and '\x1b' not in on.stderr and '\r' not in on.stderr
    lines = on.stderr.splitlines()
    assert [line.split(':')[0] for line in lines] == ['epoch 1/3', 'epoch 2/3', 'epoch 3/3'] and on.stdout.count('loss is') == 12
    assert odd.returncode == 1 and "SINDRI_PROGRESS must be 'on' or 'off', got 'maybe'" in odd.stderr


def small_model(rng):
    x, y = rng.standard_normal((40, 4)).astype(np.float32), rng.integers(0, 3, 40).astype(np.int32)
    data = ds.NumpySlicesDataset((x, y), ['x', 'y'], shuffle=False).batch(8)
    net = nn.Dense(4, 3)
    return ms.Model(net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={'acc'}), data


def test_in_a_notebook_the_cell_is_redrawn(rng, monkeypatch, capsys):
    shown = []

    class Handle:
        def update(self, content, raw):
            assert raw
            shown.append(content)

    kernel = types.ModuleType('IPython')
    kernel.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    kernel.display = types.ModuleType('IPython.display')
    kernel.display.display = lambda content, raw, display_id: Handle()
    monkeypatch.setitem(sys.modules, 'IPython', kernel)
    monkeypatch.setitem(sys.modules, 'IPython.display', kernel.display)
    monkeypatch.delitem(sys.modules, 'mindspore', raising=False)  # another test of this process may have imported it
    monkeypatch.setattr(_progress, '_NOTEBOOK_LOOK', 0.0)
    model, data = small_model(rng)
    model.fit(2, data, data, callbacks=[LossMonitor(5)])
    assert len(shown) == 11  # every step, and the end
    assert all(c['text/html'] == f"<pre>{c['text/plain'].replace('>', '&gt;')}</pre>" for c in shown)
    assert re.search(r'epoch 2/2  5/5  loss \d\.\d{4}  acc', shown[-1]['text/plain']) and len(shown[-1]['text/plain']) < 100
    out = capsys.readouterr().out.splitlines()
    assert [line.split(':')[0] for line in out if line.startswith('epoch ')] == ['epoch 1/2', 'epoch 2/2']
    assert sum('loss is' in line for line in out) == 2


def test_a_kernel_is_not_a_shell(monkeypatch):
    shell = types.ModuleType('IPython')
    shell.get_ipython = lambda: types.SimpleNamespace()  # IPython in a terminal
    monkeypatch.setitem(sys.modules, 'IPython', shell)
    monkeypatch.setitem(sys.modules, 'IPython.display', types.SimpleNamespace(display=print))
    assert _progress._notebook_display() is None


def test_in_the_list_of_callbacks_it_is_there(rng, capsys):
    model, data = small_model(rng)
    seen = []

    class Look(ms.train.Callback):
        def on_train_begin(self, run_context):
            seen.append(run_context.original_args().list_callback)

    bar = ProgressBar()
    model.train(2, data, callbacks=[bar, Look(), TimeMonitor()])
    err = capsys.readouterr().err.splitlines()
    assert [re.match(r'epoch \d/2: loss \d\.\d{4}, \d+ samples/s$', line) is not None for line in err] == [True, True]
    model.train(1, data, callbacks=[Look()])  # neither in a pipe nor in the list of callbacks
    assert capsys.readouterr().err == '' and len(seen[-1]) == 1
    with pytest.raises(RuntimeError, match='mine'):
        model.train(1, data, callbacks=[bar, ms.train.LambdaCallback(on_train_step_end=lambda _: (_ for _ in ()).throw(RuntimeError('mine')))])
    model.train(1, data, callbacks=bar)  # it can be used again
    assert capsys.readouterr().err.count('epoch 1/1') == 1


def test_the_mean_loss_is_that_of_all_steps(rng, capsys):
    model, data = small_model(rng)
    losses = []
    model.train(1, data, callbacks=[ProgressBar(), ms.train.LambdaCallback(on_train_step_end=lambda r: losses.append(
        float(r.original_args().net_outputs.asnumpy())))])
    assert f'loss {np.mean(losses):.4f}' in capsys.readouterr().err


def test_streams_that_are_shared():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    calls = []
    bar = types.SimpleNamespace(hide=lambda: calls.append('hide'), hold=calls.append)
    inner = Terminal()
    stream = _progress._SharedStream(inner, bar)
    print('begun', end='', file=stream)
    assert calls == ['hide', True]
    print(' and ended', file=stream)
    stream.writelines(['a\n', 'b\n'])
    assert inner.getvalue() == 'begun and ended\na\nb\n' and calls[-1] is False and stream.isatty()
    stream._bar = None
    assert stream.write('after') == 5 and calls[-1] is False


def test_the_line_is_the_programs():
    bar = _core.Progress(None, epochs=2, steps_per_epoch=10)
    for step in range(1, 6):
        bar.step(1, step, 1, 8, 0.5, 1.25, 0.1, ('acc', 0.5))
    assert not bar.redraws
    line = bar.line(120)
    assert line.startswith('[========>       ] epoch 1/2  5/10  loss 1.2500  acc 0.5000  lr 0.1  16 samples/s  ETA ')
    assert len(bar.line(40)) < 40 and bar.line(0).startswith('epoch 1/2')
    bar.step(1, 6, 1, 0, 0.5)
    assert bar.line(0).startswith('epoch 1/2  6/10  ETA')
    assert _core.epoch_text(1, 2, None, [], 0.0) == 'epoch 1/2'
    with pytest.raises(ValueError, match='fd'):
        _core.Progress(10 ** 6, epochs=1, steps_per_epoch=1)
