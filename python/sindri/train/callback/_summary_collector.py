"""Records a training run in event files."""
import os
import re
from typing import Any, Dict, Optional

from sindri import _checkparam as validator
from sindri import log as logger
from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.train._utils import _make_directory
from sindri.train.callback import _landscape
from sindri.train.callback._callback import Callback, RunContext, _loss_number
from sindri.train.callback._monitored import rate_held
from sindri.train.summary.summary_record import SummaryRecord

_DEFAULTS: Dict[str, Any] = {'collect_metric': True, 'collect_graph': True, 'collect_train_lineage': True, 'collect_eval_lineage': True,
                             'collect_input_data': True, 'collect_dataset_graph': True, 'collect_landscape': None, 'histogram_regular': None}
_KINDS = {'collect_landscape': [dict, None], 'histogram_regular': [str, None]}  # the others are bools
_FIRST_PARAMETERS = 5  # recorded if no regular expression selects parameters
_TENSOR_STEPS = 20  # TensorSummary values are large: about this many in a run unless a frequency is given


class SummaryCollector(Callback):
    """Records training and evaluation in event files.

    It records the loss (`loss/auto`), histograms of parameters (`<name>/auto`), input images (`input_data/auto`), the network, the values of summary
    ops, and the lineage of training and evaluation, every `collect_freq` steps (epochs when sinking) and at the first.

    collect_landscape saves parameters for loss landscapes in `<summary_dir>/ckpt_dir`. Its keys are intervals (lists of three or more step or epoch
    numbers at which to save), unit ('step', 'epoch'), landscape_size, num_samples and create_landscape.

    Args:
        summary_dir (str): The folder of the event files.
        collect_freq (int): The steps between records. Default: 10.
        num_process (int): Accepted for compatibility. Default: 32.
        collect_specified_data (dict): collect_metric, collect_graph, collect_train_lineage, collect_eval_lineage, collect_input_data,
            collect_dataset_graph (bools), histogram_regular (selects parameters by name; default: the first five) and collect_landscape (a dict,
            see above). Default: None.
        keep_default_action (bool): The value of missing bools. Default: True.
        custom_lineage_data (dict): str to int, float or str. Default: None.
        collect_tensor_freq (int): The steps between records of TensorSummary. Default: None, about 20 records in a run.
        max_file_size (float): As in SummaryRecord, in GB. Default: None.
        export_options (dict): As in SummaryRecord. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range or a key is unknown.

    Examples:
        >>> import tempfile
        >>> import sindri as ms
        >>> callback = ms.train.SummaryCollector(tempfile.mkdtemp(), collect_freq=100)
    """

    def __init__(self, summary_dir: str, collect_freq: int = 10, num_process: int = 32, collect_specified_data: Optional[dict] = None,
                 keep_default_action: bool = True, custom_lineage_data: Optional[dict] = None, collect_tensor_freq: Optional[int] = None,
                 max_file_size: Optional[float] = None, export_options: Optional[dict] = None):
        super().__init__()
        place = 'SummaryCollector'
        if not isinstance(summary_dir, str) or not summary_dir.strip():
            raise ValueError(f"{place}: 'summary_dir' must be a non-empty str, got {summary_dir!r}")
        self._collect_freq = validator.check_positive_int(collect_freq, 'collect_freq', place)
        validator.check_bool(keep_default_action, 'keep_default_action', place)
        self._specified = self._read_specified(collect_specified_data, keep_default_action)
        self._custom = self._read_custom(custom_lineage_data)
        self._tensor_freq = None if collect_tensor_freq is None else validator.check_positive_int(collect_tensor_freq, 'collect_tensor_freq', place)
        self._summary_dir = _make_directory(summary_dir, 'summary_dir')
        self._max_file_size, self._export_options = max_file_size, export_options
        self._record: Any = None
        self._custom_done = False
        self._chosen: Any = None
        landscape = self._specified['collect_landscape']
        self._landscape = _landscape.Landscape(landscape, self._summary_dir) if landscape else None

    @staticmethod
    def _read_specified(given: Optional[dict], keep: bool) -> Dict[str, Any]:
        out = {k: (v if keep or not isinstance(v, bool) else False) for k, v in _DEFAULTS.items()}
        if not keep:
            out['histogram_regular'] = False
        for key, value in validator.check_value_type('collect_specified_data', {} if given is None else given, dict, 'SummaryCollector').items():
            validator.check_string(key, list(_DEFAULTS), 'each key of collect_specified_data', 'SummaryCollector')
            validator.check_value_type(key, value, _KINDS.get(key, bool), 'SummaryCollector')
            out[key] = _landscape.check(value) if key == 'collect_landscape' and value else value
        return out

    @staticmethod
    def _read_custom(data: Optional[dict]) -> Dict[str, Any]:
        for key, value in validator.check_value_type('custom_lineage_data', {} if data is None else data, dict, 'SummaryCollector').items():
            validator.check_value_type('key of custom_lineage_data', key, str, 'SummaryCollector')
            validator.check_value_type(f'custom_lineage_data[{key!r}]', value, [int, float, str], 'SummaryCollector')
        return data or {}

    def __enter__(self) -> 'SummaryCollector':
        self._record = SummaryRecord(self._summary_dir, max_file_size=self._max_file_size, export_options=self._export_options)
        return self

    def __exit__(self, *err: Any) -> None:
        if self._record is not None:
            self._record.close()
            self._record = None

    def begin(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        self._record.set_mode(p.mode)

    def on_eval_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if self._specified['collect_eval_lineage']:
            info = {'metrics': p.get('metrics') or {}, 'valid_dataset_size': _rows(p.valid_dataset)}
            self._record.add_value('eval_lineage', 'eval_lineage', info)
            self._record.record(p.cur_step_num)
        self._record.set_mode('train')

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Does nothing: nothing is recorded for batches of an evaluation.

        Args:
            run_context (RunContext): The context of the run.
        """

    def step_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if not self._custom_done:
            self._custom_done = True
            if self._custom:
                self._record.add_value('custom_lineage_data', 'custom_lineage_data', self._custom)
            if self._specified['collect_dataset_graph']:
                description = {'operation': type(p.train_dataset).__name__, 'size': str(p.train_dataset.get_dataset_size())}
                self._record.add_value('dataset_graph', 'train_dataset', description)
            if self._specified['collect_graph']:
                self._record.add_value('graph', 'train_network/auto', p.train_network)
        if self._landscape is not None and self._landscape.unit == 'step':
            self._landscape.keep(p.cur_step_num, p.train_network)
        sinks = p.get('dataset_sink_mode', False)
        now = p.cur_epoch_num if sinks else p.cur_step_num
        if not self._tensor_freq:
            total = p.epoch_num * (1 if sinks else int(p.batch_num))
            self._tensor_freq = max(self._collect_freq, -(-total // _TENSOR_STEPS))
        values = now == 1 or now % self._collect_freq == 0
        tensors = now == 1 or now % self._tensor_freq == 0
        if values:
            self._collect(p)
        if values or tensors:
            due = {'tensor': tensors, 'scalar': values, 'image': values, 'histogram': values}
            self._record.record(p.cur_step_num, plugin_filter=lambda kind: due.get(kind, True))

    def epoch_end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if self._landscape is not None and self._landscape.unit == 'epoch' and p.mode == 'train':
            self._landscape.keep(p.cur_epoch_num, p.train_network)

    def end(self, run_context: RunContext) -> None:
        p = run_context.original_args()
        if self._landscape is not None and p.mode == 'train':
            self._landscape.finish(int(p.batch_num))
        if self._specified['collect_train_lineage']:
            self._record.add_value('train_lineage', 'train_lineage', self._lineage(p))
            self._record.record(p.cur_step_num)

    def _collect(self, p: Any) -> None:
        if self._specified['collect_metric']:
            loss = _loss_number(p.net_outputs)
            if isinstance(loss, float):
                self._record.add_value('scalar', 'loss/auto', loss)
            else:
                logger.warning_once('SummaryCollector: the first output of the network is not a number, so no loss is recorded')
        if self._specified['collect_input_data']:
            self._collect_input(p)
        if self._specified['histogram_regular'] is not False:
            if self._chosen is None:
                regular = self._specified['histogram_regular']
                floats = (mstype.float16, mstype.float32, mstype.float64)
                every = [q for q in p.train_network.get_parameters() if q.requires_grad and q.dtype in floats]
                self._chosen = [q for q in every if re.match(regular, q.name)] if regular is not None else every[:_FIRST_PARAMETERS]
            for q in self._chosen:
                self._record.add_value('histogram', f'{q.name}/auto', q)

    def _collect_input(self, p: Any) -> None:
        batch = p.get('train_dataset_element')
        first = batch[0] if isinstance(batch, (tuple, list)) and batch else batch
        if isinstance(first, Tensor) and len(first.shape) == 4 and first.shape[1] in (1, 3):
            self._record.add_value('image', 'input_data/auto', first)

    def _lineage(self, p: Any) -> Dict[str, Any]:
        optimizer = p.get('optimizer') or getattr(p.train_network, 'optimizer', None)
        backbone = getattr(p.train_network, 'network', p.train_network)
        backbone = getattr(backbone, '_backbone', backbone)
        rate = rate_held(optimizer)
        loss = _loss_number(p.net_outputs)
        info = {'optimizer': type(optimizer).__name__ if optimizer is not None else None,
                'learning_rate': float(rate.asnumpy().reshape(-1)[0]) if isinstance(rate, Tensor) else None,
                'loss_function': type(p.loss_fn).__name__ if p.get('loss_fn') is not None else '', 'epoch': p.epoch_num,
                'parallel_mode': p.get('parallel_mode') or 'stand_alone', 'device_num': p.get('device_number') or 1,
                'batch_size': p.train_dataset.get_batch_size() if hasattr(p.train_dataset, 'get_batch_size') else 0,
                'train_dataset_size': _rows(p.train_dataset), 'network': type(backbone).__name__, 'loss': loss if isinstance(loss, float) else None}
        path = p.get('latest_ckpt_file')
        if path and os.path.exists(path):
            info.update(model_path=path, model_size=os.path.getsize(path))
        return info


def _rows(dataset: Any) -> int:
    """Returns the rows of a dataset: batches times batch size."""
    batch = dataset.get_batch_size() if hasattr(dataset, 'get_batch_size') else 1
    return int(dataset.get_dataset_size()) * int(batch or 1)
