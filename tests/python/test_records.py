"""What Model.train and Model.fit return, and the callbacks that write a run for other tools."""
import csv
import math

import numpy as np
import pytest

import sindri as ms
import train_cases
from sindri import nn, ops, train
from sindri import dataset as ds
from sindri.train.callback import CSVLogger, TrainingHistory


class Noted(train.Callback):
    """The losses of all steps, and the results of evaluations, by epoch."""

    def __init__(self):
        self.losses, self.results = {}, {}

    def on_train_step_end(self, run_context):
        p = run_context.original_args()
        self.losses.setdefault(p.cur_epoch_num, []).append(float(np.mean(p.net_outputs.asnumpy())))

    def on_train_epoch_end(self, run_context):
        p = run_context.original_args()
        if p.get('metrics'):
            self.results[p.cur_epoch_num] = dict(p.eval_results)


@pytest.mark.parametrize('mode', [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_train_returns_the_mean_loss_of_each_epoch(mode):
    ms.set_context(mode=mode)
    model, _ = train_cases.model(ms, nn, train)
    noted = Noted()
    history = model.train(3, train_cases.dataset(ds), callbacks=[noted])
    assert isinstance(history, TrainingHistory) and history.epoch == [1, 2, 3] and list(history.history) == ['loss']
    assert history['loss'] == [pytest.approx(np.mean(noted.losses[e])) for e in (1, 2, 3)]
    assert history['loss'][-1] < history['loss'][0]
    with pytest.raises(KeyError, match='loss'):
        history['accuracy']
    assert repr(history).startswith('TrainingHistory(3 epochs: last loss 0.')
    more = model.train(2, train_cases.dataset(ds, batch=4))
    assert more is not history and len(history.epoch) == 3 and len(more.epoch) == 2


def test_fit_returns_the_evaluations_too():
    model, _ = train_cases.model(ms, nn, train, metrics={'acc': train.Accuracy(), 'loss': train.Loss()})
    noted = Noted()
    history = model.fit(4, train_cases.dataset(ds), train_cases.dataset(ds, 4), valid_frequency=[2, 4], callbacks=[noted])
    assert history.epoch == [1, 2, 3, 4] and set(history.history) == {'loss', 'eval_loss', 'acc'}
    assert history['loss'] == [pytest.approx(np.mean(noted.losses[e])) for e in history.epoch]
    for name in ('eval_loss', 'acc'):
        values = history[name]
        assert [math.isnan(v) for v in values] == [True, False, True, False]
        assert [values[1], values[3]] == [pytest.approx(float(noted.results[e][name])) for e in (2, 4)]


def test_history_of_many_steps_long_losses_and_overflow():
    """Losses are read a hundred at a time; those that are no single numbers at once; what is not finite does not count."""
    rows = 250
    data = ds.NumpySlicesDataset((np.arange(rows, dtype=np.float32).reshape(rows, 1),), ['x'], shuffle=False).batch(1)

    class Given(nn.Cell):
        """A training cell whose loss is its input, in several forms."""

        def __init__(self, form):
            super().__init__()
            self.form = form

        def construct(self, x):
            if self.form == 'vector':
                return ops.concat((x.reshape(-1), x.reshape(-1) + 2))
            if self.form == 'tuple':
                return x.sum(), x
            return x.sum() / (x.sum() - 3) * (x.sum() - 3)
    for form, mean in (('vector', (rows - 1) / 2 + 1), ('tuple', (rows - 1) / 2), ('nan', (rows * (rows - 1) / 2 - 3) / (rows - 1))):
        history = train.Model(Given(form)).train(1, data)
        assert history['loss'] == [pytest.approx(mean, rel=1e-6)], form


def rows_of(path):
    with open(path, newline='', encoding='utf-8') as file:
        return list(csv.DictReader(file))


def test_csv_logger(tmp_path):
    model, _ = train_cases.model(ms, nn, train, metrics={'acc': train.Accuracy()})
    path = tmp_path / 'logs' / 'run.csv'
    history = model.fit(4, train_cases.dataset(ds), train_cases.dataset(ds, 4), valid_frequency=2, callbacks=[CSVLogger(path)])
    rows = rows_of(path)
    assert [(r['step'], r['epoch']) for r in rows] == [('6', '1'), ('12', '2'), ('18', '3'), ('24', '4')]
    assert [float(r['loss']) for r in rows] == history['loss'], 'all digits'
    assert [r['acc'] for r in rows] == ['', repr(history['acc'][1]), '', repr(history['acc'][3])], 'a column that came later'
    assert all(float(r['lr']) == pytest.approx(0.1) and float(r['epoch_seconds']) > 0 for r in rows)
    model, _ = train_cases.model(ms, nn, train)
    model.train(2, train_cases.dataset(ds), callbacks=[CSVLogger(str(path), every_steps=4)])
    rows = rows_of(path)
    assert [(r['step'], r['epoch'], bool(r['step_loss'])) for r in rows] == [
        ('4', '', True), ('6', '1', False), ('8', '', True), ('12', '', True), ('12', '2', False)], 'the file was replaced'


def test_csv_logger_of_a_resumed_run(tmp_path):
    """The file of a run that was stopped within an epoch and resumed is that of one that was not, but for times."""
    def fit(path, model, epochs=3, callbacks=(), append=False):
        return model.fit(epochs, train_cases.dataset(ds), train_cases.dataset(ds, 4), callbacks=[CSVLogger(path, append, every_steps=2), *callbacks])

    def made():
        return train_cases.model(ms, nn, train, metrics={'acc': train.Accuracy()})[0]

    class Stop(Exception):
        pass

    def stop_at(step):
        def fail(run_context):
            if run_context.original_args().cur_step_num == step:
                raise Stop
        return train.LambdaCallback(on_train_step_end=fail)

    def without_times(path):
        return [{k: v for k, v in row.items() if k != 'epoch_seconds'} for row in rows_of(path)]
    whole = str(tmp_path / 'whole.csv')
    fit(whole, made())
    for stop in (9, 12):
        folder, path = tmp_path / f'ckpt{stop}', str(tmp_path / f'{stop}.csv')
        config = train.CheckpointConfig(save_checkpoint_steps=3, keep_checkpoint_max=9, integrated_save=True, exception_save=True)
        with pytest.raises(Stop):
            fit(path, made(), callbacks=[train.ModelCheckpoint('r', str(folder), config), stop_at(stop)])
        model = made()
        model.load_training_state(str(folder))
        fit(path, model, append=True)
        assert without_times(path) == without_times(whole), stop


def test_csv_logger_refuses(tmp_path):
    for bad, error in ((dict(path=3), TypeError), (dict(path='a.csv', append=1), TypeError), (dict(path='a.csv', every_steps=-1), ValueError)):
        with pytest.raises(error, match='CSVLogger'):
            CSVLogger(**bad)
    other = tmp_path / 'other.csv'
    other.write_text('a,b\n1,2\n')
    model, _ = train_cases.model(ms, nn, train)
    with pytest.raises(ValueError, match="column 'step'"):
        model.train(1, train_cases.dataset(ds), callbacks=[CSVLogger(other, append=True)])
    assert other.read_text() == 'a,b\n1,2\n'
