"""Callbacks that record a run for experiment trackers: MLflow's file store, and Weights & Biases through its package."""
import importlib
import json
import math
import os
import re
import time
import uuid
from typing import Any, Dict, List, Optional

from sindri import _checkparam as validator
from sindri._files import open_for_writing
from sindri.train.callback._records import _Logger

_RUNNING, _FINISHED, _FAILED = 1, 3, 4  # MLflow's RunStatus
_NAME = re.compile(r'[^\w.\- :/]')


def _innermost(network: Any) -> Any:
    """Returns the network inside the cells that train it."""
    while True:
        inner = getattr(network, 'network', None) or getattr(network, '_backbone', None)
        if inner is None:
            return network
        network = inner


def _params(given: Optional[Dict[str, Any]], p: Any) -> Dict[str, Any]:
    """Returns the parameters that identify a run, and those of the script."""
    own: Dict[str, Any] = {'epochs': int(p.epoch_num), 'steps_per_epoch': int(p.batch_num)}
    for name, thing in (('network', _innermost(p.get('network'))), ('optimizer', p.get('optimizer')), ('loss', p.get('loss_fn'))):
        if thing is not None:
            own[name] = type(thing).__name__
    return {**own, **(given or {})}


def _write(path: str, text: str) -> None:
    """Replaces the file atomically: a reader sees the old file or the new one."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open_for_writing(path + '.part', encoding='utf-8') as file:
        file.write(text)
    os.replace(path + '.part', path)


def _yaml(values: Dict[str, Any]) -> str:
    """Returns a mapping of numbers, texts, None and empty lists as YAML; JSON texts are YAML texts."""
    return ''.join(f'{name}: {json.dumps(value, ensure_ascii=False)}\n' for name, value in sorted(values.items()))


def _read_yaml(path: str) -> Dict[str, str]:
    """Returns the texts and numbers of a flat mapping, as this module and MLflow write them."""
    values = {}
    with open(path, encoding='utf-8') as file:
        for line in file:
            name, colon, value = line.rstrip('\n').partition(': ')
            if colon and value.startswith('"'):
                value = json.loads(value)
            elif colon and value.startswith("'"):
                value = value[1:-1].replace("''", "'")
            if colon:
                values[name] = value
    return values


class MLflowLogger(_Logger):
    """Writes the run as MLflow's file store does, without the package: `folder/EXPERIMENT/RUN/` with metrics, params and tags.

    `mlflow ui --backend-store-uri FOLDER` shows it. From version 3.17 on, MLflow rejects file stores unless MLFLOW_ALLOW_FILE_STORE=true is set;
    `mlflow migrate-filestore` transfers them to a database.

    The metrics are those of CSVLogger, with the number of the step: loss (the mean of the epoch), lr, epoch_seconds, eval_loss and the metrics of
    `Model.fit`.

    Args:
        folder (str): The store. Default: 'mlruns'.
        experiment (str): The name of the experiment, which is created if it does not exist. Default: 'Default'.
        run_name (str): The name of the run. Default: None, `run-` and the time.
        params (dict): Further parameters to record, as texts. Default: None.
        run_id (str): A run of this store to continue, such as `logger.run_id` of a stopped run; metrics of steps that are trained again are
            replaced. Default: None.
        every_steps (int): Also write `step_loss` every this number of steps; 0 writes none. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range, or the run does not exist.
        OSError: If a file cannot be written.

    Examples:
        >>> import tempfile
        >>> from sindri.train.callback import MLflowLogger
        >>> logger = MLflowLogger(tempfile.mkdtemp(), experiment='resnet')
    """

    def __init__(self, folder: Any = 'mlruns', experiment: str = 'Default', run_name: Optional[str] = None, params: Optional[Dict[str, Any]] = None,
                 run_id: Optional[str] = None, every_steps: int = 0):
        super().__init__(every_steps)
        place = 'MLflowLogger'
        self._root = os.path.abspath(os.fspath(validator.check_value_type('folder', folder, [str, os.PathLike], place)))
        self._experiment = validator.check_value_type('experiment', experiment, str, place)
        validator.check_value_type('run_name', run_name, [str, type(None)], place)
        validator.check_value_type('params', params, [dict, type(None)], place)
        if validator.check_value_type('run_id', run_id, [str, type(None)], place) is not None and not re.fullmatch('[0-9a-f]{32}', run_id or ''):
            raise ValueError(f"MLflowLogger: 'run_id' must be 32 hexadecimal digits, got {run_id!r}")
        if not experiment.strip():
            raise ValueError("MLflowLogger: 'experiment' must not be empty")
        self._name, self._given, self.run_id = run_name, params, run_id

    def _open(self, p: Any) -> None:
        continued = self.run_id is not None
        if not continued:
            self.run_id = uuid.uuid4().hex
            self._run = os.path.join(self._root, self._find_experiment(), str(self.run_id))
        else:
            found = [os.path.join(self._root, e, str(self.run_id)) for e in self._experiments() if os.path.isdir(os.path.join(self._root, e, str(self.run_id)))]
            if not found:
                raise ValueError(f"MLflowLogger: {self._root} has no run {self.run_id} | leave 'run_id' out for a new one")
            self._run = found[0]
        self._began = self._now()
        if continued:
            self._read_meta()
            self._drop_later(int(p.cur_step_num))
        else:
            self._name = self._name or time.strftime('run-%Y-%m-%d-%H-%M-%S')
        for name in ('metrics', 'params', 'tags', 'artifacts'):
            os.makedirs(os.path.join(self._run, name), exist_ok=True)
        self._write_meta(_RUNNING, None)
        if continued:
            return
        _write(os.path.join(self._run, 'tags', 'mlflow.runName'), str(self._name))
        for name, value in _params(self._given, p).items():
            _write(os.path.join(self._run, 'params', self._key(name)), str(value))

    @staticmethod
    def _now() -> int:
        return int(time.time() * 1000)

    @staticmethod
    def _key(name: str) -> str:
        """Returns a name that MLflow accepts and that stays within its folder."""
        key = _NAME.sub('_', str(name)).strip('/')
        return '/'.join(part if part.strip('.') else '_' for part in key.split('/') if part) or '_'

    def _experiments(self) -> List[str]:
        names = sorted(os.listdir(self._root)) if os.path.isdir(self._root) else []
        return [name for name in names if os.path.isfile(os.path.join(self._root, name, 'meta.yaml'))]

    def _find_experiment(self) -> str:
        """Returns the folder of the experiment of that name, created if it does not exist. `Default` is number 0, which MLflow expects in every store."""
        for folder in self._experiments():
            if _read_yaml(os.path.join(self._root, folder, 'meta.yaml')).get('name') == self._experiment:
                return folder
        if '0' not in self._experiments():
            self._make_experiment('0', 'Default')
        if self._experiment == 'Default':
            return '0'
        number = str(uuid.uuid4().int % 10 ** 18)
        self._make_experiment(number, self._experiment)
        return number

    def _make_experiment(self, number: str, name: str) -> None:
        now = self._now()
        _write(os.path.join(self._root, number, 'meta.yaml'),
               _yaml({'artifact_location': 'file://' + os.path.join(self._root, number), 'creation_time': now, 'experiment_id': number, 'last_update_time': now,
                      'lifecycle_stage': 'active', 'name': name}))

    def _write_meta(self, status: int, ended: Optional[int]) -> None:
        _write(os.path.join(self._run, 'meta.yaml'),
               _yaml({'artifact_uri': 'file://' + os.path.join(self._run, 'artifacts'), 'deleted_time': None, 'end_time': ended, 'entry_point_name': '',
                      'experiment_id': os.path.basename(os.path.dirname(self._run)), 'lifecycle_stage': 'active', 'run_id': self.run_id, 'run_name': self._name,
                      'run_uuid': self.run_id, 'source_name': '', 'source_type': 4, 'source_version': '', 'start_time': self._began, 'status': status, 'tags': [],
                      'user_id': os.environ.get('USER', '')}))

    def _read_meta(self) -> None:
        values = _read_yaml(os.path.join(self._run, 'meta.yaml'))
        self._name = values.get('run_name') or self._name
        self._began = int(values['start_time']) if values.get('start_time', '').isdigit() else self._began

    def _drop_later(self, step: int) -> None:
        for folder, _, names in os.walk(os.path.join(self._run, 'metrics')):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, encoding='utf-8') as file:
                    lines = file.readlines()
                kept = [line for line in lines if line.endswith('\n') and line.split()[-1:] and line.split()[-1].isdigit() and int(line.split()[-1]) <= step]
                if kept != lines:
                    _write(path, ''.join(kept))

    def _write(self, p: Any, values: Dict[str, Any]) -> None:
        now, step = self._now(), int(p.cur_step_num)
        for name, value in values.items():
            path = os.path.join(self._run, 'metrics', self._key(name))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open_for_writing(path, 'a', encoding='utf-8') as file:
                file.write(f'{now} {float(value)!r} {step}\n')

    def _close(self, ended: bool) -> None:
        self._write_meta(_FINISHED if ended else _FAILED, self._now())


class WandbLogger(_Logger):
    """Logs the run with Weights & Biases through the package `wandb`, which must be installed.

    WANDB_MODE and the package's other variables apply. With `mode='offline'` nothing leaves the machine: the run is a folder below `folder/wandb`,
    which `wandb sync` uploads later. The values are those of CSVLogger, with the number of the step.

    Args:
        project (str): The project. Default: None, the package's choice.
        name (str): The name of the run. Default: None, the package's choice.
        mode (str): 'online', 'offline' or 'disabled'. Default: None, that of WANDB_MODE, else 'offline'.
        folder (str): Where the run's folder is created. Default: '.'.
        params (dict): Further values for the configuration of the run. Default: None.
        every_steps (int): Also log `step_loss` every this number of steps; 0 logs none. Default: 0.

    Raises:
        ImportError: If the package is missing, when the callback is created.
        TypeError: If an argument has another type.
        ValueError: If `mode` is unknown.

    Examples:
        >>> from sindri.train.callback import WandbLogger
        >>> logger = WandbLogger(project='resnet', mode='offline')  # doctest: +SKIP
    """

    def __init__(self, project: Optional[str] = None, name: Optional[str] = None, mode: Optional[str] = None, folder: Any = '.',
                 params: Optional[Dict[str, Any]] = None, every_steps: int = 0):
        super().__init__(every_steps)
        place = 'WandbLogger'
        for key, value in (('project', project), ('name', name), ('mode', mode)):
            validator.check_value_type(key, value, [str, type(None)], place)
        if mode is not None:
            validator.check_string(mode, ['online', 'offline', 'disabled'], 'mode', place)
        validator.check_value_type('params', params, [dict, type(None)], place)
        self._folder = os.fspath(validator.check_value_type('folder', folder, [str, os.PathLike], place))
        self._options = {'project': project, 'name': name, 'mode': mode or os.environ.get('WANDB_MODE') or 'offline'}
        self._given = params
        try:
            self._wandb: Any = importlib.import_module('wandb')
        except ImportError as error:
            raise ImportError(f"WandbLogger: the package wandb cannot be imported ({error}) | pip install wandb, or use CSVLogger or MLflowLogger, which need none") from None

    def _open(self, p: Any) -> None:
        os.makedirs(self._folder, exist_ok=True)
        self._run = self._wandb.init(dir=self._folder, config=_params(self._given, p), **self._options)

    def _write(self, p: Any, values: Dict[str, Any]) -> None:
        self._run.log({name: value for name, value in values.items() if math.isfinite(value)}, step=int(p.cur_step_num))

    def _close(self, ended: bool) -> None:
        self._run.finish(exit_code=0 if ended else 1)
