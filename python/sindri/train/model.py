"""Model: training, evaluation and prediction of a network over datasets, with callbacks."""
import inspect
import json
import weakref
from typing import Any, Dict, List, Optional

import numpy as np

from sindri import amp
from sindri import _checkparam as validator
from sindri import _core, context
from sindri import log as logger
from sindri import nn
from sindri._check import warn_of_uncalled
from sindri.boost import AutoBoost, averaged_weights
from sindri.common.not_yet import not_yet
from sindri.common.tensor import Tensor
from sindri.communication.management import GlobalComm, get_group_size
from sindri.context import ParallelMode  # noqa: F401  scripts of MindSpore 1 import it from here
from sindri.nn.cell import Cell
from sindri.nn.optim.optimizer import Optimizer, expect_state
from sindri.train._function_cell import FunctionCell
from sindri.train._interrupt import Interrupt
from sindri.train.callback._callback import (Callback, RunContext, _CallbackManager, _defined_old_hooks, _InternalCallbackParam, _list_of,
                                             _loss_number)
from sindri.train.callback._progress import _default_bar
from sindri.train.callback._records import TrainingHistory
from sindri.train.callback._states import TENSOR_PREFIX, give_states, pack, states_of, unpack
from sindri.train.dataset_helper import DatasetHelper, _SunkNetwork, check_dataset, check_sink_size, connect_network_with_dataset, sinks_in_chunks
from sindri.train.loss_scale_manager import LossScaleManager
from sindri.train.metrics import Loss, get_metrics

__all__ = ['Model']

_BOOST_LEVELS = ('O0', 'O1', 'O2')
_KWARGS = ('loss_scale_manager', 'keep_batchnorm_fp32', 'boost_config_dict', 'acc_level', 'eval_weights')
# 1.x scripts rely on sinking by default, 2.x scripts on not sinking.
_SINK_DEFAULT = context.era() == 1
# Methods that MindSpore's Model and ModelThor call internally, and that scripts for old versions override.
_MINDSPORE_HOOKS = ('_train_dataset_sink_process', '_train_process', '_train', '_exec_preprocess', '_eval_dataset_sink_process', '_eval_process', '_build_boost_network',
                    '_build_predict_network', '_train_gpu_sink_step', '_train_ascend_sink_step', '_clear_metrics', '_get_metrics', '_get_scaling_sens')
# Cells with which a Model has evaluated or predicted since they were trained: their next training step sets training mode again. A
# set_train(False) of the user, for example to freeze layers, is kept.
_evaluated: 'weakref.WeakSet[Any]' = weakref.WeakSet()


class Model:
    """Trains, evaluates and predicts with a network.

    `network`, `loss_fn` and `optimizer` are combined into one training Cell. Without `optimizer`, `network` must be that Cell itself; without
    `loss_fn`, the network's output is the loss.

    Args:
        network (Cell): The network.
        loss_fn (Cell, Callable): The loss. Default: None.
        optimizer (Cell, Callable): The optimizer. Default: None.
        metrics (dict, set, list): A dict of name to Metric, or registered names. Default: None.
        eval_network (Cell): Receives a batch and returns outputs. Default: None, `network` and `loss_fn` are used.
        eval_indexes (list): The positions of loss, prediction and label in these outputs. Default: None.
        amp_level (str): 'O0' to 'O3', 'auto' or a full name, see sindri.amp. The half type is bfloat16 on a CPU target, else float16. O2 in
            float16 gets a DynamicLossScaleManager unless one is given. Default: 'O0'.
        boost_level (str): 'O0', 'O1' or 'O2', see boost.AutoBoost. Default: 'O0'.
        **kwargs: `loss_scale_manager` (LossScaleManager); `keep_batchnorm_fp32` (bool); `boost_config_dict` (dict), see boost.AutoBoost;
            `acc_level`, the older name of `boost_level`; `eval_weights`, 'trained' or the training algorithm whose weights eval() and fit()
            evaluate with, such as 'average'.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a level, keyword, metric or `eval_indexes` is unknown or malformed.
        NotYetError: If a training algorithm is not available yet.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> from sindri import nn
        >>> x, y = np.ones((4, 1), np.float32), np.full((4, 1), 2, np.float32)
        >>> data = ms.dataset.NumpySlicesDataset((x, y), ['data', 'label'], shuffle=False).batch(2)
        >>> net = nn.Dense(1, 1, 'zeros', has_bias=False)
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25), metrics={'mae'})
        >>> history = model.train(2, data)
        >>> model.eval(data)
        {'mae': 0.125}
        >>> print(model.predict(ms.Tensor([[1.0]])))
        [[1.875]]
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        warn_of_uncalled(cls, Model, _MINDSPORE_HOOKS, "override train, eval or predict, or pass your own training cell to Model as network")

    def __init__(self, network: Any, loss_fn: Any = None, optimizer: Any = None, metrics: Any = None, eval_network: Any = None,
                 eval_indexes: Optional[List[int]] = None, amp_level: str = 'O0', boost_level: str = 'O0', **kwargs: Any):
        self._network = network
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._metrics = metrics
        self._amp_level = amp_level
        self._check_kwargs(kwargs)
        self._check_networks()
        self._loss_in_float32 = amp._casts_all(amp_level)  # ValueError for an unknown level
        self._boost_level = validator.check_string(kwargs.get('acc_level', boost_level), _BOOST_LEVELS, 'boost_level', 'Model')
        self._boost = AutoBoost(self._boost_level, kwargs.get('boost_config_dict', ''))
        if optimizer is not None:
            self._boost.check_manager(kwargs.get('loss_scale_manager'))
            self._network, self._optimizer = self._boost.network_auto_process_train(network, optimizer)
        if self._boost.algorithms and optimizer is None:
            logger.warning('Model: without optimizer there is no training step for %s to work on', ', '.join(name for name, _ in self._boost.algorithms))
        self._eval_weights = kwargs.get('eval_weights', 'trained')
        self._keep_bn_fp32 = kwargs.get('keep_batchnorm_fp32')
        self._loss_scale_manager_set = 'loss_scale_manager' in kwargs
        self._loss_scale_manager = kwargs.get('loss_scale_manager')
        if self._loss_scale_manager is not None and optimizer is None:
            raise ValueError("Model: 'loss_scale_manager' needs an 'optimizer' | your own training cell scales its loss itself")
        if not self._loss_scale_manager_set and optimizer is not None:
            self._loss_scale_manager = amp._level_manager(amp_level)
        self._parallel_mode = context.get_auto_parallel_context('parallel_mode')
        self._device_number = context.get_auto_parallel_context('device_num')
        self._position: Any = None  # the position to continue from
        self._callback_values: Dict[str, Tensor] = {}  # the Tensors of the callbacks' saved states
        self._together: Any = None  # the data-parallel state of several ranks, during training
        self._bar: Any = None  # the progress bar of the current run
        self._steps_before = self._epoch_began_at = self._steps_trained = 0
        self._metric_fns: Dict[str, Any] = {}
        self._train_network = self._build_train_network()
        self._report_unknown()
        if self._eval_weights != 'trained':
            if self._eval_weights not in getattr(self._train_network, 'boost_algorithms', ()):
                raise ValueError(f"Model: 'eval_weights' is {self._eval_weights!r}, and no training algorithm of that name is in force | switch it on in "
                                 "boost_config_dict, or give 'trained'")
            self._train_network._boost_step.other_weights(self._eval_weights)  # ValueError if it keeps none
        self._eval_network: Any = None
        self._eval_indexes: Optional[List[int]] = None
        self._build_eval_network(metrics, eval_network, eval_indexes)
        self._predict_network = self._network

    # --- construction ---------------------------------------------------------------------------------------------------------

    def _check_kwargs(self, kwargs: Dict[str, Any]) -> None:
        for name in kwargs:
            if name not in _KWARGS:
                raise ValueError(f"Model: unknown argument '{name}' | known are {', '.join(_KWARGS)}")
        for name, kind in (('loss_scale_manager', LossScaleManager), ('keep_batchnorm_fp32', bool)):
            validator.check_value_type(name, kwargs.get(name), [kind, None], 'Model')
        validator.check_value_type('boost_config_dict', kwargs.get('boost_config_dict') or {}, dict, 'Model')

    def _check_networks(self) -> None:
        validator.check_value_type('network', self._network, Cell, 'Model')
        for name, value in (('loss_fn', self._loss_fn), ('optimizer', self._optimizer)):
            if value is not None and not callable(value):
                raise TypeError(f"Model: '{name}' must be a Cell or a function, got {type(value).__name__}")
        if self._loss_fn is not None and not isinstance(self._loss_fn, Cell):
            self._loss_fn = FunctionCell(self._loss_fn)

    def _build_train_network(self) -> Any:
        if self._optimizer is None:
            return self._network if self._loss_fn is None else nn.WithLossCell(self._network, self._loss_fn)
        config: Dict[str, Any] = {}
        if self._loss_scale_manager is not None or self._loss_scale_manager_set:
            config['loss_scale_manager'] = self._loss_scale_manager
        if self._keep_bn_fp32 is not None:
            config['keep_batchnorm_fp32'] = self._keep_bn_fp32
        return amp.build_train_network(self._network, self._optimizer, self._loss_fn, level=self._amp_level, boost_level=self._boost_level,
                                       boost=self._boost, **config)

    def _report_unknown(self) -> None:
        """Warns of parameters that the optimizer has and the network lacks: the network was changed after the optimizer was created, as by less_bn."""
        held = getattr(self._optimizer, 'parameters', None)
        if not isinstance(held, (tuple, list)):
            return
        cells = [cell for cell in (self._network, self._loss_fn) if isinstance(cell, Cell)]
        known = {id(p) for cell in cells for p in cell.get_parameters()}
        strangers = [p.name for p in held if id(p) not in known]
        if strangers:
            logger.warning("Model: the optimizer holds %d parameters that the network does not have (the first is '%s') | they are not trained: was the network changed, "
                           "for example by boost_level or less_bn of another Model, after the optimizer was made?", len(strangers), strangers[0])

    def _build_eval_network(self, metrics: Any, eval_network: Any, eval_indexes: Optional[List[int]]) -> None:
        self._metric_fns = get_metrics(metrics) or {} if metrics is not None else {}
        if not self._metric_fns:
            return
        if eval_network is not None:
            if eval_indexes is not None and not (isinstance(eval_indexes, list) and len(eval_indexes) == 3):
                raise ValueError(f"Model: 'eval_indexes' must be a list of 3 (loss, prediction, label), got {eval_indexes!r}")
            self._eval_network = eval_network
            self._eval_indexes = eval_indexes
            return
        if self._loss_fn is None:
            raise ValueError("Model: with 'metrics' either 'loss_fn' or 'eval_network' is needed")
        self._eval_network = nn.WithEvalCell(self._network, self._loss_fn, self._loss_in_float32)
        self._eval_indexes = [0, 1, 2]

    # --- properties -----------------------------------------------------------------------------------------------------------

    @property
    def train_network(self) -> Any:
        """Cell: Performs one training step."""
        return self._train_network

    @property
    def predict_network(self) -> Any:
        """Cell: The network itself."""
        return self._predict_network

    @property
    def eval_network(self) -> Any:
        """Cell: Evaluates one batch; None without metrics."""
        return self._eval_network


    # --- modes ----------------------------------------------------------------------------------------------------------------

    def _to_training(self) -> None:
        self._train_network.set_train()
        _evaluated.discard(self._network)

    def _to_inference(self, network: Any) -> None:
        network.set_train(False)
        _evaluated.update(cell for _, cell in network.cells_and_names())
        _evaluated.add(self._network)  # the user's evaluation network may contain only parts of it

    # --- training -------------------------------------------------------------------------------------------------------------

    def train(self, epoch: int, train_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = _SINK_DEFAULT, sink_size: int = -1,
              initial_epoch: int = 0) -> TrainingHistory:
        """Trains the network.

        On a terminal and in a notebook a line shows the progress: train.callback.ProgressBar. Ctrl-C finishes the current step, lets ModelCheckpoint
        save, and raises KeyboardInterrupt.

        Args:
            epoch (int): The number of passes over the dataset; when sinking with `sink_size` above 0, the number of chunks of that many steps.
            train_dataset (Dataset): The data.
            callbacks (Callback, list): The callbacks. Default: None.
            dataset_sink_mode (bool): In graph mode with a device_target other than 'CPU', a chunk (a pass, or `sink_size` steps) runs without
                returning to Python, and step callbacks are called once per chunk. On 'CPU' (era 2) and in PyNative mode they are called every
                step. Default: False; True with SINDRI_MINDSPORE_ERA=1.
            sink_size (int): The steps of a chunk; -1 is a pass. Default: -1.
            initial_epoch (int): The number of epochs already trained; epochs from there to `epoch` are trained. Default: 0.

        Returns:
            train.callback.TrainingHistory with the mean loss of each epoch. (MindSpore returns None.)

        Raises:
            TypeError: If an argument has another type, or the network does not accept the dataset's columns.
            ValueError: If `epoch` or `sink_size` is out of range, the dataset is empty or, with a loss_fn, does not have two columns.
            RuntimeError: If the dataset sinks into another Model.
        """
        return self._run_training(epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, None)

    def fit(self, epoch: int, train_dataset: Any, valid_dataset: Any = None, valid_frequency: Any = 1, callbacks: Any = None,
            dataset_sink_mode: bool = _SINK_DEFAULT, valid_dataset_sink_mode: bool = _SINK_DEFAULT, sink_size: int = -1,
            initial_epoch: int = 0) -> TrainingHistory:
        """Trains the network as `train` does, with evaluations in between.

        At the end of an evaluated epoch the results are in the callback parameters `metrics` and `eval_results`.

        Args:
            epoch (int): As in `train`.
            train_dataset (Dataset): The training data.
            valid_dataset (Dataset): The evaluation data. Default: None, which is an error.
            valid_frequency (int, list): Evaluate every so many epochs, or after the listed epochs. Default: 1.
            callbacks (Callback, list): The callbacks; they may define only the hooks `on_train_…` and `on_eval_…`. Default: None.
            dataset_sink_mode (bool): As in `train`.
            valid_dataset_sink_mode (bool): Has no effect on the result.
            sink_size (int): As in `train`. Default: -1.
            initial_epoch (int): As in `train`. Default: 0.

        Returns:
            train.callback.TrainingHistory, with eval_loss and the metrics too.

        Raises:
            TypeError: As `train`.
            ValueError: As `train`, and if `valid_dataset` or metrics are missing or a callback defines an old hook.
            RuntimeError: As `train`.

        Examples:
            >>> import numpy as np
            >>> import sindri as ms
            >>> from sindri import nn
            >>> x, y = np.ones((4, 1), np.float32), np.full((4, 1), 2, np.float32)
            >>> data = ms.dataset.NumpySlicesDataset((x, y), ['data', 'label'], shuffle=False).batch(2)
            >>> net = nn.Dense(1, 1, 'zeros', has_bias=False)
            >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.25), metrics={'mae'})
            >>> model.fit(2, data, data)['mae']
            [0.5, 0.125]
        """
        callbacks = _list_of(callbacks)
        for c in callbacks:
            old = _defined_old_hooks(c)
            if old:
                raise ValueError(f"Model.fit: {type(c).__name__} defines the old hook '{old[0]}', which would run in training and in evaluation | "
                                 f"define on_train_{old[0]} or on_eval_{old[0]}")
        validator.check_bool(valid_dataset_sink_mode, 'valid_dataset_sink_mode', 'Model.fit')
        if valid_dataset is None:
            raise ValueError("Model.fit: 'valid_dataset' is needed | use Model.train to train without evaluation")
        if not self._metric_fns:
            raise ValueError("Model.fit: the Model has no metrics | give Model(metrics=…)")
        check_dataset(valid_dataset, 'valid_dataset')
        due: Any = validator.check_value_type('valid_frequency', valid_frequency, [int, list, tuple], 'Model.fit')
        if isinstance(due, int):
            due = range(validator.check_positive_int(due, 'valid_frequency', 'Model.fit'), 10 ** 12, due)
        else:
            validator.check_positive_int_sequence(due, 'valid_frequency', 'Model.fit')
        return self._run_training(epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, (valid_dataset, due))

    def _check_training(self, epoch: Any, dataset: Any, sink: Any, sink_size: Any, initial_epoch: Any) -> int:
        """Checks the arguments of a training run; returns the steps of a pass."""
        epoch = validator.check_positive_int(epoch, 'epoch', 'Model.train')
        if validator.check_non_negative_int(initial_epoch, 'initial_epoch', 'Model.train') >= epoch:
            raise ValueError(f"Model.train: 'initial_epoch' must be below 'epoch', got {initial_epoch} and {epoch}")
        validator.check_bool(sink, 'dataset_sink_mode', 'Model.train')
        check_sink_size(sink_size, 'Model.train')
        check_dataset(dataset, 'train_dataset')
        size = dataset.get_dataset_size()
        if size == 0:
            raise ValueError('Model.train: the dataset is empty | check its files, and that batch(drop_remainder=True) leaves a batch')
        if self._loss_fn is not None:
            _check_columns(dataset, 'Model.train')
        else:
            _check_inputs(self._network, dataset)
        if sink and sinks_in_chunks():
            owner = getattr(dataset, '__model_hash__', None)
            if owner is not None and owner != hash(self):
                raise RuntimeError('Model.train: the dataset is consumed by another Model in sink mode | make a new dataset object')
            dataset.__model_hash__ = hash(self)
        elif sink_size != -1 and not sink:
            logger.warning("Model.train: 'sink_size' has no effect without dataset_sink_mode=True")
        return size

    def _parameters(self, callbacks: List[Callback], **own: Any) -> Any:
        """Returns the parameters that callbacks see, in training and in evaluation."""
        return _InternalCallbackParam(loss_fn=self._loss_fn, optimizer=self._optimizer, list_callback=callbacks,
                                      parallel_mode=self._parallel_mode, device_number=self._device_number, **own)

    def _run_training(self, epoch: int, dataset: Any, callbacks: Any, sink: bool, sink_size: int, initial_epoch: int,
                      validation: Any) -> TrainingHistory:
        size = self._check_training(epoch, dataset, sink, sink_size, initial_epoch)
        callbacks = _list_of(callbacks)
        position, self._position = self._position or _core.TrainPosition(initial_epoch), None
        values, self._callback_values = self._callback_values, {}
        if position.step > 0:
            initial_epoch = self._initial_epoch(position, epoch, initial_epoch)
        p = self._parameters(callbacks, train_network=self._train_network, network=self._train_network, epoch_num=epoch, mode='train',
                             batch_num=sink_size if sink and sink_size > 0 else size, train_dataset=dataset, train_dataset_element=None,
                             dataset_sink_mode=sink, cur_step_num=position.step, cur_epoch_num=initial_epoch + 1, net_outputs=None,
                             last_save_ckpt_step=None, latest_ckpt_file=None)
        if validation is not None:
            p.metrics, p.eval_results, p.valid_dataset = {}, {}, validation[0]
        helper = DatasetHelper(dataset, sink, sink_size, epoch - initial_epoch)
        if position.step > 0:
            helper.continue_from(position.dataset_state, position.step_in_epoch, epoch)
        # Steps before this call, which callbacks do not count: none for a run that was loaded; else those this Model has trained, or initial_epoch's.
        self._steps_before = 0 if position.step > 0 else self._steps_trained or initial_epoch * int(p.batch_num)
        self._epoch_began_at = p.cur_step_num - position.step_in_epoch
        vars(p)['_training_state'] = lambda: self._training_state(p, helper)
        saved = json.loads(position.callbacks or '{}')
        saved.update(states=unpack(saved.get('states', ''), values), epoch_open=position.epoch_open)
        self._bar = _default_bar(callbacks)
        if self._bar is not None and validation is not None:
            due = validation[1]
            self._bar._expect_evaluations(due.step if isinstance(due, range) else max(1, epoch // len(due)), validation[0].get_dataset_size())
        history = TrainingHistory()
        shown: List[Callback] = [] if self._bar is None or self._bar in callbacks else [self._bar]  # last, so that the others' output precedes it
        # The interrupt is entered first and left last: a second Ctrl-C while callbacks save is raised at once.
        with Interrupt() as interrupt:
            try:
                with _CallbackManager(callbacks + [history] + shown) as hooks:
                    self._train_loop(p, helper, hooks, interrupt, initial_epoch, validation, saved)
            finally:  # after the callbacks' exits, which save the position in the data
                self._steps_trained = self._steps_before + p.cur_step_num
                helper.release()
                self._bar = None
                del vars(p)['_training_state']
        return history

    def _train_loop(self, p: Any, helper: DatasetHelper, hooks: _CallbackManager, interrupt: Interrupt, initial_epoch: int, validation: Any,
                    saved: Dict[str, Any]) -> None:
        run_context = RunContext(p)
        network = self._train_network
        if helper.runs_chunks:
            network = connect_network_with_dataset(self._train_network, helper)
            network.interrupt = interrupt
            if self._selects_variants():
                network.before_step = lambda done: self._select_variant(p.cur_step_num - helper.sink_size() + done)
        self._to_training()
        self._begin_together(p)
        self._copy_loss_scale()  # a checkpoint may have been loaded
        self._tell('begin', p)
        if getattr(self._train_network, 'boost_algorithms', ()):
            first = self._steps_before + p.cur_step_num
            left = (p.epoch_num - initial_epoch) * int(p.batch_num) - (p.cur_step_num - self._epoch_began_at)
            self._train_network._boost_step.plan(first, first + left)
        hooks.on_train_begin(run_context)
        give_states(p.list_callback, saved['states'])
        if saved['epoch_open']:
            self._end_open_epoch(p, hooks, run_context, interrupt, validation, saved)
        for index in range(initial_epoch, p.epoch_num):
            if run_context.get_stop_requested():  # by the end of the open epoch
                break
            p.cur_epoch_num = index + 1
            vars(p).update(_epoch_ended=False, _states=None)
            self._tell('epoch_begin', p)
            hooks.on_train_epoch_begin(run_context)
            if run_context.get_stop_requested() and p.cur_step_num > 0 and index == initial_epoch:
                break  # a resumed run that had stopped early
            if index > initial_epoch:
                self._epoch_began_at = p.cur_step_num
            for batch in helper:
                self._one_step(p, network, batch, helper, hooks, run_context, interrupt)
                if run_context.get_stop_requested():
                    break
            if not helper.runs_chunks:
                p.train_dataset.reset()
            self._end_epoch(p, hooks, run_context, interrupt, validation)
            if run_context.get_stop_requested():
                break
            if p.cur_epoch_num < p.epoch_num:
                interrupt.check()  # before the next epoch reads its first batch
        self._tell('end', p)
        hooks.on_train_end(run_context)
        interrupt.check()

    def _end_epoch(self, p: Any, hooks: _CallbackManager, run_context: RunContext, interrupt: Interrupt, validation: Any) -> None:
        """Ends an epoch: runs an evaluation if one is due, even if a stop request cut the epoch short, then the callbacks.

        Until all of it is done, checkpoints contain the callbacks' states from before; if the run ends early here, they keep them. A run that resumes
        from such a checkpoint ends the epoch itself.
        """
        vars(p)['_states'] = states_of(p.list_callback)
        self._tell('epoch_end', p)
        if validation is not None:
            vars(p)['_evaluated'] = False
            if p.cur_epoch_num in validation[1] and not run_context._exits_at_once:
                vars(p)['_evaluated'] = self._eval_in_fit(p, validation[0], run_context, interrupt)
                self._to_training()
        hooks.on_train_epoch_end(run_context)
        if validation is not None:
            p.metrics, p.eval_results = {}, {}  # of this epoch only
        cut_short = run_context.get_stop_requested() and p.cur_step_num - self._epoch_began_at < int(p.batch_num)
        if not cut_short and not run_context._exits_at_once:
            vars(p).update(_epoch_ended=True, _states=None)

    def _end_open_epoch(self, p: Any, hooks: _CallbackManager, run_context: RunContext, interrupt: Interrupt, validation: Any,
                        saved: Dict[str, Any]) -> None:
        """Ends an epoch whose steps were all done when the checkpoint was saved, but whose end was not."""
        began_at, self._epoch_began_at = self._epoch_began_at, p.cur_step_num - int(p.batch_num)
        epoch, p.cur_epoch_num = p.cur_epoch_num, p.cur_epoch_num - 1
        if saved.get('loss') is not None:
            p.net_outputs = Tensor(np.float32(saved['loss']))
        self._end_epoch(p, hooks, run_context, interrupt, validation)
        p.cur_epoch_num, self._epoch_began_at = epoch, began_at

    def _begin_together(self, p: Any) -> None:
        """With several ranks, checks that all run the same training and starts from rank 0's values."""
        self._together = None
        if self._parallel_mode != ParallelMode.DATA_PARALLEL or not GlobalComm.INITED or get_group_size() == 1:
            return
        own = set(self._train_network.rank_state()) if hasattr(self._train_network, 'rank_state') else set()
        state = [(q.name, q) for q in self._train_network.get_parameters() if q.name not in own]
        reducer = getattr(self._train_network, 'grad_reducer', None)
        mean = reducer.mean if isinstance(reducer, nn.DistributedGradReducer) else context.get_auto_parallel_context('gradients_mean')
        weights = getattr(self._optimizer, 'parameters', None) or self._train_network.trainable_params()
        fusion, bucket_mb = context._fusion()
        self._together = _core.comm.DataParallel(list(weights), state, mean, fusion, bucket_mb, context._broadcasts_parameters())
        lines = [f'{name}: {value}' for name, value in (
            ('steps per epoch', p.batch_num), ('epochs', p.epoch_num), ('steps done', p.cur_step_num), ('amp_level', self._amp_level),
            ('batch size', getattr(p.train_dataset, 'get_batch_size', lambda: None)()), ('loss scale manager', type(self._loss_scale_manager).__name__))]
        self._together.begin(lines, [])

    @staticmethod
    def _initial_epoch(position: Any, epoch: int, initial_epoch: int) -> int:
        if initial_epoch not in (0, position.epoch):
            raise ValueError(f"Model.train: 'initial_epoch' is {initial_epoch}, the training state that was loaded is after epoch {position.epoch} | "
                             "leave initial_epoch out")
        if position.epoch >= epoch:
            raise ValueError(f"Model.train: all {epoch} epochs are trained already | 'epoch' counts those before the training state, too")
        return int(position.epoch)

    def _training_state(self, p: Any, helper: DatasetHelper) -> List[Any]:
        """Returns the state, besides Parameters, that a checkpoint saved now contains."""
        done = p.cur_step_num - self._epoch_began_at
        if not helper.counts_passes and helper.iter.given != done:
            return []  # the step that failed has read its batch
        complete = done >= int(p.batch_num)
        held = vars(p).get('_states')
        states, tensors = pack(states_of(p.list_callback) if held is None else held)
        saved: Dict[str, Any] = {'states': states}
        epoch_open = complete and not vars(p).get('_epoch_ended')
        if epoch_open:
            loss = _loss_number(p.net_outputs)
            saved['loss'] = loss if isinstance(loss, float) else None
        position = _core.TrainPosition(p.cur_epoch_num - (0 if complete else 1), 0 if complete else done, self._steps_before + p.cur_step_num,
                                       helper.iter.state(), json.dumps(saved), epoch_open)
        return _core.training_state_entries(position) + tensors

    def load_training_state(self, path: str, dec_key: Optional[bytes] = None, dec_mode: str = 'AES-GCM') -> Any:
        """Loads a checkpoint of ModelCheckpoint, so that the next train() or fit() continues from it.

        It can also continue in the middle of an epoch, and the run is bitwise identical to one that was not interrupted: parameters, optimizer, loss
        scale, training algorithms, random state and the position in the data are restored. Create the Model and the dataset as before, and pass the
        total number of epochs to train().

        Args:
            path (str): A file, or a folder whose newest valid checkpoint is used.
            dec_key (bytes): The key of CheckpointConfig. Default: None.
            dec_mode (str): The mode of CheckpointConfig. Default: 'AES-GCM'.

        Returns:
            The position (epoch, step_in_epoch, step).

        Raises:
            ValueError: If the file does not exist, belongs to another training run, contains no state, or has another key.
        """
        if self._optimizer is None:
            raise ValueError("Model.load_training_state: the Model has no optimizer")
        _core.check_key(dec_key, dec_mode, 'Model.load_training_state', 'dec_key', 'dec_mode')
        params = {p.name: p for p in self._train_network.get_parameters()}

        def more(held: dict) -> list:
            """Returns the entries of state that an optimizer creates once it knows the contents of the file."""
            expect_state(self._train_network, held)
            new = {p.name: p for p in self._train_network.get_parameters() if p.name not in params}
            params.update(new)
            kept = [(name, dtype, shape) for name, (shape, dtype) in held.items() if name.startswith(TENSOR_PREFIX)]
            return [(name, p.dtype, p.shape) for name, p in new.items()] + kept

        self._position, values = _core.load_training_state(path, [(name, p.dtype, p.shape) for name, p in params.items()], dec_key, dec_mode, more)
        _core.set_rng_state(values.pop('sindri.rng_state'))
        _core.comm.place_random_numbers()
        self._callback_values = {name: values.pop(name) for name in list(values) if name.startswith(TENSOR_PREFIX)}
        for name, value in values.items():
            params[name].set_data(value)
        return self._position

    def _tell(self, event: str, p: Any) -> None:
        """Reports an event to the training algorithms, before the callbacks."""
        tell = getattr(self._train_network, 'boost_event', None)
        if tell is None:
            return
        dataset, per_epoch = p.train_dataset, int(p.batch_num)
        tell(event, self._steps_before + p.cur_step_num, per_epoch, lambda: dataset.create_tuple_iterator(num_epochs=1, do_copy=False),
             p.cur_step_num - self._epoch_began_at >= per_epoch)

    def _one_step(self, p: Any, network: Any, batch: Any, helper: DatasetHelper, hooks: _CallbackManager, run_context: RunContext,
                  interrupt: Interrupt) -> None:
        """Runs a step, or a chunk of steps. Ctrl-C while its batch was awaited ends the run after it: data that was read cannot be put back."""
        before = p.cur_step_num
        p.cur_step_num = before + helper.sink_size()
        p.train_dataset_element = batch
        hooks.on_train_step_begin(run_context)
        if self._network in _evaluated:  # set by a callback, through this Model or another
            self._to_training()
        if not isinstance(network, _SunkNetwork) and self._selects_variants():
            self._select_variant(before)
        try:
            p.net_outputs = network(*batch)
        except Exception as error:
            p.cur_step_num = before
            self._explain(error, batch)
            raise
        if isinstance(network, _SunkNetwork):
            p.cur_step_num = before + network.steps_done  # fewer if Ctrl-C cut the chunk short
            p.train_dataset_element = network.last_batch
        self._follow_loss_scale(p.net_outputs)
        p._step_done()
        if self._bar is not None:
            self._bar._step_computed()
        if self._together is not None:
            for step in range(before + 1, p.cur_step_num + 1):
                self._together.after_step(step)
        if interrupt.noted and p.cur_step_num - before < helper.sink_size():
            interrupt.check()
        self._tell('step_end', p)
        hooks.on_train_step_end(run_context)
        if interrupt.noted and p.cur_step_num - self._epoch_began_at < int(p.batch_num):
            interrupt.check()  # before the next batch is read: a checkpoint saved now has the position of the data

    def _selects_variants(self) -> bool:
        """Returns whether the optimizer's steps differ, so that it needs the number of each."""
        return isinstance(self._optimizer, Optimizer) and type(self._optimizer).variant is not Optimizer.variant

    def _select_variant(self, step: int) -> None:
        step += self._steps_before
        updates = getattr(self._train_network, 'updates_before', None)  # with accumulation the optimizer counts updates
        self._optimizer.select_variant(step if updates is None else updates(step))

    @staticmethod
    def _explain(error: Exception, batch: Any) -> None:
        """Adds the batch's shapes to an error raised by the network."""
        shapes = ', '.join(f'{x.dtype}{list(x.shape)}' for x in batch if isinstance(x, Tensor))
        note = getattr(error, 'add_note', None)
        if shapes and note is not None:
            note(f'while training on a batch of {shapes}')

    def _follow_loss_scale(self, outputs: Any) -> None:
        """Reports an overflow to the manager and copies the training cell's current scale to it: a chunk of steps returns only its last."""
        manager = self._loss_scale_manager
        if manager is None or not manager.get_drop_overflow_update():
            return
        if not isinstance(outputs, (tuple, list)) or len(outputs) < 3:
            raise ValueError("Model.train: with a loss_scale_manager that drops steps the training cell must return (loss, overflow, scale), "
                             f"got {type(outputs).__name__}")
        manager.update_loss_scale(bool(np.all(outputs[1].asnumpy() if isinstance(outputs[1], Tensor) else outputs[1])))
        self._copy_loss_scale()

    def _copy_loss_scale(self) -> None:
        follow = getattr(self._loss_scale_manager, '_follow', None)  # a user's manager may have none
        if follow is not None and hasattr(self._train_network, 'scale_sense'):
            follow(self._train_network)

    # --- evaluation -------------------------------------------------------------------------------------------------------------

    def eval(self, valid_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = _SINK_DEFAULT) -> Dict[str, Any]:
        """Evaluates the network on a dataset.

        Args:
            valid_dataset (Dataset): The data.
            callbacks (Callback, list): The callbacks. Default: None.
            dataset_sink_mode (bool): Has no effect on the result.

        Returns:
            Dict of metric values by name.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If the Model has no metrics, or the dataset is empty.
        """
        check_dataset(valid_dataset, 'valid_dataset')
        validator.check_bool(dataset_sink_mode, 'dataset_sink_mode', 'Model.eval')
        if not self._metric_fns:
            raise ValueError("Model.eval: the Model has no metrics | give Model(metrics={'acc'}) or a dict of Metric objects")
        if self._loss_fn is not None and self._eval_indexes == [0, 1, 2]:
            _check_columns(valid_dataset, 'Model.eval')
        callbacks = _list_of(callbacks)
        p = self._parameters(callbacks, network=self._eval_network, epoch_num=1, dataset_sink_mode=dataset_sink_mode)
        with _CallbackManager(callbacks) as hooks:
            return self._eval_loop(p, valid_dataset, hooks, RunContext(p))

    def _eval_loop(self, p: Any, dataset: Any, hooks: Callback, run_context: RunContext, interrupt: Optional[Interrupt] = None) -> Dict[str, Any]:
        if self._eval_weights == 'trained':
            return self._eval_pass(p, dataset, hooks, run_context, interrupt)
        with averaged_weights(self._train_network, self._eval_weights):
            return self._eval_pass(p, dataset, hooks, run_context, interrupt)

    def _eval_pass(self, p: Any, dataset: Any, hooks: Callback, run_context: RunContext, interrupt: Optional[Interrupt]) -> Dict[str, Any]:
        if dataset.get_dataset_size() == 0:
            raise ValueError('Model.eval: the dataset is empty | check its files, and that batch(drop_remainder=True) leaves a batch')
        p.update(eval_network=self._eval_network, valid_dataset=dataset, batch_num=dataset.get_dataset_size(), mode='eval', cur_step_num=0,
                 eval_dataset_element=None, metrics={}, eval_results={})
        for metric in self._metric_fns.values():
            metric.clear()
        mean_loss = Loss()
        self._to_inference(self._eval_network)
        hooks.on_eval_begin(run_context)
        hooks.on_eval_epoch_begin(run_context)
        for row in dataset.create_tuple_iterator(num_epochs=1, do_copy=False):
            p.cur_step_num += 1
            p.eval_dataset_element = batch = tuple(row)
            hooks.on_eval_step_begin(run_context)
            p.net_outputs = outputs = self._eval_network(*batch)
            hooks.on_eval_step_end(run_context)
            self._update_metrics(outputs, mean_loss, batch)
            if interrupt is not None:
                interrupt.check()
            if run_context.get_stop_requested():
                break
        results = {name: metric.eval() for name, metric in self._metric_fns.items()}
        p.metrics = results
        p.eval_results = dict(results)
        if not mean_loss._counter.empty:
            p.eval_results['eval_loss'] = mean_loss.eval()
        hooks.on_eval_epoch_end(run_context)
        hooks.on_eval_end(run_context)
        dataset.reset()
        return results

    def _loss_weight(self, batch: Any) -> Optional[float]:
        """Returns the weight of a batch's loss in that of an evaluation, which does not depend on the batch size; None if losses are summed."""
        if isinstance(self._loss_fn, nn.LossBase) and self._eval_indexes == [0, 1, 2] and len(batch) == 2 and isinstance(batch[1], Tensor):
            return self._loss_fn._divisor(batch[1].asnumpy())
        rows = [x.shape[0] for x in batch if isinstance(x, Tensor) and x.shape]
        return float(rows[0]) if rows else 1.0

    def _update_metrics(self, outputs: Any, mean_loss: Loss, batch: Any) -> None:
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        validator.check_isinstance('output of the evaluation network', outputs, (tuple, list))
        indexes = self._eval_indexes
        weight = self._loss_weight(batch)
        if indexes is not None:
            if len(outputs) <= max(indexes):
                raise ValueError(f"Model.eval: 'eval_indexes' {indexes} need {max(indexes) + 1} outputs, the evaluation network gave {len(outputs)}")
            loss = outputs[indexes[0]]
            if isinstance(loss, Tensor) and len(loss.shape) <= 1:
                mean_loss._add(loss, weight)
        for metric in self._metric_fns.values():
            chosen = outputs if indexes is None else [outputs[i] for i in (metric.indexes or indexes[:1])]
            if isinstance(metric, Loss) and type(metric).update is Loss.update and len(chosen) == 1:
                metric._add(chosen[0], weight)
            elif indexes is None or metric.indexes:
                metric.update(*outputs)
            elif isinstance(metric, Loss):
                metric.update(outputs[indexes[0]])
            else:
                metric.update(outputs[indexes[1]], outputs[indexes[2]])

    def _eval_in_fit(self, p: Any, dataset: Any, training: RunContext, interrupt: Interrupt) -> bool:
        """Evaluates within a training run; the run's callback parameters receive the results and are otherwise unchanged. Returns whether all data was
        evaluated."""
        own = _InternalCallbackParam(p)
        run_context = RunContext(own)
        if self._bar is not None:
            self._bar._evaluating()
        self._eval_loop(own, dataset, _Hooks(p.list_callback), run_context, interrupt)
        if self._bar is not None:
            self._bar._evaluated()
        p.metrics, p.eval_results, p.eval_network = own.metrics, own.eval_results, own.eval_network
        if run_context._exits_at_once:
            training._request_exit()
        return not run_context.get_stop_requested()

    # --- prediction and the rest ------------------------------------------------------------------------------------------------

    def predict(self, *predict_data: Any, backend: Optional[str] = None, config: Optional[dict] = None) -> Any:
        """Returns the output of the network, without its loss, in inference mode.

        Args:
            *predict_data: The inputs: Tensors, numbers or containers of these.
            backend (str): Not available; 'lite' raises RuntimeError. Default: None.
            config (dict): Not available. Default: None.

        Returns:
            The network's output.

        Raises:
            TypeError: If an input has another type.
            ValueError: If `config` is given.
            RuntimeError: If `backend` is 'lite'.
        """
        if backend is not None:
            validator.check_string(backend, ['lite'], 'backend', 'Model.predict')
            raise RuntimeError("Model.predict: there is no 'lite' backend | leave 'backend' out")
        if config is not None:
            raise ValueError("Model.predict: 'config' belongs to the 'lite' backend")
        for x in predict_data:
            if not isinstance(x, (Tensor, int, float, bool, str, tuple, list, dict, type(None))):
                raise TypeError(f'Model.predict: inputs must be Tensors, got {type(x).__name__} | wrap arrays in Tensor(array)')
        self._to_inference(self._predict_network)
        return self._predict_network(*predict_data)

    def build(self, train_dataset: Any = None, valid_dataset: Any = None, sink_size: int = -1, epoch: int = 1, sink_mode: bool = True) -> None:
        """Compiles the networks ahead of time in graph mode, each for the first batch of its dataset. No parameter changes.

        Args:
            train_dataset (Dataset): The data for the training network. Default: None.
            valid_dataset (Dataset): The data for the evaluation network. Default: None.
            sink_size (int): Does not affect the compiled graph. Default: -1.
            epoch (int): Does not affect the compiled graph. Default: 1.
            sink_mode (bool): Does not affect the compiled graph. Default: True.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If `valid_dataset` is given and the Model has no metrics.
        """
        for dataset in (train_dataset, valid_dataset):
            if dataset is not None:
                check_dataset(dataset)
        validator.check_is_int(sink_size, 'sink_size', 'Model.build')
        validator.check_positive_int(epoch, 'epoch', 'Model.build')
        validator.check_bool(sink_mode, 'sink_mode', 'Model.build')
        if context.get_context('mode') != context.GRAPH_MODE:
            logger.warning('Model.build: nothing is compiled in PyNative mode')
            return
        if train_dataset is not None:
            self._to_training()
            self._train_network.compile(*_first_batch(train_dataset))
        if valid_dataset is not None:
            if self._eval_network is None:
                raise ValueError("Model.build: 'valid_dataset' needs Model(metrics=…)")
            self._to_inference(self._eval_network)
            self._eval_network.compile(*_first_batch(valid_dataset))

    def infer_train_layout(self, train_dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1) -> dict:
        """Would return how parameters are split over ranks; not available yet.

        Args:
            train_dataset (Dataset): Ignored.
            dataset_sink_mode (bool): Ignored. Default: True.
            sink_size (int): Ignored. Default: -1.

        Raises:
            RuntimeError: If the mode is not (semi-)automatic parallel.
            NotYetError: In these modes.
        """
        self._refuse_layout('infer_train_layout')
        return {}

    def infer_predict_layout(self, *predict_data: Any, skip_backend_compile: bool = False) -> dict:
        """Like `infer_train_layout`, for prediction.

        Args:
            *predict_data: Ignored.
            skip_backend_compile (bool): Ignored. Default: False.

        Raises:
            RuntimeError: If the mode is not (semi-)automatic parallel.
            NotYetError: In these modes.
        """
        self._refuse_layout('infer_predict_layout')
        return {}

    def _refuse_layout(self, name: str) -> None:
        mode = context.get_auto_parallel_context('parallel_mode')
        if mode not in ('semi_auto_parallel', 'auto_parallel'):
            raise RuntimeError(f"Model.{name}: parallel_mode must be 'semi_auto_parallel' or 'auto_parallel', got '{mode}'")
        not_yet(f'Model.{name}', 'model parallel')


class _Hooks(_CallbackManager):
    """The callbacks of a training run, called for its evaluation; their contexts are already entered."""

    def __enter__(self) -> '_Hooks':
        return self


def _check_columns(dataset: Any, place: str) -> None:
    """Raises ValueError unless the dataset has the columns of a network and a loss."""
    columns = len(dataset.get_col_names() if hasattr(dataset, 'get_col_names') else dataset.output_shapes())
    if columns != 2:
        raise ValueError(f"{place}: with 'loss_fn' the dataset must have 2 columns (data, label), got {columns} | "
                         "use project([...]), or a network that computes its own loss")


def _check_inputs(network: Any, dataset: Any) -> None:
    """Raises TypeError unless the network accepts the dataset's columns; the usual cause is a missing loss."""
    names = dataset.get_col_names() if hasattr(dataset, 'get_col_names') else [str(i) for i in range(len(dataset.output_shapes()))]
    try:
        inspect.signature(network.construct).bind(*names)
    except TypeError as error:
        raise TypeError(f"Model.train: {type(network).__name__}.construct cannot take the dataset's {len(names)} columns ({', '.join(names)}): {error} | "
                        "give Model a loss_fn, or a network that takes the columns and returns the loss") from None
    except ValueError:  # a construct without a signature
        pass


def _first_batch(dataset: Any) -> tuple:
    return tuple(next(iter(dataset.create_tuple_iterator(num_epochs=1, do_copy=False))))
