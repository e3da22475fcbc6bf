"""Callbacks that monitor a run: what counts as an evaluation, the state that a resumed run restores, and each way in which a run can end."""
import os
import signal

import numpy as np
import pytest

import sindri as ms
from sindri import nn
from sindri.train import Callback, CheckpointConfig, EarlyStopping, ModelCheckpoint, OnRequestExit, ReduceLROnPlateau

STEPS = 3


class Course(ms.train.Metric):
    """Returns the numbers of a list, one per evaluation, in the order of the epochs; records the weight at each."""

    def __init__(self, values, net):
        super().__init__()
        self.values, self.net, self.weights, self.at = values, net, {}, 0

    def clear(self):
        pass

    def update(self, *inputs):
        pass

    def eval(self):
        self.weights[self.at] = self.net.weight.asnumpy().copy()
        return self.values[self.at]


class Follow(Callback):
    """Passes the number of the evaluated epoch to the metric."""

    def __init__(self, course):
        super().__init__()
        self.course = course

    def on_eval_begin(self, run_context):
        self.course.at = run_context.original_args().cur_epoch_num - 1


class StopAt(Callback):
    """Requests a stop, or performs another action, after a step."""

    def __init__(self, step, act=None):
        super().__init__()
        self.step, self.act = step, act

    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == self.step:
            run_context.request_stop() if self.act is None else self.act()


def data(rows=4 * STEPS, batch=4):
    rng = np.random.default_rng(1)
    return ms.dataset.NumpySlicesDataset({'x': rng.normal(size=(rows, 2)).astype(np.float32), 'y': np.ones((rows, 1), np.float32)},
                                         shuffle=False).batch(batch)


class Run:
    """A run with a monitored metric."""

    def __init__(self, values, rate=0.0625):
        ms.set_seed(3)
        self.net = nn.Dense(2, 1)
        self.optimizer = nn.SGD(self.net.trainable_params(), rate)
        self.course = Course(values, self.net)
        self.model = ms.Model(self.net, nn.MSELoss(), self.optimizer, metrics={'m': self.course})

    def fit(self, epochs, callbacks, frequency=1):
        self.model.fit(epochs, data(), data(), valid_frequency=frequency, callbacks=[Follow(self.course), *callbacks])
        return self

    @property
    def rate(self):
        return self.optimizer.learning_rate.asnumpy().item()

    def epoch_of_weights(self):
        return [epoch + 1 for epoch, w in self.course.weights.items() if (w == self.net.weight.asnumpy()).all()]


def saver(folder, steps=1):
    return ModelCheckpoint('net', str(folder), CheckpointConfig(save_checkpoint_steps=steps, keep_checkpoint_max=100))


@pytest.mark.parametrize('make', [EarlyStopping, ReduceLROnPlateau])
def test_only_evaluations_count(mode, make):
    """An epoch without an evaluation has no effect."""
    watch = make('m', patience=2, mode='max', min_delta=0.0)
    run = Run(list(range(1, 13))).fit(12, [watch], frequency=3)
    assert sorted(run.course.weights) == [2, 5, 8, 11] and watch.wait == 0 and watch.best == 12
    worse = make('m', patience=2, mode='max', min_delta=0.0)
    run = Run([0.9] + [0.5] * 11, rate=0.5)
    run.fit(12, [worse], frequency=[1, 4, 7])
    if make is EarlyStopping:
        assert worse.stopped_epoch == 7
    else:
        assert run.rate == np.float32(0.05)


def test_the_loss_counts_every_epoch(mode):
    watch = EarlyStopping('loss', patience=3, min_delta=100.0)
    run = Run([1.0] * 12).fit(12, [watch], frequency=5)
    assert watch.stopped_epoch == 4 and not run.course.weights


@pytest.mark.parametrize('frequency', [1, 2])
def test_a_resumed_run_continues_to_count(mode, tmp_path, frequency):
    """From the checkpoint of every step, within epochs and at their ends: rate, patience, cooldown and weights equal those of the uninterrupted run."""
    values = [0.5, 0.4, 0.6, 0.6, 0.6, 0.5, 0.4, 0.4]

    def callbacks():
        return [ReduceLROnPlateau('m', mode='max', patience=2, factor=0.5, cooldown=1, min_delta=0.0),
                ReduceLROnPlateau('loss', patience=2, factor=0.75, min_delta=0.05),
                EarlyStopping('m', mode='max', patience=50, restore_best_weights=True)]

    whole_callbacks = callbacks()
    whole = Run(values).fit(8, [*whole_callbacks, saver(tmp_path)], frequency)
    for epoch in range(1, 8):
        for step in range(1, STEPS + 1):
            again, run = callbacks(), Run(values)
            run.model.load_training_state(str(tmp_path / f'net-{epoch}_{step}.ckpt'))
            run.fit(8, again, frequency)
            where = (epoch, step)
            assert run.rate == whole.rate, where
            assert [(c.wait, c.best, c.cooldown_counter) for c in again] == [(c.wait, c.best, c.cooldown_counter) for c in whole_callbacks], where
            np.testing.assert_array_equal(run.net.weight.asnumpy(), whole.net.weight.asnumpy(), err_msg=str(where))


def test_a_resumed_run_that_had_stopped_early_trains_no_further(tmp_path):
    run = Run([0.9, 0.5, 0.5, 0.5, 0.5]).fit(5, [EarlyStopping('m', mode='max', patience=2), saver(tmp_path)])
    stopped = run.net.weight.asnumpy()
    again = Run([0.9, 0.5, 0.5, 0.5, 0.5])
    again.model.load_training_state(str(tmp_path))
    again.fit(5, [EarlyStopping('m', mode='max', patience=2)])
    np.testing.assert_array_equal(again.net.weight.asnumpy(), stopped)


def test_callbacks_of_the_users_have_states_too(tmp_path, caplog, capfd):
    class Counter(Callback):
        def __init__(self):
            super().__init__()
            self.count, self.sum = 0, ms.Tensor(np.zeros(2, np.float32))

        def on_train_step_end(self, run_context):
            self.count, self.sum = self.count + 1, self.sum + 1

        def state_dict(self):
            return {'count': self.count, 'deep': {'sum': [self.sum]}, 'nan': float('nan')}

        def load_state_dict(self, state):
            assert np.isnan(state['nan'])
            self.count, self.sum = state['count'], state['deep']['sum'][0]

    Run([1.0] * 3).fit(2, [Counter(), saver(tmp_path)])
    run, counter = Run([1.0] * 3), Counter()
    run.model.load_training_state(str(tmp_path / 'net-1_2.ckpt'))
    run.fit(3, [counter])
    assert counter.count == 3 * STEPS and counter.sum.asnumpy().tolist() == [9, 9]
    run.model.load_training_state(str(tmp_path / 'net-1_2.ckpt'))
    run.fit(3, [])  # a warning reports that the callback is missing
    assert 'Counter' in capfd.readouterr().err


class Bad(Callback):
    """A state that no file can store."""

    def state_dict(self):
        return {'f': print}


def test_a_state_that_cannot_be_saved_is_refused(tmp_path):
    with pytest.raises(TypeError, match="state of .*Bad.*builtin_function"):
        Run([1.0]).fit(1, [Bad(), saver(tmp_path)])


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def fail():
    raise RuntimeError('broken')


# How a run of 4 epochs ends: (name, what acts, steps trained, epochs evaluated, epoch whose weights remain at the end, None: those of the last step).
# If a stop shortens an epoch, its due evaluation still runs, as in MindSpore; a signal ends the run without it.
ENDINGS = [('epochs', lambda: [], 12, [1, 2, 3, 4], 2),
           ('stop within an epoch', lambda: [StopAt(8)], 8, [1, 2, 3], 2),
           ('stop at an epoch\'s last step', lambda: [StopAt(6)], 6, [1, 2], 2),
           ('early stop', lambda: [EarlyStopping('m', mode='max', patience=1)], 9, [1, 2, 3], 2),
           ('signal within an epoch', lambda: [StopAt(8, lambda: os.kill(os.getpid(), signal.SIGTERM))], 8, [1, 2], 2),
           ('signal at an epoch\'s last step', lambda: [StopAt(6, lambda: os.kill(os.getpid(), signal.SIGTERM))], 6, [1], 1),
           ('Ctrl-C', lambda: [StopAt(8, interrupt)], 8, [1, 2], None),
           ('exception', lambda: [StopAt(8, fail)], 8, [1, 2], None)]


@pytest.mark.parametrize('name', [e[0] for e in ENDINGS])
def test_each_way_in_which_a_run_ends(mode, tmp_path, name):
    """The best weights are restored, and a run resumed from the last checkpoint ends like an uninterrupted one."""
    values = [0.1, 0.9, 0.3, 0.2]
    _, acts, steps, evaluated, best = next(e for e in ENDINGS if e[0] == name)
    keep, run = EarlyStopping('m', mode='max', patience=50, restore_best_weights=True), Run(values)
    asked = OnRequestExit(save_ckpt=False, save_mindir=False, directory=str(tmp_path))
    last = []

    class Count(Callback):
        def on_train_step_end(self, run_context):
            last.append(run.net.weight.asnumpy().copy())

    def train():
        run.fit(4, [Count(), *acts(), asked, keep, saver(tmp_path / 'saved')])

    if name in ('Ctrl-C', 'exception'):
        with pytest.raises(KeyboardInterrupt if name == 'Ctrl-C' else RuntimeError):
            train()
    else:
        train()
    assert len(last) == steps and [e + 1 for e in sorted(run.course.weights)] == evaluated
    if best is None:
        np.testing.assert_array_equal(run.net.weight.asnumpy(), last[-1])
    else:
        assert best in run.epoch_of_weights()
    if name in ('epochs', 'early stop', 'exception'):
        return
    whole = Run(values).fit(4, [EarlyStopping('m', mode='max', patience=50, restore_best_weights=True)])
    resumed, again = Run(values), EarlyStopping('m', mode='max', patience=50, restore_best_weights=True)
    if name.startswith('stop'):  # the last file was saved after the best weights were restored, unless the step before had saved it
        resumed.model.load_training_state(str(tmp_path / 'saved' / f'net-{(steps - 1) // STEPS + 1}_{(steps - 1) % STEPS + 1}.ckpt'))
    else:
        resumed.model.load_training_state(str(tmp_path / 'saved'))
    resumed.fit(4, [again])
    np.testing.assert_array_equal(resumed.net.weight.asnumpy(), whole.net.weight.asnumpy())
    assert again.best == 0.9
