"""The learning-rate range test: a few steps with rising learning rates, and the resulting losses."""
import math
from typing import Any, Dict, List, Optional

import numpy as np

from sindri import _checkparam as validator
from sindri import _core
from sindri._files import open_for_writing
from sindri.common.generator import get_rng_state, set_rng_state
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.train.callback._callback import Callback, RunContext, _loss_number
from sindri.train.dataset_helper import check_dataset
from sindri.train.model import Model

__all__ = ['LearningRateCurve', 'lr_find']


class LearningRateCurve:
    """The result of `lr_find`; printing it shows the suggestion.

    Attributes:
        rates (list[float]): The learning rates of the steps.
        losses (list[float]): The loss of each step, computed before its update.
        smoothed (list[float]): Means over neighbouring steps.
        suggestion (float | None): The rate at which the smoothed loss falls fastest over the logarithm of the rate; None if it does not fall.
    """

    def __init__(self, test: Any):
        self._csv: str = test.csv()
        self.losses: List[float] = list(test.losses)
        self.rates: List[float] = [test.rate(i) for i in range(len(self.losses))]
        self.smoothed: List[float] = list(test.smoothed())
        self.suggestion: Optional[float] = test.suggestion()

    def save(self, path: Any) -> None:
        """Writes the columns step, lr, loss and smoothed as CSV.

        Args:
            path (str): The file.
        """
        with open_for_writing(path, 'w', encoding='utf-8') as file:
            file.write(self._csv)

    def __repr__(self) -> str:
        said = 'no suggestion: the loss does not fall' if self.suggestion is None else f'suggestion {self.suggestion:.2g}'
        if not self.rates:
            return f'LearningRateCurve({said})'
        return f'LearningRateCurve({said}; {len(self.rates)} steps from {self.rates[0]:.2g} to {self.rates[-1]:.2g})'


class _Rise(Callback):
    """Sets the rate before each step, and ends training when the test is over."""

    def __init__(self, test: Any, rate: Parameter):
        self._test, self._rate, self._step = test, rate, 0

    def on_train_step_begin(self, run_context: RunContext) -> None:
        self._rate.set_data(Tensor(np.array(self._test.rate(self._step), np.float32)))

    def on_train_step_end(self, run_context: RunContext) -> None:
        self._step += 1
        loss = _loss_number(run_context.original_args().net_outputs)
        if not self._test.add(loss if isinstance(loss, float) else math.nan):
            run_context.request_stop()


def lr_find(model: Model, train_dataset: Any, lr_min: float = 1e-6, lr_max: float = 10.0, num_steps: int = 100,
            stop_factor: float = 4.0) -> LearningRateCurve:
    """Trains up to `num_steps` steps with learning rates that rise exponentially, and suggests a rate (Smith 2017).

    The test ends early if the loss is not finite or its running mean exceeds `stop_factor` times the smallest. Afterwards the parameters, the
    optimizer's state, the learning rate, the loss scale and the random numbers are restored. The optimizer must have one constant learning rate:
    create the Model with any rate, and use the suggested rate for the schedule. The test runs step by step, whether or not the Model sinks.

    Args:
        model (Model): The Model, with an optimizer.
        train_dataset (Dataset): The data.
        lr_min (float): The first rate. Default: 1e-6.
        lr_max (float): The last rate. Default: 10.0.
        num_steps (int): The number of steps. Default: 100.
        stop_factor (float): The factor of the smallest loss at which the test ends. Default: 4.0.

    Returns:
        LearningRateCurve.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the Model has no optimizer, its rate follows a schedule or differs by group, or a number is out of range.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> from sindri import nn
        >>> x, y = np.ones((4, 1), np.float32), np.full((4, 1), 2, np.float32)
        >>> data = ms.dataset.NumpySlicesDataset((x, y), ['data', 'label'], shuffle=False).batch(2)
        >>> net = nn.Dense(1, 1, 'zeros', has_bias=False)
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
        >>> curve = ms.train.lr_find(model, data, num_steps=10)
        >>> len(curve.rates), curve.losses[0], net.weight.asnumpy()
        (10, 4.0, array([[0.]], dtype=float32))
    """
    validator.check_value_type('model', model, Model, 'lr_find')
    check_dataset(train_dataset, 'train_dataset')
    steps = validator.check_positive_int(num_steps, 'num_steps', 'lr_find')
    for name, value in (('lr_min', lr_min), ('lr_max', lr_max), ('stop_factor', stop_factor)):
        validator.check_value_type(name, value, [int, float], 'lr_find')
    test = _core.LrRange(float(lr_min), float(lr_max), steps, float(stop_factor))
    optimizer = model._optimizer
    if optimizer is None:
        raise ValueError("lr_find: the Model has no optimizer | give Model(optimizer=…)")
    rate = getattr(optimizer, 'learning_rate', None)
    if getattr(optimizer, 'dynamic_lr', False) or getattr(optimizer, 'is_group_lr', False) or not isinstance(rate, Parameter):
        raise ValueError("lr_find: the learning rate follows a schedule or differs by group | make the Model with one constant rate for the test")
    size = train_dataset.get_dataset_size()
    kept = _state_of(model)
    model._position = None  # the test does not continue a loaded training state
    try:
        model.train(max(1, -(-steps // max(1, size))), train_dataset, callbacks=[_Rise(test, rate)], dataset_sink_mode=False)
    finally:
        _restore(model, kept)
    return LearningRateCurve(test)


def _state_of(model: Model) -> Dict[str, Any]:
    parameters = {p.name: p for p in model.train_network.get_parameters()}
    rate = model._optimizer.learning_rate
    manager = model._loss_scale_manager
    return {'manager': dict(vars(manager)) if manager is not None else {}, 'values': [(p, Tensor(p)) for p in [*parameters.values(), rate]], 'rng': get_rng_state(),
            'steps': model._steps_trained, 'position': model._position, 'callbacks': model._callback_values}


def _restore(model: Model, kept: Dict[str, Any]) -> None:
    for parameter, value in kept['values']:
        parameter.set_data(value)
    if model._loss_scale_manager is not None:
        vars(model._loss_scale_manager).update(kept['manager'])
    set_rng_state(kept['rng'])
    model._steps_trained, model._position, model._callback_values = kept['steps'], kept['position'], kept['callbacks']
