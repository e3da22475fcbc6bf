"""The base class of metrics and what several of them share."""
import functools
from abc import ABCMeta, abstractmethod
from typing import Any, Callable, List, Optional, Tuple, TypeVar, cast

import numpy as np

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
    Everything is computed on the host in NumPy."""

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

    def _checked(self, inputs: Tuple[Any, ...]) -> Tuple[np.ndarray, np.ndarray]:
        """Prediction [N, C, ...] and truth ([N, ...] class indices, or like the prediction for 'multilabel')."""
        y_pred, y = self._pair(inputs)
        name = type(self).__name__
        if self._type == 'classification':
            if y_pred.ndim == y.ndim and is_one_hot(y):
                y = y.argmax(axis=1)
            if y_pred.ndim != y.ndim + 1:
                raise ValueError(f"{name}.update: prediction must have one dimension more than the truth, got {y_pred.shape} and {y.shape}")
            if y.shape != (y_pred.shape[0],) + y_pred.shape[2:]:
                raise ValueError(f"{name}.update: truth must have the prediction's shape without dimension 1, got {y_pred.shape} and {y.shape}")
            return y_pred, y
        if y_pred.shape != y.shape:
            raise ValueError(f"{name}.update: multilabel prediction and truth must have equal shapes, got {y_pred.shape} and {y.shape}")
        if not (is_binary(y_pred) and is_binary(y)):
            raise ValueError(f"{name}.update: multilabel values must be 0 or 1")
        return y_pred, y


def is_binary(data: np.ndarray) -> bool:
    """Whether all values are 0 or 1."""
    return bool(np.isin(data, (0, 1)).all())


def is_one_hot(data: np.ndarray) -> bool:
    """Whether axis 1 holds one 1 and otherwise 0."""
    return data.ndim > 1 and is_binary(data) and bool((data.sum(axis=1) == 1).all())


def one_hot_pair(owner: Any, y_pred: np.ndarray, y: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """One-hot rows [N, C] of the predicted class and of the true class; the class count may not change between batches."""
    classes = y_pred.shape[1]
    if owner._class_num not in (0, classes):
        raise ValueError(f"{type(owner).__name__}.update: prediction has {classes} classes, earlier batches had {owner._class_num}")
    owner._class_num = classes
    if y.size and y.max() + 1 > classes:
        raise ValueError(f"{type(owner).__name__}.update: truth has class {y.max()}, prediction only {classes} classes")
    rows = np.eye(classes)
    return rows[y_pred.argmax(axis=1).reshape(-1)], rows[y.reshape(-1).astype(np.int64)]


def binary_curve(score: np.ndarray, truth: np.ndarray, positive: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """False positives, true positives and thresholds, one entry per distinct score from high to low."""
    if score.ndim > truth.ndim:
        score = score[:, 0]
    order = np.argsort(-score)
    score, hit = score[order], (truth[order] == positive).astype(np.int64)
    last = np.append(np.nonzero(np.diff(score))[0], len(score) - 1)  # last position of each distinct score
    tps = np.cumsum(hit)[last]
    return last + 1 - tps, tps, score[last]
