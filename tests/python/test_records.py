"""The return values of Model.train and Model.fit, and the callbacks that write a run for other tools."""
import csv
import json
import math
import sys

import numpy as np
import pytest

import sindri as ms
import train_cases
from sindri import nn, ops, train
from sindri import dataset as ds
from sindri.train.callback import CSVLogger, MLflowLogger, TrainingHistory, WandbLogger


class Noted(train.Callback):
    """Records the losses of all steps, and the results of evaluations, by epoch."""

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
    """Losses are read a hundred at a time; those that are not single numbers, immediately; non-finite losses do not count."""
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
    assert [r['acc'] for r in rows] == ['', repr(history['acc'][1]), '', repr(history['acc'][3])], 'a column that was added later'
    assert all(float(r['lr']) == pytest.approx(0.1) and float(r['epoch_seconds']) > 0 for r in rows)
    model, _ = train_cases.model(ms, nn, train)
    model.train(2, train_cases.dataset(ds), callbacks=[CSVLogger(str(path), every_steps=4)])
    rows = rows_of(path)
    assert [(r['step'], r['epoch'], bool(r['step_loss'])) for r in rows] == [
        ('4', '', True), ('6', '1', False), ('8', '', True), ('12', '', True), ('12', '2', False)], 'the file was replaced'


def test_csv_logger_of_a_resumed_run(tmp_path):
    """The file of a run that was stopped within an epoch and resumed equals that of an uninterrupted run, except for times."""
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


# --- trackers ------------------------------------------------------------------------------------------------------------------------

def fit_with(logger, epochs=3, fail_at=None):
    model, _ = train_cases.model(ms, nn, train, metrics={'acc': train.Accuracy()})

    def fail(run_context):
        if run_context.original_args().cur_step_num == fail_at:
            raise RuntimeError('stop here')
    return model.fit(epochs, train_cases.dataset(ds), train_cases.dataset(ds, 4), callbacks=[logger, train.LambdaCallback(on_train_step_end=fail)])


def values_of(path):
    """Reads a meta.yaml, whose values are written as JSON."""
    return {k: json.loads(v) for k, v in (line.split(': ', 1) for line in path.read_text(encoding='utf-8').splitlines())}


# The keys that MLflow 3.17.2's FileStore writes for create_experiment and create_run; run_uuid is run_id's name in MLflow 1.
EXPERIMENT_KEYS = {'artifact_location', 'creation_time', 'experiment_id', 'last_update_time', 'lifecycle_stage', 'name'}
RUN_KEYS = {'artifact_uri', 'end_time', 'entry_point_name', 'experiment_id', 'lifecycle_stage', 'run_id', 'run_name', 'source_name', 'source_type',
            'source_version', 'start_time', 'status', 'tags', 'user_id', 'deleted_time', 'run_uuid'}


def test_mlflow_logger_writes_a_file_store(tmp_path):
    store = tmp_path / 'mlruns'
    logger = MLflowLogger(store, 'trees: "ü"', 'first', {'note': 'a b', '../up': 1}, every_steps=4)
    history = fit_with(logger)
    assert values_of(store / '0' / 'meta.yaml')['name'] == 'Default'
    experiment = [values_of(f) for f in store.glob('*/meta.yaml') if f.parent.name != '0'][0]
    assert set(experiment) == EXPERIMENT_KEYS and experiment['name'] == 'trees: "ü"'
    run = store / experiment['experiment_id'] / logger.run_id
    meta = values_of(run / 'meta.yaml')
    assert set(meta) == RUN_KEYS and meta['status'] == 3 and meta['run_name'] == 'first' and meta['end_time'] >= meta['start_time'] > 1e12
    assert (run / 'tags/mlflow.runName').read_text() == 'first'
    params = {str(f.relative_to(run / 'params')): f.read_text() for f in (run / 'params').rglob('*') if f.is_file()}
    assert params == {'epochs': '3', 'steps_per_epoch': '6', 'network': 'Net', 'optimizer': 'Momentum', 'loss': 'SoftmaxCrossEntropyWithLogits', 'note': 'a b',
                      '_/up': '1'}

    def points(name, of=run):
        return [(int(step), float(value)) for _, value, step in (line.split(' ') for line in (of / 'metrics' / name).read_text().splitlines())]
    for name in ('loss', 'eval_loss', 'acc'):
        assert points(name) == list(zip((6, 12, 18), history[name]))
    assert [s for s, _ in points('step_loss')] == [4, 8, 12, 16]
    second = MLflowLogger(store, 'trees: "ü"')
    with pytest.raises(RuntimeError):
        fit_with(second, fail_at=9)
    assert second.run_id != logger.run_id and len(list(store.glob('*/meta.yaml'))) == 2, 'the same experiment'
    other = run.parent / second.run_id
    assert values_of(other / 'meta.yaml')['status'] == 4 and points('loss', other) == [(6, history['loss'][0])]
    started = values_of(other / 'meta.yaml')['start_time']
    again = fit_with(MLflowLogger(store, 'trees: "ü"', run_id=second.run_id))
    assert points('loss', other) == list(zip((6, 12, 18), again['loss'])), 'what is trained again is replaced'
    assert values_of(other / 'meta.yaml')['start_time'] == started and values_of(other / 'meta.yaml')['status'] == 3


def test_mlflow_reads_what_the_logger_wrote(tmp_path, monkeypatch):
    monkeypatch.setenv('MLFLOW_ALLOW_FILE_STORE', 'true')
    tracking = pytest.importorskip('mlflow.tracking', reason='the package mlflow is not installed')
    logger = MLflowLogger(tmp_path / 'mlruns', 'trees', 'first', {'note': 'a b'})
    history = fit_with(logger)
    client = tracking.MlflowClient(tracking_uri=(tmp_path / 'mlruns').as_uri())
    run = client.search_runs([client.get_experiment_by_name('trees').experiment_id])[0]
    assert run.info.run_id == logger.run_id and run.info.status == 'FINISHED' and run.data.params['note'] == 'a b'
    assert [(m.step, m.value) for m in client.get_metric_history(logger.run_id, 'loss')] == list(zip((6, 12, 18), history['loss']))


def test_mlflow_logger_refuses(tmp_path):
    for bad, error in ((dict(folder=1), TypeError), (dict(experiment=' '), ValueError), (dict(params=[1]), TypeError), (dict(run_id='../x'), ValueError)):
        with pytest.raises(error, match='MLflowLogger'):
            MLflowLogger(**bad)
    with pytest.raises(ValueError, match='has no run'):
        fit_with(MLflowLogger(tmp_path, run_id='0' * 32))


class Recorded:
    """Replaces the package wandb."""

    def __init__(self):
        self.options, self.logged, self.exit_code = None, [], None

    def init(self, **options):
        self.options = options
        return self

    def log(self, values, step):
        self.logged.append((step, values))

    def finish(self, exit_code):
        self.exit_code = exit_code


def test_wandb_logger(tmp_path, monkeypatch):
    monkeypatch.delenv('WANDB_MODE', raising=False)
    package = Recorded()
    monkeypatch.setitem(sys.modules, 'wandb', package)
    history = fit_with(WandbLogger('birds', 'one', folder=tmp_path / 'w', params={'note': 1}, every_steps=4))
    assert {k: package.options[k] for k in ('project', 'name', 'mode', 'dir')} == {
        'project': 'birds', 'name': 'one', 'mode': 'offline', 'dir': str(tmp_path / 'w')}
    assert package.options['config']['note'] == 1 and package.options['config']['network'] == 'Net' and package.exit_code == 0
    epochs = [(step, values) for step, values in package.logged if 'epoch' in values]
    assert [(s, v['loss'], v['acc']) for s, v in epochs] == list(zip((6, 12, 18), history['loss'], history['acc']))
    assert [s for s, v in package.logged if 'step_loss' in v] == [4, 8, 12, 16]
    monkeypatch.setenv('WANDB_MODE', 'disabled')
    with pytest.raises(RuntimeError):
        fit_with(WandbLogger(folder=tmp_path), fail_at=3)
    assert package.options['mode'] == 'disabled' and package.exit_code == 1
    with pytest.raises(ValueError, match='mode'):
        WandbLogger(mode='of')
    monkeypatch.setitem(sys.modules, 'wandb', None)
    with pytest.raises(ImportError, match='pip install wandb'):
        WandbLogger()
