"""The base class of metrics, and bases shared by several of them."""
import functools
from abc import ABCMeta, abstractmethod
from typing import Any, Callable, List, Optional, Tuple, TypeVar, Union, cast

import numpy as np

from sindri import _checkparam as validator
from sindri import _core
from sindri.common.tensor import Tensor

_F = TypeVar("_F", bound=Callable[..., Any])


def rearrange_inputs(func: _F) -> _F:
    """Decorates `update` so that it receives only the inputs selected by `set_indexes`, in that order.

    Args:
        func (Callable): The `update` method.

    Returns:
        The decorated method.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> metric = nn.MAE().set_indexes([1, 0])
        >>> metric.update(np.array([1.0]), np.array([3.0]))
        >>> metric.eval()
        2.0
    """

    @functools.wraps(func)
    def update(self: Any, *inputs: Any) -> Any:
        order = self.indexes
        return func(self, *(inputs if not order else [inputs[i] for i in order]))
    return cast(_F, update)


class Metric(metaclass=ABCMeta):
    """Base class of metrics. A subclass defines `clear`, `update` and `eval`. Everything is computed on the host.

    Calling a metric with one batch runs `clear`, `update` and `eval`.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> class Largest(nn.Metric):
        ...     def clear(self):
        ...         self.value = 0.0
        ...
        ...     def update(self, *inputs):
        ...         self.value = max(self.value, float(np.max(self._convert_data(inputs[0]))))
        ...
        ...     def eval(self):
        ...         return self.value
        >>> Largest()(np.array([1.0, 3.0]))
        3.0
    """

    def __init__(self) -> None:
        self._indexes: Optional[List[int]] = None

    def _convert_data(self, data: Any) -> np.ndarray:
        """Returns a Tensor, list or array as a NumPy array. Raises TypeError for anything else."""
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, list):
            return np.array(data)
        if isinstance(data, np.ndarray):
            return data
        raise TypeError(f"{type(self).__name__}: input must be a Tensor, list or numpy.ndarray, got {type(data).__name__}")

    def _pair(self, inputs: Tuple[Any, ...]) -> Tuple[np.ndarray, np.ndarray]:
        """Returns prediction and truth as arrays. Raises ValueError unless there are exactly these two."""
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
        """list: The inputs of `update` that are used, in order; None for all."""
        return getattr(self, '_indexes', None)

    def set_indexes(self, indexes: List[int]) -> 'Metric':
        """Selects and orders the inputs of `update`: with (label0, label1, logits) and [2, 1], update gets (logits, label1).

        Args:
            indexes (list): The positions of the inputs.

        Returns:
            The metric itself.

        Raises:
            ValueError: If `indexes` is not a list of int.
        """
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise ValueError(f"Metric.set_indexes: 'indexes' must be a list of int, got {indexes!r}")
        self._indexes = indexes
        return self

    def __call__(self, *inputs: Any) -> Any:
        """Returns the metric of one batch: clear, update, eval."""
        self.clear()
        self.update(*inputs)
        return self.eval()

    @abstractmethod
    def clear(self) -> None:
        """Clears all results."""
        raise NotImplementedError('Metric.clear must be defined by the subclass')

    @abstractmethod
    def eval(self) -> Any:
        """Returns the result of all batches since `clear`."""
        raise NotImplementedError('Metric.eval must be defined by the subclass')

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Adds one batch.

        Args:
            *inputs: The outputs of the evaluation network.
        """
        raise NotImplementedError('Metric.update must be defined by the subclass')


class EvaluationBase(Metric):
    """Base class of Accuracy, Precision and Recall.

    Args:
        eval_type (str): 'classification' (the truth is class indices or one-hot) or 'multilabel' (0/1 arrays of equal shapes).

    Raises:
        TypeError: If `eval_type` is another value.

    Examples:
        >>> import numpy as np
        >>> from sindri.train.metrics.metric import EvaluationBase
        >>> class Errors(EvaluationBase):
        ...     def clear(self):
        ...         self.errors = 0
        ...
        ...     def update(self, *inputs):
        ...         prediction, truth = self._pair(inputs)
        ...         self.errors += int((prediction.argmax(1) != truth).sum())
        ...
        ...     def eval(self):
        ...         return self.errors
        >>> Errors('classification')(np.array([[0.2, 0.8], [0.7, 0.3]]), np.array([1, 1]))
        1
    """

    def __init__(self, eval_type: str):
        super().__init__()
        if eval_type not in ('classification', 'multilabel'):
            raise TypeError(f"{type(self).__name__}: 'eval_type' must be 'classification' or 'multilabel', got {eval_type!r}")
        self._type = eval_type

    def _rule(self, name: str) -> str:
        """Returns the name of the C++ library's rule."""
        return name if self._type == 'classification' else 'multilabel_' + name


class CountedMetric(Metric):
    """Base class of metrics that the C++ library computes (include/sindri/nn/metric.h).

    The counts are attributes with MindSpore's names: `_correct_num`, `_total_num`, `_true_positives`, …; to count differently, override clear, update and
    eval together.

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> metric = nn.Accuracy()
        >>> metric.update(np.array([[0.2, 0.8], [0.7, 0.3]]), np.array([1, 1]))
        >>> metric._correct_num, metric._total_num
        (1.0, 2.0)
    """

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
        """Adds one batch.

        Args:
            *inputs: The inputs that the class names.

        Raises:
            ValueError: If shapes or values do not match.
        """
        self._count(inputs, self._takes.count(',') + 1, self._takes)
        self._counter.update(*[self._convert_data(x) for x in inputs])

    def _check_counted(self) -> None:
        if self._counter.empty:
            raise self._no_samples()

    def eval(self) -> Any:
        """Returns the result.

        Returns:
            float.

        Raises:
            RuntimeError: If there are no samples.
        """
        self._check_counted()
        return self._counter.value()


class PerClassMetric(CountedMetric):
    """Base class of counted metrics with a result per class (per sample for 'multilabel').

    Examples:
        >>> import numpy as np
        >>> from sindri import nn
        >>> metric = nn.Recall()
        >>> metric.update(np.array([[0.2, 0.8], [0.7, 0.3]]), np.array([1, 1]))
        >>> metric.eval().tolist(), metric.eval(average=True)
        ([0.0, 0.5], 0.25)
    """

    def eval(self, average: bool = False) -> Union[np.ndarray, float]:
        """Returns the result per class.

        Args:
            average (bool): Whether to return its mean. Default: False.

        Returns:
            numpy.ndarray, or float if `average`.

        Raises:
            TypeError: If `average` is not a bool.
            RuntimeError: If there are no samples.
        """
        self._check_counted()
        validator.check_value_type('average', average, [bool], type(self).__name__)
        return self._counter.value() if average else np.array(self._counter.eval())
