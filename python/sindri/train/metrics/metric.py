"""The base class of metrics and what several of them share."""
import functools
from abc import ABCMeta, abstractmethod
from typing import Any, Callable, List, Optional, Tuple, TypeVar, Union, cast

import numpy as np

from sindri import _checkparam as validator
from sindri import _core
from sindri.common.tensor import Tensor

_F = TypeVar("_F", bound=Callable[..., Any])


def rearrange_inputs(func: _F) -> _F:
    """Decorator for `update`: hands it only the inputs that `set_indexes` chose, in that order."""

    @functools.wraps(func)
    def update(self: Any, *inputs: Any) -> Any:
        order = self.indexes
        return func(self, *(inputs if not order else [inputs[i] for i in order]))
    return cast(_F, update)


class Metric(metaclass=ABCMeta):
    """Base class. `clear()` starts anew, `update(*inputs)` takes one batch, `eval()` gives the result; all three are the subclass's.
    Everything is computed on the host."""

    def __init__(self) -> None:
        self._indexes: Optional[List[int]] = None

    def _convert_data(self, data: Any) -> np.ndarray:
        """The NumPy array of a Tensor, list or array; TypeError for anything else."""
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, list):
            return np.array(data)
        if isinstance(data, np.ndarray):
            return data
        raise TypeError(f"{type(self).__name__}: input must be a Tensor, list or numpy.ndarray, got {type(data).__name__}")

    def _pair(self, inputs: Tuple[Any, ...]) -> Tuple[np.ndarray, np.ndarray]:
        """Prediction and truth as arrays; ValueError unless there are exactly these two."""
        self._count(inputs, 2, 'prediction, truth')
        return self._convert_data(inputs[0]), self._convert_data(inputs[1])

    def _count(self, inputs: Tuple[Any, ...], count: int, names: str) -> None:
        if len(inputs) != count:
            raise ValueError(f"{type(self).__name__}.update needs {count} inputs ({names}), got {len(inputs)} | "
                             "in Model.eval the network's outputs are passed on | choose them with set_indexes or eval_indexes")

    def _no_samples(self) -> RuntimeError:
        return RuntimeError(f"{type(self).__name__}.eval: there were no samples | call update before eval, and check that the dataset is not empty")

    @property
    def indexes(self) -> Optional[List[int]]:
        """Which of the inputs of `update` are used, in order; None: all of them."""
        return getattr(self, '_indexes', None)

    def set_indexes(self, indexes: List[int]) -> 'Metric':
        """Chooses and orders the inputs of `update`: with (label0, label1, logits) and [2, 1], update gets (logits, label1)."""
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise ValueError(f"Metric.set_indexes: 'indexes' must be a list of int, got {indexes!r}")
        self._indexes = indexes
        return self

    def __call__(self, *inputs: Any) -> Any:
        """The metric of one batch: clear, update, eval."""
        self.clear()
        self.update(*inputs)
        return self.eval()

    @abstractmethod
    def clear(self) -> None:
        """Forgets everything seen so far."""
        raise NotImplementedError('Metric.clear must be defined by the subclass')

    @abstractmethod
    def eval(self) -> Any:
        """Result over everything since `clear`."""
        raise NotImplementedError('Metric.eval must be defined by the subclass')

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Takes one batch."""
        raise NotImplementedError('Metric.update must be defined by the subclass')


class EvaluationBase(Metric):
    """Base of Accuracy, Precision and Recall: 'classification' (class index or one-hot truth) or 'multilabel' (0/1 of equal shapes)."""

    def __init__(self, eval_type: str):
        super().__init__()
        if eval_type not in ('classification', 'multilabel'):
            raise TypeError(f"{type(self).__name__}: 'eval_type' must be 'classification' or 'multilabel', got {eval_type!r}")
        self._type = eval_type

    def _rule(self, name: str) -> str:
        """The name of what the C++ library counts by."""
        return name if self._type == 'classification' else 'multilabel_' + name


class CountedMetric(Metric):
    """A metric that the C++ library counts (include/sindri/nn/metric.h). Its counts are attributes by MindSpore's names: `_correct_num`,
    `_total_num`, `_true_positives`, …; to count otherwise, override clear, update and eval together."""

    _takes = 'prediction, truth'
    _counter: Any

    def _count_by(self, rule: str, **settings: Any) -> None:
        self._counter = _core.Metric(rule, **settings)
        self.clear()

    def __getattr__(self, name: str) -> Any:
        counted = name.startswith('_') and not name.startswith('__') and '_counter' in self.__dict__
        counts = self.__dict__['_counter'].counts() if counted else {}
        if name[1:] not in counts:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        values = counts[name[1:]]
        return values[0] if len(values) == 1 else np.array(values)

    def clear(self) -> None:
        self._counter.clear()

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Takes one batch of what the class names; ValueError for shapes and values that do not fit."""
        self._count(inputs, self._takes.count(',') + 1, self._takes)
        self._counter.update(*[self._convert_data(x) for x in inputs])

    def _check_counted(self) -> None:
        if self._counter.empty:
            raise self._no_samples()

    def eval(self) -> Any:
        """A float; RuntimeError without samples."""
        self._check_counted()
        return self._counter.value()


class PerClassMetric(CountedMetric):
    """A counted metric with a result per class (per sample for 'multilabel')."""

    def eval(self, average: bool = False) -> Union[np.ndarray, float]:
        """An array, or its mean when `average`; RuntimeError without samples."""
        self._check_counted()
        validator.check_value_type('average', average, [bool], type(self).__name__)
        return self._counter.value() if average else np.array(self._counter.eval())
